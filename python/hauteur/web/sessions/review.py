"""The session of the page Review: the games of a text, and the review of one of them while it goes on."""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import Future
from typing import Annotated, Any, Literal

from pydantic import Field

from hauteur.engine.nets import NetChoice
from hauteur.games.game_line import BadGame
from hauteur.games.pictures import action_squares, seat_names
from hauteur.games.played_game import move_text
from hauteur.mcts.control import in_background
from hauteur.mcts.limits import Limits
from hauteur.plots.page import figure_html
from hauteur.plots.svg import LEFT, RIGHT, WIDTH
from hauteur.studies.review.annotate import verdict
from hauteur.studies.review.games import ReviewedGame, games_of_text
from hauteur.studies.review.judgement import CONFIRMATION, SIGNS
from hauteur.studies.review.page import chances_figure, chances_over, summaries
from hauteur.studies.review.review import MoveReport, Place, PositionFinding
from hauteur.studies.review.run import FoundPosition, ReviewRun, ReviewStoppedError, annotated, report_html
from hauteur.system.settings import Section, validated
from hauteur.web.players import page_net_or_own
from hauteur.web.positions import position_view
from hauteur.web.sessions.session import Emit, Fields, PageSession, SessionSettings

MOST_TEXT = 900_000
"""Characters of a text: it must fit into a message."""
MOST_LISTED = 1_000
"""Games of a text that can be chosen."""
PERIOD = 0.3
"""Least seconds between two events of a review ..."""
USUAL_PLIES = 200
"""... of a game of up to so many plies; those of longer games, which are larger, come less often."""


class ReviewedText(Section):
    """A text with games. game: that moves are of, where no line names it; number: of the one to review, from 1."""

    text: Annotated[str, Field(max_length=MOST_TEXT)]
    game: Annotated[str, Field(max_length=200)] = "chess"
    number: Annotated[int, Field(ge=1)] = 1
    flip: bool = False


class ReviewOrder(Section):
    """How to review. known: what was found before with the same settings."""

    net: Annotated[str, Field(max_length=400)] = ""
    visits: Annotated[int, Field(ge=2, le=10_000_000)] = 400
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    known: Annotated[tuple[FoundPosition, ...], Field(max_length=20_000)] = ()


class ReviewPlace(Section):
    """A position of the game."""

    ply: Annotated[int, Field(ge=0)]
    flip: bool = False


class ReviewFile(Section):
    """What to save: the annotated game in its own form, or the whole review as a page."""

    form: Literal["game", "page"] = "game"


class ReviewSession(PageSession):
    """One text; of its games one is reviewed at a time."""

    name = "review"

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        super().__init__(emit, settings)
        self._games: list[ReviewedGame] = []
        self._game: ReviewedGame | None = None
        self._digest = ""
        self._run: ReviewRun | None = None
        self._work: Future[None] | None = None
        self._begun = self._sent = 0.0
        self._done_before: int | None = None
        self._unsent: list[FoundPosition] = []

    def do_open(self, fields: Fields) -> Fields:
        """Read a text and take one of its games. Reply: the games, the moves of this one, its first position."""
        wanted = validated(ReviewedText, fields, "game")
        bad: list[BadGame] = []
        self._stop()
        try:
            games = games_of_text(wanted.text, wanted.game, on_bad=bad.append)
        except ValueError as error:
            raise ValueError(str(bad[0]) if bad else str(error)) from None
        chosen = next((game for game in games if game.number == wanted.number), None)
        if chosen is None:
            raise ValueError(f"there is no game {wanted.number} in the text, or it cannot be read")
        self._games, self._game, self._run = games, chosen, None
        self._digest = hashlib.sha256(wanted.text.encode()).hexdigest()
        return {
            "games": [{"number": game.number, "title": title_of(game)} for game in games[:MOST_LISTED]],
            "left_out": [str(one)[:300] for one in bad[:5]],
            "number": chosen.number,
            "title": title_of(chosen),
            "spec": chosen.start.game.spec,
            "seats": seat_names(chosen.start.game),
            "plies": len(chosen.actions),
            "form": chosen.start.game.record_form,
            **self.do_position({"ply": 0, "flip": wanted.flip}),
        }

    def do_position(self, fields: Fields) -> Fields:
        """Return a position of the game, the moves that led to it, the squares of the next move."""
        place, game = validated(ReviewPlace, fields, "position"), self._chosen()
        if place.ply > len(game.actions):
            raise ValueError(f"the game has {len(game.actions)} plies, got {place.ply}")
        state, texts = game.start.copy(), list[str]()
        for action in game.actions[: place.ply]:
            texts.append(move_text(state, action))
            state.apply(action)
        ends = place.ply == len(game.actions)
        played = [] if ends else list(action_squares(state, game.actions[place.ply]))
        view = position_view(state, flip=place.flip)
        return {"ply": place.ply, "position": view, "next": played, "moves": " ".join(texts)}

    def do_start(self, fields: Fields) -> Fields:
        """Review the game, or go on.

        Events: `review` with all that is known, `found` with what is new; at the end `done`, `stopped` or `failed`.
        """
        order, game = validated(ReviewOrder, fields, "review"), self._chosen()
        self._stop()
        net = page_net_or_own(order.net, game.start.game, self.settings.roots)
        run = ReviewRun(
            file="game",
            sha256=self._digest,
            games=[game],
            nets=NetChoice(net, threads=self.settings.threads),
            limits=Limits(visits=order.visits),
            seed=order.seed,
            on_position=self._on_position,
        )
        for known in order.known:
            run.found.setdefault(game.number, {})[known.place] = known.finding
        self._check_known(run, game)
        self._run = run
        self._begun, self._sent, self._done_before, self._unsent = time.monotonic(), 0.0, None, []
        self._tell(run)
        self.hold()
        self._work = in_background(self._review, "review")
        return {"settings": run.stored_settings(), "positions": run.positions, "confirmation": CONFIRMATION}

    def do_stop(self, fields: Fields) -> Fields:
        """End the review; what was found stays."""
        self._stop()
        return {}

    def do_save(self, fields: Fields) -> Fields:
        """Return name and content of a file with what is reviewed until now."""
        wanted = validated(ReviewFile, fields, "file")
        if self._run is None or not self._run.games[0].moves:
            raise ValueError("no move is reviewed yet")
        if wanted.form == "page":
            return {"name": "review.html", "text": report_html(self._run)}
        form = self._chosen().start.game.record_form
        if form is None:
            raise ValueError(f"games of {self._chosen().start.game.name} have no annotated form; save the page")
        return {"name": f"review.{form}", "text": annotated(self._run)}

    def close(self) -> None:
        """End the review."""
        self._stop()

    def _chosen(self) -> ReviewedGame:
        if self._game is None:
            raise ValueError("there is no game yet")
        return self._game

    def _check_known(self, run: ReviewRun, game: ReviewedGame) -> None:
        """Raise ValueError where the findings that the client sends do not fit the game."""
        for place, finding in run.found.get(game.number, {}).items():
            if place.ply > len(game.actions) or not finding.line:
                raise ValueError(f"what was found before at ply {place.ply} is not of this game")

    def _stop(self) -> None:
        if self._run is not None and self._work is not None:
            self._run.stop()
            self._work.exception()  # waits for its end
        self._work = None

    def _review(self) -> None:
        run = self._run
        assert run is not None
        try:
            for _ in run.run():
                self._tell(run)
        except ReviewStoppedError:
            self._tell(run, "stopped")
        except Exception as error:
            self.emit("failed", {"text": str(error)}, latest=False)
            raise
        else:
            self._tell(run, "done")

    def _on_position(self, game: ReviewedGame, place: Place, finding: PositionFinding) -> None:
        self._unsent.append(FoundPosition.of(game.number, place, finding))
        if self._run is not None:
            self._tell(self._run)

    def _tell(self, run: ReviewRun, end: str = "") -> None:
        """Send what is known, unless that was done a moment ago."""
        game, now = run.games[0], time.monotonic()
        if self._done_before is None and run.done:
            self._done_before = run.done - 1
        if not end and now - self._sent < PERIOD * max(1.0, len(game.actions) / USUAL_PLIES):
            return
        self._sent = now
        if self._unsent:
            found, self._unsent = self._unsent, []
            self.emit("found", {"found": [one.model_dump(exclude_defaults=True) for one in found]}, latest=False)
        fresh, left = run.done - (self._done_before or 0), run.positions - run.done
        progress = {
            "done": run.done,
            "positions": run.positions,
            "seconds": now - self._begun,
            "left": (now - self._begun) / fresh * left if fresh else None,
        }
        self.emit("review", {**review_view(run, game), "progress": progress})
        if end:
            self.emit(end, {}, latest=False)


def title_of(game: ReviewedGame) -> str:
    """Return who played, else what, and how long."""
    known = any(name != "?" for name in game.players)
    who = " - ".join(game.players) if known else game.start.game.name
    return f"{game.number}. {who}, {len(game.actions)} plies"


def review_view(run: ReviewRun, game: ReviewedGame) -> dict[str, Any]:
    """Return what is known of a game: its moves, the counts of both sides, the figure of the chances."""
    moves, found = list(game.moves), dict(run.found.get(game.number, {}))
    return {
        "chances": chances_over(game, found),
        "moves": [_move_view(move) for move in moves],
        "sides": [
            {"name": seat if name == "?" else name, **summary}
            for name, (seat, summary) in zip(game.players, summaries(game).items(), strict=True)
        ],
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
