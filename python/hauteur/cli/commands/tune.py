"""hauteur tune: settings of players found by games."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import cyclopts

from hauteur.cli.commands.match_options import RANDOM_PLIES
from hauteur.cli.commands.match_view import match_table, progress_line, shown
from hauteur.cli.commands.options import Seed
from hauteur.games.registry import make
from hauteur.matches.match import Match
from hauteur.matches.openings import read_openings
from hauteur.matches.tuning import ratio as by_ratio
from hauteur.matches.tuning import strength as by_strength
from hauteur.matches.tuning.folder import TuningFolder
from hauteur.matches.tuning.parameters import Parameter, parse_parameter, parse_parameters
from hauteur.matches.tuning.spsa import Schedule
from hauteur.networks.evaluators.base import Backend
from hauteur.players.build import Resources
from hauteur.players.settings import PlayerSettings, parse_player, value_key
from hauteur.plots import write_figures

KNOWN_RATIOS: dict[tuple[str, ...], tuple[str, bool]] = {
    ("search", "search_contempt", "n_scl"): ("=1:1000:log", False),
    ("temperature", "initial"): ("=0.05:5:log", True),
}
"""Bounds, and whether (w + l)/d rises, of the settings that the papers tune so."""


@cyclopts.Parameter(name="*")
@dataclass(frozen=True)
class TuneOptions:
    """How the games of a tuning are played and shown."""

    game: str = "chess"
    """The game, e.g. chess, connect4."""
    openings: Path | None = None
    """File with one opening a line: an EPD or FEN (chess, minichess), or moves; or the games of a .pgn (chess)."""
    random_plies: int | None = None
    """Without openings: uniformly random plies that games begin with. Default: 4 for strength, 0 for a ratio."""
    parallel: int = 64
    """Games at a time."""
    batch_size: int | None = None
    """Most positions evaluated together. Default: half of --parallel; the other half is gathered meanwhile."""
    threads: int = 0
    """Threads of a net on the processor, and of the players without one; 0: one a core."""
    backend: Backend | None = None
    """What computes the nets. Default: torch where there is a GPU, else openvino."""
    seed: Seed = 0
    """Of all random draws."""
    json: bool = False
    """Print the result as one JSON object."""

    @property
    def spec(self) -> str:
        """The game's, written out."""
        return make(self.game).spec

    def plies(self, otherwise: int) -> int:
        """Random plies; ValueError where openings were given too."""
        if self.openings is not None and self.random_plies:
            raise ValueError(
                f"--openings and --random-plies exclude each other, got {self.openings} and {self.random_plies}"
            )
        return 0 if self.openings is not None else otherwise if self.random_plies is None else self.random_plies

    def folder(self, path: Path) -> TuningFolder:
        """Where it is done, and with what."""
        resources = Resources(self.parallel, self.batch_size, self.threads, self.backend)
        openings = () if self.openings is None else tuple(read_openings(self.openings, make(self.game)))
        return TuningFolder(path, resources, openings, self.openings, watch=watched)


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
    options: TuneOptions = TuneOptions(),
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
        options.spec,
        given,
        parse_parameters(parameter, given),
        Schedule(iterations, spread, step),
        opponent=None if opponent is None else parse_player(opponent, "opponent"),
        games=games,
        verification=verification,
        random_plies=options.plies(RANDOM_PLIES),
        seed=options.seed,
    )
    with resumable(out):
        tuned = by_strength.tune_strength(tuning, options.folder(out), say)
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
    options: TuneOptions = TuneOptions(),
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
        options.spec,
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
        tuned = by_ratio.tune_to_ratio(tuning, options.folder(out), say)
    values = by_ratio.to_json(tuning, tuned)
    print(json_format.dumps(values, indent=2) if options.json else by_ratio.report(tuning, tuned))


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
    """Tells what was done, on stderr: stdout is for the result."""
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
