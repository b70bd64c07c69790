//! What sessions know of the package, as `tools/build_page.py` writes it down, so that nothing of it is written twice.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::settings::assign_text;

/// All facts.
#[derive(Debug, Deserialize)]
pub struct Facts {
    /// The nets that the page has.
    pub nets: Vec<NetFacts>,
    /// Opponents by rating whose nets it has, the weakest first.
    pub ladder: Vec<Rung>,
    /// Names of the handicaps that are offered.
    pub handicaps: Vec<String>,
    /// Names of the pages of rules, by their settings.
    pub methods: BTreeMap<String, String>,
    /// Settings of a player who gives odds; of those that fit, later ones count.
    pub odds_settings: Vec<OddsSettings>,
}

/// A net of the page.
#[derive(Clone, Debug, Deserialize)]
pub struct NetFacts {
    /// Its name, such as `connect4`.
    pub name: String,
    /// The file that it was made of, as pages show it.
    pub file: String,
    /// Planes, rows and columns of its features.
    pub feature_shape: [usize; 3],
    /// Length of its policy.
    pub num_actions: usize,
    /// It ships with the package: the game's own.
    pub ships: bool,
    /// The only colour that it was trained to give odds as: 0 White, 1 Black; None: both.
    pub trained_for: Option<usize>,
    /// Settings of the search that it is played with, as text; empty: those of any net.
    #[serde(default)]
    pub play_search: String,
}

impl Facts {
    /// Settings of a search as they were given, with those that the net carries for play under them (`hauteur.mcts.net_search`).
    /// `second`: a second net, empty for none; those that a net carries are for a search with this net alone.
    pub fn search_of_net(
        &self,
        net: &str,
        second: &str,
        given: &Map<String, Json>,
    ) -> Result<Map<String, Json>, String> {
        // With a second net the net's own settings do not count: they were measured for it alone.
        let known = self.nets.iter().find(|known| known.name == net && second.is_empty());
        let mut found = Map::new();
        for word in known.map_or("", |known| &known.play_search).split_whitespace() {
            let (key, value) =
                word.split_once('=').ok_or_else(|| format!("the net {net}: {word:?} is not key=value"))?;
            // Keys may begin with `search.`, as in recipes and in texts of players.
            assign_text(&mut found, key.strip_prefix("search.").unwrap_or(key), value)?;
        }
        put_over(&mut found, given);
        Ok(found)
    }
}

/// Puts nested settings over others.
fn put_over(below: &mut Map<String, Json>, above: &Map<String, Json>) {
    for (name, value) in above {
        match (below.get_mut(name), value) {
            // Section by section: one given number of a rule leaves the others of the net.
            (Some(Json::Object(section)), Json::Object(changes)) => put_over(section, changes),
            _ => {
                below.insert(name.clone(), value.clone());
            }
        }
    }
}

/// An opponent by rating.
#[derive(Clone, Debug, Deserialize)]
pub struct Rung {
    /// `human-1500`.
    pub name: String,
    /// 1500.
    pub rating: u32,
    /// Name of its net.
    pub net: String,
    /// Visits of a move.
    pub visits: u32,
    /// By which moves are drawn.
    pub temperature: f64,
}

/// Settings for a giver of odds: the dotted keys of the search's and of the temperature's (`temperature.initial`).
#[derive(Clone, Debug, Deserialize)]
pub struct OddsSettings {
    /// Letters of the given pieces; empty: any.
    pub pieces: String,
    /// 0 White, 1 Black; None: both.
    pub gives: Option<usize>,
    /// Of each lc0's name, the dotted key, and the value.
    pub settings: Vec<(String, String, Json)>,
    /// Most visits of a search.
    pub nodes: Option<u32>,
}
