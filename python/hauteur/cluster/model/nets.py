"""What leaves the driver: units, and nets, which each machine gets once."""

from __future__ import annotations

from math import ceil, log2

from hauteur.cluster.model.costs import ClusterCosts
from hauteur.cluster.model.trace import Trace


class NetTransfer:
    """The driver's way out, where one message waits for the other, and the machines that have a net already.

    out_free: when everything that was sent is out.
    """

    def __init__(self, costs: ClusterCosts, trace: Trace) -> None:
        self._costs = costs
        self._trace = trace
        self.out_free = 0.0
        self._first: dict[int, float] = {}
        self._there: dict[int, dict[int, float]] = {}

    def send_task(self, when: float) -> float:
        """Send a unit; return when it is out."""
        return self._send(when, self._costs.unit.task_bytes)

    def at_machine(self, machine: int, net: int, when: float) -> float:
        """Return when a machine that asks for a net has it."""
        machines = self._there.setdefault(net, {})
        if machine not in machines:
            tree = self._costs.net.broadcast == "tree"
            machines[machine] = self._by_tree(net, len(machines), when) if tree else self._from_driver(when)
        return machines[machine]

    def forget(self, machine: int) -> None:
        """A new machine has no nets; the others keep theirs."""
        for machines in self._there.values():
            if machine in machines:
                machines[-len(machines) - 1] = machines.pop(machine)

    def _from_driver(self, when: float) -> float:
        return self._send_net(when) + self._costs.link.latency

    def _by_tree(self, net: int, others: int, when: float) -> float:
        """Return when the next machine has it: in each turn everybody that has the net sends it to one that has not."""
        link, size = self._costs.link, self._costs.net.bytes
        turns = ceil(log2(others + 2))
        first = self._first.setdefault(net, when)
        if others & (others + 1) == 0:  # the first of a turn gets it from the driver
            self._send_net(when)
        turn = size / min(link.out_rate, link.machine_rate) + link.latency
        return max(first + turns * turn, when + turn)

    def _send_net(self, when: float) -> float:
        out = self._send(when, self._costs.net.bytes)
        self._trace.nets.append(self._trace.sent[-1])
        return out

    def _send(self, when: float, size: int) -> float:
        self.out_free = max(self.out_free, when) + size / self._costs.link.out_rate
        self._trace.sent.append((self.out_free, size))
        return self.out_free
