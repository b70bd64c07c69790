"""The simulation: generations of learning by many workers, event by event, with the policy of the scheduler.

Two units in flight a worker, the least busy first; lost units come back to the front; a share of the units is played
again by another worker; what was started first comes first, the gate before all.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from hauteur.cluster.batch import FEWEST_UNTAKEN, UNTAKEN_OF_A_WORKER
from hauteur.cluster.crew import IN_FLIGHT
from hauteur.cluster.model.costs import ClusterCosts
from hauteur.cluster.model.moving import SimulatedWorker, UnitFlight, WorkSet
from hauteur.cluster.model.nets import NetTransfer
from hauteur.cluster.model.trace import Trace


class Simulation:
    """A run of some generations. After `run`, `trace` has what happened.

    works: self-play of all generations and gates, in the order of their start; retried: units that were lost; compared:
    units played again; waiting_bytes: most bytes of results that the driver held at a time.
    """

    def __init__(self, costs: ClusterCosts, workers: int, *, lag: int, seed: int, generations: int) -> None:
        self.costs, self.workers, self.lag, self.generations = costs, workers, lag, generations
        self.trace = Trace()
        self.works: list[WorkSet] = []
        self.retried = self.compared = self.waiting_bytes = 0
        self._random = np.random.default_rng([seed, workers, lag])
        self._now = self._busy_until = self._write_free = self._in_free = 0.0
        self._last_end = self._step_until = self._background_until = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._nets = NetTransfer(costs, self.trace)
        speeds = self._factors(workers, costs.unit.speed_spread)
        self._places = [SimulatedWorker(i, i // costs.machine.workers, speed) for i, speed in enumerate(speeds)]
        self._room: list[dict[int, None]] = [{} for _ in range(IN_FLIGHT)]
        self._inbox: list[Callable[[], None]] = []
        self._results = 0
        self._open: list[WorkSet] = []
        self._round_began = self._round_spent = self._beside = 0.0
        self._generation, self._started, self._step = 1, 0, "stragglers"
        self._unwritten, self._most_unwritten = 0, max(FEWEST_UNTAKEN, UNTAKEN_OF_A_WORKER * workers)
        self._batches: dict[int, WorkSet] = {}

    def run(self) -> Simulation:
        """Simulate until the last generation has ended."""
        for machine in range(-(-self.workers // self.costs.machine.workers)):
            self._machine_comes(machine)
        self._begin_generation()
        while len(self.trace.ends) < self.generations:
            self._now, _, action = heapq.heappop(self._events)
            action()
            self._note_cause()
        for place in self._places:
            self._leave(place)
        return self

    def _at(self, when: float, action: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, action))

    # generations

    def _begin_generation(self) -> None:
        """Start the self-play of all generations whose net is there, then collect that of the present one."""
        self._step = "driver"
        if self._started < self._generation + self.lag:
            self._started += 1
            work = self._batches[self._started] = self._selfplay(self._started)
            self._background(len(work.seconds) * self.costs.driver.plan_seconds, lambda: self._planned(work))
            return
        self._step = "stragglers"
        if self._batches[self._generation].missing == 0:
            self._read()

    def _planned(self, work: WorkSet) -> None:
        self._start(work)
        self._begin_generation()

    def _selfplay(self, generation: int) -> WorkSet:
        unit = self.costs.unit
        seconds = [unit.seconds * factor for factor in self._factors(self.costs.units(self.workers), unit.spread)]
        net = max(0, generation - 1 - self.lag)
        return WorkSet(("self-play", generation), net, seconds, unit.tail * unit.seconds)

    def _factors(self, count: int, spread: float) -> list[float]:
        """Return log-normal factors whose mean is 1."""
        found = np.exp(spread * self._random.standard_normal(count))
        factors: list[float] = (found / found.mean()).tolist()
        return factors

    def _start(self, work: WorkSet, *, first: bool = False) -> None:
        self.works.append(work)
        self._open.insert(0 if first else len(self._open), work)
        self._receive(lambda: None)

    def _read(self) -> None:
        """All files of the generation are there."""
        units = len(self._batches.pop(self._generation).seconds)
        self._step = "driver"
        self._background(units * self.costs.driver.read_seconds, lambda: self._train(units))

    def _background(self, seconds: float, then: Callable[[], None]) -> None:
        """Let the main thread compute for so long; it and rounds of the scheduler delay each other."""
        shared = min(seconds, max(0.0, self._busy_until - self._now))
        self._busy_until += shared
        self._background_until = self._now + seconds + shared
        self.trace.driver.append((self._now, self._now + seconds))
        self._at(self._background_until, lambda: self._background_end(then))

    def _background_end(self, then: Callable[[], None]) -> None:
        if self._now < self._background_until:
            self._at(self._background_until, lambda: self._background_end(then))
        else:
            then()

    def _train(self, units: int) -> None:
        self._step = "training"
        self._at(self._now + self.costs.train_seconds(units), self._gate)

    def _gate(self) -> None:
        costs = self.costs.generation
        self._step, self._step_until = "gate", self._now + costs.gate_seconds
        if not costs.gate_units:
            self._end_generation()
            return
        seconds = [costs.gate_seconds] * min(costs.gate_units, IN_FLIGHT * self.workers)
        self._start(WorkSet(("gate", self._generation), self._generation, seconds, 0.0), first=True)

    def _end_generation(self) -> None:
        self.trace.ends.append(self._now)
        self._generation += 1
        self._begin_generation()

    # the driver

    def _receive(self, event: Callable[[], None], *, result: bool = False) -> None:
        """Take what has happened to the driver, which looks at it once it has ended its present round."""
        self._inbox.append(event)
        self._results += result
        if self._now >= self._busy_until:
            self._round()

    def _round(self) -> None:
        """Take all that has happened, then give units away: a round of the scheduler's loop."""
        begin, events = self._now, self._inbox
        self._inbox, self._results = [], 0
        self._round_began, self._round_spent = begin, 0.0
        self._beside = max(0.0, self._background_until - begin)
        self._spend(self.costs.driver.round_seconds * len(self._places))
        for event in events:
            event()
        for depth in range(IN_FLIGHT):
            if self._unwritten <= self._most_unwritten and any(work.waiting for work in self._open):
                self._give(depth)
        self._background_until += min(self._round_spent, self._beside)
        self.trace.driver.append((begin, begin + self._round_spent))
        self._at(self._busy_until, self._next_round)

    def _spend(self, seconds: float) -> None:
        """Use the processor in a round: for twice as long while the main thread computes too."""
        self._round_spent += seconds
        self._busy_until = self._round_began + self._round_spent + min(self._round_spent, self._beside)

    def _next_round(self) -> None:
        if self._now < self._busy_until:  # the main thread has delayed the end
            self._at(self._busy_until, self._next_round)
        elif self._inbox:
            self._round()

    def _give(self, depth: int) -> None:
        for number in list(self._room[depth]):
            flight = self._next_flight(number)
            if flight is None:
                if not any(work.waiting for work in self._open):
                    return
                continue
            place = self._places[number]
            self._spend(self.costs.driver.give_seconds)
            place.flights.append(flight)
            self._seat(number)
            self._fly(place, flight, self._busy_until)

    def _next_flight(self, number: int) -> UnitFlight | None:
        """Take the next unit for a worker: none that it has played itself."""
        for work in self._open:
            for i, (unit, avoid) in enumerate(work.waiting):
                if avoid != number:
                    del work.waiting[i]
                    return UnitFlight(work, unit, avoid)
        return None

    def _seat(self, number: int) -> None:
        """Note how many units a worker has."""
        place = self._places[number]
        for depth, room in enumerate(self._room):
            if place.joined is not None and len(place.flights) == depth:
                room[number] = None
            else:
                room.pop(number, None)

    # a worker

    def _fly(self, place: SimulatedWorker, flight: UnitFlight, when: float) -> None:
        """Send a unit to a worker, which plays its units one after another."""
        work, costs = flight.work, self.costs
        flight.given = when
        arrival = self._nets.send_task(when) + costs.link.latency
        begin = max(arrival, place.free)
        if work.job not in place.jobs:
            there = self._nets.at_machine(place.machine, work.net, when)
            until = max(begin, there) + costs.net.load_seconds
            place.fetching.append((max(when, place.free), until))
            place.jobs = [*place.jobs[-1:], work.job]
            begin = until
        seconds = work.seconds[flight.unit] / place.speed
        flight.begin, flight.end = begin, begin + seconds
        place.free = flight.end
        self._last_end = max(self._last_end, flight.end + work.tail)
        life = place.life
        self._at(flight.end, lambda: self._worked(place, flight, life))

    def _worked(self, place: SimulatedWorker, flight: UnitFlight, life: int) -> None:
        """Hand a unit in; one that is alone at its worker has taken longer, because nothing filled its batches."""
        if flight.work.tail and all(other is flight or other.sent for other in place.flights):
            self._at(self._now + flight.work.tail, lambda: self._hand_in(place, flight, life))
        else:
            self._hand_in(place, flight, life)

    def _hand_in(self, place: SimulatedWorker, flight: UnitFlight, life: int) -> None:
        if place.life != life:
            return
        link, size = self.costs.link, self.costs.unit.result_bytes
        flight.sent = True
        self.trace.working.append((flight.begin, flight.end))
        self._in_free = max(self._in_free, self._now) + size / link.in_rate
        self.trace.received.append((self._in_free, size))
        arrival = self._in_free + link.latency
        self._at(arrival, lambda: self._receive(lambda: self._finished(place, flight), result=True))

    def _finished(self, place: SimulatedWorker, flight: UnitFlight) -> None:
        """Take a result, as the scheduler does."""
        work, costs = flight.work, self.costs.driver
        self._spend(costs.take_seconds + costs.write_cpu_seconds)
        if flight in place.flights:
            place.flights.remove(flight)
            self.trace.flying.append((flight.given, self._busy_until))
            self._seat(place.number)
        if work.job[0] == "gate" or flight.avoid is not None:
            self._at(self._busy_until, lambda: self._complete(work))
        if flight.avoid is not None:
            return
        work.played[flight.unit] += 1
        if work.job[0] == "gate":
            return
        if self.workers > 1 and self._random.random() < self.costs.generation.compared:
            self.compared += 1
            work.missing += 1
            work.waiting.appendleft((flight.unit, place.number))
        self._unwritten += 1
        self.waiting_bytes = max(self.waiting_bytes, self._unwritten * self.costs.unit.result_bytes)
        self._write_free = max(self._write_free, self._busy_until) + costs.write_seconds
        self._at(self._write_free, lambda: self._written(work))

    def _written(self, work: WorkSet) -> None:
        self._unwritten -= 1
        if self._unwritten == self._most_unwritten:
            self._receive(lambda: None)
        self.trace.files.append(self._now)
        self._complete(work)

    def _complete(self, work: WorkSet) -> None:
        work.missing -= 1
        if work.missing:
            return
        self._open.remove(work)
        if work.job[0] == "gate":
            self._end_generation()
        elif work.job[1] == self._generation and self._step == "stragglers":
            self._read()

    # machines

    def _machine_comes(self, machine: int) -> None:
        costs = self.costs.machine
        self._nets.forget(machine)
        for number in self._places_of(machine):
            place = self._places[number]
            place.joined, place.free = self._now, self._now
            self._receive(lambda number=number: self._seat(number))  # type: ignore[misc]
        if costs.lost_per_hour:
            alive = float(self._random.exponential(3600 / costs.lost_per_hour))
            self._at(self._now + alive, lambda: self._machine_goes(machine))

    def _machine_goes(self, machine: int) -> None:
        costs = self.costs.machine
        for number in self._places_of(machine):
            place = self._places[number]
            lost = self._leave(place)
            place.life += 1
            place.joined, place.flights, place.jobs = None, [], []
            self._seat(number)
            noticed = self._now + costs.noticed_seconds
            self._at(noticed, lambda lost=lost: self._receive(lambda: self._lost(lost)))  # type: ignore[misc]
        comes = self._now + costs.replaced_seconds + costs.start_seconds
        self._at(comes, lambda: self._machine_comes(machine))

    def _leave(self, place: SimulatedWorker) -> list[UnitFlight]:
        """Note what a worker has done until now; return the units that it has not handed in."""
        if place.joined is not None:
            self.trace.present.append((place.joined, self._now))
        lost = [flight for flight in place.flights if not flight.sent]
        self.trace.flying += [(flight.given, max(flight.given, self._now)) for flight in place.flights]
        begun = [flight for flight in lost if flight.begin < self._now]
        self.trace.fetching += [(since, min(until, self._now)) for since, until in place.fetching if since < self._now]
        place.fetching = []
        self.trace.working += [(flight.begin, min(flight.end, self._now)) for flight in begun]
        return lost

    def _lost(self, flights: list[UnitFlight]) -> None:
        """Give lost units to others, before all that wait."""
        for flight in flights:
            self.retried += 1
            flight.work.waiting.appendleft((flight.unit, flight.avoid))

    def _places_of(self, machine: int) -> range:
        size = self.costs.machine.workers
        return range(machine * size, min((machine + 1) * size, self.workers))

    # what idle workers wait for

    def _note_cause(self) -> None:
        cause = self._cause()
        if not self.trace.causes or self.trace.causes[-1][1] != cause:
            self.trace.causes.append((self._now, cause))

    def _cause(self) -> str:
        """Return what a worker without a unit waits for now: of what must still happen, what takes longest."""
        if self._step == "training" and not any(work.waiting for work in self._open):
            return "training"
        left = {
            "driver": max(0.0, self._busy_until - self._now) + self._results * self.costs.driver.take_seconds,
            "disk": self._write_free - self._now,
            "network": max(self._in_free, self._nets.out_free) - self._now,
        }
        if not any(work.waiting for work in self._open):
            if self._step == "stragglers":
                left["stragglers"] = self._last_end - self._now
            elif self._step == "gate":
                left["gate"] = self._step_until - self._now
        return max(left, key=left.__getitem__)
