"""Training by recipes and by hand: the networks that a run trains together, and one with a replay buffer alone.

A run has one network, or a small and a large one that search together (MPV-MCTS). Imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from torch import nn

from hauteur import _core
from hauteur.learning.compute import NetCompute, net_compute
from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import TrainSettings
from hauteur.learning.train import CandidateTrainer, Source, TrainFacts
from hauteur.networks import registry
from hauteur.networks.architecture import Architecture, NetworkSettings, RegisteredArchitecture, ResNet
from hauteur.networks.evaluators.factory import check_fits, evaluator
from hauteur.networks.modules import check_outputs, initialise
from hauteur.networks.registered import Losses, name_of, registered_architecture
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.system.hardware import usable_cores
from hauteur.system.seeds import derived_seed

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator, Precision


class TrainingPlace(TypedDict):
    """Where in a run a training is; see `CandidateTrainer.train`."""

    seed: int
    generation: int
    generations: int
    threads: int


Tensors = dict[str, NDArray[np.float32]]

LARGE = "large."
"""Beginning of the names of the large net's tensors in a checkpoint."""


def architecture_for(game: _core.Game, settings: NetworkSettings) -> ResNetArchitecture | RegisteredArchitecture:
    """The network of these settings for this game. ValueError for a kind that is not registered, or other settings."""
    if settings.kind != "resnet":
        return registered_architecture(settings.kind, game, settings.settings)
    return ResNetArchitecture.sized(settings, game.feature_shape, game.num_actions)


def first_trainer(game: _core.Game, recipe: Recipe, *, large: bool = False) -> CandidateTrainer:
    """The trainer that a run begins with: of the net of its start, or of random weights."""
    section = recipe.large if large and recipe.large is not None else recipe.network
    expected = architecture_for(game, section)
    path = None
    if recipe.start is not None:
        path = recipe.start.large_net if large else recipe.start.net
    name = "large network" if large else "network"
    settings = recipe.train.for_net(large=large)
    if path is None:
        return CandidateTrainer.new(expected, settings, seed=recipe.run.seed, name=name)
    begun, other_board = architecture_from(game, Path(path))
    if section != NetworkSettings() and begun != expected:
        raise ValueError(
            f"{path}: is {begun.summary()} and keeps its shape, but the section "
            f"[{'large' if large else 'network'}] says {expected.summary()}: leave its settings out"
        )
    if other_board:
        return CandidateTrainer.from_other_board(Path(path), begun, settings, seed=recipe.run.seed, name=name)
    return CandidateTrainer.from_net(Path(path), settings, seed=recipe.run.seed)


def architecture_from(game: _core.Game, path: Path) -> tuple[Architecture, bool]:
    """The network that a run begins with from this net, and whether the net is for another size of the board.

    ValueError for a net of another game.
    """
    description = registry.describe(path)
    net = description.architecture
    same_game = description.game.partition("(")[0] == game.name
    if same_game and isinstance(net, ResNetArchitecture) and net.feature_shape[0] == game.feature_shape[0]:
        begun = ResNetArchitecture.sized(net, game.feature_shape, game.num_actions)
        return begun, begun != net
    check_fits(game, path, description)
    return net, False


@dataclass
class Learners:
    """The trainers of a run's nets: of one, or of a small and a large one. Both learn from the same samples, drawn by
    the same random numbers.

    With two nets (MPV-MCTS, Lan et al. 2019, section 4) the first one searches and the large one corrects it.
    """

    trainers: list[CandidateTrainer]

    @classmethod
    def new(cls, game: _core.Game, recipe: Recipe) -> Learners:
        """The network of the recipe's start, or random weights; two nets do not share them even in the same shape."""
        return cls([first_trainer(game, recipe, large=large) for large in _kinds(recipe)])

    @classmethod
    def restored(cls, recipe: Recipe, folder: RunFolder, tensors: Tensors, *, steps: int) -> Learners:
        """The learners whose `tensors()` these are, after `steps` steps; their shapes are those of the first nets."""
        found = []
        for large in _kinds(recipe):
            own = {}
            for name, tensor in tensors.items():
                if name.startswith(LARGE) is large:
                    own[name.removeprefix(LARGE)] = tensor
            # From the first net and not from the recipe, which has no section for a net that the run began with.
            architecture = registry.describe(folder.net(0, large=large)).architecture
            settings = recipe.train.for_net(large=large)
            found.append(CandidateTrainer.restored(architecture, settings, own, steps=steps))
        return cls(found)

    @property
    def steps(self) -> int:
        """Optimiser steps so far, the same for both."""
        return self.trainers[0].steps

    def train(
        self,
        source: Source,
        steps: int,
        *,
        on_step: Callable[[int], None],
        **given: Unpack[TrainingPlace],
    ) -> list[TrainFacts]:
        """Take the steps of a generation with each net in turn; `on_step` counts through all of them."""
        facts = []
        for number, trainer in enumerate(self.trainers):

            def count(step: int, done: int = number * steps) -> None:
                on_step(done + step)

            facts.append(trainer.train(source, steps, on_step=count, **given))
        return facts

    @cached_property
    def compute(self) -> tuple[NetCompute, ...]:
        """What one position costs each net."""
        return tuple(net_compute(one.network, one.architecture.feature_shape) for one in self.trainers)

    def tensors(self) -> Tensors:
        """Return weights and optimisers of all nets, as a checkpoint keeps them."""
        each = (trainer.tensors().items() for trainer in self.trainers)
        found = {}
        for prefix, own in zip(("", LARGE), each, strict=False):
            for name, value in own:
                found[prefix + name] = value
        return found

    def save(self, game: _core.Game, files: Sequence[Path], training: dict[str, Any]) -> None:
        """Write the nets that play to these files, one each. training: facts for the files."""
        # The mean of the weights, where one is kept, is what plays; the weights themselves are in the checkpoint.
        for path, trainer in zip(files, self.trainers, strict=True):
            tensors = trainer.network_tensors()
            registry.save(path, trainer.architecture, tensors, game=game.spec, training=training)


def _kinds(recipe: Recipe) -> tuple[bool, ...]:
    """Return of each net of a run whether it is the large one."""
    return (False,) if recipe.large is None else (False, True)


class Trainer:
    """A network in training: steps on a replay buffer, an evaluator of its present weights, a network file.

    Parameters
    ----------
    game
        The game that it learns.
    network
        `ht.ResNet(filters=64, blocks=5)`: a residual tower with random weights; a class or function registered by
        `ht.register_network`, built with its defaults; or a torch module, which is trained in place: features float32
        [B, C, H, W] -> policy logits [B, A] and a value [B, 3] (logits of win, draw, loss) or [B, 1] (-1 to 1), and
        maybe a dict of further outputs.
    settings
        Batch size, optimiser, learning rate, device and more; those of `[train]` in a recipe.
    seed
        Of the weights of networks built here, and of the batches, 0 or more.
    losses
        Of further outputs, by name (see `ht.register_network`); default those that the network was registered with.

    `network` is the module, `steps` the optimiser steps so far. Raise ValueError, in one line, where the network's
    outputs do not fit the game, or there is no such device.

    >>> import hauteur as ht
    >>> game = ht.load_game("tictactoe")
    >>> buffer = ht.ReplayBuffer(game)
    >>> games = buffer.add(ht.self_play(game, "net=uniform visits=10", games=8))
    >>> trainer = ht.Trainer(game, ht.ResNet(filters=8, blocks=1), ht.TrainSettings(batch_size=32))
    >>> facts = trainer.fit(buffer, steps=5)
    >>> facts.steps, trainer.steps
    (5, 5)
    >>> with trainer.evaluator() as evaluator:
    ...     logits, wdl = evaluator(game.new_initial_state().features()[None])
    """

    def __init__(
        self,
        game: _core.Game,
        network: nn.Module | ResNet | Callable[..., Any] | None = None,
        settings: TrainSettings | None = None,
        *,
        seed: int = 0,
        losses: Losses | None = None,
    ) -> None:
        self.game = game
        self.settings = settings or TrainSettings()
        self._seed = seed
        self._fits = 0
        module = _module(game, network or ResNet(), seed)
        self._trainer = CandidateTrainer(module, self.settings, seed=seed, losses=losses)
        check_outputs(self._trainer.network, game.feature_shape, game.num_actions, self._trainer.losses)

    @property
    def network(self) -> nn.Module:
        """The torch module, on the device of the settings."""
        return self._trainer.network

    @property
    def steps(self) -> int:
        """Optimiser steps so far."""
        return self._trainer.steps

    def fit(
        self,
        buffer: Source,
        steps: int = 200,
        *,
        progress: tuple[float, float] = (0.0, 1.0),
        threads: int | None = None,
        on_step: Callable[[int], None] | None = None,
    ) -> TrainFacts:
        """Take optimiser steps on batches drawn from the buffer.

        buffer: a `ReplayBuffer`, or any object with its `sample`. steps: at least 1. progress: the part of the schedule
        of the learning rate that these steps are, 0 to 1; the default is the whole one, so that with the schedule
        `cosine` the rate falls to its final value within this call; in a loop of n generations, ((g - 1) / n, g / n).
        threads: of the processor, default all; the weights do not depend on it. on_step: called after every step with
        the number of steps of this call.

        Return the mean losses in nats, the number of samples, the last learning rate and the seconds. Raise ValueError
        for an empty buffer, and when the loss is no longer finite.
        """
        if steps < 1:
            raise ValueError(f"steps must be at least 1, got {steps}")
        if not 0 <= progress[0] <= progress[1] <= 1:
            raise ValueError(f"progress must be two numbers from 0 to 1, ascending, got {progress}")
        # Each call counts as a generation, so that its batches have streams of their own.
        self._fits += 1
        return self._trainer.train(
            buffer,
            steps,
            seed=self._seed,
            generation=self._fits,
            generations=self._fits,
            threads=threads or usable_cores(),
            on_step=on_step,
            progress=progress,
        )

    def evaluator(
        self,
        *,
        device: str | None = None,
        precision: Precision | None = None,
        batch_size: int | None = None,
        threads: int | None = None,
    ) -> Evaluator:
        """Return an evaluator of the present weights (their running mean where the settings keep one).

        It has a copy of them: further training does not change it. Arguments as those of `ht.evaluator`.
        """
        return evaluator(
            self.game,
            self._playing,
            device=device,
            precision=precision,
            batch_size=batch_size,
            threads=threads,
        )

    def save(self, path: str | Path) -> None:
        """Write the network that `evaluator` has as a file, `.safetensors` or lc0's `.pb.gz`, whole or not at all.

        Raise ValueError for a module that is neither hauteur's nor registered.
        """
        samples = self.steps * self.settings.batch_size
        facts = {"steps": self.steps, "samples": samples, "seed": self._seed}
        registry.save_network(path, self._playing, self.game, training=facts)

    @property
    def _playing(self) -> nn.Module:
        """The network that plays: the mean of the weights where one is kept."""
        return self._trainer.network if self._trainer.average is None else self._trainer.average


def _module(game: _core.Game, network: object, seed: int) -> nn.Module:
    """Return the module that is meant; ValueError for what is no network."""
    if isinstance(network, nn.Module):
        return network
    if isinstance(network, ResNet):
        settings = NetworkSettings.model_validate(network.model_dump())
        return initialise(architecture_for(game, settings), derived_seed(seed, "network"))
    name = name_of(network)
    if name is None:
        raise ValueError(
            "a network to train is a torch module, ht.ResNet(...), or a class or function registered by "
            f"ht.register_network, got {network!r}"
        )
    return initialise(registered_architecture(name, game, {}), derived_seed(seed, "network"))
