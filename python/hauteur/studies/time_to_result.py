"""Time to result: the processor time after which the nets of a training run reach goals that exact play defines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.learning.run_folder import RunFolder
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.players.search_player import SearchPlayer
from hauteur.studies.exact_play import (
    PROVABLE,
    play_against_every_reply,
    solved_connect4_positions,
    total,
    value_preserving_moves,
)

JUDGE = SearchParams()
"""The search that measures the nets of every run, whatever they learned by: plain PUCT without noise."""

SHARES = (0.90, 0.95, 0.99)
"""Goals of Connect Four: shares of value-preserving moves."""


@dataclass(frozen=True)
class ResultGoal:
    """A goal and the level of `measured_level` at which it is reached."""

    text: str
    level: float


@dataclass(frozen=True)
class MeasuredNet:
    """The net of a generation: what it cost so far, in seconds and games, and its measured level, at most 1."""

    generation: int
    cpu_seconds: float
    seconds: float
    games: int
    level: float


def goals(game: _core.Game) -> list[ResultGoal]:
    """Return the goals of a game, easiest first; ValueError for a game without."""
    if game.spec == "tictactoe":
        return [ResultGoal("tic-tac-toe: no loss against any reply, in either seat", 1.0)]
    if game.spec == "connect4":
        return [ResultGoal(f"Connect Four: {share:.0%} value-preserving moves", share) for share in SHARES]
    raise ValueError(f"goals are defined for {' and '.join(PROVABLE)}, got a run of {game.spec}")


def measured_level(player: SearchPlayer, game: _core.Game) -> float:
    """Return the share of value-preserving moves (Connect Four), or of ended lines without a loss (tic-tac-toe)."""
    if game.spec == "connect4":
        return total(list(value_preserving_moves(player, solved_connect4_positions()).values())).share
    lines = play_against_every_reply(player, game)
    return 1 - sum(line.losses for line in lines) / sum(line.wins + line.draws + line.losses for line in lines)


def measured_nets(folder: RunFolder, visits: int) -> Iterator[MeasuredNet]:
    """Measure the net of every finished generation of a run, in order, with `visits` visits a move."""
    recipe = folder.stored_recipe()
    game = load_game(recipe.game)
    goals(game)
    games = 0
    for line in folder.read_metrics():
        games += line["games"]["games"]
        with closing(make_evaluator(game, str(folder.net(line["generation"])))) as evaluator:
            player = SearchPlayer("net", evaluator, JUDGE, visits)
            level = measured_level(player, game)
        yield MeasuredNet(line["generation"], line["cpu_seconds"], line["seconds"], games, level)


def first_at(nets: Sequence[MeasuredNet], goal: ResultGoal) -> MeasuredNet | None:
    """Return the first net at the goal's level; None where none is."""
    return next((net for net in nets if net.level >= goal.level), None)


def leaderboard_rows(folder: RunFolder, nets: Sequence[MeasuredNet], visits: int) -> list[str]:
    """Return a row of the leaderboard for each goal, as a Markdown table without its head."""
    meta = folder.read_meta()
    recipe = folder.stored_recipe()
    machine = f"{meta.get('processor', '?')}, {recipe.run.threads or meta.get('cores', '?')} threads"
    return [
        f"| {goal.text} | {_cost(first_at(nets, goal), nets)} | {visits} | {machine} | {_commit(meta)} |"
        for goal in goals(load_game(recipe.game))
    ]


LEADERBOARD_HEAD = (
    "| goal | CPU minutes (wall, games, generation) | visits a move | hardware | commit |\n|---|---|---|---|---|"
)


def _cost(reached: MeasuredNet | None, nets: Sequence[MeasuredNet]) -> str:
    if reached is None:
        best = max(nets, key=lambda net: net.level)
        return f"not reached: {best.level:.1%} after {nets[-1].cpu_seconds / 60:.1f}"
    games = f"{reached.games:,} games, generation {reached.generation}"
    return f"{reached.cpu_seconds / 60:.1f} ({reached.seconds / 60:.1f}, {games})"


def _commit(meta: dict[str, Any]) -> str:
    return str(meta.get("commit") or "?")[:7]
