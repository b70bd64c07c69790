"""Two searches of one position compared, every rule gets an answer; pages of the methods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hauteur.cli import main
from hauteur.games.registry import load_game, with_fen
from hauteur.mcts.methods import PAGES, TRIALS, Method, methods, page_of
from hauteur.mcts.params import Cpuct, SearchParams
from hauteur.mcts.search_tree import TreeNode
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.studies.explain import question as question_module
from hauteur.studies.explain.explain import changed, explain
from hauteur.studies.explain.question import ExplainedSearch, ExplainStopped, Question, Searches, side_of


def question(spec: str, a: str, b: str = "", *, net: str = "rollout", visits: int = 300, batch: int = 1) -> Question:
    """A question about the start of a game."""
    game = load_game(spec)
    common = PlayerSettings(net=net)
    sides = [side_of(text, game, label, common, threads=1) for label, text in (("--a", a), ("--b", b))]
    return Question(game.new_initial_state(), (), sides[0], sides[1], visits=visits, batch_size=batch)


def answer(asked: Question) -> tuple[dict[str, Any], ExplainedSearch, list[TreeNode]]:
    """The comparison, the search of A, and all nodes of its tree with visits, read in the other way there is."""
    with Searches(asked) as searches:
        found = explain(asked, searches)
        searched = searches.of(asked.a)
        nodes = list[TreeNode]()
        waiting = [searched.result.tree.root]
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            waiting += [child for child in node.children if child.visits]
    return found, searched, nodes


def facts(found: dict[str, Any], rule: str) -> dict[str, Any]:
    """The facts of a rule by name."""
    row = next(row for row in found["rules"] if row["name"] == rule)
    return {fact["name"]: fact["value"] for fact in row["facts"]}


def test_equal_settings_make_equal_trees() -> None:
    found, _, nodes = answer(question("connect4", "", "", batch=16))
    assert found["tree"]["equal"]
    assert found["tree"]["nodes"] == {"a": len(nodes), "b": len(nodes), "both": len(nodes)}
    assert (found["rules"], found["visits_moved"], found["same_best"]) == ([], 0, True)
    assert found["tree"]["first"] is found["lines"]["parts_at"] is None


@pytest.mark.parametrize("words", ["n_scl=5", "n_scl=-3", "n_scl=5 search_contempt.temperature=2"])
def test_search_contempt(words: str) -> None:
    found, _, nodes = answer(question("connect4", f"search_contempt.{words}"))
    shown = facts(found, "search_contempt")
    frozen = [node for node in nodes if node.frozen is not None]
    behind = sum(child.visits for node in frozen for child in node.children)
    assert shown["frozen nodes"] == len(frozen) > 3
    assert shown["visits behind frozen nodes"] == behind
    if "temperature" in words:
        assert "of them after freezing" not in shown
    else:  # searched one by one, so that every draw is a visit
        drawn = behind - sum(sum((node.frozen or {}).values()) for node in frozen)
        assert shown["of them after freezing"] == shown["replies drawn from frozen weights"] == drawn > 50
    row = found["rules"][0]
    assert row["measured_by"] == ["facts", "ablation"]
    most = max(frozen, key=lambda node: node.visits)
    assert row["frozen"][0]["visits"] == most.visits
    # Without the rule side A is side B.
    assert row["ablation"]["visits_moved"] == found["visits_moved"]
    assert row["ablation"]["nodes_in_both"] == found["tree"]["nodes"]["both"] > row["ablation"]["values_changed"] > 0
    assert row["ablation"]["q_without"] == found["sides"]["b"]["q"]


def test_moves_and_trees_are_those_of_the_searches() -> None:
    found, searched, nodes = answer(question("tictactoe", "cpuct.init=4", "net=uniform fpu.value=0", visits=120))
    report = searched.report
    rows = {row["action"]: row for row in found["moves"]}
    for move in report.moves:
        a = rows[move.action]["a"]
        assert (a["visits"], a["prior"], a["q"]) == (move.visits, move.prior, move.q if move.visits else None)
        assert rows[move.action]["shift"] == rows[move.action]["b"]["visits"] - move.visits
    assert found["visits_moved"] * 2 == sum(abs(row["shift"]) for row in found["moves"])
    tree = found["tree"]
    assert tree["nodes"]["a"] == tree["nodes"]["both"] + tree["only"]["a"] == len(nodes)
    assert tree["shifts"][0]["line"] != tree["shifts"][1]["line"]
    shifts = [abs(place["a"]["visits"] - place["b"]["visits"]) for place in tree["shifts"]]
    assert shifts == sorted(shifts, reverse=True)
    assert len(tree["first"]["line"]) == 1
    assert [(row["side"], row["name"]) for row in found["rules"]] == [("a", "cpuct"), ("b", "fpu")]


ON = {
    "search_contempt": "n_scl=2",
    "second_net": "large_visits=1",
    "wdl_contempt": "contempt=100.0",
    "cpuct": "init=3.0",
    "root_cpuct": "init=3.0",
    "fpu": "value=0.0",
    "root_fpu": "value=0.0",
    "policy_temperature": "2.0",
    "root_policy_temperature": "2.0",
    "arithmetic": "lc0",
    "draw_score": "0.2",
    "reuse_tree": "false",
    "max_in_flight": "1",
    "max_collisions": "1",
    "cache_size": "0",
    "cache_key": "position",
    "graph": "true",
    "swap_colors": "true",
    "max_tree_bytes": "100000",
    "opponent_net": "uniform",
}
"""Words that turn a rule on, or change a setting, where `on` does not."""


@pytest.mark.parametrize("name", list(SearchParams.model_fields))
def test_every_rule_and_setting_gets_an_answer(name: str) -> None:
    value = ON.get(name, "on")
    words = f"{name}{'.' if '=' in value else '='}{value}"
    large = " large_net=uniform" if name == "second_net" else ""
    asked = question("chess" if name == "swap_colors" else "tictactoe", words + large, visits=60)
    assert changed(asked.a) == [name]
    found, _, nodes = answer(asked)
    (row,) = found["rules"]
    assert (row["name"], row["side"], row["settings"]) == (name, "a", words.replace("=uniform", "=on"))
    assert (row["ablation"]["values_changed"] > 0) <= row["ablation"]["tree_changed"]
    assert "ablation" in row["measured_by"]
    assert row["ablation"]["visits_moved"] == found["visits_moved"]
    if name != "graph":  # in a graph a node is behind several lines
        assert found["tree"]["nodes"]["a"] == len(nodes)
    section = isinstance(SearchParams.model_fields[name].default, type(None)) and not name.startswith("root_")
    assert page_of(name) or not section
    json.dumps(found, allow_nan=False)


def test_a_large_tree_is_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_module, "MOST_NODES", 100)
    found, _, nodes = answer(question("connect4", "search_contempt.n_scl=5"))
    assert len(nodes) > 100
    assert not found["tree"]["complete"]
    assert found["tree"]["nodes"]["a"] == 100
    assert facts(found, "search_contempt")["nodes that these are of, the most visited"] == 100


def test_a_stopped_comparison_ends() -> None:
    with Searches(asked := question("connect4", "solver=on", visits=100_000)) as searches:
        searches.on_progress = lambda share: searches.stop()
        with pytest.raises(ExplainStopped):
            explain(asked, searches)


def test_the_command_prints_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["explain", "connect4", "--net", "rollout", "--visits", "150", "--moves", "4 4", "--batch-size", "4"]
    assert main.main([*words, "--search.cpuct.init", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    game = load_game("connect4")
    common = PlayerSettings(net="rollout", search=SearchParams(cpuct=Cpuct(init=2.0)))
    a, b = (side_of(text, game, "side", common) for text in ("search_contempt.n_scl=5", ""))
    asked = Question(game.new_initial_state(), (3, 3), a, b, visits=150, batch_size=4)
    with Searches(asked) as searches:
        assert json.loads(json.dumps(explain(asked, searches))) == found
    assert main.main([*words, "--search.cpuct.init", "2"]) == 0
    shown = capsys.readouterr().out
    assert "search_contempt in A: search_contempt.n_scl=5" in shown
    assert found["sides"]["a"]["digest"] in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--a", "visits=5"], "--a: visits is not part of a search"),
        (["--a", "random"], "--a: random is not part of a search"),
        (["--b", "search_contempt.n=5"], "--b: search.search_contempt.n is not a setting"),
        (["--b", "second_net.large_visits=3"], "--b: second_net needs a large net"),
        (["--a", "net=missing"], "--a: there is no net 'missing'"),
        (["--visits", "1"], "visits must be 2 to 1000000, got 1"),
        (["--batch-size", "0"], "batch_size must be 1 to 4096, got 0"),
        (["--moves", "1 2 1 2 1 2 1"], "the game is over"),
    ],
)
def test_explain_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["explain", "connect4", *words]) == main.EXIT_BAD_INPUT
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""


# -- pages of the methods ----------------------------------------------------------------------------------------------


def test_every_rule_has_a_page() -> None:
    pages = {method.name for method in methods()}
    assert {page for name in SearchParams.model_fields if (page := page_of(name))} <= pages
    assert set(TRIALS) <= pages
    assert len(pages) == len(methods()) > 15
    assert all(method.title and method.text and method.use for method in methods())


def test_no_rule_is_forgotten() -> None:
    """A rule of SearchParams has a page and a trial on it, by its being a field."""
    rules = SearchParams.off_by_default()
    assert {"graph", "search_contempt", "root_cpuct", "swap_colors"} < set(rules)
    assert PAGES.keys() <= SearchParams.model_fields.keys()
    assert [name for name in rules if page_of(name) is None] == []
    untried = {"mpv-mcts", "opponent-net", "posterior"}
    assert {page_of(name) for name in rules} - TRIALS.keys() == untried, "a trial has one net, and shows the search"


@pytest.mark.parametrize("method", [method for method in methods() if method.trial], ids=lambda method: method.name)
def test_trials_switch_their_method_on(method: Method) -> None:
    game = load_game(with_fen("chess", method.fen))
    side = side_of(method.trial, game, "side A", parse_player(""))
    assert {page_of(name) for name in changed(side)} == {method.name}
