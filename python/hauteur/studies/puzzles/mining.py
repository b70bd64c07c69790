"""A position's way through mining, as a chain of requests for analysis.

A position is searched with few visits and with many (Joshi 2025, conclusion: positions misevaluated at N_scl visits and
right at N). It becomes a puzzle when the value changes, the low search would not play the best move, and every other
move is clearly worse. That is then confirmed with twice the visits on the position as a puzzle file holds it, without
the game before it, and by a search of all other moves; and so is every further move of the solver along the line.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hauteur import _core
from hauteur.games.registry import load_game, parse_spec, with_fen
from hauteur.mcts.batch_analysis import (
    AnalysisRequest,
    Readings,
    RequestChain,
    SearchReading,
    counts_up_to,
    visits_to_solution,
)
from hauteur.studies.puzzles.puzzle import Opinion, Puzzle, identity, rating
from hauteur.studies.puzzles.sources import SourcePosition
from hauteur.system.settings import Section

Verdict = Literal["same", "found", "several", "refuted", "puzzle"]
"""same: the value does not change by `swing`; found: it does, but the low search plays the best move already;
several: another move is nearly as good; refuted: not confirmed; puzzle: it became one."""

MISJUDGED: tuple[Verdict, ...] = ("found", "several", "refuted", "puzzle")
"""Verdicts of positions whose value changes."""

Visits = Annotated[int, Field(ge=1, le=100_000_000)]


class MineRule(Section):
    """Criteria of a puzzle.

    low, high: visits of the two searches; swing: least change of the root's value between them, 0 to 2; gap: least by
    which the best move is better than any other; rest: the value of any other move at most, and least: the best move's
    value at least, both for the solver; screens: counts of visits between the two, each with the change of value below
    which a position is given up there; hindsight: a position of a game is given up at once where the low search sees
    the next four plies of the game by less than this otherwise, 0: none is; moves: the solver's, at most. The
    confirming search has twice `high`.
    """

    low: Visits = 5
    high: Visits = 800
    swing: Annotated[float, Field(gt=0, le=2)] = 0.4
    gap: Annotated[float, Field(ge=0, le=2)] = 0.35
    rest: Annotated[float, Field(ge=-1, le=1)] = 0.45
    least: Annotated[float, Field(ge=-1, le=1)] = -0.2
    screens: tuple[tuple[Visits, Annotated[float, Field(ge=0, le=2)]], ...] = ((16, 0.05), (64, 0.1), (200, 0.2))
    hindsight: Annotated[float, Field(ge=0, le=2)] = 0.25
    moves: Annotated[int, Field(ge=1, le=100)] = 6

    @model_validator(mode="after")
    def _visits_ascend(self) -> Self:
        if list(self.visits) != sorted(set(self.visits)):
            given = ", ".join(map(str, self.visits))
            raise ValueError(f"the visits of low, screens and high must ascend, got {given}")
        return self

    @property
    def visits(self) -> tuple[int, ...]:
        """Visit counts at which a position is evaluated."""
        return (self.low, *(visits for visits, _ in self.screens), self.high)

    @property
    def deep(self) -> int:
        """Visits of the search that confirms."""
        return 2 * self.high

    def goes_on(self, found: Readings) -> bool:
        """Return whether a position is worth more visits."""
        passed = len(found) - 1
        return passed == 0 or abs(found[-1].q - found[0].q) >= self.screens[passed - 1][1]


ONLY_MOVE_GAP = 2.0
"""Gap of a move that is the only one, or that wins the game at once."""


class SolutionStep(Section):
    """A move of the solver that was confirmed, with the opponent's reply to the move before.

    visits: fewest at which the search finds it and stays with it; gap: by how much every other move is worse; value:
    of the move, for the solver.
    """

    move: str
    visits: int
    gap: float
    value: float
    reply: str | None = None

    def passes(self, rule: MineRule) -> bool:
        """Return whether the move is good enough, and every other one bad enough."""
        return self.gap >= rule.gap and self.value >= rule.least and self.value - self.gap <= rule.rest


class ScreenedPosition(Section):
    """Findings about a position: its name, where it stands, and what the searches found.

    high: None where it was given up before; gap: of the high search; fen, opening: as a puzzle has them; steps: of the
    line, all None or empty where the searches were not followed by others.
    """

    id: str
    where: str
    low: Opinion
    high: Opinion | None = None
    gap: float | None = None
    fen: str | None = None
    opening: tuple[str, ...] = ()
    steps: tuple[SolutionStep, ...] = ()

    def verdict(self, rule: MineRule) -> Verdict:
        """Return the rule's verdict on the position."""
        if self.high is None or abs(self.high.q - self.low.q) < rule.swing:
            return "same"
        if self.high.move == self.low.move:
            return "found"
        if self.gap is None or self.gap < rule.gap:
            return "several"
        return "puzzle" if self.kept(rule) else "refuted"

    def kept(self, rule: MineRule) -> tuple[SolutionStep, ...]:
        """Return the leading steps of the line that pass the rule."""
        first = next(iter(self.steps), None)
        if first is None or self.high is None or first.move != self.high.move or first.visits <= rule.low:
            return ()
        fails = (n for n, step in enumerate(self.steps) if not step.passes(rule))
        return self.steps[: min(rule.moves, next(fails, rule.moves))]

    def puzzle(self, game: _core.Game, rule: MineRule) -> Puzzle | None:
        """The puzzle that the rule makes of it, without themes; None where it makes none."""
        if self.verdict(rule) != "puzzle" or self.high is None:
            return None
        steps = self.kept(rule)
        visits = max(step.visits for step in steps)
        return Puzzle(
            id=self.id,
            game=plain_spec(game),
            fen=self.fen,
            opening=self.opening,
            solution=tuple(move for step in steps for move in (step.reply, step.move) if move is not None),
            rating=rating(visits, rule.deep),
            source=self.where,
            visits=visits,
            gap=min(step.gap for step in steps),
            value=steps[-1].value,
            low=self.low,
            high=self.high,
        )


def examine(name: str, found: SourcePosition, rule: MineRule) -> RequestChain[ScreenedPosition]:
    """A position's way from its first search to the end of its line, or to where it is given up."""
    if rule.hindsight and (low := (yield from _unchanged(found, rule))) is not None:
        return ScreenedPosition(id=name, where=found.where, low=_opinion(found.state, low))
    readings = yield AnalysisRequest(found.state, rule.visits, go_on=rule.goes_on)
    low, high = readings[0], readings[-1]
    entry = ScreenedPosition(id=name, where=found.where, low=_opinion(found.state, low))
    if len(readings) < len(rule.visits):
        return entry
    gap = None if math.isnan(high.gap) else high.gap
    entry = entry.model_copy(update={"high": _opinion(found.state, high), "gap": gap})
    if abs(high.q - low.q) < rule.swing or high.best == low.best or gap is None or gap < rule.gap:
        return entry
    start, opening = _stored(found)
    state = _after(start, opening)
    if identity(state) != name:
        raise RuntimeError(f"the position {found.state.notation()} was stored as {state.notation()}")
    steps = yield from _line(state, rule, high.best)
    fen = start.notation() if start.game.has_fen else None
    return entry.model_copy(update={"fen": fen, "opening": _texts(start, opening), "steps": tuple(steps)})


def _unchanged(found: SourcePosition, rule: MineRule) -> RequestChain[SearchReading | None]:
    """Return the low search's reading if the game does not change it; None if it does, or without a game.

    The value of a misjudged position usually changes some plies later, and these searches are cheap: the game's later
    positions need them too, so their evaluations are cached.
    """
    (low,) = yield AnalysisRequest(found.state, (rule.low,))
    state, player = found.state.copy(), found.state.to_move
    for number, action in enumerate(found.following):
        state.apply(action)
        outcome = state.outcome()
        if outcome is not None:
            return low if abs((outcome if player == 0 else -outcome) - low.q) < rule.hindsight else None
        if state.to_move == player and number % 2:
            (later,) = yield AnalysisRequest(state.copy(), (rule.low,))
            if abs(later.q - low.q) >= rule.hindsight:
                return None
    return low if found.following else None


def _line(state: _core.State, rule: MineRule, first: int) -> RequestChain[list[SolutionStep]]:
    """The solver's moves for as long as they are the only good ones, the opponent answering as the high search does."""
    steps: list[SolutionStep] = []
    state, reply = state.copy(), None
    while len(steps) < rule.moves:
        found = yield from _solver_move(state.copy(), rule, reply)
        if found is None or (not steps and found[0] != first):
            break
        steps.append(found[1])
        state.apply(found[0])
        if state.outcome() is not None:
            break
        (answer,) = yield AnalysisRequest(state.copy(), (rule.high,))
        reply = state.action_to_text(answer.best)
        state.apply(answer.best)
        if state.outcome() is not None:
            break
    return steps


def _solver_move(
    state: _core.State, rule: MineRule, reply: str | None
) -> RequestChain[tuple[int, SolutionStep] | None]:
    """Return the only good move of a position; None if there are several, or none is good enough.

    An immediately winning move is accepted even if others win too, unless it is the first of the line.
    """
    searched = yield AnalysisRequest(state, counts_up_to(rule.deep))
    deep = searched[-1]
    if deep.best_q < rule.least:
        return None
    others = tuple(action for action in state.legal_actions().tolist() if action != deep.best)
    ends = reply is not None and wins_at_once(state, deep.best)
    gap = ONLY_MOVE_GAP
    if others and not ends:
        if deep.gap < rule.gap:
            return None
        (rest,) = yield AnalysisRequest(state, (rule.high,), only=others)
        gap = deep.best_q - rest.q
    visits = visits_to_solution(searched, lambda action: _is_as_good(state, action, deep.best, ends=ends))
    step = SolutionStep(
        move=state.action_to_text(deep.best), visits=visits or rule.deep, gap=gap, value=deep.best_q, reply=reply
    )
    return (deep.best, step) if step.passes(rule) else None


def _is_as_good(state: _core.State, action: int, best: int, *, ends: bool) -> bool:
    return action == best or (ends and wins_at_once(state, action))


def wins_at_once(state: _core.State, action: int) -> bool:
    """Return whether the move ends the game with a win for its player."""
    after = _after(state, (action,))
    return after.outcome() == (1 if state.to_move == 0 else -1)


def _stored(found: SourcePosition) -> tuple[_core.State, tuple[int, ...]]:
    """Position and moves by which a file holds a puzzle: of games with FENs the last move, of others all of them."""
    game = found.state.game
    if not game.has_fen:
        return game.new_initial_state(), found.moves
    if found.before is None or found.last is None:
        return _from_notation(found.state), ()
    return _from_notation(found.before), (found.last,)


def _from_notation(state: _core.State) -> _core.State:
    """The position without its past."""
    return load_game(with_fen(plain_spec(state.game), state.notation())).new_initial_state()


def plain_spec(game: _core.Game) -> str:
    """The game without the position that it begins from."""
    name, parameters = parse_spec(game.spec)
    rest = ", ".join(f"{key}={str(value).lower()}" for key, value in parameters.items() if key != "fen")
    if not game.has_fen:
        return game.spec
    return f"{name}({rest})" if rest else name


def _opinion(state: _core.State, reading: SearchReading) -> Opinion:
    return Opinion(visits=reading.visits, move=state.action_to_text(reading.best), q=reading.q)


def _texts(state: _core.State, actions: tuple[int, ...] | list[int]) -> tuple[str, ...]:
    """The moves of a line in the game's notation."""
    state, texts = state.copy(), []
    for action in actions:
        texts.append(state.action_to_text(action))
        state.apply(action)
    return tuple(texts)


def _after(state: _core.State, actions: tuple[int, ...]) -> _core.State:
    state = state.copy()
    for action in actions:
        state.apply(action)
    return state
