"""Runs and matches that pages begin: what is allowed, how many run at a time, how they stop, fail and go on."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile import Hostile
from lab_browser import NARROW, Windows, axe_faults, start_lab, stop_lab, too_wide
from playwright.sync_api import Browser, Page, expect
from report_toys import folder_with, line
from starlette.testclient import TestClient

from hauteur.system.files import write_json
from hauteur.system.folders import FolderList
from hauteur.system.hardware import usable_cores
from hauteur.system.lock import is_locked
from hauteur.web import jobs as jobs_module
from hauteur.web.app import create_app
from hauteur.web.job_orders import MatchOrder, RunOrder, match_job, resumed_job, run_job
from hauteur.web.job_session import JobSession
from hauteur.web.jobs import FORM_FILE, Desk, Job, Jobs
from hauteur.web.pages.matches import PAGE as MATCHES
from hauteur.web.sessions.pool import reply_of
from hauteur.web.sessions.session import SessionSettings
from hauteur.web.settings import WebSettings

LONG = 240_000
"""Milliseconds that a run may take."""

ENDS_WHEN_ASKED = "import sys; sys.stdin.read(); sys.exit(130)"
IS_DEAF = "import time; time.sleep(1000)"
IS_DONE = "pass"
FAILS = "import sys; print('a line before', file=sys.stderr); sys.exit('hauteur: net.pb: no such file')"
IS_KILLED = "import os; os.kill(os.getpid(), 9)"


def until(is_so: Callable[[], object]) -> None:
    """Wait for a state."""
    while not is_so():
        time.sleep(0.02)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    """Jobs whose words are a program of Python in the place of a command of hauteur."""
    monkeypatch.setattr(jobs_module, "COMMAND", (sys.executable, "-c"))
    found = Jobs()
    yield found
    found.close()


def job(name: str, program: str, folder: Path, **more: Any) -> Job:
    """A job that runs a program."""
    return Job(f"lab/{name}", "match", name, folder / name, (program,), **more)


def states(jobs: Jobs) -> dict[str, str]:
    """The states of all jobs by the last part of their names."""
    return {one.name.rpartition("/")[2]: one.state for one in jobs.all()}


def desk_of(root: Path, **settings: Any) -> Desk:
    """What orders are checked against, with one root."""
    return Desk(WebSettings(roots=(root,), **settings), FolderList([root]), Jobs())


# -- what runs and when ------------------------------------------------------------------------------------------------


def test_one_runs_at_a_time_and_the_others_wait_in_order(jobs: Jobs, tmp_path: Path) -> None:
    for name in "abc":
        jobs.begin(job(name, ENDS_WHEN_ASKED, tmp_path))
    assert states(jobs) == {"a": "running", "b": "waiting", "c": "waiting"}
    with pytest.raises(ValueError, match="lab/b is waiting already"):
        jobs.begin(job("b", ENDS_WHEN_ASKED, tmp_path))
    jobs.stop("lab/b")
    jobs.stop("lab/a")
    until(lambda: states(jobs) == {"c": "running"})


def test_a_job_that_is_done_makes_room(jobs: Jobs, tmp_path: Path) -> None:
    for name in "ab":
        jobs.begin(job(name, IS_DONE, tmp_path))
    until(lambda: not jobs.all())


def test_more_than_the_most_do_not_wait(jobs: Jobs, tmp_path: Path) -> None:
    for number in range(1 + jobs_module.MOST_WAITING):
        jobs.begin(job(str(number), ENDS_WHEN_ASKED, tmp_path))
    with pytest.raises(ValueError, match="20 runs and matches wait already"):
        jobs.begin(job("late", ENDS_WHEN_ASKED, tmp_path))


def test_one_that_is_asked_twice_ends_at_once(jobs: Jobs, tmp_path: Path) -> None:
    jobs.begin(job("deaf", IS_DEAF, tmp_path))
    jobs.stop("lab/deaf")
    assert states(jobs) == {"deaf": "stopping"}
    jobs.stop("lab/deaf")
    until(lambda: not jobs.all())
    with pytest.raises(ValueError, match="lab/deaf is not run by this server"):
        jobs.stop("lab/deaf")


@pytest.mark.parametrize(
    ("program", "said"), [(FAILS, "net.pb: no such file"), (IS_KILLED, "was killed by SIGKILL"), ("\0", "null")]
)
def test_one_that_fails_stays_with_its_line(jobs: Jobs, tmp_path: Path, program: str, said: str) -> None:
    jobs.begin(job("bad", program, tmp_path, form={"games": 2}))
    until(lambda: states(jobs) == {"bad": "failed"})
    assert said in jobs.all()[0].line
    assert "\n" not in jobs.all()[0].line
    assert not (tmp_path / "bad").exists(), "a folder without work is taken away"
    jobs.begin(job("bad", FAILS, tmp_path))
    until(lambda: states(jobs) == {"bad": "failed"})
    jobs.remove("lab/bad")
    assert jobs.all() == []
    with pytest.raises(ValueError, match="has not failed"):
        jobs.remove("lab/bad")


def test_all_end_with_the_server_also_the_deaf(jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "PATIENCE", 0.2)
    jobs.begin(job("deaf", IS_DEAF, tmp_path))
    jobs.begin(job("next", IS_DEAF, tmp_path))
    process = jobs.all()[0].process
    assert process is not None
    assert jobs.close() == 1
    assert process.wait() != 0
    assert "next" not in [name for name, state in states(jobs).items() if state == "running"]


# -- what pages may ask for --------------------------------------------------------------------------------------------


def test_the_command_of_a_run(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    made = run_job(RunOrder(recipe="tictactoe", generations=3, threads=1), desk)
    folder = tmp_path / "tictactoe" / "tictactoe-1"
    assert (made.name, made.folder) == (f"{tmp_path.name}/tictactoe/tictactoe-1", folder)
    changes = ("run.tag=tictactoe-1", "run.threads=1", "run.generations=3")
    assert made.words == ("train", "tictactoe", *changes, f"--run={folder}", "--fresh")
    folder.mkdir(parents=True)
    assert run_job(RunOrder(recipe="tictactoe"), desk).folder.name == "tictactoe-2"
    assert run_job(RunOrder(recipe="bundled/nogo9"), desk).folder.parts[-2:] == ("nogo", "nogo9-1")
    assert not (tmp_path / "matches").exists(), "an order makes nothing"


def test_the_command_of_a_match(tmp_path: Path) -> None:
    made = match_job(MatchOrder(game="connect4", a="", b="mcts:20 name='a b'", games=4, threads=1), desk_of(tmp_path))
    folder = tmp_path / "matches" / "connect4-1"
    options = ("--game=connect4", "--games=4", "--threads=1", "--parallel=64", f"--out={folder}")
    assert made.words == ("match", "visits=100", "mcts:20 'name=a b'", *options)
    many = match_job(MatchOrder(game="connect4", a="visits=1000000", b="random"), desk_of(tmp_path, threads=2))
    assert {"--parallel=5", "--threads=2"} <= set(many.words)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"recipe": "tictacto"}, "there is no recipe 'tictacto' that ships (did you mean tictactoe?)"),
        ({"recipe": "../tictactoe"}, "there is no recipe"),
        ({"recipe": "tictactoe.toml"}, "there is no recipe"),
        ({"recipe": "tictactoe", "threads": 1000}, f"threads must be at most {usable_cores()}"),
        ({"recipe": "tictactoe", "name": "there"}, "there is lab/tictactoe/there already"),
    ],
)
def test_runs_that_are_refused(tmp_path: Path, order: dict[str, Any], said: str) -> None:
    (tmp_path / "lab" / "tictactoe" / "there").mkdir(parents=True)
    with pytest.raises(ValueError, match=re.escape(said)):
        run_job(RunOrder(**order), desk_of(tmp_path / "lab"))


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"a": "uci:sh nodes=1"}, "programs (uci:, gtp:, gomocup:) are not started from pages by this server"),
        ({"b": "gtp:gnugo --mode gtp"}, "player B: programs"),
        ({"a": "@players.toml"}, "a page reads no files of settings"),
        ({"a": "net=pyproject.toml"}, "there is no net"),
        ({"a": "visits=2000000"}, "player A: visits in a match of a page are at most 1,000,000, got 2,000,000"),
        ({"a": "--out=elsewhere"}, "player A"),
        ({"games": 3}, "must be even, got 3"),
        ({"game": "nonsense"}, "nonsense"),
        ({"game": "nogo(size=4)", "a": ""}, "nogo(size=4)"),
    ],
)
def test_matches_that_are_refused(tmp_path: Path, order: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        match_job(MatchOrder(**{"game": "connect4", "a": "", "b": "random", **order}), desk_of(tmp_path))


def test_programs_play_where_the_server_allows_them(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, allow_programs=True)
    words = match_job(MatchOrder(game="chess", a="visits=1", b="uci:stockfish nodes=10"), desk).words
    assert words[2] == "uci:stockfish nodes=10"


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "-x", "a b", "x" * 61, "a\0", "C:\\x", "é"])
def test_names_of_folders(name: str) -> None:
    with pytest.raises(ValueError, match="allowed are 60 letters, figures"):
        RunOrder(recipe="tictactoe", name=name)
    with pytest.raises(ValueError, match="allowed are 60 letters, figures"):
        MatchOrder(game="connect4", a="", b="", name=name)


def test_places_where_no_work_can_lie(tmp_path: Path) -> None:
    order = RunOrder(recipe="tictactoe")
    with pytest.raises(ValueError, match="start the server with one, hauteur web FOLDER"):
        run_job(order, Desk(WebSettings(roots=()), FolderList([]), Jobs()))
    folder_with(tmp_path / "one" / "tictactoe", [line(1)])
    for root in (tmp_path / "one", tmp_path / "one" / "tictactoe"):
        with pytest.raises(ValueError, match="is itself the folder of a run or match"):
            run_job(order, desk_of(root))
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "tictactoe").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="is a link"):
        run_job(order, desk_of(tmp_path / "two"))


def test_what_goes_on(tmp_path: Path) -> None:
    desk = desk_of(tmp_path)
    folder_with(tmp_path / "one", [line(1)], run={"generations": 5})
    (tmp_path / "cup").mkdir()
    write_json(tmp_path / "cup" / "match.json", {"settings": {}})
    run, cup = (desk.folders.find(f"{tmp_path.name}/{name}") for name in ("one", "cup"))
    config = tmp_path / "one" / "config.toml"
    assert resumed_job(run, desk).words == ("train", str(config), f"--run={tmp_path / 'one'}")
    with pytest.raises(ValueError, match="was not begun on a page"):
        resumed_job(cup, desk)
    write_json(tmp_path / "cup" / FORM_FILE, {"game": "connect4", "a": "", "b": "uci:sh nodes=1"})
    with pytest.raises(ValueError, match="programs"):
        resumed_job(cup, desk)
    write_json(tmp_path / "cup" / FORM_FILE, {"game": "connect4", "a": "", "b": "random", "games": 6})
    assert {"--games=6", f"--out={tmp_path / 'cup'}"} <= set(resumed_job(cup, desk).words)


def test_a_session_refuses_any_fields_in_a_line(jobs: Jobs, tmp_path: Path) -> None:
    desk = Desk(WebSettings(roots=(tmp_path,)), FolderList([tmp_path]), jobs)
    session = JobSession(lambda event, fields, latest=True: None, SessionSettings(), desk)
    hostile = Hostile(1, ("recipe", "game", "a", "b", "name", "games", "threads", "tictactoe", "random"))
    for _ in range(300):
        request = hostile.random.choice(("run", "match", "go_on", "stop", "remove", "players", "close"))
        reply = reply_of(session, 1, request, hostile.fields(3))
        assert "internal error" not in reply.get("error", "")
        assert "\n" not in reply.get("error", "")


# -- whole commands ----------------------------------------------------------------------------------------------------


def test_a_command_ends_with_its_input_also_where_interrupts_are_ignored(tmp_path: Path) -> None:
    words = ("match", "mcts:20000", "mcts:20000", "--game=connect4", "--games=2000", "--threads=1", f"--out={tmp_path}")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
    try:
        process = subprocess.Popen(
            (*jobs_module.COMMAND, *words), stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    until((tmp_path / "match.json").exists)
    _, said = process.communicate()  # which closes its input
    assert process.returncode == 130
    assert "the same command goes on with it" in said


def asked(socket: Any, request: str, **fields: Any) -> Any:
    """Send a request about jobs; return the reply."""
    socket.send_text(json.dumps({"id": 1, "do": request, "fields": fields}))
    return json.loads(socket.receive_text())


def test_a_match_by_the_messages_of_a_page(tmp_path: Path) -> None:
    app = create_app(WebSettings(roots=(tmp_path,)))
    with TestClient(app) as client, client.websocket_connect("/live/jobs") as socket:
        assert json.loads(socket.receive_text()) == {"event": "ready", "fields": {}}
        offered = asked(socket, "players", game="tictactoe")["reply"]
        assert offered["a"] == "visits=100"
        assert offered["b"] in offered["offered"]
        assert "programs" in asked(socket, "match", game="tictactoe", a="uci:sh nodes=1", b="random")["error"]
        match = {"game": "tictactoe", "a": "mcts:5", "b": "random", "games": 6, "threads": 1}
        name = asked(socket, "match", **match)["reply"]["name"]
        assert name == f"{tmp_path.name}/matches/tictactoe-1"
        until(lambda: "6 games" in client.get(f"{MATCHES.path}/list").text)
        until(lambda: not app.state.lab.jobs.all())
        assert 'class="state finished"' in client.get(f"{MATCHES.path}/list").text
        assert "there is no folder" in asked(socket, "go_on", name="../../etc")["error"]
        asked(socket, "match", **match | {"game": "connect4", "a": "mcts:20000", "games": 2000})
        long = tmp_path / "matches" / "connect4-1"
        until((long / "match.json").exists)
    assert not is_locked(long), "it has ended with the server"
    stopped = TestClient(create_app(WebSettings(roots=(tmp_path,)))).get(f"{MATCHES.path}/list").text
    assert 'data-job="go_on"' in stopped


# -- in a browser ------------------------------------------------------------------------------------------------------


def row(page: Page, name: str) -> Any:
    """The line of a run or a match in its list."""
    return page.get_by_role("row", name=name)


def begun_and_stopped(windows: Windows) -> None:
    """Begin a run, load the page again, stop it, go on with it in its own page, and leave."""
    page = windows.open("/runs")
    page.get_by_label("Threads").fill("1")
    page.get_by_role("button", name="Begin").click()
    state = row(page, "tictactoe-1").locator(".state")
    expect(state).to_have_text("running", timeout=LONG)
    assert axe_faults(page) == []
    page.reload()
    row(page, "tictactoe-1").get_by_role("button", name="Stop").click()
    expect(state).to_have_text("stopped", timeout=LONG)
    row(page, "tictactoe-1").get_by_role("link").click()
    progress = page.get_by_role("region", name="progress")
    page.wait_for_load_state("load")  # its scripts listen from then on
    progress.get_by_role("button", name="Continue").click()
    expect(progress.locator(".state")).to_have_text("running", timeout=LONG)
    page.context.close()


def one_waits_and_one_is_wrong(windows: Windows) -> None:
    """Begin a match that waits for the run, and a run whose files are missing."""
    page = windows.open("/matches", size=NARROW, dark=True)
    expect(page.get_by_label("Player A")).to_have_value("visits=100")
    page.locator("[name=game]").select_option("tictactoe")
    page.get_by_label("Player B").fill("uci:sh nodes=1")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#notices")).to_contain_text("programs (uci:, gtp:, gomocup:) are not started from pages")
    page.get_by_label("Player B").fill("random")
    page.get_by_label("Games").fill("4")
    page.get_by_label("Name").fill("mine")
    page.get_by_role("button", name="Begin").click()
    expect(row(page, "matches/mine").locator(".state")).to_be_visible()
    assert too_wide(page) == []
    assert axe_faults(page) == []
    page.goto("/runs")
    page.get_by_text("New run").click()
    page.get_by_label("Recipe").select_option("nogo9_supervised")
    page.get_by_role("button", name="Begin").click()
    failed = row(page, "nogo9_supervised-1")
    expect(failed.locator(".state")).to_have_text("failed", timeout=LONG)
    expect(failed).to_contain_text("games")
    failed.get_by_role("button", name="Remove").click()
    expect(failed).to_have_count(0)
    expect(row(page, "tictactoe-1").locator(".state")).to_have_text("finished", timeout=LONG)
    page.goto("/matches")
    row(page, "matches/mine").get_by_role("link").click(timeout=LONG)
    expect(page.locator("#state")).to_contain_text("finished, 4 games", timeout=LONG)


def test_runs_and_matches_are_begun_by_mouse_and_end_with_the_server(browser: Browser, tmp_path: Path) -> None:
    root = tmp_path / "lab"
    root.mkdir()
    lab = start_lab(root)
    windows = Windows(browser, lab.url)
    try:
        begun_and_stopped(windows)
        one_waits_and_one_is_wrong(windows)
        page = windows.open("/matches")
        page.get_by_text("New match").click()
        expect(page.get_by_label("Player A")).to_have_value("visits=100")
        page.get_by_label("Player A").fill("mcts:20000")
        page.get_by_label("Games").fill("2000")
        page.get_by_role("button", name="Begin").click()
        expect(row(page, "connect4-1").locator(".state")).to_have_text("running", timeout=LONG)
        windows.close()
        lab.process.kill()  # nobody is left to ask the match to end
        until(lambda: not is_locked(root / "matches" / "connect4-1"))
    finally:
        stop_lab(lab)
    assert (root / "tictactoe" / "tictactoe-1" / "report.html").is_file()
