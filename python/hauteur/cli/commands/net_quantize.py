"""`hauteur net quantize`: the int8 form of a net, calibrated on positions of games."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.cli.commands.options import Seed
from hauteur.system.extras import require

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks.int8.calibration import Calibration

_COMPARED = 500


def quantize(file: Path, /, *, positions: Path | None = None, seed: Seed = 0) -> None:
    """Make the int8 form of a net, in place of the one in the cache, and say how far its answers are from float32.

    Every use of the net with precision int8 makes it when there is none yet, from games that the net plays itself.

    Parameters
    ----------
    file
        Net file.
    positions
        Games as PGN or positions as EPD to calibrate on: up to 1,500, spread over all games and their length. Default:
        games whose moves are drawn from the net's own policy.
    seed
        Of the games, and of the choice of positions.
    """
    require("hauteur net quantize", "openvino")
    from hauteur import networks
    from hauteur.games import registry as games
    from hauteur.networks.evaluators.compare import differences
    from hauteur.networks.evaluators.factory import make_evaluator
    from hauteur.networks.int8.calibration import own_games
    from hauteur.networks.int8.quantize import int8_file, make_int8

    game = games.load_game(networks.describe(file).game)
    started = time.perf_counter()
    with make_evaluator(game, file, backend="openvino", precision="float32", threads=1) as exact:
        calibration = None if positions is None else _from_file(game, positions, seed)
        calibration = calibration or own_games(game, lambda features: exact(features)[0], seed=seed)
        record = make_int8(file, game, calibration)
        print(f"{int8_file(file)}: made in {time.perf_counter() - started:.1f} s from {record}")
        others = own_games(game, lambda features: exact(features)[0], seed=seed + 1)
        states, features = others.states[:_COMPARED], others.features[:_COMPARED]
        with make_evaluator(game, file, backend="openvino", precision="int8", threads=1) as quantised:
            found = differences(states, quantised(features), exact(features))
    print(f"against float32, {len(states)} other positions of own games: {found}")


def _from_file(game: "_core.Game", path: Path, seed: int) -> "Calibration":
    """Positions of a PGN or EPD file, none of them over."""
    from hauteur.networks.int8.calibration import chosen_positions

    lines = {".pgn": _pgn_states, ".epd": _epd_states}.get(path.suffix.lower())
    if lines is None:
        raise ValueError(f"{path}: positions are read from .pgn and .epd files")
    return chosen_positions(game, lines(game, path), path.name, seed=seed)


def _pgn_states(game: "_core.Game", path: Path) -> "Sequence[Sequence[_core.State]]":
    from hauteur.games.game_line import BadGame
    from hauteur.games.pgn import read_tagged_pgn

    found = []
    for line in read_tagged_pgn(path, game):
        if isinstance(line, BadGame):
            raise ValueError(str(line))
        state = (line.origin or game.new_initial_state()).copy()
        states = []
        for action in line.actions:
            states.append(state.copy())
            state.apply(action)
        found.append(states)
    return found


def _epd_states(game: "_core.Game", path: Path) -> "Sequence[Sequence[_core.State]]":
    from hauteur.games.epd import parse_epd
    from hauteur.games.registry import load_game, with_fen

    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                state = load_game(with_fen(game.spec, parse_epd(line)[0])).new_initial_state()
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            if state.outcome() is None:
                found.append([state])
    return found
