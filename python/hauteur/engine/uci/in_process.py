"""The UCI engine without a process: the same options, clocks, odds mode and choice of moves, called as a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hauteur import _core
from hauteur.engine.nets import Opener, open_evaluator
from hauteur.engine.odds_mode import odds_game
from hauteur.engine.playing import FoundMove, PlayingSession
from hauteur.engine.uci.commands import game_ply, parse_go, parse_position, search_actions, search_limits
from hauteur.engine.uci.options import Options
from hauteur.engine.uci.output import line_text, score_text, wl_and_d
from hauteur.engine.uci.player import choose_net, play_settings
from hauteur.mcts.lc0_options import Value
from hauteur.mcts.report import RootReport
from hauteur.mcts.scores import permille
from hauteur.system.closing import Closing


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


class InProcessEngine(Closing):
    """Searches one position after another; the tree is kept along a game. options: of the UCI engine, by name."""

    def __init__(
        self,
        options: Mapping[str, Value] | None = None,
        *,
        opener: Opener = open_evaluator,
        seed: int | None = None,
    ) -> None:
        self.options = Options()
        for name, value in (options or {}).items():
            self.options.set(name, str(value))
        self._session = PlayingSession(_core.Game("chess"), seed=seed, opener=opener)

    def search(self, position: str, go: str) -> InProcessMove:
        """Return the move for `position ...` and `go ...`, given without these first words, as the UCI engine would.

        The net is opened by the first call, before the clock of the move starts. Raises ValueError where either text is
        wrong, no net is found, or the game is over; infinite searches are refused.
        """
        place, order = parse_position(position, self.options), parse_go(go)
        actions, unknown = search_actions(order, place.state)
        if problems := (*order.problems, *unknown):
            raise ValueError("; ".join(problems))
        choice = choose_net(self.options)[0]
        odds = odds_game(place, self.options, infinite=False, net=choice.net)
        options = self.options.changed(odds.changes) if odds else self.options
        limits = search_limits(order, place.state, options, lateness=self._session.lateness)
        if limits.infinite or order.ponder:
            raise ValueError(f"a search without an end cannot be answered: go {go}")
        self._session.open(choice)
        self._session.use(play_settings(options))
        self._session.prepare()
        self._session.set_position(place.start, place.actions)
        found = self._session.think(limits, actions=actions, ply=game_ply(place.state))
        return _in_process_move(found, options, odds.text() if odds else "")

    def warm_up(self) -> None:
        """Open the net and evaluate once, so that the first move has no more to wait for than the others.

        Raises ValueError where no net is found, or it cannot be used.
        """
        self.search("startpos", "nodes 1")
        self.new_game()

    def new_game(self) -> None:
        """Forget the tree."""
        self._session.clear()

    def close(self) -> None:
        """Close the nets."""
        self._session.close()


def _in_process_move(found: FoundMove, options: Options, note: str) -> InProcessMove:
    report, move = found.report, found.move
    if report is None or move is None:
        raise ValueError(f"there is no move: {(report and report.state.end_reason()) or 'nothing was searched'}")
    line = tuple(line_text(report.state, move.line))
    score = score_text(report, move, options, first=move == report.best).removeprefix("score ")
    return InProcessMove(line[0], line, score, permille(*wl_and_d(report, move)), report, note)
