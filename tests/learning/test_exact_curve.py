"""The exact play of a run: measured once a net, first on the page, no part of the run."""

import json
from pathlib import Path
from typing import Self

import numpy as np
import pytest
from numpy.typing import NDArray
from run_toys import Silent, assert_same_run, tiny

from hauteur import _core
from hauteur.cli import main
from hauteur.games import registry
from hauteur.games.registry import load_game
from hauteur.learning import exact_curve
from hauteur.learning.loop import learn
from hauteur.learning.report.page import run_report
from hauteur.learning.run_folder import RunFolder
from hauteur.matches.exact_play import SolvedSet


def test_a_run_is_judged_and_stays_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games and nets are those of a run without it; a resumed run measures new nets alone."""
    judged: list[int] = []
    real = exact_curve._measured

    def counted(game: _core.Game, net: Path, *given: object) -> object:
        judged.append(int(net.stem[-5:]))
        return real(game, net, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(exact_curve, "_measured", counted)
    gate = {"by": "off"}
    learn(tiny(gate=gate), folder=tmp_path / "without", display=Silent())
    assert not judged
    assert not RunFolder(tmp_path / "without").exact_play.exists()
    recipe = tiny(gate=gate, run={"solved_positions": 30})
    learn(recipe, folder=tmp_path / "with", display=Silent())
    assert judged == [1, 2]
    assert_same_run(tmp_path / "without", tmp_path / "with")
    learn(tiny(gate=gate, run={"solved_positions": 30, "generations": 3}), folder=tmp_path / "with", display=Silent())
    assert judged == [1, 2, 3]
    report = run_report(RunFolder(tmp_path / "with"))
    assert report.sections[0].title == "Exact play"
    (curve, _) = report.sections[0].figures[0].lines
    assert [point.x for point in curve.points()] == [1, 2, 3]
    lines = (tmp_path / "with" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert all("exact_play" not in json.loads(line) for line in lines)
    folder = RunFolder(tmp_path / "with")
    folder.exact_play.unlink()
    shown: list[str] = []
    exact_curve.measure_nets(folder, _core.Game("tictactoe"), 30, [2], shown.append)
    (line,) = shown
    assert line.startswith("net of generation 2 keeps the exact value in ")
    assert line.endswith("%] of 30 solved positions")


class Drawn:
    """Six moves, each one of two, and a draw."""

    num_actions = 2
    feature_shape = (1, 1, 6)
    max_plies = 6

    def __init__(self) -> None:
        self.played: list[int] = []
        self.to_move = 0

    def legal_actions(self) -> list[int]:
        return [] if len(self.played) == self.max_plies else [0, 1]

    def apply(self, action: int) -> None:
        self.played.append(1 + action)
        self.to_move = 1 - self.to_move

    def outcome(self) -> int | None:
        return None if self.legal_actions() else 0

    def features(self) -> NDArray[np.float32]:
        padded = [*self.played, *[0] * self.max_plies][: self.max_plies]
        return np.array(padded, np.float32).reshape(self.feature_shape)

    def copy(self) -> Self:
        twin = type(self)()
        twin.played = list(self.played)
        twin.to_move = self.to_move
        return twin


def test_positions_in_which_any_move_will_do_judge_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each net kept all of them, and a comparison had a verdict."""
    monkeypatch.setattr(registry, "_registered", {"drawn": Drawn})
    reason = exact_curve.why_not_measured(load_game("drawn"))
    assert reason == "drawn: in none of 63 solved positions does it matter which move is played"
    main.main(["prove", "drawn", "--net", "uniform", "--visits", "4", "--positions", "20"])
    assert "so they tell no player from another" in capsys.readouterr().out


def test_few_positions_do_not_look_as_if_the_first_plies_took_too_long(tmp_path: Path) -> None:
    """Of a game in Python a tenth are solved, of which the last plies have theirs first."""
    folder = RunFolder(tmp_path)
    exact_curve.measure_nets(folder, load_game("tutorial"), 20, [])
    assert "off" not in json.loads(folder.exact_play.read_text(encoding="utf-8"))


def test_a_game_in_python_has_a_tenth_of_the_positions(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    shown: list[str] = []
    exact_curve.measure_nets(folder, load_game("tutorial"), 95, [], shown.append)
    assert shown == ["solving positions of tutorial, to measure nets by (run.solved_positions=0 leaves it out)"]
    found = json.loads(folder.exact_play.read_text(encoding="utf-8"))
    assert len(SolvedSet.from_text(load_game("tutorial"), found["positions"]).positions) == 10


@pytest.mark.parametrize(("spec", "reason"), [("chess", "repetitions"), ("hex(size=9)", "take too long")])
def test_games_that_cannot_be_solved_are_not_judged(spec: str, reason: str, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    exact_curve.measure_nets(folder, _core.Game(spec), 20, [1])
    found = json.loads(folder.exact_play.read_text(encoding="utf-8"))
    assert reason in found["off"]
    assert found.keys() == {"off"}
    exact_curve.measure_nets(folder, _core.Game(spec), 20, [1, 2])
    exact_curve.measure_nets(RunFolder(tmp_path / "other"), _core.Game(spec), 0, [1])
