"""Which move of a finished search is played: the best, or one drawn by lc0's temperature rules."""

import numpy as np

from hauteur.search.params import Temperature
from hauteur.search.report import RootMove, RootReport
from hauteur.search.temperature import choose_actions, temperatures_at


def choose_move(report: RootReport, settings: Temperature, ply: int, rng: np.random.Generator) -> RootMove | None:
    """The move to play `ply` plies into the game; None where there is none."""
    temperature = temperatures_at(settings, np.array([ply], np.int64))
    if report.best is None or temperature[0] == 0.0:
        return report.best
    chosen = choose_actions(
        np.array([[move.visits for move in report.moves]], np.uint32),
        np.array([[move.q if move.visits else np.nan for move in report.moves]], np.float32),
        np.array([[move.prior for move in report.moves]], np.float32),
        best=np.zeros(1, np.uint16),
        temperatures=temperature,
        uniforms=rng.random(1),
        settings=settings,
        proven=np.array([[np.nan if move.proven is None else move.proven for move in report.moves]], np.float32),
    )
    return report.moves[int(chosen[0])]
