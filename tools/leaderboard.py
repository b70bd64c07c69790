"""Write LEADERBOARD.md from docs/experiments/records.csv: `python tools/leaderboard.py`.

A row of the table is a record when it was set, the older ones of a game and judge are its history. `source` is the page
of docs/experiments that has the figure, `quoted` what stands there.
"""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from hauteur.system.files import write_bytes

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "docs" / "experiments" / "records.csv"
BOARD = ROOT / "LEADERBOARD.md"

HEAD = """# Leaderboard

What has been reached from each game's recipe, with its history; the figures stand in
[docs/experiments](docs/experiments/README.md), and this page is written from
[records.csv](docs/experiments/records.csv) by `tools/leaderboard.py`. Three kinds of judge:

- **exact**: positions or lines of play whose values are known
- **outside**: a program or a net of others
- **inside judge**: this program's own `mcts`, `rave` or `material`; it says that a net has learned, and little of
  its strength among other programs

Intervals are of 95 %. CPU minutes are those of the whole run, one seed where nothing else is said, on one thread of
an AMD EPYC (Zen 4) with bfloat16; of tic-tac-toe and the taught chess net on an Intel Xeon. *Evaluations* are those
of the net in self-play; FLOPs were not counted when these runs were made (`compute` in the metrics of later ones).
*Commit* is the one that brought the figure into the documents. Who beats a record adds a row: the old one stays as
history.

"""


class Record(NamedTuple):
    """A record, as it was when it was set; texts as the pages have them, empty where it is not known."""

    game: str
    """The game, and how the net came to be where there are several ways."""
    judge: str
    """What it was measured by."""
    kind: str
    """exact, outside or inside."""
    result: str
    """The result with its interval."""
    recipe: str
    """The recipe of the run."""
    minutes: str
    """CPU minutes of the run."""
    evaluations: str
    """Evaluations of the net in self-play."""
    flops: str
    """Floating-point operations of the run."""
    commit: str
    """Commit that brought the figure into the documents."""
    date: str
    """Day of that commit."""
    source: str
    """Page that has the figure."""
    quoted: str
    """The figure as the page has it."""
    command: str
    """Command that measures it again, with the net of the recipe."""


def read_records(path: Path = RECORDS) -> list[Record]:
    """Return all records, the older ones of a game and judge first."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Record(**row) for row in csv.DictReader(file)]


def board_text(records: list[Record]) -> str:
    """Return the page."""
    parts = [HEAD.rstrip("\n")]
    for game, rows in groupby(records, key=lambda record: record.game):
        parts.append(_section(game, list(rows)))
    return "\n\n".join(parts) + "\n"


def _section(game: str, records: list[Record]) -> str:
    """Return a game's table, then the command of each of its judges."""
    columns = ("judge", "result", "recipe", "CPU minutes", "evaluations", "FLOPs", "commit")
    lines = [f"## {game}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for _, rows in groupby(records, key=lambda record: record.judge):
        history = list(rows)
        lines += [_row(record, is_best=record is history[-1]) for record in history]
    commands = list(dict.fromkeys(record.command for record in records))
    return "\n".join([*lines, "", "```sh", *commands, "```"])


def _row(record: Record, *, is_best: bool) -> str:
    """Return a row; the present record is bold."""
    kind = "inside judge" if record.kind == "inside" else record.kind
    judge = f"{kind}: {record.judge}"
    result = f"**{record.result}**" if is_best else record.result
    recipe = f"[`{record.recipe}`]({record.source})"
    commit = f"{record.commit}, {record.date}" if record.commit else record.date
    cells = (judge, result, recipe, record.minutes, record.evaluations, record.flops, commit)
    return f"| {' | '.join(cell or '-' for cell in cells)} |"


if __name__ == "__main__":
    write_bytes(BOARD, board_text(read_records()).encode())
