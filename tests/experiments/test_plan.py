"""The plan: every claim has a run or what would close it; runs resume, also after a kill; the table of claims."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hauteur.cli.main import main
from hauteur.networks.evaluators.base import Evaluator
from hauteur.players.settings import parse_player
from hauteur_experiments import matches, plan
from hauteur_experiments.attempts import AttemptLog
from hauteur_experiments.claims import CLAIMS, Decision, SourceClaim, claims_by_run
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.mcts_experiments.published_matches import RULES
from hauteur_experiments.plan import PlannedRun, Step, make_plan, steps
from hauteur_experiments.plan_table import (
    BEGIN,
    END,
    claim_rows,
    claim_table,
    claims_markdown,
    verdict_text,
    with_table,
    write_table,
)
from hauteur_experiments.planned_runs import RUNS, run_named
from hauteur_experiments.registry import EXPERIMENTS, find

EVERY = [claim for _, claims in CLAIMS for claim in claims]
SMALL = PlannedRun("cpuct-small", "cpuct", "4 games", 0.006, seeds=1, visits=2, game="connect4")
OTHER = PlannedRun("fpu-small", "fpu", "4 games", 0.004, seeds=1, visits=2, game="connect4")


def base(folder: Path, lines: list[str] | None = None) -> ExperimentSetting:
    return ExperimentSetting(folder, threads=1, show=(lines if lines is not None else []).append)


def planned(folder: Path, *runs: PlannedRun) -> list[Step]:
    return steps(runs, {run.name: 1 for run in runs}, base(folder))


def test_every_run_decides_claims_and_has_a_name_of_its_own() -> None:
    assert len({run.name for run in RUNS}) == len(RUNS)
    assert all(claims_by_run().values())
    assert {run.experiment for run in RUNS} - {experiment.name for experiment in EXPERIMENTS} <= WRITTEN_ELSEWHERE
    with pytest.raises(ValueError, match="the plan has no run 'nil'"):
        run_named("nil")


WRITTEN_ELSEWHERE = {"contempt-training"}


def test_every_claim_has_a_run_or_what_would_close_it() -> None:
    for claim in EVERY:
        assert claim.figure
        assert claim.needs or all(run_named(decision.run) for decision in claim.decided_by)
    with pytest.raises(ValueError, match="x: a claim has runs"):
        SourceClaim("s", "x", "1")


def test_every_published_match_is_a_claim() -> None:
    published = {str(one) for rule in RULES for trial in rule.trials for one in trial.repeats}
    decided = {decision.finding for claim in EVERY for decision in claim.decided_by}
    assert published <= decided


@pytest.mark.parametrize(
    "run", [run for run in RUNS if run.experiment not in WRITTEN_ELSEWHERE], ids=lambda run: run.name
)
def test_the_command_of_a_run_is_one(run: PlannedRun, tmp_path: Path) -> None:
    """The options of a planned run are those that its experiment takes."""
    given = replace(base(tmp_path), nets=(Path("uniform"), Path("uniform")))
    setting = run.setting(given)
    uses = find(run.experiment).uses
    assert all(
        getattr(setting, name) in (None, ()) for name in ("visits", "game", "opponent", "only") if name not in uses
    )
    assert run.command(given).startswith(f"hauteur experiment {run.experiment}")


def test_a_plan_from_beginning_to_end_and_again(tmp_path: Path) -> None:
    lines: list[str] = []
    made: list[int] = []
    assert make_plan(planned(tmp_path, SMALL, OTHER), base(tmp_path, lines), 1.0, lambda: made.append(1)) == []
    assert len(made) == 2
    assert (tmp_path / "fpu-small/result.json").exists()
    entries = AttemptLog(tmp_path).entries()
    assert [(entry.run, entry.state) for entry in entries] == [
        (step.run.name, "over") for step in planned(tmp_path, SMALL, OTHER)
    ]
    assert all(entry.cores >= 1 and entry.processor_seconds > 0 and entry.begun.startswith("20") for entry in entries)
    again = planned(tmp_path, SMALL, OTHER)
    assert all(step.over and step.rest == 0 for step in again)
    make_plan(again, base(tmp_path), 1.0, lambda: made.append(1))
    assert len(made) == 2


def test_what_does_not_fit_is_left_out_and_what_fails_does_not_stop_the_plan(tmp_path: Path) -> None:
    lines: list[str] = []
    damaged = replace(SMALL, name="damaged")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged/experiment.json").write_text("{")
    every = [
        replace(step, seconds=cost) for step, cost in zip(planned(tmp_path, damaged, OTHER), (1.0, 7201.0), strict=True)
    ]
    every += planned(tmp_path, replace(SMALL, name="unknown", experiment="nil"), replace(SMALL, game="chess", net=1))
    failed = make_plan(every, base(tmp_path, lines), 1.0, lambda: None)
    assert len(failed) == 1
    assert any(
        "left out, 2:00:01 do not fit into 1:00:00" in line or "left out, 2:00:01 do not" in line for line in lines
    )
    assert any("left out: there is no experiment 'nil'" in line for line in lines)
    assert any("left out: it needs 2 nets for chess, got 0" in line for line in lines)


def test_most_claims_an_hour_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"a": 100.0, "b": 300.0, "c": 10.0}
    monkeypatch.setattr(plan, "_step", lambda run, claims, *_: Step(run, costs[run.name], 0.0, claims, over=False))
    runs = [replace(SMALL, name=name) for name in "abc"]
    found = steps(runs, {"a": 1, "b": 4, "c": 1}, base(tmp_path))
    assert [step.run.name for step in found] == ["c", "b", "a"]
    assert "b" in found[1].text


KILLED = """
import sys, time
from pathlib import Path
from hauteur_experiments import attempts, plan
from hauteur_experiments.experiment import ExperimentSetting
attempts.BEAT = 0.1
def slow(*_):
    print("begun", flush=True)
    time.sleep(60)
plan.make_experiment = slow
run = plan.PlannedRun("slow", "cpuct", "none")
plan.make_plan([plan.Step(run, 1.0, 0.0, 1, False)], ExperimentSetting(Path(sys.argv[1])), 1.0, lambda: None)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_an_attempt_that_is_killed_counts(sent: signal.Signals, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    while b"begun" not in child.stdout.readline():
        pass
    log, deadline = AttemptLog(tmp_path), time.monotonic() + 30
    while log.seconds("slow") < 0.2 and time.monotonic() < deadline:
        time.sleep(0.05)
    with pytest.raises(ValueError, match="making a plan"):
        make_plan([], base(tmp_path), 1.0, lambda: None)
    os.kill(child.pid, sent)
    child.wait(timeout=30)
    (entry,) = log.entries()
    assert entry.seconds >= 0.2
    assert entry.state == ("running" if sent == signal.SIGKILL else "interrupted")
    make_plan([], base(tmp_path), 1.0, lambda: None)  # nothing is locked


def test_the_table_of_claims(tmp_path: Path) -> None:
    finding = {"paper": "figure 3: rises", "measured": "5 [4, 6] | x", "scope": "", "units": "400 games"}
    (tmp_path / "temperature-wdl-chess").mkdir()
    values = {"findings": [{**finding, "verdict": "holds", "missing": None}]}
    (tmp_path / "temperature-wdl-chess/result.json").write_text(json.dumps(values))
    claim = SourceClaim(
        "Paper",
        "it rises",
        "7",
        tuple(Decision(f"temperature-wdl-{game}", "figure 3:") for game in ("minichess", "chess")),
    )
    missing, made = claim_rows([claim], base(tmp_path))
    assert missing.verdict == "**open**: not made yet; needs 400 games a set, 1,000 visits"
    assert (made.measured, made.units, made.verdict) == (
        "5 [4, 6] | x",
        "400 games",
        "**holds**",
    )
    assert made.command == "hauteur experiment temperature-wdl --scale 4 --visits 200"
    chess = replace(base(tmp_path), nets=(Path("x/maia.pb.gz"),))
    assert [row.command.endswith("--net maia.pb.gz") for row in claim_rows([claim], chess)] == [False, True]

    page = tmp_path / "page.md"
    page.write_text(f"# Front\n\n{BEGIN}\nold\n{END}\n\nthe end\n")
    write_table(page, base(tmp_path))
    text = page.read_text()
    assert text.startswith(f"# Front\n\n{BEGIN}\n")
    assert text.endswith(f"{END}\n\nthe end\n")
    assert "\nold\n" not in text
    assert "5 [4, 6] \\| x" in text
    assert " 1 holds, 0 does not hold, " in text
    with (tmp_path / "claims.csv").open(encoding="utf-8", newline="") as lines:
        assert with_table(text, list(csv.DictReader(lines)), "page") == text
    write_table(page, base(tmp_path))
    assert page.read_text() == text
    page.write_text("# Other")
    with pytest.raises(ValueError, match="which this page lacks"):
        write_table(page, base(tmp_path))


def test_the_page_of_the_repository_is_made_of_its_claims() -> None:
    folder = Path(__file__).parents[2] / "docs" / "experiments"
    page = (folder / "README.md").read_text(encoding="utf-8")
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as lines:
        assert with_table(page, list(csv.DictReader(lines)), "README.md") == page


def test_open_findings_say_what_would_close_them() -> None:
    finding = {"verdict": "open", "scope": "another game", "units": "400 games of a setting", "missing": 1234}
    assert verdict_text(finding) == "**open** (another game): about 1,234 games of a setting would close it"
    assert verdict_text({**finding, "missing": 10_000_000}).endswith(
        "more than 10,000,000 games of a setting would close it"
    )


def test_the_command_writes_the_table_and_refuses_nonsense(tmp_path: Path) -> None:
    assert main(["experiment", "plan", "--hours", "0", "--out", str(tmp_path / "p")]) == 0
    assert "Not run yet: 4 claims" in (tmp_path / "p/claims.md").read_text()
    assert "**open**: no run yet" in (tmp_path / "p/claims.csv").read_text()
    assert main(["experiment", "plan", "--hours", "-1", "--out", str(tmp_path / "q")]) == 2
    assert not (tmp_path / "q").exists()


def test_verdicts_are_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "verdicts", "--rounds", "10", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert "match of 400 games" in shown
    assert shown.endswith("10 simulated experiments each with each truth; standard error of 2.5 %: 4.94%\n")
    assert main(["experiment", "verdicts", "--rounds", "1"]) == 2


def test_rules_by_game_are_a_table_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "rules-by-game-connect4"
    folder.mkdir()
    rows = [
        {"rule": "solver", "game": "connect4", "elo": 12.4, "elo_low": -3.0, "elo_high": 27.0},
        {"rule": "gumbel", "game": "connect4", "elo": -80.0, "elo_low": None, "elo_high": -50.0},
    ]
    findings = [{"paper": "x", "verdict": verdict} for verdict in ("open", "does not hold")]
    (folder / "result.json").write_text(json.dumps({"rows": rows, "findings": findings}))
    text = claims_markdown(claim_table(base(tmp_path)))
    assert "| rule | connect4 |" in text
    assert "| solver | +12 [-3, +27] |" in text
    assert "| gumbel | **-80 [none, -50]** |" in text
    assert "1 does not hold" in text
    assert "rules-by-game --visits 100 --only minichess` (not made yet)" in text


WITHOUT_TORCH = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Without())
from hauteur.cli import main
from hauteur_experiments import plan
if "learning" in sys.argv:
    def estimate(self, setting, speed):
        import torch
    plan.find("learning-methods").__class__.estimate = estimate
sys.exit(main.main(["experiment", "plan", "--hours", "8", "--dry-run", "--out", sys.argv[1]]))
"""


def test_a_plan_needs_no_torch_for_its_estimates(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0
    assert re.fullmatch(r"estimating \d+ runs: each net that they need is measured for a moment\n", ended.stderr)
    cannot = [line for line in ended.stdout.splitlines() if "cannot be made" in line]
    assert len(cannot) == 1
    assert "needs 2 nets for chess" in cannot[0]
    assert not list(tmp_path.iterdir())


def test_runs_that_lack_a_package_are_listed_so(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(tmp_path), "learning"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0
    said = "cannot be made: it needs torch, not installed here: pip install"
    assert sum(said in line for line in ended.stdout.splitlines()) == len(RUNS) - 1


def test_a_net_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = list[str]()

    def speed(evaluator: Evaluator) -> float:
        measured.append(evaluator.name)
        return 1000.0

    monkeypatch.setattr(matches, "evaluations_per_second", speed)
    monkeypatch.setattr(matches, "_speeds", {})
    setting = ExperimentSetting(tmp_path, threads=1)
    specs = [
        matches.MatchSpec(name, parse_player("net=uniform visits=9"), parse_player("visits=5"), 4, game="tictactoe")
        for name in ("one", "two")
    ]
    assert matches.match_seconds(setting, specs) == matches.match_seconds(setting, specs) > 0
    assert len(measured) == len(set(measured)) == 2
