"""What holds, on one screen: a row a claim, a column a game, and how many are decided in the source's own game."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

SUMMARY, SUMMARY_END = "<!-- summary -->", "<!-- end summary -->"
"""The summary stands between these lines of a page."""

OWN_LABORATORY = "this laboratory"
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
"""The game of each source, by subject; those on learning are about Go and have no column."""

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

WORDS = {"holds": "**yes**", "does not hold": "**no**", "no such effect": "*none*", "open": "open"}
"""Verdicts in cells."""

Row = Mapping[str, str]


def with_summary(text: str, rows: Sequence[Row], place: str) -> str:
    """Return a page with the summary between its marks; ValueError, naming the place, for a page without them."""
    return between(text, SUMMARY, SUMMARY_END, summary(rows), place)


def between(text: str, begin: str, end: str, content: str, place: str) -> str:
    """Return a page with this content between two lines; ValueError, naming the place, for a page that lacks one."""
    before, begins, rest = text.partition(begin)
    _, ends, after = rest.partition(end)
    if not begins or not ends:
        raise ValueError(f"{place}: the table stands between the lines {begin} and {end}, which this page lacks")
    return f"{before}{begin}\n{content}\n{end}{after}"


def summary(rows: Sequence[Row]) -> str:
    """Return the sentence with the counts and the table, of lines of the table of claims."""
    by_claim: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["subject"] in (*OWN_GAMES, "Learning") and not row["claim"].startswith(OWN_LABORATORY):
            by_claim.setdefault((row["subject"], row["claim"]), []).append(row)
    places = Counter(_place(subject, lines) for (subject, _), lines in by_claim.items())
    counts = ", ".join(f"{places[name]} {name}" for name in ("in the source's own game", "in another game", "open"))
    measured = {key: lines for key, lines in by_claim.items() if any(row["measured"] for row in lines)}
    decided = {key: lines for key, lines in measured.items() if _place(key[0], lines) != "open"}
    header = ["| claim | the source |", *(f" {title} |" for title in GAMES.values())]
    lines = ["".join(header), "|---|---|" + "---|" * len(GAMES)]
    lines += [_line(claim, found) for (subject, claim), found in decided.items() if subject in OWN_GAMES]
    return (
        f"{sum(places.values())} statements of the papers. Decided: {counts}.\n\n"
        + "\n".join(lines)
        + f"\n\nOpen after their games: {len(measured) - len(decided)} more; not run: {len(by_claim) - len(measured)}. "
        "Their figures, or what each would cost, and those on learning are in [claims](claims.md)."
    )


def _place(subject: str, lines: Sequence[Row]) -> str:
    """Where a claim is decided."""
    games = {game_of(row) for row in lines if row["measured"] and verdict_of(row) != "open"}
    return "open" if not games else "in the source's own game" if OWN_GAMES.get(subject) in games else "in another game"


def game_of(row: Row) -> str:
    """Name of the game of a line, from its command: the one that it names, or the usual one."""
    words = shlex.split(row["command"].strip("`").partition("`")[0])
    if "--game" in words:
        return re.split(r"\W", words[words.index("--game") + 1])[0]
    experiment = words[2] if len(words) > 2 else ""
    return USUAL_GAMES.get(experiment, OWN_GAMES.get(row["subject"], "chess"))


def verdict_of(row: Row) -> str:
    """The verdict of a line, without its scope."""
    return row["verdict"].split("**")[1]


def _line(claim: str, rows: Sequence[Row]) -> str:
    """A row of the table: the statement, the source's figure, a cell a game."""
    cells = dict.fromkeys(GAMES, "")
    for game in GAMES:
        found = [row for row in rows if row["measured"] and game_of(row) == game]
        cells[game] = _cell(found) if found else "-"
    figure = rows[0]["figure"]
    return f"| {_escaped(claim)} | {_escaped(figure)} | {' | '.join(cells.values())} |"


def _cell(rows: Sequence[Row]) -> str:
    """The first decided measurement of a claim in a game; how many others there are of each verdict."""
    first = next((row for row in rows if verdict_of(row) != "open"), rows[0])
    others = Counter(WORDS[verdict_of(row)].strip("*") for row in rows if row is not first)
    more = f" (also {', '.join(f'{count} {word}' for word, count in others.items())})" if others else ""
    value = re.search(r"\S+ \[[^\]]*\]", first["measured"])
    return _escaped(f"{WORDS[verdict_of(first)]} {value.group() if value else ''}".strip() + more)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
