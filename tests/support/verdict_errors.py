"""Error rates of the verdicts, by simulation: what is concluded where the truth is known.

Each kind of claim of the experiments is simulated by the functions that the experiments use, with looks at every eighth
of its games where they may be looked at: with its quantities exactly at their bounds, where every "holds" and "does not
hold" is an error, at the smallest effects that matter, where "no such effect" is one, and with a true difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulated_claims import Games, Kind

from hauteur.system.seeds import stream
from hauteur_experiments.verdict import Look, Verdict


@dataclass(frozen=True)
class ErrorRates:
    """Shares of simulated experiments, 0 to 1. false: of each false verdict; covered: intervals of 95 % that contain
    the bound, at the end, where it is the truth; power: "holds" at the kind's effect; nothing: "no such effect" where
    there is none.
    """

    kind: Kind
    false: Mapping[Verdict, float]
    covered: float
    power: float
    nothing: float
    rounds: int


def error_rates(kind: Kind, rounds: int, seed: int) -> ErrorRates:
    """Simulate experiments with each truth."""
    truths = sorted({0.0, kind.size, *kind.truths.values()})
    counts: dict[float, Counter[Verdict]] = {}
    covered = 0
    for truth in truths:
        random = stream(seed, f"verdicts on {kind.name} at {truth:g}")
        counts[truth] = Counter()
        for _ in range(rounds):
            games = kind.make(random, truth)
            counts[truth][judged(games, kind.ends)] += 1
            if truth == 0:
                side = games(1.0).inequalities[-1]
                low, high = side.measured.interval(0.95)
                covered += low <= side.bound <= high
    false = {verdict: counts[truth][verdict] / rounds for verdict, truth in kind.truths.items()}
    power, nothing = counts[kind.size]["holds"], counts[0.0]["no such effect"]
    return ErrorRates(kind, false, covered / rounds, power / rounds, nothing / rounds, rounds)


def judged(games: Games, ends: Sequence[Look]) -> Verdict:
    """Return the verdict at the first look at which the claim is not open; open: at none."""
    verdicts = (games(look.share if not look.extensions else 1.0 + look.extensions).at(look).verdict for look in ends)
    return next((verdict for verdict in verdicts if verdict != "open"), "open")
