"""hauteur bench selfplay: its line of numbers, settings of a recipe, the memory curve."""

import json
import re
from typing import Any

import pytest

from hauteur.cli.commands import bench_selfplay
from hauteur.cli.commands.bench_selfplay import bench_settings, memory_numbers
from hauteur.cli.main import main

SMALL = ("--filters", "4", "--blocks", "1", "--visits", "6", "--parallel", "4", "--batch", "4")


def line_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["bench", "selfplay", "tictactoe", *SMALL, *words]) == 0
    line: dict[str, Any] = json.loads(capsys.readouterr().out)
    return line


def test_a_line_tells_shares_and_memory(capsys: pytest.CaptureFixture[str]) -> None:
    line = line_of(capsys, "--games", "40", "--memory", "--setting", "playout_cap.fast_visits=2")
    assert line["network_share"] + line["search_share"] + line["python_share"] == pytest.approx(1, abs=1e-3)
    assert 0 < line["own_cpu_share"] <= 1
    assert 0 < line["learned_positions"] < line["moves"]
    assert [games for games, _ in line["memory_mb"]] == list(range(1, 41))
    assert line["memory_peak_mb"] == max(held for _, held in line["memory_mb"])


def test_progress_is_shown_from_the_beginning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_selfplay, "LINE_SECONDS", 0.002)
    assert main(["bench", "selfplay", "tictactoe", *SMALL, "--games", "600"]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1
    first, *lines = shown.err.splitlines()
    assert first == "tictactoe: 600 games, 4 at once, 6 visits a move"
    assert lines
    assert all(re.fullmatch(r"\d+/600 games  [\d,]+ evaluations/s  0:\d\d", line) for line in lines)


def test_settings_are_those_of_a_recipe() -> None:
    settings = bench_settings("connect4", {"visits": 50}, ("tree_per_side=true", "search.search_contempt.n_scl=8"))
    assert settings.tree_per_side
    assert settings.search.search_contempt is not None
    assert (settings.visits, settings.search.search_contempt.n_scl) == (50, 8)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--setting", "tree_per_sied=true"),
            "selfplay.tree_per_sied is not a setting (did you mean tree_per_side?); allowed: ",
        ),
        (("--setting", "episodes=candidate-versus-best"), "--setting episodes must be best-versus-best"),
        (("--games", "4", "--memory"), "--memory needs four points of its curve"),
        (("--games", "0"), "--games must be 1 or more, got 0"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    assert main(["bench", "selfplay", "tictactoe", *SMALL, *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert [line for line in error.splitlines() if line.startswith("hauteur: ")] == error.splitlines()[-1:]


def test_memory_is_judged_between_its_first_tenth_and_the_last_games() -> None:
    curve = [(games, 10**6 * (50 if games < 10 else 200 if games < 46 else 210)) for games in range(1, 101)]
    numbers = memory_numbers([*curve, (101, 10**9)], last=81)
    assert numbers["memory_growth"] == pytest.approx(210 / 200 - 1, abs=1e-3)
    assert numbers["memory_peak_mb"] == 1000
