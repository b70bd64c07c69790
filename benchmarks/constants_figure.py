"""The figure and the table of docs/experiments/finding-constants.md, from the kept matches.

Run by hand: `python benchmarks/constants_figure.py docs/experiments/finding-constants.png` prints the table and draws.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parents[1] / "docs/experiments/results"
NETS = ("maia-1900", "maia-1100")


class Row(NamedTuple):
    """A match: its name, won, drawn and lost, Elo and its interval of 95 %."""

    name: str
    wins: int
    draws: int
    losses: int
    elo: float
    low: float
    high: float


def row_of(name: str, path: Path, match: str) -> Row:
    """Return a match of a kept run."""
    found = json.loads(path.read_text(encoding="utf-8"))["matches"][match]["results"]
    low, high = found["elo_interval_95"]
    return Row(name, found["wins"], found["draws"], found["losses"], found["elo"], low, high)


def rows() -> list[Row]:
    """Return the match that chose the constants, then the fresh ones."""
    chosen = row_of(
        "maia-1900, the games that chose them", RESULTS / "rules-by-game-chess.json", "tune-chess-c0.75-f0.2"
    )
    return [chosen, *(row_of(f"{net}, fresh games", RESULTS / f"constants-{net}.json", ".") for net in NETS)]


def table() -> str:
    """Return the rows as Markdown."""
    lines = ["| net | won, drawn, lost | Elo, 95 % |", "|---|---|---|"]
    for row in rows():
        elo = f"{row.elo:+.0f} [{row.low:+.0f}, {row.high:+.0f}]"
        lines.append(f"| {row.name} | {row.wins}, {row.draws}, {row.losses} | {elo} |")
    return "\n".join(lines)


def draw(path: Path) -> None:
    """Draw the intervals."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(7, 1.8), dpi=110, layout="constrained")
    axes = sheet.subplots()
    axes.axvline(0, color="#65625c", linewidth=0.8)
    found = rows()
    for place, row in enumerate(found):
        axes.plot([row.low, row.high], [place, place], color="#1f6cb4", linewidth=2)
        axes.plot([row.elo], [place], "o", color="#1f6cb4")
    axes.set_yticks(range(len(found)), [row.name for row in found], fontsize=8)
    axes.set_xlabel("Elo above the defaults at 100 visits; bars: 95 %", fontsize=8)
    axes.invert_yaxis()
    axes.spines[["top", "right", "left"]].set_visible(False)
    sheet.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    print(table())
    draw(Path(sys.argv[1]))
