"""The session of the page Play: one game between two sides, each a person or an engine."""

from typing import Annotated, Any, Literal

from pydantic import Field

from hauteur import _core
from hauteur.engine.odds_mode import SETTINGS_FOR_ODDS, odds_player
from hauteur.engine.playing import FoundMove
from hauteur.engine.sides import GameSide, default_player, with_usual_visits
from hauteur.engine.two_sided import TwoSidedGame, first_players
from hauteur.games.game_texts import MOST_PLIES, Form, forms_of, read_game, written_game
from hauteur.games.odds import (
    NORMAL_START,
    USUAL,
    Odds,
    odds_of,
    parse_odds,
    start_board,
    start_game,
    toggled,
)
from hauteur.games.played_game import PlayedGame, line_texts
from hauteur.games.registry import load_game, with_fen
from hauteur.mcts.plain_settings import MOST_VISITS
from hauteur.mcts.report import RootReport
from hauteur.players.engines.settings import is_engine
from hauteur.players.settings import PlayerSettings
from hauteur.studies.traps import TrapFinder, model_of, odds_story
from hauteur.system.errors import explain
from hauteur.system.settings import Section, validated
from hauteur.web.players import nets_for, page_net_or_own, page_player, suggested_players, usual_opponent
from hauteur.web.positions import GameText, Spec, position_view
from hauteur.web.sessions.session import Emit, Fields, PageSession, PlayerText, SessionSettings, json_fields

LINE_PLIES = 8
"""Moves of a line that are shown."""
SHARE = 0.5
"""Share of the draws that a model of the opponent takes (docs/experiments/opponent-models.md)."""

Action = Annotated[int, Field(ge=0, le=65_535)]
SideNumber = Annotated[int, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=10**6)]


class SideFields(Section):
    """One side, with at most one limit; a program gets it as `nodes`, `movetime` or `tc`."""

    player: PlayerText | None = None
    """A player as text; empty: the game's own, None: a person."""
    against: PlayerText = ""
    """Of an engine: a player whose net models its opponent, such as `human-1500`; empty: no model."""
    visits: Annotated[int, Field(ge=1, le=MOST_VISITS)] | None = None
    """Visits of a move; None: no such limit."""
    seconds: Annotated[float, Field(ge=0.01, le=3600)] | None = None
    """Seconds of a move; None: no such limit."""
    clock: Annotated[str, Field(max_length=40)] | None = None
    """Time for the whole game, such as `5:00+3`; None: no clock. The one limit that a person may have."""


class EndingFields(Section):
    """How a game ended off the board."""

    outcome: Annotated[int, Field(ge=-1, le=1)]
    reason: Annotated[str, Field(max_length=100)]


class OddsFields(Section):
    """A handicap of chess."""

    odds: Annotated[str, Field(max_length=200)] = ""
    """Its name, such as `queen` or `rook a1`; empty: none."""
    gives: Literal["white", "black"] = "white"
    """The side whose pieces are missing."""
    start: Annotated[int, Field(ge=0, le=959)] = NORMAL_START
    """Number of the start among the 960 of Chess960."""
    toggle: Annotated[str, Field(max_length=2)] = ""
    """A square whose piece is given too, or no longer; empty: none."""
    flip: bool = False
    """Whether the board is seen from Black's side."""

    @property
    def handicap(self) -> Odds | None:
        """The handicap after the toggle; None: nothing is given."""
        found = parse_odds(self.odds, self.gives, self.start) if self.odds else None
        if not self.toggle:
            return found
        return toggled(found, self.toggle, self.gives, self.start)

    @property
    def game(self) -> str:
        """Spec of the game that begins without the pieces."""
        found = self.handicap
        if found is None:
            return start_game(self.start)
        return found.game


class GameFields(Section):
    """A game and its sides, new or as a page has kept it."""

    game: Spec = "chess"
    """Spec of the game."""
    fen: Annotated[str, Field(max_length=200)] = ""
    """The position that it begins from; empty: the game's own start."""
    sides: tuple[SideFields, SideFields] = (SideFields(), SideFields(player=""))
    """The first and the second side."""
    actions: Annotated[tuple[Action, ...], Field(max_length=MOST_PLIES)] = ()
    """Moves that were played already."""
    left: tuple[Seconds | None, Seconds | None] = (None, None)
    """Seconds on the clocks; None: full, or no clock."""
    ending: EndingFields | None = None
    """How it ended off the board; None: it goes on, or ended by its rules."""
    paused: bool = False
    """Whether engines and clocks wait for `go_on`."""
    flip: bool = False
    """Whether the board is seen from the second side."""
    odds: OddsFields | None = None
    """A handicap of chess, in the place of `game` and `fen`; None: none."""
    odds_mode: bool = True
    """Whether an engine that gives odds plays with settings published for that, as far as its text has no others."""


class PlaySession(PageSession):
    """One game at a time. Events: `game` whenever anything changes, `search` while an engine thinks, `hint`."""

    name = "play"

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        super().__init__(emit, settings)
        self._table: TwoSidedGame | None = None
        self._flip = False
        self._side_names = ("", "")
        self._handicap: Fields | None = None

    # The choice of a game.

    def do_describe(self, game: Spec) -> Fields:
        """Reply: the facts of a game: players, odds starts, whether it can begin at a FEN, forms of its text."""
        rules = load_game(game)
        usual: list[str] = []
        if rules.name == "chess":
            usual = sorted({parse_odds(text, "white").name for text in USUAL})
        return {
            "game": rules.spec,
            "side_names": rules.sides,
            "players": suggested_players(rules),
            "nets": nets_for(rules, self.settings.roots),
            "odds": usual,
            "has_fen": rules.has_fen,
            "forms": forms_of(rules),
        }

    def do_odds(self, **fields: Any) -> Fields:
        """Reply: a handicap's name and its position, in which each piece that may be given is an action."""
        given = validated(OddsFields, fields, "odds")
        found = given.handicap
        state = load_game(given.game).new_initial_state()
        view = position_view(state, flip=given.flip)
        offered = "QRBNP" if given.gives == "white" else "qrbnp"
        home = start_board(given.start)
        view["actions"] = [
            {"a": number, "text": square["name"], "squares": [number], "area": [number]}
            for number, square in enumerate(view["squares"])
            if home[square["name"]] in offered
        ]
        return {"odds": "" if found is None else found.items, "position": view}

    def do_read(self, text: GameText, game: Spec = "chess") -> Fields:
        """Reply: the game of a text, as `open` takes it; notes: what was changed to read it, a line each."""
        read = read_game(text, game)
        ended = None if read.outcome is None else {"outcome": read.outcome, "reason": read.reason}
        facts = {"game": read.spec, "actions": read.actions, "ending": ended, "names": read.names}
        return {**facts, "notes": list(read.notes)}

    # The game.

    def do_open(self, **fields: Any) -> Fields:
        """Begin a game, or go on with one that the page has kept. Reply: nothing; the event `game` follows."""
        order = validated(GameFields, fields, "game")
        spec = with_fen(order.game, order.fen or None) if order.odds is None else order.odds.game
        game = load_game(spec)
        sides = []
        for number, side in enumerate(order.sides):
            sides.append(self._side(game, number, side, odds_mode=order.odds_mode))
        played = PlayedGame(game, order.actions)
        if order.ending is not None:
            played.end(order.ending.outcome, order.ending.reason)
        table = TwoSidedGame(
            played,
            sides,
            left=order.left,
            threads=self.settings.threads,
            tree_bytes=self.settings.tree_bytes,
            on_change=lambda: self._show(table),
            on_search=lambda side, report: self._on_search(table, side, report),
        )
        self.close()
        self._table = table
        self._flip = order.flip
        self._side_names = game.sides
        odds = _odds_of(played.start)
        self._handicap = None if odds is None else {"name": odds.name, "giver": odds.giver}
        self.hold()  # events so far are of the game before
        if order.paused:
            table.pause()
        else:
            table.go_on()
        return {}

    def do_play(
        self,
        ply: Annotated[int, Field(ge=0)],
        a: Action | None = None,
        text: Annotated[str, Field(max_length=40)] = "",
    ) -> Fields:
        """Play a person's move, by its number or as text; ply: of the position that it was chosen in."""
        table = self._opened
        with table.lock:
            state = table.played.state
            if state.ply != ply:
                raise ValueError("the position has changed meanwhile; choose again")
            table.play(state.parse(text) if a is None else a)
        return {}

    def do_view(self, plies: Annotated[int, Field(ge=0, le=MOST_PLIES)]) -> Fields:
        """Reply: an earlier position of the game, by the plies before it."""
        table = self._opened
        with table.lock:
            if plies > len(table.played.actions):
                raise ValueError(f"the game has {len(table.played.actions)} plies, got {plies}")
            return {"position": position_view(table.played.after(plies), flip=self._flip)}

    def do_take_back(self) -> Fields:
        """Go back to the last turn of a person."""
        if not self._opened.take_back():
            raise ValueError("there is no move of yours to take back")
        return {}

    def do_resign(self, side: SideNumber) -> Fields:
        """Give up a person's side; the event `game` follows."""
        self._opened.resign(side)
        return {}

    def do_draw(self, side: SideNumber) -> Fields:
        """Offer a draw. Reply: whether it is agreed."""
        return {"agreed": self._opened.offer_draw(side)}

    def do_pause(self) -> Fields:
        """Stop engines and clocks where they are; `go_on` lets them go on."""
        self._opened.pause()
        return {}

    def do_go_on(self) -> Fields:
        """Let the game go on."""
        self._opened.go_on()
        return {}

    def do_move_now(self) -> Fields:
        """Let the engine that thinks move."""
        self._opened.move_now()
        return {}

    def do_hint(self) -> Fields:
        """Look for a hint; the event `hint` has it."""
        table = self._opened
        state = table.played.state.copy()
        table.hint(lambda found: self._on_hint(state, found))
        return {}

    def do_flip(self, flip: bool) -> Fields:
        """Show the board from the other side."""
        self._flip = flip
        self._show(self._opened)
        return {}

    def do_write(self, form: Form) -> Fields:
        """Reply: the game as text."""
        table = self._opened
        with table.lock:
            return {"form": form, "text": written_game(table.played, form, table.names, event="hauteur")}

    def do_story(self, against: PlayerText = "", visits: Annotated[int, Field(ge=10, le=100_000)] = 200) -> Fields:
        """Look where the handicap of the game was won back; the event `story` tells it, or `failed`.

        against: whose mistakes are measured; by default `human-1500` where its net is here, else nobody's: the event
        then names none.
        """
        table = self._opened
        with table.lock:
            start = table.played.start.copy()
            actions = tuple(table.played.actions)
        odds = _odds_of(start)
        if odds is None:
            raise ValueError("the game did not begin at odds")
        roots = self.settings.roots
        giver = odds.giver
        against = against or usual_opponent(roots)
        opponent = page_player(against, roots, allow_programs=False, label="against") if against else None
        net = page_net_or_own("", start.game, roots)

        def work() -> None:
            with TrapFinder(start.game, net, opponent, threads=self.settings.threads) as finder:
                found = odds_story(start, actions, giver, finder, visits=visits)
            self.emit(
                "story", found.to_json() | {"giver": giver, "plies": len(actions), "against": against}, latest=False
            )

        self.in_thread(work, "story")
        return {}

    def close(self) -> None:
        """End the game and its engines, if there is one."""
        if self._table is not None:
            self._table.close()
            self._table = None

    @property
    def _opened(self) -> TwoSidedGame:
        """The game; ValueError before the first `open`."""
        if self._table is None:
            raise ValueError("there is no game yet")
        return self._table

    def _side(self, game: _core.Game, number: int, side: SideFields, *, odds_mode: bool) -> GameSide:
        """The side that a page describes. Raise ValueError naming what is wrong."""
        label = ("first", "second")[number] + " side"
        limits = [name for name in ("visits", "seconds", "clock") if getattr(side, name) is not None]
        if len(limits) > 1:
            raise ValueError(f"{label}: one limit at most, got {' and '.join(limits)}")
        if side.player is None:
            if side.visits or side.seconds:
                raise ValueError(f"{label}: a person has no {limits[0]}, only a clock")
            return GameSide(clock=side.clock)
        try:
            player = self._player(side, side.player or default_player(game))
            seconds = side.seconds if player.engine is None else None
            player = self._modelling(player, side.against)
            given = player
            player, odds = odds_player(given, game, number) if odds_mode else (given, None)
            at = None if odds is None else lambda q: with_usual_visits(odds_player(given, game, number, q)[0])
            player = with_usual_visits(player)
            if not side.player:
                name = f"{_own_name(player, side)}{'' if odds is None else SETTINGS_FOR_ODDS}"
                player = player.model_copy(update={"name": name})
            return GameSide(player, seconds, side.clock, "" if odds is None else odds.text(), at)
        except ValueError as error:
            raise ValueError(f"{label}: {error}") from None

    def _player(self, side: SideFields, text: str) -> PlayerSettings:
        """The player of a text with the limit of its side."""
        limits: dict[str, object] = {"visits": side.visits}
        if any(map(is_engine, text.split())):
            milliseconds = None if side.seconds is None else round(1000 * side.seconds)
            limits = {"nodes": side.visits, "movetime": milliseconds, "tc": side.clock}
        words = [f"{name}={value}" for name, value in limits.items() if value is not None]
        roots = self.settings.roots
        allow_programs = self.settings.allow_programs
        return page_player(" ".join([text, *words]), roots, allow_programs=allow_programs)

    def _modelling(self, player: PlayerSettings, against: str) -> PlayerSettings:
        """Return the player with the net of an opponent as its model; one that does not search stays the same.

        The model takes SHARE of the draws, from the start or after the opponent's visits, unless the player says when.
        """
        if not against or not player.has_net or player.opponent_net is not None:
            return player
        other = page_player(against, self.settings.roots, allow_programs=False, label="against")
        net, rule = model_of(other)
        values = player.model_dump(exclude_unset=True) | {"opponent_net": net}
        n_scl = other.visits if other.visits > 1 else 0
        rules = {"search_contempt": {"n_scl": n_scl}, **values.get("search", {})}
        values["search"] = rules | {"opponent_net": rule.model_copy(update={"share": SHARE}).model_dump()}
        return validated(PlayerSettings, values, "player")

    def _show(self, table: TwoSidedGame) -> None:
        """Send the game as it stands; the table is locked."""
        played = table.played
        ending = table.played.ending
        self.emit(
            "game",
            {
                "position": position_view(played.state, flip=self._flip),
                "spec": played.game.spec,
                "actions": played.actions,
                "moves": played.texts,
                "captured": _core.captured(played.start, played.state),
                "start_to_move": played.start.to_move,
                "last_mover": played.movers[-1] if played.movers else None,
                "names": table.names,
                "side_names": self._side_names,
                "persons": sorted(table.persons),
                "ending": None if ending is None else {"outcome": ending.outcome, "reason": ending.reason},
                "result": None if ending is None else ending.text,
                "paused": table.paused,
                "thinking": table.thinking,
                "problem": table.problem,
                "note": table.note,
                "odds": "; ".join(filter(None, (side.odds for side in table.sides))),
                "handicap": self._handicap,
                "left": table.left,
                "running": table.running,
                "wdl": table.value,
                "flip": self._flip,
                "forms": forms_of(played.game),
            },
        )

    def _on_search(self, table: TwoSidedGame, side: int, report: RootReport) -> None:
        """Send the visits, line and chances of a running search; an event that was not sent yet is replaced by the
        next.
        """
        best = report.best
        visits, left = table.progress(side, report)
        self.emit(
            "search",
            {
                "side": side,
                "visits": report.visits,
                "of": visits,
                "seconds": report.pace.seconds,
                "left": left,
                "wdl": first_players(report),
                "line": line_texts(report.state, best.line[:LINE_PLIES]) if best else [],
            },
        )

    def _on_hint(self, state: _core.State, found: FoundMove | BaseException) -> None:
        """Send a hint, or why there is none."""
        if isinstance(found, BaseException) or found.report is None or found.move is None:
            error = found if isinstance(found, Exception) else None
            self.emit("hint", {"error": (explain(error) if error else None) or "no hint was found"}, latest=False)
            return
        self.emit("hint", json_fields(_core.hint_view(state, found.report)), latest=False)


def _own_name(player: PlayerSettings, side: SideFields) -> str:
    """Return the name of the player that a game has by default; a limit of time is added where it plays."""
    name = "hauteur" if player.net is None else "hauteur, by random games"
    if side.seconds is not None or side.clock is not None:
        return name
    return f"{name} ({player.visits:,} visits)"


def _odds_of(start: _core.State) -> Odds | None:
    """Return the handicap that a game begins with; None in other games than chess, and without one."""
    if start.game.name != "chess":
        return None
    return odds_of(start.notation())
