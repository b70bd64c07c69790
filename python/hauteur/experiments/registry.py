"""All experiments, in the order of the list. A new one is a module with its `EXPERIMENTS`, added here."""

from hauteur.experiments import (
    contempt_match,
    contempt_odds,
    contempt_positions,
    contempt_repeats,
    contempt_schedule,
    contempt_selfplay,
    mpv_allocation,
    mpv_az_pairs,
    mpv_midsize,
    mpv_training,
    report_figures,
    report_game,
    search_rules,
)
from hauteur.experiments.frame import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    *report_figures.EXPERIMENTS,
    *report_game.EXPERIMENTS,
    *contempt_odds.EXPERIMENTS,
    *contempt_selfplay.EXPERIMENTS,
    *contempt_match.EXPERIMENTS,
    *contempt_repeats.EXPERIMENTS,
    *contempt_positions.EXPERIMENTS,
    *contempt_schedule.EXPERIMENTS,
    *mpv_allocation.EXPERIMENTS,
    *mpv_midsize.EXPERIMENTS,
    *mpv_az_pairs.EXPERIMENTS,
    *mpv_training.EXPERIMENTS,
    *search_rules.EXPERIMENTS,
)


def find(name: str) -> Experiment:
    """The experiment of this name; ValueError that names all where there is none."""
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise ValueError(f"there is no experiment {name!r}; there are {', '.join(known.name for known in EXPERIMENTS)}")
