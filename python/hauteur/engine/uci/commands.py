"""Reading UCI commands: text in, immutable descriptions out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from hauteur import _core
from hauteur.engine.uci.options import Options
from hauteur.mcts.limits import Budget, Clock, Limits, fixed, plan

MILLISECOND = 1e-3
NUMBERS = ("nodes", "movetime", "wtime", "btime", "winc", "binc", "movestogo", "mate", "depth")
MOVETIME_OVERHEAD = 0.01
"""Most seconds of a movetime that MoveOverheadMs takes from the search."""
FLAGS = ("infinite", "ponder")
KEYWORDS = (*NUMBERS, *FLAGS, "searchmoves")
AT_LEAST_ONE = ("mate", "depth")
"""Limits that mean nothing below 1."""
LARGEST_NUMBER = 10**15
LONGEST_NUMBER = 18
"""Digits that are read; a longer number counts as the largest one."""
START = "startpos"


@dataclass(frozen=True)
class PositionCommand:
    """The start of the game and the moves since."""

    start: _core.State
    actions: tuple[int, ...]
    state: _core.State
    """The position after the moves."""
    notes: tuple[str, ...] = ()
    """What the reader of FENs has changed, a line each."""


@dataclass(frozen=True)
class Go:
    """One `go`, as far as its words could be read."""

    numbers: Mapping[str, int]
    """Its numbers by name (see NUMBERS), times in milliseconds."""
    infinite: bool = False
    """Only `stop` ends the search, whatever its numbers say."""
    ponder: bool = False
    """It is the opponent's turn: the limits hold from `ponderhit` on."""
    searchmoves: tuple[str, ...] = ()
    """The only moves to search, as they were written; empty: all."""
    problems: tuple[str, ...] = ()
    """Its mistakes, a line each."""
    is_wrong: bool = False
    """A number could not be read, so that no limit can be relied on: the search is the shortest there is."""

    @property
    def ends(self) -> bool:
        """Return whether the search ends by itself, whoever is to move."""
        limits = self.numbers.keys()
        limited = {"nodes", "movetime", "depth", "mate"} & limits or {"wtime", "btime"} <= limits
        return self.is_wrong or (not self.infinite and bool(limited))


def parse_setoption(text: str) -> tuple[str, str]:
    """Return name and value of a setoption command (without its first word); a missing value is empty."""
    match = re.fullmatch(r"name\s+(?P<name>.*?)(?:\s+value(?:\s+(?P<value>.*))?)?", text.strip(), re.IGNORECASE)
    if match is None or not match["name"]:
        raise ValueError(f"setoption needs: name NAME [value VALUE], got {text.strip()[:80]!r}")
    return match["name"], (match["value"] or "").strip()


def parse_position(text: str, options: Options) -> PositionCommand:
    """Return the position of `startpos|fen FEN [moves ...]`."""
    divided = re.sub(r"\bmoves\b", "\n", text.strip(), count=1)
    before, _, moves = divided.partition("\n")
    where = before.strip()
    start = make_game(where, options).new_initial_state()
    state = start.copy()
    actions = []
    for number, move in enumerate(moves.split(), 1):
        try:
            action = state.parse(move)
        except ValueError as error:
            raise ValueError(f"move {number} of the position: {error}") from None
        state.apply(action)
        actions.append(action)
    return PositionCommand(start, tuple(actions), state, _notes_on(where, options))


def make_game(where: str, options: Options) -> _core.Game:
    """Return the game that begins at `startpos` or `fen FEN`, by the options UCI_Chess960 and HistoryFill."""
    kind, _, fen = where.partition(" ")
    if kind.lower() == START and not fen:
        fields = []
    elif kind.lower() == "fen" and fen.strip():
        fields = [f"fen={_clean_fen(fen)}"]
    else:
        raise ValueError(f"position needs: startpos or fen FEN, then moves ..., got {where[:80]!r}")
    if options.flag("UCI_Chess960"):
        fields.append("chess960=true")
    if options.text("HistoryFill") != "fen_only":
        fields.append(f"history_fill={options.text('HistoryFill')}")
    return _core.Game(f"chess({', '.join(fields)})" if fields else "chess")


def _notes_on(where: str, options: Options) -> tuple[str, ...]:
    """What the reader of FENs has changed in `startpos` or `fen FEN`, a line each."""
    kind, _, fen = where.partition(" ")
    if kind.lower() != "fen":
        return ()
    _, _, notes = _core.clean_fen(fen, options.flag("UCI_Chess960"))
    return tuple(notes)


def parse_go(text: str) -> Go:
    """Return the parts of `go ...`; words that are none are left out and named in its problems."""
    words = text.split()
    numbers: dict[str, int] = {}
    flags: set[str] = set()
    moves: tuple[str, ...] = ()
    problems: list[str] = []
    at = 0
    is_wrong = False
    while at < len(words):
        word = words[at].lower()
        at += 1
        if word in FLAGS:
            flags.add(word)
        elif word in NUMBERS:
            try:
                value = words[at] if at < len(words) else None
                numbers[word] = _number(word, value)
                if word in AT_LEAST_ONE and numbers[word] < 1:
                    raise ValueError(f"go {word} needs at least 1, got {numbers.pop(word)}")
            except ValueError as error:
                problems.append(str(error))
                is_wrong = True
            at += 1
        elif word == "searchmoves":
            moves = _until_keyword(words[at:])
            at += len(moves)
        else:
            problems.append(f"go does not know {word[:40]!r}; it knows {', '.join(KEYWORDS)}")
    return Go(numbers, "infinite" in flags, "ponder" in flags, moves, tuple(problems), is_wrong)


def search_actions(go: Go, state: _core.State) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the legal actions of `searchmoves` (none: no restriction), and what is wrong with the others."""
    actions: dict[int, None] = {}
    problems: list[str] = []
    for move in go.searchmoves:
        try:
            actions[state.parse(move)] = None
        except ValueError as error:
            problems.append(f"searchmoves: {error}")
    return tuple(actions), tuple(problems)


def search_limits(go: Go, state: _core.State, options: Options, *, lateness: float = 0.0) -> Limits:
    """Return the limits of a `go`, once it does not ponder (any more). lateness: see `plan`."""
    if go.is_wrong:
        return Limits(visits=1)
    numbers = go.numbers
    nodes = max(1, numbers["nodes"]) if "nodes" in numbers else None
    budget = time_budget(go, state, options, lateness)
    new_only = options.flag("NodesAsPlayouts")
    open_ended = nodes is None and budget is None
    return Limits(
        visits=None if new_only else nodes,
        new_visits=nodes if new_only else None,
        budget=budget,
        depth=numbers.get("depth"),
        mate=numbers.get("mate"),
        infinite=go.infinite or (open_ended and not {"depth", "mate"} & numbers.keys()),
        smart_pruning=0.0 if open_ended else options.number("SmartPruningFactor"),
    )


def time_budget(go: Go, state: _core.State, options: Options, lateness: float) -> Budget | None:
    """Return the seconds for this move by movetime or by the clock of the player to move; None without either.

    No clock runs out after a movetime: it loses little, and what earlier moves came too late by.
    """
    overhead = options.whole("MoveOverheadMs") * MILLISECOND
    numbers = go.numbers
    side = "wb"[state.to_move]
    if "movetime" in numbers:
        return fixed(numbers["movetime"] * MILLISECOND, overhead=min(overhead, MOVETIME_OVERHEAD) + lateness)
    if f"{side}time" not in numbers:
        return None
    clock = Clock(
        remaining=max(0, numbers[f"{side}time"]) * MILLISECOND,
        increment=max(0, numbers.get(f"{side}inc", 0)) * MILLISECOND,
        moves_to_go=numbers["movestogo"] if numbers.get("movestogo", 0) > 0 else None,
    )
    move_number = game_ply(state) // 2
    slowmover = options.number("Slowmover")
    return plan(clock, move_number=move_number, overhead=overhead, slowmover=slowmover, lateness=lateness)


def game_ply(state: _core.State) -> int:
    """Return the plies since the start of the game, by the move number of the position's FEN."""
    fields = state.notation().split()
    return 2 * (int(fields[5]) - 1) + (fields[1] == "b")


def _clean_fen(fen: str) -> str:
    """A FEN as the game's spec can hold it."""
    if re.search(r"[,()=]", fen):
        raise ValueError(f"no FEN has commas, brackets or equals signs: {fen[:80]!r}")
    return " ".join(fen.split())


def _number(word: str, text: str | None) -> int:
    """Return the whole number after a word of `go`, cut to LARGEST_NUMBER either way; ValueError for anything else."""
    if text is None or not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f"go {word} needs a whole number, got {(text or 'nothing')[:40]!r}")
    if len(text) > LONGEST_NUMBER:
        return -LARGEST_NUMBER if text[0] == "-" else LARGEST_NUMBER
    return max(-LARGEST_NUMBER, min(LARGEST_NUMBER, int(text)))


def _until_keyword(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words before the next keyword of `go`: the moves of `searchmoves`, which have no end of their own."""
    return tuple(takewhile(lambda word: word.lower() not in KEYWORDS, words))
