"""The tables behind those of docs/experiments/opponent-models.md from the folders of `hauteur experiment odds-models`.

Run by hand: `python benchmarks/odds_tables.py RUN [RUN ...] --csv docs/experiments/odds-models.csv`. A run is one odds
taker at one handicap, with a folder `ARM-NODES` a cell; cells of a row may be spread over several runs. Cells of fewer
games than the others of their row, which are not over, are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hauteur as ht
from hauteur.games.odds import odds_of
from hauteur_experiments.measured import by_opening, contrast
from hauteur_experiments.verdict import Measured

Games = Mapping[int, Mapping[str, Any]]
"""Lines of games.jsonl by the number of the game."""

ARMS = ("puct", "n1", "n3", "n8", "n28", "right", "right-n8", "right-share", "wrong")
HANDICAPS = {"qr": "queen + rook", "qrr": "queen + two rooks"}
"""Short names by the pieces that are given."""
ENDS = {"stalemate": "stalemate", "threefold repetition": "repetition", "fifty-move rule": "fifty_moves"}
SHOWN = ("won", "stalemate", "repetition", "fifty_moves", "other_draws", "lost")


class Row(NamedTuple):
    """A row of the table."""

    odds_taker: str
    handicap: str
    nodes: int


def cells_of(runs: Iterable[Path]) -> dict[Row, dict[str, Games]]:
    """Games by row and arm; cells with fewer games than the row's PUCT are left out."""
    found: dict[Row, dict[str, Games]] = {}
    for run in runs:
        settings = json.loads((run / "experiment.json").read_text(encoding="utf-8"))["settings"]
        taker = str(ht.Player.from_text(settings["opponent"]).net)
        handicap = odds_of(ht.load_game(settings["game"]).new_initial_state().notation())
        name = HANDICAPS.get(handicap.pieces, handicap.name) if handicap else "none"
        for file in run.glob("*/games.jsonl"):
            arm, _, nodes = file.parent.name.rpartition("-")
            lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
            found.setdefault(Row(taker, name, int(nodes)), {})[arm] = {line["index"]: line for line in lines}
    return {
        row: {arm: arms[arm] for arm in ARMS if arm in arms and arms[arm].keys() >= arms["puct"].keys()}
        for row, arms in sorted(found.items())
        if "puct" in arms
    }


def counts(games: Games) -> dict[str, int]:
    """Games by how they ended, for the giver."""
    tally: Counter[str] = Counter()
    for game in games.values():
        drawn = ENDS.get(game["end"], "other_draws")
        tally["won" if game["score"] == 1 else "lost" if game["score"] == 0 else drawn] += 1
    return {name: tally[name] for name in SHOWN}


def gain(games: Games, before: Games, *, wins: bool) -> Measured:
    """Percentage points above other games with the same numbers, by openings."""

    def points(game: Mapping[str, Any]) -> float:
        return 100.0 * float(game["score"] == 1 if wins else game["score"])

    numbers = sorted(before)
    samples = [points(games[number]) - points(before[number]) for number in numbers]
    return by_opening(samples, [before[number]["fen"] for number in numbers])


def pooled(gains: Sequence[Measured]) -> str:
    """The mean over rows with its interval of 95 %."""
    mean = contrast(*((1 / len(gains), one) for one in gains))
    low, high = mean.interval(0.95)
    return f"{mean.value:+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "\N{MINUS SIGN}")


def table(cells: Mapping[Row, Mapping[str, Games]], nodes: int) -> str:
    """Scores in percent, and in brackets games won in percent, a row a line; then the gains over PUCT."""
    chosen = {row: arms for row, arms in cells.items() if row.nodes == nodes}
    lines = [f"| odds taker, handicap, games a cell | {' | '.join(ARMS)} |", "|---" * (len(ARMS) + 1) + "|"]
    for row, arms in chosen.items():
        shown = [f"{row.odds_taker}, {row.handicap}, {len(arms['puct'])}"]
        for arm in ARMS:
            games = arms.get(arm, {}).values()
            score = 100 * math.fsum(game["score"] for game in games) / max(1, len(games))
            won = 100 * sum(game["score"] == 1 for game in games) / max(1, len(games))
            shown.append(f"{score:.1f} ({won:.0f})" if games else "")
        lines.append(f"| {' | '.join(shown)} |")
    for wins in (False, True):
        shown = ["games won above PUCT" if wins else "score above PUCT", ""]
        for arm in ARMS[1:]:
            gains = [gain(arms[arm], arms["puct"], wins=wins) for arms in chosen.values() if arm in arms]
            shown.append(pooled(gains) if gains else "")
        lines.append(f"| {' | '.join(shown)} |")
    both = {row: arms for row, arms in chosen.items() if {"right", "wrong"} <= arms.keys()}
    less = {row: gain(arms["right"], arms["wrong"], wins=False) for row, arms in both.items()}
    apart = [f"{row.odds_taker}, {row.handicap}: {pooled([one])}" for row, one in less.items()]
    if less:
        lines += ["", f"Score of `right` above `wrong`: {'; '.join([*apart, f'mean: {pooled([*less.values()])}'])}"]
    return "\n".join(lines)


def write(file: Path, cells: Mapping[Row, Mapping[str, Games]]) -> None:
    """Write a line a cell."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*("odds_taker", "handicap", "arm", "nodes", "games"), *SHOWN, "score"])
        for row, arms in cells.items():
            for arm, games in arms.items():
                score = math.fsum(game["score"] for game in games.values()) / len(games)
                ends = counts(games).values()
                writer.writerow([row.odds_taker, row.handicap, arm, row.nodes, len(games), *ends, f"{score:.4f}"])


def main() -> None:
    """Print the tables of the runs that the command names, and write all cells where it asks for that."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--csv", type=Path)
    words = parser.parse_args()
    cells = cells_of(words.runs)
    for nodes in sorted({row.nodes for row in cells}):
        print(f"{nodes} nodes\n\n{table(cells, nodes)}\n")
    if words.csv is not None:
        write(words.csv, cells)


if __name__ == "__main__":
    main()
