"""hauteur tune: settings of players found by games."""

import json as json_format
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import cyclopts

from hauteur.cli.commands.game_options import PlayOptions
from hauteur.cli.commands.options import PlayerText
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions
from hauteur.games.registry import load_game
from hauteur.matches.openings import openings_name
from hauteur.matches.report.pages import renew_page
from hauteur.matches.tuning import Schedule, StrengthTuning, TuningFolder, parse_parameters, report, tune_strength
from hauteur.players.build import as_played
from hauteur.players.settings import parse_player


def strength(
    player: PlayerText,
    *,
    parameter: Annotated[tuple[str, ...], cyclopts.Parameter(negative=())],
    out: Path,
    opponent: PlayerText | None = None,
    iterations: int = 50,
    games: int = 40,
    verification: int = 400,
    spread: float = 0.2,
    step: float = 0.3,
    options: PlayOptions = PlayOptions(),  # noqa: B008  (immutable)
) -> None:
    """Tune a player's settings for strength by SPSA; an interrupted tuning resumes.

    In each iteration all settings are perturbed, and the player plays itself with all of them perturbed the other way;
    then they move towards the winning side. At the end the tuned player plays the given one to measure the gain.

    Parameters
    ----------
    player
        Player to tune, as in `hauteur match`; tuning starts from its values.
    parameter
        KEY=LOW:HIGH, any setting that is a number, by its key of a player, with bounds: cpuct.init=0.5:3. With :log
        after them, steps are factors, not differences: search-contempt.n-scl=1:100:log. May be repeated: all are tuned
        together.
    out
        Folder of the matches and the result; the same command resumes in it.
    opponent
        A player that both sides play instead of each other; the result is then tuned against that one, and needs about
        four times the games.
    iterations
        Number of moves of the settings. Cannot be changed later: the steps shrink towards the end.
    games
        Games per iteration.
    verification
        Games of the tuned against the given player at the end; 0: none.
    spread
        Initial distance of both sides from the middle, as a share of the range between the bounds.
    step
        Step of the settings in the first iteration if one side wins all games, as a share of the range.
    """
    game = load_game(options.game)
    given = as_played(game, parse_player(player))
    tuning = StrengthTuning(
        game.spec,
        given,
        parse_parameters(parameter, given),
        Schedule(iterations, spread, step),
        opponent=None if opponent is None else as_played(game, parse_player(opponent, "opponent")),
        games=games,
        verification=verification,
        random_plies=options.plies(),
        seed=options.seed,
    )
    with resumable(out):
        openings = tuple(options.read_openings(game))
        name = openings_name(options.openings) if options.openings else ""
        with open_scheduler(WorkerOptions(options.workers, options.cluster, options.threads)) as scheduler:
            folder = TuningFolder(out, options.resources, openings, name, scheduler)
            tuned = tune_strength(tuning, folder, say)
    text = json_format.dumps(tuned.to_json(), indent=2) if options.json else report(tuned)
    print(text)


def say(line: str) -> None:
    """Print what was done on stderr: stdout is for the result."""
    print(line, file=sys.stderr, flush=True)


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Write the page of the tuning at the end; print on Ctrl-C that the same command resumes it."""
    try:
        yield
    except KeyboardInterrupt:
        renew_page(out)
        print(f"\ntuning interrupted; the same command goes on with it in {out}", file=sys.stderr)
        raise
    renew_page(out)
