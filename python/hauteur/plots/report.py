"""The report of a run, match, tournament, tuning or rating list as data: a page, lines, JSON and CSV are made of it.

    report = Report(
        "connect4: my-run",
        "Seed 1, 100 visits a move.",
        facts=[("1,200", "games"), ("+85", "Elo over the first net")],
        sections=[
            ReportSection("Learning", figures=[losses, elo]),
            ReportSection("Games", games=ReportGames(drawing_of(start), walks)),
            ReportSection("Numbers", tables=[ReportTable(["generation", "games"], [["1", "600"], ["2", "600"]])]),
        ],
    )
    report.write(folder / "report.html")      # a page that needs nothing else
    print(report)                             # facts and tables in words
    write_json(path, report.to_json())        # facts, tables, and figures as `figure_values` gives them
    report.write_files(png=folder, csv=folder)    # KEY.png, KEY.csv of every figure

`body` is the inside of the page, for pages that put it into their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from hauteur.plots.boards import walks_html
from hauteur.plots.figure import Figure, figure_values
from hauteur.plots.files import write_csv, write_png
from hauteur.plots.page import Markup, facts_html, figures_html, page, table_html
from hauteur.system.files import write_bytes
from hauteur.system.tables import text_table

Fact = tuple[str, str]
"""A value, and what it is."""


@dataclass(frozen=True)
class ReportTable:
    """Rows of cells as text, the first of which names the row; a cell that is `plots.page.Markup` stays unchanged.

    words: cells are text that may be long, not numbers; folded: the line under which it is folded up; empty: open.
    """

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: bool = False
    folded: str = ""

    def html(self) -> str:
        """Return the table as HTML."""
        table = table_html(self.names, self.rows, words=self.words)
        if not self.folded:
            return table
        return f"<details><summary>{escape(self.folded)}</summary>{table}</details>"


@dataclass(frozen=True)
class ReportGames:
    """Games to step through: the empty board, None: positions are texts; and the games (`hauteur.games.walks`)."""

    drawing: Mapping[str, Any] | None
    walks: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ReportSection:
    """A part of a report under a title."""

    title: str
    """Title."""
    text: Sequence[str] = ()
    """Paragraphs, as text or Markup."""
    facts: Sequence[Fact] = ()
    """Numbers with their names."""
    figures: Sequence[Figure] = ()
    """Figures."""
    tables: Sequence[ReportTable] = ()
    """Tables."""
    games: ReportGames | None = None
    """Games to step through; None: there are none."""
    code: Mapping[str, str] | None = None
    """Texts shown as they are, each under the line that is its key."""

    def html(self) -> str:
        """Return the section as HTML."""
        return "".join(self._parts())

    def to_json(self) -> dict[str, Any]:
        """Return title, text, facts, tables and figures."""
        tables = []
        for table in self.tables:
            tables.append({"names": list(table.names), "rows": [list(row) for row in table.rows]})
        return {
            "title": self.title,
            "text": list(self.text),
            "facts": _facts_json(self.facts),
            "tables": tables,
            "figures": [figure_values(figure) for figure in self.figures],
        }

    def _parts(self) -> Iterator[str]:
        """Yield the parts of the section as HTML."""
        yield f"<h2>{escape(self.title)}</h2>"
        yield from (line if isinstance(line, Markup) else f"<p>{escape(line)}</p>" for line in self.text)
        if self.facts:
            yield facts_html(self.facts)
        if self.figures:
            yield figures_html(self.figures)
        yield from (table.html() for table in self.tables)
        if self.games is not None:
            yield walks_html(self.games.drawing, self.games.walks)
        for name, content in (self.code or {}).items():
            yield f"<details><summary>{escape(name)}</summary><pre>{escape(content)}</pre></details>"


@dataclass(frozen=True)
class Report:
    """Content of a report, in order: title, a line about it, the main facts, sections."""

    title: str
    text: str = ""
    facts: Sequence[Fact] = ()
    sections: Sequence[ReportSection] = ()

    @property
    def figures(self) -> list[Figure]:
        """All figures of the report."""
        return [figure for section in self.sections for figure in section.figures]

    def body(self) -> str:
        """Return all below the title as markup."""
        text = f"<p>{escape(self.text)}</p>" if self.text else ""
        facts = facts_html(self.facts) if self.facts else ""
        return text + facts + "".join(section.html() for section in self.sections)

    def html(self) -> str:
        """Return a whole page that needs nothing else."""
        return page(self.title, [f"<h1>{escape(self.title)}</h1>", self.body()])

    def write(self, path: Path) -> Path:
        """Write the page, whole or not at all; return where it is."""
        write_bytes(path, self.html().encode())
        return path

    def write_files(self, *, png: Path | None = None, csv: Path | None = None) -> None:
        """Write every figure into the folders that are given, as KEY.png and KEY.csv. ValueError for a file there."""
        for folder in (png, csv):
            if folder is not None and folder.is_file():
                raise ValueError(f"{folder}: is a file, expected a folder")
        for figure in self.figures:
            for folder, kind, write in ((png, "png", write_png), (csv, "csv", write_csv)):
                if folder is not None:
                    folder.mkdir(parents=True, exist_ok=True)
                    write(figure, folder / f"{figure.key}.{kind}")

    def __str__(self) -> str:
        """Return facts and tables for a terminal."""
        parts = [self.title, self.text, *_fact_lines(self.facts)]
        for section in self.sections:
            tables = [text_table(list(table.names), table.rows, shown=1000) for table in section.tables]
            inner = [*section.text, *_fact_lines(section.facts), *tables]
            parts += [f"\n{section.title}", *inner] if inner else []
        return "\n".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """Return facts, tables and figures; games are in their own files."""
        return {
            "title": self.title,
            "text": self.text,
            "facts": _facts_json(self.facts),
            "sections": [section.to_json() for section in self.sections],
        }


def _fact_lines(facts: Sequence[Fact]) -> list[str]:
    return [f"{name}: {value}" for value, name in facts]


def _facts_json(facts: Sequence[Fact]) -> list[dict[str, str]]:
    return [{"value": value, "name": name} for value, name in facts]
