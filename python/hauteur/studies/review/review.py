"""A game with what a search says of each of its positions: `review_game` yields a report a move, with its mark.

The classes of moves, inaccuracies, mistakes and blunders, go by the expected score lost. With E = W + D/2 of the
position before the move and of the position after it, both for the mover:

    loss = max(0, E_before - E_after)                            0 for the move that the search would have played

The thresholds are those of Lichess (lila, `Advice.scala`: 0.1, 0.2 and 0.3 of the winning chances from -1 to 1, which
is 0.05, 0.10 and 0.15 of the expected score), in won and lost positions as in equal ones: where 3 % are left, no move
can lose as much as an inaccuracy does.

A search of few visits may be blind to what a move throws away, and would have played it too. So a position whose value
disagrees by a mark with that of the next one is searched again, deeper; a move that lost as much although the search
would have played it is compared with the best of the other moves; and short forced wins (mates) are proven, which needs
no network (hauteur.studies.review.mates).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from hauteur import _core
from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.report import RootReport, Wdl, flipped, wdl_of_result
from hauteur.studies.review.mates import MATE_MOVES, moves_not_losing_at_once, short_win, still_wins

Mark = Literal["", "inaccuracy", "mistake", "blunder"]

THRESHOLDS: tuple[tuple[Mark, float], ...] = (("blunder", 0.15), ("mistake", 0.1), ("inaccuracy", 0.05))
"""Minimum loss of expected score of each mark."""

CONFIRMATION = 4
"""Factor on visits, or seconds, with which searches must come to a mark too for one to stand."""

SIGNS: dict[Mark, str] = {"": "", "inaccuracy": "?!", "mistake": "?", "blunder": "??"}
"""The marks as people write them."""

NAGS: dict[Mark, int | None] = {"": None, "inaccuracy": 6, "mistake": 2, "blunder": 4}
"""Their Numeric Annotation Glyphs in PGN."""


def expected_score(wdl: Wdl) -> float:
    """Return W + D/2, from 0 to 1."""
    return wdl[0] + 0.5 * wdl[1]


def lost(before: Wdl, after: Wdl) -> float:
    """Return the expected score that a move lost, from 0 to 1; both are for the mover."""
    return max(0.0, expected_score(before) - expected_score(after))


def mark_of(loss: float) -> Mark:
    """Return the mark of a move that lost this much expected score.

    >>> from hauteur.studies.review.review import mark_of
    >>> mark_of(0.16)
    'blunder'
    """
    for mark, least in THRESHOLDS:
        # A little less counts: differences of numbers that are written with two decimals shall meet it.
        if loss >= least - 1e-9:
            return mark
    return ""


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
    best line, which begins with it; empty where the game is over. visits: of the root. mate: moves to a forced win that
    is proven, None without one.
    """

    wdl: Wdl
    line: tuple[int, ...] = ()
    visits: int = 0
    mate: int | None = None

    @property
    def best(self) -> int | None:
        """The best action; None where the game is over."""
        return self.line[0] if self.line else None


class Place(NamedTuple):
    """A position that a review searches.

    ply: plies before it; instead: the last of them is the best move of the position before, in place of the game's;
    deep: with CONFIRMATION times the effort, for a move that would be marked; others: among the moves that were not
    played.
    """

    ply: int
    instead: bool = False
    deep: bool = False
    others: bool = False


Look = Callable[[tuple[int, ...], Place, tuple[int, ...]], PositionFinding]
"""Searches the position after these actions from the start of the game, which is this place of the review; last the
moves among which it chooses, empty: all."""

Found = dict[Place, PositionFinding]
"""Findings of the review of a game until now."""


@dataclass(frozen=True)
class MoveReport:
    """A move of a game and what it cost. Values are for the player who made it."""

    ply: int
    """Ply of the move, from 0."""
    number: str
    """Number of the move as people count: `12.`, or in chess for Black `12...`."""
    mover: int
    """Player who made it: 0 first, 1 second."""
    action: int
    """The move, as an index into the policy vector."""
    text: str
    """The move in the notation that people read."""
    before: Wdl
    """Win, draw, loss of the position with the best move."""
    after: Wdl
    """Win, draw, loss after the move."""
    best_action: int
    """The best move, as an index."""
    best: str
    """The best move in the notation that people read."""
    line: tuple[str, ...]
    """Best line, in the same notation."""
    line_actions: tuple[int, ...]
    """Best line, as indices."""
    loss: float
    """Expected score lost, 0 to 1."""
    mark: Mark
    """Class of the move."""
    visits: int
    """Visits of the search of the position before; 0 where a forced win was proven without a search."""
    punished: float | None = None
    """Share of a marked move's loss that the other player's reply kept; None where there is no reply, no mark or
    no loss (a forced win missed or allowed in a position that stays won or lost)."""
    missed: int | None = None
    """Moves in which the mover had a forced win; None: it had none."""
    allowed: int | None = None
    """Moves in which the move gave the other player a forced win; None: it did not."""
    wins_in: int | None = None
    """Moves in which the mover wins after this one by a proof, below 0 those in which the other player does; None: no
    proof."""
    win: str = "a win"
    """What a forced win is called in the game."""

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
            "mark": self.mark or None,
            "punished": None if self.punished is None else round(self.punished, 4),
            "missed_win_in": self.missed,
            "allowed_win_in": self.allowed,
            "visits": self.visits,
        }


def review_game(
    start: _core.State,
    actions: Sequence[int],
    look: Look,
    *,
    found: Found | None = None,
) -> Iterator[MoveReport]:
    """Yield a report for every move of a game, in order, each as soon as the positions that it needs were searched.

    start: where the game begins; actions: its moves, which must be legal; look: searches a position that is not over,
    or proves a win there (`finding_of_win`): each position of the game once, again with CONFIRMATION times the effort
    where the next one shows a value that disagrees by a mark; and for every move that would be marked the one after
    the best move, too, so that it is valued by a search of its own as the played one is. A mark that stands then is
    found by all these again, with CONFIRMATION times the effort. found: findings of an earlier attempt, which are not
    searched for again; new ones are added. Raise what `look` raises.
    """
    searched = _Searched(look, tuple(actions), {} if found is None else found)
    state = start.copy()
    for ply, action in enumerate(actions):
        yield searched.report(state, ply)
        state.apply(action)


@dataclass(frozen=True)
class _Searched:
    """The positions of a game: found before, at the end of the game, by a proof, or by a search."""

    look: Look
    actions: tuple[int, ...]
    found: Found = field(default_factory=dict)

    def report(self, state: _core.State, ply: int) -> MoveReport:
        """Return the report of the move of a position."""
        action = self.actions[ply]
        before = self._settled(state, ply)
        after = self._settled(state.child(action), ply + 1)
        report = self._report(state, ply, before, after)
        return replace(report, wins_in=wins_in(state, action, before, after))

    def _report(self, state: _core.State, ply: int, before: PositionFinding, after: PositionFinding) -> MoveReport:
        action = self.actions[ply]
        worth = worth_for(state, action, after)
        if before.mate is not None and action != before.best:
            if not still_wins(state, action):
                return self._missed(state, ply, before)
            worth = before.wdl
        report = move_report(state, ply, before, action, worth)
        if before.mate is None and is_forced_loss(state, action, after):
            return self._confirmed(state, ply)
        if not mark_of(lost(before.wdl, worth)):
            return report
        if not report.is_best and before.mate is None:
            best = self._behind(state, ply, report.best_action, Place(ply + 1, instead=True))
            found = _better(replace(before, wdl=best), action, worth)
            report = move_report(state, ply, found, action, worth)
            if not report.mark:
                return report
        return self._confirmed(state, ply)

    def _confirmed(self, state: _core.State, ply: int) -> MoveReport:
        """Return the report of a move that would be marked, by searches of CONFIRMATION times the effort."""
        action = self.actions[ply]
        after = self._settled(state.child(action), ply + 1, deep=True)
        worth = worth_for(state, action, after)
        before = self._find(state, self.actions[:ply], Place(ply, deep=True))
        if before.mate is None:
            before = self._best_other(state, ply, before, after)
            assert before.best is not None
            best = before.wdl
            if before.best != action:
                best = self._behind(state, ply, before.best, Place(ply + 1, instead=True, deep=True))
            before = _better(replace(before, wdl=best), action, worth)
        report = move_report(state, ply, before, action, worth)
        if report.is_best or not is_forced_loss(state, action, after):
            return report
        return replace(report, allowed=after.mate, mark=report.mark or "inaccuracy")

    def _best_other(
        self,
        state: _core.State,
        ply: int,
        before: PositionFinding,
        after: PositionFinding,
    ) -> PositionFinding:
        """Return the finding among the other moves where the search would have played the move too, or a losing one.

        after: of the position after the move of the game; where that is a short forced win of the other player, moves
        that are proven to give one too are not alternatives. The finding of all moves, with the worth of the played
        one, where there is none.
        """
        action = self.actions[ply]
        others = tuple(other for other in state.legal_actions().tolist() if other != action)
        if after.mate is not None:
            others = moves_not_losing_at_once(state, others)
        if not others:
            return replace(before, wdl=worth_for(state, action, after), line=(action, *after.line))
        if before.best in others:
            return before
        return self._find(state, self.actions[:ply], Place(ply, deep=True, others=True), others)

    def _missed(self, state: _core.State, ply: int, before: PositionFinding) -> MoveReport:
        """Return the report of a move that gave a proven win away; it is an inaccuracy at least."""
        action = self.actions[ply]
        reply = self._settled(state.child(action), ply + 1, deep=True)
        after = worth_for(state, action, reply)
        report = move_report(state, ply, before, action, after)
        return replace(report, missed=before.mate, mark=report.mark or "inaccuracy")

    def _settled(self, state: _core.State, ply: int, *, deep: bool = False) -> PositionFinding:
        """Return the finding of a position of the game.

        Where the game's next position shows that it is better for the player to move by a mark, that of a deeper
        search, and where that does not see it either, the worth after the move of the game.
        """
        finding = self._find(state, self.actions[:ply], Place(ply, deep=deep))
        if finding.mate is not None or ply >= len(self.actions):
            return finding
        action = self.actions[ply]
        child = state.child(action)
        moves = self.actions[: ply + 1]
        behind = self._find(child, moves, Place(ply + 1))
        worth = worth_for(state, action, behind)
        if not mark_of(lost(worth, finding.wdl)):
            return finding
        if not deep:
            return self._settled(state, ply, deep=True)
        behind = self._find(child, moves, Place(ply + 1, deep=True))
        worth = worth_for(state, action, behind)
        if not mark_of(lost(worth, finding.wdl)):
            return finding
        return PositionFinding(worth, (action, *behind.line)[:LINE_PLIES], finding.visits)

    def _behind(self, state: _core.State, ply: int, action: int, place: Place) -> Wdl:
        """Return the worth of the position after a move for the player who makes it."""
        moves = (*self.actions[:ply], action)
        finding = self._find(state.child(action), moves, place)
        return worth_for(state, action, finding)

    def _find(
        self,
        state: _core.State,
        line: tuple[int, ...],
        place: Place,
        among: tuple[int, ...] = (),
    ) -> PositionFinding:
        if place not in self.found:
            self.found[place] = finding_at_end(state) or self.look(line, place, among)
        return self.found[place]


def _better(best: PositionFinding, action: int, worth: Wdl) -> PositionFinding:
    """Return the finding of the best move, or of the played one where searches after both find that one better."""
    if expected_score(best.wdl) >= expected_score(worth):
        return best
    return replace(best, wdl=worth, line=(action,))


def worth_for(state: _core.State, action: int, behind: PositionFinding) -> Wdl:
    """Return the worth of the position after a move for the player who makes it."""
    if state.child(action).to_move == state.to_move:
        return behind.wdl
    return flipped(behind.wdl)


def is_forced_loss(state: _core.State, action: int, behind: PositionFinding) -> bool:
    """Return whether the other player has a proven win after a move."""
    return behind.mate is not None and state.child(action).to_move != state.to_move


def wins_in(state: _core.State, action: int, before: PositionFinding, behind: PositionFinding) -> int | None:
    """Return in how many moves the mover wins after a move by a proof, below 0 those of the other player.

    None where nothing is proven, and where the game is over.
    """
    if is_forced_loss(state, action, behind):
        assert behind.mate is not None
        return -behind.mate
    if before.mate is None or action != before.best:
        return None
    return before.mate - 1 or None


def finding_of_win(state: _core.State) -> PositionFinding | None:
    """Return the finding of a position with a forced win within MATE_MOVES moves; None where none is proven."""
    line = short_win(state, MATE_MOVES)
    if not line:
        return None
    return PositionFinding((1.0, 0.0, 0.0), line, mate=moves_of_mover(state, line))


def moves_of_mover(state: _core.State, line: Sequence[int]) -> int:
    """Return how many moves of a line are those of the player to move."""
    mover = state.to_move
    place = state.copy()
    count = 0
    for action in line:
        count += place.to_move == mover
        place.apply(action)
    return count


def move_report(state: _core.State, ply: int, before: PositionFinding, action: int, after: Wdl) -> MoveReport:
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
        mark=mark_of(loss),
        visits=before.visits,
        win="mate" if state.game.look == "pieces" else "a win",
    )


def finding_of(report: RootReport) -> PositionFinding:
    """Return what a search has found, in short; raise ValueError for one that has found no move yet."""
    best = report.best
    if best is None:
        raise ValueError("the search has found no move yet")
    wdl = best.wdl or report.wdl
    result = report.mate if best.proven is None else best.proven
    if result is not None:
        wdl = wdl_of_result(result)
    return PositionFinding(wdl, best.line[:LINE_PLIES], report.visits)


def finding_at_end(state: _core.State) -> PositionFinding | None:
    """Return the exact worth of a position where the game is over; None where it is not over."""
    outcome = state.outcome()
    if outcome is None:
        return None
    result = outcome if state.to_move == 0 else -outcome
    return PositionFinding(wdl_of_result(result))


def _move_number(state: _core.State) -> str:
    if state.game.move_notation == "san":
        return state.notation().split()[5] + ("." if state.to_move == 0 else "...")
    return f"{state.ply + 1}."
