"""The tables of docs/reference/recipes.md are those of the docstrings under the settings."""

import pytest

import recipe_page
from hauteur.learning import sections

TEXT = recipe_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    assert recipe_page.page(TEXT) == TEXT, "run `make schema`"


def test_a_changed_row_is_written_anew() -> None:
    other = TEXT.replace("| `games` | `500` |", "| `games` | `499` |")
    assert other != TEXT
    assert recipe_page.page(other) == TEXT


def test_a_section_without_a_table_is_named() -> None:
    with pytest.raises(ValueError, match=r"\[train.window\] has no table of settings"):
        recipe_page.page(TEXT.replace("## `[train.window]`", "## `[train.other]`"))


def test_every_setting_has_a_meaning() -> None:
    rows = recipe_page.rows_of("train", sections.TrainSettings)
    assert len(rows) == len(sections.TrainSettings.model_fields) - 3, "all but the three sections in it"
    assert all(row.count(" | ") == 3 for row in rows)
