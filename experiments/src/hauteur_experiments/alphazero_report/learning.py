"""Learning runs of an experiment: several processes beside each other, and proof of what they learned."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.learning.metrics import Display
from hauteur.learning.recipe import Recipe, changed_recipe, recipe_toml
from hauteur.learning.run_folder import RunFolder
from hauteur_experiments.experiment import ExperimentSetting, Show

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler

Lines = Sequence[Mapping[str, Any]]
"""Metrics of a run's generations, in order."""


@dataclass(frozen=True)
class Goal:
    """What ends a run before its last generation; such a run has a constant learning rate.

    evaluations: of the nets in its games, this many or more; ratio: (w + l)/d of a generation's games below it.
    """

    evaluations: int | None = None
    ratio: float | None = None

    def reached(self, lines: Lines) -> int | None:
        """Return the first generation at which the run may end, None where none is."""
        spent = 0
        for line in lines:
            spent += line["cost"]["evaluations"]
            ratio = line["games"]["ratio"]
            is_spent = self.evaluations is not None and spent >= self.evaluations
            if is_spent or (self.ratio is not None and ratio is not None and ratio < self.ratio):
                return int(line["generation"])
        return None

    def next_stop(self, lines: Lines) -> int:
        """Return a generation up to which the run can go before it is asked again: never far beyond the goal."""
        if self.evaluations is None or not lines:
            return len(lines) + STEP
        costs = [line["cost"]["evaluations"] for line in lines]
        return len(lines) + max(1, int((self.evaluations - sum(costs)) / max(1, *costs)))


STEP = 4
"""Generations between two looks at a goal whose distance is unknown."""


def learn_seeds(setting: ExperimentSetting, recipe: Callable[[int], Recipe]) -> list[RunFolder]:
    """Return the finished runs of the seeds of the setting, in their order.

    recipe: of a seed, for one thread where this process plays the games. Runs begun by an earlier attempt resume.
    """
    seeds = {f"seed {seed}": (f"seed-{seed}", recipe(seed)) for seed in setting.seed_numbers}
    return list(learn_beside(setting, seeds).values())


def learn_beside(
    setting: ExperimentSetting, runs: Mapping[str, tuple[str, Recipe]], goal: Goal | None = None
) -> dict[str, RunFolder]:
    """Return the finished runs by their names, as many beside each other as the setting has threads.

    runs: folder, in that of the setting, and recipe of each. Runs begun by an earlier attempt resume.
    """
    folders = {name: RunFolder(setting.folder / folder) for name, (folder, _) in runs.items()}
    missing = {
        name: (recipe_toml(recipe), folders[name].path)
        for name, (_, recipe) in runs.items()
        if goal is None or goal.reached(_lines(folders[name])) is None
    }
    if setting.scheduler is not None:  # workers play the games, so there is nothing to do beside each other here
        for task in missing.values():
            _learn(*task, setting.show, goal, setting.scheduler)
        return folders
    context, show = multiprocessing.get_context("spawn"), partial(print, flush=True)
    with ProcessPoolExecutor(max(1, min(setting.threads, len(missing))), mp_context=context) as pool:
        running = {pool.submit(_learn, *task, show, goal): name for name, task in missing.items()}
        for future in as_completed(running):
            setting.show(f"{running[future]}: {future.result()} generations learned")
    return folders


def _lines(folder: RunFolder) -> Lines:
    return folder.read_metrics() if folder.config.exists() else []


def _learn(recipe: str, folder: Path, show: Show, goal: Goal | None, scheduler: Scheduler | None = None) -> int:
    """Learn in this process; the number of finished generations."""
    import tomllib

    from hauteur.learning.pipeline import learn
    from hauteur.learning.recipe import parse_recipe

    display = SeedDisplay(show, "/".join(folder.parts[-2:]) if goal else folder.name)
    parsed = parse_recipe(tomllib.loads(recipe), folder.name)
    if goal is None:
        return len(learn(parsed, folder=folder, display=display, scheduler=scheduler).state.history)
    lines = _lines(RunFolder(folder))
    while goal.reached(lines) is None and len(lines) < parsed.run.generations:
        stop = min(goal.next_stop(lines), parsed.run.generations)
        run = learn(
            changed_recipe(parsed, [f"run.generations={stop}"]), folder=folder, display=display, scheduler=scheduler
        )
        lines = run.state.history
    return len(lines)


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
    from hauteur.games.registry import load_game
    from hauteur.mcts.params import Temperature
    from hauteur.networks.evaluators.factory import make_evaluator
    from hauteur.players.search_player import SearchPlayer
    from hauteur.studies.exact_play import play_against_every_reply

    game, settings = load_game(recipe.game), recipe.selfplay
    with closing(make_evaluator(game, folder.net(generation), backend="core", threads=1)) as evaluator:
        search = settings.search.model_copy(update={"dirichlet": None})
        player = SearchPlayer(f"gen-{generation}", evaluator, search, visits, Temperature())
        return sum(result.losses for result in play_against_every_reply(player, game, seed=recipe.run.seed))
