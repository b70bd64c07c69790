"""How well a player of Connect Four plays, by exact values and without an opponent.

The share of solved positions in which its move keeps the value, and the share of drawn positions from which it loses to
no replies whatever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.players.search_player import SearchPlayer
from hauteur.studies.exact_play import MoveChooser, SolvedPosition, total, value_preserving_moves
from hauteur.system.seeds import stream

TABLE_BITS = 22
"""Size of the solver's table, as a power of two."""

POSITIONS_SEED = 1
"""Of the games that positions are taken from: all players are judged by the same ones."""

SOUND = 0.75
"""Share of the moves, after the first fifth of the board, that keep the value of the position; the others are any. In
positions of random games a little knowledge is enough, and what is learned afterwards does not show."""

ATTEMPTS = 1000
"""Games for each position that is wanted, at most."""

FREE_SQUARES = 10
"""Of a drawn position from which all replies are tried."""


@dataclass(frozen=True)
class Yardsticks:
    """What players of one game are judged by.

    positions: solved ones in which some move gives the value away; openings: drawn ones, in which the player is the
    mover in those with even numbers.
    """

    game: _core.Game
    positions: Sequence[SolvedPosition]
    openings: Sequence[_core.State]

    @classmethod
    def of(cls, spec: str, positions: int, openings: int) -> Yardsticks:
        """So many of each; ValueError for another game than Connect Four, and where the board has not so many."""
        game = load_game(spec)
        if game.name != "connect4":
            raise ValueError(f"the exact values that judge here are those of connect4, of any size; got {game.spec}")
        squares = game.feature_shape[1] * game.feature_shape[2]
        ply = max(squares - FREE_SQUARES, squares // 2)
        solved = _Sampler(game, "solved position", range(squares // 4, 2 * squares // 3 + 1))
        drawn = _Sampler(game, "drawn opening", range(ply, ply + 1))
        return cls(
            game,
            solved.take(positions, lambda position: position.choice_matters),
            [position.state for position in drawn.take(openings, lambda position: max(position.values) == 0)],
        )

    def kept(self, player: SearchPlayer) -> float:
        """Return the share of the positions in which the player's move keeps the value."""
        return total(list(value_preserving_moves(player, self.positions).values())).share

    def unbeaten(self, player: SearchPlayer) -> float:
        """Return the share of the openings from which the player loses no game, whatever the replies."""
        return 1 - len(lost_openings(player, self.game, self.openings)) / len(self.openings)


@dataclass(frozen=True)
class _Sampler:
    """Positions after so many plies as one of `plies`, of games of sound moves and random ones, with their values."""

    game: _core.Game
    name: str
    plies: range

    def take(self, count: int, wanted: Callable[[SolvedPosition], bool]) -> list[SolvedPosition]:
        """Return the first so many different ones that are wanted."""
        _, rows, columns = self.game.feature_shape
        solver = _core.Connect4Solver(TABLE_BITS, columns, rows)
        found: dict[int, SolvedPosition] = {}
        for number in range(ATTEMPTS * count):
            state = self._state(number, solver)
            if state is None or state.key in found:
                continue
            position = SolvedPosition(state, tuple(solver.move_values(state).tolist()))
            if wanted(position):
                found[state.key] = position
            if len(found) == count:
                return list(found.values())
        raise ValueError(f"{self.game.spec}: only {len(found)} of {count} {self.name}s found")

    def _state(self, number: int, solver: _core.Connect4Solver) -> _core.State | None:
        """Return the position of a game after its plies, None where it ended before."""
        random = stream(POSITIONS_SEED, self.name, number)
        state = self.game.new_initial_state()
        for ply in range(int(random.choice(self.plies))):
            actions = state.legal_actions()
            if ply >= self.game.max_plies // 5 and random.random() < SOUND:
                values = solver.move_values(state)
                actions = actions[values == values.max()]
            state.apply(int(random.choice(actions)))
            if state.outcome() is not None:
                return None
        return state


def lost_openings(player: SearchPlayer, game: _core.Game, openings: Sequence[_core.State]) -> set[int]:
    """Return the numbers of the openings from which the player loses some game against some replies.

    It is the mover of those with even numbers. All positions of one ply are searched together.
    """
    chooser = MoveChooser(player, game)
    lost: set[int] = set()
    level = {(number, state.key): state for number, state in enumerate(openings)}
    while level:
        found: dict[tuple[int, int], _core.State] = {}
        own = {place: state for place, state in level.items() if state.to_move == _seat(openings, place[0])}
        moves = dict(zip(own, chooser.choose(list(own.values())).tolist(), strict=True))
        for (number, key), state in level.items():
            chosen = moves.get((number, key))
            for action in state.legal_actions().tolist() if chosen is None else (chosen,):
                child = state.copy()
                child.apply(action)
                if child.outcome() is None:
                    found[number, child.key] = child
                elif child.outcome() == (-1 if _seat(openings, number) == 0 else 1):
                    lost.add(number)
        level = {place: state for place, state in found.items() if place[0] not in lost}
    return lost


def _seat(openings: Sequence[_core.State], number: int) -> int:
    """Return the player's seat in an opening: 0 first, 1 second."""
    return openings[number].to_move if number % 2 == 0 else 1 - openings[number].to_move
