"""The table of claims: what the sources state, what was measured here, the verdict, what it cost, how to repeat it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from hauteur.system.files import read_json, write_bytes
from hauteur.system.formatting import duration
from hauteur_experiments.attempts import Attempt, AttemptLog
from hauteur_experiments.claims import CLAIMS, TABLE_CLAIM, Decision, SourceClaim
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.plan import PlannedRun
from hauteur_experiments.planned_runs import RUNS, run_named
from hauteur_experiments.verdict import MOST_UNITS, Verdict

BEGIN, END = "<!-- claims -->", "<!-- end claims -->"
"""The table stands between these lines of a page; the rest of the page is left as it is."""

COLUMNS = ("claim", "the source's figure", "measured here, 95 %", "games", "verdict", "cost", "command")
RUN_COLUMNS = ("run", "begun", "machine", "load", "clock", "processor time", "ended")


@dataclass(frozen=True)
class ClaimRow:
    """A line of the table: a claim beside the finding of a run, or beside what would decide it."""

    claim: SourceClaim
    measured: str
    units: str
    verdict: str
    cost: str = ""
    command: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The line's texts, by column."""
        statement = f"{self.claim.source}: {self.claim.statement}"
        command = f"`{self.command}`" if self.command else ""
        return statement, self.claim.figure, self.measured, self.units, self.verdict, self.cost, command


def claim_rows(claims: Iterable[SourceClaim], base: ExperimentSetting) -> Iterator[ClaimRow]:
    """Yield the lines of some claims, one or more each. base: of the plan, as for `PlannedRun.setting`."""
    log = AttemptLog(base.folder)
    for claim in claims:
        if not claim.decided_by:
            yield ClaimRow(claim, "", "", f"**open**: no run yet; needs {claim.needs}")
        for decision in claim.decided_by:
            yield from _rows_of(claim, decision, base, log)


def _rows_of(claim: SourceClaim, decision: Decision, base: ExperimentSetting, log: AttemptLog) -> Iterator[ClaimRow]:
    run = run_named(decision.run)
    path, command = base.folder / run.name / "result.json", run_command(run, base)
    if not path.exists():
        yield ClaimRow(claim, "", "", f"**open**: not made yet; needs {run.size}", "", command)
        return
    findings = [one for one in read_json(path)["findings"] if one["paper"].startswith(decision.finding)]
    cost = cost_text(log.of(run.name))
    if not findings:
        yield ClaimRow(claim, f"{run.name} reports nothing on it", "", f"**open**: needs {run.size}", cost, command)
    for finding in findings:
        units = finding["units"] or run.size
        yield ClaimRow(claim, _measured(decision, finding), units, verdict_text(finding), cost, command)


def run_command(run: PlannedRun, base: ExperimentSetting) -> str:
    """Return the command that makes a run alone; that of the experiment without nets where the plan lacks one."""
    try:
        return run.command(base)
    except ValueError:
        return f"hauteur experiment {run.experiment}"


def _measured(decision: Decision, finding: dict[str, Any]) -> str:
    """What the verdict rests on; with the finding's statement where a claim takes all findings of a run."""
    measured = str(finding.get("quantities") or finding["measured"])
    return measured if decision.finding else f"{finding['paper']}: {measured}"


def verdict_text(finding: dict[str, Any]) -> str:
    """Return the verdict of a finding of result.json, its scope, and where it is open what would close it."""
    scope = f" ({finding['scope']})" if finding["scope"] else ""
    missing = finding["missing"]
    if finding["verdict"] != "open" or missing is None:
        return f"**{finding['verdict']}**{scope}"
    of = str(finding["units"]).partition(" ")[2] or "units"
    count = f"more than {MOST_UNITS:,}" if missing >= MOST_UNITS else f"about {missing:,}"
    return f"**open**{scope}: {count} {of} would close it"


def cost_text(attempts: Sequence[Attempt]) -> str:
    """Return clock and processor time of all attempts at a run."""
    clock, processor = sum(one.seconds for one in attempts), sum(one.processor_seconds for one in attempts)
    return f"{duration(clock)}, {duration(processor)} of processor time" if attempts else ""


def claims_markdown(base: ExperimentSetting) -> str:
    """Return all claims as Markdown: how many of them hold, a table each subject, the attempts at the runs."""
    parts, verdicts = [], Counter[str]()
    for subject, claims in CLAIMS:
        rows = list(claim_rows(claims, base))
        verdicts.update(row.verdict.split("**")[1] for row in rows)
        parts += [f"### {subject}", _table(COLUMNS, _once(rows))]
    cells = rule_cells(base)
    verdicts.update(cell.verdict for cell in cells)
    parts += ["### Every rule in four games", _rules_text(base), *([_rules_table(cells)] if cells else [])]
    counts = ", ".join(f"{verdicts[name]} {name}" for name in get_args(Verdict))
    attempts = [attempt for attempt in AttemptLog(base.folder).entries() if attempt.run in {run.name for run in RUNS}]
    runs = ["### Attempts at the runs", _table(RUN_COLUMNS, map(_attempt_cells, attempts))] if attempts else []
    return "\n\n".join([f"{sum(verdicts.values())} comparisons: {counts}.", *parts, *runs])


def _once(rows: Sequence[ClaimRow]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of the rows; a claim and the source's figure stand in the first of its rows alone."""
    before: tuple[str, ...] = ()
    for row in rows:
        cells = row.cells
        yield ("", "", *cells[2:]) if cells[:2] == before[:2] else cells
        before = cells


@dataclass(frozen=True)
class RuleCell:
    """A rule in a game: Elo with its interval, in words, and the verdict on whether it makes the player stronger."""

    rule: str
    game: str
    elo: str
    verdict: str


def rule_cells(base: ExperimentSetting) -> list[RuleCell]:
    """Return the cells of the runs of TABLE_CLAIM that are over."""
    found = []
    for decision in TABLE_CLAIM.decided_by:
        path = base.folder / decision.run / "result.json"
        result = read_json(path) if path.exists() else {"rows": [], "findings": []}
        for row, finding in zip(result["rows"], result["findings"], strict=True):
            ends = [_elo_text(row[key]) for key in ("elo", "elo_low", "elo_high")]
            text = f"{ends[0]} [{ends[1]}, {ends[2]}]"
            found.append(RuleCell(row["rule"], row["game"], text, finding["verdict"]))
    return found


def _elo_text(elo: float | None) -> str:
    return "none" if elo is None else "0" if round(elo) == 0 else f"{elo:+.0f}"


def _rules_text(base: ExperimentSetting) -> str:
    """What the table of rules shows, and what its runs cost."""
    log = AttemptLog(base.folder)
    runs = [run_named(decision.run) for decision in TABLE_CLAIM.decided_by]
    costs = [f"`{run_command(run, base)}` ({cost_text(log.of(run.name)) or 'not made yet'})" for run in runs]
    return (
        "Elo of each rule against the base with 95 % intervals. Bold: decided, as one of all cells and beyond its "
        f"control where it has one, stronger where it is positive; *no such effect*: none of 15 Elo, or beyond the "
        f"control none; the others are open. Runs: {'; '.join(costs)}."
    )


def _rules_table(cells: Sequence[RuleCell]) -> str:
    games = list(dict.fromkeys(cell.game for cell in cells))
    texts: dict[str, dict[str, str]] = {}
    looks = {"open": "{}", "no such effect": "*{}*"}
    for cell in cells:
        texts.setdefault(cell.rule, {})[cell.game] = looks.get(cell.verdict, "**{}**").format(cell.elo)
    return _table(("rule", *games), [(rule, *(row.get(game, "") for game in games)) for rule, row in texts.items()])


def _attempt_cells(attempt: Attempt) -> tuple[str, ...]:
    load = "" if attempt.load is None else f"{attempt.load:.1f}"
    machine = f"{attempt.processor}, {attempt.cores} cores"
    times = duration(attempt.seconds), duration(attempt.processor_seconds)
    ended = {"over": "yes", "running": "no"}.get(attempt.state, attempt.state)
    return attempt.run, attempt.begun[:16].replace("T", " "), machine, load, *times, ended


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def write_table(path: Path, base: ExperimentSetting) -> None:
    """Write the table to a page, between BEGIN and END where the page has them, else as a page of its own.

    ValueError for a page that has only one of the two.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else f"# Claims\n\n{BEGIN}\n{END}\n"
    before, begins, rest = text.partition(BEGIN)
    _, ends, after = rest.partition(END)
    if not begins or not ends:
        raise ValueError(f"{path}: the table stands between the lines {BEGIN} and {END}, which this page lacks")
    write_bytes(path, f"{before}{BEGIN}\n{claims_markdown(base)}\n{END}{after}".encode())
