"""Experiments: the list, a small one from beginning to end and again, folders, findings."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hauteur.cli.main import main
from hauteur.learning.run_folder import RunFolder
from hauteur.studies.experiments import result_parts
from hauteur_experiments.alphazero_report import figures
from hauteur_experiments.alphazero_report.figures import PLANS, Learned
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result, make_experiment
from hauteur_experiments.measured import Mean
from hauteur_experiments.registry import EXPERIMENTS, find
from hauteur_experiments.verdict import Claim, Inequality


def told(setting: ExperimentSetting) -> tuple[ExperimentSetting, list[str]]:
    """The setting, and the lines that it will have shown."""
    lines: list[str] = []
    return replace(setting, show=lines.append), lines


def counting(runs: list[ExperimentSetting]) -> Experiment:
    """An experiment that notes that it was made."""

    def run(setting: ExperimentSetting) -> Result:
        runs.append(setting)
        return Result([{"n": setting.scaled(10)}], [Finding("the sun is hot", "6000 K", "holds")], texts=["hello"])

    return Experiment("counting", "nobody, figure 1", "counts", 60.0, run)


def test_names_are_unique_and_titles_fit_a_line() -> None:
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(set(names)) == len(names)
    assert {"report-fig3", "report-fig4", "report-fig5", "report-fig6"} <= set(names)
    assert all(len(experiment.title) < 100 for experiment in EXPERIMENTS)


def test_the_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [experiment.name for experiment in EXPERIMENTS]


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="there is no experiment 'fig9'; there are report-fig3, report-fig4"):
        find("fig9")


@pytest.mark.parametrize("option", ["--seeds", "--threads"])
def test_none_is_no_number_of_seeds_or_threads(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "report-fig3", "--out", str(tmp_path / "out"), option, "0"]) == 2
    assert "seeds must be 1 to 1000 and threads 1 to 1024" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_results_are_written_and_told(tmp_path: Path) -> None:
    runs: list[ExperimentSetting] = []
    setting, lines = told(ExperimentSetting(tmp_path / "out", scale=0.5, seeds=2))
    make_experiment(counting(runs), setting)
    assert runs == [setting]
    assert any(line.startswith("estimate: ") for line in lines)
    assert "paper:    the sun is hot\nhere:     6000 K\nverdict:  holds" in lines
    assert (tmp_path / "out/result.csv").read_text() == "n\n5\n"
    facts = json.loads((tmp_path / "out/result.json").read_text())
    assert (facts["experiment"], facts["scale"], facts["rows"]) == ("counting", 0.5, [{"n": 5}])
    page = (tmp_path / "out/index.html").read_text()
    for part in ("6000 K", "holds", "<td>0.5</td>", facts["created"], facts["processor"], "command", "Numbers"):
        assert part in page
    assert page.endswith("".join(result_parts(facts)) + "</main></body></html>\n")  # shown from the file: the same
    with pytest.raises(ValueError, match="not the result of an experiment"):
        result_parts({"rows": []})


def test_a_folder_belongs_to_one_experiment_and_scale(tmp_path: Path) -> None:
    setting, _ = told(ExperimentSetting(tmp_path, scale=0.5))
    make_experiment(counting([]), setting)
    make_experiment(counting([]), setting)
    with pytest.raises(ValueError, match=r"an experiment with other settings: scale was 0.5 and is now 1.0; name"):
        make_experiment(counting([]), replace(setting, scale=1.0))


@pytest.mark.parametrize(("field", "value"), [("scale", 0.0), ("seeds", 0), ("threads", 0)])
def test_settings_out_of_range_are_named(tmp_path: Path, field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{field}.*got"):
        ExperimentSetting(tmp_path, **{field: value})  # type: ignore[arg-type]


def test_the_estimate_grows_with_seeds_and_scale(tmp_path: Path) -> None:
    experiment = counting([])
    assert experiment.estimate(ExperimentSetting(tmp_path, seeds=3, threads=2), 1.0) == 120
    assert experiment.estimate(ExperimentSetting(tmp_path, seeds=4, threads=4, scale=0.5), 2.0) == 15


def learned(losses: list[int], promoted: int = 3) -> Learned:
    steps = range(len(losses))
    opponents = [min(i, promoted) for i in steps]
    return Learned([(5, 3, 2)] * len(losses), [i < promoted for i in steps], opponents, losses, 30)


STEADY, LATE, NEVER = [5, 3, 2, 1, 1, 0, 0], [9, 9, 9, 9, 9, 9, 0], [9, 9, 9, 9, 9, 9, 9]
EARLY = [9, 2, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("figure", "runs", "verdict"),
    [
        (3, 6 * [STEADY], "holds"),
        (3, 5 * [STEADY], "open"),
        (3, 3 * [STEADY] + 3 * [NEVER], "open"),
        (3, 6 * [NEVER], "does not hold"),
        (4, 6 * [LATE], "holds"),
        (4, 6 * [EARLY], "does not hold"),
        (4, 3 * [NEVER] + 3 * [EARLY], "open"),
        (5, 6 * [EARLY], "holds"),
        (5, 6 * [LATE], "does not hold"),
        (5, 10 * [EARLY] + 1 * [LATE], "holds"),
        (5, 1 * [EARLY], "open"),
    ],
)
def test_verdicts(figure: int, runs: list[list[int]], verdict: str) -> None:
    plan = next(plan for plan in PLANS if plan.figure == figure)
    finding = figures.finding(plan, [learned(run) for run in runs])
    assert finding.verdict == verdict
    assert (finding.missing is not None) == (verdict == "open")
    assert finding.units == f"{len(runs)} seeds"


def test_the_first_optimal_training() -> None:
    assert learned([3, 0, 1, 0]).first_optimal == 2
    assert learned([3, 1]).first_optimal is None
    assert learned([3, 0, 1, 0]).optimal_share == 0.5
    assert learned([3, 0, 1, 0], promoted=2).opponent_losses == [30, 3, 0, 0]


def test_figures_3_to_5_follow_the_report(tmp_path: Path) -> None:
    sizes = {plan.figure: (plan.episodes, plan.iterations) for plan in PLANS}
    assert sizes == {3: (500, 100), 4: (500, 25), 5: (2000, 100)}
    recipe = figures.recipe_of(PLANS[0], ExperimentSetting(tmp_path), 2)
    assert recipe.selfplay.episodes == "candidate-versus-best"
    assert (recipe.selfplay.learn_from_best, recipe.gate.by, recipe.gate.threshold) == (False, "episodes", 0.55)
    assert (recipe.selfplay.temperature.initial, recipe.selfplay.temperature.decay_moves) == (1.0, 0)
    assert (recipe.network.value, recipe.train.window_games, recipe.run.seed) == ("scalar", 500, 2)


def test_a_small_figure_from_beginning_to_end_and_again(tmp_path: Path) -> None:
    setting, lines = told(ExperimentSetting(tmp_path / "fig", scale=0.08, seeds=2, threads=2))
    make_experiment(find("report-fig4"), setting)
    with (tmp_path / "fig/result.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["seed"], row["training"]) for row in rows] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    assert all(int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == 40 for row in rows)
    assert (tmp_path / "fig/report-fig4.csv").exists()
    assert (tmp_path / "fig/report-fig4-losses.csv").exists()
    history = RunFolder(tmp_path / "fig/seed-2").read_metrics()
    assert history[1]["games"]["candidate"]["wins"] == int(rows[3]["wins"])
    before = (tmp_path / "fig/result.csv").read_bytes()
    make_experiment(find("report-fig4"), setting)
    assert (tmp_path / "fig/result.csv").read_bytes() == before
    assert lines.count("seed 1: 2 generations learned") == 2


@pytest.mark.parametrize(
    ("choice", "option"), [({"visits": 3}, "visits"), ({"nets": (Path("x"),)}, "net"), ({"game": "nogo"}, "game")]
)
def test_a_choice_that_would_mean_nothing_is_refused(choice: dict[str, Any], option: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^counting takes no --{option}$"):
        make_experiment(counting([]), replace(ExperimentSetting(tmp_path / "out"), **choice))
    assert not (tmp_path / "out").exists()


def test_a_folder_remembers_nets_and_visits(tmp_path: Path) -> None:
    net = tmp_path / "a.safetensors"
    net.write_bytes(b"one")
    chosen = replace(counting([]), uses=("nets", "visits"))
    setting, _ = told(ExperimentSetting(tmp_path / "out", nets=(net,), visits=7))
    make_experiment(chosen, setting)
    make_experiment(chosen, setting)
    net.write_bytes(b"two")
    with pytest.raises(ValueError, match=r"with other settings: nets was \[.a.safetensors sha256 .* and is now \["):
        make_experiment(chosen, setting)


def test_the_median_of_first_optimal_trainings_has_an_interval_of_order_statistics() -> None:
    assert figures.median_text([2, 4, 4, 5, None, 5, None, None, None, None]) == "median never [4, never]"
    assert figures.median_text([2, None, 3, 3, 2, 3, 2, 5, 3, 4]) == "median 3 [2, 5]"
    assert figures.median_text([1, 2, 3, 4, 5, 6]) == "median 3.5 [1, 6]"
    assert figures.median_text([1, None, 2]) == "median 2"


def test_many_seeds_are_one_line_with_their_range() -> None:
    runs = [Learned([(1, 0, 0)], [True], [0], [losses], 9) for losses in range(6)]
    few, many = (figures.losses_figure(PLANS[0], range(1, 1 + count), runs[:count]) for count in (5, 6))
    assert [line.name for line in few.lines] == [f"seed {seed}" for seed in range(1, 6)]
    (line,) = many.lines
    assert (list(line.values), list(line.low or ()), list(line.high or ())) == ([9, 2.5], [9, 0], [9, 5])


def measuring(runs: list[float], effect: float, matters: float = 0.1) -> Experiment:
    """An experiment of 800 games at scale 1 whose mean is `effect` with a deviation of 1; notes its scales."""

    def run(setting: ExperimentSetting) -> Result:
        runs.append(setting.scale)
        games = setting.scaled(800) * setting.seeds
        mean = Mean([effect + (-1.0) ** number for number in range(games)])
        side = Inequality("x", mean, 0.0, "above", 50, matters=matters)
        return Result([{"n": games}], [Finding.of("it is above 0", Claim((side,)), scope="here")])

    return Experiment("measuring", "nobody", "measures", 1.0, run, seeds=1, looks=True, first_seed=1)


@pytest.mark.parametrize(
    ("effect", "scales", "verdict"),
    [(1.0, [0.25], "holds"), (0.125, [0.25, 0.375, 0.5, 0.625], "holds"), (0.0, [0.25, 0.375], "no such effect")],
)
def test_looks_end_an_experiment_when_nothing_is_open(
    tmp_path: Path, effect: float, scales: list[float], verdict: str
) -> None:
    runs: list[float] = []
    setting, lines = told(ExperimentSetting(tmp_path / "out", seeds=1, looks=True))
    result = make_experiment(measuring(runs, effect, matters=0.2), setting)
    assert runs == scales
    assert [(finding.verdict, finding.scope) for finding in result.findings] == [(verdict, "here")]
    assert f"after {scales[-1]:.0%} of the games 0 of 1 findings are open" in lines
    assert json.loads((tmp_path / "out/result.json").read_text())["share"] == scales[-1]


def test_without_looks_all_games_are_judged_at_once(tmp_path: Path) -> None:
    runs: list[float] = []
    setting, _ = told(ExperimentSetting(tmp_path / "out", seeds=1))
    # 2 standard errors: enough for one look, not for the last of eight
    assert make_experiment(measuring(runs, 2.0 / 800**0.5), setting).findings[0].verdict == "open"
    assert runs == [1.0]
    with pytest.raises(ValueError, match="counting takes no --looks: it has more to do than to play its games"):
        make_experiment(counting([]), ExperimentSetting(tmp_path / "o", looks=True))


def test_more_after_a_verdict_needs_more(tmp_path: Path) -> None:
    effect = 2.4 / 1600**0.5
    fresh, _ = told(ExperimentSetting(tmp_path / "fresh", seeds=2))
    assert make_experiment(measuring([], effect), fresh).findings[0].verdict == "holds"
    once, _ = told(ExperimentSetting(tmp_path / "a" / "out", seeds=1))
    make_experiment(measuring([], effect), once)
    for again in (replace(once, seeds=2), replace(once, seeds=2)):  # the second time it is the same extension
        assert make_experiment(measuring([], effect), again).findings[0].verdict == "open"
        assert json.loads((tmp_path / "a/out/result.json").read_text())["extensions"] == 1
    beside = replace(once, folder=tmp_path / "a" / "larger", scale=4.0, seeds=2)
    make_experiment(measuring([], effect), beside)
    assert json.loads((tmp_path / "a/larger/result.json").read_text())["extensions"] == 2
    with pytest.raises(ValueError, match="--looks is for a first run"):
        make_experiment(measuring([], effect), replace(beside, looks=True))


def test_a_trial_that_can_decide_nothing_costs_nothing(tmp_path: Path) -> None:
    trial, _ = told(ExperimentSetting(tmp_path / "trial", scale=0.01, seeds=1))
    make_experiment(measuring([], 1.0), trial)
    make_experiment(measuring([], 1.0), replace(trial, folder=tmp_path / "out", scale=1.0))
    assert json.loads((tmp_path / "out/result.json").read_text())["extensions"] == 0
