"""The session of the page Puzzles: a set, and the puzzle that a person is at."""

import io
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hauteur import _core
from hauteur.games.pictures import action_squares, sees_second_side
from hauteur.games.played_game import line_texts, move_text
from hauteur.studies.puzzles.problems import (
    MOST_PROBLEMS,
    Problem,
    PuzzleAttempt,
    PuzzleFiles,
    problems_in,
    problems_of,
)
from hauteur.web.positions import position_view
from hauteur.web.sessions.session import Emit, Fields, PageSession, SessionSettings

MOST_TEXT = 900_000
"""Characters of a file: it must fit into a message."""
SUFFIXES = (".csv", ".json", ".epd")

MOST_LEFT_OUT = 5
"""Lines of a suite that were left out and are named."""


class PuzzlesSession(PageSession):
    """One set, one puzzle of it at a time."""

    name = "puzzles"

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        super().__init__(emit, settings)
        self._files = PuzzleFiles([Path(root) for root in settings.roots])
        self._problems: list[Problem] = []
        self._attempt: PuzzleAttempt | None = None
        self._counted = False
        self._told = False
        self._flip = False

    def do_open(
        self,
        set: Annotated[str, Field(max_length=1000)] = "",  # noqa: A002  # the page calls it so
        text: Annotated[str, Field(max_length=MOST_TEXT)] = "",
        suffix: Literal[".csv", ".json", ".epd"] = ".epd",
    ) -> Fields:
        """Take a set by its name, or of the text of a file. Reply: how many puzzles it has, and of which game.

        left_out: the first lines of an EPD suite that were left out, with what is wrong.
        """
        bad: list[str] = []
        if text:
            lines = io.StringIO(text, newline="")
            problems = list(islice(problems_in(lines, f"the file{suffix}", on_bad=bad.append), MOST_PROBLEMS))
        else:
            problems = problems_of(self._files.find(set), bad.append)
        self._problems = problems
        self._attempt = None
        game = problems[0].steps[0].state.game.name
        left_out = [line[:300] for line in bad[:MOST_LEFT_OUT]]
        return {"count": len(problems), "most": MOST_PROBLEMS, "game": game, "left_out": left_out}

    def do_puzzle(self, number: Annotated[int, Field(ge=0)], counted: bool = True) -> Fields:
        """Begin a puzzle of the set. Reply: the position and the facts that give nothing away.

        counted: whether the page counts the attempt.
        """
        if number >= len(self._problems):
            raise ValueError(f"the set has {len(self._problems)} puzzles, got number {number + 1}")
        problem = self._problems[number]
        self._attempt = PuzzleAttempt(problem)
        self._counted = counted
        self._told = False
        state = problem.steps[0].state
        self._flip = sees_second_side(state, {state.to_move})
        return {
            "number": number,
            "name": problem.name[:60],
            "rating": problem.rating,
            "flip": self._flip,
            "avoid": bool(problem.steps[0].wrong) and not problem.steps[0].right,
            "position": position_view(state, flip=self._flip),
        }

    def do_view(self, flip: bool) -> Fields:
        """Return all positions of the puzzle so far from a side, the newest last."""
        self._flip = flip
        return {"positions": self._course()}

    def do_move(self, a: Annotated[int, Field(ge=0)]) -> Fields:
        """Take a move of the solver. Reply: right, wrong or solved, the positions that follow."""
        attempt = self._chosen()
        state = attempt.step.state.copy()
        if attempt.solved or a not in state.legal_actions():
            raise ValueError("that is no move here")
        text = move_text(state, a)
        answer = attempt.answer(a)
        reply = {"answer": answer, "text": text, "squares": list(action_squares(state, a))}
        if answer == "wrong":
            return {**reply, **self._decided()}
        state.apply(a)
        if answer == "right":
            return {**reply, "positions": self._views(state, attempt.shown)}
        return {**reply, "positions": self._views(state), **self._decided(), **self._facts()}

    def do_hint(self) -> Fields:
        """Return the square that the right move begins with. The attempt counts as failed."""
        attempt = self._chosen()
        squares = [list(action_squares(attempt.step.state, action))[:1] for action in attempt.help()]
        return {"squares": squares, **self._decided()}

    def do_solution(self) -> Fields:
        """Return the rest of the line, and all positions. The attempt counts as failed where it was not solved."""
        attempt = self._chosen()
        if not attempt.solved:
            attempt.help()
        squares = [list(action_squares(attempt.step.state, action)) for action in sorted(attempt.step.right)]
        self._told = True
        course = self._course()
        return {"line": attempt.line(), "squares": squares, "positions": course, **self._decided(), **self._facts()}

    def do_place(self) -> Fields:
        """Return the position as the page Analyse takes it. The attempt counts as failed where it was not solved."""
        attempt = self._chosen()
        if not attempt.solved:
            attempt.help()
        state = attempt.shown
        return {"game": state.game.spec, "moves": line_texts(state.start, state.moves), **self._decided()}

    def _course(self) -> list[Fields]:
        """Return the positions from the puzzle's start to the newest; once the solution was told to the line's end."""
        attempt = self._chosen()
        state = attempt.shown.copy()
        first = attempt.problem.steps[0].state.ply
        if self._told and not attempt.solved:
            for text in attempt.line():
                state.apply(state.parse(text))
        states = [state.copy()]
        while state.ply > first:
            state.undo()
            states.append(state.copy())
        return self._views(*reversed(states))

    def _views(self, *states: _core.State) -> list[Fields]:
        """Return positions as pages have them, from the side that the solver chose."""
        return [position_view(state, flip=self._flip) for state in states]

    def _chosen(self) -> PuzzleAttempt:
        """Return the attempt at the current puzzle; ValueError before the first one."""
        if self._attempt is None:
            raise ValueError("there is no puzzle yet")
        return self._attempt

    def _decided(self) -> Fields:
        """Return whether the attempt was clean, where it is decided and counts; once."""
        attempt = self._chosen()
        if not self._counted or (attempt.clean and not attempt.solved):
            return {}
        self._counted = False
        return {"clean": attempt.clean}

    def _facts(self) -> Fields:
        """Return the facts of a puzzle that are shown at its end."""
        problem = self._chosen().problem
        return {"themes": list(problem.themes), "source": problem.source[:200], "visits": problem.visits}
