"""What the model gives for a number of workers: speeds over seeds, the bottleneck, and where each limit is."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from hauteur.cluster.model.costs import ClusterCosts
from hauteur.cluster.model.simulation import Simulation
from hauteur.system.tables import Rows

NO_BOTTLENECK = "workers"
"""The bottleneck where the workers themselves are: they work for more than ENOUGH of their time."""
ENOUGH = 0.95
MOST_UNITS = 2_000_000
"""Units of a simulation: minutes."""


class Outcome(NamedTuple):
    """One number of workers, means over seeds; low and high: the least and greatest of the seeds.

    positions: a second; share: of the sum of workers that never wait; idle: share of the time of the workers present;
    driver, disk: seconds of the driver's processor and disk a second; out, in_: MB a second from and to the driver;
    net: MB of nets that leave it in a generation; files: a second; flying: units in flight, on average; held: MB of
    results that the driver holds at most; retried, compared: units of all generations; generation: seconds;
    bottleneck: what the workers wait for most.
    """

    workers: int
    lag: int
    positions: float
    low: float
    high: float
    share: float
    idle: float
    driver: float
    disk: float
    out: float
    in_: float
    net: float
    files: float
    flying: float
    held: float
    retried: float
    compared: float
    generation: float
    bottleneck: str
    waits: dict[str, float]


def outcome(costs: ClusterCosts, workers: int, *, lag: int, seeds: Sequence[int], generations: int = 4) -> Outcome:
    """Simulate `generations` generations once a seed, and return what follows from those after the first.

    ValueError for more than MOST_UNITS units.
    """
    if (units := generations * costs.units(workers)) > MOST_UNITS:
        raise ValueError(
            f"{workers:,} workers have {units:,} units in {generations} generations, at most {MOST_UNITS:,} are "
            "simulated: set generation.units_per_worker or generation.games lower"
        )
    runs = [Simulation(costs, workers, lag=lag, seed=seed, generations=generations).run() for seed in seeds]
    traces = [run.trace for run in runs]
    spans = [trace.window[1] - trace.window[0] for trace in traces]
    present = [trace.seconds(trace.present) for trace in traces]
    speeds = [t.files_written() * costs.unit.positions / span for t, span in zip(traces, spans, strict=True)]
    waits = [
        {name: seconds / all_ for name, seconds in t.waits().items()} for t, all_ in zip(traces, present, strict=True)
    ]
    mean_waits = {name: fmean(found[name] for found in waits) for name in waits[0]}
    idle = fmean(1 - t.seconds(t.working) / all_ for t, all_ in zip(traces, present, strict=True))
    worst = max(mean_waits, key=mean_waits.__getitem__)
    pairs = list(zip(traces, spans, strict=True))
    files = fmean(trace.files_written() / span for trace, span in pairs)
    return Outcome(
        workers,
        lag,
        positions=fmean(speeds),
        low=min(speeds),
        high=max(speeds),
        share=fmean(speeds) / costs.ideal(workers),
        idle=idle,
        driver=fmean(trace.seconds(trace.driver) / span for trace, span in pairs),
        disk=files * costs.driver.write_seconds,
        out=fmean(trace.bytes_of(trace.sent) / 1e6 for trace in traces),
        in_=fmean(trace.bytes_of(trace.received) / 1e6 for trace in traces),
        net=fmean(trace.bytes_of(trace.nets) * span / 1e6 for trace, span in pairs) / (generations - 1),
        files=files,
        flying=fmean(trace.seconds(trace.flying) / span for trace, span in pairs),
        held=fmean(run.waiting_bytes / 1e6 for run in runs),
        retried=fmean(run.retried for run in runs),
        compared=fmean(run.compared for run in runs),
        generation=fmean(span / (generations - 1) for span in spans),
        bottleneck=NO_BOTTLENECK if idle < 1 - ENOUGH else worst,
        waits=mean_waits,
    )


class Limit(NamedTuple):
    """A resource that is full from so many workers on, by arithmetic alone: `workers` that never wait fill it."""

    resource: str
    workers: float
    a_unit: str


def limits(costs: ClusterCosts) -> Rows[Limit]:
    """Return the limits, the first that is reached first."""
    unit, driver, link = costs.unit, costs.driver, costs.link
    training = costs.unit.positions / costs.generation.train_positions_per_second
    serial = {
        "driver's processor": driver.cpu_seconds,
        "driver's disk": driver.write_seconds,
        "driver's network, in": unit.result_bytes / link.in_rate,
        "driver's network, out (units)": unit.task_bytes / link.out_rate,
        "training": training,
    }
    found = [Limit(name, unit.seconds / cost, f"{cost * 1e3:.3g} ms") for name, cost in serial.items() if cost > 1e-12]
    if costs.net.broadcast == "driver" and costs.generation.units_per_worker:
        cost = costs.net.bytes / link.out_rate / costs.machine.workers / costs.generation.units_per_worker
        found.append(Limit("driver's network, out (nets)", unit.seconds / cost, f"{cost * 1e3:.3g} ms"))
    return Rows(sorted(found, key=lambda limit: limit.workers))


def first_bottlenecks(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return each bottleneck with the least number of workers at which it is one."""
    found: dict[str, int] = {}
    for row in sorted(outcomes, key=lambda one: one.workers):
        if row.bottleneck != NO_BOTTLENECK:
            found.setdefault(row.bottleneck, row.workers)
    return found
