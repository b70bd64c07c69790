"""Ctrl-C in long work, and what long work does not load before it knows that it can begin."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


BEGIN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
"""


def child(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run code that interrupts its own process, in which nothing else listens."""
    command = [sys.executable, "-c", BEGIN + code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_first_interrupt_is_answered() -> None:
    done = child(
        "from hauteur.cli.interrupts import answered_interrupts\n"
        "before = signal.getsignal(signal.SIGINT)\n"
        "try:\n    with answered_interrupts('the same command resumes it'):\n        interrupt()\n"
        "except KeyboardInterrupt:\n    print('interrupted', signal.getsignal(signal.SIGINT) is before)"
    )
    assert done.stdout == "interrupted True\n"
    assert done.stderr == "\nstopping; the same command resumes it (Ctrl-C again: at once)\n"


def test_a_request_to_end_is_answered_also_where_ctrl_c_is_ignored() -> None:
    """As in the background of a shell, where job schedulers stop it so."""
    done = child(
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from hauteur.cli.interrupts import answered_interrupts\n"
        "try:\n    with answered_interrupts('the same command resumes it'):\n"
        "        interrupt(); print('ignored', flush=True); os.kill(os.getpid(), signal.SIGTERM)\n"
        "except KeyboardInterrupt:\n    print('ended', signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)"
    )
    assert done.stdout == "ignored\nended True\n"
    assert done.stderr == "\nstopping; the same command resumes it (Ctrl-C again: at once)\n"


def test_the_second_interrupt_ends_at_once() -> None:
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from hauteur.cli.interrupts import answered_interrupts\n"
        "with answered_interrupts('x'):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
        "    finally:\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stderr.count(b"stopping") == 1
    assert b"Traceback" not in done.stderr


def test_training_and_experiments_answer(root: Path, tmp_path: Path) -> None:
    done = child(
        "from types import ModuleType\n"
        "from hauteur.cli.main import main\n"
        "loop = sys.modules['hauteur.learning.loop'] = ModuleType('hauteur.learning.loop')\n"
        "loop.learn = interrupt\n"
        "print(main(['train', sys.argv[1], '--run', sys.argv[2]]))\n"
        "from hauteur_experiments import command\n"
        "command.make_experiment = interrupt\n"
        "print(main(['experiment', 'repeats', '--out', sys.argv[2]]))",
        str(root / "runs" / "tictactoe.toml"),
        str(tmp_path),
    )
    assert done.stdout.split() == ["130", "130"]
    assert "stopping; the same command resumes the run" in done.stderr
    assert "stopping; the same command resumes the experiment" in done.stderr


def test_a_wrong_key_of_a_recipe_is_named_before_torch_is_loaded(root: Path) -> None:
    code = (
        "import sys; from hauteur.cli.main import main\n"
        "status = main(['train', sys.argv[1], 'selfplay.gamess=3'])\n"
        "heavy = {'torch', 'onnxruntime', 'scipy', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "print(status, sorted(heavy))\n"
        "main(['experiment'])\n"
        "print(sorted({'torch', 'onnxruntime', 'matplotlib'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", code, str(root / "runs" / "tictactoe.toml")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("2 []\n")
    assert done.stdout.rstrip().endswith("[]")
    assert "did you mean games?" in done.stderr
