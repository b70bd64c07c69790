"""hauteur bench: the lines of search and evaluator, and what is refused."""

import json
from typing import Any

import pytest

from hauteur import _core
from hauteur.cli.main import main
from hauteur.networks.names import data_path


def lines_of(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["bench", *words]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_rule_is_compared_with_plain_puct(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("tictactoe", "nogo(size=3)", "--visits", "200", "--rounds", "2")
    plain = lines_of(capsys, "search", *words)
    ruled = lines_of(capsys, "search", *words, "--search.search-contempt.n-scl", "10")
    specs = [_core.Game(spec).spec for spec in ("tictactoe", "nogo(size=3)")]
    assert [line["game"] for line in plain] == [line["game"] for line in ruled] == specs
    for line in ruled:
        assert line["by_plain_puct"]["min"] <= line["by_plain_puct"]["median"] <= line["by_plain_puct"]["max"]
        assert line["visits"] >= 200
        assert line["visits_per_second"]["min"] > 0
        assert line["search"]["search_contempt"]["n_scl"] == 10
    assert not any("by_plain_puct" in line for line in plain)


def test_a_game_in_python_is_measured_too(capsys: pytest.CaptureFixture[str]) -> None:
    """It was no game, though every other command knew it."""
    (line,) = lines_of(capsys, "search", "tutorial", "--rounds", "1")
    assert (line["game"], line["visits"]) == ("tutorial", 2000)


def test_an_evaluator_is_measured_by_batch_and_precision(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--backend", "core", "--precision", "float32", "--batch", "1,4", "--threads", "1,2", "--rounds", "1")
    found = lines_of(
        capsys, "evaluator", "--net", str(data_path("tictactoe.safetensors")), *words, "--seconds", "0.001"
    )
    assert [(line["threads"], line["batch"]) for line in found] == [(1, 1), (1, 4), (2, 1), (2, 4)]
    assert all(line["evaluations_per_second"]["min"] > 0 for line in found)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search", "tictactoe", "--rounds", "0"), "--rounds must be 1 or more, got 0"),
        (("search", "tictactoe", "--search.magic", "1"), "magic"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    assert main(["bench", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
