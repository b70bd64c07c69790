"""The results of a match: games in any order, and the numbers and the table made of them."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from hauteur import _core
from hauteur.games.played_game import texts_of
from hauteur.matches.ratings.elo import (
    LEAST_OPENINGS,
    MatchScore,
    Pairs,
    PairsInOrder,
    Sprt,
    elo_of_interval,
    elo_of_score,
    likelihood_of_superiority,
    normalised_elo,
    opening_interval,
    pair_likelihood_of_superiority,
    pair_score_interval,
    running_interval,
    score_interval,
)
from hauteur.matches.record import GameRecord
from hauteur.mcts.driver import SearchFacts
from hauteur.system.formatting import finite
from hauteur.system.settings import Section

Side = Literal["first", "second"]
IntervalSource = Literal["pairs", "games", "openings", "running"]
SIDES: tuple[Side, Side] = ("first", "second")


class MatchGame(Section):
    """Finished game, as a line of games.jsonl.

    index: its number; a: A's side; score: A's, 1 won, 0.5 drawn, 0 lost; end: reason of the result; plies: moves of
    opening and game together; fen: start position if not the game's; opening: given moves; moves: searched moves;
    notes: players' comments on their moves, by ply of the game. Of each of `moves`, where kept: centipawns of its score
    from the mover's view (None unknown; a mate as hauteur.mcts.scores.mate_score has it), depths (0 unknown) and
    milliseconds. Equality ignores times.
    """

    index: int = Field(ge=0)
    a: Side
    score: Annotated[float, Field(ge=0, le=1, multiple_of=0.5)]
    end: str
    plies: int = Field(ge=0, le=10**6)
    fen: str | None = None
    opening: str = ""
    moves: str = ""
    notes: dict[int, str] = Field(default_factory=dict)
    centipawns: tuple[int | None, ...] = ()
    depths: tuple[int, ...] = ()
    milliseconds: tuple[int, ...] = ()

    @classmethod
    def of(cls, game: _core.Game, record: GameRecord, *, a: int = 0) -> MatchGame:
        """Return what a match keeps of a game; a: index of player A in the game's plan."""
        plan, scores = record.plan, record.scores
        state = plan.begin(game)
        fen = None if plan.origin is None else state.notation()
        moves, begins = texts_of(state, [*plan.start, *record.actions.tolist()]), len(plan.start)
        centipawns = [None if math.isnan(score) else round(100 * score) for score in scores.tolist()]
        return cls(
            index=plan.index,
            a=SIDES[plan.sides.index(a)],
            score=record.score_of(a),
            end=record.end_reason,
            plies=len(moves),
            fen=fen,
            opening=" ".join(moves[:begins]),
            moves=" ".join(moves[begins:]),
            notes={begins + number: note for number, note in record.notes.items()},
            centipawns=() if np.isnan(scores).all() else tuple(centipawns),
            depths=tuple(record.depths.tolist()) if record.depths.any() else (),
            milliseconds=tuple(round(1000 * seconds) for seconds in np.nan_to_num(record.seconds).tolist()),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MatchGame):
            return NotImplemented
        return self._course() == other._course()

    __hash__ = None  # type: ignore[assignment]  # notes are a dict

    def _course(self) -> dict[str, Any]:
        return self.model_dump(exclude={"milliseconds"})


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


@dataclass
class Tally:
    """Results of a match from A's view; the same for any order of the games.

    paired: games 2k and 2k + 1 are a pair. sprt: a sequential test, `test` then is its state, and the results are of
    the games that it has counted, in the order of their numbers.

    >>> import hauteur as ht
    >>> ht.Tally(paired=True).record.games
    0
    """

    paired: bool
    sprt: Sprt | None = None
    record: MatchScore = field(default_factory=MatchScore)
    sides: dict[Side, MatchScore] = field(default_factory=lambda: {side: MatchScore() for side in SIDES})
    pairs: Pairs = field(default_factory=Pairs)
    plies: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    _scores: dict[int, float] = field(default_factory=dict)
    _end: int = 0
    _half: dict[int, float] = field(default_factory=dict)
    _openings: dict[bytes, MatchScore] = field(default_factory=dict)
    _lines: set[bytes] = field(default_factory=set)
    _ahead: dict[int, MatchGame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.test = None if self.sprt is None else PairsInOrder(self.sprt)

    @property
    def finished(self) -> int:
        """All games that came, those too that the test has not counted."""
        return self.record.games + len(self._ahead)

    @property
    def decided(self) -> bool:
        return self.test is not None and self.test.verdict is not None

    def add(self, game: MatchGame) -> None:
        """One more game; each may come once."""
        if self.test is None:
            self._count(game)
            return
        self._ahead[game.index] = game
        self.test.add(game.index, game.score)
        while self.record.games < self.test.record.games:
            self._count(self._ahead.pop(self.record.games))

    def _count(self, game: MatchGame) -> None:
        self.record = self.record.add(game.score)
        self.sides[game.a] = self.sides[game.a].add(game.score)
        self.plies += game.plies
        self.ends[game.end] += 1
        self.notes.update(game.notes.values())
        self._scores[game.index] = game.score
        self._end = max(self._end, game.index + 1)
        opening = f"{game.fen} {game.opening}"
        self._lines.add(_digest(f"{opening} {game.moves}"))
        begun = _digest(opening)
        self._openings[begun] = self._openings.get(begun, MatchScore()).add(game.score)
        if self.paired:
            self._add_to_pair(game.index // 2, game.score)

    def _add_to_pair(self, pair: int, score: float) -> None:
        other = self._half.pop(pair, None)
        if other is None:
            self._half[pair] = score
        else:
            self.pairs = self.pairs.add(score + other)

    @property
    def score_interval(self) -> tuple[float, float]:
        return self.interval(0.95)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Interval of A's score: from the variance of pairs where the games are paired, else of games.

        While games are missing it is `running_interval`; where openings repeat, it is no narrower than theirs.
        """
        if self.interval_from == "running":
            return running_interval(self._scores, self.pairs, confidence)
        paired = self.pairs.pairs > 0
        low, high = pair_score_interval(self.pairs, confidence) if paired else score_interval(self.record, confidence)
        if self.interval_from != "openings":
            return low, high
        least, most = opening_interval(self._openings.values(), confidence)
        return min(low, least), max(high, most)

    @property
    def interval_from(self) -> IntervalSource:
        """Tell what the interval is made of. running: games of lower numbers than others are missing."""
        if self._half or self._end > len(self._scores):
            return "running"
        units = self.pairs.pairs or self.record.games
        if LEAST_OPENINGS <= len(self._openings) < units:
            return "openings"
        return "pairs" if self.pairs.pairs else "games"

    @property
    def superiority(self) -> float:
        """Chance that A is the stronger player, 0 to 1, by all games, as score and Elo are."""
        if not self.paired:
            return likelihood_of_superiority(self.record)
        return pair_likelihood_of_superiority(self.pairs, self._half.values())

    @property
    def elo_interval(self) -> tuple[float, float]:
        return elo_of_interval(self.score_interval)

    def common_ends(self) -> list[tuple[str, int]]:
        """Return end reasons of games and their counts, the most common first."""
        return sorted(self.ends.items(), key=lambda item: (-item[1], item[0]))

    def to_json(self) -> dict[str, Any]:
        """All numbers; None for an Elo difference without end."""
        elo = elo_of_score(self.record.score)
        low, high = self.elo_interval
        games = self.record.games
        return {
            "games": games,
            **_counts(self.record),
            "score": self.record.score,
            "score_interval_95": list(self.score_interval),
            "elo": finite(elo),
            "elo_interval_95": [finite(low), finite(high)],
            "los": self.superiority,
            "interval_from": self.interval_from,
            "pairs": list(self.pairs.counts) if self.paired else None,
            **{f"a_{side}": _counts(record) for side, record in self.sides.items()},
            "mean_plies": self.plies / games if games else None,
            "different_games": len(self._lines),
            "ends": dict(self.common_ends()),
            "notes": dict(sorted(self.notes.items())),
        }


@dataclass
class Work:
    """The cost of a match so far, all sessions together: seconds, positions evaluated, visits, batches."""

    seconds: float = 0.0
    evaluations: int = 0
    visits: float = 0.0
    batches: int = 0
    capacity: int = 0

    def plus(self, search: SearchFacts, visits: float) -> Work:
        return Work(
            seconds=self.seconds + search.total,
            evaluations=self.evaluations + search.rows,
            visits=self.visits + visits,
            batches=self.batches + search.batches,
            capacity=self.capacity + search.capacity,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "seconds": round(self.seconds, 3),
            "evaluations": self.evaluations,
            "visits": int(self.visits),
            "batches": self.batches,
            "capacity": self.capacity,
            "evaluations_per_second": round(self.evaluations / self.seconds, 1) if self.seconds else None,
            "visits_per_second": round(self.visits / self.seconds, 1) if self.seconds else None,
            "rows_per_batch": round(self.evaluations / self.batches, 2) if self.batches else None,
            "batch_fill": round(self.evaluations / self.capacity, 4) if self.capacity else None,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Work:
        return cls(*(values[name] for name in ("seconds", "evaluations", "visits", "batches", "capacity")))


def summary(tally: Tally) -> str:
    """Score, Elo and superiority in one line."""
    low, high = tally.elo_interval
    difference = elo_of_score(tally.record.score)
    interval = f"[{low:+.0f}, {high:+.0f}]"
    return (
        f"{tally.record}  score {tally.record.score:.1%}  Elo {difference:+.0f} {interval}  LOS {tally.superiority:.1%}"
    )


def standing(tally: Tally) -> str:
    """The result until now in one line, with the state of a sequential test; empty where there is neither."""
    parts = [summary(tally)] if tally.record.games else []
    return "  ".join(parts if tally.test is None else [*parts, sprt_line(tally.test)])


def sprt_json(test: PairsInOrder) -> dict[str, Any]:
    """Return the present state of a sequential test as JSON."""
    low, high = test.sprt.bounds
    taken = {True: "elo1", False: "elo0", None: None}[test.verdict]
    return {
        **asdict(test.sprt),
        "verdict": taken,
        "llr": test.llr,
        "bounds": [low, high],
        "pairs": test.pairs.pairs,
        "normalised_elo": finite(normalised_elo(test.pairs)),
    }


def sprt_text(sprt: Sprt) -> str:
    """Return the hypotheses of a sequential test as text: elo 0 against 10 (normalised), alpha 0.05, beta 0.05."""
    return f"elo {sprt.elo0:g} against {sprt.elo1:g} ({sprt.model}), alpha {sprt.alpha:g}, beta {sprt.beta:g}"


def sprt_line(test: PairsInOrder) -> str:
    """Log likelihood ratio, bounds, and what was accepted."""
    low, high = test.sprt.bounds
    line = f"LLR {test.llr:+.2f} ({low:+.2f}, {high:+.2f}) after {test.pairs.pairs:,} pairs"
    if test.verdict is None:
        return line
    model = " (normalised)" if test.sprt.model == "normalised" else ""
    return f"{line}: elo {test.sprt.elo1 if test.verdict else test.sprt.elo0:g}{model} accepted"


def table(tally: Tally, work: Work, names: tuple[str, str]) -> str:
    """The final table, from A's view."""
    low, high = tally.score_interval
    lines = [f"A: {names[0]}", f"B: {names[1]}", "", "          games    won  drawn   lost   score"]
    rows = [("all", tally.record), *((f"A {side}", record) for side, record in tally.sides.items() if record.games)]
    lines += [f"{label:8} {r.games:6,} {r.wins:6,} {r.draws:6,} {r.losses:6,}  {r.score:6.1%}" for label, r in rows]
    if tally.paired:
        lines.append(f"pairs with 0, 1/2, 1, 3/2, 2 points: {', '.join(map(str, tally.pairs.counts))}")
    lines += ["", f"{summary(tally)}  (95 %; score {low:.1%} to {high:.1%})"]
    if tally.test is not None:
        lines += [f"SPRT of {sprt_text(tally.test.sprt)}", sprt_line(tally.test)]
    lines += [_details(tally), _speed(work)]
    lines += [f"note of {count:,} moves: {note}" for note, count in sorted(tally.notes.items())]
    return "\n".join(lines)


def _details(tally: Tally) -> str:
    games = tally.record.games
    ends = ", ".join(f"{end} {count}" for end, count in tally.common_ends())
    mean = tally.plies / games if games else 0.0
    return f"{games:,} games, {len(tally._lines):,} different, {mean:.1f} plies a game; ends: {ends or 'none'}"


def _speed(work: Work) -> str:
    rate = work.evaluations / work.seconds if work.seconds else 0.0
    rows = work.evaluations / work.batches if work.batches else 0.0
    fill = work.evaluations / work.capacity if work.capacity else 0.0
    return f"{work.seconds:,.1f} s, {rate:,.0f} evaluations/s, {rows:.1f} rows a batch (fill {fill:.0%})"


def _counts(record: MatchScore) -> dict[str, int]:
    return {"wins": record.wins, "draws": record.draws, "losses": record.losses}
