"""The loop of AlphaZero: self-play with the best net, training on the replay buffer, a gate, a checkpoint; again.

    while not over:
        games = self_play(best)
        replay.append(games)
        candidate = train(replay)
        best = gate(candidate, best)
        checkpoint()

Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play",
with the gate of AlphaGo Zero (Silver et al. 2017). Each step ends with a checkpoint, so a killed run resumes at its
current step; self-play keeps even the games of a half-finished step. Every output is a complete file or absent, and is
written before the checkpoint that relies on it.

What a recipe may add to this (a start from recorded games, a controller, reanalyse and more) is in `options`; how a run
is opened again after a kill is in `resume`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.learning.context import Run, Steps
from hauteur.learning.display import Display
from hauteur.learning.publish import publish
from hauteur.learning.recipe import Recipe
from hauteur.learning.resume import open_run
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.steps.gate import gate
from hauteur.learning.steps.selfplay import self_play
from hauteur.learning.steps.train import train

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler


def learn(
    recipe: Recipe,
    *,
    folder: Path | None = None,
    fresh: bool = False,
    display: Display | None = None,
    scheduler: Scheduler | None = None,
) -> Run:
    """Begin or resume the run of this recipe and take it to its end.

    Parameters
    ----------
    recipe
        All settings.
    folder
        Where the run is written; default: the recipe's own folder.
    fresh
        Refuse to resume a run that is already in the folder.
    display
        Shows progress; default: on the terminal.
    scheduler
        Hands games to workers; None: this process plays them, the same ones.

    Raise ValueError for settings that do not fit each other or the game, where the folder holds a run with other
    settings (with `fresh`: any run), and where another process is learning in it.
    """
    place = RunFolder(folder or recipe.folder)
    shown = display or Display()
    # The folder is locked before anything in it is read: a second process would go on from the same checkpoint, and
    # both would write the same files.
    with place.learning(), open_run(recipe, place, fresh=fresh, display=shown, scheduler=scheduler) as run:
        for option in run.options:
            option.before_first_generation(run)
        while not run.is_over:
            learn_generation(run)
    return run


def learn_generation(run: Run) -> None:
    """Take the steps of the present generation that are not done yet, then close it."""
    # A step that was killed is taken from its beginning, with the weights of the checkpoint; units of its games that
    # are on disk are not played again.
    for name, step in steps_of(run).items():
        if name not in run.state.done:
            run.take(name, step)
    finish_generation(run)


def steps_of(run: Run) -> Steps:
    """Return the steps of a generation by name, in order: those of AlphaZero, and what the recipe's options add."""
    steps: Steps = {"self-play": self_play, "train": train, "gate": gate}
    for option in run.options:
        steps = option.steps(steps)
    return steps


def finish_generation(run: Run) -> None:
    """Close the generation: its line of metrics, a checkpoint, best.safetensors, the report, a line on the console."""
    # The controller chooses here and not within a generation: all games of one have the same settings, which its line
    # of metrics keeps, so that a resumed run plans the same units again.
    for option in run.options:
        option.after_generation(run)
    line = metrics_line(run)
    # The line is part of the checkpoint that follows; metrics.jsonl is written from there, so a kill neither loses a
    # line nor doubles one.
    run.state.history.append(line)
    # The checkpoint goes first: a run that is killed before it publishes does so when it is resumed.
    run.begin_next_generation()
    publish(run)
    run.display.finished(line, run.recipe.run.generations)
    run.show_spent_budget()


def metrics_line(run: Run) -> dict[str, Any]:
    """Return the line of metrics.jsonl about the generation that ends."""
    state = run.state
    return {
        "generation": state.generation,
        **state.current,
        "best": state.best,
        "best_elo": state.best_elo,
        **run.games.end_generation(),
        **run.totals(),
    }
