"""Figure 6 of the implementation report: a game between the trained and the initial player, and a match of them.

One game shows little, so it is accompanied by a match of many games on both sides, with the interval of its score. In
the match both players sample moves from the visits, as in episodes; in the game shown they play their best.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, stated
from hauteur_experiments.implementation_report.figures import FIRST_SEED, PAPER, PLANS, recipe_of
from hauteur_experiments.learned import learn_seeds, net_of
from hauteur_experiments.measured import Record, Share
from hauteur_experiments.verdict import Claim, of_most_seeds

PLAN = PLANS[-1]
GAMES = 200


def make(setting: Setting) -> Result:
    """Learn as in figure 5, then play the trained net against that of the beginning."""
    rows, records, texts = [], list[Record](), list[str]()
    for seed, folder in learn_seeds(setting, partial(recipe_of, PLAN, setting)).items():
        recipe = recipe_of(PLAN, setting, seed)
        sampled = recipe.selfplay.temperature.initial
        match = _played(folder, recipe, sampled, setting.pairs(max(GAMES, round(4 / setting.scale))))
        records.append(Record.of(match.match.tally))
        rows.append({"seed": seed, **records[-1]._asdict()})
        if seed == setting.first_seed:
            texts = [shown_game(game) for game in _played(folder, recipe, 0.0, 2).games]
    total = Record(*(sum(column) for column in zip(*records, strict=True)))
    measured = (
        f"trained player against the initial one, {total.games} games of {len(rows)} seeds on both sides: "
        f"{total.wins} won, {total.draws} drawn, {total.losses} lost"
    )
    stronger = Share(sum(record.score_interval()[0] > 0.5 for record in records), len(records))
    what = "share of the seeds whose match the trained player surely wins"
    claim = Claim((of_most_seeds(what, stronger),))
    return Result(rows, [Finding.of("stronger", claim, measured)], texts=texts)


def _played(folder: Path, recipe: ht.Recipe, temperature: float, games: int) -> Any:
    """The trained player against the initial one; sides alternate."""
    settings = recipe.selfplay
    trained, initial = (
        ht.Player(net_of(folder, generation), settings.search, visits=settings.visits, temperature=temperature)
        for generation in (recipe.run.generations, 0)
    )
    seed = recipe.run.seed
    return ht.play_match(
        trained, initial, recipe.game, games=games, seed=seed, random_plies=0, threads=1, progress=False
    )


def shown_game(game: Any) -> str:
    """A game as drawings in a row."""
    state, boards = ht.position("tictactoe"), []
    for move in game.moves.split():
        state.apply(state.parse(move))
        boards.append(state.text().splitlines()[:-1])  # without the line that says who is to move
    rows = ["   ".join(parts) for parts in zip(*boards, strict=True)]
    names = ("trained", "initial") if game.a == "first" else ("initial", "trained")
    winner = {1.0: "trained player wins", 0.5: "draw", 0.0: "initial player wins"}[game.score]
    return "\n".join([f"{names[0]} player begins against the {names[1]} one: {winner}", *rows])


EXPERIMENTS = (
    Experiment(
        "report-fig6",
        f"{PAPER}, figure 6",
        "tic-tac-toe: the trained against the initial player, a game and a match",
        make,
        claims=stated(
            "El Kazdadi et al., figure 6",
            "stronger | the trained player is clearly stronger than the initial one | one game",
        ),
        seeds=3,
        first_seed=FIRST_SEED,
    ),
)
