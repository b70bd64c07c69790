"""Workers on Ray: the games of one process, on two nodes; what is refused; what listens where."""

import hashlib
import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hauteur.cli.main import main, run
from hauteur.cluster import ray_session
from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left
from hauteur.cluster.framing import message_bytes
from hauteur.cluster.open import open_scheduler
from hauteur.cluster.options import WorkerOptions
from hauteur.cluster.ray_control import NodeSize, _last_words, end, join
from hauteur.cluster.ray_fleet import FACTS, RayFleet, _event_of
from hauteur.cluster.ray_nodes import WorkerNeed
from hauteur.cluster.ray_session import NODE_LEFT
from hauteur.cluster.ray_worker import tidy
from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import load_recipe

SETTINGS = (
    *("selfplay.games=24", "selfplay.shard_games=6", "selfplay.visits=8", "run.generations=2"),
    *("gate.games=8", "train.batch_size=64", "train.samples_per_position=1"),
)


@contextmanager
def fleet_on(address: str, **options: Any) -> Iterator[RayFleet]:
    fleet = RayFleet(WorkerOptions(cluster=address, **options))
    try:
        yield fleet
    finally:
        fleet.close()


def events_until(fleet: RayFleet, count: int, kind: type[Event]) -> list[Event]:
    """Wait for so many events of a kind; return all that came."""
    found: list[Event] = []
    while sum(isinstance(event, kind) for event in found) < count:
        found += fleet.wait(1.0)
    return found


def games_and_net(folder: Path) -> dict[str, str]:
    files = [*folder.glob("games/*.parquet"), *folder.glob("nets/*.safetensors")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_two_nodes_learn_what_one_process_learns(root: Path, tmp_path: Path, ray_cluster: str) -> None:
    recipe = load_recipe(root / "runs" / "tictactoe.toml", SETTINGS)
    learn(recipe, folder=tmp_path / "alone")
    with open_scheduler(WorkerOptions(cluster=ray_cluster)) as scheduler:
        assert scheduler is not None
        learn(recipe, folder=tmp_path / "ray", scheduler=scheduler)
    alone = games_and_net(tmp_path / "alone")
    assert len(alone) >= 9
    assert games_and_net(tmp_path / "ray") == alone


def test_a_killed_worker_is_replaced(ray_cluster: str) -> None:
    with fleet_on(ray_cluster) as fleet:
        first = [event for event in events_until(fleet, 2, Joined) if isinstance(event, Joined)]
        assert fleet.shortage() is None
        os.kill(first[0].facts.process, signal.SIGKILL)
        left = [event for event in events_until(fleet, 1, Left) if isinstance(event, Left)]
        assert [(event.worker, event.cause) for event in left] == [
            (first[0].worker, "was killed, or its process ended")
        ]
        assert events_until(fleet, 1, Joined)
        fleet.remove(first[1].worker, "differs", replace=False)
        assert Left(first[1].worker, "differs") in events_until(fleet, 1, Left)
        assert fleet.wait(1.5) == []


def test_labels_place_workers_and_what_is_missing_is_named(ray_cluster: str) -> None:
    with fleet_on(ray_cluster, workers=2, labels=("place=second",)) as fleet:
        assert len([event for event in events_until(fleet, 1, Joined) if isinstance(event, Joined)]) == 1
        assert fleet.shortage() == "the cluster has room for 1 of 2 workers"
    with fleet_on(ray_cluster, labels=("place=third",)) as fleet:
        assert fleet.wait(0.1) == []
        assert fleet.shortage() == "no node of the cluster has 1 CPU and the label place=third"


def test_all_in_use_by_others_is_named(ray_cluster: str) -> None:
    with fleet_on(ray_cluster) as fleet:
        events_until(fleet, 2, Joined)
        fleet._most = 4
        fleet._view.room = 3
        fleet.wait(0.1)
        fleet._view._look()
        fleet._view.room = 3
        assert fleet.shortage() == "1 workers wait: the cluster has 2 CPUs, all in use"


def test_status_lists_both_nodes(ray_cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", "status", ray_cluster, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [node["cpus"] for node in facts["nodes"]] == [1.0, 1.0]
    assert [node["labels"].get("place") for node in facts["nodes"]].count("second") == 1
    assert set(facts["versions"]) == {"ray", "python", "hauteur"}


LISTENING = 5
"""Sockets of a head and its nodes, at least; agents have more, by what is installed."""


def test_nothing_listens_on_other_addresses(ray_cluster: str) -> None:
    """Every socket that a process of this cluster listens on is bound to 127.0.0.1."""
    end = time.monotonic() + 120
    while len(addresses := _listening(os.environ["RAY_TMPDIR"])) < LISTENING and time.monotonic() < end:
        time.sleep(0.5)  # agents of nodes start late on a busy machine
    assert len(addresses) >= LISTENING
    assert set(addresses) <= {"0100007F", "0000000000000000FFFF00000100007F"}


def _listening(folder: str) -> list[str]:
    """Return the addresses that processes listen on which have a folder among their arguments or variables."""
    processes = [
        path
        for path in Path("/proc").glob("[0-9]*")
        if folder.encode() in (_read(path / "cmdline") + _read(path / "environ"))
    ]
    inodes = {
        match[1] for path in processes for link in _links(path / "fd") if (match := re.match(r"socket:\[(\d+)", link))
    }
    addresses = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                addresses.append(words[1].rpartition(":")[0])
    return addresses


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _links(folder: Path) -> list[str]:
    try:
        return [str(path.readlink()) for path in folder.iterdir()]
    except OSError:
        return []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": -1}, "--workers must be 0 to 10000, got -1"),
        ({"cluster": "here"}, "--cluster must be local, auto or HOST:PORT, got 'here'"),
        ({"cluster": "host:99999"}, "--cluster must be local, auto or HOST:PORT, got 'host:99999'"),
        (
            {"workers": 1, "gpus": 1},
            "--worker-gpus and --worker-label are for .*: give --cluster too",
        ),
        ({"cluster": "auto", "gpus": 1.5}, "--worker-gpus must be 0 to 1, or a whole number to 64, got 1.5"),
        ({"workers": 2, "compare": 1.1}, "--worker-compare must be 0 to 1, got 1.1"),
        ({"workers": 2, "seconds": -1}, "--worker-seconds must be 0 to 10,000,000, got -1"),
        ({"cluster": "auto", "labels": ("x",)}, "--worker-label must be KEY=VALUE .*, got 'x'"),
        ({"threads": 5000}, "--worker-threads must be 0 to 1024, got 5000"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        WorkerOptions(**options)


def test_nobody_at_the_address_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(ray_session, "ANSWER_SECONDS", 0.2)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        words = ["train", "runs/tictactoe.toml", "--run", str(tmp_path / "run"), "--cluster", address]
        assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"hauteur: no head of a cluster answers at {address} (Connection refused)")
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["join", "here"], "the address of a head is HOST:PORT, got 'here'"),
        (["status", "127.0.0.1"], "the address of a head is HOST:PORT, got '127.0.0.1'"),
        (["start", "--host", "203.0.113.1"], "cannot be had .*; --host must be of this machine"),
    ],
)
def test_wrong_addresses_are_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", *words]) == 2
    assert re.fullmatch(f"hauteur: .*{message}\n", capsys.readouterr().err)


def test_versions_that_differ_are_named(tmp_path: Path) -> None:
    """What a node prints that has another Ray than the head."""
    versions = (
        "    Ray: 2.60.0\n    Python: 3.11.7\nThis process on node 127.0.0.1 was started with:\n    Ray: 2.59.0\n"
    )
    error = f"RuntimeError: Version mismatch: The cluster was started with:\n{versions}    Python: 3.11.7\n\n"
    log = tmp_path / "log.txt"
    log.write_text(f"Local node IP: 127.0.0.1\nTraceback (most recent call last):\n  raise\n{error}")
    assert _last_words(log) == (
        "the cluster has Ray 2.60.0 and Python 3.11.7, this machine 2.59.0 and 3.11.7: they must be the same"
    )


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("hauteur.system.extras.find_spec", lambda name: None)
    assert main(["cluster", "start"]) == 2
    assert capsys.readouterr().err == (
        "hauteur: hauteur cluster start needs ray, not installed here: pip install 'hauteur[ray]'\n"
    )
    with pytest.raises(ImportError, match="--cluster needs ray, not installed here"):
        RayFleet(WorkerOptions(cluster="local"))


KEY = "a" * 64
FACTS_OF = {"host": "h", "device_class": "p", "version": "0", "process": 1, "threads": 1}


@pytest.mark.parametrize(
    ("call", "message", "cause"),
    [
        (KEY, "text", "not bytes"),
        (KEY, b"nonsense\n", "not a message"),
        (KEY, message_bytes({"report": "done", "key": "b" * 64, "facts": {}}), "it is of another call"),
        (KEY, message_bytes({"report": "joined", "facts": FACTS_OF}), "it is of another call"),
        (KEY, message_bytes({"report": "done", "key": KEY, "facts": {"x": float("nan")}}), "finite"),
        (
            FACTS,
            message_bytes({"report": "joined", "facts": FACTS_OF}),
            "host h has hauteur 0, the driver",
        ),
    ],
)
def test_reports_are_checked(call: str, message: Any, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        _event_of("ray-1", call, message)


def test_reports_are_events() -> None:
    done = _event_of("ray-1", KEY, message_bytes({"report": "done", "key": KEY, "facts": {"games": 2.0}}, b"games"))
    assert isinstance(done, Finished)
    assert (done.result.content, done.result.facts) == (b"games", {"games": 2.0})
    assert _event_of("ray-1", KEY, message_bytes({"report": "failed", "key": KEY, "cause": "why"})) == Failed(
        "ray-1", KEY, "why"
    )


@pytest.mark.parametrize(
    ("need", "room"),
    [(WorkerNeed(1, 0, {}), 8), (WorkerNeed(3, 0, {}), 2), (WorkerNeed(1, 0.5, {}), 4), (WorkerNeed(1, 2, {}), 1)],
)
def test_room_of_a_node(need: WorkerNeed, room: int) -> None:
    node = {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0}, "Labels": {"a": "b"}}
    assert need.room(node) == room
    assert need.room({**node, "Alive": False}) == 0
    assert WorkerNeed(1, 0, {"a": "c"}).room(node) == 0


def test_old_nets_are_deleted_first(tmp_path: Path) -> None:
    for age, name in ((10_000, "old"), (5000, "middle"), (1, "new")):
        path = tmp_path / name
        path.write_bytes(b"12345678")
        os.utime(path, (time.time() - age, time.time() - age))
    tidy(tmp_path, 16)
    assert {path.name for path in tmp_path.iterdir()} == {"middle", "new"}
    tidy(tmp_path, 0)
    assert {path.name for path in tmp_path.iterdir()} == {"new"}


@pytest.mark.slow
def test_nodes_come_and_go(ray_cluster: str) -> None:
    with fleet_on(ray_cluster) as fleet:
        events_until(fleet, 2, Joined)
        for graceful in (True, False):
            node = join(ray_cluster, NodeSize(1))
            joined = [event for event in events_until(fleet, 1, Joined) if isinstance(event, Joined)]
            if graceful:
                end([node])
            else:
                os.killpg(node.process, signal.SIGKILL)
            left = [event for event in events_until(fleet, 1, Left) if isinstance(event, Left)]
            assert [event.worker for event in left] == [joined[0].worker]
            assert left[0].cause in (NODE_LEFT, "was killed, or its process ended", "could not be reached")
