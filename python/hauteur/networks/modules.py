"""Torch modules of networks: build, initialise, and the outputs of an evaluator. Imports torch."""

import copy
from collections.abc import Collection, Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from hauteur.networks.architecture import Architecture, RegisteredArchitecture
from hauteur.networks.layers import Floats
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.registered import architecture_in, build_registered, learned_by
from hauteur.networks.torch_networks import Lc0Network, ResidualTower, TorchNetwork
from hauteur.system.formatting import described

Network = nn.Module
"""forward(features float32 [B, planes, rows, columns]) -> policy logits [B, A], value [B, 3] (logits of win, draw,
loss) or [B, 1] (tanh, scalar networks), and, of networks of one's own, maybe a dict of further outputs."""

PROBE_ROWS = 2
"""Rows of the batch on which the outputs of a registered network are checked."""


def architecture_of(network: Network) -> Architecture:
    """Return the architecture of a module, as in a file; ValueError for one that hauteur could not build again."""
    if isinstance(network, TorchNetwork):
        return network.architecture
    found = architecture_in(network)
    if found is None:
        raise ValueError(
            f"{type(network).__name__} is no network that a file can hold: register its class or the function that "
            "builds it with @ht.register_network(NAME)"
        )
    return found


def build(architecture: Architecture, tensors: Mapping[str, Floats]) -> Network:
    """The network with these tensors, in evaluation mode, on the CPU.

    Raise ValueError for a registered network whose code is not imported, or is of other tensors.
    """
    if isinstance(architecture, Lc0Architecture):
        return Lc0Network(architecture, tensors).eval()
    # A copy: training would else change the tensors of the opened file in place.
    loaded = {name: torch.from_numpy(np.array(values)) for name, values in tensors.items()}
    if isinstance(architecture, RegisteredArchitecture):
        own = build_registered(architecture)
        # Compared by hand, as the counters of batch norms, which are in no file, forbid `strict`.
        _check_same(architecture, _floating(own), loaded)
        own.load_state_dict(loaded, strict=False)
        return own.eval()
    network = ResidualTower(architecture)
    network.load_state_dict(loaded, strict=False)
    return network.eval()


def initialise(architecture: Architecture, seed: int) -> Network:
    """A new network with random weights, in training mode; the same for the same seed.

    A registered network draws them itself, from torch's generator. ValueError where its outputs are no network's.
    """
    if isinstance(architecture, Lc0Architecture):
        raise ValueError("only architectures 'resnet' and registered ones can be initialised, got 'lc0'")
    if isinstance(architecture, RegisteredArchitecture):
        # torch's generator is the program's: a user's own draws must not depend on nets that are made here.
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            own = build_registered(architecture)
            losses = learned_by(architecture.name)[1]
            check_outputs(own, architecture.feature_shape, architecture.num_actions, losses)
        return own.train()
    network = ResidualTower(architecture)
    network.initialise(torch.Generator().manual_seed(seed))
    return network


def tensors_of(network: Network) -> dict[str, Floats]:
    """The network's tensors by name, copied to float32 arrays, for `networks.save`."""
    if isinstance(network, Lc0Network):
        return network.layers()
    found = {}
    for name, tensor in _floating(network).items():
        on_cpu = tensor.detach().cpu().to(torch.float32)
        # A copy: on the processor the array is the parameter's memory, and training goes on in it.
        found[name] = on_cpu.numpy().copy()
    return found


def memory_format(network: Network) -> torch.memory_format:
    """The layout of features and activations: channels last for hauteur's towers, plain for everything else."""
    return torch.channels_last if isinstance(network, TorchNetwork) else torch.contiguous_format


def draws_in_training(network: Network) -> bool:
    """Return whether a network draws from torch's generator in training, as dropout does."""
    if any(isinstance(module, _DropoutNd) and module.p > 0 for module in network.modules()):
        return True
    registered = architecture_in(network)
    if registered is None:
        return False
    # Functions such as functional.dropout are seen only by what they do. A copy: normalisation changes its means.
    probe = copy.deepcopy(network).train()
    first = next(network.parameters(), torch.zeros(()))
    with torch.random.fork_rng(), torch.no_grad():
        before = torch.get_rng_state()
        probe(torch.zeros(PROBE_ROWS, *registered.feature_shape, device=first.device, dtype=first.dtype))
        return not torch.equal(before, torch.get_rng_state())


@torch.inference_mode()
def check_outputs(
    network: Network,
    feature_shape: tuple[int, int, int],
    num_actions: int,
    losses: Collection[str] = (),
) -> None:
    """Compute two rows of zeros; ValueError unless the outputs are finite, and of a network of this game and losses."""
    first = next(network.parameters(), torch.zeros(()))
    mode = network.training
    features = torch.zeros(PROBE_ROWS, *feature_shape, device=first.device, dtype=first.dtype)
    returned = network.eval()(features)
    network.train(mode)
    policy, value, further = checked_outputs(returned, PROBE_ROWS, num_actions, network)
    if not (torch.isfinite(policy).all() and torch.isfinite(value).all()):
        raise ValueError(f"network {type(network).__name__} returned numbers that are not finite for rows of zeros")
    check_taken(further, losses, network)


def check_taken(outputs: Collection[str], losses: Collection[str], network: Network) -> None:
    """Raise ValueError unless every further output has a loss, and every loss an output."""
    name = f"network {type(network).__name__}"
    known = f"losses: {', '.join(sorted(losses)) or 'none'}"
    for output in sorted({*outputs} - {*losses}):
        raise ValueError(f"{name} returned an output {output!r} that no loss takes; {known}")
    for loss in sorted({*losses} - {*outputs}):
        raise ValueError(f"{name} has no output {loss!r}, which has a loss; {known}")


def checked_outputs(
    returned: object,
    rows: int,
    num_actions: int,
    network: nn.Module,
    name: str = "",
) -> tuple[Tensor, Tensor, Mapping[str, Tensor]]:
    """Policy, value and further outputs of what a module returned; ValueError for missing ones and other shapes."""
    outputs = list(returned if isinstance(returned, tuple | list) else [returned])
    further: Mapping[str, Tensor] = {}
    if len(outputs) == 3 and isinstance(outputs[2], Mapping):
        further = outputs.pop()
    name = name or f"network {type(network).__name__}"
    tensors = [output for output in outputs if isinstance(output, Tensor)]
    shapes = [tuple(tensor.shape) for tensor in tensors]
    policy = (rows, num_actions)
    if shapes not in ([policy, (rows, 3)], [policy, (rows, 1)]):
        found = " and ".join(map(described, outputs)) or "nothing"
        raise ValueError(
            f"{name} returned {found}; allowed: policy logits [{rows}, {num_actions}] and value [{rows}, 3] (logits of "
            f"win, draw, loss) or [{rows}, 1] (tanh), then nothing, or a dict of further outputs by name"
        )
    return tensors[0], tensors[1], further


def _floating(network: Network) -> dict[str, Tensor]:
    """The tensors of real numbers; those of whole numbers follow from the settings."""
    return {name: tensor for name, tensor in network.state_dict().items() if tensor.is_floating_point()}


def _check_same(architecture: RegisteredArchitecture, own: Mapping[str, Tensor], loaded: Mapping[str, Tensor]) -> None:
    """Raise ValueError unless the file's tensors are those of the network that was built, in their shapes."""
    for name in sorted({*own, *loaded}):
        built = tuple(own[name].shape) if name in own else None
        found = tuple(loaded[name].shape) if name in loaded else None
        if built == found:
            continue
        in_file = "is missing" if found is None else f"has shape {found}"
        expected = "none" if built is None else str(built)
        raise ValueError(f"tensor {name} {in_file}, {architecture.summary()} as registered here has {expected}")


class Inference(nn.Module):
    """A network with the outputs of an evaluator: policy logits [B, A], wdl probabilities [B, 3] of the mover.

    A scalar value v becomes ((1 + v) / 2, 0, (1 - v) / 2). Further outputs are ignored.
    """

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        self.memory_format = memory_format(network)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        policy, value = self.network(features)[:2]
        return policy, wdl_of(value.float())  # probabilities need more than 16 bits


def wdl_of(value: Tensor) -> Tensor:
    """Probabilities of win, draw, loss [B, 3] from a network's value output ([B, 3] logits or [B, 1] tanh)."""
    if value.shape[1] == 3:
        return torch.softmax(value, dim=1)
    return torch.cat([(1 + value) / 2, torch.zeros_like(value), (1 - value) / 2], dim=1)
