"""hauteur bench: the lines of search, evaluator and self-play, and what is refused."""

import json
from typing import Any

import pytest

from hauteur import _core
from hauteur.cli.commands.bench import selfplay_settings
from hauteur.cli.main import main
from hauteur.networks.names import data_path

SMALL = ("--filters", "4", "--blocks", "1", "--visits", "6", "--parallel", "4", "--batch", "4")


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


def test_an_evaluator_is_measured_by_batch_and_precision(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--backend", "core", "--precision", "float32", "--batch", "1,4", "--threads", "1,2", "--rounds", "1")
    found = lines_of(
        capsys, "evaluator", "--net", str(data_path("tictactoe.safetensors")), *words, "--seconds", "0.001"
    )
    assert [(line["threads"], line["batch"]) for line in found] == [(1, 1), (1, 4), (2, 1), (2, 4)]
    assert all(line["evaluations_per_second"]["min"] > 0 for line in found)


def test_self_play_says_where_its_time_goes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("tictactoe", *SMALL, "--games", "12", "--setting", "playout_cap.fast_visits=2")
    (line,) = lines_of(capsys, "selfplay", *words)
    assert line["network_share"] + line["search_share"] + line["python_share"] == pytest.approx(1, abs=1e-3)
    assert 0 < line["learned_positions"] < line["moves"]
    assert line["cpu_seconds"] > 0


def test_settings_are_those_of_a_recipe() -> None:
    settings = selfplay_settings("connect4", {"visits": 50}, ("tree_per_side=true", "search.search_contempt.n_scl=8"))
    assert settings.tree_per_side
    assert settings.search.search_contempt is not None
    assert (settings.visits, settings.search.search_contempt.n_scl) == (50, 8)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("selfplay", "tictactoe", "--setting", "tree_per_sied=true"), "did you mean tree_per_side?"),
        (("selfplay", "tictactoe", "--setting", "episodes=candidate-versus-best"), "must be best-versus-best"),
        (("selfplay", "tictactoe", "--games", "0"), "--games must be 1 or more, got 0"),
        (("search", "tictactoe", "--search.magic", "1"), "magic"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    assert main(["bench", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
