"""Methods of learning beside plain runs: recipes, a small experiment, claims."""

from dataclasses import replace
from pathlib import Path

import pytest

from hauteur.learning.recipe import changed_recipe
from hauteur_experiments import training_arms
from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.learning_methods import (
    FEW,
    GUMBEL,
    METHODS,
    PLAIN,
    SPARSE,
    USUAL,
    MethodClaim,
    finding,
    recipe_of,
)
from hauteur_experiments.registry import find
from hauteur_experiments.training_arms import Arm, Curve, StagedNet

TINY = "connect4(columns=4,rows=4)"


def test_arms_differ_in_their_changes_alone(tmp_path: Path) -> None:
    setting = ExperimentSetting(tmp_path, seeds=1)
    plain = recipe_of(setting, 3, PLAIN)
    for arm in (*USUAL, *SPARSE):
        assert recipe_of(setting, 3, arm) == changed_recipe(plain, arm.changes)
        assert (recipe_of(setting, 3, arm) == plain) == (arm == PLAIN)
    assert {method.arm for method in METHODS} | {method.rival for method in METHODS} == {*USUAL, *SPARSE}
    gumbel = recipe_of(setting, 3, GUMBEL).selfplay
    assert gumbel.visits == recipe_of(setting, 3, FEW).selfplay.visits == 8


def test_a_small_experiment_from_beginning_to_end_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_arms, "STAGES", 2)
    setting = ExperimentSetting(
        tmp_path / "m", scale=0.0001, seeds=1, first_seed=11, threads=1, show=lambda text: None, game=TINY
    )
    result = make_experiment(find("learning-methods"), setting)
    assert [(row["arm"], row["evaluations"]) for row in result.rows] == [
        *((arm.name, spent) for arm in USUAL for spent in (0, 200, 400)),
        *((arm.name, spent) for arm in SPARSE for spent in (0, 50, 100)),
    ]
    assert len({row["kept"] for row in result.rows if row["evaluations"] == 0}) == 1, "all begin with one net"
    assert [one.verdict for one in result.findings] == ["open"] * len(METHODS)
    before = (tmp_path / "m/result.csv").read_bytes()
    assert make_experiment(find("learning-methods"), replace(setting)).rows == result.rows
    assert (tmp_path / "m/result.csv").read_bytes() == before


def curve(seed: int, arm: Arm, kept: list[float]) -> Curve:
    return Curve(seed, arm, [StagedNet(i, 100 * i, i, share, None) for i, share in enumerate(kept)], 0.5)


@pytest.mark.parametrize(
    ("gain", "seeds", "verdict"),
    [(0.05, 8, "holds"), (-0.05, 6, "does not hold"), (0.0, 8, "no such effect"), (0.05, 5, "open")],
)
def test_a_claim_is_decided_seed_by_seed(gain: float, seeds: int, verdict: str) -> None:
    method = MethodClaim("faster", GUMBEL, FEW)
    curves = []
    for seed in range(seeds):
        noise = 0.01 * (seed % 3 - 1)
        curves += [curve(seed, FEW, [0.5, 0.6, 0.7]), curve(seed, GUMBEL, [0.5, 0.6 + gain + noise, 0.7 + gain])]
    assert finding(curves, method).verdict == verdict


def test_how_much_earlier_the_rival_is_reached() -> None:
    curves = [curve(1, FEW, [0.5, 0.6, 0.7]), curve(1, GUMBEL, [0.5, 0.7, 0.9])]
    assert "after 50% of the cost" in finding(curves, MethodClaim("faster", GUMBEL, FEW)).measured
    assert "at the end 70.0%" in finding(curves, MethodClaim("slower", FEW, GUMBEL)).measured
