"""The checks that take minutes, each as a short one: elastic clusters, memory, speed."""

import sys

import pytest
from cluster_tools import checked

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the checks look into /proc"),
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]


def test_nodes_join_and_leave() -> None:
    pytest.importorskip("ray")
    printed = checked("cluster_elastic", "--minutes", "1.5", "--every", "20", "--least", "0.5")
    assert "2 joined, 2 left" in printed


def test_memory_of_a_slow_trainer() -> None:
    printed = checked("cluster_pressure", "--minutes", "3")
    assert "slowed 10 times, lag 1" in printed


def test_speed_of_all_ways() -> None:
    pytest.importorskip("ray")
    printed = checked("cluster_speed", "--ways", "one", "local", "ray", "--seconds", "3", "--rounds", "1")
    assert "ray    mean" in printed


def test_time_of_a_generation_by_lag() -> None:
    printed = checked("cluster_speed", "--lags", "0", "1", "--workers", "1", "--rounds", "1", "--generations", "3")
    assert "lag 0:" in printed
    assert "lag 1:" in printed
