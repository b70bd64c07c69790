//! What a game is: the traits every game implements, and the registry that builds one from its spec.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;

use thiserror::Error;

use crate::math::rng::Stream;

/// Index into the policy vector of the game.
pub type Action = u16;

/// One of the two players. `First` moves first from the game's initial state (White in chess, Black in NoGo).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Player {
    /// The player who begins.
    First = 0,
    /// The player who moves second.
    Second = 1,
}

impl Player {
    /// The opponent of this player.
    #[inline]
    pub fn other(self) -> Player {
        match self {
            Player::First => Player::Second,
            Player::Second => Player::First,
        }
    }
}

/// How a finished game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// This player won.
    Win(Player),
    /// Neither player won.
    Draw,
}

/// A position that has occurred before, in a game where that leads to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Earlier occurrences, at least 1; a game may count only as far as its rules ask.
    pub count: u32,
    /// Plies since the latest of them, at least 1.
    pub plies_since: u32,
    /// The result if the repetition continues: a draw in chess.
    pub outcome: Outcome,
}

/// An error in a spec, a position or a move given from outside.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{0}")]
pub struct GameError(pub String);

/// The facts of a game that do not change while it is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// Name without parameters, e.g. `nogo`.
    pub name: String,
    /// Full spec that builds the same game again, e.g. `nogo(size=7)`; default parameters are left out.
    pub spec: String,
    /// Length of the policy vector.
    pub num_actions: usize,
    /// Planes, rows, columns of the features.
    pub feature_shape: [usize; 3],
    /// No game is longer than this many plies.
    pub max_plies: usize,
}

impl GameInfo {
    /// Number of floats in one feature row.
    pub fn row_len(&self) -> usize {
        self.feature_shape.iter().product()
    }

    /// The square with the number of the action, in games with one action per square, or one more (to pass); else none.
    pub fn square_of(&self, action: Action) -> Vec<usize> {
        let squares = self.feature_shape[1] * self.feature_shape[2];
        let fits = self.num_actions == squares || self.num_actions == squares + 1;
        Some(usize::from(action)).filter(|&square| fits && square < squares).into_iter().collect()
    }
}

/// How a game is displayed and recorded, for programs around the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customs {
    /// How the signs of its cells are drawn: `pieces` of chess, `stones` on lines, `reversi` on squares, `hexagons`, `discs` that
    /// fall, `crosses`, or its own `letters`; empty: by `State::svg` alone.
    pub look: String,
    /// The form of files in which games are recorded: `pgn`, `sgf`; empty: none, a line of moves.
    pub record_form: String,
    /// The notation of moves that people read, where it is not the usual one (chess: `san`); else empty.
    pub move_notation: String,
    /// Positions have a FEN, and the spec a parameter `fen`.
    pub has_fen: bool,
    /// A game can end as a draw.
    pub has_draws: bool,
}

impl Default for Customs {
    /// A board of letters without a record of its own; draws are possible.
    fn default() -> Self {
        Customs {
            look: "letters".into(),
            record_form: String::new(),
            move_notation: String::new(),
            has_fen: false,
            has_draws: true,
        }
    }
}

/// What stands on a board, row by row from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// One sign per square, `.` where it is empty.
    pub signs: Vec<char>,
    /// One label per row, from the top; empty texts where there are none.
    pub row_labels: Vec<String>,
    /// One label per column; empty texts where there are none.
    pub column_labels: Vec<String>,
    /// The square of a king in check.
    pub checked: Option<usize>,
}

impl Cells {
    /// A board of stones. `signs`: those of the two players; `owner`: whose stone is on a square.
    pub fn of_stones(
        row_labels: Vec<String>,
        column_labels: Vec<String>,
        signs: [char; 2],
        owner: impl Fn(usize) -> Option<Player>,
    ) -> Self {
        let squares = 0..row_labels.len() * column_labels.len();
        let sign = |square: usize| owner(square).map_or('.', |player| signs[player as usize]);
        Cells { signs: squares.map(sign).collect(), row_labels, column_labels, checked: None }
    }

    /// The board as text: one line per row, which begins with its label, and a last line with the labels of the columns; without
    /// labels the rows alone.
    pub fn text(&self) -> String {
        let rows = self.signs.chunks(self.column_labels.len());
        let rows = rows.map(|signs| signs.iter().map(char::to_string).collect::<Vec<_>>().join(" "));
        let width = self.row_labels.iter().map(String::len).max().unwrap_or(0);
        if width == 0 {
            return rows.map(|row| row + "\n").collect();
        }
        let labelled: String =
            self.row_labels.iter().zip(rows).map(|(label, row)| format!("{label:>width$} {row}\n")).collect();
        labelled + &format!("{:width$} {}\n", "", self.column_labels.join(" "))
    }
}

/// Drawing styles of boards, the values of `Customs::look`.
pub const LOOKS: [&str; 8] = ["pieces", "stones", "reversi", "hexagons", "discs", "crosses", "letters", ""];

/// A symmetry of the game: applied to features and policy it gives the features and policy of an equivalent position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// `squares[i]` is the old square (row * columns + column) that comes to square `i` of every plane.
    pub squares: Vec<u32>,
    /// `actions[a]` is the old action that becomes action `a`.
    pub actions: Vec<Action>,
}

/// A game: its facts and its initial state.
pub trait Game: Send + Sync {
    /// The facts.
    fn info(&self) -> &GameInfo;
    /// A fresh state at the start of the game.
    fn initial(&self) -> Box<dyn State>;
    /// The symmetries, identity first.
    fn symmetries(&self) -> Vec<Symmetry>;
    /// How the game is displayed and recorded.
    fn customs(&self) -> Customs {
        Customs::default()
    }
    /// What the value of a position depends on beyond its key and its ply, in words that follow "depends on": `None` in games
    /// without such rules. Exact solvers refuse games with such rules.
    fn past_matters(&self) -> Option<&'static str> {
        None
    }
    /// The start of the game as the symmetry of this number shows it: another position in games that begin unevenly.
    fn initial_seen(&self, _symmetry: usize) -> Box<dyn State> {
        self.initial()
    }
    /// Access to a game that is implemented outside of this crate.
    fn foreign(&self) -> Option<&dyn Any> {
        None
    }
}

/// One position, including whatever the rules need of the past.
pub trait State: Send + Sync {
    /// The player to move; need not alternate. Undefined after the end of the game.
    fn to_move(&self) -> Player;
    /// Clears `out` and fills it with the legal actions, ascending. Empty when the game is over, but for positions drawn
    /// by a rule while moves remain (chess: repetition, fifty moves), which a search can still be started from.
    fn legal_actions(&self, out: &mut Vec<Action>);
    /// Plays a legal action; what an illegal one does is undefined (callers check with `legal_actions`).
    fn play(&mut self, action: Action);
    /// The next move of a random game, of a game that is not over: uniform over the legal actions, where the game does not
    /// leave moves out that no one would play. `actions`: a buffer.
    fn random_action(&self, random: &mut Stream, actions: &mut Vec<Action>) -> Action {
        self.legal_actions(actions);
        actions[random.below(actions.len())]
    }
    /// The result, if the game is over.
    fn outcome(&self) -> Option<Outcome>;
    /// A legal action that wins the game for the player to move at once.
    fn win_at_once(&self) -> Option<Action> {
        let mut actions = Vec::new();
        self.legal_actions(&mut actions);
        let wins = |action: &Action| {
            let mut after = self.clone_box();
            after.play(*action);
            after.outcome() == Some(Outcome::Win(self.to_move()))
        };
        actions.into_iter().find(wins)
    }
    /// A win that the player to move can force by threats, each of which leaves the opponent few replies (chess: checks; Gomoku:
    /// fours, threes).
    /// `nodes`: the positions that may be looked at. `None` where no such win was found, and in games without such a search.
    fn forced_win(&self, _nodes: u32) -> Option<ForcedWin> {
        None
    }
    /// Moves after which the opponent can force a win by threats, in any order; not all such moves need be known. `nodes`: the
    /// positions that each search may look at. Empty in games without such a search.
    fn lost_moves(&self, _nodes: u32) -> Vec<ForcedLoss> {
        Vec::new()
    }
    /// The squares that are empty in a game of stones whose values rest on nothing but the position; `None` in other games.
    fn empty_squares(&self) -> Option<usize> {
        None
    }
    /// The earlier occurrence of this position; `None` where there is none, and in games without a rule on repetitions, with a
    /// rule against them, or with one that looks at more than the position.
    fn repetition(&self) -> Option<Repeat> {
        None
    }
    /// Why the game is over, in a word or two (`checkmate`, `four in a row`); `None` while it is not.
    fn end_reason(&self) -> Option<&'static str>;
    /// The first player's points less the second's as the board stands, komi counted (Go: by area; Othello: discs). `None` in
    /// games without points.
    fn score(&self) -> Option<f32> {
        None
    }
    /// Whose point each square is as the board stands, row by row from the top: 1 the first player's, -1 the second's, 0 nobody's
    /// (Go: by area; Othello: discs). `None` in games without points.
    fn ownership(&self) -> Option<Vec<i8>> {
        None
    }
    /// Whether the result depends on the moves played, not on the position alone (chess: repetition, fifty moves).
    fn outcome_depends_on_path(&self) -> bool {
        false
    }
    /// Number of plies played since the game's initial state.
    fn ply(&self) -> usize;
    /// Hashes of the positions that can still be repeated, the present one last; empty in games without repetitions.
    fn repeatable(&self) -> &[u64] {
        &[]
    }
    /// Writes the features, from the mover's view, into `row` (every float is written).
    fn encode(&self, row: &mut [f32]);
    /// Packed form of `encode` for boards of at most 64 squares: plane `c` is `values[c]` where bit
    /// `row * columns + column` of `masks[c]` is set, 0 elsewhere.
    fn encode_packed(&self, masks: &mut [u64], values: &mut [f32]) {
        let planes = masks.len();
        let squares = 64.min(self.row_len() / planes);
        let mut row = vec![0.0; self.row_len()];
        self.encode(&mut row);
        for c in 0..planes {
            // One value a plane is all that the packed form has: games with a plane of several numbers give rows of
            // floats alone.
            let plane = &row[c * squares..(c + 1) * squares];
            let value = plane.iter().copied().find(|v| *v != 0.0).unwrap_or(0.0);
            masks[c] = (0..squares).filter(|&i| plane[i] != 0.0).fold(0, |m, i| m | 1 << i);
            values[c] = value;
        }
    }
    /// The floats of a row, one plane, that are all one where the second player is to move, all zero where the first one
    /// is; `None` where the features do not show who moves.
    fn colour_plane(&self) -> Option<Range<usize>> {
        None
    }
    /// Number of floats in one feature row.
    fn row_len(&self) -> usize;
    /// Hash of all that the network sees (with the player to move): the evaluation cache's key. States with equal keys
    /// have equal features and equal legal actions.
    fn key(&self) -> u64;
    /// Hash of the position without the moves that led to it, where these hardly change what the network answers: with
    /// `CacheKey::Position` one evaluation answers all positions of a tree with equal keys. They have equal legal actions and
    /// the same player to move. Never 0.
    fn position_key(&self) -> u64 {
        // 0 is the key of no position: tables have it where there is none (`tree::positions`).
        self.key().max(1)
    }
    /// Number of legal actions.
    fn num_legal(&self) -> usize {
        let mut actions = Vec::new();
        self.legal_actions(&mut actions);
        actions.len()
    }
    /// Number of legal actions after a legal action, 0 where the game is over then; `None` of games that know no faster way than to
    /// play it.
    fn replies_after(&self, _action: Action) -> Option<usize> {
        None
    }
    /// A copy.
    fn clone_box(&self) -> Box<dyn State>;
    /// Becomes a copy of `other`, re-using allocations; `other` is of the same type and game.
    fn copy_from(&mut self, other: &dyn State);
    /// For `copy_from`.
    fn as_any(&self) -> &dyn Any;
    /// The action in the game's usual notation; `notation` picks one where there are several (chess: `uci`, `san`).
    fn action_to_text(&self, action: Action, notation: Option<&str>) -> Result<String, GameError>;
    /// The squares of the board that a legal action belongs to, row * columns + column from the top left, in the order in which
    /// a player points at them: from and to, or where the stone comes to rest; none for an action without squares. `info`: of
    /// the game.
    fn squares(&self, action: Action, info: &GameInfo) -> Vec<usize> {
        info.square_of(action)
    }
    /// Reads a legal action in any of the game's notations.
    fn action_from_text(&self, text: &str) -> Result<Action, GameError>;
    /// What stands on the board; an error says, in words that follow "because", why there is no board of cells.
    fn cells(&self) -> Result<Cells, String>;
    /// Names of the first and the second player, for captions.
    fn sides(&self) -> [String; 2];
    /// The line below a drawing: whose turn it is, or how the game ended.
    fn caption(&self) -> String {
        let sides = self.sides();
        let name = |player: Player| &sides[player as usize];
        let reason = self.end_reason().unwrap_or_default();
        match self.outcome() {
            None => format!("{} to move", name(self.to_move())),
            Some(Outcome::Draw) => format!("draw ({reason})"),
            Some(Outcome::Win(player)) => format!("{} wins ({reason})", name(player)),
        }
    }
    /// The position drawn as text: the cells, a row a line, and the caption.
    fn text(&self) -> String {
        self.cells().map_or_else(|_| String::new(), |cells| cells.text()) + &self.caption()
    }
    /// An SVG document of its own, where the game draws itself.
    fn own_svg(&self) -> Option<String> {
        None
    }
    /// A one-line notation of the position where the game has one (chess: FEN); otherwise the moves so far.
    fn notation(&self) -> String;
}

/// A win that is forced, by its first move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForcedWin {
    /// The move to play.
    pub action: Action,
    /// Plies to the end of the game, this move included.
    pub plies: u16,
}

/// A move after which the opponent can force a win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForcedLoss {
    /// The move that loses.
    pub action: Action,
    /// Plies to the end of the game, this move included.
    pub plies: u16,
}

/// The parameters of a spec, which stand between its brackets.
#[derive(Clone, Debug, Default)]
pub struct SpecArgs(pub BTreeMap<String, String>);

impl SpecArgs {
    /// Takes a parameter out, parsed; `Ok(None)` when it is absent.
    pub fn take<T: std::str::FromStr>(
        &mut self,
        game: &str,
        name: &str,
        allowed: &str,
    ) -> Result<Option<T>, GameError> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(text) => text
                .parse()
                .map(Some)
                .map_err(|_| GameError(format!("{game}({name}={text}): {name} must be {allowed}"))),
        }
    }

    /// Fails on parameters that the game does not have.
    pub fn finish(self, game: &str, known: &[&str]) -> Result<(), GameError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(GameError(format!(
                "{game} has no parameter {name:?}; allowed: {}",
                if known.is_empty() { "none".to_string() } else { known.join(", ") }
            ))),
        }
    }
}

/// Whether neither the rules nor a network can tell two positions of one game apart: board, mover, ply, what can be repeated,
/// and the earlier positions that the network sees. Positions that are the same have equal keys.
pub fn same_position(one: &dyn State, other: &dyn State) -> bool {
    let facts = |state: &dyn State| (state.row_len(), state.ply(), state.to_move(), state.outcome(), state.key());
    // Cheap facts first; rows and legal actions are then compared as well, because equal hashes prove nothing.
    if facts(one) != facts(other) || one.repeatable() != other.repeatable() {
        return false;
    }
    let seen = |state: &dyn State| {
        let mut row = vec![0.0; state.row_len()];
        let mut actions = Vec::new();
        state.encode(&mut row);
        state.legal_actions(&mut actions);
        (row, actions)
    };
    seen(one) == seen(other)
}

/// Number of sequences of `depth` legal actions from `state`. Draws that a rule gives while moves remain do not stop the count.
pub fn perft(state: &dyn State, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut actions = Vec::new();
    state.legal_actions(&mut actions);
    // The last ply is counted and not played: it would be most of the work.
    if depth == 1 {
        return actions.len() as u64;
    }
    let mut child = state.clone_box();
    let mut total = 0;
    for action in actions {
        child.copy_from(state);
        child.play(action);
        total += perft(child.as_ref(), depth - 1);
    }
    total
}
