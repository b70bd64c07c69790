"""The blocks of the documents: what each is, and where it says that it is not run."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = (
    "README.md",
    "docs/install.md",
    "docs/tutorial.md",
    "docs/how-to/*.md",
    "python/hauteur/mcts/methods/*.md",
    "docs/reference/*.md",
    "examples/**/*.md",
)
"""Pages whose blocks are executed."""
PARSED = ("docs/experiments/*.md", "docs/decisions/*.md", "docs/measurements.md")
"""Records of measurements: their commands took minutes to hours, so they are only parsed."""

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*\Z", re.DOTALL)
SHELL = ("sh", "bash", "console")


class Block(NamedTuple):
    """A fenced block: its page, first line, language and text; `reason` is why the page says that it is not run."""

    page: Path
    line: int
    language: str
    text: str
    reason: str

    @property
    def place(self) -> str:
        """Page and line, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages(patterns: tuple[str, ...]) -> list[Path]:
    """Return the pages of the checkout that the patterns name."""
    return sorted({page for pattern in patterns for page in ROOT.glob(pattern)})


def blocks(page: Path) -> list[Block]:
    """Return all fenced blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        reason = NOT_RUN.search(text[: match.start()])
        lines = text.count("\n", 0, match.start()) + 2
        body = re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)
        found.append(Block(page, lines, match[2], body, reason[1] if reason else ""))
    return found


def command_lines(block: Block) -> list[list[str]]:
    """Return the words of every command of a shell block; the output in a `console` block is left out."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]
