"""Servers as `hauteur web` starts them."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunningLab:
    """A server. url: with a slash at the end; root: the folder of runs and other files that it was given."""

    url: str
    root: Path
    process: subprocess.Popen[str]


def start_lab(root: Path, *options: str, port: int = 0) -> RunningLab:
    """Start a server, at a free port if none is named, and wait until it answers."""
    command = [sys.executable, "-m", "hauteur.cli", "web", str(root), "--port", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    assert found is not None, f"no address in {line!r}"
    return RunningLab(found[0], root, process)


def stop_lab(lab: RunningLab) -> int:
    """End a server, return its exit status."""
    lab.process.terminate()
    return lab.process.wait(timeout=20)
