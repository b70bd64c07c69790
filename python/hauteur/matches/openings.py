"""Positions that games begin from: files of openings, random ones, and who sits where after them."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.games.game_line import BadGame, TaggedGame
from hauteur.games.played_game import move_words, position_after
from hauteur.games.registry import load_game, with_fen
from hauteur.matches.record import GamePlan
from hauteur.players.settings import Colours
from hauteur.system.files import sha256_of
from hauteur.system.packed import content_suffix, plain_file


@dataclass(frozen=True)
class Opening:
    """A position to begin from: chess and minichess from a FEN (None: the game's start), then moves."""

    fen: str | None = None
    actions: tuple[int, ...] = ()

    def origin(self, game: _core.Game) -> _core.State:
        """Return the position that the moves of the opening are played from."""
        return load_game(with_fen(game.spec, self.fen)).new_initial_state()

    def plan(self, game: _core.Game, index: int) -> GamePlan:
        """Return the plan of the game with this number that begins with the opening."""
        origin = None if self.fen is None else self.origin(game)
        return GamePlan(index, start=self.actions, origin=origin)


def read_openings(path: Path, game: _core.Game) -> list[Opening]:
    """Read one opening per line, skipping empty lines and those beginning with #. ValueError names the line.

    A line is a list of moves in the game's notation, with or without numbers, or, for chess and minichess, an EPD or
    FEN: four fields, then nothing, the two counters of a FEN, or the operations of an EPD, which are ignored. In a .pgn
    file every game is an opening. The file may be packed (`hauteur.system.packed`).
    """
    if content_suffix(path) == ".pgn":
        return _read_pgn(path, game)
    openings = []
    for found in opening_lines(path, game):
        if isinstance(found, BadGame):
            raise ValueError(str(found))
        openings.append(found)
    if not openings:
        raise ValueError(f"{path}: no openings in it")
    return openings


def opening_lines(path: Path, game: _core.Game) -> Iterator[Opening | BadGame]:
    """Yield the opening of each line of a file, as `read_openings` reads it, or what is wrong with the line."""
    for number, line in enumerate(_text_of(path).splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield read_opening(line, game)
            except ValueError as error:
                yield BadGame(f"{path}, line {number}", str(error))


def _text_of(path: Path) -> str:
    data = plain_file(path).read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # Windows' shell writes what a program prints so.
        return data.decode("utf-16", errors="replace")
    if b"\0" in data:
        raise ValueError(f"{path}: not a text file")
    try:
        # utf-8-sig: editors begin files with a mark, which would else belong to the first move.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Old suites have names in Latin-1 as Windows has it; positions and moves are ASCII.
        return data.decode("cp1252", errors="replace")


def openings_name(path: Path) -> str:
    """Return what identifies a file of openings: its name and content."""
    return f"{path.name} sha256 {sha256_of(path)}"


def opening_of(state: _core.State, game: _core.Game) -> Opening:
    """The opening that leads to a position of this game. ValueError where it is of another one, or over."""
    if (state.game.name, state.game.feature_shape) != (game.name, game.feature_shape):
        raise ValueError(f"a position of {game.spec} is needed, got one of {state.game.spec}")
    if state.is_terminal:
        raise ValueError("the game is over in this position")
    fen = None if state.game.spec == game.spec else state.start.fen
    return Opening(fen, tuple(state.moves))


def read_opening(line: str, game: _core.Game) -> Opening:
    """The opening that a line names, checked; the game must not be over after it."""
    words = line.split()
    if not words:
        raise ValueError("a position or a list of moves is needed, got an empty line")
    if game.has_fen and "/" in words[0]:
        opening = Opening(fen=_fen(words))
        state = opening.origin(game)
    else:
        state = Opening().origin(game)
        opening = Opening(actions=_play(state, move_words(line)))
    if state.outcome() is not None:
        raise ValueError("the game is over in this position")
    return opening


def _read_pgn(path: Path, game: _core.Game) -> list[Opening]:
    """The main lines of a PGN file, each from its own FEN."""
    if game.name != "chess":
        raise ValueError(f"{path}: a PGN file has openings of chess, not of {game.spec}")
    from hauteur.games.pgn import pgn_games  # here: most openings are lines of moves

    found = enumerate(pgn_games(plain_file(path), str(path), game), 1)
    openings = [_pgn_opening(one, game, f"{path}, game {number}") for number, one in found]
    if not openings:
        raise ValueError(f"{path}: no openings in it")
    return openings


def _pgn_opening(found: TaggedGame | BadGame, game: _core.Game, where: str) -> Opening:
    """The opening that a game of a file is; ValueError where it is none."""
    if isinstance(found, BadGame):
        raise ValueError(str(found))
    if not found.actions and found.origin is None:
        raise ValueError(f"{where}: has neither moves nor a position (tag FEN)")
    fen = None if found.origin is None else found.origin.notation()
    opening = Opening(fen, found.actions)
    if opening_state(game, opening.plan(game, 0)).outcome() is not None:
        raise ValueError(f"{where}: the game is over in this position")
    return opening


def _fen(words: list[str]) -> str:
    """The FEN at the beginning of an EPD: four fields, and two more if they are numbers."""
    # Without operations an EPD may end with the semicolon that would close one.
    counters = [word.rstrip(";") for word in words[4:6]]
    has_counters = len(counters) == 2 and all(word.isdecimal() for word in counters)
    return " ".join(words[:4] + (counters if has_counters else []))


def _play(state: _core.State, moves: list[str]) -> tuple[int, ...]:
    """Play the moves, return them as actions."""
    actions = []
    for move in moves:
        if state.outcome() is not None:
            raise ValueError(f"the game is over before {move!r}")
        actions.append(state.parse(move))
        state.apply(actions[-1])
    return tuple(actions)


def random_opening(
    game: _core.Game,
    plies: int,
    random: np.random.Generator,
    *,
    after: GamePlan | None = None,
) -> tuple[int, ...]:
    """Uniformly random actions after which the game is not over; fewer than `plies` where 100 attempts all ended it.

    after: the opening that they follow; default: the game's start.
    """
    begin = opening_state(game, after or GamePlan(0))
    for attempt in range(1000):
        actions = _random_line(begin.copy(), plies - attempt // 100, random)
        if actions is not None:
            return actions
    return ()


def _random_line(state: _core.State, plies: int, random: np.random.Generator) -> tuple[int, ...] | None:
    """Play this number of random actions; None if they end the game."""
    actions = []
    for _ in range(plies):
        actions.append(int(random.choice(state.legal_actions())))
        state.apply(actions[-1])
        if state.outcome() is not None:
            return None
    return tuple(actions)


def opening_state(game: _core.Game, plan: GamePlan) -> _core.State:
    """The position in which the searches of a game begin."""
    return position_after(plan.begin(game), plan.start)


def first_of_two(game: _core.Game, colours: Colours, plan: GamePlan) -> tuple[int, int]:
    """The sides of players 0 and 1 in a game that begins so, when `colours` are those of player 0."""
    if colours == "swap":
        is_first = plan.index % 2 == 0
    elif colours == "mover":
        is_first = opening_state(game, plan).to_move == 0
    else:
        is_first = colours == "first"
    return (0, 1) if is_first else (1, 0)
