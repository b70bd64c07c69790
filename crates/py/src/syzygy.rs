//! Syzygy tablebases: exact results of chess positions with few pieces, for leaves of the search and moves of the root.

use std::path::Path;

use hauteur_core::game::{Action, GameError, Outcome, State};
use hauteur_core::games::chess::Position;
use hauteur_core::search::oracle::LeafOracle;
use shakmaty::{Chess, Position as _};
use shakmaty_syzygy::{Dtz, SyzygyError, Tablebase, Wdl};

/// Rank of a root move that wins, whatever the fifty-move rule says; less certain wins rank below it.
const CERTAIN: i32 = 1000;
/// Plies without capture or pawn move after which the game is drawn.
const DRAW_PLIES: i32 = 100;

/// The tables of some folders.
pub struct Syzygy {
    tables: Tablebase<Chess>,
    files: usize,
}

impl Syzygy {
    /// Finds the tables in these folders (separated as in the environment variable PATH); files are opened when needed.
    pub fn open(folders: &str) -> Result<Syzygy, GameError> {
        let mut tables = Tablebase::new();
        let mut files = 0;
        for folder in std::env::split_paths(folders).filter(|folder| !folder.as_os_str().is_empty()) {
            files += add_folder(&mut tables, &folder)?;
        }
        if files == 0 {
            return Err(GameError(format!("no Syzygy tables (*.rtbw, *.rtbz) in {folders:?}")));
        }
        Ok(Syzygy { tables, files })
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
        answer(self.tables.probe_wdl_after_zeroing(position.chess())).map(|wdl| wdl.map(i32::from))
    }

    /// Plies to the next capture or pawn move (or mate) of the mover's win (> 0) or loss (< 0); may be one ply too high.
    /// Beyond 100 the fifty-move rule draws. 0: draw; `None`: not in the tables.
    pub fn dtz(&self, position: &Position) -> Result<Option<i32>, GameError> {
        answer(self.tables.probe_dtz(position.chess())).map(|dtz| dtz.map(|dtz| dtz.ignore_rounding().0))
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
            None => self.ranks(position, &legal, |after| self.result_rank(after))?,
        };
        let best = |ranks: Vec<i32>| {
            let top = ranks.iter().max().copied().unwrap_or(0);
            legal.iter().zip(ranks).filter(|(_, rank)| *rank == top).map(|(action, _)| *action).collect()
        };
        Ok(ranks.map(best))
    }

    /// Whether the tables can know the position.
    fn covers(&self, position: &Position) -> bool {
        let chess = position.chess();
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
        let spent = root.chess().halfmoves().try_into().unwrap_or(i32::MAX / 2);
        let Some(distance) = self.distance_of_move(after)? else { return Ok(None) };
        let in_time = distance + spent < DRAW_PLIES && !root.has_repetition();
        Ok(Some(match distance {
            0 => 0,
            1.. if in_time && !fast => CERTAIN,
            1.. if in_time => 2 * CERTAIN - distance,
            1.. => CERTAIN - (distance + spent).min(CERTAIN - 1),
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
        if after.chess().halfmoves() == 0 {
            let wdl = answer(self.tables.probe_wdl_after_zeroing(after.chess()))?;
            return Ok(wdl.map(|wdl| Dtz::before_zeroing(-wdl).0));
        }
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
        if position.chess().halfmoves() != 0 || !self.covers(position) {
            return None;
        }
        // A table that is missing or cannot be read leaves the position to the network.
        match self.tables.probe_wdl_after_zeroing(position.chess()).ok()? {
            Wdl::Win => Some(Outcome::Win(state.to_move())),
            Wdl::Loss => Some(Outcome::Win(state.to_move().other())),
            _ => Some(Outcome::Draw),
        }
    }
}

fn add_folder(tables: &mut Tablebase<Chess>, folder: &Path) -> Result<usize, GameError> {
    tables.add_directory(folder).map_err(|error| GameError(format!("Syzygy folder {}: {error}", folder.display())))
}

/// A position that no table covers is no error; a table that cannot be read is one.
fn answer<T>(probed: Result<T, SyzygyError>) -> Result<Option<T>, GameError> {
    match probed {
        Ok(value) => Ok(Some(value)),
        Err(error @ SyzygyError::ProbeFailed { .. }) => Err(GameError(format!("Syzygy tables: {error}"))),
        Err(_) => Ok(None),
    }
}
