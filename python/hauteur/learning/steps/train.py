"""The step of training: the candidate learns from positions of the replay buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hauteur.learning.context import Run

TRAINED = ("train", "train_large")
"""Names of the metrics of training: of the net, and of the large one where there are two."""


def train(run: Run) -> None:
    """Take the generation's optimiser steps; write the candidate's net, or its two nets."""
    generation = run.state.generation
    # By the new positions and not the window's: else a position would be drawn the more often the larger that is.
    steps = run.recipe.train.steps_for(run.state.current["games"]["positions"])
    with run.progress("training", steps * len(run.learners.trainers)) as progress:
        # The candidate goes on from its own weights, whatever the gate said of them, as in AlphaGo Zero (Silver et al.
        # 2017): the gate decides who plays, not who learns.
        facts = run.learners.train(
            run.buffer,
            steps,
            seed=run.recipe.run.seed,
            generation=generation,
            generations=run.recipe.run.generations,
            threads=run.threads,
            on_step=progress,
        )
    run.state.train_steps = run.learners.steps
    for name, trained in zip(TRAINED, facts, strict=False):
        run.state.current[name] = trained.metrics()
    run.charge((0, 0), samples=facts[0].samples)
    run.save_nets(generation)
