"""The messages of an lc0 network file (`.pb.gz`): schema, enums, and the way between a file and its messages.

A file is gzip of the proto2 message `Net`. Field numbers and enums as in lc0's published `proto/net.proto`.
"""

import gzip
import zlib
from enum import IntEnum
from pathlib import Path

from hauteur.networks.wire import Message, Schema, WireField, read_message, write_message

MAGIC = 0x1C0
MAX_BYTES = 2**31
MAX_RATIO = 64
"""Weights hardly compress: a file that unpacks to more than this times its size (plus 16 MiB) is not a network."""

_CHUNK = 1 << 20


class InputFormat(IntEnum):
    """The encoding of positions into the 112 planes."""

    CLASSICAL_112_PLANE = 1
    CASTLING_PLANE = 2
    CANONICALIZATION = 3
    CANONICALIZATION_HECTOPLIES = 4
    CANONICALIZATION_V2 = 5
    CANONICALIZATION_HECTOPLIES_ARMAGEDDON = 132
    CANONICALIZATION_V2_ARMAGEDDON = 133


class Structure(IntEnum):
    """Network structure: layers of the body and position of the heads."""

    CLASSICAL = 1
    SE = 2
    CLASSICAL_WITH_HEADFORMAT = 3
    SE_WITH_HEADFORMAT = 4
    ONNX = 5
    ATTENTIONBODY_WITH_HEADFORMAT = 6
    ATTENTIONBODY_WITH_MULTIHEADFORMAT = 7
    AB_LEGACY_WITH_MULTIHEADFORMAT = 134


class PolicyFormat(IntEnum):
    """Policy head."""

    CLASSICAL = 1
    CONVOLUTION = 2
    ATTENTION = 3


class ValueFormat(IntEnum):
    """Value head."""

    CLASSICAL = 1
    WDL = 2
    PARAM = 3


class Activation(IntEnum):
    """Activation functions; DEFAULT is the network's default activation."""

    DEFAULT = 0
    MISH = 1
    RELU = 2
    NONE = 3
    TANH = 4
    SIGMOID = 5
    SELU = 6
    SWISH = 7
    RELU_2 = 8
    SOFTMAX = 9


class Embedding(IntEnum):
    """Input embedding of attention bodies."""

    NONE = 0
    PE_MAP = 1
    PE_DENSE = 2


class Encoding(IntEnum):
    """The storage of the numbers of a layer."""

    LINEAR16 = 1
    FLOAT16 = 2
    BFLOAT16 = 3
    FLOAT32 = 4


def _layers(*names: str, start: int = 1) -> dict[int, WireField]:
    return {start + i: WireField(name, "message", "Layer") for i, name in enumerate(names)}


def _message(name: str, message: str, *, repeated: bool = False) -> WireField:
    return WireField(name, "message", message, repeated)


_ATTENTION_POLICY = ("ip_pol_w", "ip_pol_b", "ip2_pol_w", "ip2_pol_b", "ip3_pol_w", "ip3_pol_b", "ip4_pol_w")

_HEADS = {
    "PolicyHead": {
        **_layers(*_ATTENTION_POLICY),
        8: _message("pol_encoder", "EncoderLayer", repeated=True),
        9: WireField("pol_headcount", "uint"),
        10: _message("policy1", "ConvBlock"),
        11: _message("policy", "ConvBlock"),
    },
    "ValueHead": {
        **_layers("ip_val_w", "ip_val_b", "ip1_val_w", "ip1_val_b", "ip2_val_w", "ip2_val_b"),
        **_layers("ip_val_err_w", "ip_val_err_b", "ip_val_cat_w", "ip_val_cat_b", start=7),
        11: _message("value", "ConvBlock"),
    },
    "PolicyHeadMap": {1: WireField("key", "string"), 2: _message("value", "PolicyHead")},
    "ValueHeadMap": {1: WireField("key", "string"), 2: _message("value", "ValueHead")},
    "PolicyHeads": {
        **_layers("ip_pol_w", "ip_pol_b"),
        **{
            3 + i: _message(name, "PolicyHead")
            for i, name in enumerate(("vanilla", "optimistic_st", "soft", "opponent"))
        },
        7: _message("policy_head_map", "PolicyHeadMap", repeated=True),
    },
    "ValueHeads": {
        **{1 + i: _message(name, "ValueHead") for i, name in enumerate(("winner", "q", "st"))},
        4: _message("value_head_map", "ValueHeadMap", repeated=True),
    },
}

_BLOCKS = {
    "ConvBlock": _layers("weights", "biases", "bn_means", "bn_stddivs", "bn_gammas", "bn_betas"),
    "SEunit": _layers("w1", "b1", "w2", "b2"),
    "Residual": {1: _message("conv1", "ConvBlock"), 2: _message("conv2", "ConvBlock"), 3: _message("se", "SEunit")},
    "Smolgen": _layers(
        *("compress", "dense1_w", "dense1_b", "ln1_gammas", "ln1_betas"),
        *("dense2_w", "dense2_b", "ln2_gammas", "ln2_betas"),
    ),
    "MHA": {
        **_layers("q_w", "q_b", "k_w", "k_b", "v_w", "v_b", "dense_w", "dense_b"),
        9: _message("smolgen", "Smolgen"),
        **_layers("rpe_q", "rpe_k", "rpe_v", start=10),
    },
    "FFN": _layers("dense1_w", "dense1_b", "dense2_w", "dense2_b"),
    "EncoderLayer": {
        1: _message("mha", "MHA"),
        **_layers("ln1_gammas", "ln1_betas", start=2),
        4: _message("ffn", "FFN"),
        **_layers("ln2_gammas", "ln2_betas", start=5),
    },
}

_WEIGHTS = {
    1: _message("input", "ConvBlock"),
    2: _message("residual", "Residual", repeated=True),
    3: _message("policy", "ConvBlock"),
    **_layers("ip_pol_w", "ip_pol_b", start=4),
    6: _message("value", "ConvBlock"),
    **_layers("ip1_val_w", "ip1_val_b", "ip2_val_w", "ip2_val_b", start=7),
    11: _message("policy1", "ConvBlock"),
    12: _message("moves_left", "ConvBlock"),
    **_layers("ip1_mov_w", "ip1_mov_b", "ip2_mov_w", "ip2_mov_b", start=13),
    **_layers("ip2_pol_w", "ip2_pol_b", "ip3_pol_w", "ip3_pol_b", start=17),
    21: _message("pol_encoder", "EncoderLayer", repeated=True),
    22: _message("ip4_pol_w", "Layer"),
    24: WireField("pol_headcount", "uint"),
    **_layers("ip_emb_w", "ip_emb_b", start=25),
    27: _message("encoder", "EncoderLayer", repeated=True),
    28: WireField("headcount", "uint"),
    **_layers("ip_val_w", "ip_val_b", "ip_mov_w", "ip_mov_b", "ip_mult_gate", "ip_add_gate", start=29),
    **_layers("smolgen_w", "smolgen_b", "ip_emb_preproc_w", "ip_emb_preproc_b", start=35),
    **_layers("ip_emb_ln_gammas", "ip_emb_ln_betas", start=39),
    41: _message("ip_emb_ffn", "FFN"),
    **_layers("ip_emb_ffn_ln_gammas", "ip_emb_ffn_ln_betas", start=42),
    44: _message("value_heads", "ValueHeads"),
    45: _message("policy_heads", "PolicyHeads"),
}

_FORMAT_FIELDS = (
    *("input", "output", "network", "policy", "value", "moves_left"),
    *("default_activation", "smolgen_activation", "ffn_activation", "input_embedding"),
)

SCHEMA: Schema = {
    "Net": {
        1: WireField("magic", "fixed32"),
        2: WireField("license", "string"),
        3: _message("min_version", "EngineVersion"),
        4: _message("format", "Format"),
        5: _message("training_params", "TrainingParams"),
        10: _message("weights", "Weights"),
        11: WireField("onnx_model", "bytes"),
    },
    "EngineVersion": {i + 1: WireField(name, "uint") for i, name in enumerate(("major", "minor", "patch"))},
    "Format": {1: WireField("weights_encoding", "uint"), 2: _message("network_format", "NetworkFormat")},
    "NetworkFormat": {i + 1: WireField(name, "uint") for i, name in enumerate(_FORMAT_FIELDS)},
    "TrainingParams": {
        1: WireField("training_steps", "uint"),
        **{
            2 + i: WireField(n, "float") for i, n in enumerate(("learning_rate", "mse_loss", "policy_loss", "accuracy"))
        },
        6: WireField("lc0_params", "string"),
    },
    "Layer": {
        1: WireField("min_val", "float"),
        2: WireField("max_val", "float"),
        3: WireField("params", "bytes"),
        4: WireField("encoding", "uint"),
        5: WireField("dims", "uint", repeated=True),
    },
    "Weights": _WEIGHTS,
    **_BLOCKS,
    **_HEADS,
}

_STRICT = frozenset({"Weights", "Layer", *_BLOCKS, *_HEADS})
"""Where an unknown field could change what the network computes."""


def read_net(path: Path) -> Message:
    """Read a network file into its messages. Raise ValueError naming the file and what is wrong with it."""
    try:
        return parse_net(_unpack(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_net(data: bytes) -> Message:
    """Read an unpacked network file. Raises ValueError when it is not one."""
    if data[:2] in (b"1\n", b"2\n"):
        raise ValueError("is an lc0 net in the old text format; convert it to .pb.gz with lczero-training's net.py")
    if data[:5] != b"\x0d" + MAGIC.to_bytes(4, "little"):
        raise ValueError(
            f"is not an lc0 net: it begins with {bytes(data[:5]).hex(' ') or 'nothing'}, not 0d c0 01 00 00"
        )
    return read_message(data, SCHEMA, "Net", strict=_STRICT)


def _unpack(path: Path) -> bytes:
    packed = path.read_bytes()
    if packed[:2] != b"\x1f\x8b":
        raise ValueError(f"is not gzip: it begins with {packed[:4].hex(' ') or 'nothing'}, not 1f 8b")
    limit = min(MAX_BYTES, 16 * _CHUNK + MAX_RATIO * len(packed))
    stream = zlib.decompressobj(wbits=31)
    parts, size, rest = [], 0, packed
    while not stream.eof:
        try:
            parts.append(stream.decompress(rest, _CHUNK))
        except zlib.error as error:
            raise ValueError(f"is damaged: gzip fails after {size} unpacked bytes ({error})") from None
        size += len(parts[-1])
        if size > limit:
            raise ValueError(f"unpacks to more than {limit} bytes, too much for a network file of {len(packed)} bytes")
        rest = stream.unconsumed_tail
        if not rest and not parts[-1] and not stream.eof:
            raise ValueError(f"is truncated: gzip ends too early, after {size} unpacked bytes")
    if stream.unused_data:
        raise ValueError(f"has {len(stream.unused_data)} bytes after the end of the network")
    return b"".join(parts)


def pack_net(net: Message) -> bytes:
    """A network's messages as the bytes of a `.pb.gz` file; equal messages give equal bytes."""
    return gzip.compress(write_message(net, SCHEMA, "Net"), compresslevel=9, mtime=0)
