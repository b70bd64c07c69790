"""The reference page of the UCI engine says what the program declares."""

from pathlib import Path
from typing import get_args

import pytest

from hauteur.engine.uci.commands import FLAGS, NUMBERS
from hauteur.engine.uci.options import OPTIONS
from hauteur.mcts.lc0_options import WITHOUT_EFFECT, Lc0Option
from hauteur.mcts.scores import FORMULAS
from hauteur.networks.evaluators.base import Backend, Precision

pytestmark = pytest.mark.quick

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference" / "uci.md"


def row(option: Lc0Option) -> str:
    """The line of the page's table that describes an option."""
    default = option.text(option.default)
    return f"| `{option.name}` | {f'`{default}`' if default else 'empty'} | {option.allowed} | {option.help} |"


@pytest.fixture(scope="module")
def page() -> str:
    """The page."""
    return PAGE.read_text(encoding="utf-8")


def test_every_option_stands_in_the_table(page: str) -> None:
    section = page.partition("\n## Options\n")[2].partition("\n## ")[0]
    listed = [line for line in section.splitlines() if line.startswith("| `")]
    assert listed == [row(option) for option in OPTIONS]


def test_names_without_effect_are_listed(page: str) -> None:
    missing = [name for name in WITHOUT_EFFECT if f"`{name}`" not in page]
    assert not missing


def test_limits_of_go_are_listed(page: str) -> None:
    missing = [word for word in (*NUMBERS, *FLAGS, "searchmoves") if f"`{word}" not in page]
    assert not missing


def test_choices_are_all_that_there_are() -> None:
    choices = {option.name: option.choices for option in OPTIONS}
    assert choices["Backend"] == ("auto", *get_args(Backend))
    assert choices["Precision"] == get_args(Precision)
    assert choices["ScoreType"] == tuple(FORMULAS)
