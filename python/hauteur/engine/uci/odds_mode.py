"""The option OddsMode: who plays a game at odds without some men gets the settings that were published for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from hauteur.engine.uci.commands import PositionCommand
from hauteur.engine.uci.options import Options
from hauteur.games.odds import odds_of


@dataclass(frozen=True)
class OddsGame:
    """A game in which the engine gives odds. changes: options that get other values; kept: those that stay as set."""

    name: str
    changes: Mapping[str, float]
    kept: tuple[str, ...]

    def text(self) -> str:
        """Describe it in one line."""
        listed = ", ".join(f"{name} {value:g}" for name, value in self.changes.items())
        kept = f"; as set: {', '.join(self.kept)}" if self.kept else ""
        return f"odds game without {self.name}: {listed or 'no settings'}{kept}"


def odds_game(position: PositionCommand, options: Options, *, infinite: bool) -> OddsGame | None:
    """Return what OddsMode does in this position; None where it is off, in infinite analysis, and for the receiver.

    The game's start tells the odds. An option that has another value than its default stays as it is.
    """
    if not options.flag("OddsMode") or infinite:
        return None
    odds = odds_of(position.start.notation())
    if odds is None or odds.giver != position.state.to_move:
        return None
    settings = odds.settings()
    kept = tuple(name for name in settings if not options.is_default(name))
    return OddsGame(odds.name, {name: value for name, value in settings.items() if name not in kept}, kept)
