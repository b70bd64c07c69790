"""The paper and the pages of findings, made of the table of claims and the kept results; `make paper` writes them.

    python experiments/paper/make_paper.py            # writes docs/paper, docs/experiments/finding-*.md, their figures
    python experiments/paper/make_paper.py --check    # names those that differ from what it would write

A template in this folder is a page with `{{NAME}}` where a part stands that is made here: all that was measured comes
so, and an unknown name is an error. A figure carries the check sum of its numbers, by which a test compares it, since
its pixels depend on the version of matplotlib.
"""

from __future__ import annotations

import csv
import hashlib
import re
import struct
import sys
import tempfile
import textwrap
import zlib
from pathlib import Path
from typing import Any

import report_part
import thesis_part
import tree_part
from hauteur.plots.figure import Figure
from hauteur.plots.files import write_csv, write_png
from hauteur_experiments.summary import between
from paper_parts import figures, kept_run, parts

TEMPLATES = Path(__file__).resolve().parent
ROOT = TEMPLATES.parent.parent
PAPER = "docs/paper/README.md"
FINDINGS = ("finding-odds", "finding-pairs", "finding-temperature", "finding-rules", "finding-exact", "finding-tree")
"""(a) to (f) of the paper."""

TRAINING = "docs/experiments/contempt-training.md"
"""The page whose parts on the small thesis are made of its kept files."""

THESIS = "chess-thesis-small"
REPORT = ("report-fig3", "report-fig4", "report-fig6")
"""Runs of the implementation report with a figure."""

PARTS = re.compile(r"\{\{([\w.-]+)\}\}")
WIDTH = 140
"""Of a line of text."""

STAMP = "Numbers"
"""Keyword of the text in a PNG that has the check sum."""


def claims() -> list[dict[str, str]]:
    """The lines of the table of claims."""
    with (ROOT / "docs" / "experiments" / "claims.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pages() -> dict[str, str]:
    """Every page with its text, by its place in the checkout."""
    known = parts(claims())
    made: dict[str, str] = {}
    found = {name: (TEMPLATES / f"{name}.md").read_text(encoding="utf-8") for name in FINDINGS}
    for name, template in found.items():
        made[f"docs/experiments/{name}.md"] = filled(template, {**known, "experiments": ""}, name)
    there = {**known, "experiments": "../experiments/"}
    letters = zip(found.items(), "abcdef", strict=True)
    inner = {name: inside(filled(text, there, name), letter) for (name, text), letter in letters}
    template = (TEMPLATES / "paper.md").read_text(encoding="utf-8")
    made[PAPER] = filled(template, {**there, **inner}, "paper")
    made[TRAINING] = training_page()
    return made


def training_page() -> str:
    """Return the page on training with the parts that are made of kept runs."""
    small = thesis_part.text(kept_run(THESIS).result)
    page = between(_text(ROOT / TRAINING), thesis_part.BEGIN, thesis_part.END, in_width(small), TRAINING)
    pairs = tree_part.pairs_text(kept_run(tree_part.PAIRS))
    return between(page, tree_part.PAIRS_BEGIN, tree_part.PAIRS_END, in_width(pairs), TRAINING)


def in_width(text: str) -> str:
    """Return a text whose paragraphs are wrapped."""
    return "\n\n".join(map(wrapped, text.split("\n\n")))


def every_figure() -> dict[str, Figure]:
    """Every figure by its place in the checkout."""
    found = [thesis_part.figure(kept_run(THESIS).result)]
    found += [report_part.figure_of(name, kept_run(name).result) for name in REPORT]
    return {**figures(claims()), **{f"docs/experiments/{one.key}.png": one for one in found}}


def filled(template: str, known: dict[str, str], name: str) -> str:
    """A template with its parts. ValueError for a part that is unknown."""

    def part(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise ValueError(f"{name}: there is no part {match[1]!r}; there are {', '.join(sorted(known))}")
        return known[match[1]]

    return in_width(PARTS.sub(part, template))


def wrapped(block: str) -> str:
    """A paragraph or list that has a line above WIDTH in lines of that width; code, tables and figures unchanged."""
    lines = block.split("\n")
    if max(map(len, lines)) <= WIDTH or lines[0].startswith(("|", "![", "#", "```")):
        return block
    items: list[str] = []
    for line in lines:
        if line.startswith("- ") or not items:
            items.append(line)
        else:
            items[-1] += f" {line.strip()}"
    whole: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    filled_in = (("  " if item.startswith("- ") else "", item) for item in items)
    return "\n".join(textwrap.fill(item, WIDTH, subsequent_indent=indent, **whole) for indent, item in filled_in)


def inside(page: str, letter: str) -> str:
    """A page as a section of another: its title is of the third order and has a letter, its figure has its folder."""
    page = page.replace("# ", f"# ({letter}) ", 1)
    page = re.sub(r"^(#+) ", lambda match: "#" * min(6, len(match[1]) + 2) + " ", page, flags=re.MULTILINE)
    return re.sub(r"\]\((finding-[\w-]+\.png)\)", r"](../experiments/\1)", page).strip()


def check_sum(figure: Figure) -> str:
    """The check sum of the numbers and words of a figure."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "numbers.csv"
        write_csv(figure, file)
        words = f"{figure.title}\n{figure.text}\n"
        return hashlib.sha256(words.encode() + file.read_bytes()).hexdigest()


def stamp_of(path: Path) -> str:
    """The check sum that a PNG carries; empty for one without, or no file."""
    data = path.read_bytes() if path.exists() else b""
    place = data.find(f"tEXt{STAMP}\0".encode())
    return data[place + len(STAMP) + 5 :][:64].decode("ascii", "replace") if place >= 0 else ""


def draw(figure: Figure, path: Path) -> None:
    """Write a figure with its check sum."""
    write_png(figure, path)
    data = path.read_bytes()
    text = f"{STAMP}\0{check_sum(figure)}".encode()
    chunk = struct.pack(">I", len(text)) + b"tEXt" + text + struct.pack(">I", zlib.crc32(b"tEXt" + text))
    path.write_bytes(data[:33] + chunk + data[33:])  # after the header


def differences() -> list[str]:
    """The files that are not what the results make."""
    texts = [name for name, text in pages().items() if _text(ROOT / name) != text]
    return texts + [name for name, one in every_figure().items() if stamp_of(ROOT / name) != check_sum(one)]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write() -> None:
    """Write all pages, and the figures whose numbers have changed."""
    for name, text in pages().items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(text, encoding="utf-8")
        print(f"written: {name}, {len(text.split()):,} words")
    for name, figure in every_figure().items():
        if stamp_of(ROOT / name) != check_sum(figure):
            draw(figure, ROOT / name)
            print(f"written: {name}")


def main() -> int:
    """Write, or check."""
    if sys.argv[1:] == ["--check"]:
        found = differences()
        print("\n".join(found) or "all pages and figures are those of the results")
        return 1 if found else 0
    if sys.argv[1:]:
        print(f"the only option is --check, got {' '.join(sys.argv[1:])}", file=sys.stderr)
        return 2
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
