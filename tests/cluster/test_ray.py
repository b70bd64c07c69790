"""Workers on Ray: the games of one process, while nodes and workers come and go; what is refused, in one line."""

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from unit_toys import small_units

from hauteur import __version__
from hauteur.cli.main import main
from hauteur.cluster import unit
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions
from hauteur.cluster.ray_fleet import RayFleet, RayWorker
from hauteur.cluster.unit import Event, Failed, Joined, Left
from hauteur.learning.loop import learn
from hauteur.learning.recipe import load_recipe
from hauteur.system.files import sha256_of

SETTINGS = (
    *("selfplay.games=24", "selfplay.shard_games=6", "selfplay.visits=8", "run.generations=2"),
    *("gate.games=8", "train.batch_size=64", "train.samples_per_position=1"),
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and a node of Ray, of one processor each, on this machine."""
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="hr", dir="/tmp")  # short: names of sockets have a limit
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        found: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        try:
            found.add_node(num_cpus=1)
            yield found
        finally:
            found.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def fleet_on(cluster: Any, **options: Any) -> Iterator[RayFleet]:
    fleet = RayFleet(WorkerOptions(cluster=cluster.address, **options))
    try:
        yield fleet
    finally:
        fleet.close()


def events_until(fleet: RayFleet, count: int, kind: type[Event]) -> list[Any]:
    """Wait for `count` events of a kind, and return them."""
    found: list[Event] = []
    while sum(isinstance(event, kind) for event in found) < count:
        found += fleet.wait(1.0)
    return [event for event in found if isinstance(event, kind)]


def games_and_nets(folder: Path) -> dict[str, str]:
    files = [*folder.glob("games/*.parquet"), *folder.glob("nets/*.safetensors")]
    return {path.name: sha256_of(path) for path in files}


@pytest.mark.slow
def test_two_nodes_learn_what_one_process_learns(root: Path, tmp_path: Path, cluster: Any) -> None:
    recipe = load_recipe(root / "runs" / "tictactoe.toml", SETTINGS)
    learn(recipe, folder=tmp_path / "alone")
    with open_scheduler(WorkerOptions(cluster=cluster.address)) as scheduler:
        assert scheduler is not None
        learn(recipe, folder=tmp_path / "ray", scheduler=scheduler)
        assert scheduler.workers == 2
    alone = games_and_nets(tmp_path / "alone")
    assert len(alone) >= 9
    assert games_and_nets(tmp_path / "ray") == alone


def test_workers_and_nodes_come_and_go(cluster: Any) -> None:
    with fleet_on(cluster) as fleet:
        first, second = events_until(fleet, 2, Joined)
        assert fleet.shortage() is None
        os.kill(first.process, signal.SIGKILL)
        assert [left.worker for left in events_until(fleet, 1, Left)] == [first.worker]
        (again,) = events_until(fleet, 1, Joined)
        fleet.replace(second.worker, "too slow")
        assert events_until(fleet, 1, Left) == [Left(second.worker, "too slow")]
        (replaced,) = events_until(fleet, 1, Joined)
        node = cluster.add_node(num_cpus=1)
        (third,) = events_until(fleet, 1, Joined)
        assert len({one.worker for one in (first, second, again, replaced, third)}) == 5
        cluster.remove_node(node, allow_graceful=False)
        assert [left.worker for left in events_until(fleet, 1, Left)] == [third.worker]


def test_a_driver_of_another_version_is_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit, "__version__", "99.0")
    with fleet_on(cluster) as fleet:
        (joined, _) = events_until(fleet, 2, Joined)
        (one,), sources = small_units(1)
        fleet.submit(joined.worker, one, sources)
        (failed,) = events_until(fleet, 1, Failed)
        assert failed.cause.startswith(f"the driver runs hauteur 99.0, this worker {__version__}")


def test_a_net_that_is_not_the_one_of_the_unit_is_refused(tmp_path: Path) -> None:
    worker = RayWorker(1, "")
    with pytest.raises(ValueError, match=r"net: is not the file that the unit names \(its sha256 differs\)"):
        worker._store("a" * 64, "net", b"another net")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": -1}, "workers must be 0 to 10000, got -1"),
        ({"cluster": "here"}, "the cluster must be auto or HOST:PORT, got 'here'"),
        ({"cluster": "host:99999"}, "the cluster must be auto or HOST:PORT, got 'host:99999'"),
        ({"workers": 1, "gpus": 1}, "GPUs are for workers of a cluster: name a cluster too"),
        ({"cluster": "auto", "gpus": 1.5}, "GPUs of a worker must be 0 to 1, or a whole number to 64, got 1.5"),
        ({"workers": 2, "seconds": -1}, "seconds of a worker's unit must be 0 to 10,000,000, got -1"),
        ({"threads": 5000}, "threads of a worker must be 0 to 1024, got 5000"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        WorkerOptions(**options)


def test_an_address_without_a_head_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        words = ["train", "runs/tictactoe.toml", "--run", str(tmp_path / "run"), "--cluster", address]
        assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"hauteur: no head of a cluster answers at {address} (Connection refused)")
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hauteur.system.extras.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="a cluster of workers needs ray, not installed here"):
        RayFleet(WorkerOptions(cluster="auto"))
