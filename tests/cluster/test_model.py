"""Laws of the model of many workers, whatever its constants are."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from simulated_fleet import Drive, Habits, SimulatedFleet, some_units

from hauteur.cluster.model.costs import SHIPPED, ClusterCosts, read_costs
from hauteur.cluster.model.outcome import first_bottlenecks, limits, outcome
from hauteur.cluster.model.simulation import Simulation

FREE = {
    "unit": {"games": 10, "positions": 200, "seconds": 10, "spread": 0, "task_bytes": 0, "result_bytes": 0},
    "generation": {"games": 10, "compared": 0},
    "driver": dict.fromkeys(
        [f"{name}_seconds" for name in ("plan", "give", "take", "round", "write", "write_cpu", "read")], 0
    ),
    "net": {"bytes": 0, "load_seconds": 0},
    "link": {"latency": 0},
}
"""Everything but the games costs nothing."""


def costs_with(**changes: dict[str, Any]) -> ClusterCosts:
    """Constants of FREE with changes, by section."""
    values = {name: {**FREE.get(name, {}), **changes.get(name, {})} for name in {*FREE, *changes}}
    return ClusterCosts.model_validate(values)


seconds = st.floats(0, 5)
some_costs = st.builds(
    costs_with,
    unit=st.fixed_dictionaries(
        {"spread": st.floats(0, 1), "speed_spread": st.floats(0, 0.5), "tail": st.floats(0, 2)}
        | {"task_bytes": st.integers(0, 10**7), "result_bytes": st.integers(0, 10**8)}
    ),
    generation=st.fixed_dictionaries(
        {"games": st.integers(1, 100), "units_per_worker": st.floats(0, 4), "compared": st.floats(0, 0.5)}
        | {"gate_units": st.integers(0, 3), "gate_seconds": seconds, "train_seconds": seconds}
    ),
    driver=st.fixed_dictionaries(dict.fromkeys(FREE["driver"], st.floats(0, 1))),
    net=st.fixed_dictionaries(
        {"bytes": st.integers(0, 10**9), "load_seconds": seconds, "broadcast": st.sampled_from(["tree", "driver"])}
    ),
    machine=st.fixed_dictionaries(
        {
            "workers": st.integers(1, 3),
            "lost_per_hour": st.sampled_from([0, 0, 20]),
            "replaced_seconds": st.floats(0, 60),
        }
    ),
)
workers, lags = st.integers(1, 12), st.integers(0, 2)


@settings(max_examples=120, deadline=None)
@given(some_costs, workers, lags, st.integers(0, 2**32))
def test_every_unit_is_played_exactly_once(costs: ClusterCosts, count: int, lag: int, seed: int) -> None:
    run = Simulation(costs, count, lag=lag, seed=seed, generations=3).run()
    ended = [work for work in run.works if work.missing == 0]
    assert len([work for work in ended if work.job[0] == "self-play"]) >= 3
    assert all(played == 1 for work in ended for played in work.played)
    assert all(played <= 1 for work in run.works for played in work.played)
    games = [work for work in run.works if work.job[0] == "self-play"]
    finished = sum(len(work.seconds) for work in games if work.missing == 0)
    assert finished <= len(run.trace.files) <= sum(sum(work.played) for work in games)
    assert run.retried == 0 or costs.machine.lost_per_hour > 0


LOST_WHILE_IT_OPENS_A_NET = costs_with(
    unit={"spread": 0.0, "tail": 1.0},
    generation={"games": 71, "units_per_worker": 0.0, "gate_units": 1, "train_seconds": 0.0},
    driver={"round_seconds": 0.0, "write_seconds": 1.0, "write_cpu_seconds": 1.0, "read_seconds": 1.0},
    net={"load_seconds": 3.0},
    machine={"workers": 1, "lost_per_hour": 20},
)


@settings(max_examples=120, deadline=None)
@given(some_costs, workers, lags, st.integers(0, 2**32))
@example(LOST_WHILE_IT_OPENS_A_NET, 1, 0, 32)
def test_no_more_than_the_ideal_sum(costs: ClusterCosts, count: int, lag: int, seed: int) -> None:
    trace = Simulation(costs, count, lag=lag, seed=seed, generations=3).run().trace
    begin, end = trace.window
    present, working, waits = trace.seconds(trace.present), trace.seconds(trace.working), trace.waits()
    assert present <= count * (end - begin) * (1 + 1e-9)
    assert working + sum(waits.values()) == pytest.approx(present, rel=1e-6, abs=1e-6)
    begun_before = 2 * count * (lag > 0)
    ideal = costs.ideal(count) * (end - begin) / costs.unit.positions
    assert trace.files_written() <= ideal * (1 + 1e-9) + begun_before * 10


@settings(max_examples=40, deadline=None)
@given(some_costs, workers, lags, st.integers(0, 2**32))
def test_equal_seeds_give_equal_results(costs: ClusterCosts, count: int, lag: int, seed: int) -> None:
    first, second = (outcome(costs, count, lag=lag, seeds=[seed], generations=2) for _ in range(2))
    assert first == second


@settings(max_examples=40, deadline=None)
@given(some_costs, workers, lags, st.integers(0, 2**32))
def test_losses_change_no_number_of_units(costs: ClusterCosts, count: int, lag: int, seed: int) -> None:
    found = []
    for lost in (0.0, 40.0):
        machine = costs.machine.model_copy(update={"lost_per_hour": lost})
        run = Simulation(costs.model_copy(update={"machine": machine}), count, lag=lag, seed=seed, generations=3).run()
        ended = [work for work in run.works if work.job[0] == "gate" or work.job[1] <= 3]
        found.append(sorted((work.job, work.played) for work in ended))
    assert found[0] == found[1]


@settings(max_examples=60, deadline=None)
@given(
    st.fixed_dictionaries(dict.fromkeys(FREE["driver"], st.floats(0, 0.1))),
    st.sets(st.integers(1, 60), min_size=2, max_size=2),
    lags,
)
def test_more_workers_are_no_slower_until_a_resource_is_full(
    driver: dict[str, float], counts: set[int], lag: int
) -> None:
    costs = costs_with(driver={**driver, "round_seconds": 0.0})
    full = min((limit.workers for limit in limits(costs)), default=float("inf"))
    few, many = (outcome(costs, count, lag=lag, seeds=[1]) for count in sorted(counts))
    assert few.positions <= many.positions * 1.001 or many.workers > full
    assert few.positions <= costs.ideal(few.workers) * (1 + 1e-9) or lag


@pytest.mark.parametrize("lag", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 7, 100])
def test_where_nothing_else_costs_anything_workers_have_their_own_speed(count: int, lag: int) -> None:
    found = outcome(costs_with(), count, lag=lag, seeds=[1])
    assert found.share == pytest.approx(1)
    assert found.idle == pytest.approx(0, abs=1e-9)
    assert found.bottleneck == "workers"


def test_more_workers_are_faster_until_a_resource_is_full() -> None:
    costs = costs_with(driver={"take_seconds": 0.05, "write_seconds": 0.01, "give_seconds": 0.001})
    found = [outcome(costs, count, lag=1, seeds=[1]) for count in (1, 2, 5, 10, 20, 50, 100, 200, 400, 800)]
    full = limits(costs)[0]
    assert full.resource == "driver's processor"
    assert full.workers == pytest.approx(10 / 0.051)
    below = [one for one in found if one.workers < full.workers]
    assert all(one.positions < more.positions for one, more in pairwise(below))
    most = 200 / 0.051
    assert all(one.positions <= most * 1.01 for one in found)
    assert found[-1].positions == pytest.approx(most, rel=0.1)
    assert found[-1].bottleneck == "driver"
    assert first_bottlenecks(found)["driver"] in (200, 400)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"generation": {"train_seconds": 100}}, "training"),
        ({"generation": {"gate_units": 1, "gate_seconds": 100}}, "gate"),
        ({"unit": {"spread": 1}, "generation": {"units_per_worker": 1}}, "stragglers"),
        ({"driver": {"take_seconds": 1}}, "driver"),
        ({"driver": {"write_seconds": 1}}, "disk"),
        ({"unit": {"result_bytes": 10**9}}, "network"),
        ({"net": {"bytes": 10**9, "broadcast": "driver"}}, "net"),
        ({"net": {"load_seconds": 100}}, "net"),
    ],
)
def test_what_costs_most_is_what_workers_wait_for(changes: dict[str, Any], cause: str) -> None:
    assert outcome(costs_with(**changes), 20, lag=0, seeds=[1, 2]).bottleneck == cause


def test_lag_hides_training_and_stragglers() -> None:
    costs = costs_with(unit={"spread": 0.3}, generation={"train_seconds": 20, "gate_units": 2, "gate_seconds": 5})
    shares = [outcome(costs, 20, lag=lag, seeds=[1, 2, 3]).share for lag in (0, 1, 2)]
    assert shares[0] < 0.8 < 0.9 < shares[1] < shares[2]


def test_a_tree_brings_a_net_to_many_machines_sooner() -> None:
    by = {name: costs_with(net={"bytes": 10**8, "broadcast": name}) for name in ("tree", "driver")}
    found = {name: outcome(costs, 200, lag=0, seeds=[1]) for name, costs in by.items()}
    assert found["tree"].share > 1.5 * found["driver"].share
    sent = {name: one.out / one.positions for name, one in found.items()}
    assert sent["tree"] < sent["driver"] / 20


def test_lost_machines_cost_their_units_and_their_absence() -> None:
    costs = costs_with(machine={"lost_per_hour": 60, "replaced_seconds": 30, "start_seconds": 0})
    found = outcome(costs, 50, lag=1, seeds=[1, 2, 3], generations=10)
    assert found.retried > 100
    assert 0.4 < found.share < 0.65  # present two thirds of the time, and a sixth of the work is lost
    assert outcome(costs_with(), 50, lag=1, seeds=[1]).retried == 0


def test_the_share_of_compared_units_is_work_without_positions() -> None:
    found = outcome(costs_with(generation={"compared": 0.1}), 100, lag=1, seeds=[1, 2])
    assert found.share == pytest.approx(1 / 1.1, rel=0.02)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_constants_name_their_measurement(name: str) -> None:
    costs = read_costs(name)
    assert costs.measured
    assert costs.units(1) >= 1


@pytest.mark.parametrize(("count", "units"), [(1, 4), (7, 40), (64, 100), (300, 1000)])
def test_it_agrees_with_the_scheduler(count: int, units: int) -> None:
    costs = costs_with(unit={"spread": 0.5}, generation={"games": 10 * units, "units_per_worker": 0})
    run = Simulation(costs, count, lag=0, seed=5, generations=1).run()
    seconds = run.works[0].seconds
    fleet = SimulatedFleet(count, lambda _slot, _times: Habits(seconds=lambda unit, _: seconds[unit.own["number"]]))
    drive = Drive(fleet, share=0)
    (played,) = drive.finish(drive.start(some_units(units)))
    assert len(played) == units
    assert run.trace.ends[0] == pytest.approx(fleet.now - 0.1)


def test_it_agrees_with_the_scheduler_about_losses_and_comparisons() -> None:
    found, expected = [], []
    costs = costs_with(
        unit={"spread": 0.5},
        generation={"games": 4000, "units_per_worker": 0, "compared": 0.1},
        machine={"lost_per_hour": 72, "replaced_seconds": 0.5, "start_seconds": 0, "noticed_seconds": 0},
    )
    for seed in range(6):
        run = Simulation(costs, 10, lag=0, seed=seed, generations=1).run()
        expected.append((run.trace.ends[0], run.retried, run.compared))
        found.append(_scheduled(run.works[0].seconds, 10, seed))
    for mine, real, spread in zip(np.mean(expected, 0), np.mean(found, 0), (0.05, 0.2, 0.2), strict=True):
        assert mine == pytest.approx(real, rel=spread)


def _scheduled(seconds: list[float], count: int, seed: int) -> tuple[float, int, int]:
    """Seconds, lost and compared units of the real scheduler with workers that live for 50 seconds on average."""
    random = np.random.default_rng(seed)
    habits = Habits(seconds=lambda unit, _: seconds[unit.own["number"]])
    fleet = SimulatedFleet(count, lambda _slot, _times: habits)
    drive, lives = Drive(fleet, share=0.1, seed=seed), dict[str, float]()
    batch = drive.start(some_units(len(seconds)))
    while batch in drive.ledger.batches:
        drive.turns(1)
        for name, worker in list(fleet.workers.items()):
            ends = lives.setdefault(name, fleet.now + random.exponential(50))
            if worker.alive and fleet.now >= ends:
                fleet.end(name)
        while batch.results:
            batch.take()
    return fleet.now, batch.counts.retried, batch.counts.compared
