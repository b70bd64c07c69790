"""Puzzles mined in one call, for programs in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload

from hauteur._core import Game
from hauteur.games.registry import load_game
from hauteur.players.player import Player
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.studies.puzzles.mine import Mine, MineRule, MineSettings, mine_table
from hauteur.studies.puzzles.puzzle import Puzzle, write_puzzles
from hauteur.system.formatting import described
from hauteur.system.hints import with_hints
from hauteur.system.progress import ProgressLine
from hauteur.system.settings import validated
from hauteur.system.tables import html_table, text_table


@dataclass(frozen=True, eq=False, repr=False)
class MinedPuzzles(Sequence[Puzzle]):
    """Puzzles by difficulty, and what was searched for them."""

    puzzles: tuple[Puzzle, ...]
    result: dict[str, Any]
    """Counts by source, as in result.json of `hauteur puzzles mine`."""

    @overload
    def __getitem__(self, index: int) -> Puzzle: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Puzzle]: ...
    def __getitem__(self, index: int | slice) -> Puzzle | Sequence[Puzzle]:
        return self.puzzles[index]

    def __len__(self) -> int:
        return len(self.puzzles)

    def __iter__(self) -> Iterator[Puzzle]:
        return iter(self.puzzles)

    def save(self, folder: str | Path) -> list[Path]:
        """Write puzzles.json, for chess puzzles.csv with Lichess's columns and puzzles.epd too; return the files."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        return write_puzzles(self.puzzles, Path(folder))

    def _rows(self) -> list[list[str]]:
        rows = []
        for puzzle in self.puzzles:
            solution = " ".join(puzzle.solution)
            themes = " ".join(puzzle.themes)
            rows.append([str(puzzle.rating), solution, themes, puzzle.source])
        return rows

    def __repr__(self) -> str:
        table = text_table(COLUMNS, self._rows(), shown=len(self.puzzles))
        if self.puzzles:
            return f"{mine_table(self.result)}\n{table}"
        return mine_table(self.result)

    def _repr_html_(self) -> str:
        return html_table(COLUMNS, self._rows(), shown=len(self.puzzles))


COLUMNS = ("rating", "solution", "themes", "source")
"""What the table of puzzles shows."""


@with_hints
def puzzles(
    sources: str | Path | Sequence[str | Path],
    player: Player | str = "",
    *,
    game: Game | str = "chess",
    positions: int | None = None,
    first_ply: int = 8,
    seed: int = 0,
    out: str | Path | None = None,
    progress: bool | None = None,
    **criteria: Any,
) -> MinedPuzzles:
    """Mine puzzles: positions in which few visits are wrong and many are right, with one good move.

    Parameters
    ----------
    sources
        Files of games (.pgn, .sgf, .parquet) or positions (.epd, .fen, .txt), folders of matches or of learning runs,
        patterns such as `"games/*.pgn"`; one or several.
    player
        Whose search finds them, with a net by name or file; default: the net that ships for the game.
    game
        A game, or the spec of one.
    positions
        Maximum positions of each source, drawn by the seed; None: all.
    first_ply
        Plies at the beginning of a game from which no position is taken.
    seed
        Of the drawn positions and the searches.
    out
        A folder that keeps what was searched, and the files of puzzles; the same call resumes there.
    progress
        Show a line of progress; None: on a terminal and in a notebook.
    criteria
        Of a puzzle, as options of `hauteur puzzles mine`: low, high, swing, gap, rest, least, hindsight, moves.

    Raise ValueError, in one line, for a source without positions, a player without a net and criteria out of range.

    >>> import hauteur as ht
    >>> _ = ht.play_match("random", "random", "tictactoe", games=20, seed=1, out="games")
    >>> easy = dict(low=3, high=200, swing=0.2, gap=0.2, hindsight=0, least=-0.5, rest=1)
    >>> found = ht.puzzles("games", "net=uniform", game="tictactoe", first_ply=0, **easy)
    >>> len(found), found[-1].solution
    (12, ('a1', 'a2', 'c1'))
    """
    loaded = load_game(game)
    settings = MineSettings(
        game=loaded.spec,
        player=_settings_of(player),
        rule=validated(MineRule, criteria, "puzzles"),
        first_ply=first_ply,
        seed=seed,
    )
    names = [sources] if isinstance(sources, str | Path) else sources
    if not isinstance(names, Sequence):
        raise TypeError(f"puzzles: sources must be a file, a folder or a list of them, got {described(names)}")
    keeping = TemporaryDirectory() if out is None else nullcontext(str(out))
    with keeping as folder, ProgressLine(progress, "reading the sources", left=True) as line:
        mine = Mine(
            game=loaded,
            settings=settings,
            sources=[str(name) for name in names],
            folder=Path(folder),
            limit=positions,
            show=lambda _: line.clear(),
            tick=lambda done, of, found: line.show(f"{done:,}/{of:,} positions, {found:,} puzzles", done / of),
        )
        result = mine.run()
        return MinedPuzzles(tuple(mine.made), result)


def _settings_of(player: Player | str) -> PlayerSettings:
    """Return a player's settings; raise ValueError for an evaluator or rules that are objects."""
    if isinstance(player, str):
        return parse_player(player, "puzzles: player")
    if not isinstance(player, Player):
        raise TypeError(f"puzzles: player must be a text or a hauteur.Player, got {described(player)}")
    if player.evaluator is not None or player.rules:
        raise ValueError("puzzles: player must have a net by name or file, and no rules of its own")
    return player
