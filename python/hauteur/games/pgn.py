"""Chess games as PGN: main lines are read, variations and comments are passed over."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TextIO, cast

import chess
import chess.pgn

from hauteur import _core
from hauteur.games.game_line import RECORDED, RESIGNATION, BadGame, TaggedGame
from hauteur.games.registry import load_game, parse_spec, with_fen

OUTCOMES = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}

CHESS960 = ("chess960", "chess 960", "fischerandom", "fischerrandom", "fischer random", "freestyle")
"""Names of Chess960 in the tag Variant, in small letters."""

STANDARD = ("", "standard", "chess", "normal", "from position")

MAX_GAME_CHARACTERS = 2**22
"""Most characters of one game, comments and variations included."""

LINE_WIDTH = 80


def spec_of_pgn_text(file: TextIO) -> str:
    """Return the spec that a text's first game is of: chess, or Chess960 by its tag Variant."""
    headers = chess.pgn.read_headers(cast(TextIO, _LimitedLines(file)))
    variant = "" if headers is None else headers.get("Variant", "").lower()
    return "chess(chess960=true)" if variant in CHESS960 else "chess"


def pgn_games(file: TextIO, name: str, game: _core.Game) -> Iterator[TaggedGame | BadGame]:
    """Yield the games of an open text of this name in order, each as its main line or with what is wrong with it."""
    if game.name != "chess":
        raise ValueError(f"{name}: PGN holds games of chess, not of {game.spec}")
    lines, number = _LimitedLines(file), 1
    while not lines.exceeded:
        visitor = _MainLine(game, lines)
        try:
            found = chess.pgn.read_game(cast(TextIO, lines), Visitor=lambda: visitor)  # noqa: B023  (called at once)
        except ValueError as error:
            found = str(error)
        if found is None:
            return
        where = f"{name}, game {number} (line {visitor.begins})"
        yield BadGame(where, found) if isinstance(found, str) else found
        number += 1


class _LimitedLines:
    """A text file that python-chess reads line by line; an overlong game is an error, not a lot of memory."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.number = 0
        self.left = MAX_GAME_CHARACTERS

    @property
    def exceeded(self) -> bool:
        return self.left < 0

    def readline(self) -> str:
        line = self._file.readline(self.left + 1)
        self.number += 1
        self.left -= len(line)
        if self.exceeded:
            raise ValueError(f"is longer than {MAX_GAME_CHARACTERS:,} characters; the file is not read further")
        return line


class _MainLine(chess.pgn.BaseVisitor["TaggedGame | str"]):
    """Plays the main line on a position of the core, which is some ten times faster than python-chess's own board."""

    def __init__(self, game: _core.Game, lines: _LimitedLines) -> None:
        self.game = game
        self.lines = lines
        self.begins = lines.number
        self.tags: dict[str, str] = {}
        self.origin: _core.State | None = None
        self.state: _core.State | None = None
        self.actions: list[int] = []
        self.written = "*"
        self.wrong: str | None = None

    def begin_game(self) -> None:
        self.begins = self.lines.number
        self.lines.left = MAX_GAME_CHARACTERS

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self.tags[tagname] = re.sub(r'\\(["\\])', r"\1", tagvalue)  # python-chess leaves the escapes in

    def end_headers(self) -> chess.pgn.SkipType | None:
        try:
            self.origin = _origin(self.game, self.tags)
        except ValueError as error:
            self.wrong = str(error)
            return chess.pgn.SKIP
        self.state = (self.origin or self.game.new_initial_state()).copy()
        return None

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def parse_san(self, board: chess.Board, san: str) -> chess.Move:  # noqa: ARG002
        """Play the move here; python-chess's board only has to know that one was made."""
        assert self.state is not None
        self.actions.append(self.state.parse(san))
        self.state.apply(self.actions[-1])
        return chess.Move.null()

    def visit_result(self, result: str) -> None:
        self.written = result

    def handle_error(self, error: Exception) -> None:
        self.wrong = self.wrong or f"ply {len(self.actions) + 1}: {error}"

    def result(self) -> TaggedGame | str:
        if self.wrong is not None:
            return self.wrong
        outcomes = {OUTCOMES[text] for text in (self.tags.get("Result", "*"), self.written) if text in OUTCOMES}
        if len(outcomes) > 1:
            return f"its result is {self.tags.get('Result', '*')} in the tags and {self.written} after the moves"
        assert self.state is not None
        reason = self.state.end_reason() if self.state.outcome() is not None else None
        outcome = outcomes.pop() if outcomes else None
        has_resigned = "resign" in self.tags.get("Termination", "").lower()
        reason = reason or (RESIGNATION if has_resigned else RECORDED)
        return TaggedGame(tuple(self.actions), self.tags, outcome, reason, self.origin)


def _origin(game: _core.Game, tags: dict[str, str]) -> _core.State | None:
    """The position that the tags name, None for the game's own start; ValueError where it is none of this game."""
    variant = tags.get("Variant", "").lower()
    if variant not in (*STANDARD, *CHESS960):
        raise ValueError(f"is of the variant {tags['Variant']!r}, not of {game.spec}")
    if (variant in CHESS960) != _is_chess960(game):
        needed = "chess(chess960=true)" if variant in CHESS960 else "chess"
        raise ValueError(f"is a game of {needed}, not of {game.spec}")
    fen = tags.get("FEN")
    if fen is None or fen == game.new_initial_state().notation():
        return None
    return load_game(with_fen(game.spec, fen)).new_initial_state()


def _is_chess960(game: _core.Game) -> bool:
    return str(parse_spec(game.spec)[1].get("chess960", False)).lower() == "true"


def written_pgn(
    tags: Iterable[tuple[str, str]],
    state: _core.State,
    actions: Sequence[int],
    result: str,
    comments: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Return a game as PGN text. state: its start, which is played forward. comments: text after a move, by ply."""
    words: list[str] = []
    for ply, action in enumerate(actions):
        if state.to_move == 0 or ply == 0:
            words.append(_move_number(state))
        words.append(state.action_to_text(action, "san"))
        if ply in comments:
            words += f"{{{comments[ply].replace('}', ')')}}}".split()
        state.apply(action)
    lines = [f'[{name} "{tag_value(value)}"]' for name, value in tags]
    return "\n".join([*lines, "", *wrapped([*words, result]), "", ""])


def tag_value(value: str) -> str:
    """Return a value in a form valid inside a quoted tag: one line, its quotes and backslashes replaced.

    The standard escapes both, but few programs read that back; python-chess does not.
    """
    return " ".join(value.split()).replace("\\", "/").replace('"', "'")


def position_tags(game: _core.Game, start: _core.State, *, is_start_of_game: bool) -> list[tuple[str, str]]:
    """The tags of where a game begins: Variant for Chess960, SetUp and FEN unless it is the game's own start."""
    tags = [("Variant", "Chess960")] if _is_chess960(game) else []
    if not is_start_of_game or "fen" in parse_spec(game.spec)[1]:
        tags += [("SetUp", "1"), ("FEN", start.notation())]
    return tags


def _move_number(state: _core.State) -> str:
    """`12.` or `12...`, from the counters of the FEN."""
    return f"{state.notation().split()[5]}.{'' if state.to_move == 0 else '..'}"


def wrapped(words: list[str]) -> Iterator[str]:
    """Lines of at most LINE_WIDTH characters."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > LINE_WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}".lstrip()
    yield line
