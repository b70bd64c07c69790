"""Jobs: commands of checked parts, what they print, their end; as many as may run, one a folder."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from async_runs import run_async

from hauteur.web import jobs
from hauteur.web.jobs import Job, JobCommand, Jobs

LONG = {"game": "nogo(size=9)", "games": "100000"}


def match(folder: Path, **options: str) -> JobCommand:
    return JobCommand("match", "a match", folder, ("random", "random"), {**options, "out": str(folder)})


async def printed(job: Job, wanted: Path) -> None:
    """Wait until the job has made a file."""
    while not wanted.exists():
        assert job.is_running, list(job.lines)
        await asyncio.sleep(0.02)


def test_a_command_runs_to_its_end_with_what_it_prints(tmp_path: Path) -> None:
    async def play() -> Job:
        running = Jobs(most=1)
        job = await running.start(match(tmp_path / "m", game="tictactoe", games="4"))
        assert running.find(job.number) is running.of(tmp_path / "m") is job
        with pytest.raises(ValueError, match="1 jobs run, the most at a time"):
            await running.start(match(tmp_path / "n", game="tictactoe"))
        await job.wait()
        await running.close()
        return job

    job = run_async(play())
    assert job.state == "finished"
    assert job.stamp == f"1-finished-{len(job.lines)}"
    assert any(line.startswith("4 games") for line in job.lines)


def test_what_goes_wrong_is_told(tmp_path: Path) -> None:
    async def play() -> Job:
        job = await Jobs(most=1).start(match(tmp_path / "m", game="ludo"))
        await job.wait()
        return job

    job = run_async(play())
    assert job.state == "failed"
    assert "ludo" in job.lines[-1]


def test_stopped_jobs_can_be_resumed_and_end_with_the_server(tmp_path: Path) -> None:
    async def play() -> tuple[Job, Job]:
        running = Jobs(most=2)
        first = await running.start(match(tmp_path / "m", **LONG))
        await printed(first, tmp_path / "m" / "games.jsonl")
        with pytest.raises(ValueError, match="a match runs in this folder already"):
            await running.start(match(tmp_path / "m", **LONG))
        first.stop()
        assert first.state == "stopping"
        await first.wait()
        done = (tmp_path / "m" / "games.jsonl").read_text().count("\n")
        second = await running.start(match(tmp_path / "m", **LONG))
        while (tmp_path / "m" / "games.jsonl").read_text().count("\n") <= done:
            await asyncio.sleep(0.02)
        await running.close()
        return first, second

    first, second = run_async(play())
    assert (first.state, second.state) == ("stopped", "stopped")
    assert not (tmp_path / "m" / ".lock").exists()


def test_a_process_that_does_not_listen_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", (0.1, 0.1))

    async def play() -> Job:
        job = await Jobs(most=1).start(match(tmp_path / "m", **LONG))
        await printed(job, tmp_path / "m" / "games.jsonl")
        os.kill(job.pid, signal.SIGSTOP)
        job.stop()
        await job.wait()
        return job

    assert run_async(play()).state == "stopped"


@pytest.mark.parametrize(
    ("command", "arguments", "options", "message"),
    [
        ("net get", (), {}, "'net get' cannot be started from a page"),
        ("train", ("--run=elsewhere",), {}, "an argument cannot begin with a dash"),
        ("train", ("-x",), {}, "an argument cannot begin with a dash"),
        ("train", ("a\0b",), {}, "not an argument"),
        ("train", ("",), {}, "not an argument"),
        ("train", ("x" * 5000,), {}, "not an argument"),
        ("match", (), {"out x": "y"}, "not the name of an option: 'out x'"),
        ("match", (), {"out": "a\nb"}, "not an argument"),
    ],
)
def test_parts_that_could_be_something_else(
    command: str, arguments: tuple[str, ...], options: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        JobCommand(command, "x", Path("x"), arguments, options)


def test_words_of_a_command() -> None:
    options: dict[str, str | bool] = {"fresh": True, "json": False, "run": "--import=x"}
    command = JobCommand("tune ratio", "x", Path("x"), ("a b", "c=--d"), options)
    assert command.words == ["tune", "ratio", "a b", "c=--d", "--fresh", "--run=--import=x"]
