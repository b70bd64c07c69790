"""A game must go on at its start: where `outcome()` is 0 while a game goes on, every game is a draw of no moves."""

from hauteur import _core


def over_at_the_start(outcome: int) -> str:
    """Return what is wrong about a game that is over before its first move."""
    return f"the start is over: outcome() is {outcome}; None means that the game goes on"


def check_begins(game: _core.Game) -> None:
    """Raise ValueError for a game that is over before its first move."""
    outcome = game.new_initial_state().outcome()
    if outcome is not None:
        raise ValueError(f"{game.spec}: {over_at_the_start(outcome)}")
