"""Judging players by exact play, without an opponent: solved positions, and games against all replies.

The player is a net with plain PUCT and the most visited move; all positions of one ply are searched together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import hauteur as ht

POSITIONS_SEED = 1
"""Of the games that positions are taken from: all players are judged by the same ones."""

SOUND = 0.75
"""Share of the moves, after the first fifth of the board, that keep the value of the position; the others are any. In
positions of random games a little knowledge is enough, and what is learned afterwards does not show."""

ATTEMPTS = 1000
"""Games for each requested position, at most."""

FREE_PLIES = 10
"""Left, at most, in a drawn position from which all replies are tried."""

Choose = Callable[[Sequence[ht.State]], Sequence[int]]
"""A player's moves in unfinished positions."""


def chooser(net: Path, search: ht.SearchParams, visits: int) -> Choose:
    """Return the most visited moves of a net."""

    def choose(states: Sequence[ht.State]) -> Sequence[int]:
        if not states:
            return []
        found = ht.search_batch(states, str(net), search, visits=visits)
        return [
            int(row.argmax()) if row.any() else int(best)
            for row, best in zip(found.visits, found.best_actions, strict=True)
        ]

    return choose


def lost_positions(choose: Choose, openings: Sequence[ht.State], sides: Sequence[int]) -> dict[int, int]:
    """Return how many different lost positions there are, by the number of the opening, whatever the opponent replies.

    sides: of the player in each opening, 0 first, 1 second; openings without a loss are not in it.
    """
    lost: dict[int, set[int]] = {}
    level = {(number, state.key): state for number, state in enumerate(openings)}
    while level:
        own = {}
        for (opening, key), state in level.items():
            if state.to_move == sides[opening]:
                own[opening, key] = state
        moves = dict(zip(own, choose(list(own.values())), strict=True))
        found: dict[tuple[int, int], ht.State] = {}
        for (opening, key), state in level.items():
            move = moves.get((opening, key))
            actions = state.legal_actions().tolist() if move is None else [move]
            loss = -1 if sides[opening] == 0 else 1
            for action in actions:
                child = state.copy()
                child.apply(action)
                outcome = child.outcome()
                if outcome is None:
                    found[opening, child.key] = child
                elif outcome == loss:
                    lost.setdefault(opening, set()).add(child.key)
        level = found
    return {opening: len(keys) for opening, keys in lost.items()}


def losses(choose: Choose, game: str) -> int:
    """Return the lost positions from the start, in both sides together; 0: the player never loses."""
    start = ht.position(game)
    return sum(lost_positions(choose, [start, start], [0, 1]).values())


@dataclass(frozen=True)
class ExactEvaluator:
    """Exact values by which players of a small game are evaluated.

    positions: solved ones in which some move gives the value away, with the values of their legal moves; openings:
    drawn ones, in which the player is the mover in those with even numbers.
    """

    positions: Sequence[tuple[ht.State, Mapping[int, int]]]
    openings: Sequence[ht.State]

    @classmethod
    def of(cls, spec: str, positions: int, openings: int) -> ExactEvaluator:
        """Return an evaluator with N of each; ValueError where the game cannot be solved, or has fewer."""
        game = ht.load_game(spec)
        longest = game.max_plies
        ply = max(longest - FREE_PLIES, longest // 2)
        values = ht.exact_values(game)
        plies = range(longest // 4, 2 * longest // 3 + 1)
        solved = _sampled(game, values, "solved position", plies, positions, lambda found: len(set(found)) > 1)
        drawn = _sampled(game, values, "drawn opening", range(ply, ply + 1), openings, lambda found: max(found) == 0)
        return cls(solved, [state for state, _ in drawn])

    def kept(self, choose: Choose) -> float:
        """Return the share of the positions in which the player's move keeps the value."""
        moves = choose([state for state, _ in self.positions])
        kept = 0
        for (_, values), move in zip(self.positions, moves, strict=True):
            kept += values[move] == max(values.values())
        return kept / len(self.positions)

    def unbeaten(self, choose: Choose) -> float:
        """Return the share of the openings from which the player loses no game, whatever the replies."""
        sides = []
        for number, state in enumerate(self.openings):
            sides.append(state.to_move if number % 2 == 0 else 1 - state.to_move)
        lost = lost_positions(choose, self.openings, sides)
        return 1 - len(lost) / len(self.openings)


Values = Callable[[ht.State], Sequence[int]]


def _sampled(
    game: ht.Game,
    values: Values,
    name: str,
    plies: range,
    count: int,
    fits: Callable[[Sequence[int]], bool],
) -> list[tuple[ht.State, Mapping[int, int]]]:
    """Return different positions after plies of games of sound moves and random ones, whose values fit."""
    found: dict[int, tuple[ht.State, Mapping[int, int]]] = {}
    for number in range(ATTEMPTS * count):
        state = _random_state(game, values, name, plies, number)
        if state is None or state.key in found:
            continue
        known = values(state)
        if fits(known):
            actions = state.legal_actions().tolist()
            found[state.key] = state, dict(zip(actions, known, strict=True))
        if len(found) == count:
            return list(found.values())
    raise ValueError(f"{game.spec}: only {len(found)} of {count} {name}s found")


def _random_state(game: ht.Game, values: Values, name: str, plies: range, number: int) -> ht.State | None:
    """Return the position of a game after its plies, None where it ended before."""
    random = ht.stream(POSITIONS_SEED, name, number)
    state = game.new_initial_state()
    for ply in range(int(random.choice(plies))):
        actions = state.legal_actions().tolist()
        if ply >= game.max_plies // 5 and random.random() < SOUND:
            known = values(state)
            actions = [action for action, value in zip(actions, known, strict=True) if value == max(known)]
        state.apply(int(random.choice(actions)))
        if state.outcome() is not None:
            return None
    return state
