"""The same recipe learns the same by one process, by local workers and by workers on Ray: all files, bit for bit."""

import re
import sys

import pytest
from cluster_tools import checked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the checks look into /proc")


def ways_of(printed: str) -> set[str]:
    """The ways of the table's rows, each with all its hashes."""
    return set(re.findall(r"^\S+ +(\S+) +[0-9a-f]{16} [0-9a-f]{16} [0-9a-f]{16} ", printed, re.MULTILINE))


def test_connect_four_of_two_local_workers() -> None:
    printed = checked("cluster_equality", "--games", "connect4", "--ways", "0", "2")
    assert ways_of(printed) == {"0", "2"}
    assert printed.endswith("all equal\n")


@pytest.mark.slow
def test_all_games_with_a_lag_of_one() -> None:
    printed = checked("cluster_equality", "--ways", "0", "2", "--lag", "1", "--generations", "3")
    assert ways_of(printed) == {"0", "2"}


@pytest.mark.slow
def test_all_games_by_all_ways() -> None:
    pytest.importorskip("ray")
    assert ways_of(checked("cluster_equality")) == {"0", "1", "2", "ray2"}
