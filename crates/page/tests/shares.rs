//! Batches that several workers compute: the trees are those of one worker.

#[path = "../../evaluate/tests/support/mod.rs"]
mod support;

use std::sync::Arc;

use hauteur_core::evaluator::Evaluator;
use hauteur_evaluate::layers::Activation;
use hauteur_evaluate::{Network, Precision};
use hauteur_lab::analysis::{Analysis, SearchNets, Turn};
use hauteur_lab::host::AWAITED;
use hauteur_lab::limits::Limits;
use hauteur_lab::position::{Position, load_game};
use hauteur_lab::settings::search_of;
use hauteur_page::shares::{NamedNet, NetEvaluator, SharesOfPage};
use serde_json::json;
use support::{Sizes, network};

const SIZES: Sizes = Sizes {
    planes: 0,
    rows: 6,
    columns: 7,
    filters: 16,
    blocks: 1,
    excitation: 0,
    pooling: 0,
    activation: Activation::Relu,
    policy_planes: 0,
    actions: 7,
    value_outputs: 3,
    head_kernel: 1,
};

fn net(name: &str, seed: u64, planes: usize) -> NamedNet {
    let layers = network(seed, Sizes { planes, ..SIZES });
    NamedNet { name: name.into(), network: Network::new(&layers, Precision::Float32, None, None).unwrap() }
}

/// The evaluator of a page with some workers, and what it shares with them.
fn evaluator(seed: u64, planes: usize, shares: &SharesOfPage) -> Arc<NetEvaluator> {
    Arc::new(NetEvaluator::new(net("small", seed, planes), shares.clone()))
}

/// Lets the other workers answer, the last one first.
fn answer(shares: &SharesOfPage, other: &NamedNet) -> bool {
    let Some((number, name, parts)) = shares.asked() else { return false };
    assert_eq!(name, "small");
    // Backwards, as workers answer in any order.
    for part in (1..parts).rev() {
        let (logits, wdl) = other.answers(&shares.features_of(part).unwrap()).unwrap();
        assert!(!shares.is_ready());
        shares.take(number.wrapping_sub(1), part, &[]).unwrap(); // of a batch that nobody waits for any more
        shares.take(number, part, &[logits, wdl].concat()).unwrap();
    }
    shares.compute_own().unwrap();
    assert!(shares.is_ready());
    true
}

/// The digest of a tree of 400 visits, how often its batches were shared, and replies that were drawn.
fn searched(workers: usize, batch: usize) -> (u64, usize, u64) {
    let start = Position::start(load_game("connect4").unwrap());
    let planes = start.game.info().feature_shape[0];
    let shares = SharesOfPage::default();
    let other = net("small", 5, planes);
    shares.among(workers);
    let settings = json!({ "search_contempt": { "n_scl": 20 } });
    let params = search_of(settings.as_object().unwrap(), "settings").unwrap();
    let nets = SearchNets { small: evaluator(5, planes, &shares), large: None };
    let mut analysis = Analysis::new(start, nets, params, 3, Some(batch)).unwrap();
    let clock = || 0.0;
    analysis.begin(Limits { visits: Some(400), ..Limits::default() }, &clock).unwrap();
    let mut shared = 0;
    while analysis.turn(&clock).unwrap() != Turn::Over {
        shared += usize::from(answer(&shares, &other));
    }
    let search = analysis.search().unwrap();
    (search.tree().digest(), shared, search.counters().contempt_draws)
}

#[test]
fn trees_do_not_depend_on_the_number_of_workers() {
    for batch in [8, 64] {
        let (alone, none, draws) = searched(1, batch);
        assert!(none == 0 && draws > 0);
        for workers in [2, 4] {
            let (digest, shared, drawn) = searched(workers, batch);
            assert!(shared > 10, "{shared} batches were shared");
            assert_eq!((digest, drawn), (alone, draws), "{workers} workers, batches of {batch}");
        }
    }
}

#[test]
fn a_batch_is_forgotten_with_its_search() {
    let start = Position::start(load_game("connect4").unwrap());
    let row = start.game.info().row_len();
    let shares = SharesOfPage::default();
    shares.among(2);
    let evaluator = evaluator(5, start.game.info().feature_shape[0], &shares);
    let mut logits = vec![0.0; 8 * 7];
    let mut wdl = vec![0.0; 8 * 3];
    let mut ask = |value: f32| evaluator.evaluate(&vec![value; 8 * row], 8, &mut logits, &mut wdl);
    assert_eq!(ask(0.0), Err(AWAITED.into()));
    let first = shares.asked().unwrap().0;
    assert_eq!(ask(0.0), Err(AWAITED.into()));
    assert_eq!(shares.asked().unwrap().0, first);
    // Other rows: the search was stopped and another one has begun.
    assert_eq!(ask(1.0), Err(AWAITED.into()));
    assert_ne!(shares.asked().unwrap().0, first);
    assert!(shares.take(shares.asked().unwrap().0, 1, &[0.0]).is_err());
    shares.among(1);
    assert!(shares.is_ready());
    assert_eq!(ask(1.0), Ok(()));
}
