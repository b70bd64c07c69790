"""hauteur tune: settings of players found by games."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Literal

import cyclopts

from hauteur.cli.commands.game_options import PlayOptions
from hauteur.cli.commands.match_view import match_table, progress_line, shown
from hauteur.games.registry import make
from hauteur.matches.match import Match
from hauteur.matches.tuning import ratio as by_ratio
from hauteur.matches.tuning import strength as by_strength
from hauteur.matches.tuning.folder import TuningFolder
from hauteur.matches.tuning.parameters import Parameter, parse_parameter, parse_parameters
from hauteur.matches.tuning.spsa import Schedule
from hauteur.players.settings import PlayerSettings, parse_player, value_key
from hauteur.plots import write_figures

KNOWN_RATIOS: dict[tuple[str, ...], tuple[str, bool]] = {
    ("search", "search_contempt", "n_scl"): ("=1:1000:log", False),
    ("temperature", "initial"): ("=0.05:5:log", True),
}
"""Bounds, and whether (w + l)/d rises, of the settings that the papers tune so."""


def strength(
    player: str,
    *,
    parameter: Annotated[tuple[str, ...], cyclopts.Parameter(negative=())],
    out: Path,
    opponent: str | None = None,
    iterations: int = 50,
    games: int = 40,
    verification: int = 400,
    spread: float = 0.2,
    step: float = 0.3,
    options: PlayOptions = PlayOptions(),  # noqa: B008  (immutable)
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
        needs about four times the games.
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
    """
    given = parse_player(player)
    tuning = by_strength.StrengthTuning(
        make(options.game).spec,
        given,
        parse_parameters(parameter, given),
        Schedule(iterations, spread, step),
        opponent=None if opponent is None else parse_player(opponent, "opponent"),
        games=games,
        verification=verification,
        random_plies=options.plies(),
        seed=options.seed,
    )
    with resumable(out):
        tuned = by_strength.tune_strength(tuning, tuning_folder(out, options), say)
    figure = tuned.figure()
    write_figures([] if figure is None else [figure], csv=out)
    print(json_format.dumps(tuned.to_json(), indent=2) if options.json else by_strength.report(tuned))


def ratio(
    player: str,
    *,
    parameter: str,
    out: Path,
    target: float = 1.0,
    direction: Literal["rises", "falls"] | None = None,
    games: int = 40,
    most_games: int = 400,
    precision: float = 1.5,
    options: PlayOptions = PlayOptions(),  # noqa: B008  (immutable)
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
    games
        Games at a value at a time.
    most_games
        Games in all.
    precision
        It ends sooner where the 95 % interval of the value is narrower than this factor from end to end.
    """
    given = parse_player(player)
    found, rising = ratio_parameter(parameter, direction, given)
    tuning = by_ratio.RatioTuning(
        make(options.game).spec,
        given,
        found,
        target,
        rising,
        games=games,
        most_games=most_games,
        precision=precision,
        random_plies=options.plies(0),
        seed=options.seed,
    )
    with resumable(out):
        tuned = by_ratio.tune_to_ratio(tuning, tuning_folder(out, options), say)
    values = by_ratio.to_json(tuning, tuned)
    print(json_format.dumps(values, indent=2) if options.json else by_ratio.report(tuning, tuned))


def tuning_folder(path: Path, options: PlayOptions) -> TuningFolder:
    """Return where the matches are played, and with what."""
    openings = tuple(options.read_openings(make(options.game)))
    return TuningFolder(path, options.resources, openings, options.openings, watch=watched)


def ratio_parameter(
    text: str, direction: Literal["rises", "falls"] | None, player: PlayerSettings
) -> tuple[Parameter, bool]:
    """The setting with its bounds, and whether the ratio rises; ValueError where one of them has to be given."""
    known = KNOWN_RATIOS.get(value_key(text.partition("=")[0]))
    if known is None and (direction is None or "=" not in text):
        raise ValueError(f"--parameter {text}: bounds (KEY=LOW:HIGH) and --direction rises or falls must be given")
    bounds, rising = known or ("", True)
    found = parse_parameter(text if "=" in text else text + bounds, player)
    return found, rising if direction is None else direction == "rises"


def say(line: str) -> None:
    """Print what was done on stderr: stdout is for the result."""
    print(line, file=sys.stderr, flush=True)


def watched(match: Match) -> AbstractContextManager[None]:
    """Shows a match while it is played, on a terminal; elsewhere the lines of the iterations are enough."""
    return shown(match, progress_line, match_table) if sys.stderr.isatty() else nullcontext()


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """After Ctrl-C it says how the tuning goes on."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"\ntuning interrupted; the same command goes on with it in {out}", file=sys.stderr)
        raise
