"""The UCI engine without a process: the same options, clocks, odds mode and choice of moves, called as a function."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from hauteur import _core
from hauteur.engine.uci.commands import game_ply, parse_go, parse_position, search_actions, search_limits
from hauteur.engine.uci.net import NetChoice, OpenNets, chess_evaluator, choose_net, open_nets
from hauteur.engine.uci.odds_mode import odds_game
from hauteur.engine.uci.options import Options
from hauteur.engine.uci.output import line_text, score_text, wl_and_d
from hauteur.search.analysis import Analysis
from hauteur.search.lc0_options import Value
from hauteur.search.move_choice import choose_move
from hauteur.search.report import RootReport
from hauteur.search.scores import permille

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator


NET_OPTIONS = ("WeightsFile", "LargeWeightsFile", "Backend", "Threads")
"""The options that say which net is opened, and how."""


@dataclass(frozen=True)
class InProcessMove:
    """A move. line: the expected play in UCI notation, this move first; score: `cp N` or `mate N` for its player.

    wdl: win, draw, loss in permille; note: what odds mode does in this game, or empty.
    """

    move: str
    line: tuple[str, ...]
    score: str
    wdl: tuple[int, int, int]
    report: RootReport
    note: str = ""


class InProcessEngine:
    """Answers one position after another; the tree is kept along a game. options: of the UCI engine, by name."""

    def __init__(
        self,
        options: Mapping[str, Value] | None = None,
        *,
        opener: Callable[[NetChoice], Evaluator] = chess_evaluator,
        seed: int | None = None,
    ) -> None:
        self.options = Options()
        for name, value in (options or {}).items():
            self.options.set(name, str(value))
        self._rng = np.random.default_rng(seed)
        self._seed = int(self._rng.integers(2**63))
        self._opener = opener
        self._nets: OpenNets | None = None
        self._session: Analysis | None = None
        self._nets_key: tuple[str, ...] = ()
        self._session_key: object = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def search(self, position: str, go: str) -> InProcessMove:
        """The answer to `position ...` and `go ...`, given without these first words, as the UCI engine would give it.

        ValueError where either is wrong, no net is found, or the game is over; infinite searches are refused.
        """
        began = time.monotonic()
        place, order = parse_position(position, self.options), parse_go(go)
        odds = odds_game(place, self.options, infinite=False)
        options = self.options.changed(odds.changes) if odds else self.options
        limits = search_limits(order, place.state, options)
        if limits.infinite or order.ponder:
            raise ValueError(f"a search without an end cannot be answered: go {go}")
        session = self._session_of(options)
        session.set_position(place.start, place.actions)
        report = session.search(limits, actions=search_actions(order, place.state), began=began)
        return self._answer(report, options, odds.text() if odds else "")

    def new_game(self) -> None:
        """Forgets the tree."""
        if self._session is not None:
            self._session.clear()

    def close(self) -> None:
        """Closes the nets."""
        if self._nets is not None:
            self._nets.close()
        self._nets, self._session = None, None

    def _answer(self, report: RootReport, options: Options, note: str) -> InProcessMove:
        move = choose_move(report, options.temperature(), game_ply(report.state), self._rng)
        if move is None:
            raise ValueError(f"there is no move: {report.state.end_reason() or 'nothing was searched'}")
        line = tuple(line_text(report.state, move.line))
        score = score_text(report, move, options, first=move == report.best).removeprefix("score ")
        return InProcessMove(line[0], line, score, permille(*wl_and_d(report, move)), report, note)

    def _session_of(self, options: Options) -> Analysis:
        """The session of these options; another one where they have changed."""
        nets = tuple(options.text(name) for name in NET_OPTIONS)
        if self._nets is None or nets != self._nets_key:
            self.close()
            self._nets, self._nets_key = open_nets(choose_net(options), self._opener), nets
        params, batch_size = options.search_params(), options.whole("MinibatchSize") or None
        key = (params, batch_size, options.text("SyzygyPath"), options.flag("SyzygyFastPlay"))
        if self._session is None or key != self._session_key:
            self._session = Analysis(
                self._nets.small,
                params,
                large=self._nets.large,
                seed=self._seed,
                batch_size=batch_size,
                tablebase=_core.Tablebase(options.text("SyzygyPath")) if options.text("SyzygyPath") else None,
                fast_play=options.flag("SyzygyFastPlay"),
            )
            self._session_key = key
        return self._session
