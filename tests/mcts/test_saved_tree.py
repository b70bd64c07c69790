"""Trees in files: what is opened is what was saved, and whatever else is in a file is refused in one line."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from search_toys import hash_evaluator

import hauteur as ht
from hauteur.mcts import tree_source
from hauteur.mcts.search_tree import SearchTree, TreeNode

pytestmark = pytest.mark.quick


def searched(spec: str, visits: int = 500, **rules: Any) -> SearchTree:
    """A tree two moves into a game."""
    state = ht.load_game(spec).new_initial_state()
    for _ in range(2):
        state.apply(int(state.legal_actions()[3]))
    evaluator = hash_evaluator(state.game.num_actions)
    return ht.search(state, evaluator, ht.SearchParams.model_validate(rules), visits=visits, seed=3).tree


def figures(node: TreeNode) -> tuple[Any, ...]:
    """All that a node shows."""
    exact = node.line, node.visits, node.large_visits, node.node_visits, node.terminal, node.proven, node.plies
    floats = [node.prior, node.q, node.value, node.score, *node.wdl, *(node.frozen or {}).values()]
    return (
        *exact,
        node.is_frozen,
        sorted(node.frozen or ()),
        np.nan_to_num(np.array(floats, np.float32), nan=9).tolist(),
    )


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ("chess", {"search_contempt": {"n_scl": 5}}),
        ("connect4", {"solver": {}}),
        ("nogo(size=5)", {"graph": True}),
        ("tutorial", {}),
    ],
)
def test_an_opened_tree_shows_what_was_saved(tmp_path: Path, spec: str, rules: dict[str, Any]) -> None:
    tree = searched(spec, **rules)
    path = tmp_path / "tree.json"
    assert tree.save(path, max_nodes=150) == 150
    assert not SearchTree.open(path).source.facts()["complete"]
    tree.save(path)
    opened = SearchTree.open(path)
    ours = tree.most_visited(100)
    theirs = opened.most_visited(100)
    assert [figures(node) for node in ours[1:]] == [figures(node) for node in theirs[1:]]
    assert [node.move for node in ours] == [node.move for node in theirs]
    assert (opened.root.visits, opened.root.proven) == (tree.root.visits, tree.root.proven)
    assert opened.state.moves == tree.state.moves
    assert len(opened.state.moves) == 2
    for node in ours[:20]:
        kept = {child.line for child in opened.node(node.line).children}
        assert kept == {child.line for child in node.children if child.visits}
    facts = opened.source.facts()
    assert facts["digest"] == tree.source.facts()["digest"] != ""
    assert (facts["seed"], facts["complete"]) == (3, True)
    assert ht.SearchParams.model_validate(facts["settings"]) == ht.SearchParams.model_validate(rules)


def test_a_whole_tree_is_written_and_written_again(tmp_path: Path) -> None:
    tree = searched("tictactoe", 60)
    net = tmp_path / "net.safetensors"
    net.write_bytes(b"weights")
    first = tmp_path / "one.json"
    second = tmp_path / "two.json"
    count = tree.save(first, nets=[net])
    assert SearchTree.open(first).source.facts()["complete"]
    assert SearchTree.open(first).save(second) == count
    assert SearchTree.open(second).source.facts() == SearchTree.open(first).source.facts()
    assert SearchTree.open(second).source.facts()["nets"][0]["name"] == "net.safetensors"
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]


@pytest.mark.parametrize("spec", ["chess", "connect4", "chess(fen=8/5k2/8/8/8/2K5/3R4/8 w - - 0 1)"])
def test_trees_of_a_batch_know_the_past_of_their_positions(tmp_path: Path, spec: str) -> None:
    state = ht.load_game(spec).new_initial_state()
    state.apply(int(state.legal_actions()[0]))
    ht.search_batch([state], "uniform", visits=20).trees[0].save(tmp_path / "tree.json")
    assert SearchTree.open(tmp_path / "tree.json").state == state


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda tree, folder: tree.save(folder / "tree.txt"), "saved as .json"),
        (
            lambda tree, folder: tree.save(folder / "tree.json", max_nodes=200_001),
            "1 to 200,000, got 200,001",
        ),
        (lambda tree, folder: tree.save(folder / "tree.json", max_nodes=0), "1 to 200,000, got 0"),
        (lambda tree, folder: tree.save(folder / "none" / "tree.json"), "is not there"),
        (lambda tree, folder: SearchTree.open(folder / "tree.pickle"), "saved as .json"),
    ],
)
def test_wrong_orders_are_refused(tmp_path: Path, call: Callable[[SearchTree, Path], object], words: str) -> None:
    tree = searched("tictactoe", 20)
    with pytest.raises(ValueError, match=words):
        call(tree, tmp_path)
    assert not list(tmp_path.iterdir())


def change(values: dict[str, Any], what: str, new: Any) -> None:
    """Put something else into a saved tree: a key, or COLUMN.ROW of its nodes."""
    column, _, row = what.partition(".")
    if not row:
        values[what] = new
    elif row == "all":
        values["nodes"][column] = new
    else:
        values["nodes"][column][int(row)] = new


@pytest.mark.parametrize(
    ("what", "new", "words"),
    [
        ("format", "hauteur tree 9", "format"),
        ("game", "chess(size=9)", "size"),
        ("game", "shogi", "no game 'shogi'"),
        ("moves", [0, 0, 0, 0], "legal"),
        ("moves", [-1], "moves"),
        ("nodes", 7, "columns of numbers"),
        ("nodes", {}, "column parent is missing"),
        ("extra", 1, "extra is not a setting"),
        ("root", {"visits": "many"}, "root is not a setting"),
        ("parent.0", 0, "before its parent"),
        ("parent.3", -2, "column parent must be -1"),
        ("parent.3", -1, "has none"),
        ("parent.5", 10**40, "column parent"),
        ("action.4", 70_000, "column action must be 0"),
        ("visits.2", 0, "column visits must be 1"),
        ("visits.2", None, "column visits"),
        ("visits.2", "1", "column visits"),
        ("q.1", 1e300, "column q must be -2"),
        ("win.1", [1], "no number"),
        ("prior.all", [0.1], "column prior is missing, or has another length"),
        ("lower.1", 2, "column lower must be -1"),
        ("action.all", None, "columns of numbers"),
    ],
)
def test_files_that_are_no_trees_are_refused(tmp_path: Path, what: str, new: Any, words: str) -> None:
    path = tmp_path / "tree.json"
    searched("tictactoe", 40).save(path)
    values = json.loads(path.read_bytes())
    change(values, what, new)
    path.write_text(json.dumps(values))
    with pytest.raises(ValueError, match=words) as caught:
        SearchTree.open(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1500


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    searched("tictactoe", 60).save(path)
    whole = path.read_bytes()
    draw = random.Random(1)
    for _ in range(150):
        bytes_ = bytearray(whole[: draw.randrange(len(whole)) if draw.random() < 0.3 else None])
        for _ in range(draw.randrange(4)):
            if bytes_:
                bytes_[draw.randrange(len(bytes_))] = draw.randrange(256)
        path.write_bytes(bytes_)
        line = ""
        try:
            assert all(node.visits >= 0 for node in SearchTree.open(path).most_visited(30))
        except ValueError as error:
            line = str(error)
        assert "\n" not in line


def test_files_that_are_too_large_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tree.json"
    searched("tictactoe", 60).save(path)
    monkeypatch.setattr(tree_source, "MOST_NODES", 10)
    with pytest.raises(ValueError, match="has more than 10 nodes"):
        SearchTree.open(path)
    monkeypatch.setattr(tree_source, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="a tree is read up to 100"):
        SearchTree.open(path)
