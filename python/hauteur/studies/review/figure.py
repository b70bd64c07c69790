"""The chances over a game as a figure: who wins, the first player's expected score, the marked moves."""

from __future__ import annotations

from hauteur.games.pictures import seat_names
from hauteur.mcts.report import Wdl
from hauteur.plots.figure import Figure, Series
from hauteur.studies.review.games import ReviewedGame
from hauteur.studies.review.judgement import THRESHOLDS, Mark, expected_score, flipped
from hauteur.studies.review.review import Found, Place

COLOURS: dict[Mark, str] = {"inaccuracy": "gold", "mistake": "orange", "blunder": "loss-ink"}

EVEN = (0.2, 0.8)
"""Expected scores of the start of a game whose figure shows all chances from 0 to 100 % in even steps."""


def chances_over(game: ReviewedGame, found: Found) -> dict[int, Wdl]:
    """Return the first player's chances of win, draw and loss by the plies before a position, as far as they are known.

    found: what the searches of this game have found.
    """
    chances: dict[int, Wdl] = {}
    state = game.start.copy()
    for ply, action in enumerate([*game.actions, None]):
        finding = found.get(Place(ply, deep=True)) or found.get(Place(ply))
        if finding is not None:
            chances[ply] = finding.wdl if state.to_move == 0 else flipped(finding.wdl)
        if action is not None:
            state.apply(action)
    return chances


def chances_figure(game: ReviewedGame, found: Found) -> Figure:
    """Return the figure of what is known until now; its x axis has room for the whole game.

    In a game that does not begin EVEN, its scale is that of odds: 4 and 8 % are as far apart as 50 and 68 %.
    """
    first, second = seat_names(game.start.game)
    named = (("win", f"{first} wins"), ("draw", "draw"), ("loss", f"{second} wins"))
    chances = chances_over(game, found)
    places = range(len(game.actions) + 1)
    scores = [expected_score(chances[ply]) if ply in chances else None for ply in places]
    uneven = bool(chances) and not EVEN[0] <= expected_score(chances[min(chances)]) <= EVEN[1]
    marked = [
        Series(
            name,
            [move.ply + 1 for move in moves],
            [scores[move.ply + 1] for move in moves],
            COLOURS[name],
            joined=False,
        )
        for name, _ in THRESHOLDS
        if (moves := [move for move in game.moves if move.mark == name])
    ]
    return Figure(
        "chances",
        "Chances over the game",
        f"Who wins, and {first}'s expected score (win + draw/2){', on a scale of odds' if uneven else ''}.",
        "chance",
        "plies played",
        areas=tuple(
            Series(name, list(chances), [wdl[part] for wdl in chances.values()], colour)
            for part, (colour, name) in enumerate(named)
        ),
        lines=(Series(f"{first}'s expected score", list(places), scores, "ink"), *marked),
        percent=True,
        logit=uneven,
    )
