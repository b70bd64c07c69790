"""AlphaZero's residual tower (Silver et al. 2017, "Mastering the game of Go without human knowledge", Methods), with
lc0's squeeze-excitation if requested, for the features and actions of any game."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.chess_moves import CONVOLUTION_PLANES, convolution_indices

ACTIVATIONS = {"relu": functional.relu, "mish": functional.mish}


class ResidualTower(nn.Module):
    """Features float32 [B, planes, rows, columns] -> policy logits [B, actions], value [B, 3] logits or [B, 1] tanh."""

    def __init__(self, architecture: ResNetArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.input = ConvNorm(architecture.feature_shape[0], architecture.filters, 3)
        self.blocks = nn.ModuleList(Block(architecture) for _ in range(architecture.blocks))
        self.policy = DensePolicy(architecture) if architecture.policy == "dense" else ConvolutionPolicy(architecture)
        self.value = ValueHead(architecture)
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        x = self._activation(self.input(features))
        for block in self.blocks:
            x = block(x)
        return self.policy(x), self.value(x)

    def initialise(self, generator: torch.Generator) -> None:
        """Random weights: He initialisation, small last layers (so that play begins nearly uniform and even)."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        with torch.no_grad():
            for head in (self.policy.output, self.value.output):
                head.weight.mul_(0.1)


class ConvNorm(nn.Module):
    """Convolution (padded, no bias), then batch normalisation."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))  # type: ignore[no-any-return]


class SqueezeExcite(nn.Module):
    """sigmoid(gamma) x + beta, gamma and beta [B, filters] from the means of all planes (lc0's form, with a bias)."""

    def __init__(self, filters: int, channels: int, activation: str) -> None:
        super().__init__()
        self.reduce = nn.Linear(filters, channels)
        self.expand = nn.Linear(channels, 2 * filters)
        self._activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor) -> Tensor:
        squeezed = self._activation(self.reduce(x.mean(dim=(2, 3))))
        both: Tensor = self.expand(squeezed)[:, :, None, None]
        filters = self.reduce.in_features
        return torch.sigmoid(both[:, :filters]) * x + both[:, filters:]


class Block(nn.Module):
    """Residual block: x + excite(conv(activation(conv(x)))), then activation."""

    def __init__(self, architecture: ResNetArchitecture) -> None:
        super().__init__()
        filters, channels = architecture.filters, architecture.se_channels
        self.conv1 = ConvNorm(filters, filters, 3)
        self.conv2 = ConvNorm(filters, filters, 3)
        self.se = SqueezeExcite(filters, channels, architecture.activation) if channels else nn.Identity()
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, x: Tensor) -> Tensor:
        return self._activation(x + self.se(self.conv2(self._activation(self.conv1(x)))))


class DensePolicy(nn.Module):
    """1x1 convolution, then one dense layer to all actions."""

    def __init__(self, architecture: ResNetArchitecture) -> None:
        super().__init__()
        _, rows, columns = architecture.feature_shape
        self.conv = ConvNorm(architecture.filters, architecture.policy_channels, 1)
        self.output = nn.Linear(architecture.policy_channels * rows * columns, architecture.num_actions)
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self._activation(self.conv(x)).flatten(1))  # type: ignore[no-any-return]


class ConvolutionPolicy(nn.Module):
    """Two 3x3 convolutions; every action is one square of one output plane."""

    indices: Tensor | None

    def __init__(self, architecture: ResNetArchitecture) -> None:
        super().__init__()
        planes = architecture.policy_planes
        self.conv = ConvNorm(architecture.filters, architecture.filters, 3)
        self.output = nn.Conv2d(architecture.filters, planes, 3, padding=1)
        indices = torch.from_numpy(convolution_indices()) if planes == CONVOLUTION_PLANES else None
        self.register_buffer("indices", indices, persistent=False)
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output(self._activation(self.conv(x))).flatten(1)
        return logits if self.indices is None else logits.index_select(1, self.indices)


class ValueHead(nn.Module):
    """1x1 convolution, a hidden dense layer, and win, draw, loss logits or one tanh."""

    def __init__(self, architecture: ResNetArchitecture) -> None:
        super().__init__()
        _, rows, columns = architecture.feature_shape
        self.conv = ConvNorm(architecture.filters, architecture.value_channels, 1)
        self.hidden = nn.Linear(architecture.value_channels * rows * columns, architecture.value_hidden)
        self.output = nn.Linear(architecture.value_hidden, 3 if architecture.value == "wdl" else 1)
        self._scalar = architecture.value == "scalar"
        self._activation = ACTIVATIONS[architecture.activation]

    def forward(self, x: Tensor) -> Tensor:
        hidden = self._activation(self.hidden(self._activation(self.conv(x)).flatten(1)))
        value = self.output(hidden)
        return torch.tanh(value) if self._scalar else value
