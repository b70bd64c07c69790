"""The output that pages show below their commands: which commands it is of, and which nets it rests on.

A block of output stands below the block of its commands, with a comment between them:

    <!-- output of: hauteur analyse chess; nets: maia-1900 e2f565f4 -->
    <!-- output of: hauteur match "visits=50, hauteur puzzles mine runs/games; nets: connect4 0a446d72; slow -->
    <!-- output not compared: times and a net of one's own -->

`output of`: beginnings of commands of the page, which are run in this order; the output of the last is compared.
`nets`: names with the first digits of their check sums, so that a changed net says which output must be made again.
"""

import hashlib
import re
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from doc_blocks import ROOT, SHELL, Block, blocks, pages

from hauteur.networks.names import data_path, downloaded_nets, known_net, shipped_names

WITH_OUTPUT = ("README.md", "docs/tutorial.md", "docs/how-to/*.md", "docs/reference/*.md")
"""Pages whose outputs are compared."""

SHOWN = re.compile(r"<!-- output of: (?P<commands>.+?); nets: (?P<nets>.+?)(?P<slow>; slow)? -->\s*\Z", re.DOTALL)
LEFT_OUT = re.compile(r"<!-- output not compared: .+? -->\s*\Z", re.DOTALL)
DIGITS = 8
"""Digits of a net's check sum."""

GAP = "..."
"""A line that stands for lines left out."""


class ShownOutput(NamedTuple):
    """A block of output: its commands, the nets that it rests on with their check sums, whether it takes long."""

    block: Block
    commands: tuple[str, ...]
    nets: dict[str, str]
    is_slow: bool


def comment_before(block: Block) -> str:
    """Return the last comment of a page before the fence of a block, with what follows it; empty without one."""
    lines = block.page.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(lines[: block.line - 2])
    return text[text.rfind("<!--") :] if "<!--" in text else ""


def outputs_below_commands() -> list[Block]:
    """Return the blocks of text that stand below a block of commands."""
    found = []
    for page in pages(WITH_OUTPUT):
        every = blocks(page)
        for before, block in pairwise(every):
            has_commands = before.language in SHELL and "hauteur " in before.text
            if block.language == "text" and has_commands and not block.reason:
                found.append(block)
    return found


def is_left_out(block: Block) -> bool:
    """Return whether the page says why a block is not compared."""
    return LEFT_OUT.search(comment_before(block)) is not None


def shown_output(block: Block) -> ShownOutput | None:
    """Return what a block is the output of; None where the page does not say."""
    said = SHOWN.search(comment_before(block))
    if said is None:
        return None
    beginnings = said["commands"].split(", hauteur ")
    beginnings = [beginnings[0], *(f"hauteur {rest}" for rest in beginnings[1:])]
    commands = tuple(_command(block, " ".join(beginning.split())) for beginning in beginnings)
    nets = dict(net.split() for net in said["nets"].split(",")) if said["nets"] != "none" else {}
    return ShownOutput(block, commands, nets, bool(said["slow"]))


def _command(block: Block, beginning: str) -> str:
    """Return the command of the page above a block that begins so; AssertionError where there is none, or more."""
    found = []
    for other in blocks(block.page):
        if other.language in SHELL and other.line < block.line:
            lines = other.text.replace("\\\n", " ").splitlines()
            found += [line for line in lines if " ".join(line.split()).startswith(beginning)]
    assert len(found) == 1, f"{block.place}: {len(found)} commands begin with {beginning!r}"
    return found[0]


def check_sum(net: str) -> str | None:
    """Return the first digits of a net's check sum; None where the net is not here and its publisher names none."""
    if net in shipped_names():
        return _digits_of(data_path(f"{net}.safetensors"))
    known = known_net(net)
    if known is not None and known.sha256 is not None:
        return known.sha256[:DIGITS]
    return _digits_of(downloaded_nets()[net]) if net in downloaded_nets() else None


def _digits_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]


def output_of(commands: tuple[str, ...], folder: Path, program: list[str]) -> str:
    """Run commands in a folder, with the examples beside them; return what the last one prints."""
    (folder / "examples").symlink_to(ROOT / "examples")
    printed = ""
    for command in commands:
        words = shlex.split(command, comments=True)
        done = subprocess.run(
            [*program, *words[1:]], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert done.returncode in (0, 1, 3), f"{command}: {done.stderr[-1000:]}"
        printed = done.stdout
    return printed


def difference(shown: str, printed: str) -> str:
    """Return the first line that is shown and not printed, in the order of both; empty where all are.

    Lines next to each other must be printed so, but where GAP stands between them. Spaces count once.
    """
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    place = 0
    may_skip = True
    for line in (" ".join(line.split()) for line in shown.splitlines()):
        if line == GAP:
            may_skip = True
            continue
        if may_skip and line in lines[place:]:
            place = lines.index(line, place)
        if place >= len(lines) or lines[place] != line:
            return line
        place = place + 1
        may_skip = False
    return ""
