"""The command `analyse`: table, JSON, and what it refuses."""

import json
from pathlib import Path

import pytest

from hauteur.cli import main
from hauteur.mcts.params import SearchParams
from hauteur.mcts.search_tree import SearchTree


def test_analyse_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["analyse", "chess", "--net", "uniform", "--moves", "e4", "e5", "--visits", "64", "--json"]
    assert main.main([*words, "--search.cpuct.init", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["position"].startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w")
    assert found["visits"] == 64
    assert sum(move["visits"] for move in found["moves"]) == 63
    assert found["best"] == found["moves"][0]["move"]
    assert found["moves"][0]["line"][0] == found["moves"][0]["san"]


@pytest.mark.parametrize("words", [["--search.graph", "true"], ["--search.graph=true"], ["--search.graph"]])
def test_switches_of_the_search_may_have_a_value(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """As --list-settings says of all settings, --search.KEY VALUE."""
    common = ["analyse", "chess", "--net", "uniform", "--visits", "2"]
    assert main.main([*common, *words, "--search.solver.clamp-to-bounds", "true"]) == main.EXIT_BAD_INPUT
    assert "graph and solver.clamp_to_bounds cannot be used together" in capsys.readouterr().err
    off = ["--search.solver.clamp-to-bounds", "false", "--search.solver.auto-extend", "false"]
    assert main.main([*common, *words, *off]) == 0


@pytest.mark.parametrize("moves", [["1.", "e4", "e5", "2.", "Nf3"], ["1. e4 e5 2.Nf3"]])
def test_moves_may_have_numbers(moves: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "chess", "--net", "uniform", "--moves", *moves, "--visits", "2", "--json"]) == 0
    played = json.loads(capsys.readouterr().out)["position"]
    assert played.startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b")


@pytest.mark.parametrize(
    "words",
    [
        ["chess", "--fen", "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"],
        ["chess(chess960=true)", "--fen", "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 0 1"],
        ["connect4", "--moves", "4 4 3"],
        ["nogo(size=5)", "--time", "0.2"],
        ["tictactoe", "--only", "a1", "b2"],
    ],
    ids=lambda words: words[0],
)
def test_analyse_shows_a_table(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", *words, "--net", "uniform", "--visits", "50"]) == 0
    shown = capsys.readouterr().out
    assert "N %" in shown
    assert "visits/s" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--visits", "0"], "--visits must be 1 to 1,000,000,000, got 0"),
        (["--time", "0"], "--time must be a number of seconds above 0, got 0.0"),
        (["--moves", "e5"], '--moves, move 1: "e5" is not a legal move'),
        (["--only", "e5"], '"e5" is not a legal move'),
        (["--fen", "x, y"], "no FEN has commas"),
        (["--moves", "f3 e5 g4 Qh4"], "nothing to analyse: the game is over (checkmate)"),
        (["--multipv", "-1"], "Must be >= 1"),
        (["--threads", "-1"], "Must be >= 0"),
        (["--batch-size", "0"], 'Invalid value "0" for --batch-size. Must be >= 1'),
        (["--syzygy", "missing"], "missing"),
        (["--save-tree", "tree.txt"], "tree.txt: a tree is saved as .json"),
        (["--save-tree", "missing/tree.json"], "the folder missing is not there"),
        (["--search.cpuct.init", "-1"], "cpuct.init must be a number from 0 to 100, got"),
    ],
)
def test_analyse_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "chess", "--net", "uniform", *words]) == main.EXIT_BAD_INPUT
    assert message in capsys.readouterr().err


def test_analyse_saves_its_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tree.json"
    assert main.main(["analyse", "connect4", "--visits", "60", "--seed", "3", "--save-tree", str(path)]) == 0
    tree = SearchTree.open(path)
    assert (tree.root.visits, tree.source.facts()["seed"]) == (60, 3)
    assert tree.source.facts()["nets"][0]["name"] == "connect4.safetensors"
    assert "visits/s" in capsys.readouterr().out


def test_json_has_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    only_move = ["--fen", "7k/8/6K1/8/8/8/8/8 b - - 0 1", "--visits", "5", "--json"]
    assert main.main(["analyse", "chess", "--net", "uniform", *only_move]) == 0

    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(capsys.readouterr().out, parse_constant=refuse)


def test_help_is_short_and_says_which_rules_are_off(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n") < 70
    words = " ".join(shown.replace("│", " ").split())
    off = words.partition("Every other rule is off")[2]
    for name, field in SearchParams.model_fields.items():
        if field.default is None:
            assert name.replace("_", "-") in off


def test_all_settings_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "--list-settings"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["--search.cpuct.init", "1.745", "0", "to", "100"] in lines
    assert ["--search.fpu.kind", "reduction", "reduction,", "absolute,", "parent_value"] in lines
    names = {name.replace("_", "-") for name in SearchParams.model_fields}
    assert {line[0].partition(".")[2].partition(".")[0] for line in lines} == names


def test_a_pipe_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "connect4", "--net", "rollout", "--visits", "1500", "--multipv", "2"]) == 0
    shown = capsys.readouterr().out
    header = next(line for line in shown.splitlines() if line.startswith("move"))
    assert header.split() == ["move", "N", "N", "%", "P", "%", "Q", "W", "D", "L", "%", "V", "line"]
    assert "ended by: visits" in shown.splitlines()[-1]
