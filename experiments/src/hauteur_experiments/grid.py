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

import hauteur as ht
from hauteur_experiments.files import write_whole
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Measured, finite

COLOURS = ("blue", "orange", "green", "purple", "sky", "gold", "ink")
"""Colours of lines, in the order in which they are given out."""

APART = 0.12
"""Distance of the points of a place in a figure."""

SHOW_SECONDS = 30.0
"""Seconds between two lines of progress of a match."""


@dataclass(frozen=True)
class Match:
    """A match of an experiment."""

    name: str
    """Name of its folder."""
    a: str
    """Player A as text."""
    b: str
    """Player B as text."""
    games: int
    """Games, already scaled."""
    game: str = "chess"
    """Spec of the game."""
    colours: Literal["swap", "first", "second", "mover"] = "swap"
    """Who moves first, as in `MatchSettings`."""
    random_plies: int = 0
    """Uniformly random plies at the start of a game, where there are no openings."""
    openings: Sequence[str] = ()
    """Lines as in a file of openings."""
    seed: int = 1
    """Seed of all random draws."""


@dataclass
class Played:
    """A match that is over: its numbers, and its games in order. Of several seeds, all games one after another."""

    match: Match
    tally: ht.Tally
    games: list[Any]


def with_net(words: str, net: Path | str | None, precision: str | None = None) -> str:
    """Return the text of a player with this net in this precision; None: those of its game and backend."""
    if net is not None:
        words = f"{shlex.quote(f'net={net}')} {words}"
    return words if precision is None else f"{words} precision={precision}"


def play(setting: Setting, matches: Iterable[Match], *, shared: bool = False) -> dict[str, Played]:
    """Play each match, once a seed of the setting, resuming where it was; by name.

    Where the setting names some, those alone are played; of the others those are in the answer that are over. shared: a
    match of the same name and settings that an experiment in a neighbouring folder has begun is resumed there,
    which result.json says.
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
    whole = [line for line in lines if line.endswith("}")]
    played = {json.loads(line)["index"] for line in whole}
    return played.issuperset(range(match.games))


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
            setting.borrowed[match.name] = f"{file.parent.parent.name}/{file.parent.name}"
            setting.show(f"{match.name}: with the games of {file.parent}")
            return games
    return _played(setting, match, own)


def _played(setting: Setting, match: Match, folder: Path) -> Sequence[Any]:
    shown = [time.monotonic()]
    done = [0]

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
        threads=0 if setting.workers else setting.threads,
        workers=setting.workers,
        out=folder,
        on_game=on_game,
        progress=False,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    low, high = found.elo_interval
    score = f"score {found.score:.1%}, Elo {found.elo:+.0f} [{low:+.0f}, {high:+.0f}]"
    record = f"+{found.wins} ={found.draws} -{found.losses}"
    setting.show(f"{match.name}: {len(found.games)} games, {record}, {score}")
    return found.games


def _openings_file(folder: Path, match: Match) -> Path:
    """The openings as a file next to the match's folder, whose content the match remembers."""
    path = folder.parent / f"{match.name}.openings.epd"
    text = "".join(f"{line}\n" for line in match.openings)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)
    return path


def points(
    name: str,
    xs: Sequence[float],
    measured: Sequence[Measured],
    colour: str,
    *,
    scale: float = 1.0,
    **style: bool,
) -> ht.Series:
    """Return measured quantities times `scale` with their intervals of 95 %; what is not finite is left out.

    style: as of `ht.Series`; points are not joined by default.
    """
    values = [finite(scale * one.value) for one in measured]
    intervals = [one.interval(0.95) for one in measured]
    low = [finite(scale * end) for end, _ in intervals]
    high = [finite(scale * end) for _, end in intervals]
    return ht.Series(name, xs, values, colour, low=low, high=high, **{"joined": False, **style})


def check(matches: Iterable[Match]) -> None:
    """Raise ValueError for a player that is none, and for a net that is not for the game of its match."""
    nets = set[tuple[str, str | None]]()
    for match in matches:
        for player in map(ht.Player.from_text, (match.a, match.b)):
            if player.has_net:
                others = (net for net in (player.opponent_net, player.large_net) if net is not None)
                nets |= {(match.game, net) for net in (player.net, *others)}
    for game, net in nets:
        with ht.evaluator(game, net, threads=1):
            pass
