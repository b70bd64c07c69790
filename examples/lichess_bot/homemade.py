"""hauteur as a homemade engine of lichess-bot: put this file into lichess-bot's folder, or its class into homemade.py.

In config.yml: `protocol: homemade`, `name: Hauteur`, and hauteur's UCI options below `homemade_options`. See README.md.
"""

import logging
from typing import Any

import chess
from chess.engine import Cp, Limit, Mate, PlayResult, PovScore, PovWdl, Score, Wdl
from lib.engine_wrapper import MinimalEngine

from hauteur.engine.uci.in_process import InProcessEngine, InProcessMove

logger = logging.getLogger(__name__)

CLOCKS = (("wtime", "white_clock"), ("btime", "black_clock"), ("winc", "white_inc"), ("binc", "black_inc"))
"""Words of `go` that are milliseconds, and the fields of a limit that are seconds."""
NUMBERS = (("movestogo", "remaining_moves"), ("depth", "depth"), ("nodes", "nodes"), ("mate", "mate"))


class ExampleEngine(MinimalEngine):
    """A name that lichess-bot imports from this file."""


class Hauteur(MinimalEngine):
    """Plays with the search of hauteur in this process; its tree follows the game.

    homemade_options are those of `hauteur uci`, and odds mode is on unless they say otherwise.
    """

    def __init__(self, commands: Any, options: dict[str, Any], *rest: Any, **others: Any) -> None:
        """Takes what lichess-bot gives to every engine; the options are for hauteur."""
        wanted = {"OddsMode": True, **{name: value for name, value in options.items() if name != "go_commands"}}
        super().__init__(commands, options, *rest, **others)
        self.hauteur = InProcessEngine(wanted)
        self.hauteur.warm_up()  # before the first move, whose clock runs
        self._told = ""

    def search(
        self, board: chess.Board, time_limit: Limit, ponder: bool, draw_offered: bool, root_moves: Any
    ) -> PlayResult:
        """The move for this position within the limit; a draw is accepted where hauteur is not better."""
        del ponder  # the search has no thread of its own; use `protocol: uci` to think in the opponent's time
        self.hauteur.options.set("UCI_Chess960", str(board.chess960))
        limit = self.add_go_commands(time_limit)
        answer = self.hauteur.search(position_text(board), go_text(board, limit, root_moves))
        if answer.note and answer.note != self._told:
            logger.info(answer.note)
            self._told = answer.note
        result = result_of(board, answer)
        score = result.info["score"].relative
        result.draw_offered = draw_offered and score <= Cp(0)
        self.scores.append(result.info["score"])
        return self.offer_draw_or_resign(result, board)

    def quit(self) -> None:
        """Closes the net."""
        self.hauteur.close()
        super().quit()


def position_text(board: chess.Board) -> str:
    """The game as UCI's `position` writes it, from the position in which it began."""
    start, names = board.root(), []
    for move in board.move_stack:
        names.append(start.uci(move))
        start.push(move)
    moves = f" moves {' '.join(names)}" if names else ""
    return f"fen {board.root().fen()}{moves}"


def go_text(board: chess.Board, limit: Limit, root_moves: Any) -> str:
    """The limit as UCI's `go` writes it."""
    words = [
        f"{word} {round(1000 * getattr(limit, name))}" for word, name in CLOCKS if getattr(limit, name) is not None
    ]
    words += [f"{word} {getattr(limit, name)}" for word, name in NUMBERS if getattr(limit, name) is not None]
    if limit.time is not None:
        words.append(f"movetime {round(1000 * limit.time)}")
    if isinstance(root_moves, list) and root_moves:
        words.append("searchmoves " + " ".join(board.uci(move) for move in root_moves))
    return " ".join(words)


def result_of(board: chess.Board, answer: InProcessMove) -> PlayResult:
    """The answer as python-chess writes it, with what lichess-bot shows of a search."""
    line, place = [], board.copy(stack=False)
    for name in answer.line:
        line.append(place.parse_uci(name))
        place.push(line[-1])
    kind, _, number = answer.score.partition(" ")
    score: Score = Mate(int(number)) if kind == "mate" else Cp(int(number))
    pace = answer.report.pace
    info = {
        "score": PovScore(score, board.turn),
        "wdl": PovWdl(Wdl(*answer.wdl), board.turn),
        "pv": line,
        "nodes": answer.report.visits,
        "depth": max(1, round(pace.depth)),
        "seldepth": answer.report.seldepth,
        "time": pace.seconds,
        "nps": round(pace.visits_per_second),
    }
    return PlayResult(line[0], None, info)
