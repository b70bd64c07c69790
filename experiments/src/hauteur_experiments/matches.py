"""Matches of an experiment: each in a folder of its own below the experiment's, resumed by the match itself.

Self-play of one setting is a match with the same player on both sides and `colours="first"`: A is then always the
first player, and the tally counts what White won, drew and lost. Each side has a tree of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match, MatchSettings
from hauteur.matches.openings import read_openings
from hauteur.matches.results import MatchGame, Tally, summary
from hauteur.networks.evaluators.factory import evaluations_per_second
from hauteur.networks.names import resolve_net
from hauteur.players.build import Evaluators, Resources, is_builtin, resolved_net
from hauteur.players.settings import Colours, PlayerSettings
from hauteur.system.files import write_bytes
from hauteur_experiments.experiment import ExperimentSetting

SHOW_SECONDS = 30.0
"""Seconds between two lines of progress of a match."""

EVALUATIONS_A_VISIT = 0.5
"""Evaluations that a visit costs where the tree of the move before is kept: the rest was there already."""

OVERHEAD = 1.25
"""Time of a match over that of its evaluations one after another in full batches."""


@dataclass(frozen=True)
class MatchSpec:
    """A match of an experiment.

    name: of its folder; a, b: the players; games: already scaled; openings: lines as in a file of openings, None: games
    begin at the start and, after it, with `random_plies`.
    """

    name: str
    a: PlayerSettings
    b: PlayerSettings
    games: int
    game: str = "chess"
    colours: Colours = "swap"
    random_plies: int = 0
    openings: Sequence[str] = ()
    seed: int = 1
    max_plies: int | None = None


@dataclass
class PlayedMatch:
    """A match that is over: its numbers, and its games in order. Of several seeds, all games one after another."""

    spec: MatchSpec
    tally: Tally
    games: list[MatchGame]


def play_matches(setting: ExperimentSetting, specs: Iterable[MatchSpec]) -> dict[str, PlayedMatch]:
    """Play each match, once a seed of the setting, going on where it was; by name.

    Where the setting names some, those alone are played; of the others those are in the answer that are over.
    """
    return {spec.name: _play_seeds(setting, spec) for spec in wanted(setting, specs)}


def wanted(setting: ExperimentSetting, specs: Iterable[MatchSpec]) -> list[MatchSpec]:
    """The matches that the setting names or that are over; all, where it names none. ValueError for unknown names."""
    every = list(specs)
    names = [spec.name for spec in every]
    unknown = [name for name in setting.only if name not in names]
    if unknown:
        raise ValueError(f"--only {unknown[0]}: this experiment has no such match; it has {', '.join(names)}")
    return [spec for spec in every if spec.name in setting.only or is_over(setting, spec) or not setting.only]


def is_over(setting: ExperimentSetting, spec: MatchSpec) -> bool:
    """Return whether all games of the match have been played, with the first seed."""
    games = {game.index for game in MatchFolder(setting.folder / spec.name).games()}
    return games.issuperset(range(spec.games))


def _play_seeds(setting: ExperimentSetting, spec: MatchSpec) -> PlayedMatch:
    played = PlayedMatch(spec, Tally(spec.colours == "swap"), [])
    for number in range(setting.seeds):
        seed = spec.seed + setting.first_seed - 1 + number
        name = spec.name if number == 0 else f"{spec.name}-seed-{seed}"
        for game in _play(setting, replace(spec, name=name, seed=seed)):
            moved = game.model_copy(update={"index": game.index + number * spec.games})
            played.games.append(moved)
            played.tally.add(moved)
    return played


def _play(setting: ExperimentSetting, spec: MatchSpec) -> list[MatchGame]:
    """The games of a match, in order; those that are missing are played."""
    match = match_of(setting, spec)
    shown = time.monotonic()
    with closing(match.play()) as games:
        for _ in games:
            if time.monotonic() - shown > SHOW_SECONDS:
                shown = time.monotonic()
                setting.show(f"{spec.name}: {match.tally.record.games} of {spec.games}  {summary(match.tally)}")
    unchecked = f"  {match.tally.unchecked_text}" if match.tally.unchecked else ""
    setting.show(f"{spec.name}: {match.tally.record.games} games  {summary(match.tally)}{unchecked}")
    found = {game.index: game for game in MatchFolder(setting.folder / spec.name).games()}
    return [found[index] for index in range(spec.games)]


def match_of(setting: ExperimentSetting, spec: MatchSpec) -> Match:
    """Return the match that is specified, in its folder; its nets are not opened yet."""
    game = load_game(spec.game)
    file = _openings_file(setting.folder, spec) if spec.openings else None
    return Match(
        game=game,
        settings=MatchSettings(
            game=game.spec,
            a=spec.a,
            b=spec.b,
            games=spec.games,
            colours=spec.colours,
            random_plies=spec.random_plies,
            seed=spec.seed,
            max_plies=spec.max_plies,
        ),
        openings=() if file is None else read_openings(file, game),
        openings_file=file,
        resources=_resources(setting),
        folder=MatchFolder(setting.folder / spec.name),
    )


def _openings_file(folder: Path, spec: MatchSpec) -> Path:
    """The openings as a file, whose content the match remembers."""
    path = folder / f"{spec.name}.openings.epd"
    write_bytes(path, "".join(f"{line}\n" for line in spec.openings).encode())
    return path


def _resources(setting: ExperimentSetting) -> Resources:
    scheduler, workers = setting.scheduler, setting.workers
    return Resources(parallel=setting.parallel, threads=setting.threads, scheduler=scheduler, workers=workers)


USUAL_PLIES = {"chess": 120.0, "minichess": 45.0, "connect4": 34.0, "tictactoe": 8.0}
"""Plies of a game between nets; of other games three quarters of the most that there can be."""


def usual_plies(game: _core.Game) -> float:
    """Return plies of a game, for estimates."""
    return USUAL_PLIES.get(game.name, 0.75 * game.max_plies)


def match_seconds(setting: ExperimentSetting, specs: Iterable[MatchSpec], plies: float | None = None) -> float:
    """Seconds that the matches take on this machine: evaluations that games of so many plies need, and the speed of
    the nets, which is measured for a moment. plies: None for the usual number. Players without a net count nothing.
    """
    seconds = 0.0
    for spec in specs:
        game = load_game(spec.game)
        moves = (usual_plies(game) if plies is None else plies) / 2
        for player in (spec.a, spec.b):
            for net, visits in _work(game, player):
                seconds += spec.games * moves * visits / net_speed(setting, game, net, player)
    return seconds * OVERHEAD * setting.seeds


_speeds: dict[tuple[object, ...], float] = {}


def net_speed(setting: ExperimentSetting, game: _core.Game, net: str, player: PlayerSettings) -> float:
    """Return the evaluations of a player's net a second, in full batches; measured for a moment, once in a process."""
    resources, file = _resources(setting), resolve_net(net)
    content = file if is_builtin(file) else (file, Path(file).stat().st_mtime_ns)
    key = game.spec, content, player.precision, resources.rows, resources.cores
    if key not in _speeds:
        with Evaluators(game, resources) as evaluators:
            _speeds[key] = evaluations_per_second(evaluators.get(net, player))
    return _speeds[key]


def _work(game: _core.Game, player: PlayerSettings) -> list[tuple[str, float]]:
    """Return the nets of a player with their evaluations per move."""
    if not player.has_net:
        return []
    share = EVALUATIONS_A_VISIT if player.search.reuse_tree else 1.0
    found = [(resolved_net(game, player), player.visits * share)]
    if player.large_net is not None and player.search.second_net is not None:
        ratio = player.search.second_net.large_visits / max(1, player.search.second_net.small_visits)
        found.append((player.large_net, player.visits * ratio * share))
    return found
