"""A player with the calls of python-chess's `chess.engine`: `play` and `analyse`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, overload

import chess
import chess.engine

from hauteur.games.played_game import Move, move_of, moves_of
from hauteur.games.positions import as_state
from hauteur.games.registry import load_game
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.report import choose_move
from hauteur.mcts.scores import permille, pov_score
from hauteur.players.build import Evaluators, Resources, build_player, player_name
from hauteur.players.move_player import MovePlayer, MoveRequest
from hauteur.players.search_player import SearchPlayer
from hauteur.system.closing import Closing
from hauteur.system.seeds import derived_seed, stream

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.games.positions import PositionLike
    from hauteur.mcts.report import RootMove, RootReport
    from hauteur.mcts.result import SearchResult
    from hauteur.players.player import Player


class PlayerEngine(Closing):
    """A player that is asked for moves and analyses of single positions; its nets stay open until it is closed.

    id: what it is, as of `chess.engine.SimpleEngine`. A position that continues the last one reuses its tree, where
    the settings keep it.

    >>> import chess.engine
    >>> import hauteur as ht
    >>> with ht.Player("uniform").as_engine() as engine:
    ...     info = engine.analyse("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", chess.engine.Limit(nodes=200))
    >>> info["score"], info["pv"]
    (PovScore(Mate(+1), WHITE), [Move.from_uci('a1a8')])
    """

    def __init__(self, player: Player, game: str, *, threads: int = 0, seed: int = 0) -> None:
        self._game = load_game(game)
        self._seed = seed
        self._moves = 0
        with contextlib.ExitStack() as stack:
            resources = Resources(parallel=1, batch_size=64, threads=threads)
            nets = stack.enter_context(Evaluators(self._game, resources))
            self._player = build_player(self._game, player, nets, player.name or "engine")
            self._analysis = self._new_analysis(self._player)
            self._stack = stack.pop_all()
        self.id = {"name": f"hauteur {player_name(self._game, player)}"}

    def play(self, position: PositionLike, limit: chess.engine.Limit | None = None) -> chess.engine.PlayResult:
        """Choose a move as the player does in a match: by its visits and temperature, or within a limit.

        position: a `chess.Board`, a FEN, a State. limit: its `nodes` are the visits, its `time` seconds; default: the
        player's own visits.
        """
        state = as_state(position)
        if not isinstance(self._player, SearchPlayer):
            return chess.engine.PlayResult(self.choose(state, limit).chess, None)
        found = self._searched(self._player, state, limit)
        info = _info(state, found.report, found.report.moves[0])
        chosen = self._chosen(self._player, state, found)
        return chess.engine.PlayResult(chosen.chess, None, info)

    def choose(self, position: PositionLike, limit: chess.engine.Limit | None = None) -> Move:
        """Return the move that the player chooses, of any game."""
        state = as_state(position)
        if isinstance(self._player, SearchPlayer):
            return self._chosen(self._player, state, self._searched(self._player, state, limit))
        return move_of(state, self._asked(self._player, state, limit))

    def _chosen(self, player: SearchPlayer, state: _core.State, found: SearchResult) -> Move:
        """Draw the move to play by the player's temperature."""
        self._moves += 1
        random = stream(self._seed, "temperature", self._moves).random()
        chosen = choose_move(found.report.moves, player.temperature, state.ply, random)
        return move_of(state, chosen.action)

    @overload
    def analyse(
        self,
        position: PositionLike,
        limit: chess.engine.Limit | None = None,
        *,
        multipv: None = None,
    ) -> chess.engine.InfoDict: ...
    @overload
    def analyse(
        self,
        position: PositionLike,
        limit: chess.engine.Limit | None = None,
        *,
        multipv: int,
    ) -> list[chess.engine.InfoDict]: ...
    def analyse(
        self,
        position: PositionLike,
        limit: chess.engine.Limit | None = None,
        *,
        multipv: int | None = None,
    ) -> chess.engine.InfoDict | list[chess.engine.InfoDict]:
        """Search a position; return score, pv, wdl, nodes, depth and time, or a list of these for several moves."""
        if not isinstance(self._player, SearchPlayer):
            raise ValueError(f"player {self.id['name']} has no search that could be shown; play(...) asks it for moves")
        state = as_state(position)
        report = self._searched(self._player, state, limit).report
        if multipv is None:
            return _info(state, report, report.moves[0])
        found: list[chess.engine.InfoDict] = []
        for rank, move in enumerate(report.moves[:multipv], 1):
            found.append({**_info(state, report, move), "multipv": rank})
        return found

    def close(self) -> None:
        """Close the nets; the player is not used any more."""
        if not isinstance(self._player, SearchPlayer):
            self._player.close()
        self._stack.close()

    quit = close

    def _new_analysis(self, player: SearchPlayer | MovePlayer) -> Analysis | None:
        """Return an analysis with the player's settings; None for a player that does not search."""
        if not isinstance(player, SearchPlayer):
            return None
        return Analysis(
            player.evaluator,
            player.search,
            large=player.large,
            seed=self._seed,
            rules=player.rules,
            more=player.more,
        )

    def _analysis_of(self, player: SearchPlayer) -> Analysis:
        assert self._analysis is not None, player.name
        return self._analysis

    def _searched(self, player: SearchPlayer, state: _core.State, limit: chess.engine.Limit | None) -> SearchResult:
        """Search a position within the given limit, or the player's own."""
        self._check_game(state)
        visits, seconds = _limits(limit, player.visits)
        return self._analysis_of(player).go(state, visits=visits, seconds=seconds)

    def _asked(self, player: MovePlayer, state: _core.State, limit: chess.engine.Limit | None) -> int:
        """Return the action that a player without a search chooses."""
        self._check_game(state)
        if limit is not None:
            raise ValueError(f"player {self.id['name']} takes no limit: its own settings say how long it thinks")
        self._moves += 1
        seed = derived_seed(self._seed, "move", self._moves)
        request = MoveRequest(0, state.copy(), state.start.notation(), tuple(state.moves), seed)
        return player.choose(request).result().action

    def _check_game(self, state: _core.State) -> None:
        """Raise ValueError for a position of another game."""
        if (state.game.name, state.game.feature_shape) != (self._game.name, self._game.feature_shape):
            raise ValueError(f"this engine plays {self._game.spec}, got a position of {state.game.spec}")


def _limits(limit: chess.engine.Limit | None, visits: int) -> tuple[int | None, float | None]:
    """Visits and seconds of a limit. ValueError for one that means something else."""
    if limit is None:
        return visits, None
    given = {name: value for name, value in vars(limit).items() if value is not None}
    others = [name for name in given if name not in ("nodes", "time")]
    if others or not given:
        named = ", ".join(others) or "nothing"
        raise ValueError(f"a limit has nodes (the visits), time (seconds) or both, got {named}")
    return given.get("nodes"), given.get("time")


def _info(state: _core.State, report: RootReport, move: RootMove) -> chess.engine.InfoDict:
    """Return the findings about a move as python-chess has them."""
    win, draw, loss = wdl = report.wdl if move.wdl is None else move.wdl
    first = state.to_move == 0
    mate = report.mate if move is report.moves[0] else None
    return {
        "score": pov_score(wdl, mate, first_to_move=first),
        "wdl": chess.engine.PovWdl(chess.engine.Wdl(*permille(win - loss, draw)), first),
        "pv": [one.chess for one in moves_of(state, move.line)],
        "nodes": report.visits,
        "time": report.pace.seconds,
        "depth": max(1, len(move.line)),
    }
