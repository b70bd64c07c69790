"""Pictures of trees, and the moving one of the README."""

import re
from pathlib import Path

import pytest

from hauteur.plots.tree import TreeMark, tree_picture

pytestmark = pytest.mark.quick

MOVING = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "tree.svg"
MOST_BYTES = 2_000_000


def test_a_node_and_its_line_have_the_kind_of_the_mark() -> None:
    marks = [TreeMark(None, "", "root", 3, 0.0), TreeMark(0, "a", "a", 2, 0.5, kind="late")]
    picture = tree_picture(marks, "two nodes").svg
    assert re.findall(r'class="((?:edge|node)[^"]*)"', picture) == ["edge late", "node", "node late"]


def test_the_moving_picture_is_small_loops_and_can_stand_still() -> None:
    text = MOVING.read_text(encoding="utf-8")
    assert MOVING.stat().st_size <= MOST_BYTES
    assert "@media (prefers-reduced-motion: reduce){.picture *{animation:none}}" in text
    names = set(re.findall(r"@keyframes (\w+)", text))
    assert len(names) > 20
    assert set(re.findall(r"animation:(\w+) [\d.]+s infinite", text)) == names
    assert not re.search(r"<script|https?://(?!www\.w3\.org/2000/svg)|@import", text)
