"""Does search-contempt train better: the judges by exact values, the goals of runs, a small experiment, its claim."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learning_toys import Answers, ToyEvaluator
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.mcts.params import SearchParams
from hauteur.players.search_player import SearchPlayer
from hauteur_experiments import training_arms
from hauteur_experiments.alphazero_report.learning import Goal
from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.registry import find
from hauteur_experiments.search_contempt.training import ARMS, CONTEMPT, N_SCL, finding, recipe_of
from hauteur_experiments.training_arms import STAGES, Arm, Curve, StagedNet, newest
from hauteur_experiments.yardsticks import Yardsticks, lost_openings

TINY = "connect4(columns=4,rows=4)"


class Uniform(ToyEvaluator):
    """All columns alike, all values 0."""

    def __call__(self, features: NDArray[np.float32]) -> Answers:
        return np.zeros((len(features), 4), np.float32), np.full((len(features), 3), 1 / 3, np.float32)


def player(visits: int) -> SearchPlayer:
    return SearchPlayer("uniform", Uniform(load_game(TINY), batch_size=64), SearchParams(), visits)


def line(generation: int, evaluations: int, ratio: float | None = 2.0, draws: int = 3) -> dict[str, Any]:
    games = {"ratio": ratio, "games": 10, "draws": draws}
    return {"generation": generation, "cost": {"evaluations": evaluations}, "games": games}


def test_positions_and_openings_are_the_same_again_and_solved() -> None:
    judge, solver = Yardsticks.of(TINY, 30, 6), _core.Connect4Solver(12, 4, 4)
    assert [one.state.notation() for one in judge.positions] == [
        one.state.notation() for one in Yardsticks.of(TINY, 40, 6).positions[:30]
    ]
    assert len({one.state.key for one in judge.positions}) == 30
    for one in judge.positions:
        assert one.choice_matters
        assert one.values == tuple(solver.move_values(one.state).tolist())
    assert all(solver.move_values(state).max() == 0 and state.ply == 8 for state in judge.openings)


def test_another_game_has_no_exact_values() -> None:
    with pytest.raises(ValueError, match="those of connect4, of any size; got nogo"):
        Yardsticks.of("nogo(size=5)", 10, 2)


def can_lose(chooser: SearchPlayer, state: _core.State, seat: int) -> bool:
    """Whether some replies beat the player, one position after another."""
    outcome = state.outcome()
    if outcome is not None:
        return outcome == 2 * seat - 1
    own = state.to_move == seat
    actions = training_choice(chooser, state) if own else state.legal_actions().tolist()
    return any(can_lose(chooser, after(state, action), seat) for action in actions)


def training_choice(chooser: SearchPlayer, state: _core.State) -> list[int]:
    from hauteur.studies.exact_play import MoveChooser

    return [int(action) for action in MoveChooser(chooser, state.game).choose([state])]


def after(state: _core.State, action: int) -> _core.State:
    child = state.copy()
    child.apply(action)
    return child


def test_openings_are_lost_where_some_replies_win() -> None:
    judge, weak = Yardsticks.of(TINY, 10, 12), player(2)
    expected = {
        number
        for number, state in enumerate(judge.openings)
        if can_lose(weak, state, state.to_move if number % 2 == 0 else 1 - state.to_move)
    }
    assert lost_openings(weak, judge.game, judge.openings) == expected
    assert 0 < len(expected) < 12
    assert judge.unbeaten(weak) == 1 - len(expected) / 12
    assert judge.unbeaten(player(3000)) == 1
    assert judge.kept(weak) < judge.kept(player(3000))


def test_a_goal_is_reached_by_evaluations_or_by_draws() -> None:
    lines = [line(1, 100, None), line(2, 100, 1.5), line(3, 50, 0.9), line(4, 50, 1.2)]
    assert Goal(ratio=1.0).reached(lines) == 3
    assert Goal(ratio=1.0).reached(lines[:2]) is None
    assert Goal(evaluations=250).reached(lines) == 3
    assert Goal(evaluations=301).reached(lines) is None
    assert Goal(evaluations=600).next_stop(lines) == 4 + 3
    assert Goal(evaluations=310).next_stop(lines) == 4 + 1
    assert Goal(ratio=1.0).next_stop(lines) == Goal(evaluations=600).next_stop(lines[:0]) + 4 == 8


def test_the_newest_net_is_the_last_that_is_paid_for() -> None:
    lines = [line(1, 100), line(2, 100), line(3, 50)]
    assert [newest(lines, spent) for spent in (0, 99, 100, 199, 200, 249, 250, 900)] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_arms_differ_in_temperature_and_the_rule_alone(tmp_path: Path) -> None:
    setting = ExperimentSetting(tmp_path, seeds=1)
    cold, warm, contempt = (recipe_of(setting, 3, arm, Path("net.safetensors")) for arm in ARMS)
    assert (cold.selfplay.temperature.initial, warm.selfplay.temperature.endgame) == (0.7, 0.6)
    assert contempt.selfplay.search.search_contempt is not None
    assert contempt.selfplay.search.search_contempt.n_scl == N_SCL
    search = contempt.selfplay.search.model_copy(update={"search_contempt": None})
    same = {"search": search, "temperature": cold.selfplay.temperature}
    for recipe in (cold, warm, contempt):
        selfplay = recipe.selfplay.model_copy(update=same)
        assert recipe.model_copy(update={"selfplay": selfplay}) == cold
    assert recipe_of(setting, 3, ARMS[0]).start is None
    assert find("contempt-training").first_seed > 2


def test_a_small_experiment_from_beginning_to_end_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_arms, "STAGES", 2)
    setting = ExperimentSetting(
        tmp_path / "t", scale=0.0001, seeds=1, first_seed=11, threads=1, show=lambda text: None, visits=16, game=TINY
    )
    result = make_experiment(find("contempt-training"), setting)
    assert [(row["arm"], row["evaluations"]) for row in result.rows] == [
        (arm.name, spent) for arm in ARMS for spent in (0, 300, 600)
    ]
    assert len({row["kept"] for row in result.rows if row["evaluations"] == 0}) == 1
    assert all(row["generation"] > 0 for row in result.rows if row["evaluations"] == 600)
    assert [one.verdict for one in result.findings] == ["open"]
    assert "too few: 6 seeds or more may decide" in result.findings[0].measured
    before = (tmp_path / "t/result.csv").read_bytes()
    assert make_experiment(find("contempt-training"), replace(setting)).rows == result.rows
    assert (tmp_path / "t/result.csv").read_bytes() == before


def curve(seed: int, arm: Arm, kept: list[float], draws: float = 0.4) -> Curve:
    points = [StagedNet(i, 100 * i, i, share, draws if i else None) for i, share in enumerate(kept)]
    return Curve(seed, arm, points, 0.5)


def found(gain: float, over: Arm | None = None, seeds: int = 6, draws: float = 0.4) -> str:
    """The verdict where search-contempt keeps so much more than the others, or than one of them.

    draws: of its games; the others have 0.4.
    """
    curves = []
    for seed in range(seeds):
        for arm in ARMS:
            more = gain if arm == CONTEMPT else gain if over not in (None, arm) else 0.0
            end = 0.8 + more + 0.01 * (seed % 3 - 1) * (arm == CONTEMPT)
            drawn = draws if arm == CONTEMPT else 0.4
            curves.append(curve(seed, arm, [0.6, 0.7 + more, end], drawn))
    return finding(curves, ExperimentSetting(Path("x"))).verdict


def test_the_claim_needs_both_rivals_and_six_seeds() -> None:
    assert found(0.05) == "holds"
    assert found(0.05, seeds=5) == "open"
    assert found(-0.05) == "open"  # one of two is denied with half of the error, which six seeds cannot show
    assert found(-0.05, seeds=8) == "does not hold"
    assert found(0.05, over=ARMS[0], seeds=8) == "no such effect"  # above warm PUCT it keeps no percentage point more


def test_the_claim_is_of_equal_ratios() -> None:
    assert found(0.05, draws=0.45) == "holds"  # (w + l)/d 1.2 and 1.5
    assert found(0.05, draws=0.6) == found(-0.05, seeds=8, draws=0.6) == "open"


def test_the_mean_is_over_the_evaluations() -> None:
    assert curve(1, CONTEMPT, [0.0, 1.0, 1.0]).mean == pytest.approx(0.75)
    assert curve(1, CONTEMPT, [0.5] * (STAGES + 1)).mean == pytest.approx(0.5)
