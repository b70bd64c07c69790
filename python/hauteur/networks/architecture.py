"""Networks as models of settings: what recipes have, and networks of the user's own; the union of all architectures."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from hauteur.networks.resnet_architecture import ResNetSizes
from hauteur.system.settings import Section

if TYPE_CHECKING:
    from hauteur.networks.lc0_architecture import Lc0Architecture
    from hauteur.networks.resnet_architecture import ResNetArchitecture

Size = Annotated[int, Field(ge=1, le=65536)]


class ResNet(Section, ResNetSizes):  # type: ignore[misc]  # both are frozen, which mypy does not see of models
    """AlphaZero's residual tower f(filters, blocks), without the shapes of a game: what `ht.Trainer` builds.

    An input convolution, `blocks` residual blocks and two heads (Silver et al. 2017, "Mastering the game of Go without
    human knowledge", Methods). Raise ValueError for a value out of range.

    >>> import hauteur as ht
    >>> ht.ResNet(filters=32, blocks=3).filters
    32
    """

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        self.check_sizes()
        return self


NetworkName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
"""Name of a registered network."""

NetworkSetting = bool | int | float | Annotated[str, Field(max_length=1000)] | None
"""Value of a setting of a registered network; a file holds it as JSON."""


class NetworkSettings(ResNet):  # type: ignore[misc]  # as of ResNet
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
        if type(values) is not ResNet:
            return values
        return values.model_dump(exclude_unset=True)

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

    def values(self) -> dict[str, Any]:
        """Return its fields by name, as files have them."""
        return self.model_dump(mode="json")

    def summary(self) -> str:
        """One line for people, as `transformer(layers=4, width=64)`."""
        settings = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.name}({settings})"


Architecture: TypeAlias = "ResNetArchitecture | Lc0Architecture | RegisteredArchitecture"
"""A network of any kind as data."""
