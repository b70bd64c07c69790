//! Every form of every kind of network against plain float64, and the bits of its rows.

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

/// Boards of several sizes, channels that fill no vector, both activations, heads and values.
fn kinds() -> Vec<Sizes> {
    let connect =
        Sizes { planes: 3, rows: 6, columns: 7, filters: 32, blocks: 3, excitation: 0, policy_planes: 0, ..CHESS };
    vec![
        CHESS,
        Sizes { actions: 7, value_outputs: 1, ..connect },
        Sizes { rows: 9, columns: 9, planes: 5, filters: 48, policy_planes: 1, actions: 81, blocks: 1, ..CHESS },
        Sizes { rows: 3, columns: 3, filters: 17, actions: 9, activation: Activation::Mish, excitation: 3, ..connect },
        Sizes { rows: 5, columns: 4, filters: 160, blocks: 1, head_kernel: 3, actions: 33, ..connect },
        Sizes { filters: 24, blocks: 0, activation: Activation::Mish, ..CHESS },
        Sizes { rows: 1, columns: 13, filters: 80, actions: 2, blocks: 1, ..connect },
        Sizes { pooling: 8, ..CHESS },
        Sizes { pooling: 5, filters: 33, actions: 7, activation: Activation::Mish, excitation: 0, ..connect },
        Sizes { pooling: 16, actions: 7, value_outputs: 1, head_kernel: 3, ..connect },
    ]
}

/// As above, and heads whose planes differ in width while a convolution of one reads them with their borders.
fn heads() -> Vec<Sizes> {
    let uneven = Sizes { head_kernel: 3, blocks: 1, excitation: 0, ..CHESS };
    vec![
        uneven,
        Sizes { filters: 48, ..uneven },
        Sizes { rows: 9, columns: 9, planes: 5, filters: 80, policy_planes: 1, actions: 81, ..uneven },
        Sizes {
            rows: 5,
            columns: 4,
            filters: 17,
            actions: 33,
            activation: Activation::Mish,
            value_outputs: 1,
            ..uneven
        },
    ]
}

fn answers(network: &Network, features: &[f32], batch: usize) -> Vec<f32> {
    let rows = features.len() / network.row_length();
    let mut all = Vec::new();
    for first in (0..rows).step_by(batch) {
        let count = batch.min(rows - first);
        let part = &features[first * network.row_length()..][..count * network.row_length()];
        // A number that is not written stays none, and equals nothing.
        let mut logits = vec![f32::NAN; count * network.actions()];
        let mut wdl = vec![f32::NAN; count * 3];
        network.evaluate(part, count, &mut logits, &mut wdl).unwrap();
        for row in 0..count {
            all.extend_from_slice(&logits[row * network.actions()..][..network.actions()]);
            all.extend_from_slice(&wdl[row * 3..][..3]);
        }
    }
    all
}

/// The greatest difference from plain float64, logits in shares of their size.
fn error(layers: &Layers, network: &Network, features: &[f32]) -> f64 {
    let found = answers(network, features, 5);
    let mut worst = 0.0_f64;
    let wide = network.actions() + 3;
    for (row, found) in features.chunks(network.row_length()).zip(found.chunks(wide)) {
        let (logits, wdl) = plainly(layers, row);
        let size = logits.iter().map(|x| x * x).sum::<f64>() / logits.len() as f64;
        for (logit, expected) in found.iter().zip(&logits) {
            worst = worst.max((f64::from(*logit) - expected).abs() / (1.0 + size.sqrt()));
        }
        for (share, expected) in found[network.actions()..].iter().zip(&wdl) {
            worst = worst.max((f64::from(*share) - expected).abs());
        }
    }
    worst
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn every_form_computes_the_network() {
    for (seed, sizes) in kinds().into_iter().enumerate() {
        let layers = network(seed as u64 + 88, sizes);
        let features = Numbers(7).features(3 * sizes.planes * sizes.rows * sizes.columns);
        for instructions in Instructions::ALL.into_iter().filter(|one| one.computes(Precision::Float32)) {
            let ready = Network::new(&layers, Precision::Float32, Some(instructions), None).unwrap();
            let worst = error(&layers, &ready, &features);
            assert!(worst < 1e-5, "{instructions} differs by {worst} in {sizes:?}");
        }
        if Instructions::best_for(Precision::Bfloat16).is_some() {
            let worst = error(&layers, &Network::new(&layers, Precision::Bfloat16, None, None).unwrap(), &features);
            // A smaller difference would be that of float32: something else was computed than was asked for.
            assert!((1e-6..0.05).contains(&worst), "bfloat16 differs by {worst} in {sizes:?}");
        }
    }
}

#[test]
fn heads_of_different_widths_leave_each_other_alone() {
    for (seed, sizes) in heads().into_iter().enumerate() {
        let layers = network(seed as u64 + 400, sizes);
        let features = Numbers(13).features(9 * sizes.planes * sizes.rows * sizes.columns);
        let ready = Network::new(&layers, Precision::Float32, None, None).unwrap();
        let worst = error(&layers, &ready, &features);
        assert!(worst < 1e-5, "differs by {worst} in {sizes:?}");
    }
}

/// The cases of `seeds` that differ from plain float64, each with its difference.
fn wrong(seeds: std::ops::Range<u64>) -> Vec<(u64, f64)> {
    let differs = |seed: u64| {
        let layers = random_layers(seed);
        let features = Numbers(seed + 3).features(4 * layers.input.inputs * layers.rows * layers.columns);
        let ready = Network::new(&layers, Precision::Float32, None, None).unwrap();
        let worst = error(&layers, &ready, &features);
        (worst >= 2e-5).then_some((seed, worst))
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
fn a_halted_pass_says_so_and_the_next_one_is_whole() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let sizes = Sizes { blocks: 4, ..CHESS };
    let ready = Network::new(&network(3, sizes), Precision::Float32, None, Some(4)).unwrap();
    let features = Numbers(5).features(10 * ready.row_length());
    let expected = bits(&answers(&ready, &features, 10));
    let asked = AtomicUsize::new(0);
    let halted = || asked.fetch_add(1, Ordering::Relaxed) == 5;
    let mut logits = vec![0.0; 10 * ready.actions()];
    let mut wdl = vec![0.0; 30];
    assert_eq!(ready.evaluate_unless(Rows::Planes(&features), 10, &mut logits, &mut wdl, &halted), Ok(false));
    assert_eq!(asked.into_inner(), 6, "between the blocks, and not after it was halted");
    assert_eq!(ready.evaluate_unless(Rows::Planes(&features), 10, &mut logits, &mut wdl, &|| false), Ok(true));
    assert_eq!(bits(&answers(&ready, &features, 10)), expected);
}

#[test]
fn numbers_that_overflow_are_an_error() {
    let mut layers = network(1, CHESS);
    layers.value.output.weights.fill(3e38);
    let ready = Network::new(&layers, Precision::Float32, None, None).unwrap();
    let features = vec![1.0; 2 * ready.row_length()];
    let mut logits = vec![0.0; 600];
    let mut wdl = vec![0.0; 6];
    let error = ready.evaluate(&features, 2, &mut logits, &mut wdl).unwrap_err().to_string();
    assert_eq!(error, "row 0: the numbers of this network overflow: an answer is not finite");
    let mut layers = network(1, CHESS);
    layers.blocks[0].first.weights.fill(1e30);
    layers.blocks[0].second.weights.fill(1e30);
    let ready = Network::new(&layers, Precision::Float32, None, None).unwrap();
    assert!(ready.evaluate(&features, 2, &mut logits, &mut wdl).is_err(), "inside the tower");
    let mut layers = network(1, CHESS);
    let (reduce, expand) = layers.blocks[0].excitation.as_mut().expect("these networks have it");
    reduce.bias.fill(100.0);
    expand.weights[..2].copy_from_slice(&[3e38, -3e38]);
    // Fused, the product with -3e38 is not rounded to infinity before it is added, and the scale stays infinite.
    let ready = Network::new(&layers, Precision::Float32, Some(Instructions::Unfused), None).unwrap();
    assert!(ready.evaluate(&features, 2, &mut logits, &mut wdl).is_err(), "a scale that is no number");
}

#[test]
fn a_row_has_the_same_bits_in_every_batch_and_chunk() {
    for (seed, sizes) in kinds().into_iter().enumerate() {
        let layers = network(seed as u64 + 5, sizes);
        // More rows than the largest chunk that is chosen, and a number that of these batches and chunks 1 alone
        // divides.
        let features = Numbers(9).features(67 * sizes.planes * sizes.rows * sizes.columns);
        for precision in Precision::ALL {
            if Instructions::best_for(precision).is_none() {
                continue;
            }
            let ready = Network::new(&layers, precision, None, None).unwrap();
            let expected = bits(&answers(&ready, &features, 67));
            for batch in [1, 2, 3, 8, 13, 64] {
                assert_eq!(
                    bits(&answers(&ready, &features, batch)),
                    expected,
                    "batches of {batch}: {precision:?} {sizes:?}"
                );
            }
            for chunk in [1, 5, 32] {
                let other = Network::new(&layers, precision, None, Some(chunk)).unwrap();
                assert_eq!(
                    bits(&answers(&other, &features, 67)),
                    expected,
                    "chunks of {chunk}: {precision:?} {sizes:?}"
                );
            }
        }
    }
}

#[test]
fn processors_with_a_fused_multiply_add_give_the_same_bits() {
    for (seed, sizes) in kinds().into_iter().enumerate() {
        let layers = network(seed as u64 + 31, sizes);
        let features = Numbers(3).features(9 * sizes.planes * sizes.rows * sizes.columns);
        let of = |one| answers(&Network::new(&layers, Precision::Float32, Some(one), None).unwrap(), &features, 9);
        let expected = bits(&of(Instructions::Portable));
        for one in
            [Instructions::Avx512, Instructions::Avx2, Instructions::Neon].into_iter().filter(|one| one.available())
        {
            assert_eq!(bits(&of(one)), expected, "{one} {sizes:?}");
        }
        assert_ne!(bits(&of(Instructions::Unfused)), expected);
    }
}

/// FNV-1a of the bits of all answers.
fn digest(numbers: &[f32]) -> u64 {
    let bytes = numbers.iter().flat_map(|x| x.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_bits_are_those_that_were_stored() {
    let of = |sizes: Sizes, instructions| {
        let features = Numbers(11).features(6 * sizes.planes * sizes.rows * sizes.columns);
        let ready = Network::new(&network(1234, sizes), Precision::Float32, instructions, None).unwrap();
        digest(&answers(&ready, &features, 6))
    };
    let best = Instructions::best();
    let fused = if best == Instructions::Simd128 { Instructions::Portable } else { best };
    let found: Vec<_> =
        kinds().into_iter().map(|one| [of(one, Some(fused)), of(one, Some(Instructions::Unfused))]).collect();
    assert_eq!(found, STORED, "{found:#x?}");
    if best == Instructions::Simd128 {
        kinds().into_iter().zip(found).for_each(|(one, [_, unfused])| assert_eq!(of(one, None), unfused));
    }
}

/// Of each kind: with fused multiply-add, and without.
const STORED: [[u64; 2]; 10] = [
    [0x8842_36ec_9874_805a, 0x0f2e_4e26_28cd_af0d],
    [0x771e_865d_a20c_bd9d, 0x8c04_bc69_71dd_6944],
    [0x7aa1_7f98_df95_2bb8, 0x42ac_ace4_47a1_4fa0],
    [0xb340_d751_8681_0057, 0xcbe1_70c8_dd12_473d],
    [0x92f8_b2d1_5ef7_278a, 0xab1e_734a_ed2e_e892],
    [0xd75c_b2ce_d571_cc09, 0xd9d9_43df_cb96_79c4],
    [0x9266_59d8_4748_660c, 0x59c9_2a71_1216_16c1],
    [0x44db_6d65_56a3_0dd9, 0x39a8_855c_a00e_b43b],
    [0xa1de_602f_b795_8485, 0x4ac0_7f67_9c18_4546],
    [0x77e9_877a_19db_3a2e, 0x58b4_f743_3bef_af47],
];

#[test]
fn layers_that_do_not_fit_are_refused_in_one_line() {
    let layers = network(1, CHESS);
    let refused = |change: &dyn Fn(&mut Layers)| {
        let mut wrong = layers.clone();
        change(&mut wrong);
        let error = Network::new(&wrong, Precision::Float32, None, None).err().expect("refused").to_string();
        assert!(!error.contains('\n'));
        error
    };
    assert_eq!(refused(&|n| n.rows = 0), "rows must be 1 to 65536, got 0");
    assert_eq!(refused(&|n| n.blocks[1].first.inputs = 32), "block 1, first: inputs must be 64, got 32");
    assert_eq!(
        refused(&|n| n.blocks[0].second.kernel = 5),
        "block 0, second: the kernel's side must be one of [3], got 5"
    );
    assert_eq!(refused(&|n| n.input.bias.truncate(3)), "input: biases must be 64, got 3");
    assert_eq!(refused(&|n| n.value.output.weights[0] = f32::NAN), "value: holds numbers that are not finite");
    assert_eq!(refused(&|n| n.value.hidden.inputs = 5), "value, hidden: inputs must be 1280, got 5");
    assert_eq!(refused(&|n| n.value.pooled = true), "value, hidden: inputs must be 1320, got 1280");
    let pooling = |n: &mut Layers, inputs| n.blocks[1].pooling = Some(Numbers(5).dense(inputs, 60));
    assert_eq!(refused(&|n| pooling(n, 7)), "block 1, pooling: inputs must be 6, got 7");
    assert_eq!(refused(&|n| pooling(n, 6)), "block 1: pooled and other channels must be 64, got 63");
    assert_eq!(refused(&|n| (n.rows, n.columns) = (65_536, 65_536)), "squares must be 1 to 65536, got 4294967296");
    let none = refused(&|n| {
        if let Policy::Planes(_, _, actions) = &mut n.policy {
            actions.clear();
        }
    });
    assert_eq!(none, "policy: actions must be 1 to 65536, got 0");
    let beyond = refused(&|n| {
        if let Policy::Planes(_, _, actions) = &mut n.policy {
            actions[0] = 5120;
        }
    });
    assert_eq!(beyond, "policy: an action is number 5120 of its planes, at most 5119");
}

#[test]
fn rows_of_other_lengths_and_unknown_names_are_refused() {
    let ready = Network::new(&network(1, CHESS), Precision::Float32, None, None).unwrap();
    let error = ready.evaluate(&[0.0; 20], 1, &mut [0.0; 300], &mut [0.0; 3]).unwrap_err().to_string();
    assert_eq!(error, "1 rows are [1280, 300, 3] features, logits and shares, got [20, 300, 3]");
    assert!("sse9".parse::<Instructions>().unwrap_err().to_string().starts_with("instructions must be one of "));
    assert!("int8".parse::<Precision>().unwrap_err().to_string().ends_with("got \"int8\""));
}
