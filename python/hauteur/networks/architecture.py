"""Networks as data: the architectures whose settings recipes and files have, and the union of all."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from hauteur.networks.chess_moves import CONVOLUTION_PLANES, NUM_MOVES
from hauteur.networks.lc0_architecture import CHESS_FEATURES, Lc0Architecture
from hauteur.system.settings import Section

Size = Annotated[int, Field(ge=1, le=65536)]


class ResNet(Section):
    """AlphaZero's residual tower f(filters, blocks), without the shapes of a game: what `ht.Trainer` builds.

    An input convolution, `blocks` residual blocks and two heads (Silver et al. 2017, "Mastering the game of Go without
    human knowledge", Methods). Raise ValueError for a value out of range.

    >>> import hauteur as ht
    >>> ht.ResNet(filters=32, blocks=3).filters
    32
    """

    filters: Annotated[int, Field(ge=1, le=4096)] = 64
    """Channels of the tower."""
    blocks: Annotated[int, Field(ge=0, le=256)] = 5
    """Residual blocks of two 3x3 convolutions."""
    se_channels: Annotated[int, Field(ge=0, le=4096)] = 0
    """Channels of the squeeze-excitation in every block; 0: none."""
    pooling: Annotated[int, Field(ge=0, le=4095)] = 0
    """Channels with global pooling (Wu 2019, "Accelerating Self-Play Learning in Go"): means and maxima over the board
    of the first `pooling` channels between the convolutions become, by a dense layer, biases of the others. The value's
    hidden layer sees those of its planes too. Wu's scaled means are for several board sizes. 0: none."""
    pooling_every: Annotated[int, Field(ge=1, le=256)] = 2
    """Blocks with pooling are every `pooling_every`-th."""
    activation: Literal["relu", "mish"] = "relu"
    """Activation after every convolution and hidden layer."""
    policy: Literal["dense", "convolution"] = "dense"
    """`dense`: 1x1 convolution to `policy_channels`, then one dense layer to all actions. `convolution`: two 3x3
    convolutions, one output a square (boards where every action is a square) or lc0's 80 planes (chess)."""
    policy_channels: Annotated[int, Field(ge=1, le=4096)] = 32
    """Channels of the dense policy before its dense layer."""
    value: Literal["wdl", "scalar"] = "wdl"
    """`wdl`: win, draw, loss by softmax; `scalar`: one number by tanh."""
    value_channels: Annotated[int, Field(ge=1, le=4096)] = 32
    """Channels of the value's 1x1 convolution."""
    value_hidden: Annotated[int, Field(ge=1, le=65536)] = 128
    """Units of the value's hidden layer."""

    @model_validator(mode="after")
    def _others_are_biased(self) -> Self:
        """Refuse pooling that leaves no channel to be biased."""
        if self.pooling >= self.filters:
            raise ValueError(f"pooling must be less than filters, got {self.pooling} of {self.filters}")
        return self


class ResNetArchitecture(ResNet):
    """A residual tower for the features and actions of one game."""

    kind: Literal["resnet"] = "resnet"
    encoders: ClassVar = 0
    feature_shape: tuple[Size, Size, Size]
    num_actions: Size

    @classmethod
    def sized(cls, sizes: ResNet, feature_shape: tuple[int, int, int], num_actions: int) -> "ResNetArchitecture":
        """Return the tower of these sizes for a game with these features and actions."""
        values = sizes.model_dump(include=set(ResNet.model_fields))
        return cls(feature_shape=feature_shape, num_actions=num_actions, **values)

    @model_validator(mode="after")
    def _policy_fits(self) -> "ResNetArchitecture":
        """Refuse a convolutional policy in a game whose actions are neither squares nor chess moves."""
        if self.policy == "convolution" and self.policy_planes == 0:
            raise ValueError(
                f"policy 'convolution' needs one action a square or chess, got {self.num_actions} actions "
                f"on {self.feature_shape[1]}x{self.feature_shape[2]}; allowed: 'dense'"
            )
        return self

    @model_serializer(mode="wrap")
    def _as_before_pooling(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave the settings of pooling out where there is none: files of such networks are what they always were."""
        return {name: value for name, value in handler(self).items() if self.pooling or "pooling" not in name}

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


NetworkName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
"""Name of a registered network."""

NetworkSetting = bool | int | float | Annotated[str, Field(max_length=1000)] | None
"""Value of a setting of a registered network; a file holds it as JSON."""


class NetworkSettings(ResNet):
    """Network to train: a residual tower, or with another `kind` a registered network (`ht.register_network`)."""

    kind: NetworkName = "resnet"
    """What is trained: `resnet`, or a name that `ht.register_network` gave, in a file named with `hauteur --import
    FILE.py train ...`."""
    settings: dict[str, NetworkSetting] = Field(default_factory=dict)
    """Of a registered network, as a table `[network.settings]` or `network.settings.NAME=VALUE`; the other settings are
    those of `resnet`."""

    @model_validator(mode="before")
    @classmethod
    def _from_tower(cls, values: Any) -> Any:
        return values.model_dump(exclude_unset=True) if type(values) is ResNet else values

    @model_validator(mode="after")
    def _settings_are_of_the_kind(self) -> Self:
        """Raise ValueError for settings of a residual tower with another kind, and the reverse."""
        tower = sorted(self.model_dump(exclude_defaults=True, exclude={"kind", "settings"}))
        if self.kind == "resnet" and self.settings:
            raise ValueError(f"settings are of registered networks; kind 'resnet' has {', '.join(ResNet.model_fields)}")
        if self.kind != "resnet" and tower:
            raise ValueError(f"{tower[0]} is of kind 'resnet'; what {self.kind!r} is built with stands in settings")
        return self

    @property
    def summary(self) -> str:
        """In a few words, as `64 filters, 5 blocks`."""
        if self.kind == "resnet":
            return f"{self.filters} filters, {self.blocks} blocks"
        settings = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.kind}({settings})"


class RegisteredArchitecture(Section):
    """A network of the user's own: the name it is registered under, and the settings it is built with."""

    kind: Literal["registered"] = "registered"
    """Tells the architectures of files apart."""
    name: NetworkName
    """Name it is registered under."""
    defined_in: Annotated[str, Field(max_length=200)] = ""
    """File or module that registers it, for messages; never imported from here."""
    feature_shape: tuple[Size, Size, Size]
    """Planes, rows and columns of its input."""
    num_actions: Size
    """Entries of its policy."""
    settings: Annotated[dict[str, NetworkSetting], Field(max_length=100)] = Field(default_factory=dict)
    """Settings that it is built with, by name."""

    policy: ClassVar = "its own"
    """Kind of its policy head, for displays."""
    value: ClassVar = "its own"
    """Kind of its value head, for displays."""

    def summary(self) -> str:
        """One line for people, as `transformer(layers=4, width=64)`."""
        return f"{self.name}({', '.join(f'{key}={value}' for key, value in self.settings.items())})"


Architecture = Annotated[ResNetArchitecture | Lc0Architecture | RegisteredArchitecture, Field(discriminator="kind")]
