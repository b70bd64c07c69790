"""Rows of results: shown as a table in a terminal and in a notebook, and given to pandas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import pandas

Row = TypeVar("Row", bound=NamedTuple)

SHOWN_ROWS = 12
"""Rows that are shown; the others are counted."""
WIDEST = 36
"""Signs of a cell that are shown."""


class Rows(tuple[Row, ...], Generic[Row]):
    """Rows of one kind, named tuples; a tuple that is displayed as a table.

    >>> from typing import NamedTuple
    >>> class Score(NamedTuple):
    ...     name: str
    ...     points: float
    >>> Rows([Score("A", 1.5), Score("B", 0.5)])
    name  points
    A      1.500
    B      0.500
    """

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas DataFrame, a column a field. Raise ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame.from_records(list(self), columns=self._columns())

    def _columns(self) -> list[str]:
        return list(self[0]._fields) if self else []

    def __repr__(self) -> str:
        return text_table(self._columns(), self) if self else "no rows"

    def _repr_html_(self) -> str:
        return html_table(self._columns(), self) if self else "<p>no rows</p>"


def text_table(names: Sequence[str], rows: Sequence[Iterable[Any]], shown: int = SHOWN_ROWS) -> str:
    """Return rows as lines of text under their names, numbers to the right; `shown` rows at most."""
    cells = [list(names)]
    cells += [_cell_texts(row) for row in rows[:shown]]
    is_numeric = []
    for column in zip(*rows[:shown], strict=True):
        is_numeric.append(all(isinstance(value, int | float) for value in column))
    widths = []
    for texts in zip(*cells, strict=True):
        widths.append(max(len(text) for text in texts))
    lines = []
    for row in cells:
        padded = []
        for text, width, to_the_right in zip(row, widths, is_numeric, strict=True):
            padded.append(text.rjust(width) if to_the_right else text.ljust(width))
        lines.append("  ".join(padded).rstrip())
    more = len(rows) - shown
    if more > 0:
        lines.append(f"... and {more:,} more")
    return "\n".join(lines)


def html_table(names: Sequence[str], rows: Sequence[Iterable[Any]], shown: int = SHOWN_ROWS) -> str:
    """Return the same as an HTML table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = ""
    for row in rows[:shown]:
        cells = "".join(f"<td>{escape(text)}</td>" for text in _cell_texts(row))
        body += f"<tr>{cells}</tr>"
    more = len(rows) - shown
    if more > 0:
        body += f'<tr><td colspan="{len(names)}">... and {more:,} more</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell_texts(row: Iterable[Any]) -> list[str]:
    return [cell_text(value) for value in row]


def cell_text(value: object) -> str:
    """Return a value as a cell shows it: floats with three decimals, nothing for None and NaN, long texts cut."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    if len(text) <= WIDEST:
        return text
    return f"{text[: WIDEST - 3]}..."
