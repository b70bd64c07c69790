//! Players as text, as far as they need no machine: nets with their search, opponents by rating, and players without a net.

use std::sync::Arc;

use hauteur_core::game::{Action, Game};
use hauteur_core::play::settings::Temperature;
use hauteur_core::players::mcts;
use hauteur_core::players::rave::{self, MAX_ACTIONS};
use serde_json::{Map, Value as Json, json};

use crate::facts::{Facts, Rung};
use crate::position::Position;
use crate::settings::{assign, assign_text, leaves, search_of};

/// Visits of a player that is given none.
const USUAL_VISITS: u32 = 100;
const MAX_SIMULATIONS: u32 = 10_000_000;

/// A player without a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Any legal move.
    Random,
    /// Random games.
    Mcts(u32),
    /// Random games with all-moves-as-first values (NoGo).
    Rave(u32),
}

/// What plays a side.
#[derive(Clone, Debug, Default)]
pub struct Player {
    /// The name that it was given.
    pub name: String,
    /// It has no net.
    pub baseline: Option<Baseline>,
    /// Empty: the game's own.
    pub net: String,
    /// A second net: the large one, or the model of the opponent.
    pub second: String,
    /// Visits, where they were given.
    pub visits: Option<u32>,
    /// Settings of its search, and its temperature, as they were given.
    pub search: Map<String, Json>,
    /// As they were given.
    pub temperature: Map<String, Json>,
}

impl Player {
    /// Visits of a move.
    pub fn visits(&self) -> u32 {
        // Nets of Maia are trained to predict moves of people by their policy; a search would play stronger than
        // these.
        self.visits.unwrap_or(if is_maia(&self.net) { 1 } else { USUAL_VISITS })
    }

    /// How its moves are drawn.
    pub fn temperature(&self) -> Result<Temperature, String> {
        serde_json::from_value(Json::Object(self.temperature.clone())).map_err(|error| format!("temperature: {error}"))
    }

    /// The name in the game: its own, or the net's and what was changed.
    pub fn shown(&self, net: &str) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        match self.baseline {
            Some(Baseline::Random) => "random".into(),
            Some(Baseline::Mcts(games)) => format!("mcts:{games}"),
            Some(Baseline::Rave(games)) => format!("rave:{games}"),
            None => {
                let mut changed = Vec::new();
                leaves("", &Json::Object(self.search.clone()), &mut changed);
                let changed: String = changed.into_iter().map(|word| format!(" {word}")).collect();
                format!("{net} visits={}{changed}", self.visits())
            }
        }
    }
}

/// Whether a net, by its name, is one of the Maia project, which predicts moves of people at one visit.
fn is_maia(net: &str) -> bool {
    let rest = net.strip_prefix("maia").map(|rest| rest.trim_start_matches('-'));
    rest.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn rung(facts: &Facts, name: &str) -> Result<Rung, String> {
    let known: Vec<&str> = facts.ladder.iter().map(|rung| rung.name.as_str()).collect();
    let found = facts.ladder.iter().find(|rung| rung.name == name).cloned();
    found.ok_or_else(|| match known.as_slice() {
        [] => format!("{name}: this page was built without nets of people's moves"),
        known => format!("no opponent {name:?} here; this page has {}", known.join(", ")),
    })
}

fn baseline(word: &str) -> Result<Option<Baseline>, String> {
    let (kind, number) = word.split_once(':').unwrap_or((word, ""));
    let games = || {
        let games = number.parse::<u32>().ok().filter(|games| (1..=MAX_SIMULATIONS).contains(games));
        games.ok_or_else(|| format!("{word:?} is no player: write {kind}:N, N from 1 to 10,000,000"))
    };
    match kind {
        "random" if number.is_empty() => Ok(Some(Baseline::Random)),
        "mcts" => games().map(|games| Some(Baseline::Mcts(games))),
        "rave" => games().map(|games| Some(Baseline::Rave(games))),
        // Known words, so that the error says where they work instead of calling them no player.
        "uci" | "gtp" => Err("programs need the lab on your machine: hauteur web --allow-programs".into()),
        _ => Ok(None),
    }
}

/// The player of a text; an error names the word. Programs and files of settings need the lab on a machine.
pub fn parse(text: &str, facts: &Facts) -> Result<Player, String> {
    let mut player = Player::default();
    for word in text.split_whitespace() {
        if word.starts_with("human-") {
            let rung = rung(facts, word)?;
            player.name = rung.name;
            player.net = rung.net;
            player.visits = player.visits.or(Some(rung.visits));
            // 1, as the net was trained; the usual 1.359 would flatten its predictions. What stands in the text
            // counts, before or after the name.
            player.search.entry("policy_temperature").or_insert(json!(1.0));
            // Both, so that people draw their moves to the end, whatever decay of temperature the text has.
            for key in ["initial", "endgame"] {
                player.temperature.entry(key).or_insert(json!(rung.temperature));
            }
        } else if let Some(found) = baseline(word)? {
            player.baseline = Some(found);
        } else {
            let pair = word.split_once('=').filter(|(key, _)| !key.is_empty());
            let (key, value) = pair.ok_or_else(|| format!("{word:?} is neither a player nor key=value"))?;
            set(&mut player, &key.replace('-', "_"), value.trim_matches(['"', '\'']))?;
        }
    }
    // Named and not passed over: whoever writes `mcts:100 visits=800` means something by it.
    if player.baseline.is_some() && (!player.net.is_empty() || player.visits.is_some() || !player.search.is_empty()) {
        return Err(format!("{} is a player without a network: other settings do not apply", player.shown("")));
    }
    // Errors of settings are told here, with the text of the player, and not when its game begins.
    search_of(&player.search, "search")?;
    player.temperature()?;
    Ok(player)
}

fn set(player: &mut Player, key: &str, value: &str) -> Result<(), String> {
    match key {
        "name" => player.name = value.to_string(),
        "net" => player.net = value.to_string(),
        "large_net" => player.second = value.to_string(),
        "opponent_net" => {
            player.second = value.to_string();
            // The second net has one of two roles, and the section says which.
            assign(&mut player.search, "opponent_net", json!({}))?;
        }
        "visits" => {
            let visits = value.parse().ok().filter(|visits| (1..=1_000_000_000).contains(visits));
            player.visits = Some(visits.ok_or_else(|| format!("visits must be 1 to 1000000000, got {value:?}"))?);
        }
        // One number in the place of a section is its first one (decision 6).
        "temperature" => assign_text(&mut player.temperature, "initial", value)?,
        key => match key.strip_prefix("temperature.") {
            Some(rest) => assign_text(&mut player.temperature, rest, value)?,
            None => assign_text(&mut player.search, key.strip_prefix("search.").unwrap_or(key), value)?,
        },
    }
    Ok(())
}

/// The players that a page offers for a game, the one that it has by default first.
pub fn suggested(game: &dyn Game, has_net: bool, facts: &Facts) -> Vec<Json> {
    let own = if has_net { "hauteur" } else { "hauteur, by random games" };
    let mut offers = vec![(String::new(), own.to_string())];
    if game.info().name == "chess" {
        offers.extend(facts.ladder.iter().map(|rung| (rung.name.clone(), format!("human, {}", rung.rating))));
    }
    // RAVE keeps a table of actions in each node; chess has 1858 of them.
    if game.info().num_actions <= MAX_ACTIONS {
        offers.push(("rave:5000".into(), "RAVE, 5,000 random games".into()));
    }
    offers.push(("mcts:1000".into(), "MCTS, 1,000 random games".into()));
    offers.push(("random".into(), "random moves".into()));
    offers.into_iter().map(|(text, label)| json!({ "text": text, "label": label })).collect()
}

/// The move of a player without a net; among equals the lower action.
pub fn baseline_move(baseline: Baseline, position: &Position, seed: u64) -> Result<Action, String> {
    let state = position.state.as_ref();
    let visits: Vec<(Action, u32)> = match baseline {
        Baseline::Random => {
            let legal = position.legal();
            // The high word of the product: a remainder would prefer the lower moves, if by ever so little.
            let place = (u128::from(seed) * legal.len() as u128) >> 64;
            return legal.get(place as usize).copied().ok_or_else(|| "the game is over".into());
        }
        Baseline::Mcts(games) => {
            let found = mcts::search(state, games, seed).map_err(|error| error.0)?;
            found.into_iter().map(|one| (one.action, one.visits)).collect()
        }
        Baseline::Rave(games) => {
            let found = rave::search(state, position.game.info(), games, seed).map_err(|error| error.0)?;
            found.into_iter().map(|one| (one.action, one.visits)).collect()
        }
    };
    // The lower action among equals, as in Python, so that one seed plays one game in both.
    let best = visits.into_iter().max_by_key(|(action, visits)| (*visits, u16::MAX - action));
    best.map(|(action, _)| action).ok_or_else(|| "the game is over".into())
}

/// Whether a player without a net plays this game.
pub fn plays(baseline: Baseline, game: &Arc<dyn Game>) -> Result<(), String> {
    match baseline {
        Baseline::Rave(simulations) if game.info().num_actions > MAX_ACTIONS => {
            let spec = &game.info().spec;
            let count = game.info().num_actions;
            Err(format!(
                "rave plays games of at most {MAX_ACTIONS} actions, {spec} has {count}; mcts:{simulations} plays every game"
            ))
        }
        _ => Ok(()),
    }
}
