"""Learning runs for figures 4 and 5 of the MPV paper: given as folders, or trained as in the paper.

Sections 4.2 and 4.3: self-play with 200, 400 or 800 simulations of f(128, 10), 800 of f(64, 5), or 800 small and 100
large ones together; c_puct 1.5; 100,000 games in the replay buffer; 500,000 steps for 2,000,000 games. A normalised
game is one of f(128, 10) with 200 simulations, so 400 simulations cost two and 800 four. Batch size, optimiser,
learning rate, temperature and noise are not stated; they follow the recipes of `runs/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.report.series import number
from hauteur.learning.run_folder import RunFolder
from hauteur_experiments.alphazero_report.learning import SeedDisplay
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.mpv_mcts.nets import TRAINING_COST, game_of, network_values, speed_of
from hauteur_experiments.mpv_mcts.pairs import LARGE, SMALL, Size
from hauteur_experiments.player_pool import usual_plies

BUDGETS = (200, 800)
"""Units a move of figures 4 and 5, (a) and (b)."""
STAGES = 8
TOTAL_GAMES = 2_000_000
WINDOW_GAMES = 100_000
GENERATIONS = 40
BATCH, SAMPLES = 512, 7.3
"""Rows of a step, and how often a position is drawn: 500,000 steps of 2,048 rows over 2,000,000 games of 70 moves."""


@dataclass(frozen=True)
class TrainingPlan:
    """A learning run of the paper: simulations a move of the nets that it has, and its games.

    small, large: simulations at the largest budget's size; 0: it has no such net.
    """

    name: str
    small: int
    large: int
    games: int

    def recipe(self, setting: ExperimentSetting) -> Recipe:
        """The run at the scale of the setting (games) and with its visits (simulations)."""
        factor = setting.visits_or(max(BUDGETS)) / max(BUDGETS)
        small, large = (max(1, round(factor * turns)) if turns else 0 for turns in (self.small, self.large))
        search: dict[str, Any] = {
            "reuse_tree": False,
            "cpuct": {"init": 1.5, "factor": 0.0},
            "dirichlet": {"epsilon": 0.25, "alpha": 0.15},
        }
        values: dict[str, Any] = {"network": network_values(SMALL if small else LARGE)}
        if small and large:
            values["large"] = network_values(LARGE)
            search["second_net"] = {"small_visits": small, "large_visits": large}
        temperature = {"initial": 1.0, "cutoff_move": 10, "endgame": 0.1}
        selfplay = {
            "games": setting.scaled(self.games // GENERATIONS, 2),
            "visits": small or large,
            "search": search,
            "temperature": temperature,
        }
        train = {
            "window_games": setting.scaled(WINDOW_GAMES, 2),
            "batch_size": BATCH,
            "samples_per_position": SAMPLES,
            "learning_rate": 2e-3,
            "final_learning_rate": 2e-4,
        }
        run = {"generations": GENERATIONS, "seed": 1, "threads": setting.threads, "tag": self.name}
        rest = {"game": game_of(setting), "selfplay": selfplay, "train": train, "gate": {"by": "off"}, "run": run}
        return parse_recipe(values | rest, self.name)

    @property
    def sizes(self) -> list[Size]:
        """Sizes of its nets."""
        return [size for size, turns in ((SMALL, self.small), (LARGE, self.large)) if turns]

    def seconds(self, setting: ExperimentSetting, nets: dict[Size, Path]) -> float:
        """Estimate of the run, with nets of its sizes to measure."""
        recipe = self.recipe(setting)
        positions = recipe.selfplay.games * GENERATIONS * usual_plies(recipe.game)
        rule = recipe.selfplay.search.second_net
        turns = (recipe.selfplay.visits, rule.large_visits if rule else 0)
        work = zip(self.sizes, turns, strict=False)
        return sum(positions * (n + SAMPLES * TRAINING_COST) / speed_of(setting, nets[size]) for size, n in work)


def learned_runs(setting: ExperimentSetting, plans: Sequence[TrainingPlan]) -> list[RunFolder]:
    """Return the folders of the given runs, or those of the plans, whose runs start or resume.

    Raise ValueError for anything but the folder of a run with a finished generation.
    """
    if setting.nets:
        game_of(setting)
        return [_given(path) for path in setting.nets]
    return [_learned(setting, plan) for plan in plans]


def _given(path: Path) -> RunFolder:
    folder = RunFolder(path)
    if not path.is_dir() or not folder.read_metrics():
        raise ValueError(f"{path} is not the folder of a learning run with a finished generation (hauteur train)")
    return folder


def _learned(setting: ExperimentSetting, plan: TrainingPlan) -> RunFolder:
    from hauteur.learning.pipeline import learn

    folder = RunFolder(setting.folder / "runs" / plan.name)
    display = SeedDisplay(setting.show, plan.name)
    learn(plan.recipe(setting), folder=folder.path, display=display, scheduler=setting.scheduler)
    return folder


def generations_of(folder: RunFolder) -> int:
    """Return the last finished generation in the metrics, 0 if none."""
    return max((line["generation"] for line in folder.read_metrics()), default=0)


def large_net(folder: RunFolder, generation: int) -> Path:
    """The large net of a run with two, the net of a run with one."""
    large = folder.net(generation, large=True)
    return large if large.exists() else folder.net(generation)


def has_two_nets(folder: RunFolder) -> bool:
    """Return whether the run trained a small and a large net."""
    return folder.stored_recipe().large is not None


def even_stages(last: int, stages: int = STAGES) -> list[int]:
    """Return up to `stages` generations, evenly spread, including the last."""
    return sorted({max(1, round(last * number / stages)) for number in range(1, stages + 1)})


def units_by_generation(folder: RunFolder) -> list[float]:
    """Normalised budget that a run had spent when each generation was over, in evaluations of f(128, 10)."""
    found = [number(line, "cost.normalised_total") for line in folder.read_metrics()]
    if any(units is None for units in found):
        raise ValueError(f"{folder.path}: its metrics do not tell the normalised budget (cost.normalised_total)")
    return [units for units in found if units is not None]


def generation_at(folder: RunFolder, units: float) -> int:
    """The generation after which the run had spent about so much."""
    spent = units_by_generation(folder)
    return 1 + min(range(len(spent)), key=lambda index: abs(spent[index] - units))
