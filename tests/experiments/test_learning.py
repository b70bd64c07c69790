"""Experiments of learning: exact evaluation, goals, arms, recipes, verdicts on given curves, small ones to the end."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from experiment_toys import setting

import hauteur as ht
from hauteur_experiments import arms
from hauteur_experiments import learned as learned_runs
from hauteur_experiments.arms import STAGES, Arm, Curve, Stage, newest
from hauteur_experiments.exact import Choose, ExactEvaluator, losses, lost_positions
from hauteur_experiments.experiment import make_experiment
from hauteur_experiments.implementation_report import figures
from hauteur_experiments.implementation_report.figures import PLANS, Learned
from hauteur_experiments.learned import Goal, learn_beside, metrics_of, net_of
from hauteur_experiments.learning_methods import methods
from hauteur_experiments.measured import Record
from hauteur_experiments.registry import find
from hauteur_experiments.search_contempt import schedule, training
from hauteur_experiments.setting import Setting

TINY = "connect4(columns=4,rows=4)"


def first_legal(states: Any) -> list[int]:
    """A weak player: the first column that is not full."""
    return [int(state.legal_actions()[0]) for state in states]


def perfect(game: str) -> Choose:
    values = ht.exact_values(game, table_bits=12)

    def best(state: ht.State) -> int:
        known = values(state)
        return int(state.legal_actions()[list(known).index(max(known))])

    return lambda states: [best(state) for state in states]


def can_lose(choose: Choose, state: ht.State, side: int) -> bool:
    """Return whether some replies beat the player, one position after another."""
    outcome = state.outcome()
    if outcome is not None:
        return outcome == 2 * side - 1
    actions = choose([state]) if state.to_move == side else state.legal_actions().tolist()
    return any(can_lose(choose, state.child(action), side) for action in actions)


def test_players_are_judged_by_exact_values() -> None:
    evaluator = ExactEvaluator.of(TINY, 30, 12)
    assert [state.notation() for state, _ in evaluator.positions] == [
        state.notation() for state, _ in ExactEvaluator.of(TINY, 40, 2).positions[:30]
    ]
    assert all(len(set(values.values())) > 1 for _, values in evaluator.positions)
    assert evaluator.kept(perfect(TINY)) == evaluator.unbeaten(perfect(TINY)) == 1.0
    assert evaluator.kept(first_legal) < 1
    sides = [state.to_move if n % 2 == 0 else 1 - state.to_move for n, state in enumerate(evaluator.openings)]
    expected = {n for n, state in enumerate(evaluator.openings) if can_lose(first_legal, state, sides[n])}
    assert set(lost_positions(first_legal, evaluator.openings, sides)) == expected
    assert evaluator.unbeaten(first_legal) == 1 - len(expected) / 12 < 1
    assert (losses(perfect("tictactoe"), "tictactoe"), losses(first_legal, "tictactoe") > 0) == (0, True)
    with pytest.raises(ValueError, match="chess cannot be solved by its positions"):
        ExactEvaluator.of("chess", 10, 2)


def line(generation: int, evaluations: int, ratio: float | None = 2.0) -> dict[str, Any]:
    games = {"ratio": ratio, "games": 10, "draws": 3}
    return {"generation": generation, "cost": {"evaluations": evaluations}, "games": games}


def test_goals_and_the_net_that_is_paid_for() -> None:
    lines = [line(1, 100, None), line(2, 100, 1.5), line(3, 50, 0.9), line(4, 50, 1.2)]
    assert (Goal(ratio=1.0).reached(lines), Goal(ratio=1.0).reached(lines[:2])) == (3, None)
    assert (Goal(evaluations=250).reached(lines), Goal(evaluations=301).reached(lines)) == (3, None)
    assert (Goal(evaluations=600).next_stop(lines), Goal(evaluations=310).next_stop(lines)) == (7, 5)
    assert [newest(lines, spent) for spent in (0, 99, 100, 199, 200, 249, 250, 900)] == [0, 0, 1, 1, 2, 2, 3, 4]


def test_arms_differ_in_temperature_and_the_rule_alone(tmp_path: Path) -> None:
    cold, warm, contempt = (
        training.recipe_of(setting(tmp_path), 3, arm, Path("net.safetensors")) for arm in training.ARMS
    )
    assert (cold.selfplay.temperature.initial, warm.selfplay.temperature.endgame) == (0.7, 0.6)
    assert contempt.selfplay.search.search_contempt is not None
    search = contempt.selfplay.search.model_copy(update={"search_contempt": None})
    same = {"search": search, "temperature": cold.selfplay.temperature}
    for recipe in (cold, warm, contempt):
        assert recipe.model_copy(update={"selfplay": recipe.selfplay.model_copy(update=same)}) == cold
    lists = (methods.METHODS, methods.AGAIN_METHODS, methods.TARGET_METHODS, methods.SEARCH_METHODS)
    for arm in {arm for found in lists for method in found for arm in (method.arm, method.rival)}:
        assert arms.small_recipe(setting(tmp_path), 3, arm, visits=methods.VISITS).run.seed == 3


def test_a_small_training_to_the_end_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arms, "STAGES", 2)
    at = setting(tmp_path / "t", scale=0.0001, first_seed=11, visits=16, game=TINY)
    result = make_experiment(find("contempt-training"), at)
    assert [(row["arm"], row["evaluations"]) for row in result.rows] == [
        (arm.name, spent) for arm in training.ARMS for spent in (0, 300, 600)
    ]
    assert len({row["kept"] for row in result.rows if row["evaluations"] == 0}) == 1
    assert [one.verdict for one in result.findings] == ["open"]
    before = (tmp_path / "t/result.csv").read_bytes()
    assert make_experiment(find("contempt-training"), at).rows == result.rows
    assert (tmp_path / "t/result.csv").read_bytes() == before


@pytest.mark.slow
def test_small_runs_that_use_their_games_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arms, "STAGES", 2)
    at = setting(tmp_path / "t", scale=0.0002, first_seed=11, visits=None, game=TINY)
    result = make_experiment(find("learning-again"), at)
    assert [row["arm"] for row in result.rows] == [arm.name for arm in methods.AGAIN for _ in range(3)]
    assert [one.key for one in result.findings] == ["archive", "regret", "reanalyse", "proven"]


def found(gain: float, over: Arm | None = None, seeds: int = 6, draws: float = 0.4) -> str:
    """The verdict where search-contempt keeps this much more than the others, or than one of them.

    draws: of its games; the others have 0.4.
    """
    curves = []
    for seed in range(seeds):
        for arm in training.ARMS:
            own = arm == training.CONTEMPT
            more = gain if own or over not in (None, arm) else 0.0
            kept = [0.6, 0.7 + more, 0.8 + more + 0.01 * (seed % 3 - 1) * own]
            points = [Stage(100 * i, i, one, (draws if own else 0.4) if i else None) for i, one in enumerate(kept)]
            curves.append(Curve(seed, arm, points, 0.5))
    return training.finding(curves, "small").verdict


def test_the_claim_needs_both_rivals_six_seeds_and_equal_ratios() -> None:
    assert (found(0.05), found(0.05, seeds=5)) == ("holds", "open")
    assert (found(-0.05), found(-0.05, seeds=8)) == ("open", "does not hold")
    assert found(0.05, over=training.ARMS[0], seeds=8) == "no such effect"  # it is no better than warm PUCT
    assert found(0.05, draws=0.45) == "holds"  # (w + l)/d 1.2 and 1.5
    assert found(0.05, draws=0.6) == "open"
    points = [Stage(i, i, 0.5, None) for i in range(STAGES + 1)]
    assert Curve(1, training.CONTEMPT, points, 0.5).mean == pytest.approx(0.5)


# -- the implementation report -----------------------------------------------------------------------------------------


def learned(lost: list[int], promoted: int = 3) -> Learned:
    return Learned([Record(5, 3, 2)] * len(lost), [step < promoted for step in range(len(lost))], lost, 30)


STEADY = [5, 3, 2, 1, 1, 0, 0]
LATE = [9, 9, 9, 9, 9, 9, 0]
NEVER = [9, 9, 9, 9, 9, 9, 9]
EARLY = [9, 2, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("figure", "runs", "verdict"),
    [
        (3, 6 * [STEADY], "holds"),
        (3, 5 * [STEADY], "open"),
        (3, 6 * [NEVER], "does not hold"),
        (4, 6 * [LATE], "holds"),
        (4, 6 * [EARLY], "does not hold"),
        (5, 6 * [EARLY], "holds"),
        (5, 6 * [LATE], "does not hold"),
        (5, 1 * [EARLY], "open"),
    ],
)
def test_verdicts_of_the_report(figure: int, runs: list[list[int]], verdict: str) -> None:
    plan = next(plan for plan in PLANS if plan.figure == figure)
    finding = figures.finding(plan, [learned(run) for run in runs])
    assert (finding.verdict, finding.units) == (verdict, f"{len(runs)} seeds")


@pytest.mark.slow
def test_small_figures_from_beginning_to_end_and_again(tmp_path: Path) -> None:
    lines: list[str] = []
    at = Setting(tmp_path / "fig", scale=0.08, seeds=2, first_seed=1, threads=2, show=lines.append)
    rows = make_experiment(find("report-fig4"), at).rows
    assert [(row["seed"], row["training"]) for row in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert all(row["wins"] + row["draws"] + row["losses"] == 40 for row in rows)
    assert metrics_of(tmp_path / "fig/seed-2")[1]["games"]["candidate"]["wins"] == rows[3]["wins"]
    assert make_experiment(find("report-fig4"), at).rows == rows
    assert lines.count("1: 2 generations learned") == 2
    result = make_experiment(find("report-fig6"), setting(tmp_path / "six", visits=None, scale=0.02))
    assert [sum(row[name] for name in ("wins", "draws", "losses")) for row in result.rows] == [4]
    assert "player begins against the" in result.texts[0]


def test_the_schedule_follows_the_controller(tmp_path: Path) -> None:
    chosen = {"n_scl": 5, "visits": 10, "ratio": 1.1, "settled": False, "probes": []}
    games = {"first_wins": 1, "draws": 2, "second_wins": 1}
    line = {"generation": 1, "games": games, "search_contempt": chosen, "elo": 0.0}
    for name, lines in {"one": [line], "plain": [{**line, "search_contempt": None}]}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    found = make_experiment(find("contempt-schedule"), setting(tmp_path / "s", visits=None, nets=(tmp_path / "one",)))
    assert [(row["run"], row["n_scl"], row["games"]) for row in found.rows] == [("one", 5, 4)]
    with pytest.raises(ValueError, match="plain is a run without"):
        make_experiment(find("contempt-schedule"), setting(tmp_path / "t", visits=None, nets=(tmp_path / "plain",)))
    run = [
        {"run": "one", "games": n, "n_scl": 5 + n, "visits": 10 * (1 + n // 2), "ratio": 1.1, "ratio_high": 2.0}
        for n in range(4)
    ]
    assert [schedule._balance([run] * 6).verdict, schedule._doubling([run] * 6).verdict] == ["holds", "holds"]


class InThisProcess:
    """In the place of a pool of processes: every task is done at once."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> "InThisProcess":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Return what came of the task."""
        done = Future[Any]()
        try:
            done.set_result(task(*arguments))
        except Exception as error:
            done.set_exception(error)
        return done


def test_a_finished_run_is_over_without_its_checkpoint_and_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned_runs, "ProcessPoolExecutor", InThisProcess)
    recipe = tiny_recipe(seed=1)
    learn_beside(setting(tmp_path / "first"), {"one": ("run", recipe)})
    run = tmp_path / "first" / "run"
    copied = tmp_path / "second" / "run"
    last = net_of(copied, 2)
    last.parent.mkdir(parents=True)
    for name in ("config.toml", "metrics.jsonl", str(last.relative_to(copied))):
        shutil.copy(run / name, copied / name)
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    assert learn_beside(setting(tmp_path / "second"), {"one": ("run", recipe)}) == {"one": copied}
    assert {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()} == before
    with pytest.raises(ValueError, match="seed"):
        learn_beside(setting(tmp_path / "second"), {"one": ("run", tiny_recipe(seed=2))})


def tiny_recipe(seed: int) -> ht.Recipe:
    """Return two generations of tic-tac-toe of eight games each."""
    values: dict[str, Any] = {
        "game": "tictactoe",
        "network": {"filters": 4, "blocks": 1},
        "selfplay": {"games": 8, "visits": 4},
        "train": {"batch_size": 16, "mixed_precision": "auto"},
        "run": {"generations": 2, "seed": seed, "threads": 1, "precision": "auto"},
        "gate": {"by": "off"},
    }
    return ht.Recipe.model_validate(values)


KILLED = """
import multiprocessing, os, signal, time
from concurrent.futures import ProcessPoolExecutor
from hauteur_experiments.learned import end_with_parent

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=end_with_parent) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 10_000)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_the_processes_of_an_experiment_end_with_it(tmp_path: Path) -> None:
    """Also where it was killed: otherwise runs would go on, and stay locked."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    # The worker has the pipe too, so this waits until both have ended.
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    assert int(done.stdout) > 0
