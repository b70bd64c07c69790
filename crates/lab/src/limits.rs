//! Limits of a search and the share of a clock for a move: `hauteur.mcts.limits`, as far as the page has limits.
//!
//! Times are seconds of a search since it began; visits count the root's own evaluation.

// The first batches of a search are small: their pace says nothing of what follows.
const SETTLED_VISITS: u64 = 100;
const SETTLED_SECONDS: f64 = 0.1;
// lc0's value. Above 1 it is bolder than sure, since visits that are left never go all to one rival.
/// Of players on the clock.
pub const SMART_PRUNING: f64 = 1.33;
const RIVAL_SHARE: f64 = 0.1;
/// Median length of a game, in moves.
const GAME_LENGTH: f64 = 55.0;
/// How sharply the lengths of games gather around the median.
const GAME_LENGTH_SHAPE: f64 = 4.0;
/// No move of an unknown number of moves may use more than this share of what is left.
const LARGEST_SHARE: f64 = 0.5;
/// Share of the overhead that an ordinary move loses; kept for each of the moves to come.
const USUAL_LAG: f64 = 0.25;
/// Moves for which lag is kept at least, where there is no time control before: games can be long.
const LONG_GAME: f64 = 40.0;
/// No more than this share of what is left is kept for lag.
const LARGEST_RESERVE: f64 = 0.8;
/// `maximum` over `target`, where the clock allows it.
const STRETCH: f64 = 2.5;

/// Seconds for one move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// What the move should take.
    pub target: f64,
    /// What it may take where the search has not settled.
    pub maximum: f64,
}

/// What ends a search; without any of it only a stop does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Visits of the root, those of a kept tree included.
    pub visits: Option<u32>,
    /// Time.
    pub budget: Option<Budget>,
    /// Stop when no rival can catch up within 1/this of what remains; 0: never.
    pub smart_pruning: f64,
}

impl Limits {
    /// Whether only a stop ends it.
    pub fn is_infinite(&self) -> bool {
        self.visits.is_none() && self.budget.is_none()
    }

    /// Whether visits end it, and no clock.
    pub fn by_visits_alone(&self) -> bool {
        self.visits.is_some() && self.budget.is_none()
    }
}

/// How far a search is.
pub struct Progress<'a> {
    /// Seconds since it began.
    pub seconds: f64,
    /// Visits of the root.
    pub visits: u32,
    /// Visits of this search alone.
    pub new_visits: u64,
    /// Time from one batch to the next.
    pub batch_seconds: f64,
    /// The most visited move is played.
    pub by_visits: bool,
    /// Visits and Q of the root's moves; most batches do without.
    pub rivals: &'a dyn Fn() -> (Vec<u32>, Vec<f32>),
}

/// Why the search should end now; None: go on.
pub fn stop_reason(limits: &Limits, progress: &Progress) -> Option<&'static str> {
    if limits.is_infinite() {
        return None;
    }
    if limits.visits.is_some_and(|visits| progress.visits >= visits) {
        return Some("visits");
    }
    if limits.budget.is_some_and(|budget| is_late(&budget, progress)) {
        return Some("time");
    }
    settled(limits, progress)
}

fn is_late(budget: &Budget, progress: &Progress) -> bool {
    // A batch is not ended in its middle, so what counts is when the next one would end.
    let end = progress.seconds + progress.batch_seconds;
    end >= budget.target && end >= deadline(budget, progress)
}

/// When to stop: at the target, or at the maximum while the most visited move is not the best one.
fn deadline(budget: &Budget, progress: &Progress) -> f64 {
    if unsettled(progress) { budget.maximum } else { budget.target }
}

/// Smart pruning: one move only, or no rival can catch up.
fn settled(limits: &Limits, progress: &Progress) -> Option<&'static str> {
    if limits.smart_pruning <= 0.0 || progress.visits < 1 {
        return None;
    }
    // Asked only now: it scores every edge of the root, and most batches are stopped by nothing.
    let (mut visits, _) = (progress.rivals)();
    if visits.len() == 1 {
        return Some("only move");
    }
    // No rival can catch up when the second one could not even if it got all visits that are left.
    visits.sort_unstable_by(|a, b| b.cmp(a));
    let lead = visits.first().copied().unwrap_or(0) - visits.get(1).copied().unwrap_or(0);
    let decided = progress.by_visits && f64::from(lead) > visits_left(limits, progress) / limits.smart_pruning;
    decided.then_some("decided")
}

/// Visits that the limits still allow, by count and by time at the present pace; else infinity.
fn visits_left(limits: &Limits, progress: &Progress) -> f64 {
    let by_count = limits.visits.map_or(f64::INFINITY, |visits| f64::from(visits) - f64::from(progress.visits));
    let by_time = limits.budget.map_or(f64::INFINITY, |budget| {
        if progress.new_visits < SETTLED_VISITS || progress.seconds < SETTLED_SECONDS {
            return f64::INFINITY;
        }
        let left = (deadline(&budget, progress) - progress.seconds).max(0.0);
        left * progress.new_visits as f64 / progress.seconds
    });
    by_count.min(by_time).max(0.0)
}

/// Whether a rival of the most visited move has the higher Q.
fn unsettled(progress: &Progress) -> bool {
    let (visits, values) = (progress.rivals)();
    let most = visits.iter().copied().max().unwrap_or(0);
    // Q of a move with few visits is noise, and no move with less than a tenth of the visits is about to be played.
    let enough = |visits: u32| visits > 0 && f64::from(visits) >= RIVAL_SHARE * f64::from(most);
    let rivals = visits.into_iter().zip(values).filter(|(visits, _)| enough(*visits));
    let rivals: Vec<(u32, f32)> = rivals.collect();
    let best = rivals.iter().map(|rival| rival.1).fold(f32::NEG_INFINITY, f32::max);
    // Pairs are compared, so that of moves with equal visits the better one counts, as in Python's `max`.
    let first = rivals.iter().copied().max_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    first.is_some_and(|(_, value)| best > value)
}

/// The budget of a fixed time for a move.
pub fn fixed(seconds: f64) -> Budget {
    Budget { target: seconds, maximum: seconds }
}

/// The clock of the player to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Seconds.
    pub remaining: f64,
    /// Seconds that a move brings.
    pub increment: f64,
    /// Moves until the next time control; None: the time is for the whole game.
    pub moves_to_go: Option<u32>,
}

impl Clock {
    /// The clock of a game of at most `max_plies` plies, `ply` of which are played: the last moves are counted.
    pub fn of_game(remaining: f64, increment: f64, ply: usize, max_plies: usize) -> Self {
        // At the limit of plies the game ends as a draw or by its score: time that is left then was kept for
        // nothing.
        let most = max_plies.saturating_sub(ply).div_ceil(2).max(1);
        let moves_to_go = Some(most as u32).filter(|_| (most as f64) < moves_left(ply / 2));
        Clock { remaining, increment, moves_to_go }
    }
}

/// What is known of how moves are played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pacing {
    /// Seconds that a move may lose between clock and engine; they are never planned.
    pub overhead: f64,
    /// Factor of the time that a move gets.
    pub slowmover: f64,
    /// By how many seconds earlier moves came too late.
    pub lateness: f64,
}

impl Pacing {
    /// Moves that come in time and get what they should, but lose this much.
    pub fn with_overhead(overhead: f64) -> Self {
        Pacing { overhead, slowmover: 1.0, lateness: 0.0 }
    }
}

/// Divides the clock among the moves still to come. `move_number`: full moves played. What increments do not pay of the lag of later
/// moves is kept; so is the lateness, but half of the clock stays in use.
pub fn plan(clock: &Clock, move_number: usize, pacing: &Pacing) -> Budget {
    let Pacing { overhead, slowmover, lateness } = *pacing;
    let moves = clock.moves_to_go.map_or_else(|| moves_left(move_number), |moves| f64::from(moves.max(1)));
    let increment = clock.increment.max(0.0);
    // Never planned: what is lost on the way to the board is lost on the clock too.
    let mut spare = (clock.remaining - overhead).max(0.0);
    // A program that was late will be late again; half of the clock stays, or it could not move at all.
    spare -= lateness.max(0.0).min(0.5 * spare);
    // Lag of all later moves together; without a bound it would take the whole of a short clock.
    spare -= lag(clock, moves, overhead).min(LARGEST_RESERVE * spare);
    // Increments of later moves are as good as on the clock, except the last one's, which comes too late.
    let share = (spare + increment * (moves - 1.0)) / moves;
    // Below the flag even if the search never settles, whatever the factor of the user is.
    let maximum = (STRETCH * slowmover * share).min(ceiling(spare, clock.moves_to_go));
    Budget { target: (slowmover * share).min(maximum), maximum }
}

/// What the moves after this one lose on the way, as far as increments do not pay for it.
fn lag(clock: &Clock, moves: f64, overhead: f64) -> f64 {
    // Half of all games are longer than the median says, and a game that lasts must not be lost by lag.
    let later = clock.moves_to_go.map_or(moves.max(LONG_GAME), |_| moves - 1.0);
    later * (USUAL_LAG * overhead - clock.increment.max(0.0)).max(0.0)
}

/// The most that one move may use: the last move before a time control all, others a share.
fn ceiling(spare: f64, moves_to_go: Option<u32>) -> f64 {
    match moves_to_go {
        None => LARGEST_SHARE * spare,
        Some(0 | 1) => spare,
        Some(moves) => spare * LARGEST_SHARE.max(1.0 / f64::from(moves)),
    }
}

/// Median number of moves still to play after this many, for log-logistic game lengths.
///
/// The share of games longer than x moves is S(x) = 1 / (1 + (x/m)^s), with m = GAME_LENGTH and s = GAME_LENGTH_SHAPE. The median of what
/// is left, t, solves S(x + t) = S(x) / 2: t = m (1 + 2 (x/m)^s)^(1/s) - x, at most m.
pub fn moves_left(played: usize) -> f64 {
    let played = played as f64;
    let growth = 1.0 + 2.0 * (played / GAME_LENGTH).powf(GAME_LENGTH_SHAPE);
    GAME_LENGTH.min(GAME_LENGTH * growth.powf(1.0 / GAME_LENGTH_SHAPE) - played)
}

/// Seconds and increment of `MINUTES:SECONDS+INCREMENT` or `SECONDS+INCREMENT`.
pub fn clock_of(text: &str) -> Result<(f64, f64), String> {
    let wrong = || format!("a clock is MINUTES:SECONDS+INCREMENT or SECONDS+INCREMENT, such as 5:00+3, got {text:?}");
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    // NaN and infinity are numbers for `parse`; a range has neither.
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| (0.0..=1e6).contains(value)).ok_or_else(wrong);
    let seconds = match base.split_once(':') {
        Some((minutes, seconds)) => 60.0 * number(minutes)? + number(seconds)?,
        None => number(base)?,
    };
    let increment = number(increment)?;
    if seconds + increment > 0.0 { Ok((seconds, increment)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_shared() {
        assert_eq!(clock_of("5:00+3"), Ok((300.0, 3.0)));
        assert_eq!(clock_of("90"), Ok((90.0, 0.0)));
        assert!(clock_of("soon").is_err() && clock_of("0+0").is_err());
        let pacing = Pacing::with_overhead(0.1);
        let budget = plan(&Clock::of_game(300.0, 3.0, 0, 10_000), 0, &pacing);
        assert!(budget.target > 3.0 && budget.target < 15.0 && budget.maximum <= 150.0, "{budget:?}");
        assert_eq!(plan(&Clock::of_game(0.05, 0.0, 10, 10_000), 5, &pacing).maximum, 0.0);
        assert_eq!(plan(&Clock::of_game(10.0, 0.0, 8, 9), 4, &pacing).target, 9.9);
    }

    #[test]
    fn a_search_ends_by_visits_and_time() {
        let rivals = || (vec![10, 5], vec![0.5, 0.1]);
        let progress = |visits, seconds| Progress {
            seconds,
            visits,
            new_visits: u64::from(visits),
            batch_seconds: 0.0,
            by_visits: true,
            rivals: &rivals,
        };
        let by_visits = Limits { visits: Some(100), ..Limits::default() };
        assert_eq!(stop_reason(&by_visits, &progress(99, 9.0)), None);
        assert_eq!(stop_reason(&by_visits, &progress(100, 9.0)), Some("visits"));
        let by_time = Limits { budget: Some(fixed(1.0)), ..Limits::default() };
        assert_eq!(stop_reason(&by_time, &progress(9, 0.5)), None);
        assert_eq!(stop_reason(&by_time, &progress(9, 1.0)), Some("time"));
        assert_eq!(stop_reason(&Limits::default(), &progress(9, 1e9)), None);
    }
}
