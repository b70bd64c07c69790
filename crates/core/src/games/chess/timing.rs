//! Times of the operations that the search does at every visit. Run it alone:
//! `cargo test --release -p hauteur-core chess::timing -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::Position;
use crate::game::{Action, State};
use crate::games::make_game;

const ROUNDS: usize = 200_000;
const DEPTH: usize = 6;

/// Nanoseconds of one call.
fn measure(name: &str, mut operation: impl FnMut()) {
    // Caches and predictors are warm before the clock runs.
    (0..ROUNDS / 10).for_each(|_| operation());
    let start = Instant::now();
    (0..ROUNDS).for_each(|_| operation());
    println!("{name:32} {:8.1} ns", start.elapsed().as_nanos() as f64 / ROUNDS as f64);
}

fn line(root: &dyn State) -> Vec<Action> {
    let mut state = root.clone_box();
    let mut actions = Vec::new();
    (0..DEPTH)
        .map(|ply| {
            state.legal_actions(&mut actions);
            let action = actions[(7 * ply + 5) % actions.len()];
            state.play(action);
            action
        })
        .collect()
}

#[test]
#[ignore = "measures times; run it alone on a quiet machine"]
fn times_of_a_visit() {
    for spec in ["chess", "chess(fen=r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1)"] {
        println!("{spec}");
        let root = make_game(spec).unwrap().initial();
        let actions = line(root.as_ref());
        let mut leaf = root.clone_box();
        let mut legal = Vec::new();
        let mut row = vec![0.0; root.row_len()];
        measure("copy_from", || leaf.copy_from(black_box(root.as_ref())));
        measure("copy_from + 6 plies", || {
            leaf.copy_from(black_box(root.as_ref()));
            actions.iter().for_each(|action| leaf.play(*action));
        });
        // Hidden from the compiler, which would compute once what is the same in every round.
        measure("outcome", || _ = black_box(black_box(leaf.as_ref()).outcome()));
        measure("legal_actions", || black_box(leaf.as_ref()).legal_actions(&mut legal));
        measure("key", || _ = black_box(black_box(leaf.as_ref()).key()));
        measure("encode", || black_box(leaf.as_ref()).encode(&mut row));
        let mut masks = [0; 112];
        let mut values = [0.0; 112];
        measure("encode_packed", || black_box(leaf.as_ref()).encode_packed(&mut masks, &mut values));
        println!("{:32} {:8} bytes", "size of a position", size_of::<Position>());
        assert_eq!(leaf.ply(), DEPTH);
    }
}
