"""Networks of lc0's layers as data: a plain class, with which engines start faster than with a model of settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from hauteur.networks.chess_moves import CHESS_FEATURES, NUM_MOVES
from hauteur.system.records import Range, check_fields, record_values

ActivationName = Literal["relu", "mish", "none", "tanh", "sigmoid", "selu", "swish", "relu_2"]


@dataclass(frozen=True, kw_only=True)
class Lc0Architecture:
    """A network of lc0's layers, named as in its files; sizes not given here follow from the tensors.

    A body of residual blocks (`filters`, `blocks`), of attention encoders (`embedding`, `encoders`, `heads`), or of
    blocks followed by encoders. Raise ValueError for a size out of range.
    """

    kind: Literal["lc0"] = "lc0"
    """Tells the architectures of files apart."""
    structure: Literal[3, 4, 6, 7]
    """Number of the network structure in lc0's format of files."""
    filters: Annotated[int, Range(0, 65536)] = 0
    """Channels of the residual blocks; 0: there are none."""
    blocks: Annotated[int, Range(0, 1024)] = 0
    """Residual blocks."""
    se: bool = False
    """The blocks have squeeze-excitation."""
    embedding: Annotated[int, Range(0, 65536)] = 0
    """Width of a token, which is a square; 0: there are no encoders."""
    encoders: Annotated[int, Range(0, 1024)] = 0
    """Attention encoders of the body."""
    heads: Annotated[int, Range(0, 1024)] = 0
    """Attention heads of an encoder."""
    smolgen: bool = False
    """Attention has position-dependent biases (smolgen)."""
    input_embedding: Literal["none", "map", "dense"] = "none"
    """How tokens are made of the planes: `map` adds a fixed encoding of the squares, `dense` a learned layer over all
    of them."""
    activation: Literal["relu", "mish"] = "relu"
    """Activation of convolutions and dense layers."""
    ffn_activation: ActivationName = "relu"
    """Activation of the encoders' feed-forward layers."""
    smolgen_activation: ActivationName = "relu"
    """Activation of smolgen's layers."""
    policy: Literal["classical", "convolution", "attention"]
    """Head of the policy: `classical` ends in a dense layer, `convolution` in planes of moves, `attention` compares the
    squares that moves leave and reach."""
    policy_prefix: Literal["", "policy_heads.vanilla."] = ""
    """Where a file with several policies has the one that is used."""
    value: Literal["wdl", "scalar"]
    """`wdl`: win, draw, loss by softmax; `scalar`: one number by tanh."""
    value_prefix: Literal["", "value_heads.winner."] = ""
    """Where a file with several values has the one that is used."""
    moves_left: bool = False
    """The file has a head that predicts the plies left; it is not computed."""
    scalars: dict[str, int | str] = field(default_factory=dict)
    """Numbers and names between the layers of the file, by path."""
    min_version: tuple[int, int, int] = (0, 21, 0)
    """Oldest version of lc0 that reads the file."""
    license: str = ""
    """Licence that the file states; empty: none."""

    def __post_init__(self) -> None:
        check_fields(self)

    def values(self) -> dict[str, Any]:
        """Return its fields by name, as files have them."""
        return record_values(self)

    @property
    def feature_shape(self) -> tuple[int, int, int]:
        """lc0's 112 planes."""
        return CHESS_FEATURES

    @property
    def num_actions(self) -> int:
        """lc0's 1858 moves."""
        return NUM_MOVES

    @property
    def cost(self) -> float:
        """Cost as of a ResNetArchitecture. Encoders are not covered by the paper's unit: one counts 12 embedding^2
        multiplications a square (attention 4, feed-forward layers 8), a block 18 filters^2."""
        of_blocks = (self.filters / 128) ** 2 * self.blocks
        of_encoders = (self.embedding / 128) ** 2 * self.encoders * 12 / 18
        return (of_blocks + of_encoders) / 10

    def summary(self) -> str:
        """One line for people, as `lc0 64x6 se relu, convolution policy, wdl value`."""
        parts = []
        if self.filters:
            excitation = " se" if self.se else ""
            parts.append(f"{self.filters}x{self.blocks}{excitation}")
        if self.encoders:
            smolgen = " smolgen" if self.smolgen else ""
            parts.append(f"attention {self.embedding}x{self.encoders}, {self.heads} heads{smolgen}")
        moves_left = ", moves left" if self.moves_left else ""
        return f"lc0 {' + '.join(parts)} {self.activation}, {self.policy} policy, {self.value} value{moves_left}"
