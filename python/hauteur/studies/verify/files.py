"""Formats of reference files and their reader, which reports a fault and its place in one line.

Every position is reached by playing `moves` (UCI) from `fen` (`startpos` is the normal start). Fields not listed here
are descriptions for people and are ignored.
"""

import json
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat

from hauteur._core import Game, State
from hauteur.system.settings import validated

START = "startpos"
NUM_PLANES = 112
NUM_ACTIONS = 1858
INPUT_FORMAT = 1
"""lc0's number for the 112 planes; other formats are refused."""
PLAIN_PUCT = 1_000_000_000
"""Values of ScLimit from here on turn search-contempt off."""

OptionValue = bool | int | float | str
Amount = Annotated[FiniteFloat, Field(ge=0)]
Options = dict[str, OptionValue]


class _FilePart(BaseModel):
    model_config = ConfigDict(frozen=True)


class ReferencePosition(_FilePart):
    """A position, and what it is called."""

    id: str
    fen: str
    moves: tuple[str, ...] = ()


class PlanesPosition(ReferencePosition):
    """Planes by number: mask in hexadecimal (bit = square from the mover's view, a1 first), value; others are zero."""

    planes: dict[
        Annotated[int, Field(ge=0, lt=NUM_PLANES)],
        tuple[Annotated[str, Field(pattern=r"^[0-9a-fA-F]{1,16}$")], FiniteFloat],
    ]


class PlanesFile(_FilePart):
    """Format of `input_planes.json`."""

    input_format: int = INPUT_FORMAT
    positions: Annotated[tuple[PlanesPosition, ...], Field(min_length=1)]


class Outputs(_FilePart):
    """Outputs of one net: q = W - L and d for the mover; for every legal move its probability (or its logit)."""

    q: FiniteFloat
    d: FiniteFloat | None = None
    p: tuple[Amount, ...] | None = None
    logits: tuple[FiniteFloat, ...] | None = None


class OutputsPosition(ReferencePosition):
    """Legal moves (UCI), their policy indices, and outputs by net."""

    legal_moves: Annotated[tuple[str, ...], Field(min_length=1)]
    nn_index: tuple[Annotated[int, Field(ge=0, lt=NUM_ACTIONS)], ...] | None = None
    outputs: dict[str, Outputs]


class NetEntry(_FilePart):
    """A net: name of its file, and the file's hash."""

    file: str
    sha256: str | None = None


class OutputsFile(_FilePart):
    """Format of `nn_outputs.json`."""

    input_format: int = INPUT_FORMAT
    nets: dict[str, NetEntry] = {}
    positions: Annotated[tuple[OutputsPosition, ...], Field(min_length=1)]


class ReferenceMove(_FilePart):
    """Statistics of a root move: visits and, where given, Q for the root's mover and prior in per cent."""

    move: str
    visits: Amount
    q: FiniteFloat | None = None
    prior: Amount | None = None


def _named(*names: str) -> BeforeValidator:
    """Read a row of values as a record with these fields; what follows in the row is passed over."""
    return BeforeValidator(lambda row: dict(zip(names, row, strict=False)) if isinstance(row, list | tuple) else row)


class WantedSearch(_FilePart):
    """Root statistics after a search, rows [uci, N, Q, P%]; root_Q: mean over the root's visits, its own included."""

    moves: Annotated[
        tuple[Annotated[ReferenceMove, _named("move", "visits", "q", "prior")], ...],
        Field(min_length=1),
    ]
    root_Q: FiniteFloat | None = None  # noqa: N815  (the file's name for it)


class SearchPosition(ReferencePosition):
    """Searches by number of nodes."""

    searches: dict[Annotated[int, Field(ge=1)], WantedSearch]


class SearchSet(_FilePart):
    """Searches with one net and one set of lc0's options."""

    name: str
    net: str
    options: Options
    positions: Annotated[tuple[SearchPosition, ...], Field(min_length=1)]


class SearchesFile(_FilePart):
    """Format of `puct_visits.json`."""

    sets: Annotated[tuple[SearchSet, ...], Field(min_length=1)]


class MeanVisits(_FilePart):
    """Visits of a move over repeated searches: mean and sample standard deviation."""

    move: str
    visits: Amount
    std: Amount


MeanRow = Annotated[MeanVisits, _named("move", "visits", "std")]


class Replies(_FilePart):
    """Replies to the move `top`, over the repeats that found it best: rows [uci, mean N, std N]."""

    top: str
    n_repeats: Annotated[int, Field(ge=1)]
    replies: tuple[MeanRow, ...]


class LimitResult(_FilePart):
    """Mean root statistics over repeated searches with one ScLimit: rows [uci, mean N, std N, mean Q, std Q]."""

    ScLimit: int
    repeats: Annotated[int, Field(ge=1)]
    moves: Annotated[tuple[MeanRow, ...], Field(min_length=1)]
    root_Q: tuple[FiniteFloat, FiniteFloat] | None = None  # noqa: N815
    replies_to_top_move: Replies | None = None


class LimitPosition(ReferencePosition):
    """Results by ScLimit."""

    by_limit: tuple[LimitResult, ...]


class LimitsFile(_FilePart):
    """Format of `search_contempt_visits.json`: searches with random draws, repeated."""

    net: str
    nodes: Annotated[int, Field(ge=2)]
    options: Options
    positions: Annotated[tuple[LimitPosition, ...], Field(min_length=1)]


Format = TypeVar("Format", bound=BaseModel)


def read(path: Path, form: type[Format]) -> Format:
    """Read a reference file; ValueError names the place: not JSON, or not of this format."""
    return validated(form, read_json(path), str(path))


def holds_repeats(path: Path) -> bool:
    """Return whether a file of searches is one of repeated searches (`LimitsFile`)."""
    content = read_json(path)
    return isinstance(content, dict) and "sets" not in content and "nodes" in content


def read_json(path: Path) -> Any:
    """Any JSON file; ValueError if it is none."""
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from None


def check_input_format(path: Path, input_format: int) -> None:
    """ValueError for planes that are not lc0's 112 classical ones."""
    if input_format != INPUT_FORMAT:
        raise ValueError(f"{path}: input_format {input_format} is not supported, allowed: {INPUT_FORMAT} (112 planes)")


def reached(position: ReferencePosition, *, history_fill: str = "fen_only") -> State:
    """The state of a position; ValueError if its FEN or a move is wrong."""
    try:
        state = Game(spec_of(position, history_fill)).new_initial_state()
        for move in position.moves:
            state.apply(action_of(state, move))
    except ValueError as error:
        raise ValueError(f"position {position.id!r}: {error}") from None
    return state


def spec_of(position: ReferencePosition, history_fill: str = "fen_only") -> str:
    """The game that starts at the position's FEN; files as castling rights (HAha) mean Chess960."""
    parts = [f"history_fill={history_fill}"]
    if position.fen != START:
        if set(position.fen) & set(",()="):
            raise ValueError(f"fen is no position: {position.fen[:80]!r}")
        rights = position.fen.split()[2:3]
        is_chess960 = bool(rights and set(rights[0].lower()) & set("abcdefgh"))
        parts += [f"fen={position.fen}", f"chess960={str(is_chess960).lower()}"]
    return f"chess({', '.join(parts)})"


def action_of(state: State, move: str) -> int:
    """The action of a move in UCI, or as lc0 names it: castling onto the rook, promotion to a knight without letter."""
    try:
        return state.parse(move)
    except ValueError:
        if len(move) == 4 and move[3] in "18":
            return state.parse(move + "n")
        raise
