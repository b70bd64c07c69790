"""Players without a forest: each is requested to find a move in one position and replies later, from another thread.

They play against players with networks, and the other games continue until a reply is there. A move of those here
depends on the position and the seed that it is named by, not on the thread that found it or on when. Programs that run
elsewhere (hauteur.players.engines) fit the same protocol.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from hauteur import _core
from hauteur.games.game_line import RESIGNATION


@dataclass(frozen=True)
class ChosenMove:
    """A move that a player has chosen."""

    action: int
    """The move, as an index into the policy vector."""
    note: str = ""
    """What a user should know of this move, such as that a search was cut short."""
    score: float | None = None
    """Score in pawns from the mover's view (a mate: hauteur.mcts.scores.mate_score); None: not known."""
    depth: int = 0
    """Depth in plies; 0: not known."""
    seconds: float | None = None
    """How long the player thought; None: as long as the reply took."""


class GameLost(Exception):  # noqa: N818  (losing is not an error)
    """Instead of a move: the player to move has lost this game; all other games continue.

    reason: a few words, the end reason of the game; detail: what happened, one line, a note of the game.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class EngineFailure(GameLost):
    """A program that plays has crashed, is late, or does not keep to the rules of the game or of its protocol."""


class EngineResignation(GameLost):
    """A program that plays has given the game up."""

    def __init__(self) -> None:
        super().__init__(RESIGNATION)


MoveFunction = Callable[[_core.State, int], ChosenMove]
"""The choice of a move in a position with a seed."""


@dataclass(frozen=True)
class MoveRequest:
    """A game in which a player is to move."""

    game: int
    """Number of the game."""
    state: _core.State
    """The position, a copy for the player; the game is not over."""
    origin: str
    """Where the game began, in the game's notation (chess: FEN)."""
    actions: tuple[int, ...]
    """All actions since then, those of the opening included."""
    seed: int
    """Seed of all random draws for this move."""


class MovePlayer(Protocol):
    """A player that looks for one move at a time."""

    @property
    def name(self) -> str:
        """Name used in results."""

    def choose(self, request: MoveRequest) -> Future[ChosenMove]:
        """Begin to look for a move. GameLost in the future: the player has lost this game, the others continue.

        Any other exception stops all games and names the player.
        """

    def end(self, game: int) -> None:
        """The game with this number is over; no request about it will follow."""

    def close(self) -> None:
        """All games are over: ends what runs for the player. Requests of other games may follow."""


@runtime_checkable
class CountingPlayer(MovePlayer, Protocol):
    """A player that has a word on who has won a finished game."""

    def dispute(self, over: MoveRequest) -> str:
        """Return a note where it names another winner than the rules; else an empty text.

        over: the game at its end, before `end` is called for it.
        """
