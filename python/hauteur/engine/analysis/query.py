"""Queries of the analysis protocol: a line of JSON in, a checked query or action out.

Nothing of a line is trusted: its length, its names, the kinds and ranges of its values are checked before a game is
made of it, and what is wrong is a `QueryError` that knows the query's id and the field.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.alias_generators import to_camel

from hauteur import _core
from hauteur.games.game_texts import MOST_PLIES, form_of
from hauteur.games.positions import position
from hauteur.games.registry import fen_notes, load_game, with_fen
from hauteur.mcts.params import SearchParams
from hauteur.mcts.plain_settings import MOST_VISITS
from hauteur.system.errors import one_line
from hauteur.system.formatting import did_you_mean
from hauteur.system.settings import Section, assign, leaves, validated

MOST_LINE = 2**20
"""Bytes of a line: a game of thousands of moves fits."""
MOST_PRIORITY = 2**31 - 1
"""Largest priority; the smallest one is its negative."""
MOST_PV = 64
"""Moves of a principal variation."""
USUAL_PV = 15
"""Moves of a principal variation where a query does not say."""
START = "startpos"
"""The start of the game."""

MOST_ID = 200
"""Characters of an id."""
MOST_SPEC = 400
"""Characters of a game's spec."""
MOST_MOVE = 40
"""Characters of a move."""
MOST_QUOTED = 80
"""Characters of a value that an error shows."""

QueryId = Annotated[str, Field(min_length=1, max_length=MOST_ID)]
Move = Annotated[str, Field(max_length=MOST_MOVE)]
TurnNumber = Annotated[int, Field(ge=0, le=MOST_PLIES)]


class QueryError(ValueError):
    """A query that cannot be answered: its id and the field at fault, None where they are not known."""

    def __init__(self, message: str, query_id: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.query_id = query_id
        self.field = field


class QueryFields(Section):
    """The fields of a query. JSON has them in camel case: `max_visits` is `maxVisits`."""

    model_config = ConfigDict(strict=True, alias_generator=to_camel)

    id: QueryId
    """Name of the query, which its answers have."""
    game: Annotated[str, Field(max_length=MOST_SPEC)] = "chess"
    """Spec of the game."""
    position: Annotated[str, Field(max_length=MOST_LINE)] = START
    """The position of turn 0: `startpos`, a FEN, PGN, SGF, or moves in the game's notation."""
    moves: Annotated[list[Move], Field(max_length=MOST_PLIES)] = Field(default_factory=list)
    """Moves played from there, in any notation of the game; JSON may have them as a text with spaces between them."""
    max_visits: Annotated[int, Field(ge=1, le=MOST_VISITS)] | None = None
    """Visits of the root, its own evaluation included; None: the engine's usual number."""
    analyze_turns: Annotated[list[TurnNumber], Field(min_length=1, max_length=MOST_PLIES + 1)] | None = None
    """Numbers of the moves after which the position is analysed; None: after the last one alone."""
    override_settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of the search, in sections or by dotted keys, which replace those of the engine."""
    priority: Annotated[int, Field(ge=-MOST_PRIORITY, le=MOST_PRIORITY)] = 0
    """Queries with a higher number begin before others."""
    analysis_pv_len: Annotated[int, Field(ge=1, le=MOST_PV, alias="analysisPVLen")] = USUAL_PV
    """Moves of a principal variation at most."""
    include_policy: bool = False
    """Whether answers have the prior of every legal move."""

    @field_validator("moves", mode="before")
    @classmethod
    def _split_text(cls, given: Any) -> Any:
        """Return the moves of a text as a list; another value unchanged."""
        return given.split() if isinstance(given, str) else given


class ActionFields(Section):
    """The fields of an action."""

    model_config = ConfigDict(strict=True, alias_generator=to_camel)

    id: QueryId
    """Name of the action, which its answer has."""
    action: Literal["query_version", "terminate", "terminate_all"]
    """What to do."""
    terminate_id: QueryId | None = None
    """Of `terminate`: the query that ends."""
    turn_numbers: Annotated[list[TurnNumber], Field(max_length=MOST_PLIES + 1)] | None = None
    """Of `terminate` and `terminate_all`: the turns that end; None: all."""


_A_TURN = f"whole numbers from 0 to {MOST_PLIES:,}"
ALLOWED = {
    "id": f"a text of 1 to {MOST_ID} characters",
    "game": f"the spec of a game, a text of at most {MOST_SPEC} characters",
    "position": f"startpos, a FEN, PGN, SGF or moves, a text of at most {MOST_LINE:,} characters",
    "moves": f"a list of at most {MOST_PLIES:,} texts of up to {MOST_MOVE} characters, or one text with spaces",
    "maxVisits": f"a whole number from 1 to {MOST_VISITS:,}",
    "analyzeTurns": f"a list of 1 to {MOST_PLIES + 1:,} {_A_TURN}",
    "overrideSettings": "an object of settings",
    "priority": f"a whole number from {-MOST_PRIORITY:,} to {MOST_PRIORITY:,}",
    "analysisPVLen": f"a whole number from 1 to {MOST_PV}",
    "includePolicy": "true or false",
    "action": "query_version, terminate or terminate_all",
    "terminateId": f"the id of a query, a text of 1 to {MOST_ID} characters",
    "turnNumbers": f"a list of at most {MOST_PLIES + 1:,} {_A_TURN}",
}
"""What the fields of queries and actions must be, to stand after `must be`."""


@dataclass(frozen=True)
class Defaults:
    """What holds where a query does not say."""

    visits: int
    """Visits of a position."""
    search: SearchParams
    """Settings of the search."""


@dataclass(frozen=True)
class Query:
    """A checked query: a game up to its last move, and the turns of it that are analysed."""

    id: str
    """Name of the query."""
    start: _core.State
    """The position of turn 0, its past included."""
    actions: tuple[int, ...]
    """The moves since, all legal."""
    turns: tuple[int, ...]
    """Numbers of the moves after which the position is analysed, 0 to the number of moves."""
    visits: int
    """Visits of each position."""
    search: SearchParams
    """Settings of the search."""
    priority: int
    """Queries with a higher number begin before others."""
    pv_length: int
    """Moves of a principal variation at most."""
    with_policy: bool
    """Whether answers have the prior of every legal move."""
    notes: tuple[str, ...]
    """What the reader of FENs changed in the position, a line each."""


@dataclass(frozen=True)
class Action:
    """A checked action."""

    id: str
    """Name of the action."""
    name: Literal["query_version", "terminate", "terminate_all"]
    """What to do."""
    query_id: str | None
    """The query that ends; None: all."""
    turns: frozenset[int] | None
    """The turns that end; None: all."""
    values: Mapping[str, Any]
    """The action as it was sent, which its answer repeats."""


def read_request(line: bytes, defaults: Defaults) -> Query | Action:
    """Return the query or the action of a line; QueryError for what is none."""
    values = _json_object(line)
    given_id = values.get("id")
    query_id = given_id if isinstance(given_id, str) and 1 <= len(given_id) <= MOST_ID else None
    try:
        if "action" in values:
            return _action(values)
        return _query(values, defaults)
    except QueryError as error:
        raise QueryError(str(error), query_id, error.field) from None
    except RecursionError:
        raise QueryError("it is nested too deeply", query_id) from None


def _json_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line. QueryError without id or field for a line that holds none."""
    if len(line) > MOST_LINE:
        raise QueryError(f"a line has at most {MOST_LINE:,} bytes, this one has more")
    try:
        values = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"not JSON: {one_line(error)}") from None
    if not isinstance(values, dict):
        raise QueryError(f"a line must hold one JSON object, got {_quoted(values)}")
    return values


def _refuse_constant(name: str) -> float:
    """Refuse NaN and Infinity, which Python's reader takes although JSON has none."""
    raise ValueError(f"{name} is no number of JSON")


Model = TypeVar("Model", bound=BaseModel)


def _checked(model: type[Model], values: dict[str, Any]) -> Model:
    """Return the fields of a request; QueryError names the first one that is not allowed, missing or unknown."""
    allowed = [field.alias or name for name, field in model.model_fields.items()]
    for name in values:
        if name not in allowed:
            raise QueryError(
                f"there is no field {name[:40]!r}{did_you_mean(name[:40], allowed)}; allowed: {', '.join(allowed)}",
                field=name[:40],
            )
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _not_allowed(dict(error.errors(include_url=False)[0])) from None


def _not_allowed(detail: dict[str, Any]) -> QueryError:
    """Return the error of a field by what pydantic says of it, in words of JSON."""
    field, *within = detail["loc"]
    name = str(field)
    if detail["type"] == "missing":
        return QueryError(f"{name} is missing", field=name)
    value = detail["input"]
    given = _quoted(value)
    if detail["type"] in ("too_long", "too_short"):
        given = f"{len(value):,} values"
    elif isinstance(value, str) and len(value) > MOST_QUOTED:
        given = f"{len(value):,} characters"
    place = f" as value {within[0] + 1}" if within else ""
    return QueryError(f"{name} must be {ALLOWED[name]}, got {given}{place}", field=name)


def _quoted(value: Any) -> str:
    """Return a value as JSON has it, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}..."


def _action(values: dict[str, Any]) -> Action:
    """Return the action of a JSON object."""
    fields = _checked(ActionFields, values)
    if fields.action == "terminate" and fields.terminate_id is None:
        raise QueryError("terminateId is missing: terminate ends one query", field="terminateId")
    if fields.action != "terminate" and fields.terminate_id is not None:
        raise QueryError(f"{fields.action} ends no single query: leave terminateId out", field="terminateId")
    turns = None if fields.turn_numbers is None else frozenset(fields.turn_numbers)
    return Action(fields.id, fields.action, fields.terminate_id, turns, values)


def _query(values: dict[str, Any], defaults: Defaults) -> Query:
    """Return the query of a JSON object."""
    fields = _checked(QueryFields, values)
    start, notes = _position(fields)
    actions = _actions(start, fields.moves)
    return Query(
        id=fields.id,
        start=start,
        actions=actions,
        turns=_turns(fields.analyze_turns, len(actions)),
        visits=fields.max_visits or defaults.visits,
        search=_search(fields.override_settings, defaults.search),
        priority=fields.priority,
        pv_length=fields.analysis_pv_len,
        with_policy=fields.include_policy,
        notes=notes,
    )


@lru_cache(64)
def _game(spec: str) -> _core.Game:
    """Return the game of a spec; the same one for queries that follow each other."""
    return load_game(spec)


def _position(fields: QueryFields) -> tuple[_core.State, tuple[str, ...]]:
    """Return the position of turn 0, and what was changed to read it."""
    try:
        game = _game(fields.game)
    except (ValueError, OSError, ImportError) as error:
        raise QueryError(one_line(error), field="game") from None
    text = fields.position
    try:
        if text.strip() == START:
            return game.new_initial_state(), ()
        if game.has_fen and form_of(text) == "fen":
            state = load_game(with_fen(game.spec, text.strip())).new_initial_state()
            return state, tuple(fen_notes(game.spec, text.strip()))
        return position(game, text), ()
    except ValueError as error:
        raise QueryError(one_line(error), field="position") from None


def _actions(start: _core.State, moves: list[str]) -> tuple[int, ...]:
    """Return the actions of moves from a position."""
    state = start.copy()
    actions: list[int] = []
    for number, text in enumerate(moves, 1):
        try:
            action = state.parse(text)
        except ValueError as error:
            raise QueryError(f"move {number}: {one_line(error)}", field="moves") from None
        state.apply(action)
        actions.append(action)
    return tuple(actions)


def _turns(given: list[int] | None, last: int) -> tuple[int, ...]:
    """Return the turns that are analysed of a game with this number of moves."""
    if given is None:
        return (last,)
    late = next((turn for turn in given if turn > last), None)
    if late is not None:
        raise QueryError(f"there is no turn {late}: the game has {last} moves", field="analyzeTurns")
    twice = [turn for turn, count in Counter(given).items() if count > 1]
    if twice:
        raise QueryError(f"turn {twice[0]} is named twice", field="analyzeTurns")
    return tuple(given)


def _search(given: dict[str, Any], usual: SearchParams) -> SearchParams:
    """Return the engine's settings of the search with those of a query in their place."""
    if not given:
        return usual
    values = usual.model_dump(exclude_unset=True)
    try:
        for names, value in leaves(given):
            key = tuple(".".join(names).replace("-", "_").split("."))
            assign(SearchParams, values, key, value)
        return validated(SearchParams, values, "overrideSettings")
    except ValueError as error:
        raise QueryError(one_line(error), field="overrideSettings") from None
