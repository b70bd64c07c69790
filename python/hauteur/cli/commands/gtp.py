"""`hauteur gtp`: the engine for programs that speak the Go Text Protocol."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cli.commands.line_engine import LineEngineOptions
from hauteur.cli.commands.options import GameArgument


def gtp(
    game: GameArgument = "nogo",
    *,
    resign_below: Annotated[float, Parameter(validator=Number(gte=0, lt=1))] = 0.0,
    options: LineEngineOptions = LineEngineOptions(),  # noqa: B008  (immutable)
) -> None:
    """Engine for programs that speak GTP, for every game: points of Go, NoGo and Hex, e2e4 in chess.

    Parameters
    ----------
    game
        The game, e.g. `nogo`, `nogo(size=7)`, `tictactoe`.
    resign_below
        A player with a net resigns when it expects a score below this, 0 to 1; 0: never.
    """
    from hauteur.engine.gtp.engine import GtpEngine

    options.converse(GtpEngine, game, resign_below=resign_below)
