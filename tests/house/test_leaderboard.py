"""LEADERBOARD.md follows from the records, and every record is a figure that the documents have."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hauteur.learning.recipe import load_recipe

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script, which is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        return import_module("leaderboard")


@pytest.fixture(scope="module")
def records(tool: ModuleType) -> list[Any]:
    found: list[Any] = tool.read_records()
    return found


def test_the_page_is_written_from_the_records(tool: ModuleType, records: list[Any]) -> None:
    assert (ROOT / "LEADERBOARD.md").read_text(encoding="utf-8") == tool.board_text(records)
    assert "(LEADERBOARD.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_figure_stands_in_a_document(records: list[Any]) -> None:
    pages = {record.source: (ROOT / record.source).read_text(encoding="utf-8") for record in records}
    assert [record.quoted for record in records if record.quoted not in pages[record.source]] == []
    numbers = [record.result.partition(",")[0].partition(" ")[0] for record in records]
    assert [n for n, record in zip(numbers, records, strict=True) if n not in record.quoted] == []


def test_recipes_are_there_and_judges_have_a_kind(records: list[Any]) -> None:
    assert {record.kind for record in records} == {"exact", "outside", "inside"}
    for record in records:
        path = ROOT / record.recipe.split()[0]
        if path.suffix == ".toml":
            assert load_recipe(path).game
        own = record.judge.startswith(("mcts:", "rave:", "one ply", "patterns and fours"))
        assert own == (record.kind == "inside"), record.judge


def test_older_records_of_a_judge_are_its_history(tool: ModuleType, records: list[Any]) -> None:
    rows = [line for line in tool.board_text(records).splitlines() if "5,000 solved positions, 200 visits" in line]
    assert len(rows) == 4
    assert ["**" in row for row in rows] == [False, False, False, True]
