"""Games on the points of a board as SGF, read and written by `crates/lab`."""

from collections.abc import Iterator, Mapping, Sequence

from hauteur import _core
from hauteur.games.game_line import BadGame, TaggedGame

GAMES = ("nogo", "go", "gomoku")
"""Games of which SGF is read and written."""

DEFAULT_KOMI = "7.5"
"""Komi of a game of Go whose spec has none."""


def sgf_games(text: str, name: str, game: _core.Game | None = None) -> Iterator[TaggedGame | BadGame]:
    """Yield the games of a text of this name in order, each as its main line or with what is wrong with it.

    game: which they must be of; None: each says so itself.
    """
    games = read_sgf(text, name, game)
    for read in games:
        where = f"{name}, game {read.number}"
        if read.wrong is not None:
            yield BadGame(where, read.wrong)
            continue
        yield TaggedGame(read.actions, read.tags, read.outcome, read.reason, where=where, source=read.text)
    if not games:
        yield BadGame(name, "no SGF: it has no (")


def read_sgf(text: str, name: str, game: _core.Game | None) -> list[_core.SgfGame]:
    """Return the games of a text of this name; ValueError for a game of which SGF is not read."""
    if game is not None and game.name not in GAMES:
        raise ValueError(f"{name}: SGF is read for {', '.join(GAMES)}, not for {game.spec}")
    return _core.read_sgf(text, game)


def result_of(outcome: int, end_reason: str) -> str:
    """The value of RE."""
    return _core.sgf_result(outcome, end_reason)


def written_sgf(game: _core.Game, root: Mapping[str, str], actions: Sequence[int], comments: Mapping[int, str]) -> str:
    """A game as SGF text. root: properties of the first node in addition to those of the format; comments: by ply."""
    return _core.written_sgf(game, list(root.items()), list(actions), dict(comments))
