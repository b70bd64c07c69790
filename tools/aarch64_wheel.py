"""A wheel for Linux on 64-bit ARM, cross-compiled and used on this machine under qemu: import, search, UCI.

`python tools/aarch64_wheel.py` builds it, installs it with its dependencies for that processor into a folder, and runs
there what must agree with the core of this checkout: digests of trees, without a net and with the nets that ship, and
the move of a UCI engine. `make release-check` does the same. It needs Rust's target (`rustup target add
aarch64-unknown-linux-gnu`), a C compiler for it as linker, qemu's user mode, and a folder with a Python of that
processor, which HAUTEUR_AARCH64_ROOT names. On Debian:

    apt-get install gcc-aarch64-linux-gnu qemu-user-static debootstrap
    debootstrap --arch=arm64 --foreign --variant=minbase --include=python3 bookworm ROOT
    for package in ROOT/var/cache/apt/archives/*.deb; do dpkg -x $package ROOT; done
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "aarch64-unknown-linux-gnu"
LINKER = "aarch64-linux-gnu-gcc"
EMULATORS = ("qemu-aarch64-static", "qemu-aarch64")
ROOT_VARIABLE = "HAUTEUR_AARCH64_ROOT"

PLATFORMS = ("manylinux2014_aarch64", *(f"manylinux_2_{minor}_aarch64" for minor in range(17, 41)))
"""Wheels that may be installed; which C library they need is seen when they are imported."""

DIGESTS = ROOT / "tests/support/tree_digests.py"
ENGINE = ("-m", "hauteur.cli", "uci")
UCI = """uci
isready
setoption name Threads value 1
setoption name Precision value float32
position startpos moves e2e4 c7c5
go nodes 200
quit
"""


class NotCheckedError(Exception):
    """A tool that the check needs is not here."""


def run(
    words: Sequence[str | Path], *, folder: Path = ROOT, text: str = "", variables: Mapping[str, str] | None = None
) -> str:
    """Run a command in the checkout or another folder, return what it prints; ValueError where it fails."""
    environment = {"CARGO_TARGET_DIR": str(ROOT / "target"), **os.environ, **(variables or {})}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()[-5:]
        raise ValueError(f"{' '.join(map(str, words[:4]))} ...: {' | '.join(lines)}")
    return done.stdout


class ForeignPython:
    """The Python of 64-bit ARM: `words` that run it, with the packages in a folder."""

    def __init__(self, packages: Path) -> None:
        """Raise NotCheckedError, naming it, where something is missing."""
        emulator = next((path for path in map(shutil.which, EMULATORS) if path), None)
        root = os.environ.get(ROOT_VARIABLE, "")
        found = run(["rustc", "--print", "target-libdir", "--target", TARGET]).strip()
        missing = [
            (not list(Path(found).glob("libstd-*")), f"Rust's target {TARGET}"),
            (not shutil.which(LINKER), LINKER),
            (emulator is None, EMULATORS[0]),
            (not Path(root, "usr/bin/python3").exists(), f"{ROOT_VARIABLE}, the folder of a Python of that processor"),
        ]
        if names := [name for lacks, name in missing if lacks]:
            raise NotCheckedError(f"there is no {', no '.join(names)} (tools/aarch64_wheel.py says how to get them)")
        self.packages = packages
        self.words = [str(emulator), "-L", root, f"{root}/usr/bin/python3"]

    def run(self, *words: str | Path, text: str = "") -> str:
        """Run Python with these words."""
        return run([*self.words, *words], text=text, variables={"PYTHONPATH": str(self.packages)})

    def install(self, wheel: Path, links: Path) -> None:
        """Install a wheel and what it needs."""
        version = self.run("-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
        pip = [sys.executable, "-m", "pip"]
        run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", links, "chess"])  # the index has its source alone
        words = [*pip, "install", "--quiet", "--target", str(self.packages), "--only-binary=:all:"]
        words += ["--python-version", version, *(f"--platform={name}" for name in PLATFORMS)]
        run([*words, "--find-links", links, wheel])


def built(out: Path) -> Path:
    """Return the wheel, cross-compiled."""
    variable = f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_LINKER"
    words = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--quiet", "--target", TARGET]
    run([*words, "--out", out], variables={variable: os.environ.get(variable, LINKER)})
    (wheel,) = out.glob("*aarch64.whl")
    return wheel


def best_move(said: str) -> str:
    """Return the move of an engine; ValueError where it did not answer everything."""
    lines = said.splitlines()
    moves = [line for line in lines if line.startswith("bestmove ")]
    if len(moves) != 1 or not {"uciok", "readyok"} <= set(lines):
        raise ValueError(f"the UCI engine said {lines[-3:]}")
    return moves[0]


def check(folder: Path, wheel: Path | None = None) -> str:
    """Build a wheel, unless one is given, and use it; return what agreed. ValueError for what does not."""
    foreign = ForeignPython(folder / "packages")
    wheel = built(folder) if wheel is None else wheel
    foreign.install(wheel, folder / "links")
    machine = foreign.run("-c", "import platform, hauteur; print(platform.machine())").strip()
    theirs = json.loads(foreign.run(DIGESTS))
    ours = json.loads(run([sys.executable, DIGESTS]))
    wrong = [name for name in ours if theirs.get(name) != ours[name]]
    if machine != "aarch64" or wrong:
        raise ValueError(f"{wheel.name} on {machine}: other trees for {', '.join(wrong) or 'none'}")
    move = best_move(foreign.run(*ENGINE, text=UCI))
    if move != best_move(run([sys.executable, *ENGINE], text=UCI)):
        raise ValueError(f"{wheel.name}: its engine plays another {move}")
    return f"{wheel.name}, {wheel.stat().st_size:,} bytes; {len(ours)} trees as here, UCI: {move}"


def main() -> int:
    """Check; a wheel may be given."""
    given = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(prefix="hauteur-aarch64-") as folder:
        try:
            print(check(Path(folder), given))
        except (NotCheckedError, ValueError) as error:
            print(f"{'not checked' if isinstance(error, NotCheckedError) else 'FAILED'}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
