"""`hauteur gomocup`: the engine for programs that speak the Gomocup's protocol."""

from hauteur.cli.commands.line_engine import LineEngineOptions


def gomocup(*, options: LineEngineOptions = LineEngineOptions()) -> None:  # noqa: B008  (immutable)
    """Engine for programs that speak the Gomocup's protocol, such as Piskvork: Gomoku, five or more in a row."""
    from hauteur.engine.gomocup import GomocupEngine

    options.converse(GomocupEngine, "gomoku")
