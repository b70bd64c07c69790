"""The gate: does the candidate replace the best net? A match of pairs from the same openings with sides swapped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hauteur.learning.recipe import GateSettings
from hauteur.matches.ratings.elo import (
    MatchScore,
    Pairs,
    PairsInOrder,
    Sprt,
    elo_of_score,
    likelihood_of_superiority,
    score_interval,
)


@dataclass(frozen=True)
class GateDecision:
    """The decision whether the candidate of a generation became the best net, and why."""

    generation: int
    best: int
    by: str
    promoted: bool
    reason: str
    record: MatchScore = field(default_factory=MatchScore)
    llr: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the results as written to the run's gate folder."""
        low, high = score_interval(self.record)
        difference = elo_of_score(self.record.score)
        return {
            "generation": self.generation,
            "best": self.best,
            "by": self.by,
            "promoted": self.promoted,
            "reason": self.reason,
            "games": self.record.games,
            "wins": self.record.wins,
            "draws": self.record.draws,
            "losses": self.record.losses,
            "score": self.record.score,
            "score_interval_95": [low, high],
            "elo": difference if abs(difference) < 1e9 else None,
            "los": likelihood_of_superiority(self.record),
            "llr": self.llr,
        }


@dataclass
class GateResults:
    """Counted results of a gate match, from the candidate's view.

    With a sequential test, those the test counts (PairsInOrder).
    """

    sprt: Sprt | None = None
    record: MatchScore = field(default_factory=MatchScore)

    def __post_init__(self) -> None:
        self._test = None if self.sprt is None else PairsInOrder(self.sprt)

    def add(self, index: int, score: float) -> None:
        """Count the game of this number."""
        if self._test is None:
            self.record = self.record.add(score)
        else:
            self._test.add(index, score)
            self.record = self._test.record

    @property
    def pairs(self) -> Pairs:
        """The pairs of a sequential test."""
        return Pairs() if self._test is None else self._test.pairs

    @property
    def over(self) -> bool:
        """True once the sequential test has ended."""
        return self._test is not None and self._test.verdict is not None


def decide(settings: GateSettings, results: GateResults, *, generation: int, best: int) -> GateDecision:
    """The decision that these results give; `best` is the generation of the present best net."""
    record, sprt = results.record, results.sprt
    llr = sprt.llr(results.pairs) if sprt is not None else None
    if settings.by == "off":
        return GateDecision(generation, best, "off", True, "the gate is off: the newest net is the best")
    if sprt is not None and llr is not None and (verdict := sprt.verdict(llr)) is not None:
        accepted = sprt.elo1 if verdict else sprt.elo0
        reason = f"SPRT took Elo {accepted:g} after {results.pairs.pairs} pairs, LLR {llr:+.2f}"
        return GateDecision(generation, best, "sprt", verdict, reason, record, llr)
    promoted = record.games > 0 and record.score >= settings.threshold
    relation = "reaches" if promoted else "is below"
    reason = f"score {record.score:.1%} in {record.games} games {relation} the threshold {settings.threshold:.1%}"
    return GateDecision(generation, best, settings.by, promoted, reason, record, llr)


def sprt_of(settings: GateSettings) -> Sprt | None:
    """The sequential test that the gate uses, if any."""
    return Sprt(**settings.sprt.model_dump()) if settings.by == "sprt" else None
