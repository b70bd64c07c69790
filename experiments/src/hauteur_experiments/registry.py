"""All experiments, in the order of the list. A new one is a module with its `EXPERIMENTS`, added here."""

from hauteur_experiments import learning_methods
from hauteur_experiments.alphazero_report import figures, game
from hauteur_experiments.experiment import Experiment
from hauteur_experiments.mcts_experiments import rules_by_game, search_rules
from hauteur_experiments.mpv_mcts import allocation, az_pairs, midsize, regime, training
from hauteur_experiments.search_contempt import match, odds, positions, repeats, schedule, selfplay
from hauteur_experiments.search_contempt import training as contempt_training

EXPERIMENTS: tuple[Experiment, ...] = (
    *figures.EXPERIMENTS,
    *game.EXPERIMENTS,
    *odds.EXPERIMENTS,
    *selfplay.EXPERIMENTS,
    *match.EXPERIMENTS,
    *repeats.EXPERIMENTS,
    *positions.EXPERIMENTS,
    *schedule.EXPERIMENTS,
    *contempt_training.EXPERIMENTS,
    *allocation.EXPERIMENTS,
    *midsize.EXPERIMENTS,
    *az_pairs.EXPERIMENTS,
    *training.EXPERIMENTS,
    *regime.EXPERIMENTS,
    *search_rules.EXPERIMENTS,
    *rules_by_game.EXPERIMENTS,
    *learning_methods.EXPERIMENTS,
)


def find(name: str) -> Experiment:
    """The experiment of this name; ValueError that names all where there is none."""
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise ValueError(f"there is no experiment {name!r}; there are {', '.join(known.name for known in EXPERIMENTS)}")
