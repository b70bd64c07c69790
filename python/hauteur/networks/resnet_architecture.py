"""Residual towers as data: plain classes, with which engines start faster than with a model of settings."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

from hauteur.networks.chess_moves import CHESS_FEATURES, CONVOLUTION_PLANES, NUM_MOVES
from hauteur.system.records import Range, check_fields, record_values


@dataclass(frozen=True, kw_only=True)
class ResNetSizes:
    """Sizes and kinds of layers of a residual tower, which files and recipes have in common."""

    filters: Annotated[int, Range(1, 4096)] = 64
    """Channels of the tower."""
    blocks: Annotated[int, Range(0, 256)] = 5
    """Residual blocks of two 3x3 convolutions."""
    se_channels: Annotated[int, Range(0, 4096)] = 0
    """Channels of the squeeze-excitation in every block; 0: none."""
    pooling: Annotated[int, Range(0, 4095)] = 0
    """Channels with global pooling (Wu 2019, "Accelerating Self-Play Learning in Go"): means and maxima over the board
    of the first `pooling` channels between the convolutions become, by a dense layer, biases of the others. The value's
    hidden layer sees those of its planes too. Wu's scaled means are for several board sizes. 0: none."""
    pooling_every: Annotated[int, Range(1, 256)] = 2
    """Blocks with pooling are every `pooling_every`-th."""
    activation: Literal["relu", "mish"] = "relu"
    """Activation after every convolution and hidden layer."""
    policy: Literal["dense", "convolution"] = "dense"
    """`dense`: 1x1 convolution to `policy_channels`, then one dense layer to all actions. `convolution`: two 3x3
    convolutions, one output a square (boards where every action is a square) or lc0's 80 planes (chess)."""
    policy_channels: Annotated[int, Range(1, 4096)] = 32
    """Channels of the dense policy before its dense layer."""
    value: Literal["wdl", "scalar"] = "wdl"
    """`wdl`: win, draw, loss by softmax; `scalar`: one number by tanh."""
    value_channels: Annotated[int, Range(1, 4096)] = 32
    """Channels of the value's 1x1 convolution."""
    value_hidden: Annotated[int, Range(1, 65536)] = 128
    """Units of the value's hidden layer."""

    def check_sizes(self) -> None:
        """Raise ValueError for pooling that leaves no channel to be biased."""
        if self.pooling >= self.filters:
            raise ValueError(f"pooling must be less than filters, got {self.pooling} of {self.filters}")


@dataclass(frozen=True, kw_only=True)
class ResNetArchitecture(ResNetSizes):
    """A residual tower for the features and actions of one game. Raise ValueError for a value that is not allowed."""

    encoders: ClassVar = 0
    """It has no attention, as networks of lc0 may have."""

    kind: Literal["resnet"] = "resnet"
    """Tells the architectures of files apart."""
    feature_shape: tuple[
        Annotated[int, Range(1, 65536)],
        Annotated[int, Range(1, 65536)],
        Annotated[int, Range(1, 65536)],
    ]
    """Planes, rows and columns of its input."""
    num_actions: Annotated[int, Range(1, 65536)]
    """Entries of its policy."""

    def __post_init__(self) -> None:
        check_fields(self)
        self.check_sizes()
        if self.policy == "convolution" and self.policy_planes == 0:
            raise ValueError(
                f"policy 'convolution' needs one action a square or chess, got {self.num_actions} actions "
                f"on {self.feature_shape[1]}x{self.feature_shape[2]}; allowed: 'dense'"
            )

    @classmethod
    def sized(cls, sizes: ResNetSizes, feature_shape: tuple[int, int, int], num_actions: int) -> ResNetArchitecture:
        """Return the tower of these sizes for a game with these features and actions."""
        values: dict[str, Any] = {field.name: getattr(sizes, field.name) for field in fields(ResNetSizes)}
        return cls(feature_shape=feature_shape, num_actions=num_actions, **values)

    def values(self) -> dict[str, Any]:
        """Return its fields by name, as files have them: without those of pooling where there is none, so that files
        of such networks are what they always were."""
        return {name: value for name, value in record_values(self).items() if self.pooling or "pooling" not in name}

    def pools(self, block: int) -> bool:
        """Return whether this block, a number from 0, has global pooling."""
        return self.pooling > 0 and (block + 1) % self.pooling_every == 0

    @property
    def policy_planes(self) -> int:
        """Output planes of the convolution policy head, 0 where the game does not fit it."""
        _, rows, columns = self.feature_shape
        if self.feature_shape == CHESS_FEATURES and self.num_actions == NUM_MOVES:
            return CONVOLUTION_PLANES
        return int(self.num_actions == rows * columns)

    @property
    def cost(self) -> float:
        """Work of an evaluation, in those of a tower of 128 filters and 10 blocks (Lan et al. 2019, section 4)."""
        return (self.filters / 128) ** 2 * self.blocks / 10

    def summary(self) -> str:
        """One line for people, as `resnet 64x6 se8, dense policy, wdl value`."""
        se = f" se{self.se_channels}" if self.se_channels else ""
        pool = f" pool{self.pooling}/{self.pooling_every}" if self.pooling else ""
        size = f"{self.filters}x{self.blocks}{se}{pool}"
        return f"resnet {size} {self.activation}, {self.policy} policy, {self.value} value"
