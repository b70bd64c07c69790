"""The learning loop: games = selfplay(best); replay.extend(games); candidate = train(replay); best = gate(candidate).

Each step ends with a checkpoint, so a killed run resumes at its current step; self-play keeps even the games of a
half-finished step. Every output is a complete file or absent, and is written before the checkpoint that relies on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.begins import check_begins
from hauteur.games.game_line import NO_NET
from hauteur.games.registry import load_game
from hauteur.learning import controller
from hauteur.learning.archive import Archive
from hauteur.learning.checkpoint import RunState, load_checkpoint, save_checkpoint
from hauteur.learning.compute import compute_metrics, flops_until
from hauteur.learning.display import Display, RunProgress, progress_of_step, removed_at_the_end
from hauteur.learning.gate import GateResults, check_gate, decide, divergence, sprt_of
from hauteur.learning.metrics import cost_metrics, generation_metrics, search_metrics
from hauteur.learning.planned import PlannedGames, planned_gate, planned_reanalysis, planned_selfplay
from hauteur.learning.recipe import Recipe, SelfPlaySettings, settled_recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import ReplayBuffer, first_needed
from hauteur.learning.run_folder import RunFolder
from hauteur.matches.ratings.elo import MatchScore, finite_elo
from hauteur.networks.registered import learned_by
from hauteur.system import hardware
from hauteur.system.files import write_bytes, write_json

if TYPE_CHECKING:  # each step imports what it needs: a wrong setting is named before torch is loaded
    from hauteur.cluster.scheduler import Scheduler
    from hauteur.learning.start import Start
    from hauteur.learning.step_games import StepCost, StepGames
    from hauteur.learning.trainers import Learners


REANALYSE = "reanalyse"
"""Name of the step that searches old positions again."""
UNLIKE = "are not those that the nets have learned from (another machine or version plays others)"


def learn(
    recipe: Recipe,
    *,
    folder: Path | None = None,
    fresh: bool = False,
    display: Display | None = None,
    scheduler: Scheduler | None = None,
) -> Run:
    """Begin or resume the run of this recipe and take it to its end.

    fresh: ValueError when the folder holds a run already. Also when it holds a run with other settings, or another
    process is learning in it.
    """
    place = RunFolder(folder or recipe.folder)
    with place.locked(), place.nothing_half_begun(), removed_at_the_end(place.progress):
        run = open_run(recipe, place, fresh=fresh, display=display or Display(), scheduler=scheduler)
        with closing(run.games):
            while not run.is_over:
                for name, step in run.steps().items():
                    run.take(name, step)
                run.finish_generation()
    return run


def open_run(
    recipe: Recipe, folder: RunFolder, *, fresh: bool, display: Display, scheduler: Scheduler | None = None
) -> Run:
    """A new run, or the one that the folder holds, as its last checkpoint left it."""
    from hauteur.learning.start import check_start
    from hauteur.learning.train import rate_change
    from hauteur.learning.trainers import Learners, architecture_for
    from hauteur.learning.units import check_players
    from hauteur.networks.evaluators.fastest import core_precisions, fastest_precision

    game = load_game(recipe.game)
    begins = fresh or not folder.config.exists()
    begun = None if begins else folder.stored_recipe()
    recipe = settled_recipe(
        recipe,
        begun,
        fastest=lambda: fastest_precision(architecture_for(game, recipe.network)),
        bfloat16="bfloat16" in core_precisions(),
    )
    if begins:
        check_begins(game)
        check_gate(recipe)
        check_start(game, recipe)
        check_players(game, recipe)
    else:
        folder.resume_with(recipe)
    if folder.checkpoint.exists() and not begins:
        state, tensors = load_checkpoint(folder.checkpoint)
        learners = Learners.restored(recipe, folder, tensors, steps=state.train_steps)
    else:
        learns_first = recipe.start is not None and bool(recipe.start.games)
        state, learners = RunState(generation=0 if learns_first else 1), Learners.new(game, recipe)
    if begins:
        folder.create(recipe)  # when the nets are there, so that a start that does not fit leaves nothing behind
    folder.sweep()
    if begun is not None and (change := rate_change(begun, recipe, state.generation)) is not None:
        display.warn(change)
    run = Run(recipe, folder, game, learners, state, display, scheduler)
    run.begin()
    return run


@dataclass
class Run:
    """Learning run in progress; its methods are the steps."""

    recipe: Recipe
    folder: RunFolder
    game: _core.Game
    learners: Learners
    state: RunState
    display: Display
    scheduler: Scheduler | None = None
    buffer: ReplayBuffer = field(init=False)
    archive: Archive | None = field(init=False)
    threads: int = field(init=False)
    games: StepGames = field(init=False)

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
            targets=learned_by(self.recipe.network.kind)[0],
        )
        play = self.recipe.selfplay
        self.archive = Archive(play.archive, lag=play.max_policy_lag) if play.archive is not None else None
        self.threads = self.recipe.run.threads or hardware.usable_cores()
        self.games = StepGames(
            self.recipe,
            self.folder,
            self._net_files,
            self.threads,
            self.display.warn,
            self.scheduler,
            self.state.current,
        )
        if self.recipe.controller is not None and self.state.controller is None:
            self.state.controller = controller.begin(self.recipe.controller, self.recipe.selfplay.visits)

    @property
    def selfplay(self) -> SelfPlaySettings:
        """Current self-play settings: the recipe's, with what the controller chose."""
        return controller.controlled(self.recipe.selfplay, self.state.controller)

    @property
    def is_over(self) -> bool:
        """Whether all generations are finished, or their compute has reached the budget of the recipe."""
        if self.state.generation > self.recipe.run.generations:
            return True
        return 0 < self.recipe.run.budget_flops <= self._flops_until_now()

    def begin(self) -> None:
        """Write the first net of a new run; read the games of a resumed one."""
        if not self.state.train_steps and not all(path.exists() for path in self._net_files(0)):
            self._save_nets(0)
        finished = self.state.generation - (0 if "self-play" in self.state.done else 1)
        games = {generation: count for generation, count in self.state.games.items() if generation <= finished}
        kept = first_needed(games, self._window(finished))
        for generation in range(self._first_read(games, kept, finished), finished + 1):
            planned = self._planned_selfplay(generation)
            self._read_games(generation, self.games.self_play(planned, lambda _: None, finished=True)[0])
            if generation > kept and (generation < self.state.generation or REANALYSE in self.state.done):
                self._retarget(generation, finished=True)
        if self.state.history or self.state.start:
            self._publish()
        resumed = self.state.generation > 1 or self.state.done or self.state.start
        self.display.begin(self.recipe, self.folder, self.state if resumed else None, self.buffer.positions)

    def _first_read(self, games: Mapping[int, int], kept: int, finished: int) -> int:
        """Return the first generation that a resumed run reads; kept: the first that its replay buffer needs.

        Positions of the kept ones were drawn, to be searched again, from the windows that there were then; starts of
        games were drawn from games that themselves had drawn starts.
        """
        if self.archive is not None:
            return min(games, default=1)
        if self.recipe.train.reanalyse is None:
            return kept
        past = [{earlier: games[earlier] for earlier in games if earlier <= then} for then in range(kept, finished + 1)]
        return min([kept, *(first_needed(one, self._window(max(one))) for one in past if one)])

    def steps(self) -> dict[str, Callable[[], None]]:
        """Return the steps of a generation, in order.

        With gate.by = "episodes" the candidate is gated on the games it has just played, so the gate precedes training
        on them. Generation 0 is the start from recorded games.
        """
        if self.state.generation == 0:
            return self._start().steps()
        first = {"probe": self.probe} if self.recipe.controller is not None else {}
        first |= {"self-play": self.self_play}
        first |= {REANALYSE: self.reanalyse} if self.recipe.train.reanalyse is not None else {}
        if self.recipe.gate.by == "episodes":
            return {**first, "gate": self.gate, "train": self.train}
        return {**first, "train": self.train, "gate": self.gate}

    def take(self, name: str, step: Callable[[], None]) -> None:
        """Take a step of the present generation unless it is done, then write a checkpoint."""
        if name in self.state.done:
            return
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        self.state.done.append(name)
        self.state.seconds += time.perf_counter() - wall
        self.state.cpu_seconds += time.process_time() - cpu
        self.state.current |= self.games.metrics()
        self._checkpoint()

    @contextmanager
    def _progress(self, step: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show the progress of a step on the display and in progress.json; yield what takes the count so far."""
        now, of = time.time(), self.recipe.run.generations
        begun = RunProgress(
            generation=self.state.generation, generations=of, step=step, total=total, begun=now, written=now
        )
        bar = self.display.progress(step, total, self.games.workers)
        with bar as show, progress_of_step(self.folder.progress, begun, show, self.games.progress) as count:
            yield count

    def probe(self) -> None:
        """Play a few games at every setting that the controller wants to know of before the generation is played."""
        settings = self.recipe.controller
        state = self.state.controller
        number = 0
        while settings is not None and state is not None:
            if not controller.wants_probe(settings, state, self.state.generation):
                return
            seen = self._play_probe(settings.probe_games, number)
            state = controller.after_probe(settings, state, seen)
            self.state.controller = state
            number += 1

    def _play_probe(self, games: int, number: int) -> controller.Observation:
        few = self.selfplay.model_copy(update={"games": games})
        planned = self._planned_selfplay(self.state.generation, few, probe=number)
        with self._progress("probe", games) as progress:
            played, cost = self.games.probe(planned, progress)
        self._add_cost(cost)
        return self._observed(played.outcome, played.line_lengths)

    def _observed(self, outcomes: NDArray[Any], plies: NDArray[Any]) -> controller.Observation:
        """Return the controller's observation of games played with its present setting."""
        settings, state = self.recipe.controller, self.state.controller
        if settings is None or state is None:
            raise RuntimeError("a run without a controller observes nothing")
        return controller.observe(settings, state, outcomes, plies, generation=self.state.generation)

    def self_play(self) -> None:
        """The generation's games, on disk and in the replay buffer."""
        settings, generation = self.selfplay, self.state.generation
        last = min(generation + settings.max_policy_lag, self.recipe.run.generations)
        planned, *ahead = [self._planned_selfplay(number) for number in range(generation, last + 1)]
        self.games.begin(planned, *ahead)
        with self._progress("self-play", settings.games) as progress:
            played, cost = self.games.self_play(planned, progress)
        self.state.games[generation] = self._read_games(generation, played)
        self.state.current["selfplay"] = search_metrics(cost.facts, cost.seconds)
        self._add_cost(cost)

    def _planned_selfplay(
        self, generation: int, settings: SelfPlaySettings | None = None, *, probe: int | None = None
    ) -> PlannedGames:
        """Plan the games of a generation, or of a probe with other settings."""
        return planned_selfplay(
            self.game,
            settings or self._selfplay_of(generation),
            generation=generation,
            nets=self._playing_nets(generation),
            seed=self.recipe.run.seed,
            colours=self.recipe.opponent.colours if self.recipe.opponent is not None else "swap",
            archive=self.archive.before(generation) if self.archive is not None else None,
            probe=probe,
        )

    def _selfplay_of(self, generation: int) -> SelfPlaySettings:
        """Return the settings of self-play as they were, or will be, in a generation."""
        if self.recipe.controller is None or generation >= self.state.generation:
            return self.selfplay
        then = self.state.history[generation - 1][controller.SECTION]
        state = controller.ControllerState(n_scl=then.get("n_scl"), warmth=then.get("warmth"), visits=then["visits"])
        return controller.controlled(self.recipe.selfplay, state)

    def reanalyse(self) -> None:
        """Search a share of the window's old positions again, for new targets."""
        self._retarget(self.state.generation, finished=False)

    def _retarget(self, generation: int, *, finished: bool) -> None:
        """Give positions the targets of the searches of a generation. finished: that they should all be there."""
        settings, games = self.recipe.train.reanalyse, self.buffer.games
        if settings is None or games is None:
            return
        moves, planned = planned_reanalysis(
            self.game,
            self._selfplay_of(generation),
            settings,
            games,
            generation=generation,
            net=self.state.history[generation - 2]["best"] if generation > 1 else 0,
            seed=self.recipe.run.seed,
        )
        self.folder.reanalysed.mkdir(exist_ok=True)
        with nullcontext(lambda _: None) if finished else self._progress(REANALYSE, len(moves)) as progress:
            found, cost = self.games.self_play(planned, progress, finished=finished)
        if found:
            self.buffer.retarget(moves, Games.join(found).ordered())
        if not finished:
            evaluations, seconds = cost.evaluations[0], cost.seconds
            self.state.current[REANALYSE] = {"positions": len(moves), "evaluations": evaluations, "seconds": seconds}
            self._add_cost(cost)

    def train(self) -> None:
        """The candidate learns; its net, or its nets, are written."""
        generation = self.state.generation
        steps = self.recipe.train.steps_for(self.state.current["games"]["positions"])
        with self._progress("training", steps * len(self.learners.trainers)) as progress:
            facts = self.learners.train(
                self.buffer,
                steps,
                seed=self.recipe.run.seed,
                generation=generation,
                generations=self.recipe.run.generations,
                threads=self.threads,
                on_step=progress,
            )
        self.state.train_steps = self.learners.steps
        self.state.current |= dict(zip(("train", "train_large"), [one.metrics() for one in facts], strict=False))
        self._add_compute((0, 0), samples=facts[0].samples)
        self._save_nets(generation)

    def gate(self) -> None:
        """Decide whether the candidate becomes the best net."""
        settings, generation = self.recipe.gate, self.state.generation
        candidate = generation
        results = GateResults()
        if settings.by in ("match", "sprt"):
            best, seed = self.state.best, self.recipe.run.seed
            planned = planned_gate(self.game, self.selfplay, settings, generation=generation, best=best, seed=seed)
            with self._progress("gate", settings.games) as progress:
                results, evaluations = self.games.gate_match(planned, sprt_of(settings), progress)
            self._add_compute(evaluations)
        elif settings.by == "episodes":
            candidate = generation - 1
            results.record = MatchScore(**self.state.current["games"]["candidate"])
        trained = self.state.current if candidate == generation else (self.state.history or [{}])[-1]
        diverged = divergence(trained.get("train", {}), self.game.num_actions)
        if diverged is not None:
            self.display.warn(f"generation {candidate}: {diverged}; its net is not promoted")
        decision = decide(settings, results, generation=candidate, best=self.state.best, diverged=diverged)
        record = decision.evidence
        is_known = candidate == self.state.best  # the first episodes are of one net against itself: chance, no gain
        elo = self.state.best_elo + (finite_elo(record) if record.games and not is_known else 0.0)
        write_json(self.folder.gate(generation), decision.to_json())
        self.state.current["gate"] = decision.to_json()
        self.state.current["elo"] = elo if record.games else None
        if decision.promoted:
            self.state.best, self.state.best_elo = candidate, elo

    def _start(self) -> Start:
        from hauteur.learning.start import Start

        return Start(
            self.recipe,
            self.folder,
            self.game,
            self.learners,
            self.display,
            self._progress,
            self.threads,
            self.state.current,
        )

    def finish_generation(self) -> None:
        """Close the generation: metrics, best.safetensors, console line, report.

        After generation 0, what was learned from recorded games is the net that self-play begins with.
        """
        state, number = self.state, self.state.generation
        self._control()
        if number == 0:
            self._add_compute((0, 0), samples=sum(one["train"]["samples"] for one in state.current["start"]["rounds"]))
        line: dict[str, Any] = {"generation": number, **state.current}
        if number == 0:
            last = state.current["start"]["rounds"][-1]
            line |= {key: last[key] for key in last if key.startswith("train")}
            self._save_nets(0)
        else:
            line |= {"best": state.best, "best_elo": state.best_elo, **self.games.end_generation()}
        line |= {"train_steps": state.train_steps, "seconds": state.seconds, "cpu_seconds": state.cpu_seconds}
        line["resident_bytes"] = hardware.resident_bytes()
        if number == 0:
            state.start = line
        else:
            state.history.append(line)
        state.generation, state.done, state.current = number + 1, [], {}
        self._checkpoint()
        self._publish()
        if number:
            self.display.finished(line, self.recipe.run.generations)
        if self.is_over and state.generation <= self.recipe.run.generations:
            self.display.show(f"the budget of {self.recipe.run.budget_flops:.3g} FLOPs is spent")

    def _publish(self) -> None:
        """Write what follows from the checkpoint: metrics, best.safetensors, the report."""
        first = [self.state.start] if self.state.start is not None else []
        self.folder.write_metrics([*first, *self.state.history])
        for large in (False, True)[: len(self.learners.trainers)]:
            net = self.folder.net(self.state.best, large=large)
            write_bytes(self.folder.best(large=large), net.read_bytes())
        from hauteur.learning.exact_curve import measure_nets
        from hauteur.learning.report.page import run_report

        best = [line["best"] for line in self.state.history]
        measure_nets(self.folder, self.game, self.recipe.run.solved_positions, best)
        run_report(self.folder).write(self.folder.report)

    def _control(self) -> None:
        """The controller learns from the generation's games and chooses for the next."""
        settings, state = self.recipe.controller, self.state.controller
        if settings is None or state is None or not self.state.generation:
            return
        played = controller.Observation.model_validate(self.state.current.pop("observation"))
        self.state.controller = controller.after_generation(settings, state, played)
        self.state.current[controller.SECTION] = controller.controller_metrics(settings, self.state.controller)

    def _net_files(self, generation: int) -> list[Path]:
        """The net of a generation, then the large one where there are two."""
        kinds = (False,) if self.recipe.large is None else (False, True)
        return [self.folder.net(generation, large=large) for large in kinds]

    def _playing_nets(self, generation: int) -> list[int]:
        """Generations of the nets that play one, in the order of the players; NO_NET: none of the run.

        They are those there were after the generation before it, or max_policy_lag earlier.
        """
        candidate = max(0, generation - 1 - self.recipe.selfplay.max_policy_lag)
        best = self.state.history[candidate - 1]["best"] if candidate else 0
        nets = {
            "best-versus-best": [best],
            "candidate-versus-best": [candidate, best],
            "best-versus-opponent": [best, NO_NET],
            "candidate-versus-opponent": [candidate, NO_NET],
        }
        return nets[self.recipe.selfplay.episodes]

    def _add_cost(self, cost: StepCost) -> None:
        """Count the evaluations by the run's nets in a stretch of self-play."""
        last = self.state.history[-1]["cost"] if self.state.history else None
        towers = [trainer.cost for trainer in self.learners.trainers]
        self.state.current["cost"] = cost_metrics(self.state.current.get("cost"), last, cost.evaluations, towers)
        self._add_compute(cost.evaluations)

    def _add_compute(self, evaluations: tuple[int, int], samples: int = 0) -> None:
        """Charge the present generation with forward passes of both nets, and with positions that each trains on."""
        found, before = self.state.current.get("compute"), self._flops_until_now()
        self.state.current["compute"] = compute_metrics(found, before, self.learners.compute, evaluations, samples)

    def _flops_until_now(self) -> int:
        """Return the floating-point operations of all finished generations, by the rule."""
        first = [self.state.start] if self.state.start is not None else []
        return flops_until([*first, *self.state.history], self.learners.compute)

    def _read_games(self, generation: int, played: Sequence[Games]) -> int:
        """Add a generation's games to the replay buffer; return how many.

        ValueError where they are not those that the nets have learned from before.
        """
        added = Games.join(played).ordered()
        if self.state.digests.setdefault(generation, added.digest) != added.digest:
            message = f"{self.folder.path}: games of generation {generation} {UNLIKE}"
            if self.recipe.run.exact:
                raise ValueError(f"{message}; put the files back from a copy, or begin another run with run.tag=NAME")
            self.display.warn(message)
        self.buffer.window = self._window(generation)
        self.buffer.append(added)
        if self.archive is not None:
            self.archive.add(generation, added)
        if generation == self.state.generation:
            self.state.current["games"] = generation_metrics(self.recipe, added)
            if self.recipe.controller is not None:
                seen = self._observed(added.outcome, added.line_lengths)
                self.state.current["observation"] = seen.model_dump()
        return added.games

    def _window(self, generation: int) -> int:
        """Games that the replay buffer holds after the self-play of a generation."""
        before = sum(count for earlier, count in self.state.games.items() if earlier < generation)
        return self.recipe.train.window_at(before + self.recipe.selfplay.games)

    def _save_nets(self, generation: int) -> None:
        training = {
            "generation": generation,
            "games": sum(self.state.games.values()),
            "steps": self.learners.steps,
            "samples": self.learners.steps * self.recipe.train.batch_size,
            "seed": self.recipe.run.seed,
        }
        self.learners.save(self.game, self.folder, generation, training)

    def _checkpoint(self) -> None:
        self.state.train_steps = self.learners.steps
        save_checkpoint(self.folder.checkpoint, self.state, self.learners.tensors())
