"""Comparisons: some units are played again by another worker of the same device class, and must give the same games.

Of each block of `round(1 / share)` units of a worker one is compared, at a place that is drawn by a hash. So a worker
whose games are all altered is compared within its first 100 units at the default share of 1 %, whatever the draw. A
worker that alters each unit with probability p is found in a block with probability p: in n blocks with 1 - (1 - p)^n.
That is the least, as it also plays units that others are compared with: of 100 simulated fleets of three workers, a
worker that alters 10 %, 50 % and 90 % of its units was found within 200 units in 39, 99 and 100.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hauteur.cluster.played import UnitState
from hauteur.cluster.present import Present

MOST_VOTERS = 5
"""Workers that are asked for a unit whose results differ."""


def is_drawn(share: float, seed: int, worker: str, number: int) -> bool:
    """Return whether a unit is compared. share: 0 to 1; number: of the unit among the worker's, from 0."""
    if share == 0:
        return False
    block, place = divmod(number, round(1 / share))
    text = f"{seed} {worker} {block}".encode()
    return place == int.from_bytes(hashlib.sha256(text).digest()[:8]) % round(1 / share)


@dataclass
class Vote:
    """What a worker has made of a unit: the digest of each time that it played it. host: where it is."""

    host: str
    digests: list[str]


@dataclass(frozen=True)
class Verdict:
    """What a comparison has found. digest: the right one; wrong: workers that gave others, and what they gave."""

    digest: str
    wrong: Mapping[str, str]


@dataclass(eq=False)
class UnitComparison:
    """A unit that is played again, by workers of one device class.

    votes: of each worker; asked: the worker that plays it now; failed: workers that could not play it; stuck: since
    when nobody can be asked.
    """

    state: UnitState
    device_class: str
    votes: dict[str, Vote]
    asked: str | None = None
    failed: set[str] = field(default_factory=set)
    stuck: float | None = None

    @property
    def differs(self) -> bool:
        """Whether two results were different."""
        return len({digest for vote in self.votes.values() for digest in vote.digests}) > 1

    def add(self, worker: Present, digest: str) -> None:
        """Take the result of a worker."""
        if self.asked == worker.name:
            self.asked = None
        self.votes.setdefault(worker.name, Vote(worker.facts.host, [])).digests.append(digest)

    def asks(self, worker: Present, workers: Mapping[str, Present]) -> bool:
        """Return whether a worker shall play the unit now: one that has not, of another host if there is one; where
        results differ and there is none, those that have played it, a second time.
        """
        if self.asked is not None or self.state.unit.key in worker.units or not self._fits(worker):
            return False
        if worker.name in self.votes:
            return self._may_vote(worker) and next(self._others(workers), None) is None
        hosts = {vote.host for vote in self.votes.values()}
        return worker.facts.host not in hosts or all(other.facts.host in hosts for other in self._others(workers))

    def can_go_on(self, workers: Mapping[str, Present]) -> bool:
        """Return whether a worker plays the unit, or may be asked to, once it has room."""
        return self.asked is not None or any(
            self._fits(worker) and self._may_vote(worker) for worker in workers.values()
        )

    def verdict(self, *, nobody_left: bool = False) -> Verdict | None:
        """Return what was found; None while it is not known.

        Right is what two workers agree in. nobody_left: nobody can be asked any more; then right is what the only
        worker gave that does not contradict itself, and there is no verdict where there are two such workers, or none.
        """
        steady = {name: vote.digests[0] for name, vote in self.votes.items() if len(set(vote.digests)) == 1}
        for digest in steady.values():
            if list(steady.values()).count(digest) >= 2:
                return self._against(digest)
        if nobody_left and len(steady) == 1 and len(self.votes) > 1:
            return self._against(*steady.values())
        return None

    def _may_vote(self, worker: Present) -> bool:
        """Return whether a worker has not played it, or where results differ has played it once alone."""
        vote = self.votes.get(worker.name)
        return vote is None or (self.differs and len(vote.digests) == 1)

    def _others(self, workers: Mapping[str, Present]) -> Iterator[Present]:
        """Yield the workers that could play it for the first time."""
        return (one for one in workers.values() if self._fits(one) and one.name not in self.votes)

    def _against(self, right: str) -> Verdict:
        wrong = {name: vote.digests for name, vote in self.votes.items() if set(vote.digests) != {right}}
        return Verdict(right, {name: " and ".join(dict.fromkeys(digests)) for name, digests in wrong.items()})

    def _fits(self, worker: Present) -> bool:
        known = worker.name in self.votes or len(self.votes) < MOST_VOTERS
        return known and worker.facts.device_class == self.device_class and worker.name not in self.failed
