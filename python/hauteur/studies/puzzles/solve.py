"""Solving: which problems a player's search solves at which counts of visits, and from how many visits on."""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.matches.ratings.elo import MatchScore, score_interval
from hauteur.mcts.batch_analysis import (
    AnalysisRequest,
    BatchAnalysis,
    Readings,
    RequestChain,
    counts_up_to,
    visits_to_solution,
)
from hauteur.players.build import Evaluators, Resources, as_played, build_player, player_name, player_nets
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS, PlayerSettings, player_text
from hauteur.studies.puzzles.mine import Show, work_text
from hauteur.studies.puzzles.problems import Problem
from hauteur.system.files import write_json
from hauteur.system.jsonl import Journal
from hauteur.system.lock import locked
from hauteur.system.provenance import provenance
from hauteur.system.settings import Section
from hauteur.system.tables import text_table

NODES_IN_MEMORY = 2_000_000
"""Visits of all trees together, about, that are locked at a time."""


class PuzzleAnswer(Section):
    """A player's answer to a problem."""

    number: int
    """Number of the problem in its file."""
    name: str
    """Name of the problem."""
    problem: str
    """Digest of the problem."""
    player: str
    """The player, by net and settings."""
    counts: tuple[int, ...]
    """Visits at which its moves were compared, ascending."""
    right: tuple[bool, ...]
    """Whether it would play every move of the solution, for each of the counts."""
    visits: int | None = None
    """First count from which it does so up to the last; None: not solved."""


@dataclass
class Solve:
    """Measurement of players on problems."""

    game: _core.Game
    """The game."""
    problems: Sequence[Problem]
    """The problems."""
    players: Sequence[PlayerSettings]
    """The players."""
    counts: tuple[int, ...]
    """Visits at which moves are compared, ascending."""
    resources: Resources = field(default_factory=Resources)
    """Threads, batches, backend."""
    folder: Path | None = None
    """Folder of the answers, from which an interrupted measurement resumes; None: nothing is kept."""
    seed: int = 0
    """Seed of all random draws."""
    show: Show = print
    """Gets lines of progress."""
    tick: Callable[[int, int, int], None] = lambda *_: None
    """Gets the numbers of finished, of all, and of solved problems."""

    def run(self) -> dict[str, Any]:
        """Solve the missing problems; return the contents of result.json."""
        if self.folder is None:
            return self._run(None)
        self.folder.mkdir(parents=True, exist_ok=True)
        with locked(self.folder, "solving puzzles"):
            return self._run(Journal(self.folder / "answers.jsonl", PuzzleAnswer))

    def _run(self, journal: Journal[PuzzleAnswer] | None) -> dict[str, Any]:
        answers = {}
        with Evaluators(self.game, self.resources) as evaluators:
            for settings in self.players:
                player = build_player(self.game, settings, evaluators, "--player")
                if not isinstance(player, SearchPlayer):
                    raise ValueError("--player: puzzles are solved by players with a net")
                name = player_name(self.game, settings).replace(f" visits={settings.visits}", "")
                answers[name] = self._answers(player, self._key(settings), name, journal)
        result = solve_result(answers, self.counts)
        if self.folder is not None:
            write_json(self.folder / "result.json", {**result, "seed": self.seed, "written": provenance()})
        return result

    def _key(self, settings: PlayerSettings) -> str:
        nets = [net.content for net in player_nets(self.game, settings).values()]
        text = player_text(as_played(self.game, settings), without=("name", *NETS, "visits", "temperature"))
        return " ".join([*nets, f"seed={self.seed}", text]).strip()

    def _answers(
        self,
        player: SearchPlayer,
        key: str,
        name: str,
        journal: Journal[PuzzleAnswer] | None,
    ) -> list[PuzzleAnswer]:
        stored = () if journal is None else journal.entries()
        found = {answer.number: answer for answer in stored if self._fits(answer, key)}
        left = [number for number in range(len(self.problems)) if number not in found]
        most = self.counts[-1]
        together = min(3 * player.evaluator.batch_size, max(8, NODES_IN_MEMORY // most))
        analysis = BatchAnalysis(player.evaluator, player.search, player.large, self.seed, together, player.more)
        if left:
            self.show(f"{name}: {len(left):,} of {len(self.problems):,} problems to solve")
        with closing(analysis.run(self._chains(left, key))) as answers:
            for _, answer in answers:
                found[answer.number] = answer
                if journal is not None:
                    journal.append(answer)
                solved = sum(one.right[-1] for one in found.values())
                self.tick(len(found), len(self.problems), solved)
        if left:
            self.show(work_text(analysis))
        return [found[number] for number in range(len(self.problems))]

    def _fits(self, answer: PuzzleAnswer, key: str) -> bool:
        """Return whether a stored answer has the same problem, player and counts."""
        if answer.number >= len(self.problems):
            return False
        same_problem = self.problems[answer.number].digest == answer.problem
        return same_problem and answer.player == key and answer.counts == self.counts

    def _chains(self, numbers: Sequence[int], key: str) -> Iterator[RequestChain[PuzzleAnswer]]:
        for number in numbers:
            yield solving(self.problems[number], number, key, self.counts)


def solving(problem: Problem, number: int, player: str, counts: tuple[int, ...]) -> RequestChain[PuzzleAnswer]:
    """The search of a problem's positions one after another, as long as each is solved at some of the counts."""
    right = [True] * len(counts)
    visits: list[int | None] = []
    for step in problem.steps:
        readings = yield AnalysisRequest(step.state, counts_up_to(counts[-1], *counts))
        solved = _right_at(readings, step.is_right, counts)
        right = [both and one for both, one in zip(right, solved, strict=True)]
        visits.append(visits_to_solution(readings, step.is_right))
        if not any(right):
            break
    known = [count for count in visits if count is not None]
    solved_from = max(known) if len(known) == len(visits) else None
    return PuzzleAnswer(
        number=number,
        name=problem.name,
        problem=problem.digest,
        player=player,
        counts=counts,
        right=tuple(right),
        visits=solved_from,
    )


def _right_at(readings: Readings, is_right: Callable[[int], bool], counts: tuple[int, ...]) -> list[bool]:
    """Return whether the chosen move is right at each count; a search that ended early keeps its last move."""
    read_at = counts_up_to(counts[-1], *counts)
    best = {count: reading.best for count, reading in zip(read_at, readings, strict=True)}
    return [is_right(best[count]) for count in counts]


def solve_result(answers: dict[str, list[PuzzleAnswer]], counts: tuple[int, ...]) -> dict[str, Any]:
    """Shares solved by each player with 95 % intervals, visits to solution, and each pair of players compared."""
    players = {}
    for name, every in answers.items():
        solved = {str(count): _share_at(every, n) for n, count in enumerate(counts)}
        players[name] = {"solved": solved, "visits_to_solution": _visits(every)}
    return {
        "problems": len(next(iter(answers.values()))),
        "counts": list(counts),
        "players": players,
        "pairs": _pairs(answers, counts),
    }


def _share_at(answers: Sequence[PuzzleAnswer], number: int) -> dict[str, Any]:
    count = sum(answer.right[number] for answer in answers)
    of = len(answers)
    low, high = score_interval(MatchScore(count, 0, of - count))
    return {"count": count, "of": of, "share": count / of, "interval_95": [low, high]}


def _visits(answers: Sequence[PuzzleAnswer]) -> dict[str, Any]:
    """Median over all problems (None: most are not solved), geometric mean over the solved ones."""
    every = [math.inf if answer.visits is None else answer.visits for answer in answers]
    solved = [answer.visits for answer in answers if answer.visits is not None]
    median = statistics.median(every)
    return {
        "solved": len(solved),
        "median": median if math.isfinite(median) else None,
        "geometric_mean_of_solved": statistics.geometric_mean(solved) if solved else None,
    }


def _pairs(answers: dict[str, list[PuzzleAnswer]], counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return, for each pair of players and count, the number of problems solved by only one of them."""
    found = []
    for a, b in combinations(answers, 2):
        answered = list(zip(answers[a], answers[b], strict=True))
        for number, count in enumerate(counts):
            solved = [(by_a.right[number], by_b.right[number]) for by_a, by_b in answered]
            pair = {
                "a": a,
                "b": b,
                "visits": count,
                "a_alone": solved.count((True, False)),
                "b_alone": solved.count((False, True)),
            }
            found.append(pair)
    return found


def solve_table(result: Mapping[str, Any]) -> str:
    """The shares as a table."""
    counts = result["counts"]
    rows = []
    for name, one in result["players"].items():
        median = one["visits_to_solution"]["median"]
        shares = [_solved_text(one["solved"][str(count)]) for count in counts]
        to_solution = "unsolved" if median is None else f"{median:,.0f}"
        rows.append([name, *shares, to_solution])
    at_visits = [f"{count:,} visits" for count in counts]
    heads = ["player", *at_visits, "median visits to solution"]
    table = text_table(heads, rows, shown=len(rows))
    title = f"{result['problems']:,} problems; solved, with 95 % intervals"
    pair = "at {visits:,} visits {a_alone} solved by {a} alone, {b_alone} by {b} alone"
    pairs = [pair.format(**one) for one in result["pairs"]]
    return "\n".join([title, table, *pairs])


def _solved_text(one: dict[str, Any]) -> str:
    low, high = one["interval_95"]
    return f"{one['count']} ({one['share']:.1%}) [{low:.1%}, {high:.1%}]"
