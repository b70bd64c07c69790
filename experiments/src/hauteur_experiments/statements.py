"""The statements as data, a row each, and the pages that are made of them: sources, other papers, this laboratory.

A row has one run, the one that is nearest to the source (`hauteur_experiments.deciding`), and takes everything from its
line of the table of claims, which stays the log. What a run says and what its source says are kept apart: the sign of
the effect, and its size as times the source's.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypedDict

from hauteur_experiments.deciding import (
    GAMES,
    OWN_GAMES,
    OWN_LABORATORY,
    RULES_SUBJECT,
    Decided,
    Row,
    by_game,
    differences_of,
    game_of,
    scope_of,
    verdict_of,
)
from hauteur_experiments.uses import Use
from hauteur_experiments.verdict import Number, finite

ENDS: tuple[Literal["value", "low", "high"], ...] = ("value", "low", "high")
Kind = Literal["source", "other paper", "laboratory"]
Answer = Literal["yes", "no", "none", "open", "-"]
"""none: an effect that matters is excluded; -: the statement has none."""

DATA = "statements.json"
"""The rows as JSON, beside the pages."""

STATEMENTS, STATEMENTS_END = "<!-- statements -->", "<!-- end statements -->"
"""The tables of a page stand between these lines."""

LOOKED = "stopped at a look"
SIGNS: Mapping[str, Answer] = {"holds": "yes", "does not hold": "no", "no such effect": "none", "open": "open"}
SIZES: Mapping[str, Answer] = {**SIGNS, "no such effect": "no"}


class Ours(TypedDict):
    """What was measured here, with its interval of 95 %."""

    what: str
    """What the number compares."""
    value: float | None
    """The estimate; None where there is none."""
    low: float | None
    """Lower end of its interval."""
    high: float | None
    """Upper end of its interval."""
    unit: str
    """Unit of the three numbers."""


class Size(TypedDict):
    """How large the effect is beside the source's."""

    times: float | None
    """Ours over the source's; None where it has no figure."""
    holds: Answer
    """Whether ours agrees, for statements about a size or about nothing to be found."""


class Scope(TypedDict):
    """Where the run was made."""

    board: str
    """The game and its board."""
    nets: list[str]
    """Names of the nets that played."""
    visits: int | None
    """Visits a move as the command gives them."""
    differs: list[str]
    """What differs from the source."""
    remarks: list[str]
    """What else is to be known of the run."""


class Statement(TypedDict):
    """A row of the page."""

    kind: Kind
    """Whose statement it is."""
    source: str
    """Paper and place in it."""
    statement: str
    """The statement in words."""
    figure: str
    """The source's own figure."""
    ours: Ours | None
    """What was measured here; None where nothing was."""
    sign: Answer
    """Whether the effect has the source's sign."""
    size: Size
    """How large it is beside the source's."""
    scope: Scope | None
    """Where it was measured."""
    units: str
    """Games, openings or runs that it rests on."""
    stopped_at_a_look: bool
    """Whether the run ended early, at a look: its figure is too large on average."""
    cost: str
    """Processor time of the run."""
    command: str
    """The command that makes the run."""
    run: str
    """Name of the run in `results`; empty where only the log has its line."""
    other_runs: dict[str, int]
    """Verdicts of other runs, and how many have each."""
    not_run: str
    """Why there is no run and what it would take; empty where there is one."""


def statements(rows: Sequence[Row]) -> list[Statement]:
    """Return a row for each statement in the lines of the table of claims, without those of each rule in each game."""
    claims: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["subject"] != RULES_SUBJECT:
            claims.setdefault((row["subject"], row["claim"]), []).append(row)
    return [_statement(subject, claim, lines) for (subject, claim), lines in claims.items()]


def kind_of(subject: str, claim: str) -> Kind:
    """Return whose statement it is."""
    if claim.startswith(OWN_LABORATORY):
        return "laboratory"
    return "source" if subject in OWN_GAMES else "other paper"


def _statement(subject: str, claim: str, lines: Sequence[Row]) -> Statement:
    source, _, words = claim.partition(": ")
    found = Statement(
        kind=kind_of(subject, claim),
        source=source,
        statement=words,
        figure=lines[0]["figure"],
        ours=None,
        sign="-",
        size=Size(times=None, holds="-"),
        scope=None,
        units="",
        stopped_at_a_look=False,
        cost="",
        command="",
        run="",
        other_runs={},
        not_run="",
    )
    one = nearest(subject, lines)
    if one is None:
        found["not_run"] = lines[0]["verdict"].partition("needs ")[2]
        return found
    row = one.row
    ours = ours_of(one.row)
    found |= Statement(
        **{
            **found,
            "ours": ours,
            "sign": sign_of(row, ours),
            "size": size_of(row),
            "scope": scope_of_run(row),
            "units": row["games"],
            "stopped_at_a_look": any(part.startswith(LOOKED) for part in scope_of(row)),
            "cost": re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", row["cost"]),
            "command": row["command"].strip("`"),
            "run": row["run"],
            "other_runs": dict(Counter(verdict_of(other) for other in lines if other is not row and other["measured"])),
        }
    )
    return found


def nearest(subject: str, lines: Sequence[Row]) -> Decided | None:
    """Return what the run nearest to the source decides: in the source's game, else in the first that was played."""
    games = by_game(lines)
    own = games.get(OWN_GAMES.get(subject, ""))
    return own or next(iter(games.values()), None)


def ours_of(row: Row) -> Ours | None:
    """Return the quantity that decides a line; None for a line without one."""
    found = re.search(r"^(.*?)(\S+) \[([^,\]]*(?:,\d{3})*), ([^\]]*)\]\s*([^\[\]]*)$", row["decides"])
    if found is None:
        return None
    what, value, low, high, unit = (part.strip() for part in found.groups())
    if (
        not what and unit != "Elo"
    ):  # a difference in Elo is what its statement says; a bare share or factor says nothing
        what = _what_is(_number(value), row)
    return Ours(what=what, value=_number(value), low=_number(low), high=_number(high), unit=unit)


def _what_is(value: float | None, row: Row) -> str:
    """Return what a value is of, by the numbers of its line; empty where none has it."""
    for number in json.loads(row["numbers"] or "[]"):
        if value is not None and f"{number['value']:.3g}" == f"{value:.3g}":
            return re.sub(r"^figure .*: ", "", str(number["what"]))
    return ""


def _number(text: str) -> float | None:
    return finite(float(text.replace(",", "")))


def sign_of(row: Row, ours: Ours | None) -> Answer:
    """Return whether the effect has the source's sign.

    Of a statement that is tested for its sign it is the verdict. Of one that is tested for a size in Elo the interval
    says it, on the side of the source's figure; a figure of 0 has no sign.
    """
    if row["test"] == "sign":
        return SIGNS[verdict_of(row)]
    figure = re.match(r"[+-]\d+", row["figure"])
    if ours is None or ours["unit"] != "Elo" or figure is None or int(figure[0]) == 0:
        return "-"
    side = 1 if int(figure[0]) > 0 else -1
    # An interval without an end reaches the zero at least.
    ends = sorted(side * (end if end is not None else 0.0) for end in (ours["low"], ours["high"]))
    if ends[0] > 0:
        return "yes"
    return "no" if ends[1] < 0 else "open"


def size_of(row: Row) -> Size:
    """Return how many times the source's figure ours is, and the verdict where the size is what is stated."""
    times = _number(row["times"]) if row["times"] else None
    return Size(times=times, holds=SIZES[verdict_of(row)] if row["test"] == "size" else "-")


def scope_of_run(row: Row) -> Scope:
    """Return where the run of a line was made, from its command and the scope of its verdict."""
    words = shlex.split(row["command"].strip("`").partition("`")[0])
    given = list(pairwise(words))
    visits = [int(value) for option, value in given if option == "--visits"]
    differs = differences_of(row)
    return Scope(
        board=GAMES.get(game_of(row), game_of(row)),
        nets=[Path(value).name.partition(".")[0] for option, value in given if option == "--net"],
        visits=visits[-1] if visits else None,
        differs=[part for part in differs if not part.startswith(LOOKED)],
        remarks=[part for part in scope_of(row) if part not in differs],
    )


# -- pages -------------------------------------------------------------------------------------------------------------


LEGEND = """Each statement has one run: the one that is nearest to the source in game, visits and constants
([the rule](../reference/verdicts.md)).

- *sign*: whether the effect has the source's sign: yes, no, open, or none (an effect that matters is excluded).
- *size*: times the source's; in brackets, where a size or nothing to be found is stated, whether ours agrees.
- *stopped at a look*: the run ended early, and such a figure is [too large on average](../reference/verdicts.md#looks).
- *log only*: the games were not kept, and [the log](claims.csv) has the line.
- *cost*: hours, minutes and seconds on one core, beside other work.
- *command*: a Maia net comes by `hauteur net get maia-1900`, those in `nets/` are in
  [nets-nogo7.tar.xz](results/README.md), those in `learn/` are learned first. With `--precision bfloat16` it needs a
  processor that multiplies it; without that option it plays other games, in float32."""
"""What the columns of the tables say, before the first one."""

HEADER = ("statement", "source", "ours, 95 %", "sign", "size", "scope", "games or runs", "run", "cost", "command")


def counts_text(rows: Sequence[Statement]) -> str:
    """Return how many of the sources' statements have which sign and size, in two sentences."""
    made = [row for row in rows if row["kind"] == "source" and not row["not_run"]]
    signs = Counter(row["sign"] for row in made if row["sign"] != "-")
    sizes = Counter(row["size"]["holds"] for row in made if row["size"]["holds"] != "-")
    return (
        f"Of {signs.total()} with a sign {signs['yes']} have the source's in the run nearest to it, {signs['no']} the "
        f"other one, {signs['none']} no effect that matters, and {signs['open']} are open. Of {sizes.total()} about a "
        f"size, or about nothing to be found, {sizes['yes']} agree, {sizes['no']} do not, {sizes['open']} are open."
    )


def front_text(rows: Sequence[Statement], settings: Sequence[Use], verdicts: str) -> str:
    """Return the page of the four sources: what can be used first, the counts, and a table for each source."""
    found = [row for row in rows if row["kind"] == "source"]
    first = "\n".join(f"- {_use_text(one)}" for one in settings)
    head = ["## What to use first", first] if settings else []
    counted = f"{verdicts} {counts_text(rows)}"
    return "\n\n".join([*head, "## The statements", counted, LEGEND, *_tables(found)])


def _use_text(use: Use) -> str:
    """A setting with its first numbers, what they are of, and their limits."""
    shown = [number for number in use["numbers"] if number["what"].startswith(use["shown"])]
    places = 0 if use["unit"] == "Elo" else 1
    numbers = "; ".join(f"{number['what']} {_interval(number, places)}" for number in shown)
    program = f"In a chess program: {use['program']}."
    return f"**{use['setting']}**. {program} In {use['unit']}, {use['scope']}: {numbers}. {use['limits']}"


def _interval(number: Number, places: int) -> str:
    value, low, high = (f"{number[end] or 0.0:+.{places}f}" for end in ENDS)
    return f"{value} [{low}, {high}]"


def others_text(rows: Sequence[Statement]) -> str:
    """Return the tables of the statements of other papers."""
    return _table([row for row in rows if row["kind"] == "other paper"], with_source=True)


def laboratory_text(rows: Sequence[Statement]) -> str:
    """Return the table of this laboratory's statements, each with all its runs pooled in one row."""
    return _table([row for row in rows if row["kind"] == "laboratory"], with_source=False)


def _tables(rows: Sequence[Statement]) -> Iterable[str]:
    papers: dict[str, list[Statement]] = {}
    for row in rows:
        papers.setdefault(row["source"].partition(",")[0], []).append(row)
    for paper, lines in papers.items():
        yield f"### {paper}"
        yield _table(lines, with_source=True)


def _table(rows: Sequence[Statement], *, with_source: bool) -> str:
    names = HEADER if with_source else (HEADER[0], *HEADER[2:])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in rows:
        cells = _cells(row)
        shown = cells if with_source else [cells[0], *cells[2:]]
        cells = [cell.replace("|", "\\|").replace("\n", " ") for cell in shown]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(row: Statement) -> list[str]:
    """The cells of a row by HEADER."""
    place = row["source"].partition(", ")[2]
    words = f"{place}: {row['statement']}" if place else f"{row['source']}: {row['statement']}"
    if row["kind"] == "laboratory":
        words = row["statement"]
    if row["not_run"]:
        return [words, row["figure"], "not run", "-", "-", f"price: {row['not_run']}", "", "", "", ""]
    run = row["run"] or "log only"
    command = f"`{row['command']}`" if row["command"] else ""
    return [
        words,
        row["figure"],
        _ours_text(row),
        row["sign"],
        _size_text(row["size"]),
        _scope_text(row),
        row["units"],
        run,
        row["cost"],
        command,
    ]


def _ours_text(row: Statement) -> str:
    ours = row["ours"]
    if ours is None:
        return "no figure"
    ends = ", ".join(_plain(ours[end]) for end in ("low", "high"))
    parts = [ours["what"], _plain(ours["value"]), f"[{ends}]", ours["unit"]]
    text = " ".join(filter(None, parts))
    return f"{text}, {LOOKED}" if row["stopped_at_a_look"] else text


def _plain(value: float | None) -> str:
    if value is None:
        return "none"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:g}"


def _size_text(size: Size) -> str:
    times = "" if size["times"] is None else f"{size['times']:g} x"
    return " ".join(filter(None, [times, "" if size["holds"] == "-" else f"({size['holds']})"])) or "-"


def _scope_text(row: Statement) -> str:
    scope = row["scope"]
    assert scope is not None, row["statement"]
    parts = [scope["board"], *scope["nets"]]
    is_said = any("visits, not" in part for part in scope["differs"])
    if scope["visits"] is not None and not is_said:
        parts.append(f"{scope['visits']:,} visits")
    parts += scope["differs"]
    parts += scope["remarks"]
    shown = [part for part in parts if part and not part.startswith(LOOKED)]
    texts = list(dict.fromkeys(shown))
    others = [f"{count} {verdict}" for verdict, count in row["other_runs"].items()]
    if others:
        texts.append(f"other runs: {', '.join(others)}")
    return "; ".join(texts)


def read_statements(path: Path) -> list[Any]:
    """Return the rows of a file."""
    return list(json.loads(path.read_text(encoding="utf-8"))["statements"])


def statements_json(rows: Sequence[Statement], uses: Sequence[Mapping[str, Any]]) -> str:
    """Return the file of the rows, a line each so that versions of it can be compared."""
    lists = [f'"uses": [\n{_json_lines(uses)}\n]', f'"statements": [\n{_json_lines(rows)}\n]']
    return "{\n" + ",\n".join(lists) + "\n}\n"


def _json_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
