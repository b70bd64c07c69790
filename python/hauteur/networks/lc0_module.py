"""lc0 networks as torch modules: residual towers, attention bodies, and their heads. Batch norms are folded.

The layers and their order are those of lc0 (its ONNX converter). A token is a square: [B, 64, channels].
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from hauteur.networks.architecture import Lc0Architecture
from hauteur.networks.chess_moves import convolution_indices
from hauteur.networks.lc0_attention import AttentionBody, AttentionPolicy
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.lc0_layout import USED_PLANES
from hauteur.networks.lc0_parameters import ACTIVATIONS, Activation, Layers, convolution, dense_layer


class Lc0Network(nn.Module):
    """Planes float32 [B, 112, 8, 8] -> policy logits [B, 1858], value [B, 3] logits of win, draw, loss or [B, 1]
    tanh, and with a moves-left head plies [B, 1]."""

    def __init__(self, architecture: Lc0Architecture, tensors: Mapping[str, Floats]) -> None:
        """`tensors`: all layers of the architecture by path, in their shapes (`lc0_layout.lc0_shapes`)."""
        super().__init__()
        layers = Layers(tensors)
        self.architecture = architecture
        self.tower = _Tower(architecture, layers) if architecture.filters else None
        self.body = AttentionBody(architecture, layers) if architecture.encoders else None
        self.policy = _policy(architecture, layers)
        self.value = _Head(
            architecture, layers, f"{architecture.value_prefix}value", f"{architecture.value_prefix}ip{{}}_val"
        )
        self.moves_left = _Head(architecture, layers, "moves_left", "ip{}_mov") if architecture.moves_left else None
        self._paths = layers.paths_of(self)
        self._rest = layers.rest()

    def layers(self) -> dict[str, Floats]:
        """The network as layers by path, copied: batch norms stay folded, layers that nothing uses are as they were."""
        result = dict(self._rest)
        for name, parameter in self.named_parameters():
            path, values = self._paths[name], parameter.detach().cpu().to(torch.float32).numpy().copy()
            result[path] = np.concatenate([values, result[path]]) if path in result else values
        return result

    def forward(self, planes: Tensor) -> tuple[Tensor, ...]:
        x = planes if self.tower is None else self.tower(planes)
        if self.body is not None:
            x = self.body(x)
        value = self.value(x)
        if self.architecture.value == "scalar":
            value = torch.tanh(value)
        if self.moves_left is None:
            return self.policy(x), value
        return self.policy(x), value, functional.relu(self.moves_left(x))


class _Tower(nn.Module):
    """Input convolution and residual blocks."""

    def __init__(self, architecture: Lc0Architecture, layers: Layers) -> None:
        super().__init__()
        self.input = convolution(layers, "input")
        activation = ACTIVATIONS[architecture.activation]
        self.blocks = nn.ModuleList(_Block(layers, f"residual.{i}", activation) for i in range(architecture.blocks))
        self._activation = activation

    def forward(self, planes: Tensor) -> Tensor:
        x = self._activation(self.input(planes))
        for block in self.blocks:
            x = block(x)
        return x


class _Block(nn.Module):
    """Residual block, with squeeze-excitation where the file has it."""

    def __init__(self, layers: Layers, path: str, activation: Activation) -> None:
        super().__init__()
        self.conv1 = convolution(layers, f"{path}.conv1")
        self.conv2 = convolution(layers, f"{path}.conv2")
        self.se = _SqueezeExcite(layers, f"{path}.se", activation) if f"{path}.se.w1" in layers else nn.Identity()
        self._activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return self._activation(x + self.se(self.conv2(self._activation(self.conv1(x)))))


class _SqueezeExcite(nn.Module):
    """sigmoid(gamma) x + beta, gamma and beta from the means of all planes."""

    def __init__(self, layers: Layers, path: str, activation: Activation) -> None:
        super().__init__()
        self.reduce = dense_layer(layers, f"{path}.w1", f"{path}.b1")
        self.expand = dense_layer(layers, f"{path}.w2", f"{path}.b2")
        self._activation = activation

    def forward(self, x: Tensor) -> Tensor:
        squeezed = self._activation(self.reduce(x.mean(dim=(2, 3))))
        both: Tensor = self.expand(squeezed)[:, :, None, None]
        filters = self.reduce.in_features
        return torch.sigmoid(both[:, :filters]) * x + both[:, filters:]


class _Head(nn.Module):
    """Value and moves-left heads: convolution (after a tower) or dense layer a square (after encoders), two dense."""

    def __init__(self, architecture: Lc0Architecture, layers: Layers, embedding: str, dense: str) -> None:
        super().__init__()
        first, second, third = dense.format(""), dense.format(1), dense.format(2)
        self.embed: nn.Module
        if architecture.encoders:
            self.embed = dense_layer(layers, f"{first}_w", f"{first}_b")
        else:
            self.embed = convolution(layers, embedding)
        self.hidden = dense_layer(layers, f"{second}_w", f"{second}_b")
        self.output = dense_layer(layers, f"{third}_w", f"{third}_b")
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, x: Tensor) -> Tensor:
        embedded = self._activation(self.embed(x)).flatten(1)
        return self.output(self._activation(self.hidden(embedded)))  # type: ignore[no-any-return]


def _policy(architecture: Lc0Architecture, layers: Layers) -> nn.Module:
    if architecture.policy == "attention":
        return AttentionPolicy(architecture, layers)
    if architecture.policy == "convolution":
        return _ConvolutionPolicy(architecture, layers)
    return _ClassicalPolicy(architecture, layers)


class _ClassicalPolicy(nn.Module):
    """1x1 convolution, then one dense layer to all moves."""

    def __init__(self, architecture: Lc0Architecture, layers: Layers) -> None:
        super().__init__()
        prefix = architecture.policy_prefix
        self.conv = convolution(layers, f"{prefix}policy")
        self.output = dense_layer(layers, f"{prefix}ip_pol_w", f"{prefix}ip_pol_b")
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self._activation(self.conv(x)).flatten(1))  # type: ignore[no-any-return]


class _ConvolutionPolicy(nn.Module):
    """Two 3x3 convolutions to 80 planes, of which 73 are used; a move is one square of one plane."""

    indices: Tensor

    def __init__(self, architecture: Lc0Architecture, layers: Layers) -> None:
        super().__init__()
        prefix = architecture.policy_prefix
        self.conv = convolution(layers, f"{prefix}policy1")
        self.output = convolution(layers, f"{prefix}policy", USED_PLANES)
        self.register_buffer("indices", torch.from_numpy(convolution_indices()), persistent=False)
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, x: Tensor) -> Tensor:
        planes: Tensor = self.output(self._activation(self.conv(x)))
        return planes.flatten(1).index_select(1, self.indices)
