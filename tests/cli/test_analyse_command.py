"""The command `analyse`: table, JSON, and what it refuses."""

import json

import pytest

from hauteur.cli import main


def test_analyse_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["analyse", "chess", "--net", "uniform", "--moves", "e4", "e5", "--visits", "64", "--json"]
    assert main.main([*words, "--search.cpuct.init", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["position"].startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w")
    assert found["visits"] == 64
    assert sum(move["visits"] for move in found["moves"]) == 63
    assert found["best"] == found["moves"][0]["move"]
    assert found["moves"][0]["line"][0] == found["moves"][0]["san"]


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
        (["--visits", "0"], "--visits must be >= 1, got 0"),
        (["--time", "0"], "--time must be a number of seconds above 0, got 0.0"),
        (["--moves", "e5"], '--moves, move 1: "e5" is not a legal move'),
        (["--only", "e5"], '"e5" is not a legal move'),
        (["--fen", "x, y"], "no FEN has commas"),
        (["--moves", "f3 e5 g4 Qh4"], "nothing to analyse: the game is over (checkmate)"),
        (["--batch-size", "0"], "batch_size must be >= 1, got 0"),
        (["--syzygy", "missing"], "missing"),
        (["--search.cpuct.init", "-1"], "cpuct.init: Input should be greater than or equal to 0, got"),
    ],
)
def test_analyse_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analyse", "chess", "--net", "uniform", *words]) == main.EXIT_BAD_INPUT
    assert message in capsys.readouterr().err
