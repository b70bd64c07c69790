"""Processes of local workers: what they play, what they refuse, and that they never outlive their driver."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import unit_toys
from unit_toys import NET, small_units

from hauteur import __version__
from hauteur.cluster import unit
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.unit import Failed, Finished, Joined, Unit

LONG = 120.0
PLUGIN = """
import sys
print("printed by a game")  # not a message
assert sys.stdin.read() == ""  # nor is a message read here
import hauteur as ht

class Heap:
    max_plies = 5
    num_actions = 2
    feature_shape = (1, 1, 1)
    to_move = 0
    def legal_actions(self): return [0, 1]
    def apply(self, action): raise SystemExit("a game that ends the program")
    def outcome(self): return None
    def features(self): return None
    def copy(self): return Heap()

ht.register_game("heap", Heap)
"""


class Processes(LocalFleet):
    """Two workers, of which each has one unit at a time."""

    def __init__(self) -> None:
        super().__init__(2, threads=1)
        self.joined: list[str] = []

    def played(self, units: list[Unit], sources: dict[str, Path]) -> list[Any]:
        """Return what came of units, in their order: content or cause."""
        found: dict[str, Any] = {}
        waiting = units[::-1]
        end = time.monotonic() + LONG
        while len(found) < len(units):
            assert time.monotonic() < end, self.shortage()
            for event in self.wait(0.1):
                match event:
                    case Joined(worker):
                        self.joined.append(worker)
                    case Finished(worker, result):
                        found[result.key] = result.content
                        self.joined.append(worker)
                    case Failed(worker, key, cause):
                        found[key] = cause
                        self.joined.append(worker)
            while waiting and self.joined:
                self.submit(self.joined.pop(), waiting.pop(), sources)
        return [found[one.key] for one in units]


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Two real workers, started by a driver that has a game of its own in a folder of its own."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "heap_game.py").write_text(PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("HAUTEUR_IMPORT", "heap_game")
        fleet = Processes()
        yield fleet
        fleet.close()


def test_both_workers_make_the_same_bytes_of_a_unit(processes: Processes) -> None:
    units, sources = small_units(2)
    first = processes.played(units, sources)
    again = processes.played([replace(one, name=f"{one.name} again") for one in reversed(units)], sources)
    assert first == again[::-1]
    assert all(isinstance(content, bytes) and content.startswith(b"PAR1") for content in first)


def of_game(game: str, seed: int) -> Unit:
    """A unit whose recipe is of another game than its net."""
    one = small_units(1, seed=seed)[0][0]
    return replace(one, shared={**one.shared, "recipe": {**one.shared["recipe"], "game": game}})


def test_what_cannot_be_played_is_one_line_each_and_the_rest_goes_on(processes: Processes, tmp_path: Path) -> None:
    units, sources = small_units(3, seed=2)
    no_net = tmp_path / "garbage.safetensors"
    no_net.write_bytes(b"not a net" * 100)
    altered = tmp_path / "altered.safetensors"
    altered.write_bytes(NET.read_bytes() + b"x")
    absent = tmp_path / "absent.safetensors"
    bad_net, bad_sources = small_units(1, net=no_net)
    moved = replace(units[0], own={**units[0].own, "number": 99}, files={"b" * 64: "absent.safetensors"})
    wrong = [
        of_game("no-such-game", 3),
        of_game("connect4", 4),
        of_game("heap", 5),
        *bad_net,
        replace(units[0], files={"a" * 64: "altered.safetensors"}),
        moved,
        replace(units[0], shared={**units[0].shared, "recipe": {"game": "tictactoe", "colour": "red"}}),
    ]
    sources |= {"a" * 64: altered, "b" * 64: absent, **bad_sources}
    found = processes.played([units[0], *wrong, units[1]], sources)
    assert isinstance(found[0], bytes)
    assert isinstance(found[-1], bytes)
    causes = found[1:-1]
    assert all(isinstance(cause, str) and "\n" not in cause for cause in causes)
    assert all(cause.startswith("self-play cannot begin: ") for cause in causes)
    for cause, words in zip(
        causes,
        [
            ("no-such-game",),
            ("tictactoe", "connect4"),
            ("tictactoe", "heap"),
            ("garbage.safetensors",),
            ("altered.safetensors", "sha256 differs"),
            ("absent.safetensors", "No such file"),
            ("colour",),
        ],
        strict=True,
    ):
        assert all(word in cause for word in words), cause


def test_a_driver_of_another_version_is_refused(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit, "__version__", "99.0")
    units, sources = small_units(1, seed=6)
    refusal = f"the driver runs hauteur 99.0, this worker {__version__}: both need the same version"
    assert processes.played(units, sources) == [refusal]


@pytest.fixture
def driver() -> Iterator[subprocess.Popen[str]]:
    """A driver of two workers that play games without end, as the leader of a group, as a shell starts it."""
    command = [sys.executable, unit_toys.__file__, "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    yield process
    process.kill()
    process.communicate()


def workers_of(driver: subprocess.Popen[str]) -> list[int]:
    """The processes of its workers, once they play."""
    assert driver.stdout is not None
    return [int(word) for word in driver.stdout.readline().split()]


def running(process: int) -> bool:
    """Return whether a process is there; one that waits for its parent to notice its end is not."""
    stat = Path(f"/proc/{process}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def assert_they_end(processes: list[int]) -> None:
    """Wait until none of the processes runs."""
    end = time.monotonic() + LONG
    while any(map(running, processes)):
        assert time.monotonic() < end
        time.sleep(0.01)


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into the system's tables of processes")


@linux
def test_workers_end_with_a_driver_that_was_killed(driver: subprocess.Popen[str]) -> None:
    workers = workers_of(driver)
    assert len(workers) == 2
    assert all(map(running, workers))
    os.kill(workers[0], signal.SIGSTOP)  # the other one is in a game
    driver.kill()
    assert_they_end(workers)


@linux
def test_an_interrupt_is_for_the_driver_alone(driver: subprocess.Popen[str]) -> None:
    workers = workers_of(driver)
    os.killpg(driver.pid, signal.SIGINT)
    output, _ = driver.communicate(timeout=LONG)
    assert output == "interrupted, and still there: local-1 local-2\n"
    assert driver.returncode == 0
    assert_they_end(workers)
