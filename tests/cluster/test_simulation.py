"""Learning runs on a simulated machine, with faults: the check `simulate.py` in small, and what it has found."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from pydantic import BaseModel

import simulate
from hauteur.cluster.scheduler import Played
from hauteur.learning import resume
from hauteur.learning.compute import UnitCosts
from hauteur.learning.gate import GateResults
from hauteur.learning.planned import PlannedGames
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.step_games import StepCost, StepGames
from hauteur.matches.ratings.elo import Sprt
from hauteur.system import host
from hauteur.system.files import leftovers, naming
from hauteur.system.jsonl import Journal, _cut_torn_line, lines_of
from simulate import PLANTS, RunError
from simulated_machine import World, WorldDisk


@pytest.fixture(scope="module", autouse=True)
def toys() -> Iterator[None]:
    with simulate.toys():
        yield


@pytest.mark.parametrize("first", [0, 40, *(pytest.param(first, marks=pytest.mark.slow) for first in (80, 120))])
def test_runs_with_faults_end_with_the_files_of_runs_without(first: int) -> None:
    for seed in range(first, first + 40):
        assert simulate.simulate(seed, simulate.FAULTS)["commands"] > 0


def test_a_seed_is_the_same_run_each_time() -> None:
    assert simulate.simulate(5, 20) == simulate.simulate(5, 20)


@pytest.mark.parametrize(("plant", "seed"), [("unsynced", 0), ("duplicate", 32), ("version", 2)])
def test_bugs_that_are_put_in_are_found(plant: str, seed: int) -> None:
    with PLANTS[plant](), pytest.raises(RunError):
        simulate.simulate(seed, simulate.FAULTS)


def test_a_loss_of_power_leaves_what_was_neither_cut_nor_written_over(tmp_path: Path) -> None:
    left = set()
    for seed in range(100):
        disk = WorldDisk(World(Random(seed), left=0))
        path = tmp_path / f"journal-{seed}"
        with disk.open(path, "a+b") as file:
            host.write_all(file, b"first\ntorn")
            disk.sync(file)
        disk.sync_folder(tmp_path)
        with disk.open(path, "a+b") as file:
            file.truncate(6)
            host.write_all(file, b"second\n")
        disk.lose_power()
        left.add(path.read_bytes().rstrip(b"\0"))
    assert all(content.startswith(b"first\n") for content in left)
    assert {b"first\ntorn", b"first\n", b"first\nsecond\n"} <= left


def every_line(costs: UnitCosts, kind: str, generation: int) -> tuple[int, int]:
    """Charge a unit for every line that it has."""
    lines = [cost for cost in costs._journal.entries() if (cost.kind, cost.generation) == (kind, generation)]
    return sum(cost.evaluations for cost in lines), sum(cost.evaluations_large for cost in lines)


def sweep_alone(folder: Path) -> None:
    """Remove what is left behind, and leave the names unsynced."""
    for path in leftovers(folder):
        host.disk.remove(path)


def discard_in_any_order(folder: RunFolder) -> None:
    """Remove the recipe of a run that has done nothing, and then its first net."""
    for path in (folder.config, folder.path / "meta.json", *folder.path.glob("nets/gen-00000*")):
        host.disk.remove(path)


def make_folders_of_a_new_run(folder: RunFolder) -> None:
    """Make the folders of a run that begins, and none for one that goes on."""
    if not folder.config.exists():
        rightly_made(folder)


def append_to_a_new_file(journal: Journal[Any], *entries: BaseModel) -> None:
    """Add entries, and leave the name of a new file unsynced."""
    with naming(journal.path), host.disk.open(journal.path, "a+b") as file:
        host.write_all(file, lines_of(entries, _cut_torn_line(file)))
        host.disk.sync(file)


def charge_all_that_came(
    games: StepGames, planned: PlannedGames, sprt: Sprt | None, on_games: Callable[[int], None]
) -> tuple[GateResults, tuple[int, int]]:
    """Play a gate match, and charge the units that came before its end, whichever they are."""
    came: list[Mapping[str, float]] = []
    playing = StepGames._played

    def noted(*given: Any) -> Iterator[Played]:
        for played in playing(*given):
            came.append(played.result.facts)
            yield played

    with patch.object(StepGames, "_played", noted):
        results, _ = rightly_matched(games, planned, sprt, on_games)
    return results, StepCost.of(came, 0.0).evaluations


rightly_matched = StepGames.gate_match
rightly_made = RunFolder._make_folders

FOUND: dict[str, tuple[Any, str, Callable[..., Any], int]] = {
    "a unit with two lines of costs was charged twice": (UnitCosts, "of", every_line, 1),
    "the name of a new journal was lost with the power": (Journal, "append", append_to_a_new_file, 16),
    "a name that a killed process had not synced was lost with the power": (resume, "sweep", sweep_alone, 409),
    "of a run that had done nothing a net was left without the recipe": (
        RunFolder,
        "discard",
        discard_in_any_order,
        1501,
    ),
    "of a run that had done nothing the recipe was left without the folders": (
        RunFolder,
        "_make_folders",
        make_folders_of_a_new_run,
        1201897,
    ),
    "what a sequential test cost depended on the order of answers": (StepGames, "gate_match", charge_all_that_came, 14),
}
"""Faults that the check has found: what happened, the method as it was, and a seed that finds it."""


@pytest.mark.parametrize("what", FOUND)
def test_a_fault_that_was_found_stays_away(what: str) -> None:
    owner, name, as_it_was, seed = FOUND[what]
    assert simulate.simulate(seed, simulate.FAULTS)["commands"] > 1
    with patch.object(owner, name, as_it_was), pytest.raises(RunError):
        simulate.simulate(seed, simulate.FAULTS)
