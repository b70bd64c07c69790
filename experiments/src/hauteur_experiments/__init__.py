"""Experiments: tables and figures of papers, reproduced with hauteur, one command each.

`hauteur experiment list` lists them, `hauteur experiment NAME` makes one. An experiment is axes and texts of players,
matches or learning runs, rows, and claims that its findings decide by their keys. Everything here is written with the
public API of hauteur alone, as an experiment of one's own is (docs/how-to/add-an-experiment.md).
"""

from hauteur_experiments.experiment import Experiment, Finding, Result, SourceClaim, make_experiment, stated
from hauteur_experiments.grid import Match, play
from hauteur_experiments.measured import ClusterMean, Interval, MatchElo, Mean, Record, Share, by_opening, elo_above
from hauteur_experiments.registry import register
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim, Inequality

__all__ = [
    "Claim",
    "ClusterMean",
    "Experiment",
    "Finding",
    "Inequality",
    "Interval",
    "Match",
    "MatchElo",
    "Mean",
    "Record",
    "Result",
    "Setting",
    "Share",
    "SourceClaim",
    "by_opening",
    "elo_above",
    "make_experiment",
    "play",
    "register",
    "stated",
]
