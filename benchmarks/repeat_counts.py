"""Figure 4 of the search-contempt paper at 200 visits: games that repeat, counted in games that were played before.

    for run in contempt-nature-1900 temperature-wdl-1900; do
      git show 3909988e:docs/experiments/results/$run.tar.xz | tar -xJ
    done
    python benchmarks/repeat_counts.py contempt-nature-1900 temperature-wdl-1900 --out repeats-1900-200.json

Plan, stated before these games were counted. Sets: N_scl 5, 10, 32 and PUCT of the first folder (400 games each), tau_1
and tau_2 of the second (200 each), all of maia-1900 with itself from the start at 200 visits. What is counted and the
rule of the verdicts are those of `hauteur experiment repeats`, unchanged: two games are the same up to move 4 less
often with tau_2 than with tau_1; no N_scl repeats 1.5 times as often as PUCT or more up to moves 5, 10 and 15; at most
5 of 100 games have a twin up to move 20, which fewer than eight sets of 100 games leave open. No game is played.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from hauteur_experiments.kept import read_games
from hauteur_experiments.search_contempt.selfplay import Games, repeat_findings, same_pairs, shares_by_move

FOLDERS = ("contempt-nature-1900", "temperature-wdl-1900")
SETS = {
    "tau_1": (1, "tau1"),
    "tau_2": (1, "tau2"),
    "N_scl 5": (0, "n5"),
    "N_scl 10": (0, "n10"),
    "N_scl 32": (0, "n32"),
    "PUCT": (0, "puct"),
}
"""Number of the folder and name of the match, by title."""

MOVES = (4, 10, 20, 30)
SCOPE = "200 visits, not 1,000"
COMMAND = f"python benchmarks/repeat_counts.py {' '.join(FOLDERS)}"


def read_sets(folders: list[Path]) -> dict[str, Games]:
    """Return the moves of each game of each set."""
    found: dict[str, Games] = {}
    for title, (number, match) in SETS.items():
        found[title] = [game["moves"].split() for game in read_games(folders[number] / match)]
    return found


def counted(games: dict[str, Games]) -> dict[str, Any]:
    """Return the result as result.json has it: a row for each of MOVES, with the share of 100 games by set."""
    shares = {title: shares_by_move(lines, max(MOVES)) for title, lines in games.items()}
    rows = []
    for move in MOVES:
        rows.append({"move": move, **{title: by_move[move].value for title, by_move in shares.items()}})
    pairs = {title: {move: same_pairs(lines, move).chance for move in MOVES} for title, lines in games.items()}
    findings = []
    for finding in repeat_findings(games):
        findings.append({**finding.to_json(), "scope": SCOPE})
    return {
        "experiment": "repeats",
        "title": "games that repeat at 200 visits, counted in games of other runs",
        "seconds_of_last_attempt": 1,
        "findings": findings,
        "rows": rows,
        "facts": {"games": {title: len(lines) for title, lines in games.items()}, "same_pairs": pairs},
    }


def main() -> None:
    """Count, print the table, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs=2)
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    result = counted(read_sets(words.folders))
    for row in result["rows"]:
        cells = [f"{title} {100 * value:.1f} %" for title, value in row.items() if title != "move"]
        print(f"move {row['move']}: {', '.join(cells)}")
    for finding in result["findings"]:
        print(f"{finding['key']}: {finding['verdict']}: {finding['measured']}")
    if words.out is not None:
        experiment = {"settings": {"experiment": "repeats"}, "begun": {"command": COMMAND.split()}, "games": FOLDERS}
        text = json.dumps({"experiment": experiment, "result": result, "matches": {}}, separators=(",", ":"))
        words.out.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
