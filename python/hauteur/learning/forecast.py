"""What a run will take on this machine: a few seconds of its self-play and of its training, and its settings.

A forecast is rough. Random games stand for those to come, which are longer or shorter; the gate, the yardstick and
exact solving are left out, evaluations that come again too. Imports torch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from hauteur.games.registry import load_game
from hauteur.learning.replay import Samples
from hauteur.learning.sections import ExtraTargets, SelfPlaySettings
from hauteur.learning.settled import ThisMachine, settled_recipe
from hauteur.learning.trainers import first_trainer
from hauteur.matches.arena import GameRules, Layout
from hauteur.matches.speed import RANDOM_PLIES, speed_of_games
from hauteur.system.seeds import stream

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.learning.recipe import Recipe

RANDOM_GAMES = 10
"""Games of random moves whose mean length is taken for that of all games."""
WARM_UP = 0.5
"""Seconds of self-play before it is timed."""
PLAYED = 1.0
"""Seconds of self-play that are timed."""
TRAINED = 1.0
"""Seconds of training that are timed, a step at least."""
FEWEST_POSITIONS = 20_000
"""Positions of self-play below which a run is over before a forecast of it would be worth its time."""
KEPT = 0.4
"""Share of the visits of a move that are there already where the subtree of the move before is kept.

It depends on game, net and visits; in the recipe of Connect Four it was about a half.
"""
BATCHES = 2
"""Games at a time in that of self-play, in rows of a batch."""


@dataclass(frozen=True)
class Forecast:
    """What one core of this machine does in a run, and what there is to do."""

    played: float
    """Positions of self-play a second."""
    trained: float
    """Positions of training a second, each as often as it is drawn."""
    positions: float
    """Positions of self-play in all generations."""
    samples: float
    """Positions of training in all generations."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all generations."""
        return self.positions / self.played + self.samples / self.trained

    def line(self, threads: int) -> str:
        """Return in a line what the run takes by the clock with this many threads."""
        took = about(self.cpu_seconds / threads)
        with_threads = "1 thread" if threads == 1 else f"{threads} threads"
        rates = f"a core plays {self.played:,.0f} and learns {self.trained:,.0f} positions a second"
        return f"on this machine: about {took} with {with_threads}, give or take a factor of two ({rates})"


def forecast(recipe: Recipe) -> Forecast | None:
    """Measure for about three seconds what a run of this recipe will take here.

    None for runs that it does not know enough of, with two nets or an opponent, on a GPU, without self-play, and for
    runs of fewer than FEWEST_POSITIONS. ValueError or OSError where a file that the recipe begins with cannot be used.
    """
    on_a_gpu = recipe.run.backend != "core" or recipe.train.device != "cpu"
    if on_a_gpu or recipe.large is not None or recipe.opponent is not None:
        return None
    game = load_game(recipe.game)
    generations = recipe.run.generations
    plies = mean_plies(game, recipe.selfplay.max_plies)
    positions = recipe.selfplay.games * plies
    if generations * positions < FEWEST_POSITIONS:
        return None
    settled = settled_recipe(recipe, None, ThisMachine(game, recipe))
    steps = settled.train.steps_for(round(positions * learned_share(settled.selfplay)))
    samples = steps * settled.train.batch_size
    played = positions_played(game, settled, plies)
    trained = positions_trained(game, settled)
    return Forecast(played, trained, generations * positions, generations * samples)


def about(seconds: float) -> str:
    """Return a rough time: seconds, minutes, or hours from two on."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"


def mean_plies(game: _core.Game, max_plies: int | None) -> float:
    """Return the mean length of a few random games, each cut at max_plies."""
    random = stream(0, "forecast")
    lengths = []
    for _ in range(RANDOM_GAMES):
        state = game.new_initial_state()
        length = 0
        while not state.is_terminal and (max_plies is None or length < max_plies):
            state.apply(int(random.choice(state.legal_actions())))
            length += 1
        lengths.append(length)
    return float(np.mean(lengths))


def learned_share(selfplay: SelfPlaySettings) -> float:
    """Return the share of the positions that is learned from: with a playout cap those that are searched in full."""
    return 1.0 if selfplay.playout_cap is None else selfplay.playout_cap.full_share


def visits_of_a_move(selfplay: SelfPlaySettings) -> float:
    """Return the mean visits that a move takes."""
    cap = selfplay.playout_cap
    visits: float = selfplay.visits
    if cap is not None:
        visits = cap.full_share * visits + (1 - cap.full_share) * cap.fast_visits
    return (1 - KEPT) * visits if selfplay.search.reuse_tree else visits


def positions_played(game: _core.Game, recipe: Recipe, plies: float) -> float:
    """Return how many moves a second of a core self-play makes, with a net of random weights or that of the start."""
    selfplay = recipe.selfplay
    machine = ThisMachine(game, recipe)
    rules = GameRules(selfplay.max_plies, None, selfplay.resignation, selfplay.tree_per_side)
    rows = selfplay.batch_size
    # Fewer games at a time than in the run: their first moves would take all of the second.
    layout = Layout(min(selfplay.parallel_games, BATCHES * rows), rows)
    with TemporaryDirectory() as folder:
        net = machine.new_net(Path(folder))
        with machine.player(net, rows, 1) as player:
            speed = speed_of_games(
                game,
                player,
                layout,
                seconds=PLAYED,
                warm_up=WARM_UP,
                rules=rules,
                random_plies=min(RANDOM_PLIES, int(plies / 2)),
            )
    visits_per_second = speed.visits / speed.seconds
    return max(1.0, visits_per_second) / visits_of_a_move(selfplay)


def positions_trained(game: _core.Game, recipe: Recipe) -> float:
    """Return how many positions a second of a core training takes."""
    settings = recipe.train.model_copy(update={"extra": ExtraTargets(), "workers": 1})
    trainer = first_trainer(game, recipe.model_copy(update={"train": settings}))
    source = RandomSource(game)

    def seconds_of(steps: int) -> float:
        begun = time.perf_counter()
        trainer.train(source, steps, seed=0, generation=1, generations=1, threads=1)
        return time.perf_counter() - begun

    # The first step also allocates; the second says how many fit into the time.
    seconds_of(1)
    steps = max(1, int(TRAINED / seconds_of(1)))
    return steps * settings.batch_size / seconds_of(steps)


@dataclass(frozen=True)
class RandomSource:
    """Batches of random positions: what they are does not change what a step takes."""

    game: _core.Game

    def sample(self, random: np.random.Generator, rows: int, *, root_value_share: float, symmetries: bool) -> Samples:  # noqa: ARG002
        """Return positions of which a third of the squares are 1, with an even policy and result."""
        actions = self.game.num_actions
        drawn = random.random((rows, *self.game.feature_shape), np.float32)
        return Samples(
            features=(drawn < 1 / 3).astype(np.float32),
            policy=np.full((rows, actions), 1 / actions, np.float32),
            wdl=np.full((rows, 3), 1 / 3, np.float32),
            legal=np.ones((rows, actions), np.uint8),
        )
