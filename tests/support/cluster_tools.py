"""The checks of many machines in benchmarks/, which is no part of the package: imported, or run as commands."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def checks(name: str) -> ModuleType:
    """A module of benchmarks/."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return importlib.import_module(name)


def checked(name: str, *arguments: str) -> str:
    """Run a check to its end; return what it printed. AssertionError with all of it where it found something wrong."""
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr[-3000:]}"
    return done.stdout
