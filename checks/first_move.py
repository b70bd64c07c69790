"""Measure how long a newcomer waits for a move: `uvx --from WHEEL hauteur play connect4` with an empty home and cache.

`python checks/first_move.py WHEEL` needs the package index once: it puts uv into an environment of its own and the
wheels of the base into a folder. uv then has that folder alone. The game is begun, a move is made, and the time until
the net has answered is printed, for a cold cache and a warm one, with the megabytes of the environment. A recipe is
looked for by its name too, without a checkout.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ANSWERED = re.compile(r"connect4 plays [1-7]")
MOST_SECONDS = 300


@dataclass(frozen=True)
class Newcomer:
    """A folder with uv, wheels, and an empty home."""

    folder: Path
    wheel: Path

    @property
    def wheels(self) -> Path:
        """Folder of the wheels that uv may install."""
        return self.folder / "wheels"

    def prepare(self) -> None:
        """Get uv and the wheels of the base, as pip is set up here."""
        subprocess.run([sys.executable, "-m", "venv", str(self.folder / "tools")], check=True)
        pip = [str(self.folder / "tools" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", "uv"], check=True)
        # Not every dependency is published as a wheel: pip makes one of what comes as source.
        subprocess.run([*pip, "wheel", str(self.wheel), "--wheel-dir", str(self.wheels)], check=True)
        (self.folder / "home").mkdir()

    def environment(self) -> dict[str, str]:
        """The environment of the program: nothing but a path and an empty home."""
        home = self.folder / "home"
        return {
            "PATH": os.pathsep.join([str(self.folder / "tools" / "bin"), *os.get_exec_path()]),
            "HOME": str(home),
            "UV_CACHE_DIR": str(home / "cache"),
            "UV_PYTHON": sys.executable,
        }

    def uvx(self, *words: str) -> list[str]:
        """The command that runs hauteur from the folder of wheels."""
        own = ["--no-index", "--find-links", str(self.wheels), "--from", str(self.wheel)]
        return ["uvx", *own, "hauteur", *words]

    def first_move(self) -> float:
        """Return the seconds from the command to the first move of the net."""
        began = time.perf_counter()
        done = self.run(*self.uvx("play", "connect4"), text="4\nquit\n")
        if not ANSWERED.search(done):
            sys.exit(f"first_move: no move of the net in\n{done}")
        return time.perf_counter() - began

    def run(self, *command: str, text: str = "") -> str:
        """Run a command as the newcomer; return what it prints. Ends the check where it fails."""
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            env=self.environment(),
            cwd=self.folder / "home",
            timeout=MOST_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"first_move: {' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def megabytes(self) -> float:
        """Return the size of what uv has installed, without what it keeps to install it again."""
        environments = self.folder / "home" / "cache" / "archive-v0"
        files = [path for path in environments.rglob("*") if path.is_file() and not path.is_symlink()]
        unique = {path.stat().st_ino: path.stat().st_size for path in files}
        return sum(unique.values()) / 1e6


def main() -> int:
    """Measure as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path, help="a wheel, as `make wheel` writes it")
    wheel = parser.parse_args().wheel
    if not wheel.is_file():
        parser.error(f"{wheel}: there is no such file; make wheel writes one into dist")
    with tempfile.TemporaryDirectory(prefix="hauteur-first-move-") as folder:
        newcomer = Newcomer(Path(folder), wheel.resolve())
        newcomer.prepare()
        cold = newcomer.first_move()
        warm = newcomer.first_move()
        downloads = sum(path.stat().st_size for path in newcomer.wheels.iterdir()) / 1e6
        load = os.getloadavg()[0]
        print(f"first move: {cold:.1f} s with an empty cache, {warm:.1f} s with a full one; load {load:.1f}")
        print(f"wheels: {downloads:.1f} MB; environment: {newcomer.megabytes():.0f} MB")
        recipes = newcomer.run(*newcomer.uvx("train", "--list"))
        if "connect4" not in recipes:
            sys.exit(f"first_move: no recipe connect4 in\n{recipes}")
        print("recipes: found without a checkout")
    return 0


if __name__ == "__main__":
    sys.exit(main())
