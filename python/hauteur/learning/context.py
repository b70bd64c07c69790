"""What the steps of a run share: its settings, nets, games and state, the checkpoint that ends each step, and what
options of a recipe may add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur import _core
from hauteur.learning.checkpoint import RunState, save_checkpoint
from hauteur.learning.compute import compute_metrics, flops_until
from hauteur.learning.display import Display, RunProgress, progress_of_step
from hauteur.learning.metrics import cost_metrics
from hauteur.learning.recipe import Recipe
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import SelfPlaySettings
from hauteur.mcts.net_search import FACT
from hauteur.system import hardware, host

if TYPE_CHECKING:  # torch and pyarrow: a wrong setting is named before they are loaded
    from hauteur.cluster.scheduler import Scheduler
    from hauteur.learning.planned import Starts
    from hauteur.learning.recorded_games import Games
    from hauteur.learning.step_games import StepCost, StepGames
    from hauteur.learning.trainers import Learners
    from hauteur.learning.units import OtherNets


@dataclass
class Run:
    """A learning run in progress."""

    recipe: Recipe
    """All settings, with what `auto` means on this machine."""
    folder: RunFolder
    """Where everything is written."""
    game: _core.Game
    """The rules."""
    learners: Learners
    """The network in training with its optimiser; with a section [large] two of them."""
    state: RunState
    """What a checkpoint keeps: the generation, its finished steps and metrics, the history."""
    display: Display
    """Shows progress and warnings."""
    scheduler: Scheduler | None
    """Hands games to workers; None: this process plays them."""
    other_nets: OtherNets
    """Nets of other players in its games: a fixed opponent's, a model of the opponent."""
    options: Sequence[Option]
    """What the recipe adds to the loop, in the order in which it is asked."""
    buffer: ReplayBuffer = field(init=False)
    """The latest games of self-play, which training draws positions from."""
    threads: int = field(init=False)
    """Threads of the processor for nets and training."""
    games: StepGames = field(init=False)
    """Plays the games of the steps."""

    def __post_init__(self) -> None:
        from hauteur.learning.step_games import StepGames

        train = self.recipe.train
        self.buffer = ReplayBuffer(
            self.game,
            train.window_games,
            surprise_weight=train.surprise_weight,
            average_equal=train.average_equal,
            legal=train.mask_illegal,
            proven=train.proven_targets,
            extra=train.extra,
            targets=self.learners.trainers[0].targets,
        )
        self.threads = self.recipe.run.cores
        self.games = StepGames(
            self.recipe,
            self.folder,
            self.net_files,
            self.other_nets,
            self.threads,
            self.display.warn,
            self.scheduler,
            self.state.current,
        )
        for option in self.options:
            option.opened(self)

    @property
    def is_over(self) -> bool:
        """Whether all generations are finished, or their compute has reached the budget of the recipe."""
        # Asked between generations alone: within one the evaluations so far depend on which units have come first.
        if self.state.generation > self.recipe.run.generations:
            return True
        return 0 < self.recipe.run.budget_flops <= self.flops()

    def take(self, name: str, step: Step) -> None:
        """Take a step of the present generation, then write a checkpoint in which it is done."""
        # A step that is killed counts no seconds; its games are on disk, and only the time since the resume is known.
        wall = host.clock.passed()
        cpu = host.clock.processor()
        step(self)
        # Nets, games and decisions are on disk before the checkpoint that counts on them: after a kill in between the
        # step is taken again and replaces them.
        self.state.done.append(name)
        self.state.seconds += host.clock.passed() - wall
        self.state.cpu_seconds += host.clock.processor() - cpu
        self.state.current |= self.games.metrics()
        self.checkpoint()

    def begin_next_generation(self) -> None:
        """Count the generation up and write a checkpoint. What follows from it is for `publish`."""
        self.state.generation += 1
        self.state.done = []
        self.state.current = {}
        self.checkpoint()

    def checkpoint(self) -> None:
        """Write state, weights and optimiser as one file, whole or not at all."""
        self.state.train_steps = self.learners.steps
        save_checkpoint(self.folder.checkpoint, self.state, self.learners.tensors())

    def selfplay_of(self, generation: int) -> SelfPlaySettings:
        """Return the settings of self-play as they were, or will be, in a generation."""
        settings = self.recipe.selfplay
        for option in self.options:
            settings = option.selfplay(self, generation, settings)
        return settings

    @contextmanager
    def progress(self, step: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show the progress of a step on the display and in progress.json; yield what takes the count so far.

        total: of the count; None where it is not known.
        """
        now = host.clock.now()
        begun = RunProgress(
            generation=self.state.generation,
            generations=self.recipe.run.generations,
            step=step,
            total=total,
            begun=now,
            written=now,
        )
        bar = self.display.progress(step, total, self.games.workers)
        with bar as show, progress_of_step(self.folder.progress, begun, show, self.games.progress) as count:
            yield count

    def net_files(self, generation: int) -> list[Path]:
        """Return the file of a generation's net, then that of the large one where there are two."""
        files = [self.folder.net(generation)]
        if self.recipe.large is not None:
            files.append(self.folder.net(generation, large=True))
        return files

    def save_nets(self, generation: int) -> None:
        """Write the present weights as the net, or the nets, of a generation."""
        files = self.net_files(generation)
        # No time and no machine: the net of a resumed run is the same file as that of a run that went through.
        training: dict[str, Any] = {
            "generation": generation,
            "games": sum(self.state.games.values()),
            "steps": self.learners.steps,
            "samples": self.learners.steps * self.recipe.train.batch_size,
            "seed": self.recipe.run.seed,
        }
        if self.recipe.play_search is not None:
            training[FACT] = self.recipe.play_search
        self.learners.save(self.game, files, training)

    def charge_games(self, cost: StepCost) -> None:
        """Count the evaluations by the run's nets in a stretch of self-play."""
        last = None
        if self.state.history:
            last = self.state.history[-1]["cost"]
        towers = [trainer.cost for trainer in self.learners.trainers]
        before = self.state.current.get("cost")
        self.state.current["cost"] = cost_metrics(before, last, cost.evaluations, towers)
        self.charge(cost.evaluations)

    def charge(self, evaluations: tuple[int, int], samples: int = 0) -> None:
        """Charge the present generation with forward passes of both nets, and with positions that each trains on."""
        found = self.state.current.get("compute")
        compute = self.learners.compute
        self.state.current["compute"] = compute_metrics(found, self.flops(), compute, evaluations, samples)

    def flops(self) -> int:
        """Return the floating-point operations of all finished generations, by the rule of `compute`."""
        return flops_until(self.state.lines, self.learners.compute)

    def totals(self) -> dict[str, Any]:
        """Return what the run has taken until now, and its memory."""
        return {
            "train_steps": self.state.train_steps,
            "seconds": self.state.seconds,
            "cpu_seconds": self.state.cpu_seconds,
            "resident_bytes": hardware.resident_bytes(),
        }

    def show_spent_budget(self) -> None:
        """Say that the budget has ended the run before its last generation, if it has."""
        if self.is_over and self.state.generation <= self.recipe.run.generations:
            self.display.show(f"the budget of {self.recipe.run.budget_flops:.3g} FLOPs is spent")


Step = Callable[[Run], None]
"""A step of a generation."""

Steps = dict[str, Step]
"""Steps by the names that a checkpoint keeps, in order."""


class Option:
    """What an idea beyond AlphaZero may add to the loop. It is asked at these moments, and changes nothing here."""

    def check(self, game: _core.Game, recipe: Recipe) -> None:
        """Raise ValueError, before a run is begun, where its settings do not fit the game or their files."""

    def opened(self, run: Run) -> None:
        """Begin its own part of the state, where a new run has none yet. No game has been read."""

    def first_read(self, run: Run, games: Mapping[int, int], first: int) -> int:  # noqa: ARG002
        """Return the first generation whose games a resumed run reads; `first` is needed without this option.

        games: how many each finished generation has.
        """
        return first

    def games_read(self, run: Run, generation: int, games: Games) -> None:
        """Take the games of a generation, just played or read again by a resumed run."""

    def generation_read(self, run: Run, generation: int, first: int) -> None:
        """Repeat what was done to the replay buffer after the self-play of a generation that a resumed run reads.

        first: the oldest generation that the buffer needs.
        """

    def before_first_generation(self, run: Run) -> None:
        """Do what precedes generation 1, unless a checkpoint says that it is done."""

    def steps(self, steps: Steps) -> Steps:
        """Return the steps of a generation with its own."""
        return steps

    def selfplay(self, run: Run, generation: int, settings: SelfPlaySettings) -> SelfPlaySettings:  # noqa: ARG002
        """Return the settings of self-play of a generation, from those without this option."""
        return settings

    def starts(self, generation: int) -> Starts | None:  # noqa: ARG002
        """Return what draws where games of a generation begin; None: they begin as the settings say."""
        return None

    def after_generation(self, run: Run) -> None:
        """Learn from the generation that ends, before its metrics are written."""
