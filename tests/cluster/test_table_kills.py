"""Whatever is killed, each game is there exactly once, and all files and nets are those of the undisturbed run."""

import sys

import pytest
from cluster_tools import checked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the checks look into /proc")


def rows_of(printed: str) -> dict[str, str]:
    """The rows of the table at the end."""
    lines = [line for line in printed.splitlines() if line[26:27] == " "]
    return {line[:26].strip(): line[27:] for line in lines}


def test_a_worker_all_workers_and_the_driver_are_killed() -> None:
    printed = checked("cluster_kills", "--kills", "3", "--workers", "1", "--games", "60", "--generations", "2")
    rows = rows_of(printed)
    assert rows["kills"] == "1 worker, 1 node, 1 driver"
    assert rows["files that differ"].startswith("0 of ")
    assert rows["left over"] == "nothing"


@pytest.mark.slow
def test_a_hundred_kills_of_local_workers() -> None:
    rows = rows_of(checked("cluster_kills", "--kills", "100"))
    assert rows["kills"] == "34 worker, 33 node, 33 driver"
    assert rows["files that differ"].startswith("0 of ")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_kills_on_ray() -> None:
    pytest.importorskip("ray")
    rows = rows_of(checked("cluster_kills", "--kills", "100", "--fleet", "ray"))
    assert rows["kills"] == "34 worker, 33 node, 33 driver"
    assert rows["files that differ"].startswith("0 of ")
