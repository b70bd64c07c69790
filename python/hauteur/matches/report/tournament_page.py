"""report.html of a tournament or a rating list: ratings with intervals, crosstable, games."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.matches.report.board_games import SAMPLE, board_html, sample_of
from hauteur.matches.report.match_page import workers_parts
from hauteur.matches.report.stored_match import StoredMatch, StoredTournament
from hauteur.matches.results import MatchGame
from hauteur.plots import Figure, Series
from hauteur.plots.page import facts_html, figures_html, page, provenance_html, settings_html, table_html
from hauteur.system.files import read_json

Line = Mapping[str, Any]

Linked = Callable[[str, str], str]
"""Makes text that leads to the match in a folder below: (its name, the text) -> text or Markup."""


def not_linked(folder: str, text: str) -> str:  # noqa: ARG001
    """Return the text as it is: a page that stands alone has no page of the match beside it."""
    return text


def tournament_page(path: Path, game: _core.Game | None = None) -> str:
    """Return the page of the tournament (of this game, default: as its settings say) in a folder.

    Raise ValueError where no game of it is finished yet.
    """
    tournament = StoredTournament(path, game)
    if not tournament.games:
        raise ValueError(f"{path}: no game of the tournament is finished yet, so there is nothing to report")
    parts = [
        f"<h1>{escape(tournament.title)}</h1>",
        f"<p>{escape(tournament.state_text)}</p>",
        *tournament_parts(tournament),
        *workers_parts(tournament.result),
        "<h2>Games</h2>",
        _games(tournament.matches),
        "<h2>Settings</h2>",
        settings_html(tournament.settings),
        provenance_html(tournament.result.get("written") or tournament.begun),
    ]
    return page(tournament.title, parts)


def tournament_parts(tournament: StoredTournament, linked: Linked = not_linked) -> list[str]:
    """Return rating list, crosstable and pairings until now."""
    standing = tournament.standing()
    names = [line["name"] for line in standing["ratings"]]
    return [
        *ratings_parts(standing),
        "<h2>Pairings</h2>",
        crosstable_html(names, standing["pairings"]),
        pairings_table(standing["pairings"], linked),
    ]


def ratings_page(path: Path) -> str:
    """Return the page of the rating list in a folder."""
    stored, result = read_json(path / "rate.json"), read_json(path / "result.json")
    parts = [
        "<h1>Rating list</h1>",
        *ratings_parts(result),
        "<h2>Sources</h2>",
        settings_html(stored.get("settings") or {}),
        provenance_html(result.get("written") or {}),
    ]
    return page("Rating list", parts)


def ratings_parts(result: Line) -> list[str]:
    """Return facts, figure and table of a rating list, as `ratings_json` gives it."""
    lines: Sequence[Line] = result["ratings"]
    facts = [(f"{len(lines):,}", "players"), (f"{sum(line['games'] for line in lines) // 2:,}", "games")]
    if result.get("first_move_interval_95"):
        low, high = result["first_move_interval_95"]
        facts.append((f"{result['first_move_elo']:+.0f}", f"Elo of the first move, {low:+.0f} to {high:+.0f}"))
    groups = result.get("groups", 1)
    apart = (
        f"{groups} groups of players without a game between them: compare inside a group only." if groups > 1 else ""
    )
    return [facts_html(facts), f"<p>{apart}</p>", figures_html([rating_figure(lines)]), rating_table_html(lines)]


def rating_figure(lines: Sequence[Line]) -> Figure:
    """Return the players' Elo with 95 % intervals."""
    places = [float(number) for number in range(1, len(lines) + 1)]
    ends = [line["elo_interval_95"] for line in lines]
    series = Series(
        "Elo",
        places,
        [line["elo"] for line in lines],
        "blue",
        low=[low for low, _ in ends],
        high=[high for _, high in ends],
        joined=False,
    )
    text = "Bradley-Terry with Davidson's draws, 95 % intervals; 0 is the mean of a group, or as the anchors say."
    names = [line["name"] for line in lines]
    return Figure("ratings", "Ratings", text, "Elo", "player", lines=(series,), x_names=names)


def rating_table_html(lines: Sequence[Line]) -> str:
    """Return the list as a table."""
    rows = []
    for number, line in enumerate(lines, 1):
        low, high = line["elo_interval_95"]
        interval = "anchor" if line.get("anchor") else f"{low:+.0f} to {high:+.0f}"
        counts = [f"{line[name]:,}" for name in ("games", "wins", "draws", "losses")]
        rows.append([f"{number}. {line['name']}", f"{line['elo']:+.0f}", interval, *counts, f"{line['score']:.1%}"])
    return table_html(("player", "Elo", "95 %", "games", "won", "drawn", "lost", "score"), rows)


def crosstable_html(names: Sequence[str], pairings: Sequence[Line]) -> str:
    """Return points of each player against each other."""
    points: dict[tuple[str, str], tuple[float, int]] = {}
    for pairing in pairings:
        results = pairing["results"]
        won, games = results["wins"] + results["draws"] / 2, results["games"]
        points[pairing["a"], pairing["b"]] = won, games
        points[pairing["b"], pairing["a"]] = games - won, games
    rows = [
        [f"{number}. {name}", *(_points(points.get((name, other))) for other in names)]
        for number, name in enumerate(names, 1)
    ]
    return table_html(("", *(str(number) for number in range(1, len(names) + 1))), rows)


def _points(found: tuple[float, int] | None) -> str:
    return "" if found is None or not found[1] else f"{found[0]:g}/{found[1]}"


def pairings_table(pairings: Sequence[Line], linked: Linked = not_linked) -> str:
    """Return the result of each pairing with its Elo difference."""
    rows = []
    for pairing in pairings:
        results = pairing["results"]
        if results["games"]:
            ends = (results["elo"], *results["elo_interval_95"])
            elo, low, high = ("" if end is None else f"{end:+.0f}" for end in ends)
            counts = [f"{results[name]:,}" for name in ("games", "wins", "draws", "losses")]
            score = [f"{results['score']:.1%}", elo, f"{low} to {high}"]
            rows.append([linked(pairing["folder"], f"{pairing['a']} - {pairing['b']}"), *counts, *score])
    names = ("pairing", "games", "won", "drawn", "lost", "score", "Elo", "95 %")
    return f"<details><summary>All pairings</summary>{table_html(names, rows)}</details>"


def whole_sample(matches: Sequence[StoredMatch]) -> list[tuple[tuple[str, str], MatchGame]]:
    """Return about SAMPLE games of these matches, with their players."""
    share = max(2, SAMPLE // max(1, len(matches)) // 2 * 2)
    return [(match.names, match.whole(game.index)) for match in matches for game in sample_of(match.games, share)]


def _games(matches: Sequence[StoredMatch]) -> str:
    """Return a sample of the games of all pairings on a board."""
    matches = [match for match in matches if match.games]
    sample = whole_sample(matches)[:SAMPLE]
    where = ", ".join(match.folder.path.name for match in matches[:40])
    said = f"<p>Pages of single pairings: hauteur report FOLDER with {escape(where)}.</p>"
    return board_html(matches[0].game, sample) + said
