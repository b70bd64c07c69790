use super::*;
use crate::game::Action;

#[test]
fn priors_keep_eleven_bits() {
    for prior in [1.0_f32, 0.5, 0.3, 1e-3, 1e-6, 0.999_9] {
        let kept = Edge::new(0, prior).prior();
        assert!((kept - prior).abs() <= prior / 4096.0, "{prior} became {kept}");
    }
    assert!(Edge::new(0, 0.0).prior() < 1e-9);
    assert_eq!(Edge::new(0, 1.0).prior(), 1.0);
    assert_eq!(size_of::<Edge>(), 4);
    assert_eq!(size_of::<EdgeStats>(), 24);
    assert_eq!(size_of::<Node>(), 16);
}

#[test]
fn chosen_edges_move_to_the_front_and_blocks_are_used_again() {
    let mut tree = Tree::default();
    let edges: Vec<Edge> = (0..5).map(|a| Edge::new(a, 0.2)).collect();
    let node = tree.add_node(Player::First, &edges, Value { wl: 0.0, d: 0.0 });
    assert_eq!(tree.choose_edge(node, 3), 0);
    assert_eq!(tree.choose_edge(node, 1), 1);
    let order: Vec<Action> = tree.edges(node).iter().map(|e| e.action).collect();
    assert_eq!(order, [3, 0, 1, 2, 4]);
    assert_eq!(tree.choose_edge(node, 0), 0);
    tree.choose_edge(node, 2);
    assert_eq!(tree.stats(node).len(), 3);
    assert_eq!(tree.released.iter().map(Vec::len).sum::<usize>(), 2);
}
#[test]
fn a_node_can_have_all_edges_that_actions_have_numbers_for() {
    let mut tree = Tree::default();
    let edges: Vec<Edge> = (0..=u16::MAX - 1).map(|a| Edge::new(a, 1e-5)).collect();
    let node = tree.add_node(Player::First, &edges, Value { wl: 0.0, d: 0.0 });
    (0..u32::from(u16::MAX)).for_each(|edge| assert_eq!(tree.choose_edge(node, edge), edge));
    assert_eq!(tree.stats(node).len(), usize::from(u16::MAX));
    assert!(!tree.is_full());
}

#[test]
fn a_tree_is_full_long_before_its_counters_end() {
    let mut tree = Tree::default();
    for (visits, is_full) in [(0, false), (MOST - 1, false), (MOST, true), (u32::MAX, true)] {
        tree.root.visits = visits;
        assert_eq!(tree.is_full(), is_full, "{visits}");
    }
}
