"""The table of claims: what the sources state, what was measured here, the verdict, what it cost, how to repeat it.

It is made of the results in a folder: those of the plan's runs, and those of any other experiment there.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, get_args

from hauteur_experiments.claims_figure import draw_claims
from hauteur_experiments.deciding import RULES_SUBJECT, Row, verdict_of
from hauteur_experiments.experiment import Finding, SourceClaim, duration, stored_findings
from hauteur_experiments.files import read_json, write_whole
from hauteur_experiments.kept import KeptRun, match_folders, read_run, seconds_of
from hauteur_experiments.plan import RUNS, SUBJECTS, PlannedRun
from hauteur_experiments.registry import find
from hauteur_experiments.search_contempt.chess_thesis import small_findings
from hauteur_experiments.search_contempt.schedule import balance_of_small
from hauteur_experiments.setting import Setting
from hauteur_experiments.statements import (
    DATA,
    STATEMENTS,
    STATEMENTS_END,
    front_text,
    laboratory_text,
    others_text,
    statements,
    statements_json,
)
from hauteur_experiments.summary import between, counts, escaped
from hauteur_experiments.uses import uses
from hauteur_experiments.verdict import MOST_UNITS, Number, Verdict

BEGIN, END = "<!-- claims -->", "<!-- end claims -->"
"""The table stands between these lines of a page; the rest of the page is left unchanged."""

FIELDS = (
    "subject",
    "claim",
    "figure",
    "measured",
    "numbers",
    "games",
    "test",
    "decides",
    "times",
    "verdict",
    "run",
    "cost",
    "command",
)
"""Columns of the file with all lines, which stands beside the page.

figure: the source's; measured: all quantities; numbers: the same as JSON, a list of `verdict.Number`; test: `sign` or
`size`, what the claim is tested for; decides: the quantity that decides, ours; times: how many times the source's that
is; run: the name of its folder, and of its file in `results`, empty where it was not kept.
"""

TABLE = "rules-by-game"
"""The experiment whose claims are a table of their own, a cell a claim."""


def _row(**cells: str) -> dict[str, str]:
    """A line by FIELDS; cells that are missing are empty."""
    return {name: cells.get(name, "") for name in FIELDS}


KEPT_LINES: Mapping[str, Mapping[str, Callable[[Mapping[str, Any]], Sequence[Finding]]]] = {
    "chess-thesis-small": {"chess-thesis-small": small_findings, "contempt-schedule": balance_of_small},
    "repeats-1900-200": {"repeats": stored_findings},
}
"""Runs whose lines are always those of their kept file: one that grows with its seeds, one without games of its own.

By experiment whose claims they decide, with the function that decides them by the result.
"""


class Made(NamedTuple):
    """A run that is over."""

    name: str
    """Name of its folder."""
    command: str
    """The command that makes it."""
    result: dict[str, Any]
    """As in result.json."""
    seconds: float
    """What it took."""


def claim_rows(subject: str, claim: SourceClaim, made: Iterable[Made], base: Setting) -> list[dict[str, str]]:
    """Return the lines of a claim: one for each measurement in these runs of its experiment, or what it needs."""
    stated = {"subject": subject, "claim": f"{claim.source}: {claim.statement}", "figure": claim.figure}
    found = [
        _row(**stated, **_measured(finding, run))
        for run in made
        for finding in run.result["findings"]
        if finding.get("key") == claim.key
    ]
    if found:
        return found
    run = next((run for run in RUNS if claim in run.claims), None)
    needs = claim.needs
    command = ""
    if not needs and run is not None:
        needs = run.size
        command = run_command(run, base)
    return [_row(**stated, verdict=f"**open**: not run; needs {needs or 'a planned run'}", command=command)]


def results(base: Setting, kept: Path | None = None) -> dict[str, list[Made]]:
    """The runs in the folder that are over, by experiment: the plan's in its order, then the others.

    kept: folder of kept runs, whose files of `KEPT_LINES` take the place of runs of those names.
    """
    planned = {run.name: run_command(run, base) for run in RUNS}
    places = {name: place for place, name in enumerate(planned)}

    def order(file: Path) -> tuple[int, Path]:
        return places.get(file.parent.name, len(places)), file

    found: dict[str, list[Made]] = {}
    for file in sorted(base.folder.glob("*/result.json"), key=order):
        name = file.parent.name
        begun = file.with_name("experiment.json")
        if (name not in planned and not begun.exists()) or name in KEPT_LINES:
            continue
        stored = read_json(begun)
        command = planned.get(name)
        if not command:
            command = f"`{_begun_with(stored['begun']['command'])}`"
        experiment = stored["settings"]["experiment"]
        result = read_json(file)
        seconds = seconds_of(result, _matches_of(file.parent))
        found.setdefault(experiment, []).append(Made(name, command, result, seconds))
    for name, experiments in KEPT_LINES.items():
        if kept is not None and (path := kept / f"{name}.json").exists():
            run = read_run(path)
            for experiment, decide in experiments.items():
                found.setdefault(experiment, []).append(_made_of_kept(name, run, decide(run.result)))
    return found


def _matches_of(folder: Path) -> list[dict[str, Any]]:
    """The results of the matches in the folder of a run."""
    files = (where / "result.json" for where in match_folders(folder).values())
    return [read_json(file) for file in files if file.exists()]


def _made_of_kept(name: str, run: KeptRun, findings: Sequence[Finding]) -> Made:
    """A kept run with findings that were decided anew."""
    result = {**run.result, "findings": [finding.to_json() for finding in findings]}
    command = f"`hauteur experiment {name} --seeds {result['seeds']}`" if "seeds" in result else ""
    if not command:
        command = f"`{shlex.join(run.experiment['begun']['command'])}`"
    return Made(name, command, result, seconds_of(result, run.matches.values()))


def _measured(finding: dict[str, Any], run: Made) -> dict[str, str]:
    """The cells of a finding."""
    times = finding.get("times")
    return {
        "measured": str(finding.get("quantities") or finding["measured"]),
        "numbers": json.dumps(finding.get("numbers", [])),
        "games": str(finding["units"]),
        "test": str(finding.get("test", "")),
        "decides": str(finding.get("decides", "")),
        "times": "" if times is None else f"{times:.2g}",
        "verdict": verdict_text(finding),
        "run": run.name,
        "cost": cost_text(run.seconds),
        "command": run.command,
    }


def _begun_with(words: Sequence[str]) -> str:
    """The command of a run without what its result does not depend on."""
    kept = ["hauteur"]
    rest = iter(words[1:])
    for word in rest:
        if word in ("--out", "--threads", "--parallel"):
            next(rest, None)
        else:
            kept.append(word)
    return shlex.join(kept)


def run_command(run: PlannedRun, base: Setting) -> str:
    """Return the command that makes a run alone; that of the experiment without nets where the plan lacks one."""
    try:
        return f"`{run.command(base)}`"
    except ValueError:
        return f"`hauteur experiment {run.experiment}`"


def verdict_text(finding: dict[str, Any]) -> str:
    """Return the verdict of a finding of result.json, its scope, and what would close an open one, if that can be."""
    scope = f" ({finding['scope']})" if finding["scope"] else ""
    missing = finding["missing"]
    if finding["verdict"] != "open" or missing is None:
        return f"**{finding['verdict']}**{scope}"
    if missing >= MOST_UNITS:
        return f"**open**{scope}"
    of = str(finding["units"]).partition(" ")[2] or "units"
    return f"**open**{scope}: about {missing:,} {of} would close it"


def cost_text(seconds: float) -> str:
    """Return what a run took; empty where it is not known."""
    return duration(seconds) if seconds else ""


def claim_table(base: Setting, kept: Path | None = None) -> list[dict[str, str]]:
    """Return every line of the table by FIELDS: the claims of each subject, then each rule in each game.

    kept: folder of kept runs, as in `results`.
    """
    made = results(base, kept)
    rows = [
        row
        for subject, names in SUBJECTS.items()
        for name in names
        for claim in find(name).claims
        for row in claim_rows(subject, claim, made.get(name, ()), base)
    ]
    return [*rows, *_rule_rows(made.get(TABLE, ()))]


def claims_markdown(rows: Sequence[Row]) -> str:
    """Return this laboratory's statements as Markdown, then each rule in each game, of lines of `claim_table`."""
    verdicts = Counter(verdict_of(row) for row in rows if row["measured"])
    counts = ", ".join(f"{verdicts[name]} {name}" for name in get_args(Verdict))
    total = f"{sum(verdicts.values())} comparisons of all runs, each rule in each game among them: {counts}."
    rules = [row for row in rows if row["subject"] == RULES_SUBJECT]
    own = laboratory_text(statements(rows))
    return "\n\n".join([total, "### This laboratory", own, f"### {RULES_SUBJECT}", *_rules_texts(rules)])


def _rule_rows(made: Iterable[Made]) -> Iterator[dict[str, str]]:
    """Yield a line for each rule in each game."""
    for run in made:
        for row, one in zip(run.result["rows"], run.result["findings"], strict=True):
            yield _row(
                subject=RULES_SUBJECT,
                claim=f"{row['rule']} in {row['game']}",
                measured=_interval(row),
                numbers=json.dumps([_number(row)]),
                games=str(one["units"]),
                test="sign",
                decides=f"{_interval(row)} Elo",
                verdict=f"**{one['verdict']}**",
                run=run.name,
                cost=cost_text(run.seconds),
                command=run.command,
            )


def _number(row: Mapping[str, Any]) -> Number:
    """The Elo of a row."""
    return Number(what="Elo", value=row["elo"], low=row["elo_low"], high=row["elo_high"])


def _interval(row: Mapping[str, float | None]) -> str:
    """The Elo of a row with its interval."""
    ends = (row[key] for key in ("elo", "elo_low", "elo_high"))
    value, low, high = ("none" if end is None else f"{end:+.0f}" for end in ends)
    return f"{value} [{low}, {high}]"


def _rules_texts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what the table of rules shows and what its runs cost, then the table."""
    runs = dict.fromkeys((row["command"], row["cost"]) for row in rows)
    costs = [f"{command} ({cost})" for command, cost in runs]
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
            style = styles.get(verdict_of(row), "**{}**")
            texts.setdefault(rule, {})[game] = style.format(row["measured"])
    games = list(dict.fromkeys(chain.from_iterable(texts.values())))
    if games:
        lines = []
        for rule, cells in texts.items():
            lines.append((rule, *(cells.get(game, "") for game in games)))
        yield _table(("rule", *games), lines)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(map(escaped, row)) + " |" for row in rows]
    return "\n".join(lines)


def write_table(path: Path, base: Setting) -> None:
    """Write the page of this laboratory's statements, between BEGIN and END, or as a page of its own.

    Beside it stand all lines as claims.csv, and the rows of all statements as statements.json. A README.md there that
    has the marks of `pages` gets the statements of the four sources, with its figure claims.png, and other-papers.md
    those of other papers. Lines of runs in this folder replace those of the same command, those of `KEPT_LINES` come
    from the kept files beside the page, and all others are kept, as they were measured elsewhere or recorded by hand.
    ValueError for a page that has only one of the two marks.
    """
    rows = claim_table(base, path.with_name("results"))
    file = path.with_name("claims.csv")
    places: dict[str, int] = {}
    for place, row in enumerate(rows):
        places.setdefault(row["claim"], place)
    if file.exists():
        rows = _with_recorded(rows, recorded_lines(file))
    subjects = [*SUBJECTS, RULES_SUBJECT]

    def order(row: Row) -> tuple[int, int]:
        return subjects.index(row["subject"]), places.get(row["claim"], len(places))

    rows.sort(key=order)
    text = path.read_text(encoding="utf-8") if path.exists() else f"# Claims\n\n{BEGIN}\n{END}\n"
    page = with_table(text, rows, str(path))
    written = pages(path.parent, rows)
    if path.with_name("README.md") in written:
        draw_claims(rows, path.with_name("claims.png"))
    for page_path, content in written.items():
        write_whole(page_path, content)
    write_whole(file, _csv(FIELDS, (list(row.values()) for row in rows)))
    write_whole(path, page)


def _with_recorded(rows: list[dict[str, str]], recorded: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return recorded lines of other commands, then the lines of these that are measured or of no recorded claim."""
    made = [row for row in rows if row["measured"]]
    commands = {_words(row) for row in made}
    kept = []
    for row in recorded:
        if row["measured"] and _words(row) not in commands and row["run"] not in KEPT_LINES:
            kept.append(row)
    known = {row["claim"] for row in (*kept, *made)}
    new = [row for row in rows if row["measured"] or row["claim"] not in known]
    return [*kept, *new]


def pages(folder: Path, rows: Sequence[Row]) -> dict[Path, str]:
    """Return what the files beside the table are, of its lines: the data, and the pages that have the marks."""
    found = statements(rows)
    results = folder / "results"
    settings = uses(results, rows) if results.is_dir() else []
    texts = {"README.md": front_text(found, settings, counts(rows).text), "other-papers.md": others_text(found)}
    written = {folder / DATA: statements_json(found, settings)}
    for name, content in texts.items():
        page = folder / name
        if page.exists() and STATEMENTS in (before := page.read_text(encoding="utf-8")):
            written[page] = between(before, STATEMENTS, STATEMENTS_END, content, str(page))
    return written


def _words(row: Row) -> tuple[str, ...]:
    """The words of a line's command, whose order does not matter."""
    return tuple(sorted(row["command"].strip("`").split()))


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


def with_table(text: str, rows: Sequence[Row], place: str) -> str:
    """Return a page with the table between its marks. ValueError, naming the place, for a page without them."""
    return between(text, BEGIN, END, claims_markdown(rows), place)


def _csv(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as CSV, with a line of names."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([names, *rows])
    return lines.getvalue()
