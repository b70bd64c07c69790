"""The output that documents show beneath a command, beside what the command prints.

A block of text behind a block of commands begins with one of these lines:

    <!-- output: COMMAND -->          compared by `make test`
    <!-- output, slow: COMMAND -->    compared by `make test-slow`
    <!-- form, slow: COMMAND -->      the same without the numbers: games differ with the processor's arithmetic
    <!-- shown: REASON -->            not compared: no output, or a record of a long run
"""

import re
from itertools import pairwise
from typing import NamedTuple

from doc_blocks import SHELL, Block

MARK = re.compile(r"<!-- (output|output, slow|form|form, slow|shown): ((?:(?!-->).)+) -->\s*\Z", re.DOTALL)

VOLATILE = re.compile(
    r"\d[\d,.]* (?:s\b|evaluations/s|evals/s|rows a batch|MB|h\b)|\(fill \d+%\)|fill +\d+%|cache +\d+%"
    r"|network/search/Python \S+|[\d:]+ left|took [\d:]+"
)
"""Times, speeds and memory, which no seed fixes."""

TOLERANCE = 0.1
"""Numbers may differ by this share, or by this much in the last digit that is shown: processors round differently."""

ALIKE = 0.9
"""Share of the words and numbers of a line that must be there."""


class Output(NamedTuple):
    """A marked block. kind: `output`, `form` (both may be slow) or `shown`; what: the command, or why not."""

    block: Block
    kind: str
    what: str


def outputs(blocks: list[Block], text: str) -> list[Output]:
    """Return the blocks of text of a page that have a mark."""
    lines = text.splitlines(keepends=True)
    found = []
    for block in blocks:
        mark = MARK.search("".join(lines[: block.line - 2]))
        if mark:
            found.append(Output(block, mark[1], " ".join(mark[2].split())))
    return found


def unmarked(blocks: list[Block], text: str) -> list[Block]:
    """Return the blocks of text that follow a block of commands without a mark."""
    marked = {output.block.line for output in outputs(blocks, text)}
    pairs = pairwise(blocks)
    return [b for a, b in pairs if a.language in SHELL and b.language in ("text", "") and b.line not in marked]


def differences(shown: str, real: str, *, form: bool = False) -> list[str]:
    """Return the shown lines that the real output has not, in this order; a line `...` stands for any lines.

    form: numbers may be any.
    """
    if form:
        shown, real = (re.sub(r"\d[\d,]*(?:\.\d+)?", "0", text) for text in (shown, real))
    missing, rest = [], [words_of(line) for line in real.splitlines() if line.strip()]
    for line in shown.splitlines():
        words = words_of(line)
        if not words or re.fullmatch(r"\s*(\.\.\.|\(\d+ more\))\s*", line):
            continue
        place = next((place for place, other in enumerate(rest) if alike(words, other)), None)
        if place is None:
            missing.append(line)
        else:
            rest = rest[place + 1 :]
    return missing


def words_of(line: str) -> list[str]:
    """Return the words and numbers of a line without what is volatile."""
    return re.findall(r"[-+]?\d[\d,]*(?:\.\d+)?|[^\s\d,;:()\[\]]+", VOLATILE.sub("", line))


def alike(shown: list[str], real: list[str]) -> bool:
    """Return whether two lines say the same; the first word must be equal, numbers about."""
    if not real or not same(shown[0], real[0]) or abs(len(shown) - len(real)) > len(shown) * (1 - ALIKE) + 1:
        return False
    return sum(same(a, b) for a, b in zip(shown, real, strict=False)) >= ALIKE * len(shown)


def same(shown: str, real: str) -> bool:
    """Return whether two words are equal, or two numbers about equal."""
    try:
        a, b = (float(word.replace(",", "")) for word in (shown, real))
    except ValueError:
        return shown == real
    digits = len(shown.partition(".")[2])
    return abs(a - b) <= max(TOLERANCE * max(abs(a), abs(b)), 2 * 10.0**-digits if digits else 0.5)
