"""Metrics of a learning run: the numbers of a generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur.games.game_line import NO_NET
from hauteur.learning.recorded_games import Games
from hauteur.matches.ratings.elo import MatchScore

if TYPE_CHECKING:
    from hauteur.learning.recipe import Recipe
    from hauteur.matches.arena import ArenaFacts

REPEAT_PLIES = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Plies at which the share of unique games is reported."""


def generation_metrics(recipe: Recipe, games: Games) -> dict[str, Any]:
    """Numbers of a generation's games, with those that this recipe gives a meaning."""
    found = game_metrics(games)
    if recipe.selfplay.episodes == "candidate-versus-best":
        moves_first = games.index % 2 == 0
        of_candidate = np.where(moves_first, games.outcome, -games.outcome)
        found["candidate"] = asdict(_record(of_candidate))
    if recipe.opponent is not None:
        found["learner"] = learner_metrics(games)
    if recipe.selfplay.archive is not None:
        found["mean_start"] = float((games.line_lengths - games.move_counts).mean())
    if recipe.selfplay.resignation is not None:
        found["resigned"] = resignation_metrics(games)
    return found


def cost_metrics(
    found: dict[str, Any] | None,
    last: dict[str, Any] | None,
    evaluations: tuple[int, int],
    towers: Sequence[float],
) -> dict[str, Any]:
    """Evaluations by the run's nets in a generation, small and large, and the normalised budget that they are.

    A unit of it is one evaluation of a tower of 128 filters and 10 blocks (Lan et al. 2019, section 4). found: the
    numbers of the generation so far; last: those of the one before; towers: what an evaluation of each net costs.
    """
    units = sum(count * cost for count, cost in zip(evaluations, towers, strict=False))
    before = last["normalised_total"] if last else 0.0
    found = found or {"evaluations": 0, "evaluations_large": 0, "normalised": 0, "normalised_total": before}
    counts = {"evaluations": evaluations[0], "evaluations_large": evaluations[1]}
    added = {**counts, "normalised": units, "normalised_total": units}
    return {name: value + added[name] for name, value in found.items()}


def _record(results: NDArray[Any]) -> MatchScore:
    """Return how many results are 1, 0 and -1."""
    return MatchScore(
        wins=int((results == 1).sum()),
        draws=int((results == 0).sum()),
        losses=int((results == -1).sum()),
    )


def game_metrics(games: Games) -> dict[str, Any]:
    """Numbers of a generation's games: counts, results of the first player, mean length, unique openings."""
    first = _record(games.outcome)
    return {
        "games": games.games,
        "positions": games.positions,
        "first_wins": first.wins,
        "draws": first.draws,
        "second_wins": first.losses,
        "ratio": (first.wins + first.losses) / first.draws if first.draws else None,
        "mean_length": float(games.line_lengths.mean()),
        "unique_share": unique_shares(games),
    }


def resignation_metrics(games: Games) -> dict[str, int]:
    """Games that ended by resignation; games that were played out all the same; in how many of those it was wrong.

    Wrong: the side that would have resigned did not lose.
    """
    played_out = (games.resigned >= 0) & ~games.gave_up
    result = np.where(games.resigned == 0, games.outcome, -games.outcome)
    return {
        "games": int(games.gave_up.sum()),
        "played_out": int(played_out.sum()),
        "wrong": int((played_out & (result >= 0)).sum()),
    }


def learner_metrics(games: Games) -> dict[str, int]:
    """The learner's wins, draws and losses against the fixed opponent."""
    moves_first = games.nets[:, 1] == NO_NET
    outcomes = np.where(moves_first, games.outcome, -games.outcome)
    return asdict(_record(outcomes))


def unique_shares(games: Games) -> dict[str, float]:
    """Share of different lines among the games' first m plies, for growing m up to the longest game."""
    lengths = games.line_lengths
    bounds = pairwise(games.line_offsets)
    lines = [games.lines[begin:end] for begin, end in bounds]
    plies = [m for m in REPEAT_PLIES if m <= lengths.max(initial=0)]
    shares = {}
    for m in plies:
        different = {line[:m].tobytes() for line in lines}
        shares[str(m)] = len(different) / len(lines)
    return shares


def search_metrics(facts: ArenaFacts, seconds: float | None = None) -> dict[str, Any]:
    """Numbers of a stretch of self-play: speed, fill, cache, shares of time.

    seconds: of the clock, where the facts are of several workers together.
    """
    search = facts.search
    total = max(search.total, 1e-9)
    seconds = total if seconds is None else max(seconds, 1e-9)
    return {
        "games": facts.games,
        "seconds": seconds,
        "games_per_second": facts.games / seconds,
        "moves_per_second": facts.moves / seconds,
        "visits_per_second": facts.visits / seconds,
        "evaluations": search.rows,
        "evaluations_per_second": search.rows / seconds,
        "mean_batch_fill": search.fill,
        "mean_batch_rows": search.rows / search.batches if search.batches else 0.0,
        "cache_hit_rate": facts.cache_hit_rate,
        "network_share": search.network / total,
        "search_share": search.search / total,
        "python_share": search.python / total,
        "tree_bytes": facts.tree_bytes,
    }
