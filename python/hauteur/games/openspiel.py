"""OpenSpiel's games: `openspiel:NAME(parameters)`, for every two-player game of perfect information without chance.

Needs the extra `openspiel`. Features are OpenSpiel's observation tensor for the player to move, reshaped to planes,
rows and columns, plus one plane, 1 everywhere when the second player is to move: many of the tensors omit it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur.system.extras import require

MAX_ACTIONS = 65535


def load(name: str) -> OpenSpielPosition:
    """Load an OpenSpiel game's initial position, e.g. `hex(board_size=5)`. Raise ValueError if it does not fit."""
    pyspiel = _pyspiel(name)
    short = name.split("(")[0].strip()
    if short not in pyspiel.registered_names():
        raise ValueError(f"openspiel:{name}: OpenSpiel has no game {short!r}")
    try:
        game = pyspiel.load_game(name)
    except (pyspiel.SpielError, ValueError) as error:
        raise ValueError(f"openspiel:{name}: {error}") from error
    reason = _unfit(pyspiel, game)
    if reason is not None:
        raise ValueError(f"openspiel:{name} does not fit: {reason}")
    return OpenSpielPosition(game, game.new_initial_state())


def _pyspiel(name: str) -> Any:
    require(f"openspiel:{name}", "pyspiel")
    import pyspiel

    return pyspiel


def _unfit(pyspiel: Any, game: Any) -> str | None:
    """Return the reason why this game cannot be learned; None if it can."""
    kind = game.get_type()
    if game.num_players() != 2:
        return f"it has {game.num_players()} players, two are needed"
    needed = (
        (kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL, "players must move one after the other"),
        (kind.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC, "it has chance moves"),
        (kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION, "it hides information from the players"),
        (kind.utility == pyspiel.GameType.Utility.ZERO_SUM, "it is not zero-sum"),
        (kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL, "it pays before the end"),
        (kind.provides_observation_tensor, "it has no observation tensor"),
        (game.num_distinct_actions() <= MAX_ACTIONS, f"it has more than {MAX_ACTIONS} actions"),
    )
    return next((reason for fits, reason in needed if not fits), None)


class OpenSpielPosition:
    """One position of an OpenSpiel game."""

    def __init__(self, game: Any, state: Any) -> None:
        """`game` and `state` are pyspiel's."""
        self._game = game
        self._state = state
        self._tensor_shape = _plane_shape(game.observation_tensor_shape())
        planes, rows, columns = self._tensor_shape
        self.num_actions = int(game.num_distinct_actions())
        self.feature_shape = (planes + 1, rows, columns)
        self.max_plies = int(game.max_game_length())

    @property
    def name(self) -> str:
        """The game as OpenSpiel writes it, e.g. `hex(board_size=5)`."""
        return str(self._game).removesuffix("()")

    @property
    def to_move(self) -> int:
        """The player to move; 0 at the end of the game."""
        return max(0, int(self._state.current_player()))

    def legal_actions(self) -> list[int]:
        """OpenSpiel's legal actions, which are ascending."""
        return [] if self._state.is_terminal() else list(self._state.legal_actions())

    def apply(self, action: int) -> None:
        """Play a legal action."""
        self._state.apply_action(action)

    def outcome(self) -> int | None:
        """Sign of the first player's return."""
        return int(np.sign(self._state.returns()[0])) if self._state.is_terminal() else None

    def features(self) -> NDArray[np.float32]:
        """Return the observation tensor of the player to move, plus the plane that encodes that player."""
        tensor = np.asarray(self._state.observation_tensor(self.to_move), np.float32).reshape(self._tensor_shape)
        mover = np.full((1, *self._tensor_shape[1:]), self.to_move, np.float32)
        return np.concatenate([tensor, mover])

    def copy(self) -> OpenSpielPosition:
        """Return an independent copy."""
        return OpenSpielPosition(self._game, self._state.clone())

    def action_to_text(self, action: int) -> str:
        """OpenSpiel's name of the action, with _ for blanks."""
        return str(self._state.action_to_string(self.to_move, action)).strip().replace(" ", "_")

    def text(self) -> str:
        """OpenSpiel's drawing."""
        return str(self._state) or "(empty)"


def _plane_shape(shape: list[int]) -> tuple[int, int, int]:
    """Planes, rows and columns for a tensor of any number of axes: missing ones are 1, surplus ones join the planes."""
    padded = [1] * (3 - len(shape)) + list(shape)
    return int(np.prod(padded[:-2])), padded[-2], padded[-1]
