"""Which recipe is better: pairs of seeds at equal cost, and the command that learns them."""

import math
from pathlib import Path
from typing import Any

import pytest
from report_toys import line, recipe
from run_toys import tiny

from hauteur.cli import main
from hauteur.learning.recipe import recipe_toml
from hauteur.learning.report.compared_run import ComparedRun
from hauteur.learning.report.comparison import comparison, grouped, verdict_lines
from hauteur.learning.report.verdict import subset_interval, verdicts


def run(name: str, seed: int, shares: list[float], *, each: float = 1e9, **changes: Any) -> ComparedRun:
    """A run whose nets keep these shares, at a cost a generation."""
    chosen = recipe(run={"seed": seed, "tag": name}, selfplay={"visits": 10 if name == "a" else 20})
    lines = []
    for number, share in enumerate(shares, 1):
        compute = {"flops_total": each * number}
        lines.append(line(number, exact_play={"share": share}, compute=compute, **changes))
    return ComparedRun(f"{name}/{seed}", chosen, lines)


@pytest.mark.quick
def test_the_interval_is_that_of_the_means_of_subsets() -> None:
    assert subset_interval([1.0] * 5) == (-math.inf, math.inf)
    assert subset_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == (1.0, 6.0)
    low, high = subset_interval([0.1 * place for place in range(1, 9)])
    # 2.5 % of 256 are 6: the sixth least of .1, .15, .2, .2, .25, .3 ...
    assert low == pytest.approx(0.2333333)
    assert high == pytest.approx(0.6666667)
    many = subset_interval([-1.0, 3.0] * 10)
    assert -0.3 < many[0] < 0.3
    assert 1.7 < many[1] < 2.3


@pytest.mark.quick
def test_runs_are_compared_at_the_cost_of_the_cheapest() -> None:
    runs = []
    for seed in range(6):
        runs.append(run("a", seed, [0.5, 0.6, 0.7]))
        # Half as many operations a generation, so the fifth net costs what the third of the others does less.
        runs.append(run("b", seed, [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.99], each=0.5e9))
    at_flops, at_time = verdicts(grouped(runs))
    assert at_flops.at == "3.00e+09 FLOPs"
    assert at_flops.pairs == ((0.7, 0.9),) * 6
    assert at_flops.words == "b/0 (6 seeds) is better"
    assert at_flops.cells()[4] == "+20.0 [+20.0, +20.0]"
    assert at_time.at == "5.0 CPU minutes"
    assert at_time.pairs == ((0.7, 0.7),) * 6
    assert at_time.words == "open"
    report = comparison(grouped(runs))
    assert report.sections[0].title == "Which is better"
    assert verdict_lines(grouped(runs))[0].endswith("+20.0 [+20.0, +20.0] points over 6 seeds: b/0 (6 seeds) is better")


@pytest.mark.quick
def test_few_seeds_and_no_measure_decide_nothing() -> None:
    runs = [run(name, seed, [0.5 if name == "a" else 0.9]) for seed in range(5) for name in "ab"]
    assert {verdict.words for verdict in verdicts(grouped(runs))} == {"open: 6 seeds or more may decide"}
    assert verdict_lines(grouped(runs[::2])) == []
    bare = [ComparedRun(one.name, one.recipe, [line(1)]) for one in runs]
    (said,) = verdict_lines(grouped(bare))
    assert said.startswith("No verdict: the runs have no seed or no measure of strength in common")
    quick = run("b", 1, [0.6, 0.7], each=0.9e9)
    lines = [{**one, "cpu_seconds": 25.0 * number} for number, one in enumerate(quick.history, 1)]
    coarse = [run("a", 1, [0.5]), ComparedRun(quick.name, quick.recipe, lines)]
    assert " points over 1 seed: open" in verdict_lines(grouped(coarse))[0]
    assert [verdict.pairs for verdict in verdicts(grouped(coarse))] == [((0.5, 0.6),)], "at equal FLOPs alone"


@pytest.mark.quick
def test_only_seeds_of_both_count() -> None:
    runs = [run("a", 1, [0.5]), run("a", 2, [0.6]), run("b", 2, [0.7]), run("b", 3, [0.9])]
    assert {verdict.pairs for verdict in verdicts(grouped(runs))} == {((0.6, 0.7),)}


def test_two_recipes_are_learned_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text(recipe_toml(tiny(gate={"by": "off"}, run={"solved_positions": 20})), encoding="utf-8")
    words = ["compare", str(file), f"{file} selfplay.visits=6", "--seeds", "2", "--out", str(tmp_path / "out")]
    assert main.main(words) == 0
    out = capsys.readouterr().out
    assert "moves that keep the exact value at " in out
    assert "over 2 seeds: open: 6 seeds or more may decide" in out
    runs = sorted(str(path.parent.relative_to(tmp_path / "out")) for path in tmp_path.glob("out/*/*/metrics.jsonl"))
    changed = "tiny-selfplay.visits=6"
    assert runs == [f"{changed}/seed-1", f"{changed}/seed-2", "tiny/seed-1", "tiny/seed-2"]
    assert "Which is better" in (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    assert main.main([*words, "--flops", "1e20"]) == 0
    out = capsys.readouterr().out
    assert out.count("is complete: ") == 4
    assert out.count(" of the 1e+20 FLOPs, for which it needs a greater run.generations") == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name two recipes or more"),
        (["connect4"], "name two recipes or more"),
        (["connect4", "connect4"], "two of the recipes are called connect4"),
        (["connect4", "go5"], "only recipes of one game can be compared, got connect4 and go(size=5)"),
        (["connect4", "connect4 run.seed=4"], "connect4 and connect4-run.seed=4 are one recipe"),
        (["connect4", "connect4 run.generations=3", "connect4 run.tag=a run.threads=1"], "are one recipe"),
        (["connect4", "conect4"], "there is no recipe 'conect4'"),
        (["connect4", ""], "there is no recipe ''"),
        (["connect4", "connect4 run.solved_positions=0"], "nothing measures its runs"),
        (["connect4", "connect4 selfplay.visits=0"], "selfplay.visits"),
        (["go5", "go5 run.generations=4 yardstick.every=4"], "measured at their end alone"),
        (["connect4", "connect4 selfplay.visits=9", "--seeds", "0"], "--seeds must be 1 to 1,000, got 0"),
        (
            ["connect4", "connect4 selfplay.visits=9", "--flops", "-3"],
            "--flops must be a number from 0 to 1e+30, got -3",
        ),
        (["connect4", "connect4 selfplay.visits=9", "--first-seed", "-1"], "--first-seed must be 0 to "),
    ],
)
def test_what_cannot_be_compared(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["compare", *words]) == main.EXIT_BAD_INPUT
    assert message in capsys.readouterr().err
