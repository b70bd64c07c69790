"""Evaluators: features in, policy logits and win/draw/loss out. One protocol, several engines.

`make_evaluator(game, spec)` opens a network file (the core on processors, torch on GPUs) or an evaluator without a net.
Every evaluator can be called directly, or given work with `submit` and its result collected later, so that the next
batch is gathered while one is computed.
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, get_args, overload

import numpy as np

from hauteur import _core
from hauteur.networks.evaluators.base import (
    MOST_BATCH_ROWS,
    ROLLOUT_ROWS,
    Backend,
    Evaluator,
    GameEvaluator,
    Precision,
    RolloutEvaluator,
    UniformEvaluator,
)
from hauteur.networks.layers import computed_by_core
from hauteur.networks.names import ResolvedNet, is_known_net, resolve_net
from hauteur.system.extras import require
from hauteur.system.hardware import has_nvidia_driver, usable_cores
from hauteur.system.hints import MOST_THREADS, whole_number

if TYPE_CHECKING:
    import torch

    from hauteur.networks.description import NetDescription


PRECISIONS: dict[Backend, tuple[Precision, ...]] = {
    "core": ("float32", "bfloat16"),
    "torch": ("float32", "bfloat16", "float16"),
    "onnxruntime": ("float32",),
}
"""Types of each backend, its default on processors first; bfloat16 of the core where the processor has it."""


@overload
def evaluator(
    game: _core.Game | str,
    source: str | Path | None = None,
    *,
    device: str | None = None,
    precision: Precision | None = None,
    batch_size: int | None = None,
    threads: int | None = None,
) -> GameEvaluator: ...
@overload
def evaluator(
    game: _core.Game | str,
    source: object,
    *,
    device: str | None = None,
    precision: Precision | None = None,
    batch_size: int | None = None,
    threads: int | None = None,
) -> Evaluator: ...
def evaluator(
    game: _core.Game | str,
    source: object = None,
    *,
    device: str | None = None,
    precision: Precision | None = None,
    batch_size: int | None = None,
    threads: int | None = None,
) -> Evaluator | GameEvaluator:
    """Return an evaluator: what a search queries for policies and values.

    Parameters
    ----------
    game
        The game whose positions it evaluates, or the spec of a game in Rust: `"chess"`; `feature_shape` (C, H, W) and
        `num_actions` A are its.
    source
        - a network file (`.safetensors`, `.pb.gz`), the name of a net that ships or was downloaded
          (`"maia-1900"`), or None: the net that ships for the game;
        - `"uniform"`: equal priors, even values; `"rollout"`: equal priors, the result of one random game;
        - a callable: features float32 [B, C, H, W] -> (policy logits float32 [B, A], wdl float32 [B, 3]), wdl being
          probabilities of win, draw and loss of the player to move; logits of illegal actions are ignored;
        - a torch module: features -> (policy logits [B, A], value [B, 3] logits of win, draw, loss, or [B, 1] in
          -1 to 1); it is copied, and computes in evaluation mode without gradients;
        - an evaluator, which is returned unchanged.
    device
        `cpu`, `cuda` or `cuda:N`, for network files and torch modules; default: a GPU if there is one for a file, the
        module's own for a module.
    precision
        `float32`, `bfloat16` or `float16`, as far as the device has it; default: the backend's choice.
    batch_size
        Rows of a batch, 1 to 65536; default: what suits the source.
    threads
        Threads of the processor, 1 to 1024; default: all that this process may use.

    Raises ValueError, in one line, where the source does not fit the game: callables and modules compute one batch of
    two positions at once, and shapes, types and finiteness of what they return are checked. What a callable raises
    itself reaches the caller with its own traceback. OSError for a file that cannot be read.

    An evaluator is called with features, or with positions: a State, a `chess.Board`, a FEN, or a list of these. It
    returns policy logits float32 [B, A] and wdl float32 [B, 3]. It is a context manager; leaving it, or `close()`, ends
    its thread.

    >>> import numpy as np
    >>> import hauteur as ht
    >>> game = ht.load_game("tictactoe")
    >>> def even(features):
    ...     rows = len(features)
    ...     return np.zeros((rows, 9), np.float32), np.tile(np.float32([0.25, 0.5, 0.25]), (rows, 1))
    >>> with ht.evaluator(game, even) as evaluator:
    ...     logits, wdl = evaluator(game.new_initial_state())
    >>> logits.shape, wdl.tolist()
    ((1, 9), [[0.25, 0.5, 0.25]])
    """
    if isinstance(game, str):
        if game not in _core.game_names() and is_known_net(game):
            raise ValueError(f"an evaluator is for a game: write ht.evaluator(game, {game!r}), such as 'chess'")
        game = _core.Game(game)
    if not isinstance(game, _core.Game):
        raise ValueError(f"an evaluator is for a game: give ht.load_game({game!r}), got {game!r}")
    if isinstance(source, str | Path) or source is None:
        net = resolve_net(source or None, game)
        return make_evaluator(game, net, precision=precision, threads=threads, batch_size=batch_size, device=device)
    _check_numbers(batch_size, threads)
    # Before callables, since evaluators can be called too.
    if isinstance(source, Evaluator):
        _check_shapes(game, f"evaluator {source.name} is", source, source.game_spec)
        return source
    if _is_torch_module(source):
        from hauteur.networks.evaluators.torch import module_evaluator

        cores = threads or usable_cores()
        precision = None if precision == "auto" else precision
        return module_evaluator(game, source, device=device, precision=precision, threads=cores, batch_size=batch_size)
    if isinstance(source, type):
        name = source.__name__
        raise ValueError(f"an evaluator is made of an object, got the class {name}: write {name}()")
    if not callable(source):
        raise ValueError(
            "an evaluator is made of a network file, 'uniform', 'rollout', a callable or a torch module, "
            f"got {source!r}"
        )
    if device is not None or precision is not None:
        raise ValueError("device and precision are for network files and torch modules; a callable chooses its own")
    from hauteur.networks.evaluators.callables import CallableEvaluator

    return CallableEvaluator(game, source, batch_size=batch_size)


def _is_torch_module(source: object) -> TypeGuard[torch.nn.Module]:
    """Return whether this is a torch module, without importing torch: who has one has imported it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, torch.nn.Module)


def _check_numbers(batch_size: int | None, threads: int | None) -> None:
    """Raise ValueError for a batch size or a number of threads out of range."""
    if batch_size is not None:
        whole_number("batch_size", batch_size, 1, MOST_BATCH_ROWS)
    if threads is not None:
        whole_number("threads", threads, 1, MOST_THREADS)


def make_evaluator(
    game: _core.Game,
    spec: str | Path | ResolvedNet,
    *,
    backend: Backend | None = None,
    precision: Precision | None = None,
    threads: int | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    exact: bool = False,
) -> GameEvaluator:
    """An evaluator for this game.

    spec: `uniform`, `rollout` (random games), a network file (.safetensors, .pb.gz), or the name of a net that
    ships or was downloaded; or what `resolve_net` made of one of these.
    backend: default torch where CUDA is used and for registered nets, core for other residual nets; for nets with
    attention onnxruntime, or torch where only that is installed.
    precision: default the backend's.
    threads: of the processor, default all that this process may use.
    batch_size: rows of a batch, default the backend's preference. device: `cpu`, or `cuda` (of torch).
    exact: the answer to a row is the same in every batch, bit for bit; core computes so in any case.
    Raises ValueError when the net is not for this game, or something is not allowed; OSError for an unreadable file.
    """
    _check_numbers(batch_size, threads)
    place = resolve_net(spec).path
    if place == "uniform":
        return UniformEvaluator(game, batch_size or 256)
    if place == "rollout":
        return RolloutEvaluator(game, batch_size=batch_size or ROLLOUT_ROWS)
    if backend is not None and backend not in get_args(Backend):
        raise ValueError(f"backend must be one of {', '.join(get_args(Backend))}, got {backend!r}")
    from hauteur.networks.registry import open_file  # readers of files, without which engines start

    net = open_file(Path(place))
    check_fits(game, net.path, net.description)
    chosen = backend or default_backend(net.path, net.description, device)
    allowed = PRECISIONS[chosen]
    if precision not in (None, "auto", *allowed):
        raise ValueError(f"precision of {chosen} must be one of {', '.join(allowed)}, got {precision!r}")
    if chosen != "torch" and device not in (None, "cpu"):
        raise ValueError(f"device {device!r} needs backend torch, got backend {chosen}")
    # Only the core measures what is faster; the others have a precision of choice for each device.
    kind = None if precision == "auto" and chosen != "core" else precision
    options: dict[str, Any] = {"threads": threads or usable_cores(), "batch_size": batch_size}
    if chosen == "core":
        from hauteur.networks.evaluators.core import CoreEvaluator

        return CoreEvaluator(game, net, precision=kind, **options)
    if chosen == "torch":
        from hauteur.networks.evaluators.torch import torch_evaluator

        return torch_evaluator(game, net, precision=kind, device=device, exact=exact, **options)
    from hauteur.networks.evaluators.fixed_rows import in_fixed_rows
    from hauteur.networks.evaluators.onnxruntime import OrtEvaluator

    session = OrtEvaluator(game, net, **options)
    return in_fixed_rows(game, session) if exact else session


def default_backend(path: Path, net: NetDescription, device: str | None = None) -> Backend:
    """Return what computes a net unless something else is asked for; MissingLayerError where nothing here can."""
    # The code of a registered network is torch's, and no other backend knows its operations.
    if net.architecture.kind == "registered" or device not in (None, "cpu"):
        return "torch"
    if device is None and has_cuda():
        return "torch"
    if computed_by_core(net.architecture):
        return "core"
    # Looked for and not imported: what is not used afterwards must not slow the start.
    if find_spec("onnxruntime") is None and find_spec("torch") is not None:
        return "torch"
    require(f"{path.name}, a net with attention,", "onnxruntime")
    return "onnxruntime"


def backends_at_hand(net: NetDescription) -> list[Backend]:
    """Return the backends that can compute a net here, the one that others are compared with first."""
    is_registered = net.architecture.kind == "registered"
    able: dict[Backend, bool] = {
        "torch": find_spec("torch") is not None,
        "onnxruntime": not is_registered and find_spec("onnxruntime") is not None,
        "core": computed_by_core(net.architecture),
    }
    return [backend for backend, can in able.items() if can]


def precisions_here(backend: Backend) -> tuple[Precision, ...]:
    """Return the precisions in which a backend computes on this machine."""
    if backend != "core":
        return PRECISIONS[backend]
    from hauteur.networks.evaluators.fastest import precisions_of_core

    found = precisions_of_core()
    return tuple(precision for precision in PRECISIONS["core"] if precision in found)


def has_cuda() -> bool:
    """Return whether torch can compute on a GPU here. torch is imported only where there is an NVIDIA driver."""
    if not has_nvidia_driver() or find_spec("torch") is None:
        return False
    from hauteur.networks.evaluators.torch import torch_device

    return torch_device(None).type == "cuda"


def evaluations_per_second(evaluator: Evaluator, seconds: float = 0.5) -> float:
    """Current throughput of the evaluator in consecutive full batches."""
    features = np.zeros((evaluator.batch_size, *evaluator.feature_shape), np.float32)
    evaluator(features)  # the first batch also prepares the engine
    done = 0
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        evaluator(features)
        done += evaluator.batch_size
    return done / (time.perf_counter() - started)


def check_fits(game: _core.Game, path: Path, net: NetDescription) -> None:
    """Raise ValueError unless the net reads this game's features and answers for its actions."""
    _check_shapes(game, f"{path}: is a net", net, net.game)


def _check_shapes(game: _core.Game, what: str, other: NetDescription | Evaluator, spec: str) -> None:
    """Raise ValueError where features or actions are not those of the game."""
    ours = (game.feature_shape, game.num_actions)
    theirs = (other.feature_shape, other.num_actions)
    if ours != theirs:
        raise ValueError(
            f"{what} for {spec} (features {theirs[0]}, {theirs[1]} actions), "
            f"not for {game.spec} (features {ours[0]}, {ours[1]} actions)"
        )
