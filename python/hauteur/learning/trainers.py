"""The networks that a run trains together: one, or a small and a large one that search together (MPV-MCTS)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur import _core, networks
from hauteur.learning.recipe import NetworkSettings, Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.train import CandidateTrainer, Source, TrainFacts
from hauteur.networks import ResNetArchitecture
from hauteur.networks.architecture import RegisteredArchitecture
from hauteur.networks.evaluators.factory import check_fits
from hauteur.networks.registered import registered_architecture

Tensors = dict[str, NDArray[np.float32]]

LARGE = "large."
"""Beginning of the names of the large net's tensors in a checkpoint."""


def architecture_for(game: _core.Game, settings: NetworkSettings) -> ResNetArchitecture | RegisteredArchitecture:
    """The network of these settings for this game. ValueError for a kind that is not registered, or other settings."""
    if settings.kind != "resnet":
        return registered_architecture(settings.kind, game, settings.settings)
    return ResNetArchitecture.sized(settings, game.feature_shape, game.num_actions)


def first_trainer(game: _core.Game, recipe: Recipe, *, large: bool = False) -> CandidateTrainer:
    """The trainer that a run begins with: of the net of its start, or of random weights."""
    section = recipe.large if large and recipe.large is not None else recipe.network
    expected = architecture_for(game, section)
    path = None if recipe.start is None else recipe.start.large_net if large else recipe.start.net
    if path is None:
        name = "large network" if large else "network"
        return CandidateTrainer.new(expected, recipe.train, seed=recipe.run.seed, name=name)
    description = networks.describe(Path(path))
    check_fits(game, Path(path), description)
    if section != NetworkSettings() and description.architecture != expected:
        raise ValueError(
            f"{path}: is {description.architecture.summary()} and keeps its shape, but the section "
            f"[{'large' if large else 'network'}] says {expected.summary()}: leave its settings out"
        )
    return CandidateTrainer.from_net(Path(path), recipe.train)


@dataclass
class Learners:
    """The trainers of a run's nets. Both learn from the same samples, drawn by the same random numbers.

    With two nets (MPV-MCTS, Lan et al. 2019, section 4), `small` is the one that searches and `large` the one that
    corrects it; with one net, `large` is None.
    """

    small: CandidateTrainer
    large: CandidateTrainer | None = None

    @classmethod
    def new(cls, game: _core.Game, recipe: Recipe) -> Learners:
        """The network of the recipe's start, or random weights; two nets do not share them even in the same shape."""
        return cls(first_trainer(game, recipe), first_trainer(game, recipe, large=True) if recipe.large else None)

    @classmethod
    def restored(cls, recipe: Recipe, folder: RunFolder, tensors: Tensors, *, steps: int) -> Learners:
        """The learners whose `tensors()` these are, after `steps` steps; their shapes are those of the first nets."""
        small = {name: value for name, value in tensors.items() if not name.startswith(LARGE)}
        large = {name.removeprefix(LARGE): value for name, value in tensors.items() if name.startswith(LARGE)}
        architecture = networks.describe(folder.net(0)).architecture
        result = cls(CandidateTrainer.restored(architecture, recipe.train, small, steps=steps))
        if recipe.large is not None:
            architecture = networks.describe(folder.net(0, large=True)).architecture
            result.large = CandidateTrainer.restored(architecture, recipe.train, large, steps=steps)
        return result

    @property
    def trainers(self) -> list[CandidateTrainer]:
        """The small net's, then the large one's where there is one."""
        return [self.small] if self.large is None else [self.small, self.large]

    @property
    def steps(self) -> int:
        """Optimiser steps so far, the same for both."""
        return self.small.steps

    def train(
        self,
        source: Source,
        steps: int,
        *,
        seed: int,
        generation: int,
        generations: int,
        threads: int = 1,
        on_step: Callable[[int], None] | None = None,
    ) -> list[TrainFacts]:
        """Take the steps of a generation with each net in turn; `on_step` counts through all of them."""
        done = 0

        def count(step: int) -> None:
            if on_step is not None:
                on_step(done + step)

        facts = []
        for trainer in self.trainers:
            facts.append(
                trainer.train(
                    source,
                    steps,
                    seed=seed,
                    generation=generation,
                    generations=generations,
                    threads=threads,
                    on_step=count,
                )
            )
            done += steps
        return facts

    def tensors(self) -> Tensors:
        """Networks, means and optimisers for a checkpoint."""
        result = self.small.tensors()
        if self.large is not None:
            result |= {LARGE + name: value for name, value in self.large.tensors().items()}
        return result

    def save(self, game: _core.Game, folder: RunFolder, generation: int, training: dict[str, Any]) -> None:
        """Write the nets of a generation."""
        for trainer in self.trainers:
            networks.save(
                folder.net(generation, large=trainer is self.large),
                trainer.architecture,
                trainer.network_tensors(),
                game=game.spec,
                training=training,
            )
