"""Torch modules that carry out `computation`: residual towers to be trained, and lc0's networks. Imports torch."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from hauteur.networks.chess_moves import NUM_MOVES, attention_indices, convolution_indices, reach_map
from hauteur.networks.computation import VALUE_OUTPUTS, Convolution, Dense, Operations, body, policy_head, value_head
from hauteur.networks.layers import NORM, Floats, LayerNames, SizedLayer, fold_norm, lc0_shapes, resnet_layers
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.resnet_architecture import ResNetArchitecture

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "mish": functional.mish,
    "none": lambda x: x,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "selu": functional.selu,
    "swish": functional.silu,
    "relu_2": lambda x: functional.relu(x) ** 2,
}


class TorchNetwork(nn.Module):
    """The operations of `computation` on tensors [B, ...]; a kind of network adds its layers.

    forward: features float32 [B, planes, rows, columns] -> policy logits [B, actions], value [B, 3] (logits of win,
    draw, loss) or [B, 1] (tanh).
    """

    reach: Tensor

    def __init__(self, architecture: ResNetArchitecture | Lc0Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        for name, values in _tables(architecture).items():
            # persistent: these follow from the architecture, and files hold weights alone.
            self.register_buffer(name, torch.from_numpy(values), persistent=False)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits [B, A] and value of features [B, C, H, W]."""
        return self.answers(self.body(features))

    def body(self, features: Tensor) -> Tensor:
        """Compute what the heads begin with: the tower's planes [B, filters, rows, columns], or tokens."""
        return body(cast("Operations[Tensor]", self), features)

    def answers(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the heads of the body's output."""
        ops = cast("Operations[Tensor]", self)
        policy = policy_head(ops, x)
        value = value_head(ops, x)
        if VALUE_OUTPUTS[self.architecture.value] == 1:
            value = torch.tanh(value)
        return policy, value

    def activation(self, x: Tensor, name: str) -> Tensor:
        return ACTIVATIONS[name](x)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y

    def scaled(self, x: Tensor, factor: float) -> Tensor:
        return x * factor

    def product(self, x: Tensor, y: Tensor) -> Tensor:
        return x @ y

    def softmax(self, x: Tensor) -> Tensor:
        return torch.softmax(x, dim=-1)

    def excited(self, x: Tensor, both: Tensor) -> Tensor:
        gamma, beta = both[:, :, None, None].chunk(2, dim=1)
        return torch.sigmoid(gamma) * x + beta

    def means(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))

    def pooled(self, x: Tensor) -> Tensor:
        return torch.stack([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], dim=2)

    def flatten(self, x: Tensor) -> Tensor:
        return x.flatten(1)

    def reshape(self, x: Tensor, *shape: int) -> Tensor:
        lengths = [length or x.shape[axis] for axis, length in enumerate(shape, 1)]
        return x.reshape(x.shape[0], *lengths)

    def transpose(self, x: Tensor, *axes: int) -> Tensor:
        return x.permute(axes)

    def slice(self, x: Tensor, axis: int, begin: int, end: int) -> Tensor:
        return x.narrow(axis, begin, end - begin)

    def concatenated(self, x: Tensor, y: Tensor, axis: int) -> Tensor:
        return torch.cat([x, y], dim=axis)

    def with_reach(self, tokens: Tensor) -> Tensor:
        return torch.cat([tokens, self.reach.expand(tokens.shape[0], 64, 64)], dim=2)

    def moves(self, x: Tensor, head: str) -> Tensor:
        if head == "squares":
            return x
        return x.index_select(1, self.get_buffer(f"{head}_moves"))


def _tables(architecture: ResNetArchitecture | Lc0Architecture) -> dict[str, NDArray[Any]]:
    """Constants of the computation, by the names of their buffers."""
    tables: dict[str, NDArray[Any]] = {}
    if architecture.policy == "convolution" and architecture.num_actions == NUM_MOVES:
        tables["convolution_moves"] = convolution_indices()
    if architecture.policy == "attention":
        tables["attention_moves"] = attention_indices()
    if isinstance(architecture, Lc0Architecture) and architecture.input_embedding == "map":
        tables["reach"] = reach_map()
    return tables


class ResidualTower(TorchNetwork):
    """AlphaZero's residual tower, with lc0's squeeze-excitation if requested, for any game; batch norms are kept."""

    architecture: ResNetArchitecture

    def __init__(self, architecture: ResNetArchitecture, layers: Sequence[SizedLayer] | None = None) -> None:
        """layers: default those of the tower."""
        super().__init__(architecture)
        for sized in resnet_layers(architecture) if layers is None else layers:
            _insert(self, sized.layer.path, _module(sized))

    def initialise(self, generator: torch.Generator) -> None:
        """Random weights: He initialisation; last layers small (play begins nearly uniform and even), pooling's too."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        with torch.no_grad():
            for name, weights in self.named_parameters():
                if name.endswith(("policy.output.weight", "value.output.weight", ".pool.weight")):
                    weights.mul_(0.1)

    def has(self, path: str) -> bool:
        del path  # the only layer that a tower is asked for
        return self.architecture.se_channels > 0

    def convolution(self, x: Tensor, layer: Convolution | Dense) -> Tensor:
        result: Tensor = self.get_submodule(layer.path)(x)
        return result

    dense = convolution


class ConvNorm(nn.Module):
    """Convolution (padded, no bias), then batch normalisation."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))  # type: ignore[no-any-return]


def _module(sized: SizedLayer) -> nn.Module:
    """Return the torch module of a layer of this size."""
    outputs, inputs = sized.shape[:2]
    if isinstance(sized.layer, Dense):
        return nn.Linear(inputs, outputs)
    kernel = sized.layer.kernel
    if sized.layer.norm:
        return ConvNorm(inputs, outputs, kernel)
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2)


def _insert(root: nn.Module, path: str, module: nn.Module) -> None:
    """Make a module a part of another one, below a dotted path."""
    *parents, name = path.split(".")
    for parent in parents:
        if parent not in root._modules:
            root.add_module(parent, nn.Module())
        root = root.get_submodule(parent)
    root.add_module(name, module)


class Lc0Network(TorchNetwork):
    """A network of lc0's layers. Batch norms are folded; each tensor of the file is a parameter, named by its path."""

    architecture: Lc0Architecture

    def __init__(self, architecture: Lc0Architecture, tensors: Mapping[str, Floats]) -> None:
        """`tensors`: all layers of the architecture by path, in their shapes (`shapes.lc0_shapes`)."""
        super().__init__(architecture)
        self._names = LayerNames(architecture)
        sizes = {path: values.size for path, values in tensors.items()}
        used = lc0_shapes(sizes, architecture)
        unused = [path for path in tensors if path not in used]
        # Kept, so that a net that was read, trained and written again has all heads that lc0 may ask it for.
        self._unused = {path: np.array(tensors[path], np.float32) for path in unused}
        for path in used:
            if path.endswith(".weights"):
                weights, bias = fold_norm(tensors, path)
                self._register(path, weights)
                self._register(f"{path.removesuffix('.weights')}.biases", bias)
            elif not path.endswith((".biases", *NORM)):
                self._register(path, tensors[path])

    def layers(self) -> dict[str, Floats]:
        """The network as layers by path, copied: batch norms stay folded, unused layers are as they were."""
        return self._unused | {
            name.replace("/", "."): parameter.detach().cpu().to(torch.float32).numpy().copy()
            for name, parameter in self.named_parameters()
        }

    def _register(self, path: str, values: Floats) -> None:
        """Keep a tensor as a parameter."""
        parameter = nn.Parameter(torch.from_numpy(np.array(values, np.float32)))
        self.register_parameter(path.replace(".", "/"), parameter)  # its name has no dots

    def _tensor(self, path: str) -> Tensor | None:
        """Return a parameter; None where the network has none of this path."""
        return self._parameters.get(path.replace(".", "/"))

    def has(self, path: str) -> bool:
        weights, _ = self._names.dense(path)
        return self._tensor(path) is not None or self._tensor(weights) is not None

    def width(self, path: str) -> int:
        weights, _ = self._dense(path)
        return len(weights)

    def _dense(self, path: str) -> tuple[Tensor, Tensor | None]:
        """Return weights and bias of a dense layer."""
        weights, bias = (self._tensor(name) for name in self._names.dense(path))
        assert weights is not None  # the layers were checked
        return weights, bias

    def convolution(self, x: Tensor, layer: Convolution) -> Tensor:
        path = self._names.convolution(layer)[0].removesuffix(".weights")
        weights = self._tensor(f"{path}.weights")
        bias = self._tensor(f"{path}.biases")
        assert weights is not None
        assert bias is not None
        return functional.conv2d(x, weights[: layer.used], bias[: layer.used], padding=layer.kernel // 2)

    def dense(self, x: Tensor, layer: Dense) -> Tensor:
        return functional.linear(x, *self._dense(layer.path))

    def norm(self, x: Tensor, path: str, epsilon: float) -> Tensor:
        gammas, betas = (self._tensor(name) for name in self._names.norm(path))
        return functional.layer_norm(x, x.shape[-1:], gammas, betas, epsilon)

    def gate(self, x: Tensor, path: str) -> Tensor:
        values = self.get_parameter(path).T
        if path == "ip_add_gate":
            return x + values
        return x * values
