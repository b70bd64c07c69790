"""The shared grid: matches between players that are texts, each in a folder of its own, resumed by the match itself.

Self-play of one setting is a match with the same player on both sides and `colours="first"`: A is then always the first
player, and the tally counts what White won, drew and lost. Each side has a tree of its own.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

import hauteur as ht
from hauteur_experiments.experiment import Setting, finite, write_whole
from hauteur_experiments.verdict import Measured

COLOURS = ("blue", "orange", "green", "purple", "sky", "gold", "ink")
"""Colours of lines, in the order in which they are given out."""

APART = 0.12
"""Distance of the points of a place in a figure."""

SHOW_SECONDS = 30.0
"""Seconds between two lines of progress of a match."""

EVALUATIONS_A_VISIT = 0.5
"""Evaluations that a visit costs where the tree of the move before is kept: the rest was there already."""

OVERHEAD = 1.25
"""Time of a match over that of its evaluations one after another in full batches."""

SIMULATIONS_A_SECOND = 120_000
"""Of the players without a net on NoGo 9x9, on one core (docs/reference/players.md)."""

USUAL_PLIES = {"chess": 120, "minichess": 50, "connect4": 34, "tictactoe": 8}
"""Plies of a game between nets; of other games 85 % of the board's points."""


@dataclass(frozen=True)
class Match:
    """A match of an experiment.

    name: of its folder; a, b: the players as text; games: already scaled; openings: lines as in a file of openings;
    without them games begin at the start and, after it, with `random_plies`.
    """

    name: str
    a: str
    b: str
    games: int
    game: str = "chess"
    colours: Literal["swap", "first", "second", "mover"] = "swap"
    random_plies: int = 0
    openings: Sequence[str] = ()
    seed: int = 1


@dataclass
class Played:
    """A match that is over: its numbers, and its games in order. Of several seeds, all games one after another."""

    match: Match
    tally: ht.Tally
    games: list[Any]


def with_net(words: str, net: Path | str | None) -> str:
    """Return the text of a player with this net; None: that of its game."""
    return words if net is None else f"{shlex.quote(f'net={net}')} {words}"


def play(setting: Setting, matches: Iterable[Match], *, shared: bool = False) -> dict[str, Played]:
    """Play each match, once a seed of the setting, going on where it was; by name.

    Where the setting names some, those alone are played; of the others those are in the answer that are over. shared: a
    match of the same name and settings that an experiment in a folder beside this one has begun is gone on with there.
    """
    return {match.name: _play_seeds(setting, match, shared=shared) for match in chosen(setting, matches)}


def chosen(setting: Setting, matches: Iterable[Match]) -> list[Match]:
    """The matches that the setting names or that are over; all, where it names none. ValueError for unknown names."""
    every = list(matches)
    names = [match.name for match in every]
    unknown = [name for name in setting.only if name not in names]
    if unknown:
        raise ValueError(f"--only {unknown[0]}: this experiment has no such match; it has {', '.join(names)}")
    return [one for one in every if not setting.only or one.name in setting.only or is_over(setting, one)]


def is_over(setting: Setting, match: Match) -> bool:
    """Return whether all games of the match have been played, with the first seed."""
    file = setting.folder / match.name / "games.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {json.loads(line)["index"] for line in lines if line.endswith("}")}.issuperset(range(match.games))


def _play_seeds(setting: Setting, match: Match, *, shared: bool) -> Played:
    played = Played(match, ht.Tally(match.colours == "swap"), [])
    for number, own in enumerate(setting.seed_numbers):
        seed = match.seed + own - 1
        name = match.name if number == 0 else f"{match.name}-seed-{seed}"
        for game in _play(setting, replace(match, name=name, seed=seed), shared=shared):
            moved = game.model_copy(update={"index": game.index + number * match.games})
            played.games.append(moved)
            played.tally.add(moved)
    return played


def _play(setting: Setting, match: Match, *, shared: bool) -> Sequence[Any]:
    """The games of a match in order; those that are missing are played."""
    own = setting.folder / match.name
    beside = sorted(setting.folder.absolute().parent.glob(f"*/{match.name}/match.json")) if shared else []
    for file in [] if (own / "match.json").exists() else beside:
        try:
            games = _played(setting, match, file.parent)
        except ValueError as error:
            if "with other settings" not in str(error):
                raise
        else:
            setting.show(f"{match.name}: with the games of {file.parent}")
            return games
    return _played(setting, match, own)


def _played(setting: Setting, match: Match, folder: Path) -> Sequence[Any]:
    shown, done = [time.monotonic()], [0]

    def on_game(_: object) -> None:
        done[0] += 1
        if time.monotonic() - shown[0] > SHOW_SECONDS:
            shown[0] = time.monotonic()
            setting.show(f"{match.name}: {done[0]} games more of {match.games}")

    found = ht.play_match(
        match.a,
        match.b,
        match.game,
        games=match.games,
        seed=match.seed,
        openings=_openings_file(folder, match) if match.openings else None,
        random_plies=match.random_plies,
        colours=match.colours,
        parallel=setting.parallel,
        threads=setting.threads,
        out=folder,
        on_game=on_game,
        progress=False,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    low, high = found.elo_interval
    score = f"score {found.score:.1%}, Elo {found.elo:+.0f} [{low:+.0f}, {high:+.0f}]"
    setting.show(f"{match.name}: {len(found.games)} games, +{found.wins} ={found.draws} -{found.losses}, {score}")
    return found.games


def _openings_file(folder: Path, match: Match) -> Path:
    """The openings as a file beside the match's folder, whose content the match remembers."""
    path = folder.parent / f"{match.name}.openings.epd"
    text = "".join(f"{line}\n" for line in match.openings)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
    return path


def points(
    name: str, xs: Sequence[float], measured: Sequence[Measured], colour: str, *, scale: float = 1.0, **style: bool
) -> ht.Series:
    """Return measured quantities times `scale` with their intervals of 95 %; what is not finite is left out.

    style: as of `ht.Series`; points are not joined by default.
    """
    ends = [(one.value, *one.interval(0.95)) for one in measured]
    values, low, high = ([finite(scale * end[place]) for end in ends] for place in range(3))
    return ht.Series(name, xs, values, colour, low=low, high=high, **{"joined": False, **style})


# -- estimates ---------------------------------------------------------------------------------------------------------


def seconds_of(setting: Setting, matches: Iterable[Match]) -> float:
    """Seconds that the matches take on this machine: the evaluations of games of the usual length, at the speed of the
    nets, which is measured for a moment, and the simulations of players without one.
    """
    seconds = 0.0
    for match in matches:
        for player in map(ht.Player.from_text, (match.a, match.b)):
            moves = match.games * usual_plies(match.game) / 2
            if player.baseline is not None:
                number = player.baseline.partition(":")[2]
                seconds += moves * (int(number) if number.isdecimal() else 0) / SIMULATIONS_A_SECOND / setting.threads
            elif player.has_net:
                rule = player.search.second_net
                visits = player.visits * (EVALUATIONS_A_VISIT if player.search.reuse_tree else 1.0)
                seconds += moves * visits / net_speed(setting, match.game, player.net) * OVERHEAD
                if player.opponent_net is not None:
                    seconds += moves * visits / 2 / net_speed(setting, match.game, player.opponent_net) * OVERHEAD
                if rule is not None and player.large_net is not None:
                    large = visits * rule.large_visits / max(1, rule.small_visits)
                    seconds += moves * large / net_speed(setting, match.game, player.large_net) * OVERHEAD
    return seconds * len(setting.seed_numbers)


_speeds: dict[tuple[object, ...], float] = {}


def net_speed(setting: Setting, game: str, net: Path | str | None, seconds: float = 0.3) -> float:
    """Return the evaluations of a net a second, in full batches; measured for a moment, once in a process."""
    stamp = Path(net).stat().st_mtime_ns if net is not None and Path(net).is_file() else 0
    key = game, str(net), stamp, setting.threads
    if key not in _speeds:
        with ht.evaluator(game, net, threads=setting.threads) as evaluator:
            features = np.zeros((evaluator.batch_size, *evaluator.feature_shape), np.float32)
            evaluator(features)  # the first batch also prepares the engine
            done, started = 0, time.perf_counter()
            while time.perf_counter() - started < seconds:
                evaluator(features)
                done += len(features)
            _speeds[key] = done / (time.perf_counter() - started)
    return _speeds[key]


def usual_plies(game: str) -> float:
    """Return plies of a game, for estimates."""
    rules = ht.load_game(game)
    return USUAL_PLIES.get(rules.name, 0.85 * rules.feature_shape[1] * rules.feature_shape[2])
