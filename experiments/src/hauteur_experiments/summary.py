"""How many statements of the four sources are decided, and the paper's table: a row a claim, a column a game."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hauteur_experiments.deciding import (
    GAMES,
    HARDLY_ACTS,
    OWN_GAMES,
    Decided,
    Row,
    at_the_sources_visits,
    by_claim,
    by_game,
    in_own_game,
    scope_of,
    verdict_of,
    without_source_visits,
)

WORDS = {
    "holds": "**yes**",
    "does not hold": "**no**",
    "no such effect": "*none*",
    "mixed": "*mixed*",
    "open": "open",
    HARDLY_ACTS: "hardly acts",
}
"""Verdicts in cells."""

NONE = "-"


@dataclass(frozen=True)
class Counts:
    """How many statements of the four sources there are, and how they are decided.

    The statements are the claims of `OWN_GAMES` without those of this laboratory; each is counted once, in its source's
    own game, by the run that decides it.
    """

    statements: int
    """All of the four sources."""
    holds: int
    """Those that hold, in sign or in size."""
    denied: int
    """Those that do not hold."""
    none: int
    """Those without an effect that matters."""
    mixed: int
    """Those of which runs say the contrary."""
    at_visits: int
    """Those decided (held, denied or without an effect) at the source's visits."""
    unstated_visits: int
    """Those decided whose source does not state its visits."""
    elsewhere: int
    """Those that are decided in another game alone."""
    open: int
    """Those that are open after their games."""
    not_run: int
    """Those without a game."""

    @property
    def decided(self) -> int:
        """Those that hold, do not hold, or have no effect that matters."""
        return self.holds + self.denied + self.none

    @property
    def text(self) -> str:
        """The counts in two sentences."""
        return (
            f"The four sources make {self.statements} statements. In the source's own game {self.holds} hold, "
            f"{self.denied} do not, {self.none} show no effect that matters and of {self.mixed} the runs disagree; "
            f"{self.at_visits} of those {self.decided} that are decided are so at the source's visits, and of "
            f"{self.unstated_visits} the source states no visits. "
            f"Decided in another game alone: {self.elsewhere}; open after their games: {self.open}; "
            f"not run: {self.not_run}."
        )


def counts(rows: Sequence[Row]) -> Counts:
    """Count the statements of the four sources in the lines of the table of claims."""
    places: Counter[str] = Counter()
    at_visits = 0
    unstated_visits = 0
    claims = {key: lines for key, lines in by_claim(rows).items() if key[0] in OWN_GAMES}
    for (subject, _), lines in claims.items():
        own = in_own_game(subject, lines)
        place = _place(own, lines)
        places[place] += 1
        if own is not None and place in ("holds", "does not hold", "no such effect"):
            at_visits += at_the_sources_visits(own.row)
            unstated_visits += without_source_visits(own.row)
    return Counts(
        statements=len(claims),
        holds=places["holds"],
        denied=places["does not hold"],
        none=places["no such effect"],
        mixed=places["mixed"],
        at_visits=at_visits,
        unstated_visits=unstated_visits,
        elsewhere=places["elsewhere"],
        open=places["open"],
        not_run=places["not run"],
    )


def _place(own: Decided | None, lines: Sequence[Row]) -> str:
    """How a claim is counted."""
    if not any(row["measured"] for row in lines):
        return "not run"
    if own is not None and own.verdict != "open":
        return own.verdict
    others = [one.verdict for one in by_game(lines).values() if one is not own]
    if any(verdict not in ("open", "mixed") for verdict in others):
        return "elsewhere"
    return "open"


def between(text: str, begin: str, end: str, content: str, place: str) -> str:
    """Return a page with this content between two lines; ValueError, naming the place, for a page that lacks one."""
    before, begins, rest = text.partition(begin)
    _, ends, after = rest.partition(end)
    if not begins or not ends:
        raise ValueError(f"{place}: the table stands between the lines {begin} and {end}, which this page lacks")
    return f"{before}{begin}\n{content}\n{end}{after}"


def summary_table(rows: Sequence[Row]) -> str:
    """The table of the statements of the four sources of which a game decides something."""
    header = ["| claim | tests | the source | times the source's |", *(f" {title} |" for title in GAMES.values())]
    lines = ["".join(header), "|---|---|---|---|" + "---|" * len(GAMES)]
    for (subject, claim), found in by_claim(rows).items():
        cells = by_game(found)
        if subject in OWN_GAMES and any(cell.verdict != "open" or _hardly(cell.row) for cell in cells.values()):
            lines.append(_line(subject, claim, cells))
    return "\n".join(lines)


def _hardly(row: Row) -> bool:
    """Return whether the setting of a line hardly acts there."""
    return any(part.startswith(HARDLY_ACTS) for part in scope_of(row))


def _line(subject: str, claim: str, cells: dict[str, Decided]) -> str:
    """A row of the table: the statement, what it tests, the source's figure, a cell a game."""
    own = cells.get(OWN_GAMES[subject])
    some = own or next(iter(cells.values()))
    times = NONE
    if own is not None:
        times = own.row["times"] or NONE
    texts = [claim, some.row["test"], some.row["figure"], times]
    for game in GAMES:
        texts.append(cell_text(cells[game]) if game in cells else NONE)
    return "| " + " | ".join(escaped(text) for text in texts) + " |"


def cell_text(cell: Decided) -> str:
    """A cell of the table: the verdict, what the deciding run measured, how many other runs have each verdict."""
    verdict = cell.verdict
    if verdict == "open" and _hardly(cell.row):
        verdict = HARDLY_ACTS
    text = f"{WORDS[verdict]} {number_of(cell.row)}".rstrip()
    others = Counter(WORDS[verdict_of(row)].strip("*") for row in cell.others)
    if others:
        counts = ", ".join(f"{count} {word}" for word, count in others.items())
        text += f" (also {counts})"
    return text


def number_of(row: Row) -> str:
    """The number that decides a line, with its interval; empty where it has none."""
    values = re.findall(r"\S+ \[[^\]]*\]", row["decides"])
    return values[-1] if values else ""


def escaped(cell: str) -> str:
    """A cell as Markdown."""
    return cell.replace("|", "\\|").replace("\n", " ")
