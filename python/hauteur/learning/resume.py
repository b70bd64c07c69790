"""How a run is opened: a new one from its recipe, or one that was begun, as its last checkpoint left it."""

from __future__ import annotations

import math
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.games.begins import check_begins
from hauteur.games.registry import load_game
from hauteur.learning.checkpoint import RunState, load_checkpoint
from hauteur.learning.context import Run
from hauteur.learning.display import Display
from hauteur.learning.publish import publish
from hauteur.learning.recipe import Recipe, check_gate
from hauteur.learning.replay import first_needed
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import ANOTHER_RUN
from hauteur.learning.settled import ThisMachine, settled_recipe
from hauteur.learning.steps.selfplay import plan_games, read_games, replay_window
from hauteur.system.files import sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hauteur.cluster.scheduler import Scheduler


@contextmanager
def open_run(
    recipe: Recipe,
    folder: RunFolder,
    *,
    fresh: bool,
    display: Display,
    scheduler: Scheduler | None = None,
) -> Iterator[Run]:
    """Yield a new run, or the one that the folder holds, with its games in the replay buffer.

    At the end nothing of it is played any more. ValueError for settings that do not fit the game, or differ from those
    of the folder's run.
    """
    game = load_game(recipe.game)
    is_new = fresh or not folder.config.exists()
    if is_new:
        run = new_run(game, recipe, folder, display, scheduler)
    else:
        run = stored_run(game, recipe, folder, display, scheduler)
    with closing(run.games):
        if not is_new:
            read_past(run)
        yield run


def new_run(
    game: _core.Game,
    recipe: Recipe,
    folder: RunFolder,
    display: Display,
    scheduler: Scheduler | None,
) -> Run:
    """Return a new run, with its settings and first net in the folder.

    ValueError or OSError where a recipe does not fit the game, or a file that it names cannot be used.
    """
    from hauteur.learning.options.chosen import options_of
    from hauteur.learning.trainers import Learners
    from hauteur.learning.units import OtherNets, check_players

    check_yardstick(game, recipe, folder)
    recipe = settled_recipe(recipe, None, ThisMachine(game, recipe))
    options = options_of(recipe)
    other_nets = OtherNets(game, recipe)
    check_begins(game)
    check_gate(recipe)
    for option in options:
        option.check(game, recipe)
    check_players(game, recipe, other_nets)
    learners = Learners.new(game, recipe)
    folder.create(recipe)  # when the nets are there, so that a start that does not fit leaves nothing behind
    sweep(folder.path)
    run = Run(recipe, folder, game, learners, first_state(recipe), display, scheduler, other_nets, options)
    run.save_nets(0)
    display.begin(recipe, folder)
    return run


def stored_run(
    game: _core.Game,
    recipe: Recipe,
    folder: RunFolder,
    display: Display,
    scheduler: Scheduler | None,
) -> Run:
    """Return the run of the folder as its last checkpoint left it; its games are not read yet.

    ValueError where the recipe has other settings than the run was begun with.
    """
    from hauteur.learning.options.chosen import options_of
    from hauteur.learning.trainers import Learners
    from hauteur.learning.units import OtherNets

    # Read first: `resume_with` may write another number of generations, which is compared with that of before.
    begun = folder.stored_recipe()
    recipe = settled_recipe(recipe, begun, ThisMachine(game, recipe))
    check_yardstick(game, recipe, folder)
    folder.resume_with(recipe)
    if folder.checkpoint.exists():
        try:
            state, tensors = load_checkpoint(folder.checkpoint)
        except ValueError as error:
            raise ValueError(f"{error}; put it back from a copy, or {ANOTHER_RUN}") from error
        learners = Learners.restored(recipe, folder, tensors, steps=state.train_steps)
    else:
        state = first_state(recipe)
        learners = Learners.new(game, recipe)
    # Before anything is built on them: names that a killed process gave may not be on disk, its unfinished files go.
    sweep(folder.path)
    change = rate_change(begun, recipe, state.generation)
    if change is not None:
        display.warn(change)
    other_nets = OtherNets(game, recipe)
    return Run(recipe, folder, game, learners, state, display, scheduler, other_nets, options_of(recipe))


def first_state(recipe: Recipe) -> RunState:
    """Return the state that a run begins with: at generation 1, or 0 where it learns from recorded games first."""
    learns_from_games = recipe.start is not None and recipe.start.games
    return RunState(generation=0 if learns_from_games else 1)


def check_yardstick(game: _core.Game, recipe: Recipe, folder: RunFolder) -> None:
    """Raise ValueError where the fixed opponent that the run is measured by does not fit the game or the folder."""
    if recipe.yardstick is None:
        return
    from hauteur.learning import yardstick  # loads players and matches, which other runs do not need

    yardstick.check_yardstick(folder, game, recipe.yardstick)


def rate_change(before: Recipe, now: Recipe, generation: int) -> str | None:
    """Return in a line how a new number of generations changes the learning rate of the next one; None: not at all."""
    settings = now.train
    old = before.run.generations
    new = now.run.generations
    if old == new or settings.schedule != "cosine" or generation > new:
        return None
    from hauteur.learning.train import learning_rate  # with torch

    step = settings.warmup_steps
    was = learning_rate(settings, step, (generation - 1) / max(1, old))
    will = learning_rate(settings, step, (generation - 1) / new)
    if math.isclose(was, will):
        return None
    return (
        f"run.generations is {new} and was {old}, over which the learning rate falls (train.schedule = cosine): "
        f"generation {generation} begins with {will:.3g}, {will / was:.1f} times the {was:.3g} that it was falling to"
    )


def read_past(run: Run) -> None:
    """Read the games of a resumed run into the replay buffer; write its first net where it is missing."""
    state = run.state
    # Killed between the recipe and the first net: until training the weights are those that the run begins with.
    if not state.train_steps and not all(path.exists() for path in run.net_files(0)):
        run.save_nets(0)
    if not state.is_begun:
        run.display.begin(run.recipe, run.folder)
        return
    read_games_again(run)
    if state.lines:
        publish(run)
    run.display.resume(run.recipe, run.folder, state, run.buffer.positions, run.flops())


def read_games_again(run: Run) -> None:
    """Read the games of finished self-play into the replay buffer, and do again what options did with them."""
    state = run.state
    has_played = "self-play" in state.done
    finished = state.generation if has_played else state.generation - 1
    games = {generation: count for generation, count in state.games.items() if generation <= finished}
    # Read no more than the replay window needs: of a long run that is a small part. An option may need older games,
    # where what it drew from them is part of the window.
    needed = first_needed(games, replay_window(run, finished))
    first = needed
    for option in run.options:
        first = option.first_read(run, games, first)
    for generation in range(first, finished + 1):
        # Planned again from the seed, so that a file with other games is found, and a lost one is played again.
        planned = plan_games(run, generation)
        played, _ = run.games.self_play(planned, lambda _: None, finished=True)
        read_games(run, generation, played)
        for option in run.options:
            option.generation_read(run, generation, needed)
