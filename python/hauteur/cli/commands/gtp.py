"""`hauteur gtp`: the engine for programs that speak the Go Text Protocol."""

import secrets
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, Protocol

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur import _core
from hauteur.cli.commands.options import BatchSize, GameArgument, PlayerText, Seed
from hauteur.games.registry import load_game
from hauteur.players.settings import PlayerSettings, parse_player

if TYPE_CHECKING:
    from hauteur.engine.gtp.session import GtpSession, GtpSettings
    from hauteur.engine.streams import Output


class LineEngine(Protocol):
    """An engine that answers lines."""

    def run(self, source: Iterable[bytes]) -> None:
        """Answer them to the end."""


def gtp(
    game: GameArgument = "nogo",
    *,
    player: PlayerText = "",
    resign_below: Annotated[float, Parameter(validator=Number(gte=0, lt=1))] = 0.0,
    move_overhead: Annotated[float, Parameter(validator=Number(gte=0, lte=3600))] = 0.1,
    threads: Annotated[int, Parameter(validator=Number(gte=0, lte=1024))] = 0,
    batch_size: BatchSize | None = None,
    log: Path | None = None,
    seed: Seed | None = None,
) -> None:
    """Engine for programs that speak GTP, for every game: points of Go, NoGo and Hex, e2e4 in chess.

    Parameters
    ----------
    game
        The game, e.g. `nogo`, `nogo(size=7)`, `tictactoe`.
    player
        Player, as in `hauteur match`: `net=FILE visits=400`, `rave:1000`, `mcts:1000`, `random`. Default:
        the net that comes with the game.
    resign_below
        A player with a net resigns when it expects a score below this, 0 to 1; 0: never.
    move_overhead
        Seconds that a move may lose between clock and engine.
    threads
        Threads of the net on the processor; 0: one a core.
    batch_size
        Maximum positions evaluated together; 1: exactly sequential search. Default: what suits the backend.
    log
        File to which the conversation is appended.
    seed
        Of all random draws. Default: different every time.
    """
    from hauteur.engine.gtp.engine import GtpEngine
    from hauteur.engine.gtp.session import GtpSettings

    settings = GtpSettings(
        resign_below=resign_below,
        move_overhead=move_overhead,
        seed=secrets.randbits(62) if seed is None else seed,
        threads=threads,
        batch_size=batch_size,
    )
    converse(GtpEngine, load_game(game), parse_player(player, "--player"), settings, log)


def converse(
    engine_of: Callable[["GtpSession", "Output"], "LineEngine"],
    game: _core.Game,
    player: PlayerSettings,
    settings: "GtpSettings",
    log: Path | None,
) -> NoReturn:
    """Hold a conversation by standard input and output with the engine of a session, and end the process."""
    from hauteur.engine.gtp.session import GtpSession
    from hauteur.engine.streams import Output, input_lines, leave_process

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # whatever is sent can be quoted
    output = Output(sys.stdout)
    if log is not None:
        output.log_to(str(log))
    session = GtpSession(game, player, settings)  # which begins to open a net
    with suppress(BrokenPipeError):  # the program that listened is gone
        engine_of(session, output).run(input_lines(sys.stdin.fileno()))
    leave_process()
