"""Games as text that is pasted, sent, kept in files: PGN, SGF, a FEN, or lines of moves; read, and one game written.

What a text is shows from how it begins: PGN with a tag or move number, SGF with `(;`, a FEN with its board; everything
else are moves in the game's notation.
"""

from collections.abc import Collection, Iterator
from datetime import date
from pathlib import Path
from typing import Literal

from hauteur import _core
from hauteur._core import TextGame
from hauteur.games.game_line import RECORDED, BadGame, TaggedGame
from hauteur.games.pgn import pgn_games
from hauteur.games.played_game import PlayedGame, move_words
from hauteur.games.registry import load_game, names
from hauteur.games.sgf import sgf_games
from hauteur.system.formatting import in_a_line
from hauteur.system.packed import content_suffix, plain_file

Form = Literal["pgn", "sgf", "fen", "moves"]

MOST_CHARACTERS = 2**20
"""Most characters of a text that is read."""
MOST_PLIES = 5_000
"""Maximum moves of a game that is read."""
MOST_BYTES = 2**24
"""Maximum bytes of a file of SGF, which is read at once."""

FORMS: dict[str, Form] = {".pgn": "pgn", ".sgf": "sgf", ".txt": "moves"}
"""Forms of games by the ends of files."""


def form_of(text: str) -> Form:
    """Return what a text is, as it begins."""
    return _core.form_of_text(text)


def forms_of(game: _core.Game) -> tuple[Form, ...]:
    """Return the forms in which a game can be written, the fullest first."""
    own: tuple[Form, ...] = () if game.record_form is None else (game.record_form,)
    return (*own, *(("fen",) if game.has_fen else ()), "moves")


def read_game(text: str, spec: str) -> TextGame:
    """Return the game of a text, of several the first. spec: of the game that moves and FENs are of.

    Raise ValueError naming what is wrong, and for more than MOST_CHARACTERS or MOST_PLIES.

    >>> read = read_game("1. e4 e5 2. Nf3 *", "chess")
    >>> read.spec, len(read.actions), read.outcome
    ('chess', 3, None)
    """
    try:
        return _core.read_text_game(text, load_game(spec))
    except ValueError as error:
        raise ValueError(in_a_line(str(error))) from None


def player_names(game: TaggedGame) -> tuple[str, str]:
    """Return the names of the first and the second player, empty where the file has none."""
    tags = game.tags
    first = tags.get("White", tags.get("PB", ""))
    second = tags.get("Black", tags.get("PW", ""))
    return first, second


GameSource = tuple[_core.Game, Iterator[TaggedGame | BadGame]]
"""The game that a text is of, and its games."""


def games_in(text: str, form: Form, name: str, spec: str | None = None, *, annotated: bool = False) -> GameSource:
    """Return the games of a text of this name: PGN, SGF, or the moves of a game a line; # begins a comment.

    spec: of the game that moves are of; the first line may name it too, with or without the # that `hauteur play` puts
    before it, and must where there is no spec. annotated: games of PGN keep variations and comments as their `source`,
    as those of SGF do. Raise ValueError where the game is unknown; games that cannot be used
    say why.
    """
    if form == "pgn":
        return load_game("chess"), pgn_games(text, name, annotated=annotated)
    if form == "sgf":
        try:
            usual = "" if spec is None else load_game(spec).name
            game = load_game(_core.sgf_spec(text, usual))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return game, sgf_games(text, name, game)
    lines = text.splitlines()
    known = names()
    if lines and _names_game(lines[0].lstrip("# "), known):
        lines[0] = lines[0].lstrip("# ")
    lines = [line.partition("#")[0].strip() for line in lines]
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line]
    if spec is None or (numbered and _names_game(numbered[0][1], known)):
        if not numbered:
            raise ValueError(f"{name}: its first line must name the game, such as connect4 or nogo(size=7)")
        spec = numbered.pop(0)[1]
    try:
        game = load_game(spec)
    except ValueError as error:
        raise ValueError(f"{name}: its first line must name the game: {error}") from None
    return game, (_of_moves(game, line, f"{name}, line {number}") for number, line in numbered)


def _names_game(line: str, known: Collection[str]) -> bool:
    return line.partition("(")[0].strip() in known


def moves_file(game: _core.Game, moves: str) -> str:
    """Return moves as a file has them, after a comment that names the game; lists of openings pass over it."""
    return f"# {game.spec}\n{moves}"


def games_in_file(path: Path, form: Form, *, annotated: bool = False) -> GameSource:
    """Return the games of a file as `games_in` those of its text; a PGN is read in pieces."""
    if form == "pgn":
        return load_game("chess"), pgn_games(plain_file(path), str(path), annotated=annotated)
    text = sgf_text_of(path) if form == "sgf" else plain_file(path).read_text("utf-8-sig", errors="replace")
    return games_in(text, form, str(path))


def games_of_file(path: Path, game: _core.Game) -> Iterator[TaggedGame | BadGame]:
    """Yield the games of a file .pgn or .sgf in order, good and bad; a PGN may be longer than the memory.

    The file may be packed (`hauteur.system.packed`). Raise ValueError for a file that is not of this game, OSError for
    one that cannot be read.
    """
    if content_suffix(path) == ".pgn":
        yield from pgn_games(plain_file(path), str(path), game)
        return
    yield from sgf_games(sgf_text_of(path), str(path), game)


def sgf_text_of(path: Path) -> str:
    """Return the text of an SGF file, perhaps packed, decoded as it says. ValueError for more than MOST_BYTES."""
    plain = plain_file(path)
    size = plain.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{path}: has {size:,} bytes, allowed are {MOST_BYTES:,}")
    return _core.sgf_text(plain.read_bytes())


def _of_moves(game: _core.Game, line: str, where: str) -> TaggedGame | BadGame:
    """Return the game of a line of moves; move numbers are passed over."""
    words = move_words(line)
    if len(words) > MOST_PLIES:
        return BadGame(where, f"the game has {len(words):,} plies, allowed are {MOST_PLIES:,}")
    played = PlayedGame(game)
    for ply, word in enumerate(words, 1):
        try:
            played.play(played.state.parse(word))
        except ValueError as error:
            return BadGame(where, f"ply {ply}: {error}")
    ending = played.ending
    if ending is None:
        return TaggedGame(tuple(played.actions), {}, None, RECORDED)
    return TaggedGame(tuple(played.actions), {}, ending.outcome, ending.reason or RECORDED)


def written_game(game: PlayedGame, form: Form, names: tuple[str, str], *, event: str = "hauteur play") -> str:
    """Return a game as text, finished or not. names: of the first and the second player.

    Raise ValueError for a form that this game has not.
    """
    ending = None if game.ending is None else (game.ending.outcome, game.ending.reason)
    day = date.today().isoformat()
    return _core.written_game(game.start, game.actions, form, names, ending, event, day)
