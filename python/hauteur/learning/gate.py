"""The gate: does the candidate replace the best net? A match of pairs from the same openings with sides swapped."""

from dataclasses import dataclass, field
from typing import Any

from hauteur.learning.recipe import GateSettings
from hauteur.matches.ratings.elo import (
    MatchScore,
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
    """Counted results of a gate match, from the candidate's view; with a sequential test, those the test counts."""

    sprt: Sprt | None = None
    record: MatchScore = field(default_factory=MatchScore)

    def __post_init__(self) -> None:
        self.test = None if self.sprt is None else PairsInOrder(self.sprt)

    def add(self, index: int, score: float) -> None:
        if self.test is None:
            self.record = self.record.add(score)
        else:
            self.test.add(index, score)
            self.record = self.test.record

    @property
    def over(self) -> bool:
        """True once the sequential test has ended."""
        return self.test is not None and self.test.verdict is not None


def decide(settings: GateSettings, results: GateResults, *, generation: int, best: int) -> GateDecision:
    """The decision that these results give; `best` is the generation of the present best net."""
    record, test = results.record, results.test
    llr = None if test is None else test.llr
    if settings.by == "off":
        return GateDecision(generation, best, "off", True, "the gate is off: the newest net is the best")
    if test is not None and (verdict := test.verdict) is not None:
        accepted = test.sprt.elo1 if verdict else test.sprt.elo0
        reason = f"SPRT took Elo {accepted:g} after {test.pairs.pairs} pairs, LLR {test.llr:+.2f}"
        return GateDecision(generation, best, "sprt", verdict, reason, record, llr)
    promoted = record.games > 0 and record.score >= settings.threshold
    relation = "reaches" if promoted else "is below"
    reason = f"score {record.score:.1%} in {record.games} games {relation} the threshold {settings.threshold:.1%}"
    return GateDecision(generation, best, settings.by, promoted, reason, record, llr)


def sprt_of(settings: GateSettings) -> Sprt | None:
    """The sequential test that the gate uses, if any."""
    return Sprt(**settings.sprt.model_dump()) if settings.by == "sprt" else None
