"""The pages with a board and a session: Play, Analyse, Explain, Review, Puzzles; and the page Keys."""

from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.games.registry import names
from hauteur.networks import describe
from hauteur.networks.names import data_path, downloaded_nets, shipped_names
from hauteur.players.ladder import ANCHOR, ladder
from hauteur.studies.explain.question import BATCH_SIZE, DEFAULT_VISITS, MOST_BATCH, MOST_VISITS, PRESETS
from hauteur.studies.puzzles.problems import PuzzleFiles, shipped_sets
from hauteur.web.pages import BOARD_KEYS, Key, Page
from hauteur.web.players import net_names
from hauteur.web.render import page
from hauteur.web.search_form import PRESETS as SEARCH_PRESETS
from hauteur.web.search_form import search_form
from hauteur.web.sessions.puzzles import SUFFIXES
from hauteur.web.sessions.review import MOST_TEXT

PLAY_KEYS = (
    Key("ArrowLeft", "previous", "a move back, to look at it"),
    Key("ArrowRight", "next", "a move on"),
    Key("Home", "first", "the start of the game"),
    Key("End", "last", "the newest position"),
    *BOARD_KEYS,
    Key("t", "type", "a move as text, such as e4 or Nf3"),
    Key("u", "back", "take back"),
    Key("h", "hint", "hint"),
    Key("f", "flip", "the board from the other side"),
    Key("p", "pause", "pause, go on"),
    Key("m", "now", "the engine moves at once"),
    Key("n", "choose", "new game"),
)
PLAY = Page("/play", "Play", "Play any game against a net, another player, a program or a person.", PLAY_KEYS)

ODDS = Page("/odds", "Odds", "Play at odds: the stronger side begins without some of its pieces.", PLAY_KEYS)

ANALYSE_KEYS = (
    *BOARD_KEYS,
    Key("s", "start", "search, go on, stop"),
    Key("ArrowLeft u", "back", "a move back"),
    Key("ArrowRight r", "forward", "a move on"),
    Key("Home", "first", "the start of the game"),
    Key("End", "last", "the end of the line"),
    Key("f", "flip", "the board from the other side"),
    Key("m", "marks", "the next kind of marks"),
    Key("b", "board", "to the board"),
    Key("t", "tree", "to the tree"),
    Key("ArrowUp ArrowDown Home End PageUp PageDown", "", "in the tree: from node to node"),
    Key("ArrowRight ArrowLeft", "", "in the tree: open and close a node"),
    Key("Enter", "", "in the tree: the position of the node; Escape: that of the root"),
)
ANALYSE = Page("/analyse", "Analyse", "Search a position, and look into the search while it runs.", ANALYSE_KEYS)

EXPLAIN_KEYS = (
    *BOARD_KEYS,
    Key("s", "search", "search both, stop"),
    Key("ArrowLeft u", "back", "a move back"),
    Key("ArrowRight", "forward", "a move on"),
    Key("Home", "first", "the start"),
    Key("End", "last", "the last move"),
    Key("f", "flip", "the board from the other side"),
)
_COMPARED = "Two settings, or two nets, on one position: the differences, and the effect of each rule."
EXPLAIN = Page("/explain", "Explain", _COMPARED, EXPLAIN_KEYS)

REVIEW_KEYS = (
    Key("ArrowLeft", "back", "a move back"),
    Key("ArrowRight", "on", "a move on"),
    Key("Home", "first", "first position"),
    Key("End", "last", "last position"),
    Key("m", "mark", "the next marked move"),
    Key("f", "flip", "the board from the other side"),
)
REVIEW = Page("/review", "Review", "Find out which moves of a game threw something away.", REVIEW_KEYS)

PUZZLES_KEYS = (
    *BOARD_KEYS,
    Key("ArrowLeft", "earlier", "a move back, to look at it"),
    Key("ArrowRight", "later", "a move on"),
    Key("Home", "earliest", "the position that the puzzle begins with"),
    Key("End", "latest", "the newest position"),
    Key("n", "next", "next puzzle"),
    Key("p", "back", "the puzzle before"),
    Key("h", "hint", "hint"),
    Key("s", "solution", "solution"),
    Key("f", "flip", "the board from the other side"),
)
PUZZLES = Page("/puzzles", "Puzzles", "Solve positions with one good move.", PUZZLES_KEYS)


@cache
def offered_games() -> list[str]:
    """Return the games that are offered: all names, and the sizes of boards for which a net ships."""
    with_nets = [describe(data_path(f"{net}.safetensors")).game for net in shipped_names()]
    return sorted({*names(), *with_nets})


async def show_play(request: Request) -> Response:
    """Return the page; `?game=` in its address begins a game. Odds is the same page with a handicap."""
    programs = request.app.state.lab.settings.allow_programs
    return page(request, "play.html", programs=programs, **play_facts(at_odds=request.url.path == ODDS.path))


def play_facts(*, at_odds: bool) -> dict[str, Any]:
    """Return the facts of the pages Play and Odds."""
    return {"games": offered_games(), "odds": at_odds}


async def show_analyse(request: Request) -> Response:
    """Return the page; its position is in the address: game, fen, moves, net."""
    return page(request, "analyse.html", opponents=_opponents(), **analyse_facts())


def analyse_facts() -> dict[str, Any]:
    """Return the facts of the page Analyse."""
    return {"games": offered_games(), "settings": search_form(), "presets": SEARCH_PRESETS}


def _opponents() -> list[str]:
    """Return the opponents by rating whose nets are here, the one of 1500 first."""
    nets = downloaded_nets()
    found = [rung for rung in ladder() if rung.net in nets]
    return [rung.name for rung in sorted(found, key=lambda rung: rung.rating != ANCHOR)]


async def show_explain(request: Request) -> Response:
    """Return the page. Its state is in the address: game, fen, moves, a.KEY, b.KEY, visits, seed, batch_size."""
    return page(request, "explain.html", most_visits=MOST_VISITS, **explain_facts())


def explain_facts() -> dict[str, Any]:
    """Return the facts of the page Explain."""
    return {
        "games": names(),
        "form": {"groups": search_form(), "presets": {name: [*map(_pairs, sides)] for name, sides in PRESETS.items()}},
        "visits": DEFAULT_VISITS,
        "batch_size": BATCH_SIZE,
        "most_batch": MOST_BATCH,
    }


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for word in text.split():
        key, _, value = word.partition("=")
        found[key] = value
    return found


def show_review(request: Request) -> Response:
    """Return the page; the game comes from the reader."""
    nets = net_names([str(root) for root in request.app.state.lab.settings.roots])
    return page(request, "review.html", games=names(), nets=nets, most=MOST_TEXT, opponents=_opponents())


def show_puzzles(request: Request) -> Response:
    """Return the page; set and number of the puzzle are in the address."""
    shipped = shipped_sets()
    roots = request.app.state.lab.settings.roots
    files = PuzzleFiles([Path(root) for root in roots])
    files.look()
    return page(
        request,
        "puzzles.html",
        shipped=list(shipped),
        files=[name for name in files.sets if name not in shipped],
        suffixes=",".join(SUFFIXES),
        most=MOST_TEXT,
    )


async def show_keys(request: Request) -> Response:
    """Return the page with the keys of every page."""
    return page(request, "keys.html")


PAGES = (PLAY, ODDS, ANALYSE, EXPLAIN, REVIEW, PUZZLES)
ROUTES = [
    Route("/play", show_play),
    Route("/odds", show_play),
    Route("/analyse", show_analyse),
    Route("/explain", show_explain),
    Route("/review", show_review),
    Route("/puzzles", show_puzzles),
    Route("/keys", show_keys),
]
