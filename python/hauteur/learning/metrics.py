"""Metrics and console output of a learning run: numbers of a generation, its line, progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hauteur.games.game_line import NO_NET
from hauteur.learning.recorded_games import Games
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.ratio import decisive_ratio
from hauteur.system.formatting import duration

if TYPE_CHECKING:
    from hauteur.learning.checkpoint import RunState
    from hauteur.learning.recipe import Recipe
    from hauteur.learning.run_folder import RunFolder
    from hauteur.matches.arena import ArenaFacts

REPEAT_PLIES = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Plies at which the share of unique games is reported."""


def generation_metrics(recipe: Recipe, games: Games) -> dict[str, Any]:
    """Numbers of a generation's games, with those that this recipe gives a meaning."""
    found = game_metrics(games)
    if recipe.selfplay.episodes == "candidate-versus-best":
        found["candidate"] = asdict(candidate_record(games))
    if recipe.opponent is not None:
        found["learner"] = learner_metrics(games)
    if recipe.selfplay.resignation is not None:
        found["resigned"] = resignation_metrics(games)
    return found


def cost_metrics(
    found: dict[str, Any] | None, last: dict[str, Any] | None, evaluations: tuple[int, int], towers: Sequence[float]
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


def candidate_record(games: Games) -> MatchScore:
    """Results of the candidate in candidate-versus-best episodes: it moves first in the games with even numbers."""
    results = np.where(games.index % 2 == 0, games.outcome, -games.outcome)
    wins, draws, losses = (int((results == result).sum()) for result in (1, 0, -1))
    return MatchScore(wins=wins, draws=draws, losses=losses)


def game_metrics(games: Games) -> dict[str, Any]:
    """Numbers of a generation's games: counts, results of the first player, mean length, unique openings."""
    first = MatchScore(*(int((games.outcome == outcome).sum()) for outcome in (1, 0, -1)))
    return {
        "games": games.games,
        "positions": games.positions,
        "first_wins": first.wins,
        "draws": first.draws,
        "second_wins": first.losses,
        "ratio": decisive_ratio(first),
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
    result = np.where(games.nets[:, 1] == NO_NET, games.outcome, -games.outcome)
    wins, draws, losses = (int((result == value).sum()) for value in (1, 0, -1))
    return {"wins": wins, "draws": draws, "losses": losses}


def unique_shares(games: Games) -> dict[str, float]:
    """Share of different lines among the games' first m plies, for growing m up to the longest game."""
    lengths = games.line_lengths
    lines = [games.lines[begin:end] for begin, end in zip(games.line_offsets, games.line_offsets[1:], strict=False)]
    plies = [m for m in REPEAT_PLIES if m <= lengths.max(initial=0)]
    return {str(m): len({line[:m].tobytes() for line in lines}) / len(lines) for m in plies}


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


def generation_line(history: list[dict[str, Any]], generations: int) -> str:
    """Return a one-line summary of the last generation in the history, with the estimated time left."""
    last = history[-1]
    games, play, train = last["games"], last["selfplay"], last["train"]
    total = sum(line["games"]["games"] for line in history)
    parts = [
        f"gen {last['generation']}/{generations}",
        f"games {games['games']} ({total})",
        f"positions {games['positions']}",
        f"W/D/L {games['first_wins']}/{games['draws']}/{games['second_wins']}",
        f"length {games['mean_length']:.1f}",
        *_special_games(games),
        f"loss policy {train['policy_loss']:.3f} value {train['value_loss']:.3f}",
        _gate_text(last),
        *_controller_text(last),
        f"fill {play['mean_batch_fill']:.0%}",
        f"{play['evaluations_per_second']:,.0f} evals/s",
        f"cache {play['cache_hit_rate']:.0%}",
        f"network/search/Python {play['network_share']:.0%}/{play['search_share']:.0%}/{play['python_share']:.0%}",
    ]
    parts += _workers_text(last)
    if last["resident_bytes"]:
        parts.append(f"memory {last['resident_bytes'] / 1e6:,.0f} MB")
    parts.append(_time_text(last, generations))
    return "  ".join(parts)


def _special_games(games: dict[str, Any]) -> list[str]:
    """Return summaries of resignations and of games against a fixed opponent."""
    parts = []
    if (learner := games.get("learner")) is not None:
        parts.append(f"learner +{learner['wins']} ={learner['draws']} -{learner['losses']}")
    if (resigned := games.get("resigned")) is not None:
        parts.append(f"resigned {resigned['games']}, wrong {resigned['wrong']} of {resigned['played_out']} played out")
    return parts


def _gate_text(line: dict[str, Any]) -> str:
    gate = line["gate"]
    if not gate["games"]:
        return "gate off"
    verdict = "promoted" if gate["promoted"] else "kept the old net"
    record = f"+{gate['wins']} ={gate['draws']} -{gate['losses']}"
    return f"gate {record} {gate['score']:.1%} {verdict}  Elo {line['best_elo']:+.0f}"


def _controller_text(line: dict[str, Any]) -> list[str]:
    found = line.get("search_contempt")
    if found is None:
        return []
    ratio = "no draws" if found["ratio"] is None else f"(w+l)/d {found['ratio']:.2f}"
    following = f"N_scl {found['n_scl']} -> {found['next_n_scl']}"
    return [f"{ratio} {following} at {found['next_visits']} visits"]


def _workers_text(line: dict[str, Any]) -> list[str]:
    found = line.get("workers")
    if found is None:
        return []
    rare = [f", {found[name]} {name}" for name in ("retried", "failed") if found[name]]
    return [f"workers {found['present']:.1f}, {found['units']} units, idle {found['idle_share']:.0%}{''.join(rare)}"]


def _time_text(line: dict[str, Any], generations: int) -> str:
    left = line["seconds"] / line["generation"] * (generations - line["generation"])
    return f"took {duration(line['seconds'])}" if left <= 0 else f"{duration(left)} left"


def beginning(recipe: Recipe) -> str:
    """Describe the starting point of a run in words."""
    start = recipe.start
    if start is None:
        return "from zero"
    parts = [f"from {Path(start.net).name}"] if start.net is not None else []
    parts += ["from recorded games"] if start.games else []
    parts += [f"taught by {Path(start.distil_from).name}"] if start.distil_from is not None else []
    return ", ".join(parts) or "from zero"


class Display:
    """Shows a run on the terminal: lines on stdout, warnings on stderr, progress bars where stderr is a terminal."""

    def begin(self, recipe: Recipe, folder: RunFolder, resumed: RunState | None, positions: int) -> None:
        """Print that a run begins, resumes or is complete."""
        run = recipe.run
        if resumed is None:
            then = f": {run.generations} generations in" if run.generations else " in"
            text = f"learning {recipe.game} {beginning(recipe)}{then} {folder.path}"
        elif resumed.generation > run.generations:
            text = f"{folder.path} is complete: {run.generations} generations, {duration(resumed.seconds)}"
        else:
            done = f", {' and '.join(resumed.done)} done" if resumed.done else ""
            text = (
                f"going on with {folder.path}: generation {resumed.generation} of {run.generations}{done}, "
                f"{positions:,} positions in the window"
            )
        print(text, flush=True)

    def generation(self, line: str) -> None:
        """Print a generation's line."""
        print(line, flush=True)

    def finished(self, line: dict[str, Any]) -> None:
        """Take note of the metrics of a finished generation."""

    def warn(self, message: str) -> None:
        """Print a warning."""
        print(f"hauteur: warning: {message}", file=sys.stderr, flush=True)

    @contextmanager
    def progress(
        self, name: str, total: int | None, workers: Callable[[], str | None] = lambda: None
    ) -> Iterator[Callable[[int], None]]:
        """Show a progress bar of a step (total None: unknown); yield the function that takes the count so far.

        workers: returns who plays games for the run, in words, which the bar shows too.
        """
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task(name, total=total)

            def show(done: int) -> None:
                words = workers() if console.is_terminal else None
                bar.update(task, completed=done, description=f"{name} ({words})" if words else name)

            yield show
