"""Rows of a tree for whoever shows it: nested as the tree is, with the marks of every rule, plain enough for JSON."""

import json
from typing import Any

import pytest
from search_toys import hash_evaluator

import hauteur as ht
from hauteur.mcts.search_tree import SearchTree, first_nodes, opened

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
