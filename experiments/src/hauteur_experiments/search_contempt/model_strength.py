"""Why a model of weaker players may do better: strength and temperature of the model apart, and how well it predicts.

All models are drawn from at once (`n_scl = 0`) against one odds taker, from the same openings.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import Match, chosen
from hauteur_experiments.measured import columns
from hauteur_experiments.search_contempt.odds import BY, Cell, Gain, finding_by, gain, odds_taker, start
from hauteur_experiments.search_contempt.odds_models import (
    HIGH,
    LEAST,
    LOW,
    MIDDLE,
    PLAIN,
    SHOWN,
    USES,
    Cells,
    model,
    odds_matches,
    of_most_nodes,
    played,
    rows_of,
    sampled,
)
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import SMALLEST_POINTS

HEATS = (0.7, 1.0, 1.4, 2.0)
"""Temperatures of the right net as a model, in that of the odds taker."""

BATCH = 256
"""Positions that are evaluated together."""


def make(setting: Setting) -> Result:
    """Play the models, and measure how well each predicts the odds taker's moves."""
    cells = played(setting, matches(setting))
    taker = odds_taker(setting)
    nats = surprises(taker, next(iter(cells.values()))) if cells else {}
    rows = [{**row, "nats": nats.get(str(row["arm"]))} for row in rows_of(cells)]
    facts = {"odds_taker": taker, "start": start(setting)[1]}
    return Result(rows, findings(cells, sampled(taker)[0]), texts=[columns(rows, *SHOWN, "nats")], facts=facts)


def matches(setting: Setting) -> dict[tuple[str, int], Match]:
    """The matches by model and nodes, PUCT among them."""
    words = {arm: f"{model(*one)} search_contempt.n_scl=0" for arm, one in models(odds_taker(setting)).items()}
    return odds_matches(setting, {PLAIN: "", **words})


def models(taker: str) -> dict[str, tuple[str, float]]:
    """Net and temperature by arm: weak, middling and strong players at the taker's, and the right net at HEATS."""
    net, heat = sampled(taker)
    every = [(other, 1.0) for other in (LOW, f"maia-{MIDDLE}", HIGH)] + [(net, share) for share in HEATS]
    return {arm_of(other, share): (other, heat * share) for other, share in every}


def arm_of(net: str, heat: float) -> str:
    """The name of an arm: the net, and the temperature in the taker's."""
    return f"{net}-at-{heat:g}"


def surprises(taker: str, cell: Cell) -> dict[str, float]:
    """The mean of -ln P of the taker's moves in the games of a cell under each model, in nats."""
    rows, legal, places = taken_moves(cell)
    found = {}
    logits: dict[str, np.ndarray] = {}
    for arm, (net, heat) in models(taker).items():
        if net not in logits:
            with ht.evaluator(cell.played.match.game, net, threads=1) as evaluator:
                parts = np.array_split(rows, len(rows) // BATCH + 1)
                logits[net] = np.concatenate([evaluator(part)[0] for part in parts])
        missed = []
        for row, actions, place in zip(logits[net], legal, places, strict=True):
            scaled = row[actions] / heat
            missed.append(np.logaddexp.reduce(scaled) - scaled[place])
        found[arm] = math.fsum(missed) / len(missed)
    return found


def taken_moves(cell: Cell) -> tuple[np.ndarray, list[np.ndarray], list[int]]:
    """The taker's positions as inputs of a net, (n, planes, 8, 8); legal actions of each; where its move is there."""
    rows = []
    legal: list[np.ndarray] = []
    places: list[int] = []
    for game in cell.played.games:
        state = ht.position(cell.played.match.game, game.fen)
        for move in game.opening.split():
            state.apply_text(move)
        taker = 1 if game.a == "first" else 0
        for move in game.moves.split():
            action = state.parse(move)
            if state.to_move == taker:
                actions = state.legal_actions()
                rows.append(state.features())
                legal.append(actions)
                places.append(int(np.flatnonzero(actions == action)[0]))
            state.apply(action)
    return np.asarray(rows), legal, places


def findings(cells: Cells, net: str) -> list[Finding]:
    """Return the claims on a model of weaker players and on a warmer one. net: the odds taker's."""
    at = of_most_nodes(cells)
    right = arm_of(net, 1.0)
    if right not in at:
        return []
    weaker = [] if net == LOW else [arm_of(LOW, 1.0)]
    warmer = [arm_of(net, heat) for heat in HEATS if heat > 1]
    found = []
    for by in BY:
        for key, others in (("weaker-model", weaker), ("warmer-model", warmer)):
            gains: dict[str, Any] = {
                f"{arm} above {right}": Gain(gain(at[right], at[arm], by), SMALLEST_POINTS)
                for arm in others
                if arm in at
            }
            found.append(finding_by(key, by, gains, needs="any", least=LEAST))
    return [one for one in found if one is not None]


CLAIMS = stated(
    "this laboratory",
    "weaker-model | a model of weaker players scores more than the right one | +11.5 points in a pilot of 100 games",
    "warmer-model | the right model at a higher temperature than the odds taker's scores more | no number",
)

EXPERIMENTS = (
    Experiment(
        "odds-model-strength",
        "this laboratory",
        "odds: models of the odds taker by strength and temperature",
        make,
        claims=CLAIMS,
        matches=lambda setting: chosen(setting, matches(setting).values()),
        uses=USES,
        looks=True,
    ),
)
