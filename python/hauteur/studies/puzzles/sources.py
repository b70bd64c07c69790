"""Sources of positions: games in PGN, SGF and shards, folders of matches and runs, lists of positions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hauteur import _core
from hauteur.games.game_line import BadGame
from hauteur.games.registry import load_game
from hauteur.learning.recorded_files import GAME_SUFFIXES, files_of, read_games
from hauteur.matches.folder import MatchFolder, game_lines, wrong_line
from hauteur.matches.game_files import played_line
from hauteur.matches.openings import opening_lines
from hauteur.studies.puzzles.puzzle import identity
from hauteur.system.packed import content_suffix

MATCH_GAMES = "games.jsonl"
LIST_SUFFIXES = (".epd", ".fen", ".txt")
"""Of files with a position a line."""

FOLLOWING = 4
"""Moves of the game after a position that are looked at."""

SUFFIXES = (*GAME_SUFFIXES, ".jsonl", *LIST_SUFFIXES)


@dataclass(frozen=True)
class SourceLine:
    """A game, or a single position with the moves that lead to it."""

    source: str
    """The source, as it was given."""
    number: int
    """Its number in the source."""
    actions: tuple[int, ...]
    """Its actions."""
    origin: _core.State | None = None
    """Position that it begins from; None: the game's start."""
    single: bool = False
    """Only the last position counts."""


@dataclass(frozen=True)
class SourcePosition:
    """A position of a source, its past included."""

    source: str
    """The source, as it was given."""
    number: int
    """Number of the line in the source."""
    ply: int
    """Plies of the line up to the position."""
    state: _core.State
    """The position."""
    before: _core.State | None
    """Position before the last move; None where the position begins its line."""
    last: int | None
    """The last move; None likewise."""
    moves: tuple[int, ...]
    """All moves of the line up to here."""
    following: tuple[int, ...] = ()
    """The next moves of the line, at most FOLLOWING."""

    @property
    def where(self) -> str:
        """Name of the position: source, number of the line, ply."""
        return f"{self.source}#{self.number}/{self.ply}"


def read_lines(sources: Sequence[str], game: _core.Game, on_bad: Callable[[BadGame], None]) -> Iterator[SourceLine]:
    """Yield the games and positions of all sources, in order; report unusable games to `on_bad`.

    A source is a file, a folder (of a match, of a learning run, or of files of games) or a pattern such as games/*.pgn.
    """
    for source in sources:
        for path in source_files(source):
            yield from _read_file(source, path, game, on_bad)


def source_files(source: str) -> list[Path]:
    """The files of a source: of a match its games, of another folder everything that holds games."""
    if (Path(source) / MATCH_GAMES).is_file():
        return [Path(source) / MATCH_GAMES]
    return files_of([source], GAME_SUFFIXES if Path(source).is_dir() else SUFFIXES)


def _read_file(source: str, path: Path, game: _core.Game, on_bad: Callable[[BadGame], None]) -> Iterator[SourceLine]:
    if path.suffix == ".jsonl":
        yield from _match_lines(source, path, game)
    elif content_suffix(path) in LIST_SUFFIXES:
        yield from _list_lines(source, path, game, on_bad)
    else:
        for number, record in enumerate(read_games([path], game), 1):
            if isinstance(record, BadGame):
                on_bad(record)
            else:
                actions = (*record.plan.start, *record.actions.tolist())
                yield SourceLine(source, number, actions, record.plan.origin)


def _list_lines(source: str, path: Path, game: _core.Game, on_bad: Callable[[BadGame], None]) -> Iterator[SourceLine]:
    """Yield the positions of a list, as `openings.read_opening` reads a line; ValueError where none can be read."""
    has_any = False
    bad = list[BadGame]()
    for number, opening in enumerate(opening_lines(path, game), 1):
        if isinstance(opening, BadGame):
            bad.append(opening)
            continue
        has_any = True
        origin = None if opening.fen is None else opening.origin(game)
        yield SourceLine(source, number, opening.actions, origin, single=True)
    if not has_any:
        raise ValueError(str(bad[0]) if bad else f"{path}: no positions in it")
    for wrong in bad:
        on_bad(wrong)


def _match_lines(source: str, path: Path, game: _core.Game) -> Iterator[SourceLine]:
    """Yield the games of a match, which may be in progress: an incomplete last line is skipped."""
    _check_game(MatchFolder(path.parent), game)
    for place, _, played in game_lines(path):
        try:
            start, actions = played_line(game, played)
        except ValueError as error:
            raise wrong_line(path, place, error) from None
        own_start = None if played.fen is None else start
        yield SourceLine(source, played.index, tuple(actions), own_start)


def _check_game(folder: MatchFolder, game: _core.Game) -> None:
    """Raise ValueError for the folder of a match of another game."""
    if not folder.settings_file.exists():
        return
    spec = str(folder.stored()["settings"].get("game", game.spec))
    if load_game(spec).name != game.name:
        raise ValueError(f"{folder.path}: its games are of {spec}, not of {game.spec}; --game names the game")


def positions(line: SourceLine, game: _core.Game, first_ply: int = 0) -> Iterator[SourcePosition]:
    """The positions of a line with a choice of moves, from a ply on; of a single position that alone."""
    state = (line.origin or game.new_initial_state()).copy()
    before: _core.State | None = None
    for ply in range(len(line.actions) + 1):
        last = line.actions[ply - 1] if ply else None
        is_meant = ply == len(line.actions) if line.single else ply >= first_ply
        if is_meant and state.outcome() is None and len(state.legal_actions()) > 1:
            following = line.actions[ply : ply + FOLLOWING]
            yield SourcePosition(
                line.source,
                line.number,
                ply,
                state.copy(),
                before,
                last,
                line.actions[:ply],
                following,
            )
        if ply < len(line.actions):
            before = state.copy()
            state.apply(line.actions[ply])


@dataclass(frozen=True)
class Census:
    """The positions of all sources: of each source its positions, by name, with the number of the first game of each.

    games, seen: games and positions of each source, repeated positions counted each time.
    """

    sources: tuple[str, ...]
    first_game: dict[str, dict[str, int]]
    games: dict[str, int]
    seen: dict[str, int]

    def distinct(self, source: str) -> set[str]:
        """Return the names of the different positions of a source."""
        return set(self.first_game[source])


def take_census(
    sources: Sequence[str],
    game: _core.Game,
    first_ply: int,
    on_bad: Callable[[BadGame], None] = lambda _: None,
) -> Census:
    """Read all sources once and keep only the names of their positions."""
    names = tuple(dict.fromkeys(sources))
    first_games: dict[str, dict[str, int]] = {name: {} for name in names}
    census = Census(names, first_games, dict.fromkeys(names, 0), dict.fromkeys(names, 0))
    for line in read_lines(names, game, on_bad):
        first_game = census.first_game[line.source]
        census.games[line.source] += 1
        for found in positions(line, game, first_ply):
            census.seen[line.source] += 1
            first_game.setdefault(identity(found.state), census.games[line.source])
    return census


def first_of_each(
    sources: Sequence[str],
    game: _core.Game,
    first_ply: int,
    names: set[str],
) -> Iterator[tuple[str, SourcePosition]]:
    """Yield name and first occurrence of each of these positions; sources are read lazily."""
    left = set(names)
    for line in read_lines(tuple(dict.fromkeys(sources)), game, lambda _: None):
        for found in positions(line, game, first_ply):
            name = identity(found.state)
            if name in left:
                left.discard(name)
                yield name, found
        if not left:
            return
