"""Which run decides a claim in a game: one, by a rule that does not look at its result.

Of the lines of a claim in a game that one decides whose run is nearest to the source: with games enough to decide, with
the fewest things in which it differs from the source (the scope of its verdict), with visits nearest to the source's,
with results that are kept, with the most units, and of equals the last, which has the larger budget or the stronger
net. Lines of other runs that say the contrary do not vanish: the
claim is then *mixed*. Table, counts and figure all take their lines from here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hauteur_experiments.experiment import COMPUTED, SEPARATOR

Row = Mapping[str, str]
"""A line of the table of claims."""

OWN_LABORATORY = "this laboratory"
RULES_SUBJECT = "Every rule in four games"
"""The subject of the claims that are a table of their own, a cell a claim."""

GAMES = {
    "chess": "chess",
    "minichess": "minichess",
    "connect4": "Connect Four",
    "nogo": "NoGo",
    "tictactoe": "tic-tac-toe",
}
"""Columns by the names of games."""

OWN_GAMES = {
    "Search-contempt": "chess",
    "Two nets in one tree": "nogo",
    "The MCTS experiments": "chess",
    "The AlphaZero implementation report": "tictactoe",
}
"""The game of each of the four sources, by subject; those on learning are about Go and have no column."""

USUAL_GAMES = {
    "mpv-regime": "connect4",
    "contempt-training": "connect4",
    "contempt-schedule": "minichess",
    "learning-methods": "connect4",
    "learning-again": "connect4",
    "learning-targets": "connect4",
    "learning-search": "connect4",
}
"""Games of experiments that do not play their source's."""

ENOUGH = {"The MCTS experiments": 200}
"""Games below which a match of a subject decides nothing."""

HARDLY_ACTS = "hardly acts here"
"""Begins the part of a scope that says in how many games the setting made no difference."""

BUNDLE = "PUCT's side has noise and other constants too"
"""In the scope of a match of the source's two players, which differ in more than what the statement is about."""

REMARKS = (*COMPUTED, HARDLY_ACTS, BUNDLE)
"""Parts of a scope that do not differ from the source."""

VISITS = re.compile(r"^([\d,]+) visits, not ([\d,]+)$")
"""A part of a scope with the visits of a run and the source's."""

OF_VISITS = re.compile(r"visits|nodes|budget")
"""In a part of a scope that says that the visits are not the source's."""

UNSTATED_VISITS = "visits not stated by the source"
"""A part of a scope: there are no visits that a run could have had."""

IN_WORDS = tuple(
    f"Videodr0me, MCTS experiments: {statement}"
    for statement in (
        "easy early visits: self-play might suffer (untested there)",
        "two-fold draw scoring: a slight gain",
        "certainty propagation finds shallow mates faster",
        "policy compression does well at tactics",
        "easy early visits might help slightly at tactics (untested there)",
        "... and might work well with policy compression (untested there)",
    )
)
"""Statements in words, of which the source does not say the visits either."""

DENIED = ("does not hold", "no such effect")


class Decided(NamedTuple):
    """A claim in a game. row: the line that decides; verdict: its, or mixed; others: the other lines with results."""

    row: Row
    verdict: str
    others: tuple[Row, ...]


def verdict_of(row: Row) -> str:
    """The verdict of a line, without its scope."""
    return row["verdict"].split("**")[1]


def scope_of(row: Row) -> list[str]:
    """The things in which a line differs from the source, and the remarks on it."""
    found = re.match(r"\*\*[^*]+\*\* \((.*?)\)(?::|$| )", row["verdict"])
    return found[1].split(SEPARATOR) if found else []


def differences_of(row: Row) -> list[str]:
    """The things in which a line differs from the source."""
    return [part for part in scope_of(row) if not part.startswith(REMARKS)]


def visits_share(row: Row) -> float:
    """Return the visits of a line as a share of its source's; 1 where its scope does not say both."""
    for part in differences_of(row):
        if found := VISITS.match(part):
            here, source = (int(number.replace(",", "")) for number in found.groups())
            return min(here, source) / max(here, source)
    return 1.0


def units_of(row: Row) -> int:
    """Number of games, openings or seeds of a line; 0 without one."""
    number = re.match(r"[\d,]+", row["games"])
    return int(number.group().replace(",", "")) if number else 0


def game_of(row: Row) -> str:
    """Name of the game of a line, from its command: the one that it names, or the usual one."""
    words = shlex.split(row["command"].strip("`").partition("`")[0])
    if "--game" in words:
        return re.split(r"\W", words[words.index("--game") + 1])[0]
    experiment = words[2] if len(words) > 2 else ""
    return USUAL_GAMES.get(experiment, OWN_GAMES.get(row["subject"], "chess"))


def decided(rows: Sequence[Row]) -> Decided:
    """Return what the lines of a claim in a game decide. ValueError without lines."""
    if not rows:
        raise ValueError("no line decides a claim that has none")

    def nearness(place: int) -> tuple[bool, bool, int, float, bool, int, int]:
        row = rows[place]
        units = units_of(row)
        enough = units >= ENOUGH.get(row["subject"], 0)
        differences = -len(differences_of(row))
        return bool(row["decides"]), enough, differences, visits_share(row), bool(row["run"]), units, place

    place = max(range(len(rows)), key=nearness)
    row = rows[place]
    others = (*rows[:place], *rows[place + 1 :])
    verdicts = {verdict_of(one) for one in rows}
    mixed = "holds" in verdicts and not verdicts.isdisjoint(DENIED)
    return Decided(row, "mixed" if mixed else verdict_of(row), others)


def by_claim(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """The lines by subject and claim, of the sources alone: without statements of this laboratory."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["subject"] in (*OWN_GAMES, "Learning") and not row["claim"].startswith(OWN_LABORATORY):
            found.setdefault((row["subject"], row["claim"]), []).append(row)
    return found


def by_game(rows: Sequence[Row]) -> dict[str, Decided]:
    """What the lines of a claim decide, by game, in the order of GAMES."""
    games: dict[str, list[Row]] = {game: [] for game in GAMES}
    for row in rows:
        if row["measured"]:
            games.setdefault(game_of(row), []).append(row)
    return {game: decided(found) for game, found in games.items() if found}


def in_own_game(subject: str, rows: Sequence[Row]) -> Decided | None:
    """What the lines of a claim decide in its source's own game; None where it was not played."""
    return by_game(rows).get(OWN_GAMES.get(subject, ""))


def without_source_visits(row: Row) -> bool:
    """Return whether the source of a line does not state its visits, so that no run can be at them."""
    return row["claim"] in IN_WORDS or UNSTATED_VISITS in differences_of(row)


def at_the_sources_visits(row: Row) -> bool:
    """Return whether a source states visits, nodes or a budget, and the scope of the line has none other."""
    if without_source_visits(row):
        return False
    return not any(OF_VISITS.search(part) for part in differences_of(row))
