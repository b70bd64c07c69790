"""Solving puzzles: a person move by move, a search at growing counts of visits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hauteur import _core
from hauteur.games.played_game import move_text
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.batch_analysis import counts_up_to
from hauteur.mcts.limits import Limits
from hauteur.studies.puzzles.problems import Problem, ProblemStep

Answer = Literal["right", "wrong", "solved"]
"""right: the line goes on with the opponent's reply; solved: it was the last move."""


@dataclass
class PuzzleAttempt:
    """A person at a problem.

    number: of the step that is to be solved; clean: without wrong moves or help until now; end: the position behind the
    last move that was found.
    """

    problem: Problem
    number: int = 0
    clean: bool = True
    end: _core.State | None = None

    @property
    def step(self) -> ProblemStep:
        """The position that is to be solved, after the end the last one."""
        return self.problem.steps[min(self.number, len(self.problem.steps) - 1)]

    @property
    def solved(self) -> bool:
        """Return whether every move was found."""
        return self.number == len(self.problem.steps)

    @property
    def shown(self) -> _core.State:
        """The position to look at: of the step, after the end the one behind the line as it was solved."""
        return self.step.state if self.end is None else self.end

    def answer(self, action: int) -> Answer:
        """Take a move of the solver, which must be legal."""
        if not self.step.is_right(action):
            self.clean = False
            return "wrong"
        if self.number + 1 == len(self.problem.steps):
            self.end = self.step.state.copy()
            self.end.apply(action)
        self.number += 1
        return "solved" if self.solved else "right"

    def help(self) -> tuple[int, ...]:
        """Return the right moves of the step (none: all that are not wrong); the attempt counts as failed."""
        self.clean = False
        return tuple(sorted(self.step.right))

    def line(self) -> list[str]:
        """Return the rest of the line from the step on, as people write it; of several right moves the first."""
        state, last = self.step.state.copy(), self.problem.steps[-1]
        texts = []
        for action in [*last.state.moves[len(state.moves) :], *sorted(last.right)[:1]]:
            texts.append(move_text(state, action))
            state.apply(action)
        return texts


@dataclass(frozen=True)
class SearchedMove:
    """The move that a search would play after `visits` visits. q: its value for the solver, -1 to 1."""

    visits: int
    action: int
    q: float
    right: bool


def solved_from(moves: Sequence[SearchedMove]) -> int | None:
    """Return the first count of visits from which on the move is right; None where the last one is wrong."""
    solved = None
    for move in reversed(moves):
        if not move.right:
            break
        solved = move.visits
    return solved


def searched_moves(analysis: Analysis, step: ProblemStep, most: int) -> Iterator[SearchedMove]:
    """Search a position; yield what it would play at counts of visits up to `most`, four a doubling.

    `analysis.stop` ends the search of the present count.
    """
    analysis.set_position(step.state.start, step.state.moves)
    for count in counts_up_to(most):
        report = analysis.search(Limits(visits=count))
        if report.best is not None:
            best = report.best
            yield SearchedMove(report.visits, best.action, best.q, step.is_right(best.action))
