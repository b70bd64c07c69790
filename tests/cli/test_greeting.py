"""`hauteur` alone, and interrupts before it has begun."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from hauteur.cli import main
from hauteur.cli.commands.greeting import greeting_lines

Capture = pytest.CaptureFixture[str]


def test_the_greeting_is_a_few_short_lines() -> None:
    many = [f"net-{number}" for number in range(40)]
    for shipped, downloaded, named in ((["chess", "connect4"], [], ""), (["connect4"], many, "x")):
        lines = greeting_lines("0.1.0", shipped, downloaded, named)
        assert max(map(len, lines)) <= 100
        for word in ("play", "web", "odds", "analyse", "review", "puzzles", "hauteur-uci", "match", "train", "net get"):
            assert any(word in line for line in lines)
        assert "doctor" in lines[-1]
    assert len(greeting_lines("0.1.0", ["chess", "connect4"], [], "")) == 14


def test_the_greeting_names_a_net_that_is_here() -> None:
    for shipped, downloaded, word in ((["connect4"], [], "--net uniform"), (["connect4"], ["maia-1"], "--net maia-1")):
        assert any(f"chess {word} " in line for line in greeting_lines("0", shipped, downloaded, ""))
    assert not any("--net" in line for line in greeting_lines("0", ["chess"], ["maia-1"], "") if "analyse" in line)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_who_sits_at_a_terminal_is_greeted_through_a_pipe_too() -> None:
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0):
        said = subprocess.run(
            [sys.executable, "-m", "hauteur.cli"],
            stdin=follower,
            capture_output=True,
            text=True,
            check=True,
        )
        os.close(follower)
    assert "hauteur web" in said.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_in_a_terminal_it_greets_and_elsewhere_it_is_an_engine() -> None:
    command = [sys.executable, "-m", "hauteur.cli"]
    said = subprocess.run(command, input="uci\nquit\n", capture_output=True, text=True, check=True)
    assert said.stdout.endswith("uciok\n")
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as screen:
        assert subprocess.run(command, stdin=follower, stdout=follower, check=False).returncode == 0
        os.close(follower)
        assert b"Nets here: " in screen.read(65536)


def test_every_word_of_the_greeting_is_a_command(capsys: Capture) -> None:
    main.main(["greeting"])
    for line in capsys.readouterr().out.partition("\n\n")[2].splitlines():
        command = line.split()[1:]
        if command[0] == "hauteur":
            assert any(known.words.split()[0] == command[1] for known in main.COMMANDS) or command[1] == "help"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("words", ["uci", "doctor"])
def test_an_interrupt_while_it_starts_is_silent(words: str) -> None:
    code = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.argv[1:] = [{words!r}]; import hauteur.cli.start; os.kill(os.getpid(), signal.SIGINT)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_that_is_ignored_stays_ignored() -> None:
    code = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from hauteur.cli.start import main; sys.argv[1:] = ['--version']; status = main()\n"
        "os.kill(os.getpid(), signal.SIGINT); sys.exit(status)"
    )
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
