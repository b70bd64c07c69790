"""The figure of a review: what is known of the chances, and a scale that shows games at odds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hauteur.plots import svg, write_png
from hauteur.studies.review.games import games_of_text
from hauteur.studies.review.page import chances_figure
from hauteur.studies.review.review import Place, PositionFinding, review_game

pytestmark = pytest.mark.quick


def test_a_game_at_odds_is_drawn_on_a_scale_that_shows_it(tmp_path: Path) -> None:
    """Expected scores of 3 to 8 % take up much of the height, where all chances in even steps leave a flat line."""
    (game,) = games_of_text("4 4 4 4", "connect4", on_bad=print)
    worth = (0.04, 0.96, 0.03, 0.92)
    found = {Place(ply): PositionFinding((win, 0.0, 1.0 - win), (0,)) for ply, win in enumerate(worth)}
    figure = chances_figure(game, found)
    assert [area.name for area in figure.areas] == ["Yellow wins", "draw", "Red wins"]
    assert list(figure.lines[0].values[:4]) == pytest.approx([0.04, 0.04, 0.03, 0.08])
    assert figure.y_ticks() == [0.01, 0.02, 0.05, 0.1, 0.2]
    line = re.search(r'<polyline points="([^"]*)"', svg(figure))
    assert line is not None
    heights = [float(place.split(",")[1]) for place in line[1].split()]
    assert max(heights) - min(heights) > 60
    pytest.importorskip("matplotlib")
    write_png(figure, tmp_path / "chances.png")


def test_the_figure_of_the_chances_has_what_is_known_and_room_for_the_rest() -> None:
    """Areas of the known positions, as the first player has them; a dot for each marked move."""
    (game,) = games_of_text("4 4 4 4", "connect4", on_bad=print)
    found = {Place(0): PositionFinding((0.6, 0.2, 0.2), (0,)), Place(1): PositionFinding((0.5, 0.25, 0.25), (0,))}
    figure = chances_figure(game, found)
    assert [list(area.values) for area in figure.areas] == [[0.6, 0.25], [0.2, 0.25], [0.2, 0.5]]
    assert list(figure.lines[0].values) == [0.7, 0.375, None, None, None]
    assert figure.x_range() == (0, 4)
    assert figure.y_ticks() == [0.0, 0.25, 0.5, 0.75, 1.0]
    good, bad = (PositionFinding(wdl, (0,)) for wdl in ((0.1, 0.0, 0.9), (0.9, 0.0, 0.1)))
    game.moves = list(
        review_game(game.start, game.actions, lambda _, place, __: good if place.instead else bad, found=found)
    )
    assert [move.mark for move in game.moves] == ["blunder"] * 4
    (marked,) = chances_figure(game, found).lines[1:]
    assert (list(marked.xs), marked.colour) == ([1, 2, 3, 4], "loss-ink")
    assert list(marked.values) == pytest.approx([0.1, 0.9, 0.1, 0.9])
