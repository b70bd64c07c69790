//! Networks of tiles, emulated: against plain float64, and the bits of their rows.

mod support;

use hauteur_evaluate::layers::{Activation, Layers, Policy};
use hauteur_evaluate::{Instructions, Network, Precision, Rows};
use support::{Numbers, Sizes, network, plainly, random_layers};

const CHESS: Sizes = Sizes {
    planes: 20,
    rows: 8,
    columns: 8,
    filters: 64,
    blocks: 2,
    excitation: 8,
    pooling: 0,
    activation: Activation::Relu,
    policy_planes: 80,
    actions: 300,
    value_outputs: 3,
    head_kernel: 1,
};

/// Boards from 1x1 to 19x19, 17 to 512 filters, both activations, heads and values, with and without excitation and pooling.
fn kinds() -> Vec<Sizes> {
    let small = Sizes { planes: 3, filters: 32, blocks: 1, excitation: 0, policy_planes: 0, actions: 9, ..CHESS };
    let mish = Activation::Mish;
    vec![
        CHESS,
        Sizes { pooling: 8, head_kernel: 3, ..CHESS },
        Sizes { filters: 48, activation: mish, excitation: 5, ..CHESS },
        Sizes { rows: 6, columns: 7, blocks: 3, actions: 7, value_outputs: 1, ..small },
        Sizes { rows: 6, columns: 7, filters: 33, pooling: 5, activation: mish, blocks: 2, ..small },
        Sizes { rows: 3, columns: 3, filters: 17, excitation: 3, activation: mish, ..small },
        Sizes { rows: 3, columns: 3, filters: 512, excitation: 32, ..small },
        Sizes { rows: 5, columns: 4, filters: 160, head_kernel: 3, actions: 33, ..small },
        Sizes { rows: 1, columns: 1, actions: 2, ..small },
        Sizes { rows: 1, columns: 13, filters: 80, actions: 2, ..small },
        Sizes { rows: 13, columns: 1, filters: 40, pooling: 16, blocks: 2, ..small },
        Sizes { rows: 2, columns: 16, policy_planes: 3, actions: 50, ..small },
        Sizes { rows: 4, columns: 8, policy_planes: 17, actions: 50, excitation: 4, ..small },
        Sizes { rows: 7, columns: 8, value_outputs: 1, pooling: 3, blocks: 2, ..small },
        Sizes { rows: 9, columns: 9, planes: 5, filters: 48, policy_planes: 1, actions: 81, ..small },
        Sizes { rows: 15, columns: 15, policy_planes: 1, actions: 225, excitation: 8, ..small },
        Sizes { rows: 19, columns: 19, planes: 40, policy_planes: 2, actions: 361, pooling: 8, blocks: 2, ..small },
        Sizes { filters: 24, blocks: 0, activation: mish, ..CHESS },
    ]
}

fn emulated(layers: &Layers, chunk: Option<usize>) -> Network {
    Network::new(layers, Precision::Bfloat16, Some(Instructions::EmulatedAmx), chunk).unwrap()
}

/// Answers of all rows, in batches: logits, then shares, row by row.
fn answers(network: &Network, features: &[f32], batch: usize) -> Vec<f32> {
    let mut all = Vec::new();
    for part in features.chunks(batch * network.row_length()) {
        let rows = part.len() / network.row_length();
        let mut logits = vec![f32::NAN; rows * network.actions()];
        let mut wdl = vec![f32::NAN; rows * 3];
        network.evaluate(part, rows, &mut logits, &mut wdl).unwrap();
        for row in 0..rows {
            all.extend_from_slice(&logits[row * network.actions()..][..network.actions()]);
            all.extend_from_slice(&wdl[row * 3..][..3]);
        }
    }
    all
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// The greatest difference from plain float64, logits in shares of their size.
fn error(layers: &Layers, network: &Network, features: &[f32]) -> f64 {
    let found = answers(network, features, 5);
    let mut worst = 0.0_f64;
    for (row, found) in features.chunks(network.row_length()).zip(found.chunks(network.actions() + 3)) {
        let (logits, wdl) = plainly(layers, row);
        let size = (logits.iter().map(|x| x * x).sum::<f64>() / logits.len() as f64).sqrt();
        for (logit, expected) in found.iter().zip(&logits) {
            worst = worst.max((f64::from(*logit) - expected).abs() / (1.0 + size));
        }
        for (share, expected) in found[network.actions()..].iter().zip(&wdl) {
            worst = worst.max((f64::from(*share) - expected).abs());
        }
    }
    worst
}

#[test]
fn every_kind_of_network_is_computed_as_in_float64() {
    for (seed, sizes) in kinds().into_iter().enumerate() {
        let layers = network(seed as u64 + 88, sizes);
        let features = Numbers(7).features(3 * sizes.planes * sizes.rows * sizes.columns);
        let worst = error(&layers, &emulated(&layers, None), &features);
        // A smaller difference would be that of float32: something else was computed than was asked for.
        assert!((1e-6..0.05).contains(&worst), "differs by {worst} in {sizes:?}");
    }
}

/// The cases of `seeds` that differ from plain float64 by more than bfloat16 explains, each with its difference.
fn wrong(seeds: std::ops::Range<u64>) -> Vec<(u64, f64)> {
    let differs = |seed: u64| {
        let layers = random_layers(seed);
        let features = Numbers(seed + 3).features(4 * layers.input.inputs * layers.rows * layers.columns);
        let worst = error(&layers, &emulated(&layers, None), &features);
        (worst >= 0.06).then_some((seed, worst))
    };
    seeds.filter_map(differs).collect()
}

#[test]
fn random_layers_are_computed_as_in_float64() {
    assert_eq!(wrong(0..100), []);
}

#[test]
#[ignore = "takes minutes; part of make test-slow"]
fn fifteen_hundred_random_layers_are_computed_as_in_float64() {
    assert_eq!(wrong(100..1600), []);
}

#[test]
fn a_row_has_the_same_bits_in_every_batch_and_chunk() {
    for (seed, sizes) in kinds().into_iter().enumerate() {
        let layers = network(seed as u64 + 5, sizes);
        let rows = if sizes.filters * sizes.rows * sizes.columns > 5000 { 5 } else { 65 };
        let features = Numbers(9).features(rows * sizes.planes * sizes.rows * sizes.columns);
        let ready = emulated(&layers, None);
        let expected = bits(&answers(&ready, &features, rows));
        for batch in [1, 2, 3, 17, 64] {
            assert_eq!(bits(&answers(&ready, &features, batch)), expected, "batches of {batch}: {sizes:?}");
        }
        for chunk in [1, 5, 16] {
            let other = emulated(&layers, Some(chunk));
            assert_eq!(bits(&answers(&other, &features, rows)), expected, "chunks of {chunk}: {sizes:?}");
        }
    }
}

/// Masks and values of rows of planes that hold one number each.
fn packed(features: &[f32], squares: usize) -> (Vec<u64>, Vec<f32>) {
    let mask = |plane: &[f32]| {
        plane.iter().enumerate().map(|(square, x)| u64::from(*x != 0.0) << square).fold(0, |all, bit| all | bit)
    };
    let value = |plane: &[f32]| plane.iter().copied().find(|x| *x != 0.0).unwrap_or(0.0);
    (features.chunks(squares).map(mask).collect(), features.chunks(squares).map(value).collect())
}

#[test]
fn packed_rows_have_the_bits_of_planes() {
    for (seed, sizes) in kinds().into_iter().enumerate() {
        let squares = sizes.rows * sizes.columns;
        let ready = emulated(&network(seed as u64, sizes), None);
        assert_eq!(ready.reads_packed(), squares <= 64);
        let rows = 3;
        let features: Vec<f32> = Numbers(5).features(rows * sizes.planes * squares).iter().map(|x| x * 0.37).collect();
        let (masks, values) = packed(&features, squares.min(64));
        let mut logits = vec![0.0; rows * ready.actions()];
        let mut wdl = vec![0.0; rows * 3];
        let done = ready.evaluate_unless(Rows::Packed(&masks, &values), rows, &mut logits, &mut wdl, &|| false);
        if squares > 64 {
            assert_eq!(done.unwrap_err().to_string(), "this network reads planes, not packed rows");
            continue;
        }
        assert_eq!(done, Ok(true));
        let mut other_logits = logits.clone();
        let mut other_wdl = wdl.clone();
        ready.evaluate(&features, rows, &mut other_logits, &mut other_wdl).unwrap();
        assert_eq!([bits(&logits), bits(&wdl)], [bits(&other_logits), bits(&other_wdl)], "{sizes:?}");
    }
}

#[test]
fn rows_of_other_lengths_are_refused() {
    let ready = emulated(&network(1, CHESS), None);
    let refused = |rows: Rows| {
        let answer = ready.evaluate_unless(rows, 1, &mut [0.0; 300], &mut [0.0; 3], &|| false);
        answer.unwrap_err().to_string()
    };
    assert_eq!(
        refused(Rows::Planes(&[0.0; 20])),
        "1 rows are [1280, 300, 3] features, logits and shares, got [20, 300, 3]"
    );
    assert_eq!(
        refused(Rows::Packed(&[0; 19], &[0.0; 19])),
        "1 rows are [20, 300, 3] masks, logits and shares, got [19, 300, 3]"
    );
    assert_eq!(refused(Rows::Packed(&[0; 20], &[0.0; 19])), "packed rows have a value for each mask, got 20 and 19");
}

#[test]
fn a_halted_pass_says_so_and_the_next_one_is_whole() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let ready = emulated(&network(3, Sizes { blocks: 4, ..CHESS }), Some(4));
    let features = Numbers(5).features(10 * ready.row_length());
    let expected = bits(&answers(&ready, &features, 10));
    let asked = AtomicUsize::new(0);
    let halted = || asked.fetch_add(1, Ordering::Relaxed) == 5;
    let mut logits = vec![0.0; 10 * ready.actions()];
    let mut wdl = vec![0.0; 30];
    assert_eq!(ready.evaluate_unless(Rows::Planes(&features), 10, &mut logits, &mut wdl, &halted), Ok(false));
    assert_eq!(asked.into_inner(), 6, "between the blocks, and not after it was halted");
    assert_eq!(bits(&answers(&ready, &features, 10)), expected);
}

#[test]
fn numbers_that_overflow_are_an_error_and_leave_nothing_behind() {
    for sizes in [CHESS, Sizes { rows: 6, columns: 7, pooling: 4, ..CHESS }] {
        let layers = network(1, sizes);
        let ready = emulated(&layers, None);
        let usual = Numbers(3).features(3 * ready.row_length());
        let expected = bits(&answers(&ready, &usual, 3));
        let features = vec![3e38; 5 * ready.row_length()];
        let mut logits = vec![0.0; 5 * 300];
        let mut wdl = vec![0.0; 15];
        let error = ready.evaluate(&features, 5, &mut logits, &mut wdl).unwrap_err().to_string();
        assert_eq!(error, "row 0: the numbers of this network overflow: an answer is not finite");
        for batch in [1, 3] {
            assert_eq!(bits(&answers(&ready, &usual, batch)), expected, "{sizes:?}");
        }
    }
}

#[test]
fn networks_that_are_too_large_are_refused_before_memory_is_asked_for() {
    let refused = |layers: &Layers, precision, instructions| {
        Network::new(layers, precision, Some(instructions), None).err().expect("refused").to_string()
    };
    let mut numbers = Numbers(1);
    let mut layers = network(1, Sizes { rows: 1, columns: 1, blocks: 0, policy_planes: 0, ..CHESS });
    (layers.rows, layers.columns) = (256, 256);
    layers.input = numbers.convolution(1, 65_536, 3);
    layers.policy = Policy::Dense(numbers.convolution(65_536, 1, 1), numbers.dense(65_536, 1));
    (layers.value.planes, layers.value.hidden) = (numbers.convolution(65_536, 1, 1), numbers.dense(65_536, 40));
    assert_eq!(
        refused(&layers, Precision::Bfloat16, Instructions::EmulatedAmx),
        "boards of 66870 squares with 65536 channels are too large for this machine"
    );
    assert_eq!(
        refused(&layers, Precision::Float32, Instructions::Portable),
        "boards of 66564 squares with 65536 channels are too large for this machine"
    );
}

#[test]
fn amx_computes_bfloat16_alone_and_only_where_it_is_there() {
    let layers = network(1, CHESS);
    let refused = |precision, instructions| {
        Network::new(&layers, precision, Some(instructions), None).err().expect("refused").to_string()
    };
    assert_eq!(
        refused(Precision::Float32, Instructions::EmulatedAmx),
        "emulated-amx does not multiply float32; bfloat16 alone"
    );
    let best = Instructions::best_for(Precision::Bfloat16);
    assert_ne!(Instructions::best(), Instructions::Amx, "that is for float32");
    match Instructions::why_not_amx() {
        None => assert_eq!(best, Some(Instructions::Amx)),
        Some(why) => {
            assert!(!why.is_empty() && !why.contains('\n'));
            assert_ne!(best, Some(Instructions::Amx));
            assert_eq!(refused(Precision::Bfloat16, Instructions::Amx), "this processor has no amx");
            assert!("amx".parse::<Instructions>().unwrap_err().to_string().ends_with("got \"amx\""));
        }
    }
    let chosen = Network::new(&layers, Precision::Bfloat16, None, None);
    match best {
        Some(best) => assert_eq!(chosen.unwrap().instructions(), best),
        None => {
            assert!(chosen.err().unwrap().to_string().ends_with("does not multiply bfloat16; float32 always works"))
        }
    }
}

#[test]
fn the_processors_tiles_have_the_bits_of_emulated_ones() {
    if !Instructions::Amx.available() {
        eprintln!("not run: {}", Instructions::why_not_amx().unwrap());
        return;
    }
    for (seed, sizes) in kinds().into_iter().enumerate() {
        let layers = network(seed as u64 + 5, sizes);
        let features = Numbers(9).features(5 * sizes.planes * sizes.rows * sizes.columns);
        let real = Network::new(&layers, Precision::Bfloat16, Some(Instructions::Amx), None).unwrap();
        let found = answers(&real, &features, 5);
        let expected = answers(&emulated(&layers, None), &features, 5);
        assert_eq!(bits(&found), bits(&expected), "{sizes:?}");
    }
}

#[test]
fn emulated_vectors_of_bfloat16_have_the_bits_of_the_processors() {
    for (seed, sizes) in kinds().into_iter().enumerate().take(5) {
        let layers = network(seed as u64 + 5, sizes);
        let features = Numbers(9).features(5 * sizes.planes * sizes.rows * sizes.columns);
        let of = |one| Network::new(&layers, Precision::Bfloat16, Some(one), None).unwrap();
        let plain = of(Instructions::EmulatedAvx512);
        let worst = error(&layers, &plain, &features);
        assert!((1e-6..0.05).contains(&worst), "differs by {worst} in {sizes:?}");
        if Instructions::Avx512.computes(Precision::Bfloat16) {
            let real = of(Instructions::Avx512);
            assert_eq!(bits(&answers(&real, &features, 5)), bits(&answers(&plain, &features, 5)), "{sizes:?}");
        }
    }
}
