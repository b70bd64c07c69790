//! Odds mode: the side that gives odds plays with the settings of the package's table (`hauteur.engine.odds_mode`).

use serde_json::{Map, Value as Json, json};

use crate::facts::Facts;
use crate::odds::{Odds, odds_of};
use crate::player::Player;
use crate::position::Position;
use crate::settings::assign;

/// Visits of a giver that has been given none.
const GIVER_VISITS: u32 = 400;
/// End of the name of such a giver.
pub const SETTINGS_FOR_ODDS: &str = ", settings for odds";

/// What odds mode has done to a player: what it changed, in one line.
pub struct OddsGame(pub String);

/// The odds of the start of a game of chess.
pub fn odds_of_start(start: &Position) -> Option<Odds> {
    (start.game.info().name == "chess").then(|| odds_of(&start.state.notation())).flatten()
}

/// Gives the player of a side the settings for the odds that it gives; None where it gives none, or does not search. `net`: by its name.
pub fn set_for_odds(
    player: &mut Player,
    start: &Position,
    side: usize,
    net: &str,
    facts: &Facts,
) -> Result<Option<OddsGame>, String> {
    let Some(odds) = odds_of_start(start).filter(|odds| odds.giver == side && player.baseline.is_none()) else {
        return Ok(None);
    };
    // A net that was trained to give odds as White plays Black's side with the colours exchanged.
    let trained_for = facts.nets.iter().find(|known| known.name == net).and_then(|net| net.trained_for);
    let mut settings: Vec<(String, String, Json)> = Vec::new();
    if trained_for.is_some_and(|colour| colour != side) {
        settings.push(("SwapColors".into(), "search.swap_colors".into(), json!(true)));
    }
    let mut nodes = None;
    let pieces = odds.pieces();
    let fits = facts
        .odds_settings
        .iter()
        .filter(|row| row.gives.is_none_or(|giver| giver == side) && (row.pieces.is_empty() || row.pieces == pieces));
    for row in fits {
        // Row by row, each setting by itself: the table has what holds for all odds first, then what some pieces
        // need.
        nodes = row.nodes.or(nodes);
        for (name, key, value) in &row.settings {
            match settings.iter_mut().find(|(known, ..)| known == name) {
                Some(known) => known.2 = value.clone(),
                None => settings.push((name.clone(), key.clone(), value.clone())),
            }
        }
    }
    // What a player was given counts: somebody who tries other settings at odds must get these.
    let (kept, changes): (Vec<_>, Vec<_>) = settings.into_iter().partition(|(_, key, _)| is_given(player, key));
    for (_, key, value) in &changes {
        match key.split_once('.') {
            Some(("search", rest)) => assign(&mut player.search, rest, value.clone())?,
            Some(("temperature", rest)) => assign(&mut player.temperature, rest, value.clone())?,
            _ => return Err(format!("settings for odds: {key} is no setting of a player")),
        }
    }
    // The settings are of a search, so a giver that has been given no visits gets some.
    player.visits = player.visits.or(Some(nodes.map_or(GIVER_VISITS, |nodes| nodes.min(GIVER_VISITS))));
    Ok(Some(OddsGame(text(&odds, &changes, &kept, nodes))))
}

/// Whether a player has been given a value at a dotted key.
fn is_given(player: &Player, key: &str) -> bool {
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let mut values: Option<&Map<String, Json>> =
        Some(if section == "temperature" { &player.temperature } else { &player.search });
    let mut found = None;
    for name in rest.split('.') {
        found = values.and_then(|values| values.get(name));
        values = found.and_then(Json::as_object);
    }
    found.is_some()
}

fn text(
    odds: &Odds,
    changes: &[(String, String, Json)],
    kept: &[(String, String, Json)],
    nodes: Option<u32>,
) -> String {
    let listed: Vec<String> = changes.iter().map(|(name, _, value)| format!("{name} {value}")).collect();
    let listed = if listed.is_empty() { "no settings".into() } else { listed.join(", ") };
    let limit = nodes.map_or(String::new(), |nodes| format!("; at most {nodes} visits"));
    let names: Vec<&str> = kept.iter().map(|(name, ..)| name.as_str()).collect();
    let kept = if names.is_empty() { String::new() } else { format!("; as set: {}", names.join(", ")) };
    format!("odds game, {}: {listed}{limit}{kept}", odds.name())
}
