"""The messages of an lc0 network file (`.pb.gz`): schema, enums, and the way between a file and its messages.

A file is gzip of the proto2 message `Net`. Field numbers and enums as in lc0's published `proto/net.proto`.
"""

import gzip
import zlib
from enum import IntEnum
from pathlib import Path

from hauteur.networks.registry import GZIP, LC0_NET
from hauteur.networks.wire import Message, read_message, schema_of, write_message

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


SCHEMA = schema_of("""
Net: magic fixed32; license string; min_version EngineVersion; format Format; training_params TrainingParams;
    10=weights Weights; onnx_model bytes
EngineVersion: major minor patch uint
Format: weights_encoding uint; network_format NetworkFormat
NetworkFormat: input output network policy value moves_left default_activation smolgen_activation ffn_activation
    input_embedding uint
TrainingParams: training_steps uint; learning_rate mse_loss policy_loss accuracy float; lc0_params string
Layer: min_val max_val float; params bytes; encoding uint; dims uint*
Weights: input ConvBlock; residual Residual*; policy ConvBlock; ip_pol_w ip_pol_b Layer; value ConvBlock; ip1_val_w
    ip1_val_b ip2_val_w ip2_val_b Layer; policy1 moves_left ConvBlock; ip1_mov_w ip1_mov_b ip2_mov_w ip2_mov_b
    ip2_pol_w ip2_pol_b ip3_pol_w ip3_pol_b Layer; pol_encoder EncoderLayer*; ip4_pol_w Layer; 24=pol_headcount uint;
    ip_emb_w ip_emb_b Layer; encoder EncoderLayer*; headcount uint; ip_val_w ip_val_b ip_mov_w ip_mov_b ip_mult_gate
    ip_add_gate smolgen_w smolgen_b ip_emb_preproc_w ip_emb_preproc_b ip_emb_ln_gammas ip_emb_ln_betas Layer;
    ip_emb_ffn FFN; ip_emb_ffn_ln_gammas ip_emb_ffn_ln_betas Layer; value_heads ValueHeads; policy_heads PolicyHeads
ConvBlock: weights biases bn_means bn_stddivs bn_gammas bn_betas Layer
SEunit: w1 b1 w2 b2 Layer
Residual: conv1 conv2 ConvBlock; se SEunit
Smolgen: compress dense1_w dense1_b ln1_gammas ln1_betas dense2_w dense2_b ln2_gammas ln2_betas Layer
MHA: q_w q_b k_w k_b v_w v_b dense_w dense_b Layer; smolgen Smolgen; rpe_q rpe_k rpe_v Layer
FFN: dense1_w dense1_b dense2_w dense2_b Layer
EncoderLayer: mha MHA; ln1_gammas ln1_betas Layer; ffn FFN; ln2_gammas ln2_betas Layer
PolicyHead: ip_pol_w ip_pol_b ip2_pol_w ip2_pol_b ip3_pol_w ip3_pol_b ip4_pol_w Layer; pol_encoder EncoderLayer*;
    pol_headcount uint; policy1 policy ConvBlock
ValueHead: ip_val_w ip_val_b ip1_val_w ip1_val_b ip2_val_w ip2_val_b ip_val_err_w ip_val_err_b ip_val_cat_w
    ip_val_cat_b Layer; value ConvBlock
PolicyHeadMap: key string; value PolicyHead
ValueHeadMap: key string; value ValueHead
PolicyHeads: ip_pol_w ip_pol_b Layer; vanilla optimistic_st soft opponent PolicyHead; policy_head_map PolicyHeadMap*
ValueHeads: winner q st ValueHead; value_head_map ValueHeadMap*
""")

_OPEN = {"Net", "EngineVersion", "Format", "NetworkFormat", "TrainingParams"}
_STRICT = frozenset(set(SCHEMA) - _OPEN)
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
    if not data.startswith(LC0_NET):
        raise ValueError(
            f"is not an lc0 net: it begins with {bytes(data[:5]).hex(' ') or 'nothing'}, not 0d c0 01 00 00"
        )
    return read_message(data, SCHEMA, "Net", strict=_STRICT)


def _unpack(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if it is gzip; ValueError for other files."""
    whole = path.stat().st_size
    if whole > MAX_BYTES:
        raise ValueError(f"has {whole} bytes, allowed are at most {MAX_BYTES}")
    packed = path.read_bytes()
    if packed.startswith(LC0_NET):
        return packed
    if not packed.startswith(GZIP):
        raise ValueError(f"is not gzip: it begins with {packed[:4].hex(' ') or 'nothing'}, not 1f 8b")
    # A file of some megabytes can unpack to gigabytes: it is unpacked piece by piece, and given up at the limit.
    limit = min(MAX_BYTES, 16 * _CHUNK + MAX_RATIO * len(packed))
    stream = zlib.decompressobj(wbits=31)
    parts = []
    size = 0
    rest = packed
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
    # The network is whole without it: more is damage, which would go unnoticed.
    if stream.unused_data:
        raise ValueError(f"has {len(stream.unused_data)} bytes after the end of the network")
    return b"".join(parts)


def pack_net(net: Message) -> bytes:
    """A network's messages as the bytes of a `.pb.gz` file; equal messages give equal bytes."""
    # mtime: with the time of day in its header the file of a net would be another one each time.
    return gzip.compress(write_message(net, SCHEMA, "Net"), compresslevel=9, mtime=0)
