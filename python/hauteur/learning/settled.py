"""What a recipe leaves to the machine (`auto`, `parallel_games = 0`), settled when a run begins.

A run's results may depend on it, so it stands in the run's config.toml, and a resumed run continues as it began, even
on another machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from hauteur.learning.recipe import Recipe
from hauteur.learning.sections import SelfPlaySettings

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.matches.arena import Layout
    from hauteur.networks.evaluators.base import Precision
    from hauteur.players.search_player import SearchPlayer

CORE_ROWS = 128
"""Games for each thread, and rows of a batch, where the core computes the nets."""


class Machine(Protocol):
    """What this machine does best with the nets and games of a recipe; measured when it is asked for."""

    @property
    def fastest(self) -> Precision:
        """The precision in which the core computes the nets fastest."""

    @property
    def bfloat16(self) -> bool:
        """Whether the processor multiplies bfloat16."""

    @property
    def layout(self) -> Layout:
        """The layout of games that keeps what computes the nets busy."""


def settled_recipe(recipe: Recipe, begun: Recipe | None, machine: Machine) -> Recipe:
    """Return the recipe with what the machine decides. begun: the run's stored recipe, if there is one."""
    run = recipe.run
    train = recipe.train
    selfplay = recipe.selfplay
    # A resumed run takes what it began with, also on another machine: other arithmetic would give other games.
    if run.precision == "auto" and run.backend == "core":
        precision = machine.fastest if begun is None else begun.run.precision
        run = run.model_copy(update={"precision": precision})
    if train.mixed_precision == "auto":
        if begun is not None:
            mixed = begun.train.mixed_precision
        else:
            # Without instructions for it bfloat16 is slower than float32 by a factor of ten.
            mixed = "bfloat16" if machine.bfloat16 and train.device == "cpu" else "off"
        train = train.model_copy(update={"mixed_precision": mixed})
    if selfplay.parallel_games == 0:
        settled = machine.layout if begun is None else begun.selfplay
        selfplay = selfplay.model_copy(update=sizes_of(settled))
    return recipe.model_copy(update={"run": run, "train": train, "selfplay": selfplay})


def sizes_of(source: Layout | SelfPlaySettings) -> dict[str, int]:
    """Return the settings of self-play that are a layout."""
    games = source.parallel_games if isinstance(source, SelfPlaySettings) else source.parallel
    return {"parallel_games": games, "batch_size": source.batch_size, "in_flight": source.in_flight}


@dataclass(frozen=True)
class ThisMachine:
    """This machine, as far as a recipe asks for it."""

    game: _core.Game
    recipe: Recipe

    @cached_property
    def fastest(self) -> Precision:
        """Measure in which precision this processor computes the nets fastest."""
        from hauteur.learning.trainers import architecture_for
        from hauteur.networks.evaluators.fastest import fastest_precision

        return fastest_precision(architecture_for(self.game, self.recipe.network))

    @property
    def bfloat16(self) -> bool:
        """Return whether the core has instructions for bfloat16 here."""
        from hauteur.networks.evaluators.fastest import core_precisions

        return "bfloat16" in core_precisions()

    @cached_property
    def layout(self) -> Layout:
        """Measure which layout keeps a GPU busy; for nets of the core, which needs none, games for its threads."""
        from hauteur.matches.arena import GameRules, Layout
        from hauteur.matches.fastest_layout import fastest_layout

        selfplay = self.recipe.selfplay
        cores = self.recipe.run.cores
        # The core has no latency that many games at a time would have to hide: enough for its threads will do.
        if self.recipe.run.backend == "core":
            return Layout(CORE_ROWS * cores, CORE_ROWS)
        rules = GameRules(selfplay.max_plies, None, selfplay.resignation, selfplay.tree_per_side)
        # Elsewhere than in the run's folder, which has no recipe yet: an attempt that ends here leaves no run behind.
        with TemporaryDirectory() as folder:
            net = self.new_net(Path(folder))

            def open_player(rows: int) -> AbstractContextManager[SearchPlayer]:
                return self.player(net, rows, cores)

            return fastest_layout(self.game, open_player, cores=cores, most_games=selfplay.games, rules=rules)

    def new_net(self, folder: Path) -> Path:
        """Write the net that the run begins with into a folder."""
        from hauteur.learning.trainers import first_trainer
        from hauteur.networks.registry import save

        trainer = first_trainer(self.game, self.recipe)
        path = folder / "net.safetensors"
        save(path, trainer.architecture, trainer.network_tensors(), game=self.game.spec)
        return path

    @contextmanager
    def player(self, net: Path, rows: int, cores: int) -> Iterator[SearchPlayer]:
        """Open the player of self-play with this net alone, for batches of this many rows."""
        from hauteur.networks.evaluators.factory import make_evaluator
        from hauteur.players.search_player import SearchPlayer

        run = self.recipe.run
        selfplay = self.recipe.selfplay
        search = selfplay.search.model_copy(update={"second_net": None, "opponent_net": None})
        evaluator = make_evaluator(
            self.game,
            net,
            backend=run.backend,
            precision=run.precision,
            threads=cores,
            batch_size=rows,
            exact=run.exact,
        )
        with closing(evaluator):
            player = SearchPlayer("self-play", evaluator, search, selfplay.visits, selfplay.temperature)
            yield replace(player, playout_cap=selfplay.playout_cap)
