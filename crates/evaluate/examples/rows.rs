//! Rows per CPU-second of networks with random weights, by instructions, precision, batch and chunk.
//!
//! `cargo run --release -p hauteur-evaluate --example rows [NAME] [CHUNK...]`; NAME: the beginning of a network's name.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use hauteur_evaluate::layers::Activation;
use hauteur_evaluate::{Instructions, Network, Precision};
use support::{Numbers, Sizes, network};

fn cpu_seconds() -> f64 {
    // The time of the process and not of the clock, in which whatever else runs on the machine would count.
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux tells the time of a process");
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.expect("nanoseconds") * 1e-9
}

fn networks() -> Vec<(&'static str, Sizes)> {
    let chess = Sizes {
        planes: 112,
        rows: 8,
        columns: 8,
        filters: 64,
        blocks: 6,
        excitation: 8,
        pooling: 0,
        activation: Activation::Relu,
        policy_planes: 80,
        actions: 1858,
        value_outputs: 3,
        head_kernel: 1,
    };
    let small =
        Sizes { planes: 3, rows: 6, columns: 7, filters: 32, blocks: 4, excitation: 0, policy_planes: 0, ..chess };
    vec![
        ("chess-64x6", chess),
        ("connect4-32x4", Sizes { actions: 7, ..small }),
        ("connect4-32x4-pooling", Sizes { actions: 7, pooling: 8, ..small }),
        ("chess-64x6-pooling", Sizes { pooling: 16, ..chess }),
        ("go-9x9-64x6", Sizes { planes: 5, rows: 9, columns: 9, policy_planes: 1, actions: 81, ..chess }),
        ("othello-6x6-32x4", Sizes { rows: 6, columns: 6, actions: 37, ..small }),
        ("gomoku-15x15-32x4", Sizes { rows: 15, columns: 15, policy_planes: 1, actions: 225, ..small }),
        ("chess-128x10", Sizes { filters: 128, blocks: 10, ..chess }),
        ("chess-192x10", Sizes { filters: 192, blocks: 10, ..chess }),
        ("chess-256x20", Sizes { filters: 256, blocks: 20, ..chess }),
    ]
}

/// The median of five measurements of 0.2 s each.
fn rows_per_second(ready: &Network, features: &[f32], batch: usize) -> f64 {
    let mut logits = vec![0.0; batch * ready.actions()];
    let mut wdl = vec![0.0; batch * 3];
    let part = &features[..batch * ready.row_length()];
    let mut measure = || {
        let began = Instant::now();
        let cpu = cpu_seconds();
        let mut rows = 0;
        while began.elapsed().as_secs_f64() < 0.2 {
            ready.evaluate(part, batch, &mut logits, &mut wdl).expect("lengths fit");
            rows += batch;
        }
        rows as f64 / (cpu_seconds() - cpu)
    };
    let mut found: Vec<f64> = (0..5).map(|_| measure()).collect();
    // The median: one measurement that was disturbed does not count.
    found.sort_by(f64::total_cmp);
    found[2]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let prefix = arguments.first().map_or("", String::as_str);
    let chunks: Vec<usize> = arguments.iter().skip(1).filter_map(|chunk| chunk.parse().ok()).collect();
    let chunks = if chunks.is_empty() { vec![None] } else { chunks.into_iter().map(Some).collect() };
    for (name, sizes) in networks().into_iter().filter(|(name, _)| name.starts_with(prefix)) {
        let layers = network(1, sizes);
        let features = Numbers(2).features(128 * sizes.planes * sizes.rows * sizes.columns);
        for instructions in Instructions::ALL.into_iter().filter(|one| one.available()) {
            for precision in Precision::ALL {
                for chunk in &chunks {
                    let Ok(ready) = Network::new(&layers, precision, Some(instructions), *chunk) else { continue };
                    print!("{name:14} {instructions:8} {:13} chunk {chunk:?}", precision.name());
                    for batch in [1, 8, 64, 128] {
                        print!("  {batch}: {:6.0}", rows_per_second(&ready, &features, batch));
                    }
                    println!();
                }
            }
        }
    }
}
