"""The learning loop: games = selfplay(best); replay.extend(games); candidate = train(replay); best = gate(candidate).

Each step ends with a checkpoint, so a run that was killed goes on with the step that it was in; self-play keeps even
the games of a half-finished step. Every output is a whole file or absent, and is written before the checkpoint that
counts on it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur import _core, machine, networks
from hauteur.checkpoint import RunState, load_checkpoint, save_checkpoint
from hauteur.evaluate import make_evaluator
from hauteur.game import make
from hauteur.gate import decide, gate_match
from hauteur.metrics import Display, game_metrics, generation_line, search_metrics
from hauteur.networks import ResNetArchitecture
from hauteur.player import Player
from hauteur.rating import Record, finite_elo
from hauteur.recipe import Recipe
from hauteur.replay import ReplayBuffer
from hauteur.report import write_report
from hauteur.run_folder import RunFolder, write_json
from hauteur.selfplay import candidate_record, play_generation, shard_paths
from hauteur.train import Trainer, steps_for

if TYPE_CHECKING:
    from hauteur.evaluate import Evaluator


def learn(recipe: Recipe, *, folder: Path | None = None, fresh: bool = False, display: Display | None = None) -> Run:
    """Begins or resumes the run of this recipe and takes it to its end.

    fresh: ValueError when the folder holds a run already. Also when it holds a run with other settings.
    """
    run = open_run(recipe, RunFolder(folder or recipe.folder), fresh=fresh, display=display or Display())
    while run.state.generation <= recipe.run.generations:
        for name, step in run.steps().items():
            run.take(name, step)
        run.finish_generation()
    return run


def open_run(recipe: Recipe, folder: RunFolder, *, fresh: bool, display: Display) -> Run:
    """A new run, or the one that the folder holds, as its last checkpoint left it."""
    game = make(recipe.game)
    if fresh or not folder.config.exists():
        folder.create(recipe)
    folder.check_recipe(recipe)
    architecture = architecture_for(game, recipe)
    if folder.checkpoint.exists():
        state, tensors = load_checkpoint(folder.checkpoint)
        trainer = Trainer.restored(architecture, recipe.train, tensors, steps=state.train_steps)
    else:
        state = RunState()
        trainer = Trainer.new(architecture, recipe.train, seed=recipe.run.seed)
    run = Run(recipe, folder, game, trainer, state, display)
    run.begin()
    return run


def architecture_for(game: _core.Game, recipe: Recipe) -> ResNetArchitecture:
    """The recipe's network for this game."""
    settings = recipe.network.model_dump()
    return ResNetArchitecture(feature_shape=game.feature_shape, num_actions=game.num_actions, **settings)


@dataclass
class Run:
    """A learning run that is going on; its methods are the steps."""

    recipe: Recipe
    folder: RunFolder
    game: _core.Game
    trainer: Trainer
    state: RunState
    display: Display
    buffer: ReplayBuffer = field(init=False)
    threads: int = field(init=False)

    def __post_init__(self) -> None:
        self.buffer = ReplayBuffer(self.game, self.recipe.train.window_games)
        self.threads = self.recipe.run.threads or machine.usable_cores()

    def begin(self) -> None:
        """Writes the first net of a new run; reads the games of a resumed one."""
        if not self.folder.net(0).exists():
            self._save_net(0)
        finished = self.state.generation - (0 if "self-play" in self.state.done else 1)
        for generation in range(1, finished + 1):
            self._read_games(generation)
        resumed = self.state.generation > 1 or self.state.done
        self.display.begin(self.recipe, self.folder, self.state if resumed else None, self.buffer.positions)

    def steps(self) -> dict[str, Callable[[], None]]:
        """The steps of a generation, in order.

        With gate.by = "episodes" the candidate is judged by the games it has just played, so the gate comes before it
        learns from them.
        """
        if self.recipe.gate.by == "episodes":
            return {"self-play": self.self_play, "gate": self.gate, "train": self.train}
        return {"self-play": self.self_play, "train": self.train, "gate": self.gate}

    def take(self, name: str, step: Callable[[], None]) -> None:
        """Takes a step of the present generation unless it is done, then writes a checkpoint."""
        if name in self.state.done:
            return
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        self.state.done.append(name)
        self.state.seconds += time.perf_counter() - wall
        self.state.cpu_seconds += time.process_time() - cpu
        self._checkpoint()

    def self_play(self) -> None:
        """The generation's games, on disk and in the replay buffer."""
        settings, generation = self.recipe.selfplay, self.state.generation
        nets = [self.state.best]
        if settings.episodes == "candidate-versus-best":
            nets.insert(0, generation - 1)
        with ExitStack() as stack, self.display.progress("self-play", settings.games) as progress:
            facts = play_generation(
                self.game,
                [self._self_player(net, stack) for net in nets],
                settings,
                folder=self.folder.games,
                generation=generation,
                nets=nets,
                seed=self.recipe.run.seed,
                on_games=progress,
            )
        games = self._read_games(generation)
        self.state.games[generation] = games
        self.state.current |= {"selfplay": search_metrics(facts)}

    def train(self) -> None:
        """The candidate learns; its net is written."""
        generation = self.state.generation
        steps = steps_for(self.recipe.train, self.state.current["games"]["positions"])
        with self.display.progress("training", steps) as progress:
            facts = self.trainer.train(
                self.buffer,
                steps,
                seed=self.recipe.run.seed,
                generation=generation,
                generations=self.recipe.run.generations,
                threads=self.threads,
                on_step=progress,
            )
        self.state.train_steps = self.trainer.steps
        self.state.current["train"] = asdict(facts)
        self._save_net(generation)

    def gate(self) -> None:
        """Decides whether the candidate becomes the best net."""
        settings, generation = self.recipe.gate, self.state.generation
        candidate = generation
        record = Record()
        if settings.by == "match":
            record = self._gate_match()
        elif settings.by == "episodes":
            candidate = generation - 1
            record = Record(**self.state.current["games"]["candidate"])
        decision = decide(settings, record, generation=candidate, best=self.state.best)
        elo = self.state.best_elo + (finite_elo(record) if record.games else 0.0)
        write_json(self.folder.gate(generation), decision.to_json())
        self.state.current["gate"] = decision.to_json()
        self.state.current["elo"] = elo if record.games else None
        if decision.promoted:
            self.state.best, self.state.best_elo = candidate, elo

    def finish_generation(self) -> None:
        """Closes the generation: metrics, best.safetensors, the line that is printed, the report."""
        state = self.state
        line = {"generation": state.generation, **state.current, "best": state.best, "best_elo": state.best_elo}
        line |= {"train_steps": state.train_steps, "seconds": state.seconds, "cpu_seconds": state.cpu_seconds}
        line["resident_bytes"] = machine.resident_bytes()
        state.history.append(line)
        state.generation, state.done, state.current = state.generation + 1, [], {}
        self._checkpoint()
        self.folder.write_metrics(state.history)
        copy_file(self.folder.net(state.best), self.folder.best)
        write_report(self.folder)
        self.display.generation(generation_line(state.history, self.recipe.run.generations))

    def _gate_match(self) -> Record:
        settings, selfplay = self.recipe.gate, self.recipe.selfplay
        with ExitStack() as stack, self.display.progress("gate", settings.games) as progress:
            return gate_match(
                self.game,
                self._gate_player(self.state.generation, stack),
                self._gate_player(self.state.best, stack),
                settings,
                generation=self.state.generation,
                seed=self.recipe.run.seed,
                parallel=selfplay.parallel_games,
                batch_size=selfplay.batch_size,
                in_flight=selfplay.in_flight,
                on_games=progress,
            )

    def _self_player(self, net: int, stack: ExitStack) -> Player:
        settings = self.recipe.selfplay
        evaluator = self._evaluator(net, stack)
        return Player(f"gen-{net}", evaluator, settings.search, settings.visits, settings.temperature)

    def _gate_player(self, net: int, stack: ExitStack) -> Player:
        """Like in self-play, without noise at the root and with the gate's temperature."""
        search = self.recipe.selfplay.search.model_copy(update={"dirichlet": None})
        visits = self.recipe.gate.visits or self.recipe.selfplay.visits
        return Player(f"gen-{net}", self._evaluator(net, stack), search, visits, self.recipe.gate.temperature)

    def _evaluator(self, net: int, stack: ExitStack) -> Evaluator:
        run = self.recipe.run
        evaluator = make_evaluator(
            self.game, str(self.folder.net(net)), backend=run.backend, precision=run.precision, threads=self.threads
        )
        stack.callback(evaluator.close)
        return evaluator

    def _read_games(self, generation: int) -> int:
        """Adds a generation's shards to the replay buffer; what is skipped or missing is told, never fatal."""
        known = len(self.buffer.skipped)
        added = self.buffer.extend(shard_paths(self.folder.games, generation))
        for message in self.buffer.skipped[known:]:
            self.display.warn(f"skipped {message}")
        games = added.games if added is not None else 0
        expected = self.state.games.get(generation, games)
        if games != expected:
            self.display.warn(f"generation {generation}: {games} games on disk, the checkpoint knows {expected}")
        if generation == self.state.generation and added is not None:
            self.state.current["games"] = game_metrics(added)
            if self.recipe.selfplay.episodes == "candidate-versus-best":
                self.state.current["games"]["candidate"] = asdict(candidate_record(added))
        return games

    def _save_net(self, generation: int) -> None:
        training = {
            "generation": generation,
            "games": sum(self.state.games.values()),
            "steps": self.trainer.steps,
            "samples": self.trainer.steps * self.recipe.train.batch_size,
            "seed": self.recipe.run.seed,
        }
        networks.save(
            self.folder.net(generation),
            self.trainer.network.architecture,
            self.trainer.network_tensors(),
            game=self.game.spec,
            training=training,
        )

    def _checkpoint(self) -> None:
        save_checkpoint(self.folder.checkpoint, self.state, self.trainer.tensors())


def copy_file(source: Path, target: Path) -> None:
    """Copies a file, whole or not at all."""
    temporary = target.with_name(f".{target.name}.tmp")
    shutil.copyfile(source, temporary)
    temporary.replace(target)
