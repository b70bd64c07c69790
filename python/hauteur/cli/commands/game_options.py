"""Options of the commands that play games or solve puzzles, each in one place."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cyclopts import Parameter

from hauteur import _core
from hauteur.cli.commands.options import BatchSize, GameSpec, Seed
from hauteur.games.registry import load_game
from hauteur.matches.game_files import write_games
from hauteur.matches.match import Match
from hauteur.matches.openings import Opening, read_openings
from hauteur.matches.play import MatchOptions
from hauteur.networks.evaluators.base import Backend
from hauteur.players.build import Resources
from hauteur.system.files import check_folder

RANDOM_PLIES = 4
PUZZLE_ROWS = 64
"""Rows of a batch where positions are analysed and no games are played."""


@Parameter(name="*")
@dataclass(frozen=True)
class NetOptions:
    """The game, with what its nets are computed, and how the result is printed."""

    game: GameSpec = "chess"
    """The game, e.g. chess, connect4, nogo(size=5)."""
    batch_size: BatchSize | None = None
    """Maximum positions evaluated together. Default: half of --parallel, the other half is gathered meanwhile; 64 where
    no games are played."""
    threads: int = 0
    """Threads of a net on the processor, and of the players without one; 0: one a core."""
    backend: Backend | None = None
    """Backend of the nets. Default: torch on a GPU, else core, or onnxruntime for nets with attention."""
    seed: Seed = 0
    """Of all random draws."""
    json: bool = False
    """Print one JSON object instead of the table."""

    @property
    def resources(self) -> Resources:
        """With what positions are analysed, three batches of them at a time."""
        rows = PUZZLE_ROWS if self.batch_size is None else self.batch_size
        return Resources(3 * rows, rows, self.threads, self.backend)


@Parameter(name="*")
@dataclass(frozen=True)
class PlayOptions(NetOptions):
    """Options of games: their beginning, and how many are played at a time."""

    openings: Path | None = None
    """File with one opening a line: an EPD or FEN (chess, minichess), or moves; or the games of a .pgn (chess)."""
    random_plies: int | None = None
    """Without openings: uniformly random plies that each pair of games begins with. Default: 4."""
    parallel: int = 64
    """Games at a time."""
    workers: int = 0
    """Processes that play the games; 0: this process plays them, or with --cluster as many as fit. The games are the
    same."""
    cluster: str | None = None
    """Where workers run: auto (the Ray of this machine), or HOST:PORT of the head of a cluster of Ray. Default:
    processes of this machine, without Ray."""

    @property
    def resources(self) -> Resources:
        return Resources(self.parallel, self.batch_size, self.threads, self.backend)

    def plies(self) -> int:
        """Random plies; ValueError where openings were given too."""
        if self.openings is not None and self.random_plies:
            raise ValueError(
                f"--openings and --random-plies exclude each other, got {self.openings} and {self.random_plies}"
            )
        if self.openings is not None:
            return 0
        return RANDOM_PLIES if self.random_plies is None else self.random_plies

    def read_openings(self, game: _core.Game) -> list[Opening]:
        if self.openings is None:
            return []
        return read_openings(self.openings, game)


@Parameter(name="*")
@dataclass(frozen=True)
class GameOptions(PlayOptions):
    """Options of the games of a match: how they are played and kept."""

    order: Literal["random", "file"] = "random"
    """Openings in an order drawn by the seed, or as in the file."""
    max_plies: int | None = None
    """A game that is longer is a draw. Default: no limit but the game's own."""
    out: Path | None = None
    """Folder for all that is kept; the same command resumes it. Default: nothing is kept."""
    pgn: Path | None = None
    """Write the games to this file too (chess). With --out they are in the folder anyway, as games.pgn."""
    sgf: Path | None = None
    """The same for Go, Gomoku and NoGo."""
    eval: bool = False
    """In PGN also the scores as lichess writes them, [%eval]."""

    def make_game(self) -> _core.Game:
        """The game; ValueError where the options do not fit it or each other."""
        self.plies()
        game = load_game(self.game)
        for path, form in ((self.pgn, "pgn"), (self.sgf, "sgf")):
            if path is not None:
                _check_file(path, form, game)
        return game

    def arguments(self) -> MatchOptions:
        """The options of `hauteur.play_match`; ValueError where they do not fit each other."""
        resources = self.resources
        return {
            "seed": self.seed,
            "openings": self.openings,
            "order": self.order,
            "random_plies": self.plies(),
            "max_plies": self.max_plies,
            "parallel": resources.parallel,
            "batch_size": resources.batch_size,
            "threads": resources.threads,
            "backend": resources.backend,
            "workers": self.workers,
            "cluster": self.cluster,
            "out": self.out,
            "progress": True,
        }

    def write_games(self, matches: Sequence[Match]) -> None:
        """Write games to the files that were asked for, and to that of the folder."""
        paths = [path for path in (self.pgn, self.sgf) if path is not None]
        form = load_game(self.game).record_form
        if self.out is not None and form is not None:
            paths.insert(0, self.out / f"games.{form}")
        for path in paths:
            write_games(path, [(match, match.games()) for match in matches], evals=self.eval)


def _check_file(path: Path, form: str, game: _core.Game) -> None:
    """Raise ValueError, before any game, unless the games can be written to a file in the end."""
    if game.record_form != form:
        raise ValueError(f"--{form} {path}: games of {game.spec} cannot be written as {form.upper()}")
    if path.suffix != f".{form}" or path.is_dir():
        raise ValueError(f"--{form} {path}: expected a file *.{form}")
    check_folder(path)
