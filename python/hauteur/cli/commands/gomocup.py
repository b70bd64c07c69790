"""`hauteur gomocup`: the engine for programs that speak the Gomocup's protocol."""

import secrets
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cli.commands.gtp import converse
from hauteur.cli.commands.options import BatchSize, PlayerText, Seed
from hauteur.games.registry import load_game
from hauteur.players.settings import parse_player


def gomocup(
    *,
    player: PlayerText = "",
    move_overhead: Annotated[float, Parameter(validator=Number(gte=0, lte=3600))] = 0.1,
    threads: Annotated[int, Parameter(validator=Number(gte=0, lte=1024))] = 0,
    batch_size: BatchSize | None = None,
    log: Path | None = None,
    seed: Seed | None = None,
) -> None:
    """Engine for programs that speak the Gomocup's protocol, such as Piskvork: Gomoku, five or more in a row.

    Parameters
    ----------
    player
        Player, as in `hauteur match`: `net=FILE visits=400`, `rave:1000`, `mcts:1000`, `random`. Default:
        the net that comes with the size of the board.
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
    from hauteur.engine.gomocup import GomocupEngine
    from hauteur.engine.gtp.session import GtpSettings

    settings = GtpSettings(
        move_overhead=move_overhead,
        seed=secrets.randbits(62) if seed is None else seed,
        threads=threads,
        batch_size=batch_size,
    )
    converse(GomocupEngine, load_game("gomoku"), parse_player(player, "--player"), settings, log)
