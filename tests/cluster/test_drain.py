"""A request to end (SIGTERM): units in work are finished and kept, no other is begun; a second one ends at once."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from run_toys import Silent, assert_same_run, tiny
from simulated_fleet import Drive, Habits, SimulatedFleet, some_units
from thread_fleet import ThreadFleet

from hauteur.cluster.scheduler import Scheduler, UnitBatch
from hauteur.cluster.unit import Event, Finished
from hauteur.games.registry import load_game
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match
from hauteur.matches.settings import MatchSettings
from hauteur.players.settings import parse_player
from hauteur.system.files import leftovers
from hauteur.system.stopping import Stopped, StopRequest, stop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def no_request() -> Iterator[None]:
    yield
    stop.forget()


# -- the request -------------------------------------------------------------------------------------------------------


def test_a_request_ends_work_at_once_unless_it_is_put_off() -> None:
    request = StopRequest()
    done = []

    def work() -> None:
        with request.put_off():
            with pytest.raises(Stopped), request.put_off():
                request.arrive()
            done.append("goes on in the section around it")

    with pytest.raises(Stopped):
        work()
    assert len(done) == 1
    with pytest.raises(Stopped):
        request.arrive()
    request.forget()
    with request.put_off():
        pass


# -- the scheduler -----------------------------------------------------------------------------------------------------


def taken(batch: UnitBatch) -> list[str]:
    """Names of the units that come of a batch before it ends with Stopped."""
    found: list[str] = []

    def take() -> None:
        for played in batch:
            found.append(played.unit.name)

    with pytest.raises(Stopped):
        take()
    return found


def test_units_in_flight_come_and_no_other_is_given() -> None:
    fleet = SimulatedFleet(3)
    drive = Drive(fleet)
    first = drive.start(some_units(4), {})
    second = drive.start(some_units(50, name="later"), {})
    drive.until(1.0)
    stop.requested = True
    given = [unit.name for _, unit in fleet.submitted]
    assert len(given) == 6
    while drive._batches:
        drive.turn()
    assert sorted([played.unit.name for played in first] + taken(second)) == sorted(given)
    assert len(fleet.submitted) == 6
    with pytest.raises(Stopped):
        drive.start(some_units(1, name="new"), {})
    drive.close()
    assert drive.notes == ["units that were in work and are lost: 0"]


def test_a_worker_that_dies_meanwhile_is_not_waited_for() -> None:
    fleet = SimulatedFleet(2, lambda slot, _times: Habits(dies=lambda _unit, _n: slot == 1))
    drive = Drive(fleet)
    batch = drive.start(some_units(50), {})
    drive.until(0.5)
    stop.requested = True
    while drive._batches:
        drive.turn()
    kept = {unit.name for worker, unit in fleet.submitted if worker == "worker-0.0"}
    assert set(taken(batch)) == kept
    assert len(fleet.submitted) == 4


# -- runs and matches --------------------------------------------------------------------------------------------------


class Asking(Silent):
    """Asks the process to end, as SIGTERM does, once a step has got so far."""

    def __init__(self, step: str, count: int) -> None:
        super().__init__()
        self._step = step
        self._count = count

    @contextmanager
    def progress(self, step: str, *_: object) -> Iterator[Callable[[int], None]]:
        """Ask in a step that is meant."""

        def show(done: int) -> None:
            if step == self._step and done >= self._count and not stop.requested:
                stop.arrive()

        yield show


def run_until_asked(recipe: Recipe, folder: Path, display: Silent, workers: int) -> list[str]:
    """Learn until the request, then to the end; return lines about units after the request."""
    notes: list[str] = []
    with ExitStack() as stack:
        scheduler = None
        if workers:
            scheduler = stack.enter_context(closing(Scheduler(ThreadFleet(workers), on_note=notes.append)))
        with pytest.raises(KeyboardInterrupt):
            learn(recipe, folder=folder, display=display, scheduler=scheduler)
    assert stop.requested
    stop.forget()
    return notes


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(("step", "count"), [("self-play", 5), ("training", 1)])
def test_a_run_keeps_the_units_in_work_and_goes_on_to_the_same_net(
    tmp_path: Path, workers: int, step: str, count: int
) -> None:
    recipe = tiny(selfplay={"games": 60, "shard_games": 5, "max_policy_lag": 1})
    folder = tmp_path / "asked"
    notes = run_until_asked(recipe, folder, Asking(step, count), workers)
    assert notes == ["units that were in work and are lost: 0"] * bool(workers)
    units = len(list((folder / "games").glob("*.parquet")))
    assert units >= 1
    assert leftovers(folder) == []
    assert len((folder / "costs.jsonl").read_text().splitlines()) == units
    learn(recipe, folder=folder, display=Silent())
    learn(recipe, folder=tmp_path / "whole", display=Silent())
    assert_same_run(folder, tmp_path / "whole")


class HeldFleet(ThreadFleet):
    """Threads whose results, all but the first, are held until the request to end.

    Else, on a busy machine, the match would be over before the request.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.held: list[Event] = []
        self.told = False

    def wait(self, seconds: float) -> list[Event]:
        now: list[Event] = []
        for event in super().wait(seconds):
            if not isinstance(event, Finished):
                now.append(event)
            elif self.told:
                self.held.append(event)
            else:
                self.told = True
                now.append(event)
        if stop.requested:
            now += self.held
            self.held = []
        return now


def test_a_match_keeps_the_games_of_the_units_in_work(tmp_path: Path) -> None:
    players = {"a": parse_player("net=uniform visits=12"), "b": parse_player("random")}
    settings = MatchSettings.model_validate({"game": "tictactoe", "games": 400, "seed": 3, **players})
    match = Match(load_game("tictactoe"), settings, folder=MatchFolder(tmp_path))
    notes: list[str] = []

    def play() -> None:
        with closing(Scheduler(HeldFleet(2), on_note=notes.append)) as scheduler:
            for _ in match.play(scheduler):
                if not stop.requested:
                    stop.arrive()

    with pytest.raises(KeyboardInterrupt):
        play()
    assert notes == ["units that were in work and are lost: 0"]
    games = [game.index for game in match.games()]
    assert 0 < len(games) < 400
    assert len(games) % 16 == 0
    stop.forget()
    again = Match(load_game("tictactoe"), settings, folder=MatchFolder(tmp_path))
    left = [game.index for game in again.play()]
    assert sorted(games + left) == list(range(400))


# -- the commands ------------------------------------------------------------------------------------------------------

MATCH = ["match", "net=uniform visits=60", "net=uniform visits=40", "--game", "connect4", "--games", "4000"]


def begun(folder: Path, file: str, *words: str) -> subprocess.Popen[str]:
    """A command, once a file of its folder has content."""
    command = [sys.executable, "-m", "hauteur.cli", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not ((folder / file).is_file() and (folder / file).stat().st_size):
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"the command has ended: {process.communicate()}")
    return process


def test_a_match_ends_by_sigterm_as_by_ctrl_c(tmp_path: Path) -> None:
    words = [*MATCH, "--workers", "2", "--threads", "1", "--out", str(tmp_path)]
    process = begun(tmp_path, "games.jsonl", *words)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "units that were in work and are lost: 0" in said
    assert "match interrupted after" in said
    assert "the same command goes on with it" in said
    assert (tmp_path / "report.html").is_file()


def assert_it_ends_while_it_works(before: str, after: str) -> None:
    """Take SIGTERM in a section that puts it off, then run `after` there, which must not return."""
    code = f"""
import os, signal
from hauteur.cli import interrupts
from hauteur.system.stopping import stop
{before}
signal.signal(signal.SIGTERM, interrupts.end_in_order)
with stop.put_off():
    os.kill(os.getpid(), signal.SIGTERM)
    print("goes on", flush=True)
    {after}
    print("never")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "goes on\n")


def test_a_second_sigterm_ends_at_once() -> None:
    assert_it_ends_while_it_works("", "os.kill(os.getpid(), signal.SIGTERM)")


def test_units_that_take_too_long_are_not_waited_for() -> None:
    assert_it_ends_while_it_works("interrupts.MOST_SECONDS = 1", "signal.pause()")
