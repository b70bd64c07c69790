"""Figure 6 of the implementation report: a game between the trained and the initial player, and a match of them.

One game shows little, so it is accompanied by a match of many games in both seats, with the interval of its score. In
the match both players sample moves from the visits, as in episodes; in the game shown they play their best.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from functools import partial

from hauteur.games.registry import load_game
from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.matches.arena import play_games
from hauteur.matches.ratings.elo import MatchScore, score_interval
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Temperature
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.players.search_player import SearchPlayer
from hauteur_experiments.alphazero_report.figures import FIRST_SEED, LEAST_SEEDS, PAPER, PLANS, recipe_of
from hauteur_experiments.alphazero_report.learning import learn_seeds
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.measured import Share
from hauteur_experiments.verdict import Claim, of_most_seeds

PLAN = PLANS[-1]
GAMES = 200
TRAINED, INITIAL = 0, 1


def make(setting: ExperimentSetting) -> Result:
    """Learn as in figure 5, then play the trained net against that of the beginning."""
    rows, records, texts, total = [], [], [], MatchScore()
    folders = learn_seeds(setting, partial(recipe_of, PLAN, setting))
    for seed, folder in zip(setting.seed_numbers, folders, strict=True):
        recipe = recipe_of(PLAN, setting, seed)
        record = match(folder, recipe, setting.scaled(GAMES, 4))
        rows.append({"seed": seed, "wins": record.wins, "draws": record.draws, "losses": record.losses})
        records.append(record)
        total = MatchScore(total.wins + record.wins, total.draws + record.draws, total.losses + record.losses)
        if seed == setting.first_seed:
            texts = [shown_game(folder, recipe, seats) for seats in ((TRAINED, INITIAL), (INITIAL, TRAINED))]
    measured = (
        f"trained player against the initial one, {total.games} games of {len(rows)} seeds in both seats: "
        f"{total.wins} won, {total.draws} drawn, {total.losses} lost"
    )
    stronger = Share(sum(score_interval(record)[0] > 0.5 for record in records), len(records))
    what = "share of the seeds whose match the trained player surely wins"
    claim = Claim((of_most_seeds(what, stronger, LEAST_SEEDS),))
    statement = "figure 6: the trained model plays with a clear improvement against the initial model"
    return Result(rows, [Finding.of(statement, claim, measured)], texts=texts)


def match(folder: RunFolder, recipe: Recipe, games: int) -> MatchScore:
    """The trained player's result; seats alternate."""
    plans = (GamePlan(index, (TRAINED, INITIAL) if index % 2 == 0 else (INITIAL, TRAINED)) for index in range(games))
    record = MatchScore()
    for game in _played(folder, recipe, plans, recipe.selfplay.temperature, "figure 6 match"):
        record = record.add(game.score_of(TRAINED))
    return record


def shown_game(folder: RunFolder, recipe: Recipe, seats: tuple[int, int]) -> str:
    """A game of both by their most visited moves, as drawings in a row."""
    (game,) = _played(folder, recipe, [GamePlan(0, seats)], Temperature(), "figure 6 game")
    state = load_game(recipe.game).new_initial_state()
    boards = []
    for action in game.actions:
        state.apply(int(action))
        boards.append(state.text().splitlines()[:-1])  # without the line that says who is to move
    rows = ["   ".join(parts) for parts in zip(*boards, strict=True)]
    names = ["trained" if seat == TRAINED else "initial" for seat in seats]
    result = {1: f"{names[0]} player wins", 0: "draw", -1: f"{names[1]} player wins"}[game.outcome]
    return "\n".join([f"{names[0]} player begins against the {names[1]} one: {result}", *rows])


def _played(
    folder: RunFolder, recipe: Recipe, plans: Iterable[GamePlan], temperature: Temperature, purpose: str
) -> list[GameRecord]:
    game, settings = load_game(recipe.game), recipe.selfplay
    with ExitStack() as stack:
        players = []
        for name, generation in (("trained", recipe.run.generations), ("initial", 0)):
            evaluator = make_evaluator(game, folder.net(generation), backend="core", threads=1)
            stack.callback(evaluator.close)
            players.append(SearchPlayer(name, evaluator, settings.search, settings.visits, temperature))
        seed = recipe.run.seed
        return list(play_games(game, players, plans, seed=seed, purpose=purpose, parallel=200, batch_size=128))


EXPERIMENTS = (
    Experiment(
        "report-fig6",
        f"{PAPER}, figure 6",
        "tic-tac-toe: the trained against the initial player, a game and a match",
        PLAN.seconds,
        make,
        first_seed=FIRST_SEED,
        growth=2.0,
    ),
)
