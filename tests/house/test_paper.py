"""The paper and the pages of findings are what the command makes of the results that are here."""

import pytest

import make_paper
from paper_parts import Quantity, nearest, quantities


def test_paper_findings_and_figures_are_those_of_the_results() -> None:
    assert make_paper.differences() == [], "make paper"


def test_a_part_that_is_unknown_is_an_error() -> None:
    assert make_paper.filled("a {{b}} c", {"b": "1"}, "page") == "a 1 c"
    with pytest.raises(ValueError, match=r"page: there is no part 'x'; there are b"):
        make_paper.filled("{{x}}", {"b": "1"}, "page")


def test_numbers_of_a_line() -> None:
    text = "by score, N_scl 10 at 800 nodes 16.3 [7.33, 25.3] percentage points; N_scl 28 8 [-0.83, 16.8]"
    assert quantities(text) == [Quantity(16.3, 7.33, 25.3), Quantity(8, -0.83, 16.8)]
    assert nearest({28: Quantity(0, 0, 0), 3: Quantity(0, 0, 0), 1: Quantity(0, 0, 0)}, 10) == 28
