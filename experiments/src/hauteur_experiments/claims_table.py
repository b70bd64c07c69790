"""The table of claims: what the sources state, what was measured here, the verdict, what it cost, how to repeat it.

It is made of the results in a folder: those of the plan's runs, and those of any other experiment there.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from hauteur_experiments.claims_figure import draw_claims
from hauteur_experiments.experiment import Setting, SourceClaim, duration, read_json, write_whole
from hauteur_experiments.plan import RUNS, SUBJECTS, PlannedRun
from hauteur_experiments.registry import find
from hauteur_experiments.summary import SUMMARY, between, verdict_of, with_summary
from hauteur_experiments.verdict import MOST_UNITS, Verdict

BEGIN, END = "<!-- claims -->", "<!-- end claims -->"
"""The table stands between these lines of a page; the rest of the page is left unchanged."""

FIELDS = ("subject", "claim", "figure", "measured", "games", "verdict", "cost", "command")
"""Columns of the file with all lines, which stands beside the page; figure: the source's."""

DIGEST_COLUMNS = ("claim", "the source's figure", "measured here, 95 %", "verdict")
"""Columns of the page."""

RULES_SUBJECT = "Every rule in four games"
TABLE = "rules-by-game"
"""The experiment whose claims are a table of their own, a cell a claim."""


def _row(subject: str, *cells: str) -> dict[str, str]:
    """A line by FIELDS; cells that are missing at its end are empty."""
    return dict(zip(FIELDS, (subject, *cells, *[""] * (len(FIELDS) - 1 - len(cells))), strict=True))


def claim_rows(subject: str, claim: SourceClaim, runs: Sequence[PlannedRun], base: Setting) -> Iterator[dict[str, str]]:
    """Yield the lines of a claim, one or more. runs: those that decide it; base: as for `PlannedRun.setting`."""
    stated = subject, f"{claim.source}: {claim.statement}", claim.figure
    if claim.needs or not runs:
        yield _row(*stated, "", "", f"**open**: no run yet; needs {claim.needs or 'a planned run'}")
        return
    for run in runs:
        result, command = _result(run, base), run_command(run, base)
        if result is None:
            yield _row(*stated, "", "", f"**open**: not made yet; needs {run.size}", "", command)
            continue
        findings = [one for one in result["findings"] if one.get("key") == claim.key]
        if not findings:
            text = f"{run.name} reports nothing on it"
            yield _row(*stated, text, "", f"**open**: needs {run.size}", cost_text(result), command)
        for finding in findings:
            yield _measured_row(stated, finding, finding["units"] or run.size, result, command)


def other_rows(
    subject: str, claim: SourceClaim, results: Iterable[tuple[str, dict[str, Any]]]
) -> Iterator[dict[str, str]]:
    """Yield the lines of a claim from runs that are none of the plan's. results: command and result of each."""
    stated = subject, f"{claim.source}: {claim.statement}", claim.figure
    for command, result in results:
        for finding in (one for one in result["findings"] if one.get("key") == claim.key):
            yield _measured_row(stated, finding, str(finding["units"]), result, command)


def other_results(base: Setting) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Command and result of the runs in the folder that are none of the plan's, by experiment."""
    planned = {run.name for run in RUNS}
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for file in sorted(base.folder.glob("*/result.json")):
        begun = file.with_name("experiment.json")
        if file.parent.name not in planned and begun.exists():
            stored = read_json(begun)
            command = f"`{_begun_with(stored['begun']['command'])}`"
            found.setdefault(stored["settings"]["experiment"], []).append((command, read_json(file)))
    return found


def _measured_row(
    stated: tuple[str, str, str], finding: dict[str, Any], units: str, result: dict[str, Any], command: str
) -> dict[str, str]:
    measured = str(finding.get("quantities") or finding["measured"])
    return _row(*stated, measured, units, verdict_text(finding), cost_text(result), command)


def _begun_with(words: Sequence[str]) -> str:
    """The command of a run without what its result does not depend on."""
    kept, rest = ["hauteur"], iter(words[1:])
    for word in rest:
        if word in ("--out", "--threads", "--parallel"):
            next(rest, None)
        else:
            kept.append(word)
    return shlex.join(kept)


def _result(run: PlannedRun, base: Setting) -> dict[str, Any] | None:
    path = base.folder / run.name / "result.json"
    return read_json(path) if path.exists() else None


def run_command(run: PlannedRun, base: Setting) -> str:
    """Return the command that makes a run alone; that of the experiment without nets where the plan lacks one."""
    try:
        return f"`{run.command(base)}`"
    except ValueError:
        return f"`hauteur experiment {run.experiment}`"


def verdict_text(finding: dict[str, Any]) -> str:
    """Return the verdict of a finding of result.json, its scope, and where it is open what would close it."""
    scope = f" ({finding['scope']})" if finding["scope"] else ""
    missing = finding["missing"]
    if finding["verdict"] != "open" or missing is None:
        return f"**{finding['verdict']}**{scope}"
    of = str(finding["units"]).partition(" ")[2] or "units"
    count = f"more than {MOST_UNITS:,}" if missing >= MOST_UNITS else f"about {missing:,}"
    return f"**open**{scope}: {count} {of} would close it"


def cost_text(result: dict[str, Any]) -> str:
    """Return what the last attempt at a run took."""
    seconds = result.get("seconds_of_last_attempt")
    return "" if seconds is None else duration(seconds)


def claim_table(base: Setting) -> list[dict[str, str]]:
    """Return every line of the table by FIELDS: the claims of each subject, then each rule in each game."""
    rows: list[dict[str, str]] = []
    others = other_results(base)
    for subject, names in SUBJECTS.items():
        for name in names:
            mine = [run for run in RUNS if run.experiment == name]
            for claim in find(name).claims:
                rows += claim_rows(subject, claim, [run for run in mine if claim in run.claims], base)
                rows += other_rows(subject, claim, others.get(name, ()))
    return [*rows, *_rule_rows(base)]


def claims_markdown(rows: Sequence[Mapping[str, str]]) -> str:
    """Return lines of `claim_table` as Markdown: how many hold, and a line for each claim that has a measurement."""
    verdicts = Counter(verdict_of(row) for row in rows if row["subject"] != RULES_SUBJECT or row["measured"])
    counts = ", ".join(f"{verdicts[name]} {name}" for name in get_args(Verdict))
    subjects: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        subjects.setdefault(row["subject"], []).append(row)
    rules = subjects.pop(RULES_SUBJECT, [])
    parts = [part for subject, lines in subjects.items() for part in (f"### {subject}", *_subject_texts(lines))]
    return "\n\n".join(
        [f"{sum(verdicts.values())} comparisons: {counts}.", *parts, f"### {RULES_SUBJECT}", *_rules_texts(rules)]
    )


def _subject_texts(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the table of a subject, a line for each claim with a measurement, and how many claims have none."""
    claims: dict[str, list[Mapping[str, str]]] = {}
    for row in rows:
        claims.setdefault(row["claim"], []).append(row)
    made = {claim: [row for row in lines if row["measured"]] for claim, lines in claims.items()}
    shown = [_digest(claim, lines) for claim, lines in made.items() if lines]
    if shown:
        yield _table(DIGEST_COLUMNS, shown)
    if len(shown) < len(claims):
        yield f"Not run yet: {len(claims) - len(shown)} claims."


def _digest(claim: str, rows: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return a claim's cells by DIGEST_COLUMNS: its first decided measurement, and how many have each verdict."""
    first = next((row for row in rows if verdict_of(row) != "open"), rows[0])
    measured, *more = first["measured"].split("; ")
    verdicts = Counter(map(verdict_of, rows))
    counts = ", ".join(f"{count} {name}" for name, count in verdicts.items())
    verdict = first["verdict"] if len(rows) == 1 else counts
    return claim, first["figure"], f"{measured} (and {len(more)} more)" if more else measured, verdict


def _rule_rows(base: Setting) -> Iterator[dict[str, str]]:
    """Yield a line for each rule in each game, and one without a measurement for each run that is not over."""
    for run in (run for run in RUNS if run.experiment == TABLE):
        result = _result(run, base)
        cost = "not made yet" if result is None else cost_text(result)
        lines = [(" in ", "", "open")]
        if result is not None:
            pairs = zip(result["rows"], result["findings"], strict=True)
            lines = [(f"{row['rule']} in {row['game']}", _interval(row), one["verdict"]) for row, one in pairs]
        for claim, elo, verdict in lines:
            yield _row(RULES_SUBJECT, claim, "", elo, run.size, f"**{verdict}**", cost, run_command(run, base))


def _interval(row: Mapping[str, float | None]) -> str:
    """The Elo of a row with its interval."""
    ends = (row[key] for key in ("elo", "elo_low", "elo_high"))
    value, low, high = ("none" if end is None else f"{end:+.0f}" for end in ends)
    return f"{value} [{low}, {high}]"


def _rules_texts(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield what the table of rules shows and what its runs cost, then the table."""
    costs = [f"{command} ({cost})" for command, cost in dict.fromkeys((row["command"], row["cost"]) for row in rows)]
    yield (
        "Elo of each rule against the base with 95 % intervals. Bold: decided, as one of all cells and beyond its "
        f"control where it has one, stronger where it is positive; *no such effect*: none of 15 Elo, or beyond the "
        f"control none; the others are open. Runs: {'; '.join(costs)}."
    )
    styles = {"open": "{}", "no such effect": "*{}*"}
    texts: dict[str, dict[str, str]] = {}
    for row in rows:
        rule, _, game = row["claim"].partition(" in ")
        if row["measured"]:
            texts.setdefault(rule, {})[game] = styles.get(verdict_of(row), "**{}**").format(row["measured"])
    games = list(dict.fromkeys(game for cells in texts.values() for game in cells))
    if games:
        yield _table(("rule", *games), [(rule, *(row.get(game, "") for game in games)) for rule, row in texts.items()])


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def write_table(path: Path, base: Setting) -> None:
    """Write the table to a page, between BEGIN and END where the page has them, else as a page of its own.

    A README.md beside it that has the marks of a summary gets that too, with its figure claims.png. Beside the page
    stand all lines as claims.csv. Where it is there, lines of runs in this folder replace those of the same command,
    and all others are kept, as they were measured elsewhere or recorded by hand. ValueError for a page
    that has only one of the two marks.
    """
    rows, file = claim_table(base), path.with_name("claims.csv")
    if file.exists():
        recorded = recorded_lines(file)
        known = {line["claim"] for line in recorded}
        made = [row for row in rows if row["measured"] or row["claim"] not in known]
        commands = {row["command"] for row in made if row["measured"]}
        kept = [line for line in recorded if line["command"] not in commands]
        subjects = [*SUBJECTS, RULES_SUBJECT]
        rows = sorted([*kept, *made], key=lambda row: subjects.index(row["subject"]))
    text = path.read_text(encoding="utf-8") if path.exists() else f"# Claims\n\n{BEGIN}\n{END}\n"
    page, front = with_table(text, rows, str(path)), path.with_name("README.md")
    if front.exists() and SUMMARY in (before := front.read_text(encoding="utf-8")):
        draw_claims(rows, path.with_name("claims.png"))
        write_whole(front, with_summary(before, rows, str(front)))
    write_whole(file, _csv(FIELDS, (list(row.values()) for row in rows)))
    write_whole(path, page)


def recorded_lines(path: Path) -> list[dict[str, str]]:
    """Return the lines of a file that was written before; ValueError for other columns or subjects than of today."""
    lines = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    if tuple(lines.fieldnames or ()) != FIELDS:
        raise ValueError(f"{path}: its columns are {', '.join(lines.fieldnames or ())}, expected {', '.join(FIELDS)}")
    found = list(lines)
    for line in found:
        if line["subject"] not in (*SUBJECTS, RULES_SUBJECT):
            raise ValueError(f"{path}: there is no subject {line['subject']!r}; there are {', '.join(SUBJECTS)}")
    return found


def with_table(text: str, rows: Sequence[Mapping[str, str]], place: str) -> str:
    """Return a page with the table between its marks. ValueError, naming the place, for a page without them."""
    return between(text, BEGIN, END, claims_markdown(rows), place)


def _csv(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as CSV, with a line of names."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([names, *rows])
    return lines.getvalue()
