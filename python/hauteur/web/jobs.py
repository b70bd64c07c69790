"""Jobs: learning runs and matches that pages begin, each a process of the command line.

A job has a folder of work and the words of the command that works there, as a terminal would begin it, so it goes on
with the same files from either place. Some run at a time, the others wait in order. The process has a pipe as its
standard input, and is interrupted, as by Ctrl-C, when that ends: to stop it, and where the server is gone.

A job that has ended is none any more: its folder says how far it came. One that has failed stays with its line.
"""

import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal, NamedTuple

from hauteur.system.errors import explain
from hauteur.system.files import write_json
from hauteur.system.folders import FolderList
from hauteur.system.formatting import ended_with, in_a_line
from hauteur.system.plugins import environment_for_processes
from hauteur.web.settings import WebSettings

SESSION = "jobs"
"""Name of the session of pages that begin and stop jobs (`hauteur.web.job_session`)."""

COMMAND = (sys.executable, "-P", "-m", "hauteur.cli.attended")
"""Starts a job; the words of its command follow."""

EXIT_INTERRUPTED = 130
"""Exit status of a command that was interrupted."""

FORM_FILE = "form.json"
"""What a page was given to begin a match, in its folder: with it the match goes on."""

MOST_WAITING = 20
"""Jobs that may wait."""

MOST_LINE = 500
"""Characters of the line of a job that has failed."""

PATIENCE = 10.0
"""Seconds that jobs have to end with the server; then they are killed, as their files are whole at any time."""

JobState = Literal["waiting", "running", "stopping", "failed"]


@dataclass
class Job:
    """Work in a folder, done by a command."""

    name: str
    """Name of the folder in lists, by which pages ask for the job."""
    kind: Literal["run", "match"]
    """A learning run or a match."""
    title: str
    """What is done, in a few words."""
    folder: Path
    """The folder, which the command makes."""
    words: tuple[str, ...]
    """The words of the command after `hauteur`."""
    form: dict[str, Any] | None = None
    """What a page was given, kept in FORM_FILE so that the work can go on; None: the folder itself says it."""
    state: JobState = "waiting"
    """How far it is; one that has ended well is a job no more."""
    line: str = ""
    """Why it has failed, in one line; empty where it has not."""
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)
    """The process of the command; None before it has begun, and after its end."""


class Jobs:
    """The jobs of a server. Threads may use it together. most: that run at a time."""

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._jobs: dict[str, Job] = {}
        self._changed = threading.Condition()
        self._closed = False

    def all(self) -> list[Job]:
        """Return the jobs, those that have begun first before the others."""
        with self._changed:
            return list(self._jobs.values())

    def find(self, name: str) -> Job | None:
        """Return the job in the folder of this name; None where there is none."""
        return self._jobs.get(name)

    def begin(self, job: Job) -> None:
        """Start a job, or let it wait for its turn. Raise ValueError where its folder has one, or too many wait."""
        with self._changed:
            known = self._jobs.get(job.name)
            if known is not None and known.state != "failed":
                raise ValueError(f"{job.name} is {known.state} already")
            waiting = [one for one in self._jobs.values() if one.state == "waiting"]
            if len(waiting) >= MOST_WAITING:
                raise ValueError(f"{MOST_WAITING} runs and matches wait already: stop one of them first")
            self._jobs.pop(job.name, None)
            self._jobs[job.name] = job  # after those that came before
            self._start_waiting()

    def stop(self, name: str) -> None:
        """Ask a job to end where its work can go on later; one that is asked again ends at once, one that waits now.

        Raise ValueError where there is no such job.
        """
        with self._changed:
            job = self._jobs.get(name)
            if job is None or job.state == "failed":
                raise ValueError(f"{name[:200]} is not run by this server, so it cannot stop it")
            if job.process is None:
                del self._jobs[name]
            elif job.state == "stopping":
                job.process.kill()
            else:
                _ask_to_end(job)

    def remove(self, name: str) -> None:
        """Forget a job that has failed. Raise ValueError where there is no such job."""
        with self._changed:
            job = self._jobs.get(name)
            if job is None or job.state != "failed":
                raise ValueError(f"{name[:200]} has not failed")
            del self._jobs[name]

    def close(self) -> int:
        """End all jobs, and kill those that take longer than PATIENCE. Return how many were running."""
        with self._changed:
            self._closed = True
            running = self._running()
            for job in running:
                _ask_to_end(job)
            if not self._changed.wait_for(lambda: not self._running(), PATIENCE):
                for job in self._running():
                    assert job.process is not None
                    job.process.kill()
                self._changed.wait_for(lambda: not self._running(), PATIENCE)
        return len(running)

    def _running(self) -> list[Job]:
        """Return the jobs with a process, those that were asked to end included; the lock is held."""
        return [job for job in self._jobs.values() if job.process is not None]

    def _start_waiting(self) -> None:
        """Start jobs in the order in which they came, as far as the server allows; the lock is held."""
        for job in [job for job in self._jobs.values() if job.state == "waiting"]:
            if self._closed or len(self._running()) >= self._most:
                return
            self._start(job)

    def _start(self, job: Job) -> None:
        """Start the process of a job, away from the terminal of the server; a job that cannot start has failed."""
        log = TemporaryFile()  # noqa: SIM115  (closed by the thread that waits for the process)
        try:
            keep_form(job)
            job.process = subprocess.Popen(
                (*COMMAND, *job.words),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=environment_for_processes(),
                start_new_session=True,  # Ctrl-C in the terminal is for the server, which then ends its jobs
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except (OSError, ValueError) as error:  # ValueError: no system takes such a word
            log.close()
            job.state = "failed"
            job.line = str(explain(error))
            forget_form(job)
            return
        job.state = "running"
        threading.Thread(target=self._attend, args=(job, job.process, log), name=job.name, daemon=True).start()

    def _attend(self, job: Job, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
        """Wait until a job ends, then let the next one begin."""
        status = process.wait()
        with self._changed, log:
            job.process = None
            if status in (0, EXIT_INTERRUPTED) or job.state == "stopping":
                del self._jobs[job.name]
            else:
                job.state = "failed"
                job.line = last_line(log) or ended_with(status)
            forget_form(job)
            self._start_waiting()
            self._changed.notify_all()


class Desk(NamedTuple):
    """What pages that begin jobs need: orders are checked against settings and folders."""

    settings: WebSettings
    folders: FolderList
    jobs: Jobs


def _ask_to_end(job: Job) -> None:
    """Interrupt the process of a job."""
    job.state = "stopping"
    assert job.process is not None
    assert job.process.stdin is not None
    with suppress(OSError):  # it may have ended
        job.process.stdin.close()


def last_line(log: IO[bytes]) -> str:
    """Return the last line of what a command has printed: of an error its message."""
    size = log.seek(0, 2)
    log.seek(max(0, size - 8 * MOST_LINE))
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    return in_a_line(last.removeprefix("hauteur: "))[:MOST_LINE]


def keep_form(job: Job) -> None:
    """Write the form of a job into its folder, which is made."""
    if job.form is not None:
        job.folder.mkdir(parents=True, exist_ok=True)
        write_json(job.folder / FORM_FILE, job.form)


def forget_form(job: Job) -> None:
    """Delete the folder of a job that has left nothing there but its form."""
    if not job.folder.is_dir():
        return
    form = job.folder / FORM_FILE
    if list(job.folder.iterdir()) == [form]:
        form.unlink()
        job.folder.rmdir()
