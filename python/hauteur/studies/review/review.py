"""A game with what a search says of each of its positions: `review_game` yields a report a move, with its mark.

The classes of moves, inaccuracies, mistakes and blunders, go by the expected score lost, against what there was to
lose. With E = W + D/2 of the position before the move and of the position after it, both for the mover:

    loss  = max(0, E_before - E_after)                           0 for the move that the search would have played
    share = loss / min(E_before, 1/2)                            of what there was to lose

From equality upwards these are the thresholds of Lichess (scalachess, `Advice.scala`: 0.1, 0.2 and 0.3 of the winning
chances from -1 to 1, which is 0.05, 0.10 and 0.15 of the expected score). Below equality the scale shrinks with the
position: whoever gives odds begins with little, is not blamed for that, and is blamed for throwing away the little.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from hauteur import _core
from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.report import RootReport, Wdl

Mark = Literal["", "inaccuracy", "mistake", "blunder"]

THRESHOLDS: tuple[tuple[Mark, float], ...] = (("blunder", 0.3), ("mistake", 0.2), ("inaccuracy", 0.1))
"""Least share of each mark."""

LEAST_LOSS = 0.02
"""Smaller losses of expected score are never marked: about the standard deviation of the difference between searches of
neighbouring positions at 100 to 400 visits (docs/how-to/review-a-game.md)."""

CONFIRMATION = 4
"""Factor on visits, or seconds, with which searches must come to a mark too for one to stand."""

SIGNS: dict[Mark, str] = {"": "", "inaccuracy": "?!", "mistake": "?", "blunder": "??"}
"""The marks as people write them."""

NAGS: dict[Mark, int | None] = {"": None, "inaccuracy": 6, "mistake": 2, "blunder": 4}
"""Their Numeric Annotation Glyphs in PGN."""


def expected_score(wdl: Wdl) -> float:
    """Return W + D/2, from 0 to 1."""
    return wdl[0] + 0.5 * wdl[1]


def flipped(wdl: Wdl) -> Wdl:
    """Return win, draw, loss as the other player has them."""
    return wdl[2], wdl[1], wdl[0]


def lost(before: Wdl, after: Wdl) -> float:
    """Return the expected score that a move lost, from 0 to 1; both are for the mover."""
    return max(0.0, expected_score(before) - expected_score(after))


def share_lost(before: Wdl, loss: float) -> float:
    """Return the loss as a share of what there was to lose, from 0 to 2; 0 where there was nothing."""
    worth = min(expected_score(before), 0.5)
    return loss / worth if worth > 0.0 else 0.0


def mark_of(before: Wdl, loss: float) -> Mark:
    """Return the mark of a move that lost this much.

    >>> from hauteur.studies.review.review import mark_of
    >>> mark_of((0.4, 0.2, 0.4), 0.16)
    'blunder'
    """
    if loss < LEAST_LOSS:
        return ""
    share = share_lost(before, loss)
    return next((mark for mark, least in THRESHOLDS if share >= least - 1e-9), "")


def punished(loss: float, reply_loss: float) -> float:
    """Return the share of a loss that the opponent's reply kept, from 0 to 1; reply_loss: what the reply lost itself.

    >>> from hauteur.studies.review.review import punished
    >>> punished(0.4, 0.1)
    0.75
    """
    return 1.0 - min(reply_loss / loss, 1.0)


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
    hauteur.studies.review.review); visits: of the search of the position before; punished: the share of a marked
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
