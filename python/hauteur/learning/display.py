"""Watching a learning run: the row and line of a generation, progress bars, the file that says how far a step is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import FiniteFloat, NonNegativeInt

from hauteur.system import host
from hauteur.system.files import read_json, write_bytes
from hauteur.system.formatting import duration
from hauteur.system.settings import Section, validated

if TYPE_CHECKING:
    from hauteur.learning.checkpoint import RunState
    from hauteur.learning.recipe import Recipe
    from hauteur.learning.run_folder import RunFolder

WRITE_SECONDS = 1.0
"""Minimum time between two writes of progress.json, apart from the first one of a step."""


class GenerationRow(NamedTuple):
    """A finished generation: its games, the losses of its training, its gate. As text it is a line."""

    generation: int
    """Number of the generation, from 1."""
    generations: int
    """Number of generations that the run has altogether."""
    games: int
    """Games of self-play in this generation."""
    positions: int
    """Positions of these games that are learned from."""
    first_wins: int
    """Games that the first player won."""
    draws: int
    """Games that were drawn."""
    second_wins: int
    """Games that the second player won."""
    mean_length: float
    """Mean length of the games in plies."""
    policy_loss: float
    """Mean policy loss of the training, in nats."""
    value_loss: float
    """Mean value loss of the training, in nats."""
    promoted: bool
    """Whether the generation's net became the best one."""
    score: float | None
    """Its score in the gate match, 0 to 1; None without a match."""
    elo: float | None
    """Elo of the best net, the first net having 0; None without a match."""
    seconds: float
    """Seconds of the run so far."""

    def __str__(self) -> str:
        gate = "" if self.score is None else f"{self.score:.1%} "
        elo = "" if self.elo is None else f"Elo {self.elo:+.0f}"
        parts = (
            f"gen {self.generation}/{self.generations}",
            f"games {self.games}",
            f"positions {self.positions}",
            f"W/D/L {self.first_wins}/{self.draws}/{self.second_wins}",
            f"length {self.mean_length:.1f}",
            f"loss policy {self.policy_loss:.3f} value {self.value_loss:.3f}",
            f"gate {gate}{'promoted' if self.promoted else 'kept the old net'}",
            elo,
            duration(self.seconds),
        )
        return "  ".join(filter(None, parts))


def row_of(line: dict[str, Any], generations: int) -> GenerationRow:
    """The row of a line of metrics.jsonl."""
    gate = line["gate"]
    score = gate["score"] if gate["games"] else None
    elo = line["best_elo"] if gate["games"] else None
    own = {"generations": generations, "promoted": gate["promoted"], "score": score, "elo": elo}
    found = line["train"] | line | line["games"] | own
    return GenerationRow(**{name: found[name] for name in GenerationRow._fields})


def generation_line(line: dict[str, Any], generations: int) -> str:
    """Return what the terminal shows of a finished generation: its row, what is special, speed and the time left."""
    games = line["games"]
    play = line["selfplay"]
    parts = [str(row_of(line, generations))]
    learner = games.get("learner")
    if learner is not None:
        parts.append(f"learner +{learner['wins']} ={learner['draws']} -{learner['losses']}")
    resigned = games.get("resigned")
    if resigned is not None:
        parts.append(f"resigned {resigned['games']}, wrong {resigned['wrong']} of {resigned['played_out']} played out")
    contempt = line.get("search_contempt")
    if contempt is not None:
        parts.append(_contempt_text(contempt))
    parts.append(f"fill {play['mean_batch_fill']:.0%}")
    parts.append(f"{play['evaluations_per_second']:,.0f} evals/s")
    parts.append(f"cache {play['cache_hit_rate']:.0%}")
    shares = f"{play['network_share']:.0%}/{play['search_share']:.0%}/{play['python_share']:.0%}"
    parts.append(f"network/search/Python {shares}")
    workers = line.get("workers")
    if workers is not None:
        parts.append(_workers_text(workers))
    if line["resident_bytes"]:
        parts.append(f"memory {line['resident_bytes'] / 1e6:,.0f} MB")
    seconds_each = line["seconds"] / line["generation"]
    left = seconds_each * (generations - line["generation"])
    if left > 0:
        parts.append(f"{duration(left)} left")
    return "  ".join(parts)


def _contempt_text(found: dict[str, Any]) -> str:
    """Return what the controller has seen of draws, and what it changes."""
    ratio = "no draws"
    if found["ratio"] is not None:
        ratio = f"(w+l)/d {found['ratio']:.2f}"
    if "warmth" in found:
        return f"{ratio} temperatures x {found['warmth']:.2f} -> {found['next_warmth']:.2f}"
    return f"{ratio} N_scl {found['n_scl']} -> {found['next_n_scl']} at {found['next_visits']} visits"


def _workers_text(workers: dict[str, Any]) -> str:
    """Return what the workers did in a generation."""
    facts = [
        f"workers {workers['present']:.1f}",
        f"{workers['units']} units",
        f"idle {workers['idle_share']:.0%}",
    ]
    for name in ("retried", "failed"):
        if workers[name]:
            facts.append(f"{workers[name]} {name}")
    return ", ".join(facts)


def beginning(recipe: Recipe) -> str:
    """Describe the starting point of a run in words."""
    start = recipe.start
    if start is None:
        return "from zero"
    parts = []
    if start.net is not None:
        parts.append(f"from {Path(start.net).name}")
    if start.games:
        parts.append("from recorded games")
    if start.distil_from is not None:
        parts.append(f"taught by {Path(start.distil_from).name}")
    return ", ".join(parts) or "from zero"


def completion(recipe: Recipe, state: RunState, flops: int) -> str:
    """Return in words that a run has ended, and by which of its two limits; empty where it goes on.

    flops: of its finished generations.
    """
    generations = recipe.run.generations
    budget = recipe.run.budget_flops
    finished = state.generation - 1
    time = duration(state.seconds)
    # A budget may have been changed since the run ended, so that it looks as if it had done something.
    if finished >= generations and flops < budget:
        return (
            f"{finished} generations, {time}; they took {flops:.3g} of the {budget:.3g} FLOPs, for which it needs a "
            "greater run.generations"
        )
    if finished >= generations and budget:
        return f"{finished} generations, {time}; they took {flops:.3g} FLOPs, the budget is {budget:.3g}"
    if finished >= generations:
        return f"{finished} generations, {time}"
    if 0 < budget <= flops:
        return (
            f"{finished} of {generations} generations, {time}; they took {flops:.3g} FLOPs, the budget is {budget:.3g}"
        )
    return ""


@dataclass
class Display:
    """Shows a run on the terminal: lines on stdout, warnings on stderr, progress bars where stderr is a terminal."""

    on_generation: Callable[[GenerationRow], object] | None = None
    """Takes the row of every finished generation, in the place of the lines."""

    def begin(self, recipe: Recipe, folder: RunFolder) -> None:
        """Say in a line what is begun."""
        count = recipe.run.generations
        then = " in"
        if count:
            then = f": {count} generation{'' if count == 1 else 's'} in"
        self.show(f"learning {recipe.game} {beginning(recipe)}{then} {folder.path}")

    def resume(self, recipe: Recipe, folder: RunFolder, state: RunState, positions: int, flops: int) -> None:
        """Say in a line what is resumed, or complete.

        positions: in the replay window; flops: of finished generations.
        """
        generations = recipe.run.generations
        if complete := completion(recipe, state, flops):
            self.show(f"{folder.path} is complete: {complete}")
            return
        done = f", {' and '.join(state.done)} done" if state.done else ""
        self.show(
            f"going on with {folder.path}: generation {state.generation} of {generations}{done}, "
            f"{positions:,} positions in the window"
        )

    def show(self, line: str) -> None:
        """Print a line, unless rows are taken in its place."""
        if self.on_generation is None:
            print(line, flush=True)

    def finished(self, line: dict[str, Any], generations: int) -> None:
        """Show a finished generation. line: its line of metrics.jsonl."""
        self.show(generation_line(line, generations))
        if self.on_generation is not None:
            self.on_generation(row_of(line, generations))

    def warn(self, message: str) -> None:
        """Print a warning on stderr."""
        print(f"hauteur: warning: {message}", file=sys.stderr, flush=True)

    @contextmanager
    def progress(
        self,
        name: str,
        total: int | None,
        workers: Callable[[], str | None] = lambda: None,
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
                described = f"{name} ({words})" if words else name
                bar.update(task, completed=done, description=described)

            yield show


class RunProgress(Section):
    """How far a step of a generation is, as progress.json says it."""

    generation: NonNegativeInt
    """The present generation."""
    generations: NonNegativeInt
    """Number of generations of the run."""
    step: str
    """Name of the step."""
    done: NonNegativeInt = 0
    """Games, or optimiser steps, that are done."""
    total: NonNegativeInt | None
    """How many there are in all; None where it is not known."""
    first: NonNegativeInt = 0
    """What was done when this process began to count."""
    begun: FiniteFloat
    """When that was, in seconds since 1970."""
    written: FiniteFloat
    """When the file was written, in seconds since 1970."""
    workers: str | None = None
    """Who plays games for the run, and what they wait for, in words; None: this process alone."""
    numbers: dict[str, FiniteFloat] | None = None
    """What the workers did in this generation, as in the metrics; None without workers."""

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds that the step still takes at the pace of this process; None where it cannot be known."""
        if self.total is None or self.done <= self.first:
            return None
        pace = (self.written - self.begun) / (self.done - self.first)
        left_when_written = pace * (self.total - self.done)
        return max(0.0, left_when_written - (now - self.written))

    def __str__(self) -> str:
        count = f"{self.done:,}"
        if self.total is not None:
            count += f" of {self.total:,}"
        workers = "" if self.workers is None else f" ({self.workers})"
        return f"generation {self.generation} of {self.generations}: {self.step}, {count}{workers}"


def read_progress(path: Path) -> RunProgress | None:
    """Return the content of a file; None where there is none. ValueError when it is damaged."""
    try:
        return validated(RunProgress, read_json(path), str(path))
    except FileNotFoundError:
        return None


@contextmanager
def progress_of_step(
    path: Path,
    begun: RunProgress,
    show: Callable[[int], object],
    facts: Callable[[], Mapping[str, Any]] = dict,
) -> Iterator[Callable[[int], None]]:
    """Yield the function that takes the count so far, shows it, and keeps the file up to it.

    begun: the step that begins; facts: returns more that the file has.
    """
    found = begun
    counted = False

    def write() -> None:
        # lasting=False: it says how far a running process is, and means nothing after a crash of the machine.
        write_bytes(path, found.model_copy(update=dict(facts())).model_dump_json().encode(), lasting=False)

    def count(done: int) -> None:
        nonlocal found, counted
        show(done)
        now = host.clock.now()
        changes: dict[str, Any] = {"done": done}
        # The pace counts from the first report on: what a resumed step found done took this process no time.
        if not counted:
            changes |= {"first": done, "begun": now}
        counted = True
        is_due = now - found.written >= WRITE_SECONDS
        if is_due:
            changes["written"] = now
        found = found.model_copy(update=changes)
        if is_due:
            write()

    write()
    yield count
