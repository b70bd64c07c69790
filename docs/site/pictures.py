"""Draw the pictures of the README: a terminal as SVG, from commands that are run, and the report of a run as PNG.

`make pictures` runs it; the pictures are committed. The report is drawn by a browser without a window (chromium).

    python docs/site/pictures.py [--report RUN/report.html] [--out docs/pictures]
"""

import argparse
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent.parent
COMMANDS = (
    'hauteur analyse connect4 --moves "4 4" --multipv 5 --threads 1',
    'hauteur match "visits=100" mcts:400 --game connect4 --games 40 --threads 1 --seed 1',
)
WIDTH, HEIGHT = 1100, 724
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    """Draw what can be drawn, return the exit status."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the README.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--report", type=Path, help="report.html of a run; none: the terminal alone")
    options = parser.parse_args()
    options.out.mkdir(exist_ok=True)
    (options.out / "terminal.svg").write_text(terminal(COMMANDS), encoding="utf-8")
    return 0 if options.report is None else photograph(options.report.resolve(), options.out / "report.png")


def terminal(commands: tuple[str, ...]) -> str:
    """Run the commands one after another and return a picture of the terminal, without fonts from the network."""
    console = Console(record=True, width=110, file=io.StringIO(), force_terminal=True)
    for command in commands:
        console.print(Text("$ ", style="bold green") + Text(command, style="bold"))
        words = [sys.executable, "-m", "hauteur.cli", *shlex.split(command)[1:]]
        ended = subprocess.run(words, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
        shown = re.sub(r"\S+[/]networks[/]data[/](\w+)\.safetensors", r"\1", ended.stdout.rstrip())
        console.print(Text.from_ansi(shown), soft_wrap=True)
        console.print()
    picture = console.export_svg(title="hauteur", theme=MONOKAI)
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


def photograph(page: Path, picture: Path) -> int:
    """Draw the upper part of an HTML page with a browser; return its exit status, 2 where there is none."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"pictures: none of {', '.join(BROWSERS)} is installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [
            f"--user-data-dir={profile}",
            f"--window-size={WIDTH},{HEIGHT}",
            f"--screenshot={picture}",
            page.as_uri(),
        ]
        return subprocess.run(command, check=False, capture_output=True).returncode


if __name__ == "__main__":
    sys.exit(main())
