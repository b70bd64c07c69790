"""A root report for people: a table."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hauteur.games.played_game import line_texts
from hauteur.mcts.report import RootMove, RootReport, Wdl

LINE_MOVES = 8
"""Moves of a line that the table shows."""


def report_view(report: RootReport, *, rows: int) -> RenderableType:
    """Table of the best `rows` moves, the position's value and the speed."""
    hidden = len(report.moves) - rows
    more = [Text(f"{hidden} more moves (--multipv)", style="dim")] if hidden > 0 else []
    return Group(moves_table(report, rows=rows), *more, value_line(report), speed_line(report))


def moves_table(report: RootReport, *, rows: int) -> Table:
    """One row a move: visits, prior, Q, win/draw/loss, the net's own value, the line in the game's notation."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("move", style="bold", no_wrap=True, min_width=4)
    for name in ("N", "N %", "P %", "Q", "W  D  L %", "V"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    table.add_column("line", overflow="ellipsis", no_wrap=True)
    for move in report.moves[:rows]:
        table.add_row(*_cells(report, move))
    return table


def value_line(report: RootReport) -> Text:
    """The value of the position by search and by the net alone, for the player to move."""
    player = "first player" if report.state.to_move == 0 else "second player"
    parts = [
        f"{player} to move: W D L % by search {_percent(report.wdl)}",
        f"by the net alone {_percent(report.value)}",
    ]
    if report.mate is not None:
        result = "wins" if report.mate > 0 else "loses"
        parts += [f"{result} in {abs(report.mate)}", "proven"]
    return Text(", ".join(parts))


def speed_line(report: RootReport) -> Text:
    """Describe the work of the search in one line."""
    pace = report.pace
    return Text(
        f"{report.visits:,} visits ({pace.new_visits:,} new) in {pace.seconds:.2f} s, "
        f"{pace.visits_per_second:,.0f} visits/s, {pace.rows_per_second:,.0f} evaluations/s, "
        f"mean depth {pace.depth:.1f}, deepest {report.seldepth}, tree {report.memory / 1e6:.1f} MB"
        f"{', ended by: ' if report.reason else ''}{report.reason}",
        style="dim",
    )


def _cells(report: RootReport, move: RootMove) -> list[str]:
    """Return a row of the table of moves."""
    line = line_texts(report.state, move.line[: LINE_MOVES + 1])
    visited = move.visits > 0
    share = 100.0 * move.visits / max(1, sum(m.visits for m in report.moves))
    return [
        line[0],
        f"{move.visits:,}",
        f"{share:.1f}",
        f"{100.0 * move.prior:.1f}",
        # + 0.0 makes 0.0 of -0.0, which would be shown as a loss.
        f"{move.q + 0.0:+.3f}" if visited else "",
        _percent(move.wdl) if move.wdl is not None else "",
        f"{move.value + 0.0:+.3f}" if move.value is not None else "",
        " ".join(line[1:]),
    ]


def _percent(wdl: Wdl) -> str:
    """Return win, draw and loss as whole percentages."""
    return " ".join(f"{100.0 * share:.0f}" for share in wdl)
