"""hauteur tune: settings of players found by games."""

import json as json_format
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from hauteur.evaluate import Backend
from hauteur.figures import write_figures
from hauteur.game import make
from hauteur.match import Resources
from hauteur.player_spec import PlayerSettings, parse_player, value_key
from hauteur.tuning import ratio as by_ratio
from hauteur.tuning import strength as by_strength
from hauteur.tuning.folder import TuningFolder
from hauteur.tuning.parameters import Parameter as Tuned
from hauteur.tuning.parameters import parse_parameter, parse_parameters
from hauteur.tuning.spsa import Schedule

KNOWN_RATIOS: dict[tuple[str, ...], tuple[str, bool]] = {
    ("search", "search_contempt", "n_scl"): ("=1:1000:log", False),
    ("temperature", "initial"): ("=0.05:5:log", True),
}
"""Bounds, and whether (w + l)/d rises, of the settings that the papers tune so."""


def strength(
    player: str,
    *,
    parameter: Annotated[tuple[str, ...], Parameter(negative=())],
    out: Path,
    opponent: str | None = None,
    game: str = "chess",
    iterations: int = 50,
    games: int = 40,
    verification: int = 400,
    spread: float = 0.2,
    step: float = 0.3,
    random_plies: int = 4,
    parallel: int = 64,
    batch_size: int | None = None,
    threads: int = 0,
    backend: Backend | None = None,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Find values of a player's settings that make it stronger, by SPSA; one that was interrupted goes on.

    In each iteration all settings are moved, and the player plays itself with all of them moved the other way; then
    they go towards the side that won. At the end the tuned player plays the given one, to say what was gained.

    Parameters
    ----------
    player
        The player whose settings are tuned, as in `hauteur match`; tuning begins with its values.
    parameter
        KEY=LOW:HIGH, any setting that is a number, by its key of a player, with bounds: cpuct.init=0.5:3. With :log
        after them factors count and not differences: search-contempt.n-scl=1:100:log. May be repeated: all are tuned
        together.
    out
        Folder of the matches and the result; the same command goes on in it.
    opponent
        A player that both sides play, in the place of each other; the result is then good against that one, and
        needs about twice the games.
    game
        The game, e.g. chess, connect4.
    iterations
        How often the settings move. They cannot be changed later: the steps grow smaller towards the end.
    games
        Games of an iteration.
    verification
        Games of the tuned against the given player at the end; 0: none.
    spread
        How far both sides are from the middle at first, as a share of the range between the bounds.
    step
        How far the settings move in the first iteration if one side wins all games, as a share of the range.
    random_plies
        Uniformly random plies that each pair of games begins with.
    parallel
        Games at a time.
    batch_size
        Most positions evaluated together. Default: half of --parallel.
    threads
        Threads of a net on the processor; 0: one a core.
    backend
        What computes the nets. Default: torch where there is a GPU, else openvino.
    seed
        Of all random draws.
    json
        Print the result as one JSON object.
    """
    given = parse_player(player)
    tuning = by_strength.StrengthTuning(
        make(game).spec,
        given,
        parse_parameters(parameter, given),
        Schedule(iterations, spread, step),
        opponent=None if opponent is None else parse_player(opponent, "opponent"),
        games=games,
        verification=verification,
        random_plies=random_plies,
        seed=seed,
    )
    folder = TuningFolder(out, Resources(parallel, batch_size, threads, backend))
    tuned = by_strength.tune_strength(tuning, folder, lambda line: print(line, flush=True))
    figure = tuned.figure()
    write_figures([] if figure is None else [figure], csv=out)
    print(json_format.dumps(tuned.to_json(), indent=2) if json else by_strength.report(tuned))


def ratio(
    player: str,
    *,
    parameter: str,
    out: Path,
    target: float = 1.0,
    direction: Literal["rises", "falls"] | None = None,
    game: str = "chess",
    games: int = 40,
    most_games: int = 400,
    precision: float = 1.5,
    random_plies: int = 0,
    parallel: int = 64,
    batch_size: int | None = None,
    threads: int = 0,
    backend: Backend | None = None,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Find the value of a setting for a wanted (w+l)/d of a player against itself; one that was interrupted goes on.

    (w+l)/d is the ratio of games that somebody won to draws. It is taken to rise, or to fall, with the setting.

    Parameters
    ----------
    player
        The player, as in `hauteur match`; it plays both sides, each with a tree of its own.
    parameter
        search-contempt.n-scl or temperature, or any setting above 0 with bounds: KEY=LOW:HIGH.
    out
        Folder of the matches and the result; the same command goes on in it.
    target
        The wanted (w+l)/d: 1 has as many draws as other games.
    direction
        Whether (w+l)/d rises or falls with the setting; it is known that it falls with search-contempt.n-scl and rises
        with temperature.
    game
        The game, e.g. chess, connect4.
    games
        Games at a value at a time.
    most_games
        Games in all.
    precision
        It ends sooner where the 95 % interval of the value is narrower than this factor from end to end.
    random_plies
        Uniformly random plies that games begin with.
    parallel
        Games at a time.
    batch_size
        Most positions evaluated together. Default: half of --parallel.
    threads
        Threads of a net on the processor; 0: one a core.
    backend
        What computes the nets. Default: torch where there is a GPU, else openvino.
    seed
        Of all random draws.
    json
        Print the result as one JSON object.
    """
    given = parse_player(player)
    found, rising = ratio_parameter(parameter, direction, given)
    tuning = by_ratio.RatioTuning(
        make(game).spec,
        given,
        found,
        target,
        rising,
        games=games,
        most_games=most_games,
        precision=precision,
        random_plies=random_plies,
        seed=seed,
    )
    folder = TuningFolder(out, Resources(parallel, batch_size, threads, backend))
    tuned = by_ratio.tune_to_ratio(tuning, folder, lambda line: print(line, flush=True))
    result = json_format.loads((out / "result.json").read_text(encoding="utf-8"))
    print(json_format.dumps(result, indent=2) if json else by_ratio.report(tuning, tuned))


def ratio_parameter(
    text: str, direction: Literal["rises", "falls"] | None, player: PlayerSettings
) -> tuple[Tuned, bool]:
    """The setting with its bounds, and whether the ratio rises; ValueError where one of them has to be given."""
    known = KNOWN_RATIOS.get(value_key(text.partition("=")[0]))
    if known is None and (direction is None or "=" not in text):
        raise ValueError(f"--parameter {text}: bounds (KEY=LOW:HIGH) and --direction rises or falls must be given")
    bounds, rising = known or ("", True)
    found = parse_parameter(text if "=" in text else text + bounds, player)
    return found, rising if direction is None else direction == "rises"
