"""The schedule of search-contempt: a small run from beginning to end and again, and what is made of given runs."""

from pathlib import Path
from typing import Any

import pytest

from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.search_contempt import schedule
from hauteur_experiments.search_contempt.schedule import findings, ratio_figure, recipe_of, schedule_figure, table


def setting(folder: Path, **changes: Any) -> ExperimentSetting:
    return ExperimentSetting(folder, scale=0.002, seeds=1, threads=1, show=lambda line: None, visits=6, **changes)


def row(generation: int, n_scl: int, visits: int, ratio: float | None) -> dict[str, Any]:
    places = {"seed": 1, "generation": generation, "games": 300 * generation, "n_scl": n_scl, "visits": visits}
    ends = {"ratio_low": ratio and 0.8 * ratio, "ratio_high": ratio and 1.2 * ratio}
    return {**places, "ratio": ratio, **ends, "settled": False, "probes": 0, "elo": 0.0}


def test_a_run_without_a_net_begins_with_the_rule_off_and_with_one_at_5(tmp_path: Path) -> None:
    begun = recipe_of(ExperimentSetting(tmp_path), 1)
    assert begun.controller is not None
    assert (begun.controller.initial_n_scl, begun.selfplay.visits, begun.selfplay.games) == (1000, 1000, 3000)
    given = recipe_of(ExperimentSetting(tmp_path, nets=(Path("some.safetensors"),)), 2)
    assert given.controller is not None
    assert given.start is not None
    assert (given.controller.initial_n_scl, given.run.seed) == (5, 2)
    assert given.start.net == str(Path("some.safetensors").absolute())


def test_a_small_run_from_beginning_to_end_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "GENERATIONS", 2)
    experiment = schedule.EXPERIMENTS[0]
    result = make_experiment(experiment, setting(tmp_path / "s", game="tictactoe"))
    assert [(row["generation"], row["games"]) for row in result.rows] == [(1, 6), (2, 12)]
    assert all(1 <= row["n_scl"] <= row["visits"] for row in result.rows)
    assert make_experiment(experiment, setting(tmp_path / "s", game="tictactoe")).rows == result.rows


KEPT = [row(1, 5, 1000, 1.1), row(2, 12, 1000, 0.9), row(3, 14, 1000, 1.0), row(4, 14, 2000, 0.8)]
LOST = [row(1, 100, 100, 9.0), row(2, 100, 100, 6.5), row(3, 100, 100, 4.0), row(4, 100, 100, 4.0)]


def test_the_papers_schedule_holds() -> None:
    assert [finding.verdict for finding in findings(6 * [KEPT])] == ["holds", "holds"]
    assert "doubled after 1,200 games" in findings([KEPT])[1].measured
    assert [line.name for line in schedule_figure([KEPT]).lines] == ["N_scl, seed 1", "N, seed 1"]


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [(6 * [LOST], "does not hold"), (5 * [KEPT], "open"), (5 * [LOST], "open"), (3 * [KEPT] + 3 * [LOST], "open")],
)
def test_the_schedule_is_refuted_and_open(runs: list[list[dict[str, Any]]], verdict: str) -> None:
    assert {finding.verdict for finding in findings(runs)} == {verdict}


def test_a_run_without_draws_is_told_and_drawn() -> None:
    run = [row(1, 100, 100, None), row(2, 100, 100, 6.5), row(3, 100, 100, 4.0)]
    assert [finding.verdict for finding in findings([run])] == ["open", "open"]
    assert "doubled after no games" in findings([run])[1].measured
    assert ratio_figure([run]).lines[0].values == [6.5, 4.0]
    assert len(table([run]).splitlines()) == 4
