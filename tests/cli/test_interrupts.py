"""Ctrl-C in long work, and what long work does not load before it knows that it can begin."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from hauteur.cli import main
from hauteur.cli.interrupts import answered_interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def interrupts_reach_python() -> Iterator[None]:
    """The suite may run where interrupts are ignored or end a process, as in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_interrupt_is_answered(capsys: Capture) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), answered_interrupts("the same command resumes it"):
        interrupt()
    assert capsys.readouterr().err == "\nstopping; the same command resumes it (Ctrl-C again: at once)\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_interrupt_ends_at_once() -> None:
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from hauteur.cli.interrupts import answered_interrupts\n"
        "with answered_interrupts('x'):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
        "    finally:\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=50, check=False)
    assert done.returncode == 130
    assert done.stderr.count(b"stopping") == 1
    assert b"Traceback" not in done.stderr


def test_training_and_experiments_answer(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    pipeline = ModuleType("hauteur.learning.pipeline")
    pipeline.learn = interrupt  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hauteur.learning.pipeline", pipeline)
    assert main.main(["train", str(root / "runs" / "tictactoe.toml"), "--run", str(tmp_path)]) == 130
    assert "stopping; the same command resumes the run" in capsys.readouterr().err
    monkeypatch.setattr("hauteur.studies.papers.experiment.make_experiment", interrupt)
    assert main.main(["experiment", "repeats", "--out", str(tmp_path)]) == 130
    assert "stopping; the same command resumes the experiment" in capsys.readouterr().err


def test_a_wrong_key_of_a_recipe_is_named_before_torch_is_loaded(root: Path) -> None:
    code = (
        "import sys; from hauteur.cli.main import main\n"
        "status = main(['train', sys.argv[1], 'selfplay.gamess=3'])\n"
        "heavy = {'torch', 'openvino', 'onnxruntime', 'scipy', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "print(status, sorted(heavy))\n"
        "main(['experiment'])\n"
        "print(sorted({'torch', 'openvino', 'onnxruntime', 'matplotlib'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", code, str(root / "runs" / "tictactoe.toml")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.startswith("2 []\n")
    assert done.stdout.rstrip().endswith("[]")
    assert "did you mean games?" in done.stderr
