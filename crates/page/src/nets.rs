//! Evaluators by their names: the nets of the page, `uniform` and `rollout`.

use std::collections::HashMap;
use std::sync::Arc;

use hauteur_core::evaluator::{Batch, Evaluator, Reads, Uniform};
use hauteur_core::game::Game;
use hauteur_core::players::rollout::rollout_value;
use hauteur_evaluate::{Instructions, Network, Precision};

use hauteur_lab::facts::NetFacts;
use hauteur_lab::position::load_game;

use crate::net;
use crate::shares::{NamedNet, NetEvaluator, SharesOfPage};

/// Evaluators in the place of a net.
pub const WITHOUT_FILE: [&str; 2] = ["uniform", "rollout"];
/// Rows of a batch of random games, and without a net: those of the package (`hauteur.networks.evaluators.base`).
const ROLLOUT_ROWS: usize = 16;
const UNIFORM_ROWS: usize = 256;

/// The nets that the page has.
pub struct Nets {
    facts: Vec<NetFacts>,
    bytes: HashMap<String, Vec<u8>>,
    ready: HashMap<String, Arc<NetEvaluator>>,
    /// None: the best instructions that there are.
    instructions: Option<Instructions>,
    /// Batches that other workers compute a part of.
    pub shares: SharesOfPage,
}

/// Equal priors, and the result of one random game.
struct Rollout;

impl Evaluator for Rollout {
    fn evaluate(&self, _: &[f32], _: usize, _: &mut [f32], _: &mut [f32]) -> Result<(), String> {
        // Features do not say how a game goes on.
        Err("random games start from positions".into())
    }

    fn batch_size(&self) -> usize {
        ROLLOUT_ROWS
    }

    fn reads(&self) -> Reads {
        Reads::Positions
    }

    fn evaluate_batch(&self, batch: Batch, _: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        let Batch::Positions(positions) = batch else { return Err("random games start from positions".into()) };
        logits.fill(0.0);
        for (position, wdl) in positions.iter().zip(wdl.chunks_exact_mut(3)) {
            // Seed 0 and one game, as in the package: the trees of both labs are compared digest by digest.
            wdl.copy_from_slice(&rollout_value(position.state, 0, 1));
        }
        Ok(())
    }
}

/// Equal priors in the batches of the package.
struct WideUniform;

impl Evaluator for WideUniform {
    fn evaluate(&self, features: &[f32], rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        Uniform.evaluate(features, rows, logits, wdl)
    }

    fn batch_size(&self) -> usize {
        UNIFORM_ROWS
    }

    fn reads(&self) -> Reads {
        Reads::Nothing
    }

    fn evaluate_batch(&self, batch: Batch, rows: usize, logits: &mut [f32], wdl: &mut [f32]) -> Result<(), String> {
        Uniform.evaluate_batch(batch, rows, logits, wdl)
    }
}

impl Nets {
    /// The nets of these facts, none of which is loaded.
    pub fn new(facts: Vec<NetFacts>, instructions: Option<Instructions>) -> Self {
        Nets { facts, bytes: HashMap::new(), ready: HashMap::new(), instructions, shares: SharesOfPage::default() }
    }

    /// Takes the bytes of a net.
    pub fn add(&mut self, name: &str, bytes: Vec<u8>) {
        self.bytes.insert(name.to_string(), bytes);
    }

    /// The names that a page may give.
    pub fn names(&self) -> Vec<String> {
        self.facts.iter().map(|net| net.name.as_str()).chain(WITHOUT_FILE).map(String::from).collect()
    }

    /// Facts of a net of the page.
    pub fn facts(&self, name: &str) -> Option<&NetFacts> {
        self.facts.iter().find(|net| net.name == name)
    }

    /// What pages show as the name of a net.
    pub fn shown(&self, name: &str) -> String {
        self.facts(name).map_or(name, |net| &net.file).to_string()
    }

    /// What computes a net, in words.
    pub fn evaluator_name(&self, name: &str) -> String {
        match self.facts(name) {
            Some(net) => format!("{} core float32 {}", net.file, self.instructions.unwrap_or_else(Instructions::best)),
            None => name.to_string(),
        }
    }

    /// The net of a game that ships, by its name.
    pub fn own(&self, game: &dyn Game) -> Option<String> {
        let info = game.info();
        let [_, rows, columns] = info.feature_shape;
        // Downloaded nets fit a game too; only the one that ships is the game's own.
        let named = |name: &str| self.facts(name).filter(|net| net.ships).map(|net| net.name.clone());
        if rows == columns
            && let Some(sized) = named(&format!("{}{columns}", info.name))
        {
            return Some(sized);
        }
        // A net named after the game is of its usual board. Specs of other starts have the same sizes, other boards
        // have not.
        let usual = load_game(&info.name).ok()?;
        let same = usual.info().feature_shape == info.feature_shape && usual.info().num_actions == info.num_actions;
        named(&info.name).filter(|_| same)
    }

    /// The evaluator of a name for a game; an error, in one line, for no net of the page and for one of another game.
    pub fn open(&mut self, name: &str, game: &dyn Game) -> Result<Arc<dyn Evaluator>, String> {
        match name {
            "uniform" => return Ok(Arc::new(WideUniform)),
            "rollout" => return Ok(Arc::new(Rollout)),
            _ => {}
        }
        let info = game.info();
        let known = self.names().join(", ");
        let facts = self.facts(name).ok_or_else(|| format!("there is no net {name:?} here; this page has {known}"))?;
        // Nets have no rules in them: what fits is told by the sizes of features and policy.
        if (facts.feature_shape, facts.num_actions) != (info.feature_shape, info.num_actions) {
            return Err(format!("the net {name} is not for {}", info.spec));
        }
        Ok(self.ready(name)?)
    }

    /// The evaluator of a net of the page; an error, in one line, for one that was not loaded.
    fn ready(&mut self, name: &str) -> Result<Arc<NetEvaluator>, String> {
        // One evaluator for each net, since a batch that is computed elsewhere is found again by it.
        if let Some(ready) = self.ready.get(name) {
            return Ok(ready.clone());
        }
        let bytes = self.bytes.get(name).ok_or_else(|| format!("the net {name} was not loaded"))?;
        let network = Network::new(&net::read(bytes)?, Precision::Float32, self.instructions, None);
        let network = network.map_err(|error| format!("the net {name}: {}", error.0))?;
        self.bytes.remove(name); // its weights are kept as they are multiplied
        let net = NamedNet { name: name.to_string(), network };
        let ready = Arc::new(NetEvaluator::new(net, self.shares.clone()));
        self.ready.insert(name.to_string(), ready.clone());
        Ok(ready)
    }

    /// The answers of rows for another worker: their logits, then the shares of win, draw and loss.
    pub fn answers(&mut self, name: &str, features: &[f32]) -> Result<Vec<f32>, String> {
        let (logits, wdl) = self.ready(name)?.net().answers(features)?;
        // One array, which can be handed to the other worker without a copy.
        Ok([logits, wdl].concat())
    }
}
