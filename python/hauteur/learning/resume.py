"""How a run is opened: a new one from its recipe, or one that was begun, as its last checkpoint left it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.games.begins import check_begins
from hauteur.games.registry import load_game
from hauteur.learning.checkpoint import RunState, load_checkpoint
from hauteur.learning.context import Run
from hauteur.learning.display import Display
from hauteur.learning.gate import check_gate
from hauteur.learning.publish import publish
from hauteur.learning.recipe import Recipe
from hauteur.learning.replay import first_needed
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.settled import ThisMachine, settled_recipe
from hauteur.learning.steps.selfplay import plan_games, read_games, replay_window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hauteur.cluster.scheduler import Scheduler
    from hauteur.learning.options.option import Option
    from hauteur.learning.trainers import Learners
    from hauteur.learning.units import OtherNets


def open_run(
    recipe: Recipe,
    folder: RunFolder,
    *,
    fresh: bool,
    display: Display,
    scheduler: Scheduler | None = None,
) -> Run:
    """Return a new run, or the one that the folder holds; its games are not read yet.

    ValueError for settings that do not fit the game, or differ from those of the folder's run.
    """
    from hauteur.learning.options.chosen import options_of
    from hauteur.learning.units import OtherNets

    game = load_game(recipe.game)
    is_new = fresh or not folder.config.exists()
    begun = None if is_new else folder.stored_recipe()
    recipe = settled_recipe(recipe, begun, ThisMachine(game, recipe))
    options = options_of(recipe)
    other_nets = OtherNets(game, recipe)
    if recipe.yardstick is not None:
        from hauteur.learning.yardstick import check_yardstick

        check_yardstick(folder, game, recipe.yardstick)
    if is_new:
        check_run(game, recipe, options, other_nets)
    else:
        folder.resume_with(recipe)
    state, learners = new_or_stored(game, recipe, folder, is_new=is_new)
    if is_new:
        folder.create(recipe)  # when the nets are there, so that a start that does not fit leaves nothing behind
    folder.sweep()
    if begun is not None:
        warn_of_changed_rate(begun, recipe, state, display)
    return Run(recipe, folder, game, learners, state, display, scheduler, other_nets, options)


def check_run(game: _core.Game, recipe: Recipe, options: Sequence[Option], other_nets: OtherNets) -> None:
    """Raise ValueError or OSError where a recipe does not fit the game, or a file that it names cannot be used."""
    from hauteur.learning.units import check_players

    check_begins(game)
    check_gate(recipe)
    for option in options:
        option.check(game, recipe)
    check_players(game, recipe, other_nets)


def new_or_stored(game: _core.Game, recipe: Recipe, folder: RunFolder, *, is_new: bool) -> tuple[RunState, Learners]:
    """Return state and learners of the checkpoint, or those that a run begins with where there is none."""
    from hauteur.learning.trainers import Learners

    if is_new or not folder.checkpoint.exists():
        return RunState(generation=recipe.first_generation), Learners.new(game, recipe)
    state, tensors = load_checkpoint(folder.checkpoint)
    return state, Learners.restored(recipe, folder, tensors, steps=state.train_steps)


def warn_of_changed_rate(begun: Recipe, recipe: Recipe, state: RunState, display: Display) -> None:
    """Warn where another number of generations has moved the schedule of the learning rate under a begun run."""
    from hauteur.learning.train import rate_change

    change = rate_change(begun, recipe, state.generation)
    if change is not None:
        display.warn(change)


def read_past(run: Run) -> None:
    """Write the first net of a new run; read the games of a resumed one into the replay buffer."""
    state = run.state
    if not state.train_steps and not all(path.exists() for path in run.net_files(0)):
        run.save_nets(0)
    if not state.is_begun:
        run.display.begin(run.recipe, run.folder)
        return
    read_games_again(run)
    if state.lines:
        publish(run)
    run.display.resume(run.recipe, run.folder, state, run.buffer.positions)


def read_games_again(run: Run) -> None:
    """Read the games of finished self-play into the replay buffer, and do again what options did with them."""
    state = run.state
    finished = state.generation if "self-play" in state.done else state.generation - 1
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
