"""The session of the page Review: the games of a text, and the review of one of them while it goes on."""

import hashlib
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from hauteur.engine.nets import NetChoice
from hauteur.games.game_line import BadGame
from hauteur.games.pictures import action_squares
from hauteur.games.played_game import line_texts, position_after
from hauteur.mcts.limits import Limits
from hauteur.networks.strength import strength_of
from hauteur.plots.page import LEFT, RIGHT, WIDTH, figure_html
from hauteur.studies.review.games import ReviewedGame, games_of_text, verdict
from hauteur.studies.review.page import chances_figure, chances_over, summaries
from hauteur.studies.review.review import CONFIRMATION, SIGNS, MoveReport
from hauteur.studies.review.run import ReviewRun, ReviewStoppedError, annotated, report_html
from hauteur.studies.traps import LEAST_GAIN, MoveTrap, TrapFinder
from hauteur.system.settings import Section, validated
from hauteur.web.players import page_net_or_own, page_player
from hauteur.web.positions import position_view
from hauteur.web.sessions.session import Emit, Fields, NetName, PlayerText, SeedNumber, SessionSettings, WorkSession

MOST_TEXT = 900_000
"""Characters of a text: it must fit into a message."""
MOST_LISTED = 1_000
"""Games of a text that can be chosen."""
PERIOD = 0.3
"""Least seconds between two events of a review ..."""
USUAL_PLIES = 200
"""... of a game of up to this number of plies; those of longer games, which are larger, come less often."""


class ReviewedText(Section):
    """A text with games. game: that moves are of, where no line names it; number: of the one to review, from 1."""

    text: Annotated[str, Field(max_length=MOST_TEXT)]
    game: Annotated[str, Field(max_length=200)] = "chess"
    number: Annotated[int, Field(ge=1)] = 1
    flip: bool = False


class ReviewOrder(Section):
    """Net, effort and seed of a review."""

    net: NetName = ""
    visits: Annotated[int, Field(ge=2, le=10_000_000)] = 400
    seed: SeedNumber = 0


class ReviewSession(WorkSession):
    """One text; of its games one is reviewed at a time."""

    name = "review"

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        super().__init__(emit, settings)
        self._game: ReviewedGame | None = None
        self._digest = ""
        self._order: ReviewOrder | None = None
        self._run: ReviewRun | None = None
        self._halted = False
        self._begun = self._sent = 0.0
        self._done_before: int | None = None

    def do_open(self, **fields: Any) -> Fields:
        """Read a text and take one of its games. Reply: the games, the moves of this one, its first position."""
        given = validated(ReviewedText, fields, "game")
        bad: list[BadGame] = []
        self.stop()
        try:
            games = games_of_text(given.text, given.game, on_bad=bad.append)
        except ValueError as error:
            raise ValueError(str(bad[0]) if bad else str(error)) from None
        chosen = next((game for game in games if game.number == given.number), None)
        if chosen is None:
            raise ValueError(f"there is no game {given.number} in the text, or it cannot be read")
        self._game = chosen
        self._run = None
        self._digest = hashlib.sha256(given.text.encode()).hexdigest()
        return {
            "games": [{"number": game.number, "title": title_of(game)} for game in games[:MOST_LISTED]],
            "left_out": [str(one)[:300] for one in bad[:5]],
            "number": chosen.number,
            "title": title_of(chosen),
            "spec": chosen.start.game.spec,
            "side_names": chosen.start.game.sides,
            "plies": len(chosen.actions),
            "form": chosen.start.game.record_form,
            **self.do_position(0, given.flip),
        }

    def do_position(self, ply: Annotated[int, Field(ge=0)], flip: bool = False) -> Fields:
        """Return a position of the game, the moves that led to it, the squares of the next move."""
        game = self._chosen()
        if ply > len(game.actions):
            raise ValueError(f"the game has {len(game.actions)} plies, got {ply}")
        before = game.actions[:ply]
        following = game.actions[ply : ply + 1]
        state = position_after(game.start, before)
        return {
            "ply": ply,
            "position": position_view(state, flip=flip),
            "next": [square for action in following for square in action_squares(state, action)],
            "moves": " ".join(line_texts(game.start, before)),
        }

    def do_start(self, **fields: Any) -> Fields:
        """Review the game, or go on with the same order.

        Events: `review` with all that is known; at the end `done`, `stopped` or `failed`.
        """
        order = validated(ReviewOrder, fields, "review")
        game = self._chosen()
        self.stop()
        if self._run is None or order != self._order:
            net = page_net_or_own(order.net, game.start.game, self.settings.roots)
            self._run = ReviewRun(
                file="game",
                sha256=self._digest,
                games=[game],
                nets=NetChoice(net, threads=self.settings.threads),
                limits=Limits(visits=order.visits),
                seed=order.seed,
                on_position=lambda *_: self._show(run),
            )
        run = self._run
        self._order = order
        self._begun = time.monotonic()
        self._sent = 0.0
        self._done_before = None
        self._show(run)
        self.begin(lambda: self._review(run), "review")
        return {
            "settings": run.stored_settings(),
            "positions": run.positions,
            "confirmation": CONFIRMATION,
            "strength": strength_of(run.nets.net),
        }

    def do_traps(self, against: PlayerText = "human-1500") -> Fields:
        """Look for the traps of the game. Events: `trap` for each move that set or missed one, then `stopped`."""
        game = self._chosen()
        opponent = page_player(against, self.settings.roots, allow_programs=False, label="against")
        chosen = self._order or ReviewOrder()
        net = page_net_or_own(chosen.net, game.start.game, self.settings.roots)
        self.stop()
        self._halted = False

        def work() -> None:
            with TrapFinder(game.start.game, net, opponent, threads=self.settings.threads) as finder:
                state = game.start.copy()
                for ply, action in enumerate(game.actions):
                    if self._halted:
                        break
                    trap = played_trap(finder.find(state, visits=chosen.visits, also=action), action)
                    self.emit("trap", {"ply": ply, "of": len(game.actions), **(trap or {})}, latest=False)
                    state.apply(action)
            self.emit("stopped", {}, latest=False)

        self.begin(work, "traps")
        return {}

    def do_save(self, form: Literal["game", "page"] = "game") -> Fields:
        """Return name and content of a file with what is reviewed until now: the annotated game, or the whole page."""
        if self._run is None or not self._run.games[0].moves:
            raise ValueError("no move is reviewed yet")
        if form == "page":
            return {"name": "review.html", "text": report_html(self._run)}
        game = self._chosen().start.game
        if game.record_form is None:
            raise ValueError(f"games of {game.name} have no annotated form; save the page")
        return {"name": f"review.{game.record_form}", "text": annotated(self._run)}

    def ask_to_stop(self) -> None:
        """End the review where it is, and the search for traps after its move."""
        self._halted = True
        if self._run is not None:
            self._run.stop()

    def _chosen(self) -> ReviewedGame:
        """Return the game that was chosen; ValueError before `open`."""
        if self._game is None:
            raise ValueError("there is no game yet")
        return self._game

    def _review(self, run: ReviewRun) -> None:
        """Review move by move, and send how it stands after each; the last event says how it ended."""
        try:
            for _ in run.run():
                self._show(run)
        except ReviewStoppedError:
            self._show(run, "stopped")
        else:
            self._show(run, "done")

    def _show(self, run: ReviewRun, end: str = "") -> None:
        """Send what is known, unless that was done a moment ago."""
        game = run.games[0]
        now = time.monotonic()
        if self._done_before is None and run.done:
            self._done_before = run.done - 1
        period = PERIOD * max(1.0, len(game.actions) / USUAL_PLIES)
        if not end and now - self._sent < period:
            return
        self._sent = now
        fresh = run.done - (self._done_before or 0)
        left = run.positions - run.done
        progress = {
            "done": run.done,
            "positions": run.positions,
            "seconds": now - self._begun,
            "left": (now - self._begun) / fresh * left if fresh else None,
        }
        self.emit("review", {**review_view(run, game), "progress": progress})
        if end:
            self.emit(end, {}, latest=False)


def played_trap(found: Sequence[MoveTrap], action: int) -> dict[str, Any] | None:
    """Return the trap that a move set, or the best one that it missed; None: neither.

    A trap is missed where it is worth LEAST_GAIN more against the model than the played move.
    """
    played = next((one for one in found if one.action == action), None)
    if played is not None and played.is_trap:
        return {"kind": "set", **played.to_json()}
    others = [one for one in found if one.is_trap and one.action != action]
    if played is None or not others or others[0].model < played.model + LEAST_GAIN:
        return None
    return {"kind": "missed", **others[0].to_json()}


def title_of(game: ReviewedGame) -> str:
    """Return the players' names, else the game, and the length."""
    known = any(name != "?" for name in game.players)
    who = " - ".join(game.players) if known else game.start.game.name
    return f"{game.number}. {who}, {len(game.actions)} plies"


def review_view(run: ReviewRun, game: ReviewedGame) -> dict[str, Any]:
    """Return what is known of a game: its moves, the counts of both sides, the figure of the chances."""
    moves = list(game.moves)
    found = dict(run.found.get(game.number, {}))
    sides = []
    for name, (side, summary) in zip(game.players, summaries(game).items(), strict=True):
        sides.append({"name": side if name == "?" else name, **summary})
    return {
        "chances": chances_over(game, found),
        "moves": [_move_view(move) for move in moves],
        "sides": sides,
        "figure": figure_html(chances_figure(game, found)),
        "axis": [LEFT, WIDTH - RIGHT],
    }


def _move_view(move: MoveReport) -> dict[str, Any]:
    """Return a move; chances: the first player's before and behind it, `before` and `after` are the mover's."""
    return {
        **move.to_json(),
        "chances": [move.first_player(move.before), move.first_player(move.after)],
        "sign": SIGNS[move.mark],
        "best_action": move.best_action,
        "is_best": move.is_best,
        "verdict": verdict(move),
    }
