"""Recorded games for users: `ht.read_games` reads PGN, SGF and lines of moves, from a file or a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hauteur import _core
from hauteur.games.game_line import RECORDED, BadGame, TaggedGame, result_text
from hauteur.games.game_texts import FORMS, form_of, games_in, sgf_text_of
from hauteur.games.game_tree import START
from hauteur.games.pgn import open_reader, other_kind, place_of
from hauteur.games.played_game import position_after, texts_of
from hauteur.games.registry import load_game, names
from hauteur.games.sgf import read_sgf
from hauteur.system.formatting import in_a_line
from hauteur.system.packed import PACKED_SUFFIXES, content_suffix, plain_file

MAX_PATH = 4096
"""Characters of a path; a longer text is one of games."""


@dataclass(frozen=True)
class RecordedGame:
    """A game of a file: its main line, or why it was left out."""

    start: str = START
    """The FEN that it begins from, `startpos` for the usual start of its game."""
    moves: tuple[str, ...] = ()
    """In chess as UCI (in Chess960 castling is the king taking his rook), else in the game's notation."""
    result: str = "*"
    """`1-0`, `1/2-1/2`, `0-1`, or `*` where nothing says how it ended; 1-0: the first player won."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The tags of PGN, the properties of the first node of SGF."""
    skipped: str | None = None
    """Where it was left out: in a line which game, which line of the file, which word; None where it was read."""
    notes: tuple[str, ...] = ()
    """What a user should know of how it was read, a line each: a FEN that was cleaned, a null move that ends it."""
    game: _core.Game | None = None
    """Its game, with its start; None where it was left out."""
    actions: tuple[int, ...] = ()
    """The moves as actions of the game."""
    end_reason: str = ""
    """Why it ended: by the rules, or as the file says; empty where nothing is known."""

    @property
    def position(self) -> _core.State:
        """The position after the last move. ValueError where the game was left out."""
        if self.game is None:
            raise ValueError(str(self.skipped))
        return position_after(self.game.new_initial_state(), self.actions)


def read_games(source: str | Path, game: str | _core.Game | None = None) -> Iterator[RecordedGame]:
    """Yield the games of a file or of a text, in order: PGN, SGF, or a game's moves a line.

    source: a path (.pgn, .sgf, or .txt with moves; packed too: .gz, .bz2, .xz, .zip, .zst), or the text itself. A PGN
    is read in pieces, so it may be longer than the memory. game: the spec that the games must be of, which lines of
    moves need unless the first line names it; None: the file says. Games without moves are not counted. A game that
    cannot be read is yielded with `skipped`, and reading continues with the next one. Raise OSError for a file that
    cannot be read, ValueError where nothing says which game the file is of.

    >>> import hauteur as ht
    >>> [game] = ht.read_games("1. e4 e5 2. Nf3 Nc6 1/2-1/2")
    >>> game.start, game.moves, game.result
    ('startpos', ('e2e4', 'e7e5', 'g1f3', 'b8c6'), '1/2-1/2')
    >>> [game] = ht.read_games("1. e4 e5 2. Ke3 1-0")
    >>> game.skipped[:51]
    'the text, game 1 (line 1): line 1, ply 3: "Ke3" is '
    """
    if not isinstance(source, str | Path):
        raise TypeError(f"games are read from a path or a text, got {type(source).__name__}")
    wanted = None if game is None else load_game(game)
    path = _path_of(source)
    form = form_of(str(source)) if path is None else FORMS.get(content_suffix(path), "pgn")
    name = "the text" if path is None else str(path)
    if form == "moves" and path is None and _is_chess(str(source), wanted):
        form = "pgn"  # which has moves with numbers, results and words
    if form == "fen":
        raise ValueError("a FEN is a position, not a game; ht.position reads it")
    if form == "pgn":
        return _pgn_games(str(source) if path is None else plain_file(path), name, wanted)
    if form == "sgf":
        return _sgf_games(str(source) if path is None else sgf_text_of(path), name, wanted)
    text = str(source) if path is None else plain_file(path).read_text("utf-8-sig", errors="replace")
    return _games_of_moves(text, name, wanted)


def _path_of(source: str | Path) -> Path | None:
    """Return the file that is meant; None where it is the text of a game."""
    if isinstance(source, Path):
        return source
    if "\n" in source or len(source) > MAX_PATH or not source.strip():
        return None
    path = Path(source)
    if path.suffix.lower() in (*FORMS, *PACKED_SUFFIXES) or path.is_file():
        return path
    return None


def _is_chess(text: str, wanted: _core.Game | None) -> bool:
    """Return whether a text of moves is of chess: it is wanted so, or no first line names another game."""
    if wanted is not None:
        return wanted.spec == "chess"
    first = text.split(maxsplit=1)
    return bool(first) and first[0].partition("(")[0] not in names()


def _pgn_games(source: Path | str, name: str, wanted: _core.Game | None) -> Iterator[RecordedGame]:
    if wanted is not None and wanted.name != "chess":
        raise ValueError(f"{name}: PGN holds games of chess, not of {wanted.spec}")
    return _pgn_records(open_reader(source), name, wanted)


def _pgn_records(reader: _core.PgnReader, name: str, wanted: _core.Game | None) -> Iterator[RecordedGame]:
    for read in reader:
        wrong = read.wrong or (None if wanted is None else other_kind(read, wanted))
        if wrong is not None:
            yield RecordedGame(headers=read.tags, skipped=in_a_line(f"{place_of(read, name)}: {wrong}"))
        elif read.plies:
            outcome = read.outcome
            yield RecordedGame(
                start=read.fen or START,
                moves=read.moves,
                result="*" if outcome is None else result_text(outcome),
                headers=read.tags,
                notes=tuple(read.notes),
                game=read.game,
                actions=read.actions,
                end_reason=read.ended or "",
            )


def _sgf_games(text: str, name: str, wanted: _core.Game | None) -> Iterator[RecordedGame]:
    games = read_sgf(text, name, wanted)
    if not games:
        raise ValueError(f"{name}: no SGF: it has no (")
    return _sgf_records(games, name)


def _sgf_records(games: Sequence[_core.SgfGame], name: str) -> Iterator[RecordedGame]:
    for read in games:
        if read.wrong is not None:
            yield RecordedGame(headers=read.tags, skipped=in_a_line(f"{name}, game {read.number}: {read.wrong}"))
        elif read.actions:
            yield RecordedGame(
                moves=read.moves,
                result="*" if read.outcome is None else result_text(read.outcome),
                headers=read.tags,
                game=read.game,
                actions=read.actions,
                end_reason="" if read.reason == RECORDED else read.reason,
            )


def _games_of_moves(text: str, name: str, wanted: _core.Game | None) -> Iterator[RecordedGame]:
    spec = None if wanted is None else wanted.spec
    base, games = games_in(text, "moves", name, spec)
    return (_of_moves(found, base) for found in games if isinstance(found, BadGame) or found.actions)


def _of_moves(found: TaggedGame | BadGame, base: _core.Game) -> RecordedGame:
    if isinstance(found, BadGame):
        return RecordedGame(skipped=str(found))
    begins = base.new_initial_state()
    has_own_start = False
    if base.has_fen:
        usual_start = load_game(base.name).new_initial_state()
        has_own_start = begins.notation() != usual_start.notation()
    return RecordedGame(
        start=begins.notation() if has_own_start else START,
        moves=tuple(texts_of(begins, found.actions)),
        result="*" if found.outcome is None else result_text(found.outcome),
        game=base,
        actions=found.actions,
        end_reason="" if found.end_reason == RECORDED else found.end_reason,
    )
