//! What a search with all-moves-as-first values needs of a game: its moves, and random games with the player of each move.

use crate::game::{Action, Outcome, Player, State};
use crate::math::rng::Stream;
use crate::players::play_to_the_end;

/// Maximum of actions of a game that is searched: they are counted as bytes.
pub const MAX_ACTIONS: usize = 256;

/// Random games from one position. Actions are 0 to 255.
pub trait RandomGames {
    /// Number of actions of the game, 1 to 256.
    fn actions(&self) -> usize;
    /// Goes back to the position that is searched.
    fn restart(&mut self);
    /// The player to move.
    fn to_move(&self) -> Player;
    /// Gives the legal actions, ascending; none where the game is over.
    fn for_each_legal(&mut self, found: impl FnMut(u8));
    /// Plays a legal action.
    fn play(&mut self, action: u8);
    /// How a game ended that has no legal action left.
    fn outcome(&self) -> Outcome;
    /// Plays random moves until the game is over and enters who took what first; how it ended.
    fn finish(&mut self, random: &mut Stream, taken: &mut Taken) -> Outcome;
}

/// Who was the first to play each action in a simulation.
// One byte an action: who was first is one look, and forgetting is one fill.
pub struct Taken([u8; MAX_ACTIONS]);

impl Taken {
    const BY_NO_ONE: u8 = 2;

    /// No action was played.
    pub fn new() -> Self {
        Taken([Self::BY_NO_ONE; MAX_ACTIONS])
    }

    /// Forgets the first `actions` actions.
    #[inline]
    pub fn clear(&mut self, actions: usize) {
        self.0[..actions].fill(Self::BY_NO_ONE);
    }

    /// The player took the action before anyone that was entered so far.
    #[inline]
    pub fn set(&mut self, action: u8, player: Player) {
        self.0[usize::from(action)] = player as u8;
    }

    /// The player took the action, unless someone was entered before.
    #[inline]
    pub fn add(&mut self, action: u8, player: Player) {
        if self.0[usize::from(action)] == Self::BY_NO_ONE {
            self.set(action, player);
        }
    }

    /// Whether the player was the first to take the action.
    #[inline]
    pub fn is_by(&self, action: u8, player: Player) -> bool {
        self.0[usize::from(action)] == player as u8
    }
}

/// Random games of any game of at most 256 actions.
pub struct StateGames<'a> {
    root: &'a dyn State,
    actions: usize,
    state: Box<dyn State>,
    legal: Vec<Action>,
}

impl<'a> StateGames<'a> {
    /// Games from this position of a game with this many actions.
    pub fn new(root: &'a dyn State, actions: usize) -> Self {
        StateGames { root, actions, state: root.clone_box(), legal: Vec::new() }
    }
}

impl RandomGames for StateGames<'_> {
    fn actions(&self) -> usize {
        self.actions
    }

    fn restart(&mut self) {
        self.state.copy_from(self.root);
    }

    fn to_move(&self) -> Player {
        self.state.to_move()
    }

    fn for_each_legal(&mut self, found: impl FnMut(u8)) {
        if self.state.outcome().is_none() {
            self.state.legal_actions(&mut self.legal);
            self.legal.iter().map(|&action| action as u8).for_each(found);
        }
    }

    fn play(&mut self, action: u8) {
        self.state.play(action.into());
    }

    fn outcome(&self) -> Outcome {
        self.state.outcome().expect("a game without legal actions is over")
    }

    fn finish(&mut self, random: &mut Stream, taken: &mut Taken) -> Outcome {
        let enter = |state: &dyn State, action: Action| taken.add(action as u8, state.to_move());
        play_to_the_end(self.state.as_mut(), random, &mut self.legal, enter)
    }
}
