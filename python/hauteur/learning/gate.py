"""The gate: does the candidate replace the best net? A match of pairs from the same openings with sides swapped."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hauteur.learning.sections import GateSettings
from hauteur.matches.ratings.different import DifferentGames
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
    """Generation of the candidate."""
    best: int
    """Generation of the best net until now."""
    by: str
    """How it was decided, as `gate.by`."""
    promoted: bool
    """Whether the candidate is the best net now."""
    reason: str
    """The reason, in a line."""
    record: MatchScore = field(default_factory=MatchScore)
    """All games, from the candidate's view."""
    llr: float | None = None
    """Log likelihood ratio of a sequential test."""
    counted: MatchScore | None = None
    """The games that differ, which decide; None: all do."""
    different_games: int | None = None
    """Number of games that differ, whoever was first; None: not known."""

    @property
    def evidence(self) -> MatchScore:
        """The games that decide."""
        return self.record if self.counted is None else self.counted

    def to_json(self) -> dict[str, Any]:
        """Return the results as written to the run's gate folder: games as counted, numbers of those that differ."""
        evidence = self.evidence
        low, high = score_interval(evidence)
        difference = elo_of_score(evidence.score)
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
            "different_games": self.different_games,
            "score": evidence.score,
            "score_interval_95": [low, high],
            "elo": difference if abs(difference) < 1e9 else None,
            "los": likelihood_of_superiority(evidence),
            "llr": self.llr,
        }


@dataclass
class GateResults:
    """Results of a gate match, from the candidate's view; with a sequential test, those that the test has taken.

    record: all games; different: those that are no repeats of others.
    """

    sprt: Sprt | None = None
    record: MatchScore = field(default_factory=MatchScore)
    different: DifferentGames = field(default_factory=lambda: DifferentGames(paired=True))
    _ahead: dict[int, tuple[float, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.test = None if self.sprt is None else PairsInOrder(self.sprt)

    def add(self, index: int, score: float, line: bytes) -> None:
        """Take the game of this number; line: digest of its course."""
        if self.test is None:
            self._count(index, score, line)
            return
        # Games count in the order of their numbers, whichever end first: short games differ from long ones, and which
        # results come early depends on the machine.
        self._ahead[index] = score, line
        self.test.add(index, score, line)
        while self.record.games < self.test.record.games:
            number = self.record.games
            self._count(number, *self._ahead.pop(number))

    def _count(self, index: int, score: float, line: bytes) -> None:
        """Count a game that the decision takes."""
        self.record = self.record.add(score)
        self.different.add(index, score, line)

    @property
    def over(self) -> bool:
        """True once the sequential test has ended."""
        return self.test is not None and self.test.over


DIVERGED = 3
"""Loss above which training has diverged, in losses of a net that knows nothing."""


def divergence(train: Mapping[str, Any], num_actions: int) -> str | None:
    """Return in words that training went out of bounds, from its metrics; None where it did not.

    A net that knows nothing, all of whose outputs are alike, has a policy loss of ln(actions) and a value loss of ln 3.
    """
    of_nothing = {"policy": math.log(max(2, num_actions)), "value": math.log(3)}
    for name, known in of_nothing.items():
        loss = train.get(f"{name}_loss")
        if loss is not None and loss > DIVERGED * known:
            nothing = f"a net that knows nothing has {known:.2f}"
            return f"the training diverged: {name} loss {loss:,.2f}, {nothing}; train.learning_rate is too high"
    return None


def decide(
    settings: GateSettings,
    results: GateResults,
    *,
    generation: int,
    best: int,
    diverged: str | None = None,
) -> GateDecision:
    """The decision that these results give; `best` is the generation of the present best net.

    diverged: what went wrong in the training of the candidate, which then is not promoted.
    """
    record = results.record
    test = results.test
    different = results.different
    llr = None if test is None else test.llr
    known: dict[str, Any] = {}
    if different.games:
        known = {"counted": different.record, "different_games": different.different}
    # Before all others: a gate that is off would promote such a net unseen.
    if diverged is not None:
        return GateDecision(generation, best, settings.by, False, diverged, record, llr, **known)
    if settings.by == "off":
        return GateDecision(generation, best, "off", True, "the gate is off: the newest net is the best")
    if test is not None and (verdict := test.verdict) is not None:
        accepted = test.sprt.elo1 if verdict else test.sprt.elo0
        reason = f"SPRT took Elo {accepted:g} after {test.pairs.pairs} pairs, LLR {test.llr:+.2f}"
        return GateDecision(generation, best, "sprt", verdict, reason, record, llr, **known)
    # A test that gate.games has ended without a verdict is decided by the threshold, as a match is.
    counted = different.record if different.games else record
    promoted = counted.games > 0 and counted.score >= settings.threshold
    relation = "reaches" if promoted else "is below"
    games = different.note or f"{record.games} games"
    reason = f"score {counted.score:.1%} in {games} {relation} the threshold {settings.threshold:.1%}"
    return GateDecision(generation, best, settings.by, promoted, reason, record, llr, **known)


def sprt_of(settings: GateSettings) -> Sprt | None:
    """The sequential test that the gate uses, if any."""
    if settings.by != "sprt":
        return None
    return Sprt(**settings.sprt.model_dump())
