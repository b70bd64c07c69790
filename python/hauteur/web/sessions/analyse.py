"""The session of the page Analyse: one position, a search of it, its moves over time, its tree."""

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import chess
from pydantic import Field

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import FoundMove, PlayingSession, PlaySettings
from hauteur.engine.sides import EngineOptions
from hauteur.games.played_game import PlayedGame, line_texts
from hauteur.games.registry import load_game
from hauteur.mcts.analysis import MOST_COUNTED
from hauteur.mcts.limits import Limits, limits_of
from hauteur.mcts.plain_settings import MOST_VISITS
from hauteur.mcts.report import RootReport
from hauteur.mcts.search_tree import SAVED_NODES, SearchTree, first_nodes, opened
from hauteur.mcts.tree_source import MOST_NODES
from hauteur.networks.names import WITHOUT_FILE
from hauteur.studies.traps import TrapFinder
from hauteur.system.settings import validated
from hauteur.web.players import net_names, page_net, page_net_or_own, page_player
from hauteur.web.positions import GameText, PlaceFields, Spec, first_ply, game_at, position_view
from hauteur.web.search_form import SettingTexts, chosen_search
from hauteur.web.sessions.session import (
    Emit,
    Fields,
    NetName,
    NothingYetError,
    PageSession,
    PlayerText,
    SeedNumber,
    SessionSettings,
    json_fields,
)

LINES = 256
"""Moves of a report that get their line."""
PATIENCE = 2.0
"""Seconds to wait for the end of a batch."""

Found = TypeVar("Found")


class PositionFields(PlaceFields):
    """A position to look at, with nets and settings.

    net: empty: the game's own; large_net: empty: one net alone.
    """

    net: NetName = ""
    large_net: NetName = ""
    search: SettingTexts = Field(default_factory=dict)
    seed: SeedNumber = 0


class EditFields(PositionFields):
    """A position that is changed. square, piece: empty: none; mover: w or b; castling: rights."""

    square: Annotated[str, Field(max_length=2)] = ""
    piece: Annotated[str, Field(pattern="^[KQRBNPkqrbnp]?$")] = ""
    mover: Literal["w", "b"] = "w"
    castling: Annotated[str, Field(max_length=4)] = ""


MOST_OPEN = 100
"""Nodes that one request opens."""

Line = Annotated[tuple[Annotated[int, Field(ge=0, lt=65_536)], ...], Field(max_length=5000)]


FOLDER = "trees"
"""Folder of a root that trees are saved in."""
MOST_FILES = 500
"""Trees that are listed, the newest ones."""


def saved_trees(roots: Sequence[str]) -> dict[str, Path]:
    """Return the trees in the roots by name, the newest first; names begin with the root's: `runs/trees/a.json`."""
    files: list[tuple[str, Path]] = []
    for root in roots:
        folder = Path(root) / FOLDER
        for path in folder.glob("*.json"):
            if not path.name.startswith(".") and path.is_file():
                files.append((f"{Path(root).name}/{FOLDER}/{path.name}", path))
    files.sort(key=lambda found: found[1].stat().st_mtime_ns, reverse=True)
    return dict(files[:MOST_FILES])


def new_tree_file(roots: Sequence[str], facts: dict[str, Any]) -> Path:
    """Return a path for a tree that will be saved, in the first root; its name has game, visits and digest."""
    if not roots:
        raise ValueError("this server was given no folder to save in: hauteur web FOLDER")
    folder = Path(roots[0]) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    words = re.sub(r"[^a-z0-9]+", "-", str(facts["game"]).lower())
    game = words.strip("-")[:40]
    return folder / f"{game}-{facts['visits']}-{facts['digest'][:8]}.json"


class AnalyseSession(PageSession):
    """One position at a time; the tree is kept where the next one continues it."""

    name = "analyse"

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        super().__init__(emit, settings)
        self._session: PlayingSession | None = None
        self._key = ("", 0)
        self._search: Future[FoundMove] | None = None
        self._state: _core.State | None = None
        self._history: _core.SearchHistory | None = None
        self._number = 0
        self._loaded: SearchTree | None = None
        self._nets = NetChoice("")

    # The position.

    def do_open(self, **fields: Any) -> Fields:
        """Go to a position; a search of the one before ends. Reply: the position, and the net that looks at it."""
        place = validated(PositionFields, fields, "position")
        played = game_at(place)
        game = played.game
        roots = self.settings.roots
        net = page_net_or_own(place.net, game, roots)
        large = page_net(place.large_net, roots, "large net") if place.large_net else ""
        nets = NetChoice(net, large, threads=self.settings.threads)
        search = chosen_search(place.search)
        self._stop()
        if self._session is None or (game.spec, place.seed) != self._key:
            if self._session is not None:
                self._session.close()
            self._session = PlayingSession(game, seed=place.seed)
            self._key = (game.spec, place.seed)
        session = self._session
        session.use(PlaySettings(EngineOptions(tree_bytes=self.settings.tree_bytes).bounded(search)))
        session.open(nets)
        session.set_position(played.start, played.actions)
        self._nets = nets
        return self._arrive(played, flip=place.flip)

    def do_view(self, line: Line, flip: bool = False) -> Fields:
        """Reply: the position, or that of a node of the tree, from a side."""
        if line or self._loaded is not None:
            return self.do_look(line, flip)
        if self._state is None:
            raise ValueError("there is no position yet")
        return {"position": position_view(self._state, flip=flip)}

    def do_nets(self) -> Fields:
        """Reply: the names of nets that a page may give."""
        return {"nets": net_names(self.settings.roots)}

    def do_read(self, text: GameText, game: Spec = "chess") -> Fields:
        """Reply: the game of a text for static/game_tree.js; spec: of the game that moves and FENs are of.

        game: its spec with the start, as `open` takes it. tree: headers as {name: text}; comment: the one before the
        first move; nodes: of each its parent (a number before its own, -1 for the start), its move, the comments before
        and after it, and glyphs, as numbers of PGN; the first node of a parent is its main line. notes: for the reader.
        """
        return json_fields(_core.game_tree_view(text, load_game(game)))

    # The search.

    def do_start(
        self,
        visits: Annotated[int, Field(ge=1, le=MOST_VISITS)] | None = None,
        seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None,
    ) -> Fields:
        """Search on, without a limit until it is stopped. Reply: the number of the search, which its events have too:
        `report` about ten times a second, at the end `done` with the last one, or `failed`.
        """
        if self._session is None or self._state is None or self._history is None:
            raise ValueError("there is no position yet")
        if self._state.outcome() is not None:
            raise ValueError("the game is over here: there is nothing to search")
        self._stop()
        self._loaded = None
        self._history.begin_search()
        return {"number": self._begin(self._session, self._history, limits_of(visits, seconds))}

    def do_edit(self, **fields: Any) -> Fields:
        """Reply: the FEN of the position with another piece on a square. ValueError for what is no position."""
        order = validated(EditFields, fields, "edit")
        board = chess.Board(game_at(order).state.notation())
        if order.square:
            if order.square not in chess.SQUARE_NAMES:
                raise ValueError(f"no square: {order.square!r}")
            piece = chess.Piece.from_symbol(order.piece) if order.piece else None
            if piece is not None and piece.piece_type == chess.KING:
                old = board.king(piece.color)
                if old is not None:
                    board.remove_piece_at(old)  # there is one king
            board.set_piece_at(chess.parse_square(order.square), piece)
        board.turn = order.mover == "w"
        board.ep_square = None
        board.set_castling_fen(order.castling or "-")
        fen = " ".join([*board.fen().split()[:4], "0", "1"])
        game_at(PlaceFields(game="chess", fen=fen))  # refuses what is no position of a game
        return {"fen": fen}

    def do_traps(
        self, against: PlayerText = "human-1500", visits: Annotated[int, Field(ge=10, le=1_000_000)] = 800
    ) -> Fields:
        """Look for traps in the position; the event `traps` has them, or `failed` why not."""
        state = self._state
        net = self._nets.net
        if state is None or state.outcome() is not None:
            raise ValueError("there is no position with moves yet")
        self._stop()
        opponent = page_player(against, self.settings.roots, allow_programs=False, label="against")

        def work() -> None:
            with TrapFinder(state.game, net, opponent, threads=self.settings.threads) as finder:
                rows = [one.to_json() for one in finder.find(state, visits=visits, moves=8)]
            self.emit("traps", {"key": state.notation(), "against": against, "rows": rows}, latest=False)

        self.in_thread(work, "traps")
        return {}

    def do_stop(self) -> Fields:
        """Stop the search; its last report comes as the event `done`."""
        self._stop()
        return {}

    def do_history(self) -> Fields:
        """Reply: visits and Q of the moves that have most visits now, over the time of the search."""
        if self._history is None:
            raise ValueError("there is no position yet")
        return json_fields(self._history.curves())

    def do_moment(self, visits: Annotated[int, Field(ge=0, le=MOST_COUNTED)]) -> Fields:
        """Reply: the report of the history with the nearest visits, its moves without lines."""
        found = None if self._history is None else self._history.moment(visits)
        if found is None:
            raise ValueError("nothing was searched here yet")
        return json_fields(found)

    # The tree.

    def do_tree(self) -> Fields:
        """Reply: the root and the most visited nodes, nested."""
        return self._read_tree(lambda tree: {"root": first_nodes(tree)})

    def do_nodes(self, lines: Annotated[tuple[Line, ...], Field(max_length=MOST_OPEN)]) -> Fields:
        """Reply: nodes with all their moves; those that are not there any more are left out."""

        def nodes(tree: SearchTree) -> Fields:
            found = []
            for line in lines:
                with suppress(ValueError):
                    found.append(opened(tree, line))
            return {"nodes": found}

        return self._read_tree(nodes)

    def do_look(self, line: Line, flip: bool = False) -> Fields:
        """Reply: the position of a node."""
        return self._read_tree(
            lambda tree: {
                "position": position_view(tree.node(line).state, flip=flip),
                "moves": line_texts(tree.state, line),
            }
        )

    def do_save(self, nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] = SAVED_NODES) -> Fields:
        """Save the tree. Event `saved` with its name, or `failed`: the search pauses until it is written."""
        self._ask(lambda tree: self._saved(tree, nodes)).add_done_callback(self._on_saved)
        return {}

    def do_saved(self) -> Fields:
        """Reply: the saved trees."""
        return {"trees": list(saved_trees(self.settings.roots))}

    def do_load(self, name: NetName) -> Fields:
        """Look into a saved tree from now on, until a position is opened. Reply: its position and facts."""
        self._stop()
        path = saved_trees(self.settings.roots).get(name)
        if path is None:
            raise ValueError(f"there is no saved tree {name[:120]!r} in the folders that the server was given")
        tree = self._loaded = SearchTree.open(path)
        state = tree.state
        return {
            "game": state.game.spec,
            "moves": line_texts(state.start, state.moves),
            "first_ply": first_ply(state.start),
            "position": position_view(state),
            "facts": tree.source.facts(),
            "root": first_nodes(tree),
            "top": opened(tree, ()),
        }

    def close(self) -> None:
        """End the search and close the nets."""
        self._stop()
        if self._session is not None:
            self._session.close()

    def _saved(self, tree: SearchTree, most: int) -> Fields:
        """Write a tree into the first root; return its name there, and the nodes that it has."""
        visits = tree.root.visits
        facts = {"digest": "", "game": tree.state.game.name, "visits": visits, **tree.source.facts()}
        path = new_tree_file(self.settings.roots, facts)
        nets = []
        if self._loaded is None:
            for net in (self._nets.net, self._nets.large):
                if net and net not in WITHOUT_FILE:
                    nets.append(net)
        count = tree.save(path, max_nodes=most, nets=nets)
        name = next(name for name, file in saved_trees(self.settings.roots).items() if file == path)
        return {"name": name, "nodes": count, "visits": visits}

    def _arrive(self, played: PlayedGame, *, flip: bool = False) -> Fields:
        """Begin with a new position, the last of a game; return the facts that the page shows."""
        state = played.state
        nets = self._nets
        self._state = state
        self._history = _core.SearchHistory(state)
        self._loaded = None
        return {
            "position": position_view(state, flip=flip),
            "moves": played.texts,
            "first_ply": first_ply(played.start),
            "side_names": state.game.sides,
            "net": Path(nets.net).name,
            "has_fen": state.game.has_fen,
            "editable": state.game.name == "chess",
        }

    def _begin(self, session: PlayingSession, history: _core.SearchHistory, limits: Limits) -> int:
        """Search; return the number of the search."""
        self._number += 1
        number = self._number
        self.hold()
        self._search = session.start(
            limits, lines=LINES, on_report=lambda report: self.emit("report", _noted(report, history, number))
        )
        self._search.add_done_callback(lambda search: self._on_done(search, history, number))
        return number

    def _stop(self) -> None:
        """Stop the search and wait for its end; without one nothing happens."""
        if self._search is not None and self._session is not None:
            self._session.stop()
            self._search.exception()  # waits for its end
            self._search = None

    def _ask(self, function: Callable[[SearchTree], Found]) -> Future[Found]:
        """Call a function with the tree that the page looks into, between two batches if it is searched."""
        if self._loaded is not None:
            future: Future[Found] = Future()
            future.set_result(function(self._loaded))
            return future
        if self._session is None or self._search is None:
            raise NothingYetError("nothing was searched here yet")
        here = self._state

        def checked(tree: SearchTree) -> Found:
            if here is None or (tree.state.ply, tree.state.key) != (here.ply, here.key):
                raise NothingYetError("the search of this position has not begun yet")
            return function(tree)

        return self._session.ask(checked)

    def _read_tree(self, function: Callable[[SearchTree], Fields]) -> Fields:
        """Reply with what a function finds in the tree; ValueError where the search is in a batch for too long."""
        future = self._ask(function)
        try:
            return future.result(PATIENCE)
        except TimeoutError:
            future.cancel()
            raise ValueError("the search is busy with a long batch: try again") from None

    def _on_done(self, search: Future[FoundMove], history: _core.SearchHistory, number: int) -> None:
        """Send the last report of a search as `done`, or its error as `failed`."""
        error = search.exception()
        if error is not None:
            self.failed(error)
        elif (report := search.result().report) is not None:
            self.emit("done", _noted(report, history, number), latest=False)

    def _on_saved(self, saved: Future[Fields]) -> None:
        """Send the name of a saved tree, or why it could not be saved."""
        error = saved.exception()
        if error is not None:
            self.failed(error)
        else:
            self.emit("saved", saved.result(), latest=False)


def _noted(report: RootReport, history: _core.SearchHistory, number: int) -> Fields:
    """Put a report into the history, with the time since the position was opened; return it as the page has it.

    made: when that was, seconds since 1970.
    """
    return {"number": number, "made": time.time(), **json_fields(history.add(report))}
