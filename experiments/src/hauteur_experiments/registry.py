"""All experiments: those of this distribution, those of others by their entry points, and those that were registered.

An experiment of one's own is an `Experiment` object: `register` it in a file that `--import FILE.py` names, or let a
distribution offer a sequence of them in the group of entry points `hauteur.experiments`.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from hauteur_experiments.experiment import Experiment
from hauteur_experiments.implementation_report import figures
from hauteur_experiments.learning_methods import methods
from hauteur_experiments.mcts_experiments import by_exact_play, by_game, rules, tactics
from hauteur_experiments.mpv_mcts import figures as mpv_figures
from hauteur_experiments.mpv_mcts import options, regime
from hauteur_experiments.search_contempt import (
    chess_thesis,
    model_strength,
    nature,
    odds,
    odds_models,
    positions,
    same_constants,
    schedule,
    selfplay,
    table_2,
    thesis_control,
    training,
)

GROUP = "hauteur.experiments"

EXPERIMENTS: tuple[Experiment, ...] = (
    *figures.EXPERIMENTS,
    *odds.EXPERIMENTS,
    *odds_models.EXPERIMENTS,
    *model_strength.EXPERIMENTS,
    *selfplay.EXPERIMENTS,
    *nature.EXPERIMENTS,
    *table_2.EXPERIMENTS,
    *same_constants.EXPERIMENTS,
    *positions.EXPERIMENTS,
    *schedule.EXPERIMENTS,
    *training.EXPERIMENTS,
    *chess_thesis.EXPERIMENTS,
    *thesis_control.EXPERIMENTS,
    *mpv_figures.EXPERIMENTS,
    *regime.EXPERIMENTS,
    *options.EXPERIMENTS,
    *rules.EXPERIMENTS,
    *tactics.EXPERIMENTS,
    *by_game.EXPERIMENTS,
    *by_exact_play.EXPERIMENTS,
    *methods.EXPERIMENTS,
)
"""Those of this distribution, in the order of the list."""

_registered: dict[str, Experiment] = {}


def register(experiment: Experiment) -> Experiment:
    """Add an experiment to those that `hauteur experiment` makes, or replace one that was registered.

    ValueError for the name of one that a distribution has.
    """
    if experiment.name not in _registered and any(known.name == experiment.name for known in every_experiment()):
        raise ValueError(f"there is an experiment {experiment.name!r} already")
    _registered[experiment.name] = experiment
    return experiment


def every_experiment() -> list[Experiment]:
    """Return all experiments; those of other distributions are imported."""
    return [*EXPERIMENTS, *_of_distributions(), *_registered.values()]


@cache
def _of_distributions() -> tuple[Experiment, ...]:
    """Those of other distributions; what is installed is read once."""
    own = f"{__name__}:EXPERIMENTS"
    return tuple(known for entry in entry_points(group=GROUP) if entry.value != own for known in entry.load())


def find(name: str) -> Experiment:
    """The experiment of this name; ValueError that names all where there is none."""
    every = every_experiment()
    for experiment in every:
        if experiment.name == name:
            return experiment
    raise ValueError(f"there is no experiment {name!r}; there are {', '.join(known.name for known in every)}")
