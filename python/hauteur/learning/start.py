"""Supervised start of a run from recorded games: the steps of generation 0, each resumable.

The games are imported into the run's folder; a teacher, if any, evaluates their positions; then the networks train in
rounds of about one epoch each, and are measured on the held-out games.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hauteur import _core, networks
from hauteur.learning.metrics import Display
from hauteur.learning.recipe import Recipe, StartSettings
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.start_data import (
    HELD_OUT,
    LEARN,
    Positions,
    StartData,
    StartFacts,
    bring_in,
    open_data,
    source_files,
    teach_games,
)
from hauteur.learning.train import CandidateTrainer, losses
from hauteur.learning.trainers import Learners
from hauteur.networks.evaluators.base import Evaluator
from hauteur.networks.evaluators.factory import check_fits, make_evaluator
from hauteur.system.seeds import derived_seed

NAMED = 10
"""Bad games that are named one by one."""


def check_start(game: _core.Game, recipe: Recipe) -> None:
    """ValueError or OSError when the files that a recipe begins with are not there, or are for another game."""
    start = recipe.start
    if start is None:
        return
    for name in (start.net, start.large_net, start.distil_from):
        if name is not None:
            check_fits(game, Path(name), networks.describe(Path(name)))
    if start.games and source_files(start.games)[1] and start.distil_from is not None:
        raise ValueError("start.distil_from needs games, whose positions the net is asked about, not lc0's chunks")


@dataclass
class Start:
    """Start of a run (generation 0); `current` collects its metrics, as JSON.

    progress: shows a step of N parts (None: unknown), and yields what takes the count so far.
    """

    recipe: Recipe
    folder: RunFolder
    game: _core.Game
    learners: Learners
    display: Display
    progress: Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]
    threads: int
    current: dict[str, Any]

    @property
    def settings(self) -> StartSettings:
        """The recipe's section."""
        if self.recipe.start is None:
            raise RuntimeError("the recipe has no section [start]")
        return self.recipe.start

    def steps(self) -> dict[str, Callable[[], None]]:
        """The steps, in order."""
        steps = {"games": self.bring_in}
        if self.settings.distil_from is not None:
            steps["teacher"] = self.teach
        return steps | {f"round {number}": self._round(number) for number in range(1, self.rounds + 1)}

    @property
    def rounds(self) -> int:
        """Rounds of learning: one for each time through the positions, or part of it."""
        return math.ceil(self.settings.epochs)

    def bring_in(self) -> None:
        """Import the games into the run's folder and warn of unusable ones."""
        settings, recipe = self.settings, self.recipe
        with self.progress("reading games", None) as progress:
            facts = bring_in(
                settings.games,
                self.game,
                self.folder.start,
                hold_out=settings.hold_out,
                seed=recipe.run.seed,
                on_games=progress,
            )
        for bad in facts.bad[:NAMED]:
            self.display.warn(f"left out {bad}")
        if len(facts.bad) > NAMED:
            self.display.warn(f"left out {len(facts.bad) - NAMED:,} more games")
        self.current["start"] = start_metrics(facts, settings)

    def teach(self) -> None:
        """The teacher's targets in all games."""
        games = self.current["start"]["games"] + self.current["start"]["held_out_games"]
        with closing(self._teacher()) as teacher, self.progress("asking the teacher", games) as progress:
            teach_games(self.game, self.folder.start, teacher, on_games=progress)

    def _round(self, number: int) -> Callable[[], None]:
        def learn() -> None:
            self._count_positions()
            steps = self._steps_of(number)
            with self.progress(f"learning {number}/{self.rounds}", steps * len(self.learners.trainers)) as progress:
                facts = self.learners.train(
                    self.data.learn,
                    steps,
                    seed=derived_seed(self.recipe.run.seed, "start"),
                    generation=number,
                    generations=self.rounds,
                    threads=self.threads,
                    on_step=progress,
                )
            found: dict[str, Any] = dict(zip(("train", "train_large"), map(asdict, facts), strict=False))
            measured = [self._measure(trainer) for trainer in self.learners.trainers]
            found |= dict(zip(("held_out", "held_out_large"), measured, strict=False))
            self.current["start"]["rounds"].append(found)
            self.display.generation(round_line(number, self.rounds, found))

        return learn

    @cached_property
    def data(self) -> StartData:
        """The positions, read once."""
        taught, legal = self.settings.distil_from is not None, self.recipe.train.mask_illegal
        data = open_data(self.game, self.folder.start, taught=taught, legal=legal)
        for message in data.skipped:
            self.display.warn(f"skipped {message}")
        return data

    def _count_positions(self) -> None:
        facts, held_out = self.current["start"], self.data.held_out
        facts["positions"] = self.data.learn.positions
        facts["held_out_positions"] = held_out.positions if held_out is not None else 0

    def _steps_of(self, number: int) -> int:
        """Optimiser steps of a round; those of all rounds draw every position `epochs` times on average."""
        per_epoch = self.data.learn.positions / self.recipe.train.batch_size
        done, to_do = (round(min(self.settings.epochs, upto) * per_epoch) for upto in (number - 1, number))
        return max(1, to_do - done)

    def _measure(self, trainer: CandidateTrainer) -> dict[str, Any] | None:
        if self.data.held_out is None:
            return None
        share = self.recipe.train.root_value_share
        return asdict(measure(trainer, self.data.held_out, root_value_share=share))

    def _teacher(self) -> Evaluator:
        run = self.recipe.run
        return make_evaluator(
            self.game,
            str(self.settings.distil_from),
            backend=run.backend,
            precision=run.precision,
            threads=self.threads,
        )


def start_metrics(facts: StartFacts, settings: StartSettings) -> dict[str, Any]:
    """Return the import facts as they appear in the metrics."""
    return {
        "games": facts.counts[LEARN],
        "held_out_games": facts.counts[HELD_OUT],
        "left_out": len(facts.bad),
        "first_wins": facts.results[1],
        "draws": facts.results[0],
        "second_wins": facts.results[-1],
        "distil_from": settings.distil_from,
        "rounds": [],
    }


def round_line(number: int, rounds: int, found: dict[str, Any]) -> str:
    """One line about a round of learning."""
    train, held_out = found["train"], found["held_out"]
    parts = [f"start {number}/{rounds}", f"loss policy {train['policy_loss']:.3f} value {train['value_loss']:.3f}"]
    if held_out is not None:
        parts.append(
            f"held out ({held_out['positions']:,} positions): policy {held_out['policy_loss']:.3f} value "
            f"{held_out['value_loss']:.3f} first move {held_out['policy_accuracy']:.1%}"
        )
    return "  ".join([*parts, f"{train['steps']:,} steps in {train['seconds']:.0f} s"])


ROWS = 256
MOST = 16_384
"""Most positions that are measured, evenly spaced."""


@dataclass(frozen=True)
class HeldOut:
    """Means over the positions: the two losses in nats (the scalar value's: a square), and the share of positions in
    which the network's first legal move is the first of the policy target.
    """

    positions: int
    policy_loss: float
    value_loss: float
    policy_accuracy: float


@torch.no_grad()
def measure(trainer: CandidateTrainer, data: Positions, *, root_value_share: float = 0.0) -> HeldOut:
    """The trainer's network, or the mean of its weights where one is kept, on these positions."""
    network = (trainer.average if trainer.average is not None else trainer.network).eval()
    count = min(data.positions, MOST)
    chosen = np.arange(count) * data.positions // count
    total = np.zeros(3)
    for rows in np.array_split(chosen, -(-count // ROWS)):
        samples = data.samples_of(rows, root_value_share=root_value_share)
        if samples.legal is None:
            raise ValueError("held-out positions must say which moves are legal")
        arrays = (samples.features, samples.policy, samples.wdl, samples.legal)
        features, policy, wdl, legal = (torch.from_numpy(array).to(trainer.device) for array in arrays)
        logits, value, *_ = network(features)
        parts = losses(logits.float(), value.float(), policy, wdl, legal if trainer.settings.mask_illegal else None)
        hits = (logits.masked_fill(legal == 0, -torch.inf).argmax(dim=1) == policy.argmax(dim=1)).float().mean()
        total += len(rows) * np.array([parts.policy.item(), parts.value.item(), hits.item()])
    policy_loss, value_loss, accuracy = (total / count).tolist()
    return HeldOut(count, policy_loss, value_loss, accuracy)
