"""Games on the points of a board as SGF: main lines are read by `crates/lab`, games are written here."""

import re
from collections.abc import Iterator, Mapping, Sequence

from hauteur import _core
from hauteur.games.game_line import RESIGNATION, TIME, BadGame, TaggedGame

KINDS = {"nogo": "1", "go": "1", "gomoku": "4"}
"""GM, the number of each game in the format. NoGo has none of its own: it is written as Go with the rules (RU) NoGo."""

DEFAULT_KOMI = "7.5"
"""Komi of a game of Go whose spec has none."""


def sgf_games(text: str, name: str, game: _core.Game | None = None) -> Iterator[TaggedGame | BadGame]:
    """Yield the games of a text of this name in order, each as its main line or with what is wrong with it.

    game: which they must be of; None: each says so itself.
    """
    if game is not None and game.name not in KINDS:
        raise ValueError(f"{name}: SGF is read for {', '.join(KINDS)}, not for {game.spec}")
    games = _core.read_sgf(text, game)
    for read in games:
        where = f"{name}, game {read.number}"
        if read.wrong is not None:
            yield BadGame(where, read.wrong)
            continue
        yield TaggedGame(read.actions, read.tags, read.outcome, read.reason, where=where)
    if not games:
        yield BadGame(name, "no SGF: it has no (")


def _komi(game: _core.Game) -> str:
    found = re.search(r"komi=([-0-9.]+)", game.spec)
    return DEFAULT_KOMI if found is None else found[1]


def _size_text(rows: int, columns: int) -> str:
    """Return the value of SZ of a board, columns before rows."""
    return str(rows) if rows == columns else f"{columns}:{rows}"


def result_of(outcome: int, end_reason: str) -> str:
    """The value of RE."""
    if outcome == 0:
        return "0"
    letter = {RESIGNATION: "R", TIME: "T", "forfeit": "F"}.get(end_reason, "")
    return f"{'B' if outcome > 0 else 'W'}+{letter}"


def written_sgf(game: _core.Game, root: Mapping[str, str], actions: Sequence[int], comments: Mapping[int, str]) -> str:
    """A game as SGF text. root: properties of the first node in addition to those of the format; comments: by ply."""
    _, rows, columns = game.feature_shape
    form = {"FF": "4", "GM": KINDS[game.name], "CA": "UTF-8", "AP": "hauteur", "SZ": _size_text(rows, columns)}
    form |= {"KM": _komi(game)} if game.name == "go" else {}
    form |= {"RU": "NoGo"} if game.name == "nogo" else {}
    nodes = [";" + "".join(f"{name}[{_escaped(value)}]" for name, value in {**form, **root}.items())]
    for ply, action in enumerate(actions):
        row, column = divmod(action, columns)
        comment = f"C[{_escaped(comments[ply])}]" if comments.get(ply) else ""
        point = "" if action == rows * columns else f"{chr(97 + column)}{chr(97 + row)}"
        nodes.append(f";{'BW'[ply % 2]}[{point}]{comment}")
    lines = ["".join(nodes[first : first + 10]) for first in range(0, len(nodes), 10)]
    return "(" + "\n".join(lines) + ")\n"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("]", "\\]")
