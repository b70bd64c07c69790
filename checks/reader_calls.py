"""Calls that read one file or message each, for fuzz_readers.py: they return, or raise ValueError or OSError."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import hauteur as ht
from hauteur._core import Game, game_names
from hauteur.system.errors import explain

if TYPE_CHECKING:
    from starlette.applications import Starlette

Read = Callable[[Path], object]

MOST_CHARACTERS = 2_000
"""Of the line of an error."""


def one_line(attempt: Callable[[], object]) -> bool:
    """Call; return whether it was accepted. AssertionError where an error is no line of ValueError or OSError."""
    try:
        attempt()
    except (ValueError, OSError) as error:
        wrong = wrong_with(error)
    else:
        return True
    if wrong:
        raise AssertionError(wrong)
    return False


def wrong_with(error: Exception) -> str:
    """Return what is wrong with the message of an error; empty: nothing."""
    line = explain(error) or ""
    if not line:
        return f"no message: {error!r:.300}"
    if not line.isprintable():
        return f"characters that a terminal obeys: {line[:300]!r}"
    return f"a line of {len(line):,} characters: {line[:300]!r}" if len(line) > MOST_CHARACTERS else ""


def read_net(path: Path) -> None:
    """Open a net, read its numbers and compute one row."""
    net = ht.load_network(path)
    assert net.tensors
    game = ht.load_game(net.game or "chess")
    with ht.evaluator(game, path, threads=1, batch_size=4) as evaluator:
        evaluator(np.zeros((1, *game.feature_shape), np.float32))


def read_tree(path: Path) -> None:
    """Open a tree and look at its nodes."""
    from hauteur.mcts.search_tree import SearchTree, first_nodes

    tree = SearchTree.open(path)
    assert first_nodes(tree)
    assert [list(node.children) for node in tree.most_visited(30)]


def read_game_spec(text: str) -> None:
    """Make a game of its spec and use its start."""
    state = ht.load_game(text).new_initial_state()
    assert all(state.action_to_text(action) for action in state.legal_actions().tolist())
    assert (state.features().size, state.text(), state.svg(), hash(state)) is not None
    assert state == eval(repr(state), {"ht": ht}), "its repr does not build it again"


def read_moves(text: str) -> None:
    """Read words as moves, in every game."""
    for name in game_names():
        state = Game(name).new_initial_state()
        for word in text.split()[:40]:
            one_line(lambda word=word, state=state: state.apply_text(word))  # type: ignore[misc]
            if state.is_terminal:
                break


def read_games(path: Path) -> None:
    """Read a file as games to learn from, as openings, as pasted text, and to review."""
    from hauteur.games.game_texts import games_of_file, read_game
    from hauteur.games.game_tree import read_game_tree
    from hauteur.games.recorded import read_games as read_all
    from hauteur.matches.openings import read_openings
    from hauteur.studies.review.games import games_of

    text = path.read_bytes().decode("utf-8", "replace")
    one_line(lambda: read_game(text, "chess"))
    one_line(lambda: read_game_tree(text))
    one_line(lambda: [str(game.skipped) for game in read_all(path)])
    one_line(lambda: games_of(path, number=None, on_bad=lambda _: None))
    for name in ("chess", "go(size=5)", "nogo", "gomoku"):
        game = Game(name)
        if path.suffix == ".sgf" or (path.suffix == ".pgn" and name == "chess"):
            one_line(lambda game=game: list(games_of_file(path, game)))  # type: ignore[misc]
        one_line(lambda game=game: read_openings(path, game))  # type: ignore[misc]


def read_puzzles(path: Path) -> None:
    """Read puzzles and ask for their facts."""
    from hauteur.studies.puzzles.problems import read_problems

    for problem in read_problems(path):
        assert problem.digest


def read_shard(path: Path) -> None:
    """Read a shard to learn from, and to show."""
    from hauteur.learning.recorded_files import read_stored
    from hauteur.learning.shards import read_shard as read

    one_line(lambda: read(path, "tictactoe"))
    for stored in read_stored(path):
        assert str(stored)


def read_run(path: Path) -> None:
    """Read a run as its page and its report do."""
    from hauteur.learning.report.page import live_report, progress_html, run_numbers
    from hauteur.learning.run_folder import RunFolder
    from hauteur.system.folders import read_facts

    folder = RunFolder(path)
    read_facts(folder, folder.stamps())
    one_line(lambda: live_report(folder, "generation"))
    one_line(lambda: run_numbers(folder))
    one_line(lambda: progress_html(folder, "running"))
    one_line(lambda: (folder.stored_recipe(), folder.read_meta(), folder.read_start(), folder.has_work))
    games = f"games/{path.name}?generation=1&game=0"
    see(path, "/runs", *(f"/runs/{what}" for what in ("list", games, *(f"{one}/{path.name}" for one in RUN_PAGES))))


def read_match(path: Path) -> None:
    """Read a match as its page does."""
    from hauteur.matches.folder import MatchFolder
    from hauteur.matches.report.stored import read_stored, summary_line
    from hauteur.system.folders import read_facts

    folder = MatchFolder(path)
    read_facts(folder, folder.stamps())
    one_line(lambda: read_stored(folder))
    one_line(lambda: summary_line(folder))
    one_line(lambda: (folder.work(), list(folder.games())))
    see(path, MATCHES, f"{MATCHES}/list", *(f"{MATCHES}/{what}/{path.name}" for what in MATCH_PAGES))


MATCHES = "/matches"
RUN_PAGES = ("run", "progress", "figures")
MATCH_PAGES = ("of", "standing", "games", "game")


@cache
def lab(root: Path) -> Starlette:
    """Return the browser lab of a folder."""
    from hauteur.web.app import create_app
    from hauteur.web.settings import WebSettings

    return create_app(WebSettings(roots=(root,)))


def see(root: Path, *addresses: str) -> None:
    """Open pages of the lab; a fault of the program is raised here."""

    async def get(address: str) -> None:
        path, _, query = address.partition("?")
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": ""}
        scope |= {"query_string": query.encode(), "headers": [(b"host", b"x")], "scheme": "http", "server": ("x", 80)}
        await lab(root)(scope, receive, send)
        assert sent[0]["status"] < 500, f"{address}: status {sent[0]['status']}"

    async def all_of_them() -> None:
        for address in addresses:
            await asyncio.wait_for(get(address), 20)

    asyncio.run(all_of_them())


def in_folder(read: Read, name: str) -> Read:
    """Return a reader of the folder in which the changed file takes the place of the one of this name.

    The folder is the one that the changed file lies in, with the others beside it.
    """

    def placed(path: Path) -> object:
        target = path.parent / read.__name__ / name
        target.write_bytes(path.read_bytes())
        return read(target.parent)

    return placed


def run_uci(text: str) -> None:
    """Let a UCI engine obey; an error of its own would be a line too, which says so."""
    from hauteur.engine.streams import Output
    from hauteur.engine.uci.engine import UciEngine

    out = io.StringIO()
    words = ("setoption name WeightsFile value uniform", *text.split("\n")[:40], "stop", "quit")
    UciEngine(Output(out), seed=1).run([line.encode("utf-8", "replace") + b"\n" for line in words])
    assert "internal error" not in out.getvalue(), out.getvalue()[-400:]


def run_gtp(text: str) -> None:
    """Let a GTP engine obey."""
    from hauteur.engine.gtp.engine import GtpEngine
    from hauteur.engine.gtp.session import GtpSession, GtpSettings
    from hauteur.engine.streams import Output
    from hauteur.players.settings import parse_player

    out = io.StringIO()
    session = GtpSession(ht.load_game("nogo(size=5)"), parse_player("net=uniform visits=2"), GtpSettings(seed=1))
    GtpEngine(session, Output(out)).run([line.encode("utf-8", "replace") for line in [*text.split("\n")[:40], "quit"]])
    assert "internal error" not in out.getvalue(), out.getvalue()[-400:]


def run_gomocup(text: str) -> None:
    """Let an engine of the Gomocup's protocol obey."""
    from hauteur.engine.gomocup import GomocupEngine
    from hauteur.engine.gtp.session import GtpSession, GtpSettings
    from hauteur.engine.streams import Output
    from hauteur.players.settings import parse_player

    out = io.StringIO()
    session = GtpSession(ht.load_game("gomoku(size=6)"), parse_player("net=uniform visits=2"), GtpSettings(seed=1))
    lines = [*text.split("\n")[:40], "END"]
    GomocupEngine(session, Output(out)).run([line.encode("utf-8", "replace") for line in lines])
    assert "internal error" not in out.getvalue(), out.getvalue()[-400:]


def read_query(line: str) -> None:
    """Read a line of the analysis protocol."""
    from hauteur.engine.analysis.query import Defaults, read_request

    read_request(line.encode("utf-8", "replace"), Defaults(4, ht.SearchParams()))


def hear_engine(text: str) -> None:
    """Read what a program says that plays by UCI or GTP."""
    from hauteur.players.engines.gtp import parse_response
    from hauteur.players.engines.uci import parse_bestmove, parse_info, parse_option

    for line in text.split("\n"):
        option = parse_option(line)
        assert option is None or option.problem("5") is None or option.problem("x")
        assert (parse_info(line), parse_bestmove(line), parse_response([line])) is not None


def read_messages(path: Path) -> None:
    """Read messages of a worker."""
    from hauteur.cluster.worker import read_message

    with path.open("rb") as stream:
        while read_message(stream) is not None:
            pass
