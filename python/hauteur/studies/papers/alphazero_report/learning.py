"""Learning runs of an experiment: one a seed, several processes beside each other, and proof of what they learned."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.learning.metrics import Display
from hauteur.learning.recipe import Recipe, recipe_toml
from hauteur.learning.run_folder import RunFolder
from hauteur.studies.papers.experiment import ExperimentSetting, Show

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler


def learn_seeds(setting: ExperimentSetting, recipe: Callable[[int], Recipe]) -> list[RunFolder]:
    """Return the finished runs of the seeds of the setting, in their order.

    recipe: of a seed, for one thread where this process plays the games. Runs begun by an earlier attempt resume.
    """
    folders = [RunFolder(setting.folder / f"seed-{seed}") for seed in setting.seed_numbers]
    if setting.scheduler is not None:  # workers play the games, so there is nothing to do beside each other here
        for seed, folder in zip(setting.seed_numbers, folders, strict=True):
            _learn(recipe_toml(recipe(seed)), folder.path, setting.show, setting.scheduler)
        return folders
    context, show = multiprocessing.get_context("spawn"), partial(print, flush=True)
    with ProcessPoolExecutor(min(setting.threads, setting.seeds), mp_context=context) as pool:
        running = {
            pool.submit(_learn, recipe_toml(recipe(seed)), folder.path, show): seed
            for seed, folder in zip(setting.seed_numbers, folders, strict=True)
        }
        for future in as_completed(running):
            setting.show(f"seed {running[future]}: {future.result()} generations learned")
    return folders


def _learn(recipe: str, folder: Path, show: Show, scheduler: Scheduler | None = None) -> int:
    """Learn in this process; the number of finished generations."""
    import tomllib

    from hauteur.learning.pipeline import learn
    from hauteur.learning.recipe import parse_recipe

    display = SeedDisplay(show, folder.name)
    parsed = parse_recipe(tomllib.loads(recipe), folder.name)
    run = learn(parsed, folder=folder, display=display, scheduler=scheduler)
    return len(run.state.history)


class SeedDisplay(Display):
    """The lines of a run among those of others: no progress bars, every line with the name of the run."""

    def __init__(self, show: Show, name: str) -> None:
        self._show = show
        self._name = name

    def begin(self, *told: object) -> None:
        """Print nothing: the experiment has already announced the run."""

    def generation(self, line: str) -> None:
        """The line of a generation, shortened."""
        self._show(f"{self._name}: {'  '.join(line.split('  ')[:4])}")

    def warn(self, message: str) -> None:
        """A warning."""
        self._show(f"{self._name}: warning: {message}")


def losses_by_generation(folder: RunFolder, recipe: Recipe, visits: int) -> list[int]:
    """Count, by net, distinct lost positions ending games against every possible reply, in both seats.

    From the initial net to that of the last generation, playing deterministically with so many visits. 0: the net never
    loses, whatever the opponent does.
    """
    return [_losses(folder, recipe, generation, visits) for generation in range(recipe.run.generations + 1)]


def _losses(folder: RunFolder, recipe: Recipe, generation: int, visits: int) -> int:
    from hauteur.games.registry import make
    from hauteur.networks.evaluators.factory import make_evaluator
    from hauteur.players.search_player import SearchPlayer
    from hauteur.search.params import Temperature
    from hauteur.studies.exact_play import play_against_every_reply

    game, settings = make(recipe.game), recipe.selfplay
    with closing(make_evaluator(game, folder.net(generation), backend="openvino", threads=1)) as evaluator:
        search = settings.search.model_copy(update={"dirichlet": None})
        player = SearchPlayer(f"gen-{generation}", evaluator, search, visits, Temperature())
        return sum(result.losses for result in play_against_every_reply(player, game, seed=recipe.run.seed))
