"""What pages show of a folder of work and of the job in it: the state, what is wrong, what can be done."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hauteur.system.folders import FolderFacts, FoundFolder
from hauteur.web.job_orders import can_go_on
from hauteur.web.jobs import Job

if TYPE_CHECKING:
    from hauteur.web.app import Lab

STOP = ("stop", "Stop")
STOP_AT_ONCE = ("stop", "Stop at once")
GO_ON = ("go_on", "Continue")
AGAIN = ("go_on", "Try again")
REMOVE = ("remove", "Remove")
"""What can be done: the request of the session about jobs, and the label of the button."""


@dataclass(frozen=True)
class WorkState:
    """State of work in a word, what is wrong with it or with its job, and the buttons: requests and their labels."""

    state: str
    problem: str | None
    actions: tuple[tuple[str, str], ...]

    @property
    def in_progress(self) -> bool:
        """Whether a process works."""
        return self.state in ("running", "starting", "stopping")


@dataclass(frozen=True)
class Row:
    """A line of a list of runs or matches."""

    name: str
    """Name of the folder in lists, which addresses have."""
    title: str
    """What is done there, in a few words."""
    work: WorkState
    """State of the work, and what can be done with it."""
    found: FoundFolder | None = None
    """The folder; None: the job has none yet."""
    changed: float = math.inf
    """When its files were last written, seconds since 1970; infinite without a folder, so that it comes first."""
    more: Any = None
    """Facts of the kind of work, for the template of the list; None where its files cannot be read."""


def work_state(lab: Lab, found: FoundFolder) -> WorkState:
    """Return the state of the work in a folder."""
    facts = lab.folders.facts(found)
    job = lab.jobs.find(found.name)
    if job is not None:
        return _state_of_job(job, facts)
    goes_on = facts.state == "stopped" and facts.problem is None and can_go_on(found)
    return WorkState(facts.state, facts.problem, (GO_ON,) if goes_on else ())


def rows_of(lab: Lab, kind: str, found: Sequence[FoundFolder], more: Callable[[FoundFolder], Any]) -> list[Row]:
    """Return the lines of a list: the work in these folders, and jobs of this kind that have no folder yet.

    more: makes the facts of a folder whose files can be read. Work in progress comes first, then the newest.
    """
    rows = []
    names = set()
    for one in found:
        facts = lab.folders.facts(one)
        known = more(one) if facts.problem is None else None
        state = work_state(lab, one)
        rows.append(Row(one.name, facts.title, state, one, facts.changed, known))
        names.add(one.name)
    for job in lab.jobs.all():
        if job.kind == kind and job.name not in names:
            rows.append(Row(job.name, job.title, _state_of_job(job, None)))

    def order(row: Row) -> tuple[bool, bool, float]:
        return not row.work.in_progress, row.work.state != "waiting", -row.changed

    return sorted(rows, key=order)


def _state_of_job(job: Job, facts: FolderFacts | None) -> WorkState:
    """Return the state of a job. facts: of its folder, None: there is none yet."""
    problem = job.line or (facts.problem if facts is not None else None)
    match job.state:
        case "failed":
            return WorkState("failed", problem, (AGAIN, REMOVE))
        case "stopping":
            return WorkState("stopping", problem, (STOP_AT_ONCE,))
        case "running" if facts is None or facts.state != "running":
            return WorkState("starting", problem, (STOP,))
    return WorkState(job.state, problem, (STOP,))
