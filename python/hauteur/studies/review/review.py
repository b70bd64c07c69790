"""A game with what a search says of each of its positions: `review_game` yields a report a move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hauteur import _core
from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.report import RootReport, Wdl
from hauteur.studies.review.judgement import Mark, flipped, lost, mark_of, share_lost

LINE_PLIES = 10
"""Plies of the best line that are kept."""


@dataclass(frozen=True)
class PositionFinding:
    """The result of a search of a position, for the player to move.

    wdl: of the best move, exact where the game is over or the result proven; best: the move it would play and line: the
    best line, which begins with it; empty where the game is over. visits: of the root.
    """

    wdl: Wdl
    line: tuple[int, ...] = ()
    visits: int = 0

    @property
    def best(self) -> int | None:
        return self.line[0] if self.line else None


class Place(NamedTuple):
    """A position that a review searches.

    ply: plies before it; instead: the last of them is the best move of the position before, in place of the game's;
    deep: with CONFIRMATION times the effort, for a move that would be marked.
    """

    ply: int
    instead: bool = False
    deep: bool = False


Look = Callable[[tuple[int, ...], Place], PositionFinding]
"""Searches the position after these actions from the start of the game, which is this place of the review."""

Found = dict[Place, PositionFinding]
"""Findings of the review of a game until now."""


@dataclass(frozen=True)
class MoveReport:
    """A move of a game and what it cost. Values are for the player who made it.

    ply: from 0; number: of the move as people count, `12.` or in chess for Black `12...`; mover: 0 first, 1 second
    player; text, best, line: in the notation that people read; before: worth of the position with the best move; after:
    worth once the move was played; loss: expected score lost, share: of what there was to lose (see
    hauteur.studies.review.judgement); visits: of the search of the position before; punished: the share of a marked
    move's loss that the other player's reply kept, None where there is no reply or no mark.
    """

    ply: int
    number: str
    mover: int
    action: int
    text: str
    before: Wdl
    after: Wdl
    best_action: int
    best: str
    line: tuple[str, ...]
    line_actions: tuple[int, ...]
    loss: float
    share: float
    mark: Mark
    visits: int
    punished: float | None = None

    @property
    def is_best(self) -> bool:
        """Return whether the search would have played the move too."""
        return self.action == self.best_action

    def first_player(self, wdl: Wdl) -> Wdl:
        """Return win, draw, loss of the mover as the first player has them."""
        return wdl if self.mover == 0 else flipped(wdl)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON holds it; values are for the mover."""
        return {
            "ply": self.ply,
            "number": self.number,
            "mover": self.mover,
            "move": self.text,
            "before": list(self.before),
            "after": list(self.after),
            "best": self.best,
            "line": list(self.line),
            "loss": round(self.loss, 4),
            "share": round(self.share, 4),
            "mark": self.mark or None,
            "punished": None if self.punished is None else round(self.punished, 4),
            "visits": self.visits,
        }


def review_game(
    start: _core.State, actions: Sequence[int], look: Look, *, found: Found | None = None
) -> Iterator[MoveReport]:
    """Yield a report for every move of a game, in order, each as soon as the positions that it needs were searched.

    start: where the game begins; actions: its moves, which must be legal; look: searches a position that is not over:
    each position of the game once, and for every move that would be marked the one behind the best move, too, so that
    it is valued by a search of its own as the played one is. A mark that stands then is found by all three again, with
    CONFIRMATION times the effort. found: findings of an earlier attempt, which are not searched for again; new ones are
    added. Raise what `look` raises.
    """
    searched = _Searched(look, tuple(actions), {} if found is None else found)
    state = start.copy()
    for ply, action in enumerate(actions):
        report = searched.report(state, ply)
        yield searched.report(state, ply, deep=True) if report.mark else report
        state.apply(action)


@dataclass(frozen=True)
class _Searched:
    """The positions of a game: found before, at the end of the game, or by a search."""

    look: Look
    actions: tuple[int, ...]
    found: Found = field(default_factory=dict)

    def report(self, state: _core.State, ply: int, *, deep: bool = False) -> MoveReport:
        """Return the report of a move, by searches of one effort alone."""
        action = self.actions[ply]
        before = self._find(state, self.actions[:ply], Place(ply, deep=deep))
        assert before.best is not None
        after = self._worth_behind(state, ply, action, Place(ply + 1, deep=deep))
        report = move_report(state, ply, action, before, after)
        if not report.mark:
            return report
        best = self._worth_behind(state, ply, before.best, Place(ply + 1, instead=True, deep=deep))
        return move_report(state, ply, action, replace(before, wdl=best), after)

    def _worth_behind(self, state: _core.State, ply: int, action: int, place: Place) -> Wdl:
        """Return the worth of the position behind a move for the player who makes it."""
        following = state.child(action)
        found = self._find(following, (*self.actions[:ply], action), place)
        return found.wdl if following.to_move == state.to_move else flipped(found.wdl)

    def _find(self, state: _core.State, line: tuple[int, ...], place: Place) -> PositionFinding:
        if place not in self.found:
            self.found[place] = finding_at_end(state) or self.look(line, place)
        return self.found[place]


def move_report(state: _core.State, ply: int, action: int, before: PositionFinding, after: Wdl) -> MoveReport:
    """Return the report of one move of a position; after: its worth once the move was played, for the mover."""
    assert before.best is not None
    loss = 0.0 if action == before.best else lost(before.wdl, after)
    return MoveReport(
        ply=ply,
        number=_move_number(state),
        mover=state.to_move,
        action=action,
        text=move_text(state, action),
        before=before.wdl,
        after=after,
        best_action=before.best,
        best=move_text(state, before.best),
        line=tuple(line_texts(state, before.line)),
        line_actions=before.line,
        loss=loss,
        share=share_lost(before.wdl, loss),
        mark=mark_of(before.wdl, loss),
        visits=before.visits,
    )


def finding_of(report: RootReport) -> PositionFinding:
    """Return what a search has found, in short; raise ValueError for one that has found no move yet."""
    best = report.best
    if best is None:
        raise ValueError("the search has found no move yet")
    wdl = best.wdl or report.wdl
    result = report.mate if best.proven is None else best.proven
    if result is not None:
        wdl = (float(result > 0), float(result == 0), float(result < 0))
    return PositionFinding(wdl, best.line[:LINE_PLIES], report.visits)


def finding_at_end(state: _core.State) -> PositionFinding | None:
    """Return the exact worth of a position where the game is over; None where it goes on."""
    outcome = state.outcome()
    if outcome is None:
        return None
    result = outcome if state.to_move == 0 else -outcome
    return PositionFinding((float(result > 0), float(result == 0), float(result < 0)))


def _move_number(state: _core.State) -> str:
    if state.game.move_notation == "san":
        return state.notation().split()[5] + ("." if state.to_move == 0 else "...")
    return f"{state.ply + 1}."
