"""What the commands share that are engines of other programs and answer lines: GTP's and the Gomocup's."""

import secrets
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, Protocol

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cli.commands.options import BatchSize, PlayerText, Seed
from hauteur.games.registry import load_game
from hauteur.players.settings import parse_player

if TYPE_CHECKING:
    from hauteur.engine.gtp.session import GtpSession
    from hauteur.engine.streams import Output


class LineEngine(Protocol):
    """An engine that answers lines."""

    def run(self, source: Iterable[bytes]) -> None:
        """Answer them to the end."""


@Parameter(name="*")
@dataclass(frozen=True)
class LineEngineOptions:
    """The player of an engine, its clock and its log."""

    player: PlayerText = ""
    """Player, as in `hauteur match`: `net=FILE visits=400`, `rave:1000`, `mcts:1000`, `random`. Default: the net that
    comes with the game and the size of its board."""
    move_overhead: Annotated[float, Parameter(validator=Number(gte=0, lte=3600))] = 0.1
    """Seconds that a move may lose between clock and engine."""
    threads: Annotated[int, Parameter(validator=Number(gte=0, lte=1024))] = 0
    """Threads of the net on the processor; 0: one a core."""
    batch_size: BatchSize | None = None
    """Maximum positions evaluated together; 1: exactly sequential search. Default: what suits the backend."""
    log: Path | None = None
    """File to which the conversation is appended."""
    seed: Seed | None = None
    """Of all random draws. Default: different every time."""

    def converse(
        self, engine_of: Callable[["GtpSession", "Output"], LineEngine], game: str, *, resign_below: float = 0.0
    ) -> NoReturn:
        """Hold a conversation by standard input and output with the engine of a session, and end the process."""
        from hauteur.engine.gtp.session import GtpSession, GtpSettings
        from hauteur.engine.streams import Output, input_lines, leave_process

        settings = GtpSettings(
            resign_below=resign_below,
            move_overhead=self.move_overhead,
            seed=secrets.randbits(62) if self.seed is None else self.seed,
            threads=self.threads,
            batch_size=self.batch_size,
        )
        played = load_game(game)
        player = parse_player(self.player, "--player")
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")  # whatever is sent can be quoted
        output = Output(sys.stdout)
        if self.log is not None:
            output.log_to(str(self.log))
        session = GtpSession(played, player, settings)  # which begins to open a net
        with suppress(BrokenPipeError):  # the program that listened is gone
            engine_of(session, output).run(input_lines(sys.stdin.fileno()))
        leave_process()
