"""The yardstick of a run: matches of its best nets with one opponent that does not change, every few generations.

Without it a run of a game that cannot be solved shows no measure of strength: losses are of moving targets, and Elo
over its own first net says little. The results are one file of the run's folder, `yardstick.json`, so each net is
measured once. As with exact play, no game or net of the run depends on it, and its cost is kept apart from the run's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from hauteur import _core
from hauteur.learning.recipe import YardstickSettings
from hauteur.learning.run_folder import RunFolder
from hauteur.matches.play import play_match
from hauteur.players.build import Evaluators, Resources, build_player
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player
from hauteur.system.files import read_json, write_json


def check_yardstick(folder: RunFolder, game: _core.Game, settings: YardstickSettings) -> None:
    """Raise ValueError or OSError, before a run begins or goes on, where its opponent cannot play this game.

    Likewise where the folder has results of other conditions.
    """
    _content(folder, settings)
    with Evaluators(game, Resources(parallel=1, threads=1)) as evaluators:
        player = build_player(game, parse_player(settings.opponent), evaluators, "yardstick.opponent")
        if not isinstance(player, SearchPlayer):
            player.close()


def measure_nets(
    folder: RunFolder,
    game: _core.Game,
    settings: YardstickSettings,
    best: Sequence[int],
    *,
    last: int,
    threads: int,
    show: Callable[[str], None],
) -> None:
    """Measure the best nets that are due and were not measured yet.

    best: generation of the best net after each generation, from 1; last: the run's last generation, which is due too.
    threads: of the processor for the match; 0: one a core. show: takes a line a match. Raise ValueError for a file that
    is damaged or of another yardstick, and KeyboardInterrupt where the user ends a match: it is played again.
    """
    content = _content(folder, settings)
    due = {net for generation, net in enumerate(best, 1) if generation % settings.every == 0 or generation == last}
    for net in sorted(due - {int(name) for name in content["nets"]}):
        if not folder.net(net).exists():
            continue
        result = play_yardstick(folder, game, settings, net, threads=threads)
        content["nets"][str(net)] = result
        write_json(folder.yardstick, content)
        low, high = result["score_interval_95"]
        show(
            f"net of generation {net} against {settings.opponent}: {result['score']:.1%} [{low:.1%}, {high:.1%}]"
            f" of {result['games']} games"
        )


def _content(folder: RunFolder, settings: YardstickSettings) -> dict[str, Any]:
    """Return what the file holds so far; ValueError where another yardstick measured in it."""
    conditions = settings.model_dump(mode="json", exclude={"every"})
    if not folder.yardstick.exists():
        return {**conditions, "nets": {}}
    content = read_json(folder.yardstick)
    again = "delete it, and nets are measured again"
    if not isinstance(content.get("nets"), dict):
        raise ValueError(f"{folder.yardstick} is not what a run wrote: {again}")
    for name, value in conditions.items():
        if content.get(name) != value:
            raise ValueError(f"{folder.yardstick} was measured with {name} {content.get(name)}, not {value}: {again}")
    return content


def play_yardstick(
    folder: RunFolder, game: _core.Game, settings: YardstickSettings, net: int, *, threads: int
) -> dict[str, Any]:
    """Play the match of a net; return its result as the file has it, from the net's view."""
    began = time.process_time()
    match = play_match(
        f'"net={folder.net(net)}" visits={settings.visits} name=gen-{net}',
        settings.opponent,
        game,
        games=settings.games,
        seed=1,
        random_plies=settings.opening_plies,
        max_plies=settings.max_plies,
        threads=threads,
        progress=False,
    )
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
