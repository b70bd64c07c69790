"""Walking a search tree: figures of the core, rows for whoever shows it, and what is drawn is what was visited."""

import json
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest
from forests import make_forest, search
from hypothesis import given, settings
from hypothesis import strategies as st
from search_toys import hash_evaluator

import hauteur as ht
from hauteur.games.played_game import position_after
from hauteur.mcts.search_tree import SearchTree, TreeNode, first_nodes, opened
from hauteur.mcts.tree_source import ForestTree, edges_of

RULES = [
    {},
    {"draw_score": -0.4},
    {"search_contempt": {"n_scl": 5}},
    {"solver": {}},
    {"variance": {}},
    {"wdl_contempt": {"contempt": 200}},
]


def tree_of(spec: str = "connect4", visits: int = 400, **rules: Any) -> SearchTree:
    """A tree grown with uneven values."""
    game = ht.load_game(spec)
    forest = make_forest(game, ht.SearchParams.model_validate(rules))
    search(forest, hash_evaluator(game.num_actions), visits=visits, rows=4)
    return SearchTree(forest.state(0), ForestTree(forest, 0))


def inner_nodes(tree: SearchTree, most: int = 60) -> list[TreeNode]:
    """Nodes that have children, the most visited ones."""
    return [node for node in tree.most_visited(most) if node.children]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: next(iter(rules), "none"))
def test_children_of_the_root_are_its_edges(rules: dict[str, Any]) -> None:
    tree = tree_of(**rules)
    source = tree.source
    assert isinstance(source, ForestTree)
    by_action = {edge["action"]: edge for edge in source._forest.root_edges(0)}
    children = source.edges(())
    assert {edge["action"]: edge for edge in children} == by_action
    assert [edge["visits"] for edge in children] == sorted((e["visits"] for e in children), reverse=True)
    q = source._forest.root_q([0])[0]
    for child in tree.root.children:
        assert child.q == pytest.approx(q[child.action], nan_ok=True)


@pytest.mark.parametrize("spec", ["connect4", "chess", "tutorial"])
def test_visits_and_values_of_a_node_are_those_of_its_children(spec: str) -> None:
    for node in inner_nodes(tree_of(spec)):
        children = [child for child in node.children if child.visits]
        assert node.visits == 1 + sum(child.visits for child in children)
        flip = -1 if node.parent is not None else 1  # the players of these games take turns
        mean = (flip * node.value + sum(child.visits * child.q for child in children)) / node.visits
        assert flip * node.q == pytest.approx(mean, abs=1e-5)
        np.testing.assert_allclose(node.wdl.sum(), 1, rtol=1e-5)
        assert sum(child.prior for child in node.children) == pytest.approx(1, abs=0.01)


def test_positions_of_nodes_are_those_of_their_lines() -> None:
    tree = tree_of("chess")
    for node in tree.most_visited(30):
        state = position_after(tree.state, node.line)
        assert node.state.notation() == state.notation()
        assert len(node.children) in (0, len(state.legal_actions()))
        assert (node.depth, node.action) == (len(node.line), node.line[-1] if node.line else None)
    named = tree.root.children[0]
    assert tree.node([named.move]).line == tree.node([named.action or 0]).line == named.line


@settings(max_examples=15, deadline=None)
@given(count=st.integers(1, 120), visits=st.integers(2, 200))
def test_the_most_visited_nodes_are_connected_and_none_is_left_out(count: int, visits: int) -> None:
    tree = tree_of("connect4", visits)
    found = tree.most_visited(count)
    lines = {node.line for node in found}
    assert len(lines) == len(found) <= count
    assert all(node.line[:-1] in lines for node in found)
    outside = [child.visits for node in found for child in node.children if child.line not in lines]
    assert len(found) == count or not any(outside)
    assert max(outside, default=0) <= min(node.visits for node in found)


def test_a_picture_has_a_mark_for_each_node() -> None:
    picture = tree_of().plot(25)
    root = ElementTree.fromstring(picture._repr_svg_())
    names = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert names.count("g") == 25
    assert names.count("path") == 24
    assert len(tree_of("connect4", 1).plot().svg) > 100


@pytest.mark.parametrize("rules", [*RULES, {"graph": True}], ids=lambda rules: next(iter(rules), "none"))
@pytest.mark.parametrize("count", [0, 1, 90, 10_000])
def test_branches_are_the_edges_after_their_lines(rules: dict[str, Any], count: int) -> None:
    tree = tree_of(**rules)
    columns = tree.source.branches(count)
    edges = list(edges_of(columns, range(len(columns["parent"]))))
    assert len(edges) == count if count < 300 else 300 < len(edges) < count
    lines: list[tuple[int, ...]] = []
    for parent, edge in zip(columns["parent"], edges, strict=True):
        before = lines[parent] if parent >= 0 else ()
        lines.append((*before, edge["action"]))
        same = next(other for other in tree.source.edges(before) if other["action"] == edge["action"])
        assert set(same) - set(edge) == {"in_flight", "wdl", "u", "variance"}
        assert {name: value is None for name, value in edge.items()} == {name: same[name] is None for name in edge}
        numbers = [[np.array(fact or 0, float) for fact in (edge[name], same[name])] for name in edge]
        assert all(np.allclose(ours, theirs, atol=1e-6) for ours, theirs in numbers)
        assert edge["visits"] >= 1
    assert len(set(lines)) == len(lines)
    assert {line[:-1] for line in lines} <= {(), *lines}
    shared = [edge for edge in edges if edge["node_visits"] > edge["visits"]]
    assert bool(shared) == ("graph" in rules and count > 1)
    assert any(edge["node_frozen"] for edge in edges) == ("search_contempt" in rules and count > 0)


# -- rows --------------------------------------------------------------------------------------------------------------


Row = dict[str, Any]


def searched(spec: str, visits: int = 600, large: bool = False, **rules: Any) -> SearchTree:
    """A tree with uneven values."""
    game = ht.load_game(spec)
    nets = [hash_evaluator(game.num_actions, salt=salt) for salt in (0, 1)]
    params = ht.SearchParams.model_validate(rules)
    state = game.new_initial_state()
    return ht.search(state, nets[0], params, visits=visits, large=nets[1] if large else None).tree


def flat(row: Row) -> list[Row]:
    return [row, *(found for child in row.get("children", ()) for found in flat(child))]


def test_first_nodes_are_the_most_visited_ones_nested() -> None:
    tree = searched("chess")
    rows = flat(json.loads(json.dumps(first_nodes(tree, 120), allow_nan=False)))
    nodes = {node.line: node for node in tree.most_visited(120)}
    assert {tuple(row["line"]) for row in rows} == set(nodes)
    for row in rows:
        node = nodes[tuple(row["line"])]
        assert (row["visits"], row["chooser"]) == (node.visits, (node.depth - 1) % 2 if node.depth else 0)
        assert node.parent is None or node.parent.state.parse(row["move"]) == node.action
        if "children" in row:
            assert all(child["line"][:-1] == row["line"] for child in row["children"])
            assert row["left_out"] == sum(child.visits > 0 for child in node.children) - len(row["children"])
            assert sum(child["share"] for child in row["children"]) <= 1 + 1e-9


def test_an_opened_node_has_all_its_moves() -> None:
    tree = searched("chess", 50)
    row = opened(tree, ())
    assert len(row["children"]) == 20
    assert row["left_out"] == 0
    unvisited = [child for child in row["children"] if not child["visits"]]
    assert all(child["q"] is None and child["wdl"] is None and child["prior"] > 0 for child in unvisited)
    assert opened(tree, unvisited[0]["line"])["children"] == [] if unvisited else True
    with pytest.raises(ValueError, match="the tree has no move 3"):
        opened(tree, [3])


def test_frozen_nodes_say_how_often_their_moves_are_drawn() -> None:
    rows = flat(first_nodes(searched("connect4", search_contempt={"n_scl": 6}), 200))
    frozen = [row for row in rows if row["frozen"] and len(row.get("children", ())) == row["replies"]]
    assert frozen
    for row in frozen:
        assert sum(child["drawn"] for child in row["children"]) == pytest.approx(1)
    assert all(child["drawn"] is None for row in rows if not row["frozen"] for child in row.get("children", ()))
