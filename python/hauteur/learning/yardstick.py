"""The yardstick of a run: matches of its best nets with one opponent that does not change, every few generations.

Without it a run of a game that cannot be solved shows no measure of strength: losses are of moving targets, and Elo
over its own first net says little. The results are one file of the run's folder, `yardstick.json`, so each net is
measured once. As with exact play, no game or net of the run depends on it, and its cost is kept apart from the run's.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hauteur import _core
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import YardstickSettings
from hauteur.matches.play import play_match
from hauteur.players.build import Evaluators, Resources, build_player
from hauteur.players.player import Player
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player
from hauteur.system.files import read_json, write_json

if TYPE_CHECKING:
    from hauteur.learning.context import Run


def check_yardstick(folder: RunFolder, game: _core.Game, settings: YardstickSettings) -> None:
    """Raise ValueError or OSError, before a run begins or is resumed, where its opponent cannot play this game.

    Likewise where the folder has results of other conditions.
    """
    _content(folder, settings)
    with Evaluators(game, Resources(parallel=1, threads=1)) as evaluators:
        player = build_player(game, parse_player(settings.opponent), evaluators, "yardstick.opponent")
        if not isinstance(player, SearchPlayer):
            player.close()


def measure_nets(run: Run) -> None:
    """Measure the run's best nets that are due and were not measured yet: every few generations, and the last one.

    Nets that are no longer there are left out. Raise ValueError for a file that is damaged or of another yardstick, and
    KeyboardInterrupt where the user ends a match: it is played when the run is resumed.
    """
    settings = run.recipe.yardstick
    if settings is None:
        return
    content = _content(run.folder, settings)
    best = [line["best"] for line in run.state.history]
    due = set(best[settings.every - 1 :: settings.every])
    if run.is_over:
        due.update(best[-1:])
    for net in sorted(due - {int(name) for name in content["nets"]}):
        if not run.folder.net(net).exists():
            continue
        result = play_yardstick(run.folder, run.game, settings, net, threads=run.recipe.run.threads)
        content["nets"][str(net)] = result
        write_json(run.folder.yardstick, content)
        low, high = result["score_interval_95"]
        run.display.show(
            f"net of generation {net} against {settings.opponent}: {result['score']:.1%} [{low:.1%}, {high:.1%}]"
            f" of {result['games']} games"
        )


def _content(folder: RunFolder, settings: YardstickSettings) -> dict[str, Any]:
    """Return what the file holds so far; raise ValueError where another yardstick measured in it."""
    # How often is measured may change: it says which nets are measured, not by what.
    conditions = settings.model_dump(mode="json", exclude={"every"})
    if not folder.yardstick.exists():
        return {**conditions, "nets": {}}
    content = read_json(folder.yardstick)
    again = "delete it, and nets are measured again"
    nets = content.get("nets")
    if not isinstance(nets, dict) or not all(name.isdecimal() for name in nets):
        raise ValueError(f"{folder.yardstick} is not what a run wrote: {again}")
    for name, value in conditions.items():
        if content.get(name) != value:
            raise ValueError(f"{folder.yardstick} was measured with {name} {content.get(name)}, not {value}: {again}")
    return content


def play_yardstick(
    folder: RunFolder,
    game: _core.Game,
    settings: YardstickSettings,
    net: int,
    *,
    threads: int,
) -> dict[str, Any]:
    """Play the match of a net; return its result as the file has it, from the net's view.

    Its cpu_seconds are those of this process: an opponent that is a separate program takes more.
    """
    began = time.process_time()
    match = play_match(
        Player(folder.net(net), visits=settings.visits, name=f"gen-{net}"),
        settings.opponent,
        game,
        games=settings.games,
        # One seed for all nets, so that they are measured from the same openings.
        seed=1,
        random_plies=settings.opening_plies,
        max_plies=settings.max_plies,
        threads=threads,
        progress=False,
    )
    # The file has whole matches alone: a part of one would never be played to its end.
    if match.interrupted:
        raise KeyboardInterrupt
    return {
        "games": len(match.games),
        "wins": match.wins,
        "draws": match.draws,
        "losses": match.losses,
        "score": match.score,
        "score_interval_95": list(match.score_interval),
        "cpu_seconds": time.process_time() - began,
    }
