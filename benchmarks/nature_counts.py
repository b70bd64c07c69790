"""Counts of docs/experiments/finding-nature.md: captures, checks, stalemates and mates up the board, from packed games.

Run by hand: `python benchmarks/nature_counts.py FOLDER --out docs/experiments/nature-counts.json`, where FOLDER
is that of `contempt-nature-1900` with the games of each set, from the history of the repository
(docs/experiments/results). `python benchmarks/nature_counts.py COUNTS.json --page FIGURE.png` prints the table and the
comparisons of a file of counts, and draws the figure.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hauteur as ht
from hauteur_experiments.measured import Interval, Mean, contrast, normal
from hauteur_experiments.verdict import Measured

SETS = {"n1": "N_scl 1", "n5": "N_scl 5", "n10": "N_scl 10", "n32": "N_scl 32", "puct": "PUCT"}
COLUMNS = ("plies", "captures", "checks", "stalemate", "high_mate")
KINDS = {
    "captures": "captures in 100 plies",
    "checks": "checks in 100 plies",
    "stalemate": "stalemates of 100 games",
    "high_mate": "mates on ranks 3 to 6 of 100 games",
}
COMPARED = ("n5", "puct")
LEVEL = 0.025 / 4
"""Error of each of the four comparisons, on a side."""


class Counted(NamedTuple):
    """What is counted of a game."""

    plies: int
    captures: int
    checks: int
    stalemate: int
    high_mate: int


def counted(moves: str, end: str) -> Counted:
    """Count a game of chess by its moves in UCI and how it ended."""
    state = ht.load_game("chess").new_initial_state()
    captures = checks = 0
    words = moves.split()
    for word in words:
        san = str(state.san(state.parse(word)))
        captures += "x" in san
        checks += san.endswith(("+", "#"))
        state.apply_text(word)
    high = end == "checkmate" and 3 <= king_rank(state) <= 6
    return Counted(len(words), captures, checks, int(end == "stalemate"), int(high))


def king_rank(state: ht.State) -> int:
    """Return the rank, 1 to 8, of the king of the side to move."""
    king = "K" if state.to_move == 0 else "k"
    for number, row in enumerate(state.fen.split()[0].split("/")):
        if king in row:
            return 8 - number
    raise ValueError(f"no king in {state.fen}")


def quantity(games: Sequence[Counted], kind: str) -> Measured:
    """Return a mean over games per 100 plies, or a share of 100 games."""
    if kind in ("captures", "checks"):
        return Mean([100 * getattr(game, kind) / game.plies for game in games])
    cases = sum(getattr(game, kind) for game in games)
    share = cases / len(games)
    return normal(100 * share, 100 * math.sqrt(share * (1 - share) / len(games)), len(games))


def difference(counts: Mapping[str, Sequence[Counted]], kind: str) -> Interval:
    """Return how much more there is at N_scl 5 than with PUCT."""
    low, high = (quantity(counts[name], kind) for name in COMPARED)
    return contrast((1, low), (-1, high))


def verdict(counts: Mapping[str, Sequence[Counted]], kind: str) -> str:
    """Return what the plan says of a difference: more, fewer, or open, also where a share has no case."""
    cases = [sum(getattr(game, kind) for game in counts[name]) for name in COMPARED]
    if kind in ("stalemate", "high_mate") and 0 in cases:
        return "open"
    low, high = difference(counts, kind).interval(1 - 2 * LEVEL)
    if low > 0:
        return "more"
    return "fewer" if high < 0 else "open"


def read_counts(path: Path) -> dict[str, list[Counted]]:
    """Return the counts of each set from a file."""
    stored = json.loads(path.read_text(encoding="utf-8"))["sets"]
    found: dict[str, list[Counted]] = {}
    for name, one in stored.items():
        columns = [one[key] for key in COLUMNS]
        found[name] = [Counted(*row) for row in zip(*columns, strict=True)]
    return found


def count_folder(folder: Path) -> dict[str, Any]:
    """Count all games of a run's folder, set by set, in their order."""
    found: dict[str, Any] = {}
    for name in SETS:
        text = (folder / name / "games.jsonl").read_text(encoding="utf-8")
        lines = sorted(map(json.loads, text.splitlines()), key=lambda line: int(line["index"]))
        games = [counted(line["moves"], line["end"]) for line in lines]
        found[name] = {key: [getattr(game, key) for game in games] for key in COLUMNS}
    return {"columns": list(COLUMNS), "games": "contempt-nature-1900", "sets": found}


def page(counts: Mapping[str, Sequence[Counted]]) -> str:
    """Return the table of the page and its comparisons, with intervals of 95 %."""

    def text(one: Measured) -> str:
        low, high = one.interval(0.95)
        return f"{one.value:.1f} [{low:.1f}, {high:.1f}]"

    lines = [
        "| | " + " | ".join(SETS[name] for name in counts) + " | N_scl 5 less PUCT | |",
        "|---" * (len(counts) + 3) + "|",
    ]
    for kind, words in KINDS.items():
        cells = [text(quantity(games, kind)) for games in counts.values()]
        lines.append(f"| {words} | {' | '.join(cells)} | {text(difference(counts, kind))} | {verdict(counts, kind)} |")
    return "\n".join(lines)


def figure(counts: Mapping[str, Sequence[Counted]], path: Path) -> None:
    """Draw each quantity by set, as a share of PUCT's."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(9, 3.2), dpi=110, layout="constrained")
    for axes, (kind, words) in zip(sheet.subplots(1, len(KINDS)), KINDS.items(), strict=True):
        for place, games in enumerate(counts.values()):
            one = quantity(games, kind)
            low, high = one.interval(0.95)
            axes.plot([place, place], [low, high], color="#1f6cb4", linewidth=2)
            axes.plot([place], [one.value], "o", color="#1f6cb4", markersize=5)
        axes.set_xticks(range(len(counts)), [SETS[name].removeprefix("N_scl ") for name in counts], fontsize=8)
        axes.set_title(words, fontsize=8)
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    sheet.savefig(path, metadata={"Software": None})


def main() -> None:
    """Count, or print the page of what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    words = parser.parse_args()
    if words.out is not None:
        words.out.write_text(json.dumps(count_folder(words.folder)) + "\n", encoding="utf-8")
    if words.page is not None:
        counts = read_counts(words.folder)
        print(page(counts))
        figure(counts, words.page)


if __name__ == "__main__":
    main()
