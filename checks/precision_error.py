"""How far the core's answers in bfloat16 are from those in float32, by instructions.

python checks/precision_error.py POSITIONS INSTRUCTIONS[,...] NET [NET ...]

Positions are those of games that the net plays by its own policy, 16 at once; INSTRUCTIONS are of bfloat16: `amx`,
`avx512`, and, on processors without them, `emulated-amx` and `emulated-avx512`, which have their bits and are slow.
For instance:

python checks/precision_error.py 400 emulated-amx,emulated-avx512 maia-1700.pb.gz

Printed are the greatest and the mean difference of a legal move's probability and of Q = win - loss, the mean of that
difference with its sign, and in how many positions the best move is the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hauteur import _core, networks
from hauteur.networks.evaluators.callables import features_of
from hauteur.networks.evaluators.core import CoreEvaluator
from hauteur.networks.registry import Net

GAMES = 16
ROWS = 64


def main(arguments: Sequence[str]) -> None:
    """Print a line for each net and each set of instructions."""
    if len(arguments) < 3 or not arguments[0].isdigit() or int(arguments[0]) == 0:
        sys.exit("usage: python checks/precision_error.py POSITIONS INSTRUCTIONS[,...] NET [NET ...]")
    positions, instructions, *paths = arguments
    for path in paths:
        compare(Path(path), int(positions), instructions.split(","))


def compare(path: Path, count: int, instructions: Sequence[str]) -> None:
    """Print the differences of one net's answers."""
    net = networks.load(path)
    game = _core.Game(net.game)
    exact = CoreEvaluator(game, net)
    states = played_positions(game, exact, count)
    expected = answers(exact, game, states)
    for name in instructions:
        found = answers(opened(game, net, name), game, states)
        print(f"{path.name}  {name}  {len(states)} positions  {difference(states, found, expected)}", flush=True)


def opened(game: _core.Game, net: Net, instructions: str) -> CoreEvaluator:
    """Open the net in bfloat16 with these instructions."""
    return CoreEvaluator(game, net, precision="bfloat16", instructions=instructions)


def played_positions(game: _core.Game, evaluator: CoreEvaluator, count: int) -> list[_core.State]:
    """Return positions of games in which each move is drawn by the evaluator's policy; the same ones each time."""
    random = np.random.default_rng(0)
    games = [game.new_initial_state() for _ in range(GAMES)]
    found: list[_core.State] = []
    while len(found) < count:
        found += [state.copy() for state in games]
        logits, _ = evaluator(features_of(game, games))
        for number, (state, row) in enumerate(zip(games, logits, strict=True)):
            actions = state.legal_actions()
            state.apply(int(random.choice(actions, p=legal_policy(state, row))))
            if state.outcome() is not None:
                games[number] = game.new_initial_state()
    return found[:count]


def answers(
    evaluator: CoreEvaluator, game: _core.Game, states: Sequence[_core.State]
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the probabilities of each position's legal moves, and Q of all positions."""
    policies = list[NDArray[np.float64]]()
    values = list[NDArray[np.float64]]()
    for begin in range(0, len(states), ROWS):
        part = states[begin : begin + ROWS]
        logits, wdl = evaluator(features_of(game, part))
        policies += [legal_policy(state, row) for state, row in zip(part, logits, strict=True)]
        values.append((wdl[:, 0] - wdl[:, 2]).astype(np.float64))
    return policies, np.concatenate(values)


def legal_policy(state: _core.State, logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the probabilities of the legal actions, in their order."""
    legal = logits[state.legal_actions()].astype(np.float64)
    weights = np.exp(legal - legal.max())
    return np.asarray(weights / weights.sum())


def difference(
    states: Sequence[_core.State],
    found: tuple[list[NDArray[np.float64]], NDArray[np.float64]],
    expected: tuple[list[NDArray[np.float64]], NDArray[np.float64]],
) -> str:
    """Return the differences in words."""
    policy = np.concatenate([np.abs(a - b) for a, b in zip(found[0], expected[0], strict=True)])
    value = found[1] - expected[1]
    same = sum(int(a.argmax() == b.argmax()) for a, b in zip(found[0], expected[0], strict=True))
    return (
        f"|dP| {policy.max():.3f}, {policy.mean():.1e}  |dQ| {np.abs(value).max():.3f}, {np.abs(value).mean():.4f}"
        f"  dQ {value.mean():+.4f}  same best move {same / len(states):.1%}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
