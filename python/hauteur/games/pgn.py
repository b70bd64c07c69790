"""Chess games as PGN, read by tokens and written by `crates/lab`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from hauteur import _core
from hauteur.games.game_line import RECORDED, RESIGNATION, BadGame, TaggedGame
from hauteur.games.registry import load_game, parse_spec, with_fen

LINE_WIDTH = 80


def pgn_games(
    source: Path | str,
    name: str,
    game: _core.Game | None = None,
    *,
    annotated: bool = False,
) -> Iterator[TaggedGame | BadGame]:
    """Yield the games of a file, or of a text, of this name in order, each as its main line or with what is wrong.

    game: which they must be of, chess or Chess960, perhaps with other parameters; None: both are read. annotated: each
    game keeps its variations and comments as its `source`. Files are read in pieces, so they may be longer than the
    memory. A game without moves is yielded too: it may be a position.
    """
    if game is not None and game.name != "chess":
        raise ValueError(f"{name}: PGN holds games of chess, not of {game.spec}")
    reader = open_reader(source, annotated=annotated)
    usual = game is None or game.new_initial_state().notation() == _USUAL_START
    for read in reader:
        where = place_of(read, name)
        wrong = read.wrong or (None if game is None else other_kind(read, game))
        if wrong is not None:
            yield BadGame(where, wrong)
            continue
        tags = read.tags
        has_resigned = "resign" in tags.get("Termination", "").lower()
        reason = read.ended or (RESIGNATION if has_resigned else RECORDED)
        origin = _origin(read, game, usual=usual)
        kept = read if annotated else None
        yield TaggedGame(read.actions, tags, read.outcome, reason, origin, tuple(read.notes), where, kept)


def place_of(read: _core.PgnGame, name: str) -> str:
    """Return where a game stands: the file of this name, the game's number and line."""
    return f"{name}, game {read.number} (line {read.line})"


def open_reader(source: Path | str, *, plays: bool = True, annotated: bool = False) -> _core.PgnReader:
    """Return a reader of a file or of a text. plays: main lines are read, else tags and results alone.

    annotated: games keep their variations and comments, for `PgnGame.tree`.
    """
    if isinstance(source, str):
        return _core.PgnReader.of_text(source, plays, annotated)
    source.open("rb").close()  # an error names the file then
    return _core.PgnReader.of_file(source, plays, annotated)


_USUAL_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def other_kind(read: _core.PgnGame, game: _core.Game) -> str | None:
    """Return what is wrong where a game that was read is Chess960 and `game` is not, or the other way round."""
    if _is_chess960(read.game) == _is_chess960(game):
        return None
    needed = "chess(chess960=true)" if _is_chess960(read.game) else "chess"
    return f"is a game of {needed}, not of {game.spec}"


def _origin(read: _core.PgnGame, game: _core.Game | None, *, usual: bool) -> _core.State | None:
    """Return where a game begins, None for the start of `game`, which is the usual one or not."""
    own = read.game
    if read.fen is None:
        return None if usual else own.new_initial_state()
    if game is None or not parse_spec(game.spec)[1].keys() - {"chess960"}:
        return own.new_initial_state()
    return load_game(with_fen(game.spec, read.fen)).new_initial_state()


def _is_chess960(game: _core.Game) -> bool:
    return str(parse_spec(game.spec)[1].get("chess960", False)).lower() == "true"


def written_pgn(
    tags: Iterable[tuple[str, str]],
    state: _core.State,
    actions: Sequence[int],
    result: str,
    comments: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Return a game as PGN text. state: its start. comments: text after a move, by ply. ValueError: an illegal move."""
    return _core.written_pgn(list(tags), state, list(actions), result, dict(comments))


def tag_value(value: str) -> str:
    """Return a value in a form valid inside a quoted tag: one line, its quotes and backslashes replaced."""
    return _core.pgn_tag_value(value)


def position_tags(game: _core.Game, start: _core.State, *, is_start_of_game: bool) -> list[tuple[str, str]]:
    """The tags of where a game begins: SetUp and FEN unless it is the usual start, in Chess960 always and Variant."""
    return _core.pgn_position_tags(game, start, is_start_of_game)
