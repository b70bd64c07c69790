"""The training step: a candidate network learns from the positions of the replay buffer. Imports torch.

A batch is computed in shards, each by one thread with its own copy of the gradients and of the normalisation's
running means; then the shards' gradients are added up in order. Threads that share one operation wait for each other
at every layer, which on a busy machine is slow beyond measure; these meet once a step. The shards depend on the batch
alone, so the result is the same, bit for bit, for any number of threads. Normalisation sees one shard at a time.

On a GPU a batch is one shard. Batches come from pinned memory and nothing waits for the GPU before the last step.
"""

from __future__ import annotations

import copy
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from hauteur.learning.extra_heads import ExtraHeads, WithHeads, cross_entropy, extra_losses
from hauteur.learning.optimiser import Optimiser
from hauteur.learning.replay import Samples
from hauteur.learning.sections import ExtraTargets, TrainSettings
from hauteur.networks.architecture import Architecture, RegisteredArchitecture
from hauteur.networks.evaluators.torch import torch_device
from hauteur.networks.modules import (
    Network,
    architecture_of,
    build,
    check_taken,
    checked_outputs,
    draws_in_training,
    initialise,
    memory_format,
    tensors_of,
)
from hauteur.networks.registered import Losses as OwnLosses
from hauteur.networks.registered import Targets, architecture_in, learned_by
from hauteur.networks.registry import load_network
from hauteur.system.seeds import derived_seed, stream

ILLEGAL = -1e10
"""Logit of an illegal action where these are masked, as in lc0's training."""

TOWER_WEIGHTS = 128**2 * 9 * 2 * 10
"""Weights of the convolutions of a tower of 128 filters and 10 blocks."""

OPTIMISER = "optimiser."
NETWORK = "network."
AVERAGE = "average."
EXTRA = "extra."


class Source(Protocol):
    """Whatever batches are drawn from, such as a ReplayBuffer; several threads draw at a time."""

    def sample(
        self,
        random: np.random.Generator,
        rows: int,
        *,
        root_value_share: float,
        symmetries: bool,
    ) -> Samples: ...


Made = TypeVar("Made")

AHEAD = 4
"""Batches that are made or ready beyond one a worker."""


@dataclass(frozen=True)
class TrainFacts:
    """Facts of one generation of training; losses are means over its batches."""

    steps: int
    """Optimiser steps."""
    samples: int
    """Positions that were drawn."""
    policy_loss: float
    """Mean policy loss, in nats."""
    value_loss: float
    """Mean value loss, in nats."""
    learning_rate: float
    """Learning rate of the last step."""
    seconds: float
    """Seconds of the clock."""
    extra: dict[str, float] = field(default_factory=dict)
    """Mean losses of further outputs, by name."""

    def metrics(self) -> dict[str, Any]:
        """Return the facts by name, `extra` where there is something."""
        return {name: value for name, value in asdict(self).items() if name != "extra" or value}


@dataclass(frozen=True)
class Losses:
    """The two parts of the loss, each a scalar tensor."""

    policy: Tensor
    value: Tensor


def losses(
    policy_logits: Tensor,
    value: Tensor,
    policy_target: Tensor,
    wdl_target: Tensor,
    legal: Tensor | None = None,
) -> Losses:
    """Means over the batch of -pi . log p and of the value loss.

    El Kazdadi et al., section 5: L = sum_i (z_i - v(s_i))^2 - pi_i . log p(s_i) + c |theta|^2. A scalar head (`value`
    [B, 1]) has their squared error with z = win - loss of the target; a wdl head (`value` [B, 3] logits) the
    cross-entropy on win, draw and loss instead. The last term is the optimiser's weight decay. legal [B, A], where
    given: p is over the legal actions alone.
    """
    if legal is not None:
        policy_logits = policy_logits.masked_fill(legal == 0, ILLEGAL)
    policy_loss = cross_entropy(policy_logits, policy_target)
    if value.shape[1] == 1:
        z = wdl_target[:, :1] - wdl_target[:, 2:]
        return Losses(policy_loss, functional.mse_loss(value, z))
    return Losses(policy_loss, cross_entropy(value, wdl_target))


RISING = 0.3
"""Share of a generation in which the rate of one_cycle rises."""


def learning_rate(settings: TrainSettings, step: int, progress: float, within: float = 0.0) -> float:
    """Rate of step number `step` (from 0, over all generations) when the run is at `progress` and the generation at
    `within` (both 0 to 1).

    Linear warm-up over the first steps; then constant, or falling by half a cosine to final_learning_rate at progress
    1, or (one_cycle; Smith 2018) in each generation rising from there in its first 30 % and falling by half a cosine.
    """
    low = settings.final_learning_rate
    rate = settings.learning_rate
    if settings.schedule == "cosine":
        angle = math.pi * min(1.0, progress)
        rate = low + (rate - low) * (1 + math.cos(angle)) / 2
    elif settings.schedule == "one_cycle":
        if within < RISING:
            share = within / RISING
        else:
            falls = (within - RISING) / (1 - RISING)
            share = (1 + math.cos(math.pi * falls)) / 2
        rate = low + (rate - low) * share
    return rate * min(1.0, (step + 1) / (settings.warmup_steps + 1))


@dataclass(frozen=True)
class Batch:
    """Samples as tensors in the processor's memory, by the names of `Samples`; pinned where a GPU copies them."""

    columns: Mapping[str, Tensor]

    def __getitem__(self, name: str) -> Tensor:
        return self.columns[name]

    @classmethod
    def of(cls, samples: Samples, *, pinned: bool = False) -> Batch:
        """The samples, without a copy unless they are pinned."""
        arrays = dict(samples.extra)
        for name in ("features", "policy", "wdl", "legal"):
            array = getattr(samples, name)
            if array is not None:
                arrays[name] = array
        batch = cls({name: torch.from_numpy(array) for name, array in arrays.items()})
        return batch.each(Tensor.pin_memory) if pinned else batch

    def each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        return Batch({name: change(column) for name, column in self.columns.items()})

    def shards(self, count: int) -> list[Batch]:
        """The rows in `count` parts of nearly equal length."""
        parts = torch.arange(len(self["wdl"])).tensor_split(count)
        found = []
        for rows in parts:
            part_of = partial(torch.narrow, dim=0, start=int(rows[0]), length=len(rows))
            found.append(self.each(part_of))
        return found

    def to(self, device: torch.device) -> Batch:
        """On the device; a copy from pinned memory is only queued."""
        return self.each(lambda column: column.to(device, non_blocking=True))


class CandidateTrainer:
    """The candidate and its optimiser, over all generations of a run."""

    def __init__(
        self,
        network: Network,
        settings: TrainSettings,
        *,
        seed: int = 0,
        losses: OwnLosses | None = None,
    ) -> None:
        """seed: of the heads of `settings.extra`; losses: of further outputs, default those that the network was
        registered with. Raise ValueError when there is no such device, or the network cannot have the heads.
        """
        self.device = torch_device(settings.device)
        torch.backends.cudnn.benchmark |= self._on_gpu  # all batches have one size
        self._layout = memory_format(network)
        self.network: Network = network.to(self.device, memory_format=self._layout)  # type: ignore[call-overload]
        self.settings = settings
        self.average = copy.deepcopy(self.network) if settings.weight_average > 0 else None
        self.steps = 0
        self.extra = settings.extra or ExtraTargets()
        self.heads = ExtraHeads(network, self.extra, derived_seed(seed, "extra heads")) if self.extra.weights else None
        trained: nn.Module = self.network
        if self.heads is not None:
            trained = WithHeads(network, self.heads)  # type: ignore[arg-type] # the heads have checked it
            trained.to(self.device, memory_format=self._layout)  # type: ignore[call-overload]
        registered = architecture_in(network)
        targets, known = learned_by("" if registered is None else registered.name)
        self.targets: Targets | None = targets
        """Gives the targets of the network's own outputs; None without such outputs."""
        self.losses = dict(known if losses is None else losses)
        """Losses of the network's own outputs, by name."""
        self._names = [*self.extra.weights, *self.losses]
        self.optimiser = Optimiser(trained, settings)
        self._draws = draws_in_training(self.network)
        whole = self._on_gpu or self._draws  # shards side by side would draw in any order
        shards = 1
        if not whole:
            shards = math.ceil(settings.batch_size / settings.shard_rows)
        copies = [_Replica.copied(trained) for _ in range(shards - 1)]
        self._replicas = [_Replica.of(trained), *copies]

    @classmethod
    def new(
        cls,
        architecture: Architecture,
        settings: TrainSettings,
        *,
        seed: int,
        name: str = "network",
    ) -> CandidateTrainer:
        """Return a trainer of a residual tower with random weights; `name` distinguishes networks of one seed."""
        own_seed = derived_seed(seed, name)
        return cls(initialise(architecture, own_seed), settings, seed=own_seed)

    @classmethod
    def from_net(cls, path: Path, settings: TrainSettings, *, seed: int = 0) -> CandidateTrainer:
        """Return a trainer starting from the weights of a net file, trained here or lc0's (`.pb.gz`).

        The batch norms of an lc0 net stay folded into its convolutions. seed: of the heads of `settings.extra`.
        """
        return cls(load_network(path).module, settings, seed=seed)

    @classmethod
    def from_other_board(
        cls,
        path: Path,
        architecture: Architecture,
        settings: TrainSettings,
        *,
        seed: int,
        name: str,
    ) -> CandidateTrainer:
        """Return a trainer starting from the weights of a net for another size of the board, where they have its shape.

        Those are the tower's and a convolution policy's; dense layers over all squares begin at random.
        """
        network = initialise(architecture, derived_seed(seed, name))
        own = network.state_dict()
        found = load_network(path).module.state_dict()
        fitting = {}
        for weights, tensor in found.items():
            if weights in own and tensor.shape == own[weights].shape:
                fitting[weights] = tensor
        network.load_state_dict(fitting, strict=False)
        return cls(network, settings, seed=seed)

    @classmethod
    def restored(
        cls,
        architecture: Architecture,
        settings: TrainSettings,
        tensors: dict[str, NDArray[np.float32]],
        *,
        steps: int,
    ) -> CandidateTrainer:
        """The trainer whose `tensors()` these are, after `steps` steps."""
        trainer = cls(build(architecture, _named(tensors, NETWORK)), settings)
        heads = _as_tensors(_named(tensors, EXTRA))
        for replica in trainer._replicas:  # which share weights, not running means
            if isinstance(replica.network, WithHeads):
                replica.network.heads.load_state_dict(heads, strict=False)
        trainer.steps = steps
        if trainer.average is not None:
            trainer.average = build(architecture, _named(tensors, AVERAGE)).to(trainer.device)
        trainer.optimiser.restore(_as_tensors(_named(tensors, OPTIMISER)))
        return trainer

    @property
    def _on_gpu(self) -> bool:
        return self.device.type == "cuda"

    def train(
        self,
        source: Source,
        steps: int,
        *,
        seed: int,
        generation: int,
        generations: int,
        threads: int = 1,
        on_step: Callable[[int], None] | None = None,
        progress: tuple[float, float] | None = None,
    ) -> TrainFacts:
        """Take `steps` steps; batch number i is drawn from the source by the stream (seed, "train <generation>", i).

        threads: that compute shards. The result depends neither on them nor on `settings.workers`, which draw.
        progress: where in the schedule of the learning rate the steps begin and end, 0 to 1; None: as generation of so
        many. Raises ValueError when the loss is no longer a finite number.
        """
        started = time.perf_counter()
        torch.set_num_threads(1)  # of this thread, for the optimiser
        if self._draws:
            torch.manual_seed(derived_seed(seed, "dropout", generation))
        if progress is None:
            progress = ((generation - 1) / generations, generation / generations)
        begin, end = progress
        for replica in self._replicas:
            replica.network.train()
        # Summed on the device: to read a loss in Python would make every step wait for a GPU to finish.
        total = torch.zeros(2 + len(self._names), dtype=torch.float64, device=self.device)
        first_wrong = torch.full((), steps, device=self.device)  # step, kept there: to look at it would wait for a GPU
        rate = 0.0

        # A stream for each batch: whoever draws it, and in which order, it is the same one.
        def draw(number: int) -> Batch:
            return self._draw(source, stream(seed, f"train {generation}", number))

        with ThreadPoolExecutor(threads, "hauteur-train", initializer=torch.set_num_threads, initargs=(1,)) as pool:
            for step, batch in enumerate(in_order(draw, steps, workers=self.settings.workers)):
                share = begin + (end - begin) * step / steps
                rate = learning_rate(self.settings, self.steps, share, step / steps)
                found = self._step(batch, rate, pool)
                total += found
                is_finite = torch.isfinite(found).all()
                first_wrong.clamp_(max=torch.where(is_finite, steps, step))
                if on_step is not None:
                    on_step(step + 1)
        self.network.eval()
        names = ["policy", "value", *self._names]
        means = (total / steps).tolist()
        policy, value, *more = _finite(means, names, int(first_wrong), steps, generation)
        _check_weights(self.network, generation)
        seconds = time.perf_counter() - started
        extra = dict(zip(self._names, more, strict=True))
        return TrainFacts(steps, steps * self.settings.batch_size, policy, value, rate, seconds, extra)

    @property
    def architecture(self) -> Architecture:
        """Tell what the network is made of, as a file holds it; ValueError for a module that no file can hold."""
        return architecture_of(self.network)

    @property
    def cost(self) -> float:
        """Work of an evaluation, in those of a tower of 128 filters and 10 blocks (Lan et al. 2019, section 4).

        Of a registered network by its weights, as if each were used once a square, like those of a convolution.
        """
        architecture = self.architecture
        if not isinstance(architecture, RegisteredArchitecture):
            return float(architecture.cost)
        weights = sum(parameter.numel() for parameter in self.network.parameters())
        return float(weights / TOWER_WEIGHTS)

    def network_tensors(self) -> dict[str, NDArray[np.float32]]:
        """The candidate's tensors, as `networks.save` takes them: the mean of the weights where one is kept."""
        return tensors_of(self.average if self.average is not None else self.network)

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Network, mean and optimiser for a checkpoint."""
        modules = {NETWORK: self.network, AVERAGE: self.average, EXTRA: self.heads}
        result = {}
        for prefix, module in modules.items():
            if module is None:
                continue
            for name, values in tensors_of(module).items():
                result[prefix + name] = values
        for name, tensor in self.optimiser.tensors().items():
            on_cpu = tensor.detach().cpu().contiguous()
            result[OPTIMISER + name] = on_cpu.numpy().copy()
        return result

    def _draw(self, source: Source, random: np.random.Generator) -> Batch:
        """One batch; several threads are here at a time."""
        settings = self.settings
        samples = source.sample(
            random,
            settings.batch_size,
            root_value_share=settings.root_value_share,
            symmetries=settings.symmetries,
        )
        if settings.mask_illegal and samples.legal is None:
            raise ValueError("train.mask_illegal: what is learned from does not say which moves are legal")
        needed = [name for name in self._names if name not in ("soft_policy", "value_error")]
        missing = next((name for name in needed if name not in samples.extra), None)
        if missing is not None:
            known = f"further targets: {', '.join(samples.extra) or 'none'}"
            by = "ReplayBuffer(game, extra=settings.extra, targets=FUNCTION) and registered networks give them"
            raise ValueError(f"what is learned from has no target {missing!r}, which has a loss; {known}. {by}")
        legal = samples.legal if settings.mask_illegal else None
        return Batch.of(replace(samples, legal=legal), pinned=self._on_gpu)

    def _step(self, batch: Batch, rate: float, pool: ThreadPoolExecutor) -> Tensor:
        """One step; policy, value and further losses before it, float64 [2 + N] on the device."""
        rows = len(batch["wdl"])
        if len(self._replicas) == 1:
            parts = [self._shard(self._replicas[0], batch, rows)]
        else:
            shards = batch.shards(len(self._replicas))
            # Shards have fixed rows and are summed in their order, so the weights do not depend on the threads.

            def losses_of(replica: _Replica, shard: Batch) -> Tensor:
                return self._shard(replica, shard, rows)

            parts = list(pool.map(losses_of, self._replicas, shards))
            self._gather_replicas()
        if self.settings.max_gradient_norm > 0:
            torch.nn.utils.clip_grad_norm_(self._replicas[0].parameters, self.settings.max_gradient_norm)
        self.optimiser.step(rate)
        self.steps += 1
        self._update_average()
        return torch.stack(parts).sum(dim=0)

    def _shard(self, replica: _Replica, shard: Batch, rows: int) -> Tensor:
        """Gradients of a shard of a batch of `rows` in the replica; its share of the losses, float64 [2 + N]."""
        count = len(shard["wdl"])
        shard = shard.to(self.device)
        share = count / rows
        actions = shard["policy"].shape[1]
        bfloat16 = self.settings.mixed_precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=bfloat16, cache_enabled=False):
            features = shard["features"].contiguous(memory_format=self._layout)
            returned = replica.network(features)
        logits, value, outputs = checked_outputs(returned, count, actions, self.network)
        check_taken(outputs.keys() - self.extra.weights.keys(), self.losses, self.network)
        # Losses and their sums in 32 bits, also where the layers computed in 16.
        logits = logits.float()
        value = value.float()
        outputs = {name: output.float() for name, output in outputs.items()}
        parts = losses(logits, value, shard["policy"], shard["wdl"], shard.columns.get("legal"))
        total = parts.policy + self.settings.value_weight * parts.value
        further = self._further(outputs, value, shard)
        for name, loss in further.items():
            weight = self.extra.weights.get(name, 1.0)
            total = total + weight * loss
        for parameter in replica.parameters:
            parameter.grad = None
        # A mean over the shard, weighted by its rows: the shards' gradients add up to that of the batch.
        (share * total).backward()  # type: ignore[no-untyped-call]
        each = [parts.policy.detach(), parts.value.detach()]
        for name in self._names:
            each.append(further[name].detach())
        return share * torch.stack(each).double()

    def _further(self, outputs: Mapping[str, Tensor], value: Tensor, shard: Batch) -> dict[str, Tensor]:
        """Losses of the outputs beside policy and value; ValueError for one that is not a number."""
        found = extra_losses(self.extra, outputs, value, shard.columns)
        for name, loss in self.losses.items():
            found[name] = loss(outputs[name], shard[name])
        # A user's loss is checked at every step: it may be a number in one batch and a tensor in the next.
        for name, number in found.items():
            if getattr(number, "ndim", 1):
                raise ValueError(f"the loss of {name!r} must be a tensor of one number, the mean over the rows")
        return found

    def _gather_replicas(self) -> None:
        """Add the gradients of all replicas up in the network's, and give all the mean of their running means."""
        first, *others = self._replicas
        for replica in others:
            own_gradients = []
            other_gradients = []
            for own, other in zip(first.parameters, replica.parameters, strict=True):
                if own.grad is not None and other.grad is not None:
                    own_gradients.append(own.grad)
                    other_gradients.append(other.grad)
            torch._foreach_add_(own_gradients, other_gradients)
        for buffers in zip(*(replica.means for replica in self._replicas), strict=True):
            mean = torch.stack(buffers).mean(dim=0)
            for buffer in buffers:
                buffer.copy_(mean)

    @torch.no_grad()
    def _update_average(self) -> None:
        """mean <- d mean + (1 - d) weights, with d growing to weight_average over the first steps."""
        if self.average is None:
            return
        # With the full decay from the start, the mean would keep the random weights for as long as it remembers.
        decay = min(self.settings.weight_average, self.steps / (self.steps + 10))
        for mean, own in zip(_numbers(self.average), _numbers(self.network), strict=True):
            mean.lerp_(own, 1 - decay)


def _named(tensors: Mapping[str, NDArray[np.float32]], prefix: str) -> dict[str, NDArray[np.float32]]:
    """The tensors whose names begin with the prefix, without it."""
    found = {}
    for name, value in tensors.items():
        if name.startswith(prefix):
            found[name.removeprefix(prefix)] = value
    return found


def _as_tensors(arrays: Mapping[str, NDArray[np.float32]]) -> dict[str, Tensor]:
    """Return copies of arrays as torch has them."""
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


def _numbers(network: Network) -> list[Tensor]:
    """Weights and running means, each once."""
    return [tensor for tensor in (*network.parameters(), *network.buffers()) if tensor.is_floating_point()]


TOO_FAST = "train.learning_rate is too high for this net, or train.max_gradient_norm is missing"


def _finite(means: list[float], names: list[str], step: int, steps: int, generation: int) -> list[float]:
    """The mean losses; ValueError where one is not finite. step: the first, from 0, at which one was."""
    wrong = []
    for name, mean in zip(names, means, strict=True):
        if not math.isfinite(mean):
            wrong.append(f"{name} {mean}")
    if wrong:
        place = f"generation {generation} from step {step + 1} of {steps} on"
        cause = TOO_FAST if step else "what it learns from or the net that it begins with has such numbers"
        raise ValueError(f"the loss is not a finite number in {place} ({', '.join(wrong)}): {cause}")
    return means


def _check_weights(network: Network, generation: int) -> None:
    """ValueError where the last step has left weights that are no finite numbers, whose loss was not computed."""
    for name, tensor in (*network.named_parameters(), *network.named_buffers()):
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"the training of generation {generation} left {name} without finite numbers: {TOO_FAST}")


@dataclass(frozen=True)
class _Replica:
    """A network that computes shards, with what a step needs of it. means: of its normalisation."""

    network: Network
    parameters: list[nn.Parameter]
    means: list[Tensor]

    @classmethod
    def of(cls, network: Network) -> _Replica:
        means = [buffer for buffer in network.buffers() if buffer.is_floating_point()]
        return cls(network, list(network.parameters()), means)

    @classmethod
    def copied(cls, network: Network) -> _Replica:
        """A copy sharing the weights, with its own gradients and running means."""
        replica = copy.deepcopy(network)
        for own, shared in zip(replica.parameters(), network.parameters(), strict=True):
            # One memory for the weights, gradients apart: shards are computed side by side and added up afterwards.
            own.data = shared.data
        return cls.of(replica)


def in_order(make: Callable[[int], Made], count: int, *, workers: int = 1) -> Iterator[Made]:
    """make(0), make(1) ... make(count - 1), each computed by one of `workers` threads, handed over in this order.

    What `make` raises is raised here, in its place in the order. At most workers + 4 results wait at a time.
    """
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(workers, "hauteur-batches") as pool:
        try:
            for number in range(count):
                waiting.append(pool.submit(make, number))
                if len(waiting) >= workers + AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            # Not waited for: whoever stops early (an error, Ctrl-C) needs none of the batches that are being made.
            pool.shutdown(wait=False, cancel_futures=True)
