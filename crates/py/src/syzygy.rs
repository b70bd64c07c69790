//! Syzygy tablebases: exact results of chess positions with few pieces, for leaves of the search and moves of the root.

use std::collections::HashMap;

use hauteur_core::game::{Action, GameError, Outcome, State};
use hauteur_core::games::chess::Position;
use hauteur_core::search::oracle::LeafOracle;
use shakmaty::{Chess, Position as _};
use shakmaty_syzygy::{Dtz, SyzygyError, Tablebase, Wdl};

/// Rank of a root move that wins, whatever the fifty-move rule says; less certain wins rank below it.
const CERTAIN: i32 = 1000;
/// Plies without capture or pawn move after which the game is drawn.
const DRAW_PLIES: i32 = 100;
/// Positions at the edge of the fifty-move rule that are looked at to decide one.
const MAX_KNOWN: usize = 20_000;

/// The tables of some folders.
pub struct Syzygy {
    tables: Tablebase<Chess>,
    files: usize,
    /// What is wrong with the folders that could not be used, a line each.
    missing: Vec<String>,
}

impl Syzygy {
    /// Finds the tables in these folders (separated as in the environment variable PATH); files are opened when needed. Folders that
    /// cannot be read are left out, as long as one has tables.
    pub fn open(folders: &str) -> Result<Syzygy, GameError> {
        let mut tables = Tablebase::new();
        let mut files = 0;
        let mut missing = Vec::new();
        for folder in std::env::split_paths(folders).filter(|folder| !folder.as_os_str().is_empty()) {
            match tables.add_directory(&folder) {
                // A folder without tables is most likely a wrong one; in silence the engine would play without
                // them.
                Ok(0) => {
                    missing.push(format!("no Syzygy tables (*.rtbw, *.rtbz) in {:?}", folder.display().to_string()))
                }
                Ok(more) => files += more,
                Err(error) => missing.push(format!("Syzygy folder {}: {error}", folder.display())),
            }
        }
        if files == 0 {
            let none = format!("no Syzygy tables (*.rtbw, *.rtbz) in {folders:?}");
            return Err(GameError(if missing.is_empty() { none } else { missing.join("; ") }));
        }
        Ok(Syzygy { tables, files, missing })
    }

    /// What is wrong with the folders that were left out, a line each.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Pieces of the largest table.
    pub fn largest(&self) -> usize {
        self.tables.max_pieces()
    }

    /// Number of table files found.
    pub fn files(&self) -> usize {
        self.files
    }

    /// -2 loss, -1 loss saved by the fifty-move rule, 0 draw, 1 win spoilt by it, 2 win of the mover, if no plies have been
    /// played since the last capture or pawn move. `None`: not in the tables.
    pub fn wdl(&self, position: &Position) -> Result<Option<i32>, GameError> {
        // As if the counter were zero, which is what the tables of results have.
        answer(self.tables.probe_wdl_after_zeroing(position.chess())).map(|wdl| wdl.map(i32::from))
    }

    /// Plies to the next capture or pawn move (or mate) of the mover's win (> 0) or loss (< 0); may be one ply too high.
    /// Beyond 100 the fifty-move rule draws. 0: draw; `None`: not in the tables.
    pub fn dtz(&self, position: &Position) -> Result<Option<i32>, GameError> {
        answer(self.tables.probe_dtz(position.chess())).map(|dtz| dtz.map(|dtz| dtz.ignore_rounding().0))
    }

    /// The result of the position for its mover, 1 win, 0 draw, -1 loss, under the fifty-move rule as its counter stands: a win counts
    /// where its next capture or pawn move, or mate, comes in time. `None`: not in the tables, or the tables of distances are missing.
    pub fn result(&self, position: &Position) -> Result<Option<i32>, GameError> {
        if !self.covers(position) {
            return Ok(None);
        }
        match position.outcome() {
            Some(Outcome::Win(_)) => return Ok(Some(-1)),
            // A draw by the counter or by repetition is of this game's past; the position itself may be won.
            Some(Outcome::Draw) if !position.is_drawn_by_history() => return Ok(Some(0)),
            _ => (),
        }
        let Some(wdl) = self.wdl(position)? else { return Ok(None) };
        // Cursed wins and blessed losses (1, -1) are draws by the fifty-move rule; with a counter of zero the
        // tables are exact.
        if wdl.abs() < 2 || position.chess().halfmoves() == 0 {
            return Ok(Some(wdl / 2));
        }
        // Distances need the tables of distances, and much longer: only where the counter may decide.
        let mut edge = Edge { tables: self, known: HashMap::new() };
        let in_time = edge.in_time(position, DRAW_PLIES - counter(position), wdl > 0)?;
        Ok(in_time.map(|in_time| if in_time { wdl.signum() } else { 0 }))
    }

    /// The legal actions that keep the result of the position; `None` if it is not in the tables.
    ///
    /// Wins that the fifty-move rule cannot spoil count alike, so that the search chooses among them; with `fast` only the
    /// shortest are kept. Without distance tables the results alone decide.
    pub fn root_actions(&self, position: &Position, fast: bool) -> Result<Option<Vec<Action>>, GameError> {
        if !self.covers(position) {
            return Ok(None);
        }
        let mut legal = Vec::new();
        position.legal_actions(&mut legal);
        let ranks = match self.ranks(position, &legal, |after| self.distance_rank(position, after, fast))? {
            Some(ranks) => Some(ranks),
            // Folders may have the tables of results alone, which are the smaller ones.
            None => self.ranks(position, &legal, |after| self.result_rank(after))?,
        };
        let best = |ranks: Vec<i32>| {
            // All that keep the result, and the search chooses: the best by distance may give up a mate for a
            // capture.
            let top = ranks.iter().max().copied().unwrap_or(0);
            legal.iter().zip(ranks).filter(|(_, rank)| *rank == top).map(|(action, _)| *action).collect()
        };
        Ok(ranks.map(best))
    }

    /// Whether the tables can know the position.
    fn covers(&self, position: &Position) -> bool {
        let chess = position.chess();
        // Tables have no castling rights; a position with one is not the one that they know.
        chess.castles().is_empty() && chess.board().occupied().count() <= self.largest()
    }

    /// The rank of the position after every action; `None` if one of them is not in the tables.
    fn ranks(
        &self,
        position: &Position,
        legal: &[Action],
        rank: impl Fn(&Position) -> Result<Option<i32>, GameError>,
    ) -> Result<Option<Vec<i32>>, GameError> {
        let rank_of = |action: &Action| {
            let mut after = position.clone();
            after.play(*action);
            rank(&after)
        };
        legal.iter().map(rank_of).collect()
    }

    /// Rank of a move by distance, and by how much of the fifty moves is left.
    fn distance_rank(&self, root: &Position, after: &Position, fast: bool) -> Result<Option<i32>, GameError> {
        let spent = counter(root);
        let Some(distance) = self.distance_of_move(after)? else { return Ok(None) };
        let ends = after.outcome().is_some() || after.chess().halfmoves() == 0; // the distance of others may be one more
        // Ranks as Stockfish has them. After a repetition the opponent may come back to a third one, so that only a
        // move that ends the counting is certain.
        let in_time = distance + spent < DRAW_PLIES + i32::from(ends) && (ends || !root.has_repetition());
        Ok(Some(match distance {
            0 => 0,
            1.. if in_time && !fast => CERTAIN,
            1.. if in_time => 2 * CERTAIN - distance,
            1.. => CERTAIN - (distance + spent).min(CERTAIN - 1),
            // Losses with room to spare count alike; near the fifty moves the longest one may still be saved.
            _ if -2 * distance + spent < DRAW_PLIES => -CERTAIN,
            _ => -CERTAIN + (spent - distance).min(CERTAIN - 1),
        }))
    }

    /// Distance of the win or loss of the player who has just moved here, counted from before his move.
    fn distance_of_move(&self, after: &Position) -> Result<Option<i32>, GameError> {
        match after.outcome() {
            Some(Outcome::Win(_)) => return Ok(Some(1)),
            Some(Outcome::Draw) => return Ok(Some(0)),
            None => (),
        }
        // The move itself ended the counting: the distance of what follows says nothing of it, the result does.
        if after.chess().halfmoves() == 0 {
            let wdl = answer(self.tables.probe_wdl_after_zeroing(after.chess()))?;
            return Ok(wdl.map(|wdl| Dtz::before_zeroing(-wdl).0));
        }
        // The sign changes with the player, and the move before counts as one ply more, away from zero.
        Ok(self.dtz(after)?.map(|dtz| -dtz - dtz.signum()))
    }

    /// Rank of a move by the result alone.
    fn result_rank(&self, after: &Position) -> Result<Option<i32>, GameError> {
        match after.outcome() {
            Some(Outcome::Win(_)) => Ok(Some(i32::from(Wdl::Win))),
            Some(Outcome::Draw) => Ok(Some(0)),
            None => Ok(self.wdl(after)?.map(|wdl| -wdl)),
        }
    }
}

impl LeafOracle for Syzygy {
    fn probe(&self, state: &dyn State) -> Option<Outcome> {
        let position: &Position = state.as_any().downcast_ref()?;
        // Results hold for a counter of zero. With moves on it a win may be a draw, and the solver would take it as
        // proven.
        if position.chess().halfmoves() != 0 || !self.covers(position) {
            return None;
        }
        // A table that is missing or cannot be read leaves the position to the network.
        match self.tables.probe_wdl_after_zeroing(position.chess()).ok()? {
            Wdl::Win => Some(Outcome::Win(state.to_move())),
            Wdl::Loss => Some(Outcome::Win(state.to_move().other())),
            // Cursed wins and blessed losses: with best play both end by the fifty-move rule.
            _ => Some(Outcome::Draw),
        }
    }
}

/// Plies since the last capture or pawn move.
fn counter(position: &Position) -> i32 {
    position.chess().halfmoves().try_into().unwrap_or(i32::MAX / 2)
}

/// Wins at the edge of the fifty-move rule. Tables may give a distance that is one ply too small: where that decides, the positions
/// after it are looked at.
struct Edge<'a> {
    tables: &'a Syzygy,
    /// Of positions that have been decided so, by their hash.
    known: HashMap<u64, bool>,
}

impl Edge<'_> {
    /// Whether the side that wins (`mover_wins`: the mover) reaches a capture, a pawn move or mate within `left` plies. `None`: a table is
    /// missing, or too many positions stand at the edge.
    fn in_time(&mut self, position: &Position, left: i32, mover_wins: bool) -> Result<Option<bool>, GameError> {
        let Some(distance) = answer(self.tables.tables.probe_dtz(position.chess()))? else { return Ok(None) };
        let plies = distance.ignore_rounding().0.abs();
        let is_exact = distance.precise().is_some();
        // The stored distance may be one too small. Only where one ply decides are the positions after it worth
        // their time.
        if is_exact || plies != left {
            return Ok(Some(plies <= left));
        }
        let hash = position.hashes().last().copied().unwrap_or_default();
        if let Some(known) = self.known.get(&hash) {
            return Ok(Some(*known));
        }
        // A review or `go` waits for it; without an answer the search itself has to find out.
        if self.known.len() >= MAX_KNOWN {
            return Ok(None);
        }
        self.known.insert(hash, false); // coming back here is no progress
        let mut legal = Vec::new();
        position.legal_actions(&mut legal);
        for action in legal {
            let mut after = position.clone();
            after.play(action);
            let Some(wins) = self.move_in_time(&after, left, mover_wins)? else { return Ok(None) };
            // One move is enough for the side that wins; the side that loses must have none that is too long.
            if wins == mover_wins {
                self.known.insert(hash, mover_wins);
                return Ok(Some(mover_wins));
            }
        }
        self.known.insert(hash, !mover_wins);
        Ok(Some(!mover_wins))
    }

    /// `in_time` of the position before a move, if this move is played.
    fn move_in_time(&mut self, after: &Position, left: i32, mover_wins: bool) -> Result<Option<bool>, GameError> {
        match after.outcome() {
            Some(Outcome::Win(_)) => return Ok(Some(mover_wins && left >= 1)),
            Some(Outcome::Draw) if !after.is_drawn_by_history() => return Ok(Some(false)),
            _ => (),
        }
        let wanted = if mover_wins { -2 } else { 2 };
        if after.chess().halfmoves() == 0 {
            return Ok(self.tables.wdl(after)?.map(|wdl| wdl == wanted && left >= 1));
        }
        let Some(dtz) = self.tables.dtz(after)? else { return Ok(None) };
        match dtz.signum() == wanted.signum() {
            true => self.in_time(after, left - 1, !mover_wins),
            false => Ok(Some(false)),
        }
    }
}

/// A position that no table covers is no error; a table that cannot be read is one.
fn answer<T>(probed: Result<T, SyzygyError>) -> Result<Option<T>, GameError> {
    match probed {
        Ok(value) => Ok(Some(value)),
        // A damaged file must be seen: taken for a missing one it would change moves in silence.
        Err(error @ SyzygyError::ProbeFailed { .. }) => Err(GameError(format!("Syzygy tables: {error}"))),
        Err(_) => Ok(None),
    }
}
