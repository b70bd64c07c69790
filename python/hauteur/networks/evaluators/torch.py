"""Networks by torch: on a GPU with CUDA graphs, and on the processor where nothing else is at hand."""

from __future__ import annotations

import copy
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from hauteur.networks.evaluators.base import PREFERRED_ROWS, Answers, Floats, GameEvaluator, Pending, Precision
from hauteur.networks.evaluators.callables import check_probe
from hauteur.networks.evaluators.fixed_rows import PIECE_ROWS, JoinedAnswers, in_fixed_rows
from hauteur.networks.modules import Inference, checked_outputs, memory_format, wdl_of

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks.registry import Net

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
GPU_ROWS = 1024
LEAST_ROWS = 8
"""A batch is not split into parts smaller than this by default."""
_WARM_UP = 3
"""Runs before a graph is recorded, in which cuDNN chooses its kernels and libraries take their memory."""


def torch_evaluator(
    game: _core.Game,
    net: Net,
    *,
    precision: Precision | None = None,
    threads: int = 1,
    batch_size: int | None = None,
    device: str | None = None,
    exact: bool = False,
) -> GameEvaluator:
    """Compute a network file with torch, on the GPU if there is one unless `device` specifies otherwise.

    precision: float32, bfloat16 or float16; default float16 on a GPU, float32 on the CPU. exact: batches are computed
    in pieces of one number of rows, on a GPU of a whole batch.
    """
    chosen = torch_device(device)
    on_gpu = chosen.type == "cuda"
    precision = precision or ("float16" if on_gpu else "float32")
    if on_gpu:
        on_cuda = CudaEvaluator(game, net, precision, chosen, batch_size or GPU_ROWS)
        # Pieces of a whole batch: on a GPU small ones would take almost as long each as all rows together.
        return in_fixed_rows(game, on_cuda, on_cuda.batch_size) if exact else on_cuda
    module = inference_module(net, chosen, precision).network
    rows = batch_size or PREFERRED_ROWS * threads
    least = PIECE_ROWS if exact else LEAST_ROWS
    result = TorchEvaluator(game, module, net.path.name, chosen, TYPES[precision], threads, rows, least)
    return in_fixed_rows(game, result) if exact else result


def inference_module(net: Net, device: torch.device, precision: Precision) -> Inference:
    """The network with an evaluator's outputs: on the device, in this precision, its tensors in its memory format."""
    module = Inference(net.module).eval().to(device, TYPES[precision])
    return module.to(memory_format=module.memory_format)


class TorchEvaluator(GameEvaluator):
    """A torch module, on the processor or a GPU: features -> policy logits, value; more outputs are ignored.

    A batch is split over `threads`, each of which computes its rows alone. Threads that share one operation, torch's
    default, wait for each other at every layer, which on a busy machine is ten times slower and more.
    """

    def __init__(
        self,
        game: _core.Game,
        module: nn.Module,
        label: str,
        device: torch.device,
        kind: torch.dtype,
        threads: int,
        batch_size: int = PREFERRED_ROWS,
        least_rows: int = LEAST_ROWS,
    ) -> None:
        """module: in evaluation mode, its weights on the device and of this kind; answers are float32.

        least_rows: of a part of a batch.
        """
        on_gpu = device.type == "cuda"
        where = f"{device}" if on_gpu else f"{device} {threads} threads"
        precision = str(kind).removeprefix("torch.")
        super().__init__(game, f"{label} torch {precision} {where}", batch_size)
        self._module = module
        self._layout = memory_format(module)
        self._device = device
        self._kind = kind
        self._threads = 1 if on_gpu else threads
        self._least_rows = least_rows
        # One thread of torch in each of ours; see the class.
        self._pool = ThreadPoolExecutor(self._threads, "torch", initializer=torch.set_num_threads, initargs=(1,))

    def compute(self, features: Floats) -> Answers:
        """Compute rows and wait for them."""
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Divide rows among the threads and compute them."""
        most = len(features) // self._least_rows
        parts = max(1, min(self._threads, most))
        rows = np.array_split(features, parts)
        answers = [self._pool.submit(self._compute, part) for part in rows]
        return JoinedAnswers(answers, len(features))

    @torch.inference_mode()
    def _compute(self, features: Floats) -> Answers:
        """Compute rows in this thread."""
        return self._answers(torch.from_numpy(features).to(self._device, self._kind))

    def _answers(self, features: torch.Tensor) -> Answers:
        """Compute features on the device, and check what the module returns."""
        returned = self._module(features.contiguous(memory_format=self._layout))
        name = f"evaluator {self.name}: the module"
        policy, value, _ = checked_outputs(returned, len(features), self.num_actions, self._module, name)
        logits = policy.float()
        wdl = wdl_of(value.float())
        return logits.cpu().numpy(), wdl.cpu().numpy()

    def close(self) -> None:
        """End the threads, and drop what has not begun."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        super().close()


class UnpackingTorchEvaluator(TorchEvaluator):
    """A torch module on a GPU, which unpacks bit planes itself: of a row of chess 1.3 KB are copied to it, not 28."""

    def submit_packed(self, masks: NDArray[np.uint64], values: Floats) -> Pending:
        """Compute rows of bit planes."""
        # The rows may change when this returns.
        return self._pool.submit(self._compute_packed, masks.copy(), values.copy())

    @torch.inference_mode()
    def _compute_packed(self, masks: NDArray[np.uint64], values: Floats) -> Answers:
        """Compute rows of bit planes in this thread."""
        on_device = torch.from_numpy(masks.view(np.uint8)).to(self._device)
        scales = torch.from_numpy(values).to(self._device)
        return self._answers(unpacked(on_device, scales, self.feature_shape, self._kind))


def module_evaluator(
    game: _core.Game,
    module: nn.Module,
    *,
    device: str | None = None,
    precision: Precision | None = None,
    threads: int = 1,
    batch_size: int | None = None,
) -> GameEvaluator:
    """Return an evaluator of a copy of a module, in evaluation mode; what trains the module does not change it.

    device, precision: default where and what its parameters are. ValueError where its outputs do not fit the game.
    """
    label = type(module).__name__
    if precision is not None and precision not in TYPES:
        raise ValueError(f"precision of torch must be one of {', '.join(TYPES)}, got {precision!r}")
    first = next(module.parameters(), torch.zeros(()))
    chosen = first.device if device is None else torch_device(device)
    kind = first.dtype if precision is None else TYPES[precision]
    try:
        # Training in place would otherwise change the net in the middle of a search.
        copied = copy.deepcopy(module).to(chosen, kind).eval()
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"evaluator {label}: the module cannot be copied: {error}") from error
    made = UnpackingTorchEvaluator if chosen.type == "cuda" else TorchEvaluator
    result = made(game, copied, label, chosen, kind, threads, batch_size or PREFERRED_ROWS * threads)
    check_probe(game, result)
    return result


class CudaEvaluator(GameEvaluator):
    """A network on a GPU. Batches are filled up to few sizes, the powers of two and `batch_size`, for each of which a
    CUDA graph is recorded once: small networks would otherwise wait for the launches of their many small kernels.

    `submit` copies the rows to pinned memory and queues everything else; nothing waits before `result`.
    """

    def __init__(
        self,
        game: _core.Game,
        net: Net,
        precision: Precision,
        device: torch.device,
        batch_size: int = GPU_ROWS,
    ) -> None:
        super().__init__(game, f"{net.path.name} torch {precision} {device}", batch_size)
        self.precision = precision
        # Shapes are few and fixed (padded batches), so choosing kernels by measuring pays.
        torch.backends.cudnn.benchmark = True
        self._device = device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._module = inference_module(net, device, precision)
        self._idle: dict[tuple[type[_Slot], int], list[_Slot]] = defaultdict(list)

    def compute(self, features: Floats) -> Answers:
        """Compute rows and wait for them."""
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Queue the copy of the rows, the network and the copy of its answers."""
        return self._start(_Slot, features)

    def submit_packed(self, masks: NDArray[np.uint64], values: Floats) -> Pending:
        """Queue the copy of the bit planes, which the GPU unpacks, the network and the copy of its answers."""
        return self._start(_PackedSlot, masks.view(np.uint8), values)

    def _start(self, kind: type[_Slot], *rows: NDArray[Any]) -> Pending:
        """Copy rows to the device in an idle slot of their size, and start the computation."""
        padded = padded_rows(len(rows[0]), self.batch_size)
        idle = self._idle[kind, padded]
        slot = idle.pop() if idle else kind(self, self._module, padded, self._device, self._stream)
        slot.start(*rows)
        return _TorchPending(self, slot)

    def release(self, slot: _Slot) -> None:
        """Take back a slot whose answers were read or are no longer needed."""
        self._idle[type(slot), slot.rows].append(slot)

    def close(self) -> None:
        """Wait for the device."""
        self._stream.synchronize()
        super().close()


class _Slot:
    """Buffers and the recorded graph of one batch in flight, whose rows are features."""

    @torch.inference_mode()
    def __init__(
        self,
        owner: CudaEvaluator,
        module: Inference,
        rows: int,
        device: torch.device,
        stream: torch.cuda.Stream,
    ) -> None:
        self.rows = rows
        self._stream = stream
        self._length = 0
        self._shape = owner.feature_shape
        self._kind = TYPES[owner.precision]
        self._host_rows = [empty.pin_memory() for empty in self._empty_rows()]
        self._rows = [host.to(device) for host in self._host_rows]
        self._host_answers = [torch.empty((rows, n), pin_memory=True) for n in (owner.num_actions, 3)]
        self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._graph = torch.cuda.CUDAGraph()
        # The weights were copied in torch's own stream.
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                module(self._features(module.memory_format))
        stream.synchronize()
        # A graph replays with the addresses that it was recorded with: rows and answers keep their buffers
        # for ever.
        with torch.cuda.graph(self._graph, stream=stream):
            outputs = module(self._features(module.memory_format))
            self._answers = [output.float() for output in outputs]

    def _empty_rows(self) -> list[torch.Tensor]:
        """Return what is copied to the device for a batch, without content."""
        return [torch.zeros((self.rows, *self._shape))]

    def _features(self, layout: torch.memory_format) -> torch.Tensor:
        """Return the features on the device."""
        return self._rows[0].to(self._kind, memory_format=layout)

    @torch.inference_mode()
    def start(self, *rows: NDArray[Any]) -> None:
        """Queue one batch; its rows may change when this returns."""
        self._done.synchronize()  # the batch before may have been dropped unread
        self._length = len(rows[0])
        for host, given in zip(self._host_rows, rows, strict=True):
            host[: self._length].copy_(torch.from_numpy(given))
        with torch.cuda.stream(self._stream):
            for device, host in zip(self._rows, self._host_rows, strict=True):
                device.copy_(host, non_blocking=True)
            self._graph.replay()
            for host, answer in zip(self._host_answers, self._answers, strict=True):
                host.copy_(answer, non_blocking=True)
            self._done.record(self._stream)

    def read(self) -> Answers:
        """Wait for the GPU (the GIL is free meanwhile); return the answers, which the slot's next batch changes."""
        self._done.synchronize()
        logits, wdl = (host[: self._length].numpy() for host in self._host_answers)
        return logits, wdl


class _PackedSlot(_Slot):
    """The same of a batch whose rows are bit planes."""

    def _empty_rows(self) -> list[torch.Tensor]:
        """Return empty buffers for masks and values."""
        planes = self._shape[0]
        masks = torch.zeros((self.rows, 8 * planes), dtype=torch.uint8)
        values = torch.zeros((self.rows, planes))
        return [masks, values]

    def _features(self, layout: torch.memory_format) -> torch.Tensor:
        """Unpack masks and values on the device."""
        masks, values = self._rows
        return unpacked(masks, values, self._shape, self._kind).contiguous(memory_format=layout)


def unpacked(
    masks: torch.Tensor,
    values: torch.Tensor,
    shape: tuple[int, int, int],
    kind: torch.dtype = torch.float32,
) -> torch.Tensor:
    """Return the features [B, C, H, W] of bit planes; masks: uint8 [B, 8 C], little-endian; values: [B, C]."""
    planes, rows, columns = shape
    # torch has no shifts of unsigned 64-bit numbers, so masks are taken byte by byte.
    shifts = torch.arange(8, dtype=torch.uint8, device=masks.device)
    bits = masks.unsqueeze(-1) >> shifts & 1
    squares = bits.reshape(len(masks), planes, 64)[:, :, : rows * columns]
    # In the kind of the net from here on: float32 would be twice the memory of half precision.
    features = squares.to(kind) * values.to(kind).unsqueeze(-1)
    return features.reshape(len(masks), *shape)


class _TorchPending:
    """One batch that the GPU computes."""

    def __init__(self, evaluator: CudaEvaluator, slot: _Slot) -> None:
        self._evaluator = evaluator
        self._slot = slot

    def __del__(self) -> None:
        """Free the slot, also where nobody asked for the answers."""
        self._evaluator.release(self._slot)

    def result(self) -> Answers:
        """Wait for the device and return the answers."""
        logits, wdl = self._slot.read()
        return logits.copy(), wdl.copy()

    def borrowed(self) -> Answers:
        """Return the answers where the device has written them; another batch changes them once this object is gone."""
        return self._slot.read()


def padded_rows(rows: int, usual: int) -> int:
    """Return the rows that a batch is filled up to: a power of two from 8 on, or the usual size where that is less."""
    power = max(8, 1 << (rows - 1).bit_length())
    return min(power, usual) if rows <= usual else power


def torch_device(name: str | None) -> torch.device:
    """The device with this name; None: the GPU if there is one. ValueError if torch has no such device."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind, _, index = str(name).partition(":")
    if kind not in ("cpu", "cuda") or not (index == "" or index.isdecimal()):
        raise ValueError(f"device must be cpu, cuda or cuda:N, got {name!r}")
    if kind == "cuda" and int(index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"device {name}: torch {torch.__version__} finds {torch.cuda.device_count()} CUDA devices here"
        )
    return torch.device(name)
