"""The results of a match: games in any order, and the numbers and the table made of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from hauteur import _core
from hauteur.games.played_game import texts_of
from hauteur.matches.ratings.different import DifferentGames, different_games, line_digest
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
    """Finished game, as a line of games.jsonl. Equality ignores times."""

    index: int = Field(ge=0)
    """Number of the game, from 0."""
    a: Side
    """A's side."""
    score: Annotated[float, Field(ge=0, le=1, multiple_of=0.5)]
    """A's score: 1 won, 0.5 drawn, 0 lost."""
    end: str
    """Reason of the end, such as `checkmate`."""
    plies: int = Field(ge=0, le=10**6)
    """Moves of opening and game together."""
    fen: str | None = None
    """Start position; None: the game's own start."""
    opening: str = ""
    """Moves that were given, separated by spaces."""
    moves: str = ""
    """Moves that were searched, separated by spaces."""
    notes: dict[int, str] = Field(default_factory=dict)
    """Comments of players on their moves, by ply of the game."""
    centipawns: tuple[int | None, ...] = ()
    """Score of each of `moves` from the mover's view, None unknown, a mate as hauteur.mcts.scores.mate_score has it;
    empty: not kept."""
    depths: tuple[int, ...] = ()
    """Depth of the search of each of `moves` in plies, 0 unknown; empty: not kept."""
    milliseconds: tuple[int, ...] = ()
    """Time of each of `moves`; empty: not kept."""

    @classmethod
    def of(cls, game: _core.Game, record: GameRecord) -> MatchGame:
        """Return what a match keeps of a game; player A is the first of the two in the plan's numbers."""
        plan = record.plan
        scores = record.scores
        a = min(plan.sides)
        state = plan.begin(game)
        fen = None if plan.origin is None else state.notation()
        moves = texts_of(state, [*plan.start, *record.actions.tolist()])
        begins = len(plan.start)
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
        """Return all that two equal games have in common: everything but times."""
        # A game that is played again after a crash is the same game, at other times.
        return self.model_dump(exclude={"milliseconds"})

    @property
    def line(self) -> bytes:
        """Digest of start, opening and moves: equal for games that are repeats, whoever played first."""
        return line_digest(f"{self.fen} {self.opening} {self.moves}")


@dataclass
class Tally:
    """Results of a match from A's view; the same for any order of the games.

    `record` and what else is counted is of all games; intervals and `superiority` are of those that differ, as repeats
    are not evidence. With a sequential test `test` is its state, and the results are of the games that it has taken, in
    the order of their numbers.

    >>> import hauteur as ht
    >>> ht.Tally(paired=True).record.games
    0
    """

    paired: bool
    """Whether games 2k and 2k + 1 are a pair."""
    sprt: Sprt | None = None
    """A sequential test."""
    record: MatchScore = field(default_factory=MatchScore)
    """All games."""
    sides: dict[Side, MatchScore] = field(default_factory=lambda: {side: MatchScore() for side in SIDES})
    """All games by A's side."""
    plies: int = 0
    """Moves of all games together, openings with them."""
    ends: Counter[str] = field(default_factory=Counter)
    """Games by the reason of their end."""
    notes: Counter[str] = field(default_factory=Counter)
    """Moves by what a player said of them."""
    _scores: dict[int, float] = field(default_factory=dict)
    _end: int = 0
    _ahead: dict[int, tuple[MatchGame, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.test = None if self.sprt is None else PairsInOrder(self.sprt)
        self.different = DifferentGames(self.paired)

    @property
    def finished(self) -> int:
        """All games that came, those too that the test has not counted."""
        return self.record.games + len(self._ahead)

    @property
    def decided(self) -> bool:
        """True where the sequential test has accepted a hypothesis."""
        return self.test is not None and self.test.verdict is not None

    @property
    def ended(self) -> bool:
        """True where the sequential test has ended, with a verdict or because games repeat."""
        return self.test is not None and self.test.over

    def records_by_side(self) -> list[tuple[str, MatchScore]]:
        """Return the record of all games, then those of each side that A has played, with their labels."""
        by_side = [(f"A {side}", record) for side, record in self.sides.items() if record.games]
        return [("all", self.record), *by_side]

    @property
    def pairs(self) -> Pairs:
        """The complete pairs that differ."""
        return self.different.pairs

    def add(self, game: MatchGame, line: bytes | None = None) -> None:
        """One more game; each may come once. line: its `line`, for a game that is here without its moves."""
        line = game.line if line is None else line
        if self.test is None:
            self._count(game, line)
            return
        self._ahead[game.index] = game, line
        self.test.add(game.index, game.score, line)
        while self.record.games < self.test.record.games:
            self._count(*self._ahead.pop(self.record.games))

    def _count(self, game: MatchGame, line: bytes) -> None:
        """Count a game."""
        self.record = self.record.add(game.score)
        self.sides[game.a] = self.sides[game.a].add(game.score)
        self.plies += game.plies
        self.ends[game.end] += 1
        self.notes.update(game.notes.values())
        self._scores[game.index] = game.score
        self._end = max(self._end, game.index + 1)
        opening = line_digest(f"{game.fen} {game.opening}")
        self.different.add(game.index, game.score, line, opening)

    @property
    def score_interval(self) -> tuple[float, float]:
        """95 % interval of A's score, 0 to 1."""
        return self.interval(0.95)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Interval of A's score: from the variance of different pairs where the games are paired, else of games.

        While games are missing it is `running_interval`; where openings repeat, it is at least as wide as theirs, and
        where games repeat, than that of those that differ.
        """
        running = self.interval_from == "running"
        found = [running_interval(self._scores, self.pairs, confidence)] if running else []
        if not running or self.different.repeats:
            found.append(self._of_different(confidence))
        if self.interval_from == "openings":
            found.append(opening_interval(self.different.openings.values(), confidence))
        if self.different.repeats:
            found.append((self.record.score, self.record.score))
        return min(low for low, _ in found), max(high for _, high in found)

    def _of_different(self, confidence: float) -> tuple[float, float]:
        """Return the interval of the score of the games that differ, by pairs where there are any."""
        if self.pairs.pairs:
            return pair_score_interval(self.pairs, confidence)
        return score_interval(self.different.record, confidence)

    @property
    def interval_from(self) -> IntervalSource:
        """Tell what the interval is made of. running: games of lower numbers than others are missing."""
        if self.different.halves or self._end > len(self._scores):
            return "running"
        units = self.pairs.pairs or self.different.record.games
        if LEAST_OPENINGS <= len(self.different.openings) < units:
            return "openings"
        return "pairs" if self.pairs.pairs else "games"

    @property
    def superiority(self) -> float:
        """Chance that A is the stronger player, 0 to 1, by the games that differ."""
        if not self.paired:
            return likelihood_of_superiority(self.different.record)
        return pair_likelihood_of_superiority(self.pairs, self.different.halves.values())

    @property
    def elo_interval(self) -> tuple[float, float]:
        """95 % interval of the Elo of A above B."""
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
            "different_games": self.different.different,
            "repeats": self.different.repeats,
            "ends": dict(self.common_ends()),
            "notes": dict(sorted(self.notes.items())),
        }


def repeats_note(tallies: Iterable[Tally]) -> str:
    """Tell how many of the games of several matches differ, as `5 different games of 400`; empty where all do."""
    found = [tally.different for tally in tallies]
    different = sum(one.different for one in found)
    games = sum(one.games for one in found)
    return different_games(different, games)


@dataclass
class Work:
    """The cost of a match so far, all sessions together."""

    seconds: float = 0.0
    """Time in which games were played."""
    evaluations: int = 0
    """Positions that networks evaluated."""
    visits: float = 0.0
    """Completed tree visits."""
    batches: int = 0
    """Batches that networks computed."""
    capacity: int = 0
    """Rows that these batches had room for."""

    def plus(self, search: SearchFacts, visits: float) -> Work:
        """Return the work with another stretch of games."""
        return Work(
            seconds=self.seconds + search.total,
            evaluations=self.evaluations + search.rows,
            visits=self.visits + visits,
            batches=self.batches + search.batches,
            capacity=self.capacity + search.capacity,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the work as JSON has it."""
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
        """Return the work that `to_json` wrote."""
        return cls(*(values[name] for name in ("seconds", "evaluations", "visits", "batches", "capacity")))


def summary(tally: Tally) -> str:
    """Score, Elo and superiority in one line; how many games differ, where not all do."""
    low, high = tally.elo_interval
    difference = elo_of_score(tally.record.score)
    interval = f"[{low:+z.0f}, {high:+z.0f}]"
    numbers = [
        f"{tally.record}",
        f"score {tally.record.score:.1%}",
        f"Elo {difference:+z.0f} {interval}",
        f"LOS {tally.superiority:.1%}",
        tally.different.note,
    ]
    return "  ".join(filter(None, numbers))


def standing(tally: Tally) -> str:
    """The result until now in one line, with the state of a sequential test; empty where there is neither."""
    parts = []
    if tally.record.games:
        parts.append(summary(tally))
    if tally.test is not None:
        parts.append(sprt_line(tally.test))
    return "  ".join(parts)


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
    hypotheses = f"elo {sprt.elo0:g} against {sprt.elo1:g} ({sprt.model})"
    return f"{hypotheses}, alpha {sprt.alpha:g}, beta {sprt.beta:g}"


MAKE_THEM_DIFFER = "give openings, random plies (--random-plies) or the players a temperature"
"""Advice where the players play the same games again."""


def sprt_line(test: PairsInOrder) -> str:
    """Log likelihood ratio, bounds, and what was accepted."""
    low, high = test.sprt.bounds
    line = f"LLR {test.llr:+.2f} ({low:+.2f}, {high:+.2f}) after {test.pairs.pairs:,} pairs"
    if test.exhausted:
        return f"{line}: nothing accepted, the last {test.repeats_in_a_row:,} pairs were repeats; {MAKE_THEM_DIFFER}"
    if test.verdict is None:
        return line
    model = " (normalised)" if test.sprt.model == "normalised" else ""
    elo = test.sprt.elo1 if test.verdict else test.sprt.elo0
    return f"{line}: elo {elo:g}{model} accepted"


def table(tally: Tally, work: Work, names: tuple[str, str]) -> str:
    """The final table, from A's view."""
    low, high = tally.score_interval
    lines = [
        f"A: {names[0]}",
        f"B: {names[1]}",
        "",
        "          games    won  drawn   lost   score",
    ]
    for label, record in tally.records_by_side():
        counts = f"{record.games:6,} {record.wins:6,} {record.draws:6,} {record.losses:6,}"
        lines.append(f"{label:8} {counts}  {record.score:6.1%}")
    if tally.paired:
        counts = ", ".join(str(count) for count in tally.pairs.counts)
        repeats = tally.different.repeats
        left_out = f" (repeats left out: {repeats:,})" if repeats else ""
        lines.append(f"pairs with 0, 1/2, 1, 3/2, 2 points: {counts}{left_out}")
    lines.append("")
    lines.append(f"{summary(tally)}  (95 %; score {low:.1%} to {high:.1%})")
    if tally.test is not None:
        lines.append(f"SPRT of {sprt_text(tally.test.sprt)}")
        lines.append(sprt_line(tally.test))
    lines.append(_details(tally))
    lines.append(_speed(work))
    for note, count in sorted(tally.notes.items()):
        lines.append(f"note of {count:,} moves: {note}")
    return "\n".join(lines)


def _details(tally: Tally) -> str:
    """Return the lines about ends, lengths and notes of the games."""
    games = tally.record.games
    ends = ", ".join(f"{end} {count}" for end, count in tally.common_ends())
    mean = tally.plies / games if games else 0.0
    different = tally.different.different
    return f"{games:,} games, {different:,} different, {mean:.1f} plies a game; ends: {ends or 'none'}"


def _speed(work: Work) -> str:
    """Return the line about speed and batches."""
    rate = work.evaluations / work.seconds if work.seconds else 0.0
    rows = work.evaluations / work.batches if work.batches else 0.0
    fill = work.evaluations / work.capacity if work.capacity else 0.0
    return f"{work.seconds:,.1f} s, {rate:,.0f} evaluations/s, {rows:.1f} rows a batch (fill {fill:.0%})"


def _counts(record: MatchScore) -> dict[str, int]:
    """Return wins, draws and losses."""
    return {"wins": record.wins, "draws": record.draws, "losses": record.losses}
