"""The training step: a candidate network learns from the positions of the replay buffer. Imports torch.

A batch is computed in shards, each by one thread with its own copy of the gradients and of the normalisation's
running means; then the shards' gradients are added up in order. Threads that share one operation wait for each other
at every layer, which on a busy machine is slow beyond measure; these meet once a step. The shards depend on the batch
alone, so the result is the same, bit for bit, for any number of threads. Normalisation sees one shard at a time.
"""

from __future__ import annotations

import copy
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from hauteur.networks import ResNetArchitecture
from hauteur.networks.modules import build, initialise, tensors_of
from hauteur.networks.resnet import ResNet
from hauteur.recipe import TrainSettings
from hauteur.replay import ReplayBuffer, Samples
from hauteur.seeds import derived_seed, stream

PREFETCHED_BATCHES = 4
SHARD_ROWS = 256
"""Most rows of a shard."""

OPTIMISER = "optimiser."
NETWORK = "network."
AVERAGE = "average."


@dataclass(frozen=True)
class TrainFacts:
    """What one generation of training did; losses are means over its batches, in nats."""

    steps: int
    samples: int
    policy_loss: float
    value_loss: float
    learning_rate: float
    seconds: float


@dataclass(frozen=True)
class Losses:
    """The two parts of the loss, each a scalar tensor."""

    policy: Tensor
    value: Tensor


def losses(policy_logits: Tensor, value: Tensor, policy_target: Tensor, wdl_target: Tensor) -> Losses:
    """Means over the batch of -pi . log p and of the value loss.

    El Kazdadi et al., section 5: L = sum_i (z_i - v(s_i))^2 - pi_i . log p(s_i) + c |theta|^2. A scalar head (`value`
    [B, 1]) has their squared error with z = win - loss of the target; a wdl head (`value` [B, 3] logits) the
    cross-entropy on win, draw and loss instead. The last term is the optimiser's weight decay.
    """
    policy_loss = -(policy_target * functional.log_softmax(policy_logits, dim=1)).sum(dim=1).mean()
    if value.shape[1] == 1:
        z = wdl_target[:, :1] - wdl_target[:, 2:]
        return Losses(policy_loss, functional.mse_loss(value, z))
    return Losses(policy_loss, -(wdl_target * functional.log_softmax(value, dim=1)).sum(dim=1).mean())


def learning_rate(settings: TrainSettings, step: int, progress: float) -> float:
    """Rate of step number `step` (from 0, over all generations) when the run is at `progress` (0 to 1).

    Linear warm-up over the first steps; constant, or falling by half a cosine to final_learning_rate at progress 1.
    """
    rate = settings.learning_rate
    if settings.schedule == "cosine":
        low = settings.final_learning_rate
        rate = low + (rate - low) * (1 + math.cos(math.pi * min(1.0, progress))) / 2
    return rate * min(1.0, (step + 1) / (settings.warmup_steps + 1))


def steps_for(settings: TrainSettings, new_positions: int) -> int:
    """Training steps of a generation that brought so many new positions, at least one."""
    return max(1, round(new_positions * settings.samples_per_position / settings.batch_size))


class Trainer:
    """The candidate and its optimiser, over all generations of a run."""

    def __init__(self, network: ResNet, settings: TrainSettings) -> None:
        self.network = network.to(memory_format=torch.channels_last)
        self.settings = settings
        self.average = copy.deepcopy(self.network) if settings.weight_average > 0 else None
        self.steps = 0
        self.optimiser = _optimiser(self.network, settings)
        self._replicas = [self.network] + [_replica(self.network) for _ in range(_shard_count(settings) - 1)]

    @classmethod
    def new(cls, architecture: ResNetArchitecture, settings: TrainSettings, *, seed: int) -> Trainer:
        """A trainer of a network with random weights."""
        return cls(initialise(architecture, derived_seed(seed, "network")), settings)

    @classmethod
    def restored(
        cls,
        architecture: ResNetArchitecture,
        settings: TrainSettings,
        tensors: dict[str, NDArray[np.float32]],
        *,
        steps: int,
    ) -> Trainer:
        """The trainer whose `tensors()` these are, after so many steps."""
        trainer = cls(_network_of(architecture, tensors, NETWORK), settings)
        trainer.steps = steps
        if trainer.average is not None:
            trainer.average = _network_of(architecture, tensors, AVERAGE)
        trainer._restore_optimiser(tensors)
        return trainer

    def train(
        self,
        buffer: ReplayBuffer,
        steps: int,
        *,
        seed: int,
        generation: int,
        generations: int,
        threads: int = 1,
        on_step: Callable[[int], None] | None = None,
    ) -> TrainFacts:
        """Takes `steps` steps on the buffer's positions, drawn by the stream (seed, "train", generation).

        threads: that compute shards; the result does not depend on it.
        """
        started = time.perf_counter()
        torch.set_num_threads(1)  # of this thread, for the optimiser
        for replica in self._replicas:
            replica.train()
        total = np.zeros(2)
        rate = 0.0
        batches = _batches(buffer, self.settings, steps, stream(seed, "train", generation))
        with ThreadPoolExecutor(threads, "hauteur-train", initializer=torch.set_num_threads, initargs=(1,)) as pool:
            for step, samples in enumerate(batches):
                rate = learning_rate(self.settings, self.steps, (generation - 1 + step / steps) / generations)
                total += self._step(samples, rate, pool)
                if on_step is not None:
                    on_step(step + 1)
        self.network.eval()
        seconds = time.perf_counter() - started
        policy, value = (float(loss) for loss in total / steps)
        return TrainFacts(steps, steps * self.settings.batch_size, policy, value, rate, seconds)

    def network_tensors(self) -> dict[str, NDArray[np.float32]]:
        """The candidate's tensors, as networks.save takes them: the mean of the weights where one is kept."""
        return tensors_of(self.average if self.average is not None else self.network)

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Network, mean and optimiser for a checkpoint."""
        result = {NETWORK + name: value for name, value in tensors_of(self.network).items()}
        if self.average is not None:
            result |= {AVERAGE + name: value for name, value in tensors_of(self.average).items()}
        for index, values in self.optimiser.state_dict()["state"].items():
            for name, value in values.items():
                if isinstance(value, Tensor):
                    result[f"{OPTIMISER}{index}.{name}"] = value.detach().to(torch.float32).contiguous().numpy().copy()
        return result

    def _step(self, samples: Samples, rate: float, pool: ThreadPoolExecutor) -> NDArray[np.float64]:
        """One step; the policy and value loss before it, float64 [2]."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        shards = np.array_split(np.arange(len(samples.wdl)), len(self._replicas))
        parts = list(pool.map(lambda replica, rows: self._shard(replica, samples, rows), self._replicas, shards))
        self._gather_replicas()
        if self.settings.max_gradient_norm > 0:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.max_gradient_norm)
        self.optimiser.step()
        self.steps += 1
        self._update_average()
        return np.asarray(np.sum(parts, axis=0))

    def _shard(self, replica: ResNet, samples: Samples, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Gradients of these rows in the replica; their share of the batch's losses, float64 [2]."""
        share = len(rows) / len(samples.wdl)
        features = torch.from_numpy(samples.features[rows]).contiguous(memory_format=torch.channels_last)
        policy_logits, value = replica(features)
        parts = losses(
            policy_logits, value, torch.from_numpy(samples.policy[rows]), torch.from_numpy(samples.wdl[rows])
        )
        replica.zero_grad(set_to_none=True)
        (share * (parts.policy + self.settings.value_weight * parts.value)).backward()  # type: ignore[no-untyped-call]
        return share * np.array([parts.policy.item(), parts.value.item()])

    def _gather_replicas(self) -> None:
        """Adds the gradients of all replicas up in the network's, and gives all the mean of their running means."""
        first, *others = self._replicas
        for replica in others:
            for own, other in zip(first.parameters(), replica.parameters(), strict=True):
                if own.grad is not None and other.grad is not None:
                    own.grad += other.grad
        for buffers in zip(*(replica.buffers() for replica in self._replicas), strict=True):
            if buffers[0].is_floating_point():
                mean = torch.stack(buffers).mean(dim=0)
                for buffer in buffers:
                    buffer.copy_(mean)

    @torch.no_grad()
    def _update_average(self) -> None:
        """mean <- d mean + (1 - d) weights, with d growing to weight_average over the first steps."""
        if self.average is None:
            return
        decay = min(self.settings.weight_average, self.steps / (self.steps + 10))
        for mean, own in zip(_numbers(self.average), _numbers(self.network), strict=True):
            mean.lerp_(own, 1 - decay)

    def _restore_optimiser(self, tensors: dict[str, NDArray[np.float32]]) -> None:
        parameters = [parameter for group in self.optimiser.param_groups for parameter in group["params"]]
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith(OPTIMISER):
                index, _, key = name.removeprefix(OPTIMISER).partition(".")
                stored = torch.from_numpy(np.array(value))
                if stored.ndim:  # fused optimisers want the memory layout of the parameter
                    stored = torch.empty_like(parameters[int(index)]).copy_(stored)
                state.setdefault(int(index), {})[key] = stored.detach()
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})


def _network_of(architecture: ResNetArchitecture, tensors: dict[str, NDArray[np.float32]], prefix: str) -> ResNet:
    """The network of the tensors whose names begin with the prefix."""
    named = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
    network = build(architecture, named)
    assert isinstance(network, ResNet)
    return network


def _numbers(network: ResNet) -> list[Tensor]:
    """Weights and running means."""
    return [tensor for tensor in network.state_dict().values() if tensor.is_floating_point()]


def _shard_count(settings: TrainSettings) -> int:
    return -(-settings.batch_size // SHARD_ROWS)


def _replica(network: ResNet) -> ResNet:
    """A copy that shares the weights, with gradients and running means of its own."""
    replica = copy.deepcopy(network)
    for own, shared in zip(replica.parameters(), network.parameters(), strict=True):
        own.data = shared.data
    return replica


def _optimiser(network: ResNet, settings: TrainSettings) -> torch.optim.Optimizer:
    """Weight decay c acts on convolution and dense weights, not on biases and normalisation.

    sgd: its gradient is c theta, that is (c/2) |theta|^2 in the loss; adamw: decoupled from the gradient.
    """
    weights = [p for p in network.parameters() if p.ndim > 1]
    others = [p for p in network.parameters() if p.ndim <= 1]
    groups = [{"params": weights, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=settings.learning_rate, momentum=settings.momentum, fused=True)
    return torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)


def _batches(
    buffer: ReplayBuffer, settings: TrainSettings, steps: int, random: np.random.Generator
) -> Iterator[Samples]:
    """Batches drawn and encoded by a second thread while the network computes."""
    ready: queue.Queue[Samples | BaseException] = queue.Queue(PREFETCHED_BATCHES)
    closed = threading.Event()

    def produce() -> None:
        try:
            for _ in range(steps):
                samples = buffer.sample(
                    random,
                    settings.batch_size,
                    root_value_share=settings.root_value_share,
                    symmetries=settings.symmetries,
                )
                if not _put(ready, samples, closed):
                    return
        except BaseException as error:  # handed over to the thread that trains
            _put(ready, error, closed)

    thread = threading.Thread(target=produce, name="hauteur-samples", daemon=True)
    thread.start()
    try:
        for _ in range(steps):
            item = ready.get()
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        closed.set()
        thread.join()


def _put(ready: queue.Queue[Samples | BaseException], item: Samples | BaseException, closed: threading.Event) -> bool:
    """Puts an item into a full queue as soon as there is room; False when nobody wants it any more."""
    while not closed.is_set():
        try:
            ready.put(item, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False
