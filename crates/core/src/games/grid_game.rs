//! Games of stones on a grid: what such a game says of its positions, and how all of `State` follows from it.

use std::any::Any;

use super::bits::Bits;
use super::grid::{self, Coordinates};
use crate::game::{Action, Cells, ForcedLoss, ForcedWin, GameError, GameInfo, Outcome, Player, State};
use crate::math::rng::Stream;

/// A position of a game in which two players put stones on the squares of a grid.
///
/// A game implements this trait and gets `State` from it. Actions are the squares, row by row from the top, unless the game has
/// `names` and `squares_of` of its own; one more action may follow them.
pub trait GridGame: Clone + Send + Sync + 'static {
    /// Name of the game, for messages.
    const NAME: &'static str;
    /// Names of the first and the second player, for captions.
    const SIDES: [&'static str; 2];
    /// Signs of their stones in text.
    const SIGNS: [char; 2] = ['X', 'O'];
    /// How the squares are named.
    const COORDINATES: Coordinates;
    /// Name of the action after those of the squares: `pass`, `swap`; empty in games without one.
    const LAST_ACTION: &'static str = "";
    /// What separates the moves in `State::notation`.
    const SEPARATOR: &'static str = " ";
    /// The planes of the features, one set of squares each.
    type Planes: Planes;

    /// Rows and columns of the board.
    fn shape(&self) -> (usize, usize);

    /// The actions played so far, in order.
    fn moves(&self) -> &[u8];

    /// Whose stone is on a square.
    fn owner(&self, square: usize) -> Option<Player>;

    /// Appends the legal actions, ascending; none when the game is over.
    fn add_legal(&self, actions: &mut Vec<Action>);

    /// Plays a legal action.
    fn make_move(&mut self, action: Action);

    /// The result and the reason for it in a word or two (`four in a row`); `None` while the game is not over.
    fn result(&self) -> Option<(Outcome, &'static str)>;

    /// The lead of the first player in a game of points, komi counted: `State::score`.
    fn lead(&self) -> Option<f32> {
        None
    }

    /// Whose point each square is in a game of points: `State::ownership`.
    fn points(&self) -> Option<Vec<i8>> {
        None
    }

    /// A win by threats of the player to move, for games with a search of them: `State::forced_win`.
    fn win_by_threats(&self, _nodes: u32) -> Option<ForcedWin> {
        None
    }

    /// Moves that lose to threats of the opponent: `State::lost_moves`.
    fn losses_by_threats(&self, _nodes: u32) -> Vec<ForcedLoss> {
        Vec::new()
    }

    /// The empty squares of a game whose positions can be solved: `State::empty_squares`. Go has none, by superko.
    fn squares_to_fill(&self) -> Option<usize> {
        let (rows, columns) = self.shape();
        Some((0..rows * columns).filter(|&square| self.owner(square).is_none()).count())
    }

    /// The features, from the mover's view.
    fn planes(&self) -> Self::Planes;

    /// Hash of the features and of what else decides the legal actions: `State::key`.
    fn position_hash(&self) -> u64;

    /// The player to move; overridden where the players do not alternate.
    #[inline]
    fn mover(&self) -> Player {
        grid::alternating(self.moves().len())
    }

    /// Length of the policy vector.
    fn num_actions(&self) -> usize {
        let (rows, columns) = self.shape();
        rows * columns + usize::from(!Self::LAST_ACTION.is_empty())
    }

    /// The texts by which an action is read; it is written as the first of them.
    fn names(&self, action: Action) -> Vec<String> {
        let (rows, columns) = self.shape();
        let square = usize::from(action);
        if square == rows * columns {
            return vec![Self::LAST_ACTION.into()];
        }
        vec![Self::COORDINATES.name(square, rows, columns)]
    }

    /// The squares of an action: `State::squares`.
    fn squares_of(&self, action: Action) -> Vec<usize> {
        let (rows, columns) = self.shape();
        let square = usize::from(action);
        if square < rows * columns { vec![square] } else { Vec::new() }
    }

    /// The next move of a random game: `State::random_action`.
    fn playout_move(&self, random: &mut Stream, actions: &mut Vec<Action>) -> Action {
        self.legal_actions(actions);
        actions[random.below(actions.len())]
    }

    /// Whether the result depends on the moves played, not on the position alone.
    fn result_depends_on_path(&self) -> bool {
        false
    }

    /// The board as text, one line per row.
    fn board_text(&self, cells: &Cells) -> String {
        cells.text()
    }

    /// Becomes a copy of `other`; overridden where a position has allocations to re-use.
    #[inline]
    fn assign(&mut self, other: &Self) {
        self.clone_from(other);
    }
}

/// Planes of zeros and ones, given as sets of squares.
pub trait Planes {
    /// Number of planes.
    const COUNT: usize;

    /// Writes the planes, `squares` floats each, one after another.
    fn write(&self, row: &mut [f32], squares: usize);

    /// Writes one mask per plane. Panics on boards of more than 64 squares, which have no packed form.
    fn pack(&self, masks: &mut [u64]);
}

impl<const W: usize, const COUNT: usize> Planes for [Bits<W>; COUNT] {
    const COUNT: usize = COUNT;

    fn write(&self, row: &mut [f32], squares: usize) {
        for (plane, set) in row.chunks_exact_mut(squares).zip(self) {
            for (part, word) in plane.chunks_mut(64).zip(set.0) {
                grid::write_plane(part, word);
            }
        }
    }

    #[inline]
    fn pack(&self, masks: &mut [u64]) {
        // A mask is one word of 64 bits; two words a plane would make other rows than the evaluators read.
        assert!(W == 1, "boards of more than 64 squares have no packed form");
        for (mask, set) in masks.iter_mut().zip(self) {
            *mask = set.0[0];
        }
    }
}

impl<G: GridGame> State for G {
    #[inline]
    fn to_move(&self) -> Player {
        self.mover()
    }

    #[inline]
    fn legal_actions(&self, out: &mut Vec<Action>) {
        out.clear();
        self.add_legal(out);
    }

    #[inline]
    fn play(&mut self, action: Action) {
        self.make_move(action);
    }

    fn random_action(&self, random: &mut Stream, actions: &mut Vec<Action>) -> Action {
        self.playout_move(random, actions)
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        self.result().map(|(outcome, _)| outcome)
    }

    fn forced_win(&self, nodes: u32) -> Option<ForcedWin> {
        self.win_by_threats(nodes)
    }

    fn lost_moves(&self, nodes: u32) -> Vec<ForcedLoss> {
        self.losses_by_threats(nodes)
    }

    fn empty_squares(&self) -> Option<usize> {
        self.squares_to_fill()
    }

    fn end_reason(&self) -> Option<&'static str> {
        self.result().map(|(_, reason)| reason)
    }

    fn score(&self) -> Option<f32> {
        self.lead()
    }

    fn ownership(&self) -> Option<Vec<i8>> {
        self.points()
    }

    fn outcome_depends_on_path(&self) -> bool {
        self.result_depends_on_path()
    }

    #[inline]
    fn ply(&self) -> usize {
        self.moves().len()
    }

    fn encode(&self, row: &mut [f32]) {
        let (rows, columns) = self.shape();
        self.planes().write(row, rows * columns);
    }

    fn encode_packed(&self, masks: &mut [u64], values: &mut [f32]) {
        self.planes().pack(masks);
        // Sets of squares: nothing but zeros and ones.
        values.fill(1.0);
    }

    fn row_len(&self) -> usize {
        let (rows, columns) = self.shape();
        G::Planes::COUNT * rows * columns
    }

    #[inline]
    fn key(&self) -> u64 {
        self.position_hash()
    }

    fn clone_box(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }

    #[inline]
    fn copy_from(&mut self, other: &dyn State) {
        self.assign(other.as_any().downcast_ref().expect("a position of the same game"));
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError> {
        grid::only_notation(G::NAME, notation)?;
        grid::check_action(G::NAME, action, self.num_actions())?;
        Ok(self.names(action).swap_remove(0))
    }

    fn squares(&self, action: Action, _: &GameInfo) -> Vec<usize> {
        self.squares_of(action)
    }

    fn action_from_text(&self, text: &str) -> Result<Action, GameError> {
        grid::find_action(self, G::NAME, text, |action| self.names(action))
    }

    fn cells(&self) -> Result<Cells, String> {
        let (rows, columns) = self.shape();
        let (row_labels, column_labels) = G::COORDINATES.labels(rows, columns);
        Ok(Cells::of_stones(row_labels, column_labels, G::SIGNS, |square| self.owner(square)))
    }

    fn sides(&self) -> [String; 2] {
        G::SIDES.map(String::from)
    }

    fn text(&self) -> String {
        let board = self.cells().map(|cells| self.board_text(&cells));
        board.unwrap_or_default() + &self.caption()
    }

    /// The moves so far.
    fn notation(&self) -> String {
        let names: Vec<String> = self.moves().iter().map(|&action| self.names(action.into()).swap_remove(0)).collect();
        names.join(G::SEPARATOR)
    }
}

/// The moves of a game in order, at most `N`.
#[derive(Clone, Copy, Debug)]
pub struct Moves<const N: usize> {
    count: u8,
    // An array and not a vector, so that a position is copied without an allocation: the search copies one at every
    // visit.
    actions: [u8; N],
}

impl<const N: usize> Moves<N> {
    /// No moves.
    pub const NONE: Self = Moves { count: 0, actions: [0; N] };

    /// Number of moves.
    #[inline]
    pub fn count(&self) -> usize {
        usize::from(self.count)
    }

    /// The player to move, where the players alternate.
    #[inline]
    pub fn mover(&self) -> Player {
        grid::alternating(self.count())
    }

    /// Appends a move.
    #[inline]
    pub fn push(&mut self, action: Action) {
        self.actions[self.count()] = action as u8;
        self.count += 1;
    }

    /// The moves, the first one first.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.actions[..self.count()]
    }
}
