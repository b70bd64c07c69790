"""Damaged, missing and exchanged files among those that a learning run has written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from hauteur.learning.checkpoint import load_checkpoint
from hauteur.learning.run_folder import RunFolder
from hauteur.networks.files import SafetensorsFile
from hauteur.system.errors import one_line
from hauteur.system.files import read_json


def run_problems(folder: RunFolder, *, games: bool = False) -> Iterator[str]:
    """Yield a line for each file of finished generations that is not as it was written: checkpoint, nets, gate.

    games: look at the files of games too, which takes longer and needs pyarrow. ValueError where there is no run.
    """
    recipe, history = folder.stored_recipe(), folder.read_metrics()
    begun = bool(history) or folder.read_start() is not None
    if begun or folder.checkpoint.exists():
        yield from _problem(folder.checkpoint, load_checkpoint)
    for large in (False, True)[: 1 if recipe.large is None else 2]:
        for generation in range(len(history) + 1 if begun else 0):
            yield from _problem(folder.net(generation, large=large), partial(_check_net, generation=generation))
        if history and not any(_problem(folder.net(history[-1]["best"], large=large), _check_net)):
            best = folder.net(history[-1]["best"], large=large).read_bytes()
            yield from _problem(folder.best(large=large), partial(_check_copy, content=best))
    for line in history:
        yield from _problem(folder.gate(line["generation"]), partial(_check_gate, line=line))
    if games:
        yield from _game_problems(folder, recipe.game, recipe.selfplay.games, recipe.selfplay.shard_games, len(history))


def _problem(path: Path, check: Callable[[Path], object]) -> Iterator[str]:
    """Yield what is wrong with a file, if anything."""
    if not path.exists():
        yield f"{path}: is missing"
        return
    try:
        check(path)
    except (ValueError, OSError) as error:
        yield one_line(error)


def _check_net(path: Path, generation: int | None = None) -> None:
    """Raise ValueError unless the net is whole, and the one of this generation."""
    net = SafetensorsFile(path)
    net.tensors()
    found = net.training.get("generation")
    if None not in (generation, found) and found != generation:
        raise ValueError(f"{path}: is the net of generation {found}")


def _check_copy(path: Path, content: bytes) -> None:
    if path.read_bytes() != content:
        raise ValueError(f"{path}: is not a copy of the best net")


def _check_gate(path: Path, line: dict[str, Any]) -> None:
    """Raise ValueError unless the decision of the gate is the one in the metrics of its generation."""
    if read_json(path) != line.get("gate"):
        raise ValueError(f"{path}: is not the decision that the metrics of generation {line['generation']} have")


def _game_problems(folder: RunFolder, spec: str, games: int, shard_games: int, generations: int) -> Iterator[str]:
    from hauteur.learning.planned import unit_path  # pyarrow

    for generation in range(1, generations + 1):
        for number in range(-(-games // shard_games)):
            check = partial(_check_games, spec=spec, generation=generation, first=number * shard_games)
            yield from _problem(unit_path(folder.games, generation, number), check)


def _check_games(path: Path, spec: str, generation: int, first: int) -> None:
    """Raise ValueError unless the file is whole, of this generation, and begins with the game of this number."""
    from hauteur.learning.shards import read_shard  # pyarrow

    games = read_shard(path, spec)
    if set(games.generation.tolist()) != {generation} or int(games.index.min()) != first:
        raise ValueError(f"{path}: has the games of another file")
