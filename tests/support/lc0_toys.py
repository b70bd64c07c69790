"""Small random lc0 networks of every kind, and an independent forward pass in float64 numpy to check them with.

The forward pass follows the published description of the format, layer by layer, and shares no code with the package.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.layers import Floats, Shape, resnet_shapes
from hauteur.networks.lc0 import from_resnet, lc0_bytes
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.system.files import write_bytes

Array = NDArray[np.float64]
Shapes = dict[str, tuple[int, ...]]
Policy = Literal["classical", "convolution", "attention"]
Value = Literal["wdl", "scalar"]
Position = Literal["none", "map", "dense"]
Toy = tuple[Lc0Architecture, dict[str, Floats]]

EMBEDDING, HEADS, DEPTH, HIDDEN, ENCODERS = 12, 2, 8, 10, 2


def random_tensors(shapes: Mapping[str, Shape], seed: int) -> dict[str, Floats]:
    """Random layers of these shapes, scaled so that values neither vanish nor explode; the same for the same seed."""
    rng = np.random.Generator(np.random.Philox(key=seed))
    return {path: _random(path, shape, rng) for path, shape in shapes.items()}


def _random(path: str, shape: Shape, rng: np.random.Generator) -> Floats:
    if path.endswith(("bn_stddivs", "running_var", "gammas", "norm.weight")):
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    scale = 0.1 if len(shape) == 1 else (2 / math.prod(shape[1:])) ** 0.5
    return (scale * rng.standard_normal(shape)).astype(np.float32)


def random_net(path: Path, *, filters: int = 8, blocks: int = 1, seed: int = 0) -> Path:
    """Write a small random network for chess as `.pb.gz`; return `path`."""
    resnet = ResNetArchitecture(
        feature_shape=(112, 8, 8), num_actions=1858, filters=filters, blocks=blocks, se_channels=4, policy="convolution"
    )
    architecture, tensors = from_resnet(resnet, random_tensors(resnet_shapes(resnet), seed))
    write_bytes(path, lc0_bytes(architecture, tensors))
    return path


def dense(weights: str, biases: str, inputs: int, outputs: int) -> Shapes:
    return {weights: (outputs, inputs), biases: (outputs,)}


def norm(path: str, size: int) -> Shapes:
    return {f"{path}_gammas": (size,), f"{path}_betas": (size,)}


def conv(path: str, inputs: int, outputs: int, kernel: int, *, bn: bool) -> Shapes:
    shapes: Shapes = {f"{path}.weights": (outputs, inputs, kernel, kernel)}
    if not bn:
        return shapes | {f"{path}.biases": (outputs,)}
    return shapes | {f"{path}.{name}": (outputs,) for name in ("bn_means", "bn_stddivs", "bn_gammas", "bn_betas")}


def ffn(path: str, embedding: int) -> Shapes:
    return dense(f"{path}.dense1_w", f"{path}.dense1_b", embedding, HIDDEN) | dense(
        f"{path}.dense2_w", f"{path}.dense2_b", HIDDEN, embedding
    )


def encoder(path: str, embedding: int, *, smolgen: bool) -> Shapes:
    mha = f"{path}.mha"
    shapes: Shapes = {}
    for name in "qkv":
        shapes |= dense(f"{mha}.{name}_w", f"{mha}.{name}_b", embedding, DEPTH)
    shapes |= dense(f"{mha}.dense_w", f"{mha}.dense_b", DEPTH, embedding)
    if smolgen:
        smol = f"{mha}.smolgen"
        shapes |= {f"{smol}.compress": (3, embedding)}
        shapes |= dense(f"{smol}.dense1_w", f"{smol}.dense1_b", 64 * 3, 7) | norm(f"{smol}.ln1", 7)
        shapes |= dense(f"{smol}.dense2_w", f"{smol}.dense2_b", 7, HEADS * 5) | norm(f"{smol}.ln2", HEADS * 5)
    return shapes | norm(f"{path}.ln1", embedding) | ffn(f"{path}.ffn", embedding) | norm(f"{path}.ln2", embedding)


def tower_net(
    *, policy: Policy, value: Value, se: bool = True, bn: bool = True, policy_encoders: int = 0, **more: Any
) -> Toy:
    """A residual tower of 6 filters and 2 blocks."""
    if policy_encoders:
        more["scalars"] = {"pol_headcount": 1}
    architecture = Lc0Architecture(
        structure=4 if se else 3, filters=6, blocks=2, se=se, policy=policy, value=value, **more
    )
    shapes = tower(se=se, bn=bn) | tower_policy(policy, bn=bn, encoders=policy_encoders)
    shapes |= conv("value", 6, 32, 1, bn=bn) | dense("ip1_val_w", "ip1_val_b", 32 * 64, 128)
    shapes |= dense("ip2_val_w", "ip2_val_b", 128, 3 if value == "wdl" else 1)
    if architecture.moves_left:
        shapes |= conv("moves_left", 6, 4, 1, bn=bn) | dense("ip1_mov_w", "ip1_mov_b", 4 * 64, 9)
        shapes |= dense("ip2_mov_w", "ip2_mov_b", 9, 1)
    return architecture, random_tensors(shapes, seed=3)


def tower(*, se: bool, bn: bool) -> Shapes:
    shapes = conv("input", 112, 6, 3, bn=bn)
    for i in range(2):
        shapes |= conv(f"residual.{i}.conv1", 6, 6, 3, bn=bn) | conv(f"residual.{i}.conv2", 6, 6, 3, bn=bn)
        if se:
            shapes |= dense(f"residual.{i}.se.w1", f"residual.{i}.se.b1", 6, 3)
            shapes |= dense(f"residual.{i}.se.w2", f"residual.{i}.se.b2", 3, 12)
    return shapes


def tower_policy(policy: str, *, bn: bool, encoders: int) -> Shapes:
    if policy == "classical":
        return conv("policy", 6, 5, 1, bn=bn) | dense("ip_pol_w", "ip_pol_b", 5 * 64, 1858)
    if policy == "convolution":
        return conv("policy1", 6, 6, 3, bn=bn) | conv("policy", 6, 80, 3, bn=False)
    return attention_policy("", 6, encoders=encoders)


def attention_policy(prefix: str, channels: int, *, shared: bool = False, encoders: int = 0) -> Shapes:
    embed = "policy_heads.ip_pol" if shared else f"{prefix}ip_pol"
    shapes = dense(f"{embed}_w", f"{embed}_b", channels, 11)
    for i in range(encoders):
        shapes |= encoder(f"{prefix}pol_encoder.{i}", 11, smolgen=False)
    for name in ("ip2_pol", "ip3_pol"):
        shapes |= dense(f"{prefix}{name}_w", f"{prefix}{name}_b", 11, 9)
    return shapes | {f"{prefix}ip4_pol_w": (4, 9)}


def attention_net(
    *, embedding: Position, multihead: bool = False, smolgen: bool = True, policy_encoders: int = 0, **more: Any
) -> Toy:
    """An attention body of two encoders, with all heads; on a tower where the embedding is `none`."""
    policy_prefix: Literal["", "policy_heads.vanilla."] = "policy_heads.vanilla." if multihead else ""
    value_prefix: Literal["", "value_heads.winner."] = "value_heads.winner." if multihead else ""
    scalars: dict[str, int | str] = {"headcount": HEADS}
    if policy_encoders:
        scalars[f"{policy_prefix}pol_headcount"] = 1
    architecture = Lc0Architecture(
        structure=7 if multihead else 6,
        filters=6 if embedding == "none" else 0,
        blocks=2 if embedding == "none" else 0,
        embedding=EMBEDDING,
        encoders=ENCODERS,
        heads=HEADS,
        smolgen=smolgen,
        input_embedding=embedding,
        policy="attention",
        policy_prefix=policy_prefix,
        value="wdl",
        value_prefix=value_prefix,
        moves_left=True,
        scalars=scalars,
        **more,
    )
    inputs = {"none": 6, "map": 112 + 64, "dense": 112 + 4}[embedding]
    shapes = dense("ip_emb_w", "ip_emb_b", inputs, EMBEDDING)
    if embedding == "none":
        shapes |= tower(se=False, bn=True)
    shapes |= {"ip_mult_gate": (EMBEDDING, 64), "ip_add_gate": (EMBEDDING, 64)}
    if embedding == "dense":
        shapes |= dense("ip_emb_preproc_w", "ip_emb_preproc_b", 64 * 12, 64 * 4)
        shapes |= norm("ip_emb_ln", EMBEDDING) | ffn("ip_emb_ffn", EMBEDDING) | norm("ip_emb_ffn_ln", EMBEDDING)
    if smolgen:
        shapes |= {"smolgen_w": (4096, 5)}
    for i in range(ENCODERS):
        shapes |= encoder(f"encoder.{i}", EMBEDDING, smolgen=smolgen)
    shapes |= attention_policy(policy_prefix, EMBEDDING, shared=multihead, encoders=policy_encoders)
    shapes |= dense(f"{value_prefix}ip_val_w", f"{value_prefix}ip_val_b", EMBEDDING, 3)
    shapes |= dense(f"{value_prefix}ip1_val_w", f"{value_prefix}ip1_val_b", 3 * 64, 8)
    shapes |= dense(f"{value_prefix}ip2_val_w", f"{value_prefix}ip2_val_b", 8, 3)
    shapes |= dense("ip_mov_w", "ip_mov_b", EMBEDDING, 2) | dense("ip1_mov_w", "ip1_mov_b", 2 * 64, 6)
    shapes |= dense("ip2_mov_w", "ip2_mov_b", 6, 1)
    return architecture, stored_as_in_files(random_tensors(shapes, seed=5))


def stored_as_in_files(tensors: dict[str, Floats]) -> dict[str, Floats]:
    """Gates near one, so that they neither kill nor explode the signal."""
    gate = tensors["ip_mult_gate"]
    tensors["ip_mult_gate"] = (1 + 0.3 * gate).astype(np.float32)
    return tensors


TOYS: dict[str, Callable[[], Toy]] = {
    "se, convolution policy, wdl": lambda: tower_net(policy="convolution", value="wdl"),
    "plain, classical policy, scalar": lambda: tower_net(policy="classical", value="scalar", se=False),
    "biases instead of norms, moves left, mish": lambda: tower_net(
        policy="classical",
        value="wdl",
        bn=False,
        moves_left=True,
        activation="mish",
        ffn_activation="mish",
        smolgen_activation="mish",
    ),
    "tower, attention policy": lambda: tower_net(policy="attention", value="wdl"),
    "tower, encoders in the attention policy": lambda: tower_net(
        policy="attention", value="wdl", policy_encoders=1, ffn_activation="selu"
    ),
    "attention on a tower": lambda: attention_net(embedding="none"),
    "attention, map": lambda: attention_net(embedding="map"),
    "attention, map, old activations, no smolgen": lambda: attention_net(
        embedding="map", smolgen=False, ffn_activation="relu_2", smolgen_activation="swish"
    ),
    "attention, dense, several heads, mish": lambda: attention_net(
        embedding="dense", multihead=True, activation="mish", ffn_activation="mish", smolgen_activation="swish"
    ),
    "attention, encoders in the policy head": lambda: attention_net(embedding="map", policy_encoders=1),
}
"""One of each kind."""


# The forward pass in numpy.

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "none": lambda x: x,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "relu_2": lambda x: np.maximum(x, 0) ** 2,
}


class NumpyNet:
    """An lc0 network in float64, one position at a time, from the published facts of the format."""

    def __init__(self, architecture: Lc0Architecture, tensors: dict[str, Floats]) -> None:
        self.a = architecture
        self.t = {path: values.astype(np.float64) for path, values in tensors.items()}
        self.act = ACTIVATIONS[architecture.activation]

    def __call__(self, planes: Floats) -> tuple[Array, Array]:
        """One position [112, 8, 8]: policy [1858], wdl probabilities [3] or tanh [1]."""
        x = planes.astype(np.float64)
        if self.a.filters:
            x = self.tower(x)
        tokens = x.reshape(len(x), 64).T
        if self.a.encoders:
            tokens = self.body(tokens)
        prefix = self.a.value_prefix
        value = self.head(x, tokens, f"{prefix}value", prefix + "ip{}_val")
        wdl = softmax(value) if self.a.value == "wdl" else np.tanh(value)
        return self.policy(x, tokens), wdl

    def fc(self, x: Array, path: str) -> Array:
        return x @ self.t[f"{path}_w"].T + self.t[f"{path}_b"]

    def conv(self, x: Array, path: str) -> Array:
        weights = self.t[f"{path}.weights"]
        outputs, _, k, _ = weights.shape
        padded = np.pad(x, ((0, 0), (k // 2, k // 2), (k // 2, k // 2)))
        y = np.zeros((outputs, 8, 8))
        for dy in range(k):
            for dx in range(k):
                y += np.tensordot(weights[:, :, dy, dx], padded[:, dy : dy + 8, dx : dx + 8], axes=1)
        y += self.t.get(f"{path}.biases", np.zeros(outputs))[:, None, None]
        if f"{path}.bn_means" in self.t:
            mean, variance, gamma, beta = (
                self.t[f"{path}.{n}"][:, None, None] for n in ("bn_means", "bn_stddivs", "bn_gammas", "bn_betas")
            )
            y = (y - mean) / np.sqrt(variance + 1e-5) * gamma + beta
        return y

    def tower(self, x: Array) -> Array:
        x = self.act(self.conv(x, "input"))
        for i in range(self.a.blocks):
            y = self.conv(self.act(self.conv(x, f"residual.{i}.conv1")), f"residual.{i}.conv2")
            if self.a.se:
                se = {name: self.t[f"residual.{i}.se.{name}"] for name in ("w1", "b1", "w2", "b2")}
                z = se["w2"] @ self.act(se["w1"] @ y.mean(axis=(1, 2)) + se["b1"]) + se["b2"]
                filters = self.a.filters
                y = ACTIVATIONS["sigmoid"](z[:filters])[:, None, None] * y + z[filters:][:, None, None]
            x = self.act(x + y)
        return x

    def body(self, tokens: Array) -> Array:
        dense_embedding = self.a.input_embedding == "dense"
        if not self.a.filters:
            tokens = np.concatenate([tokens, self.positions(tokens)], axis=1)
        x = self.act(self.fc(tokens, "ip_emb"))
        if dense_embedding:
            x = self.norm(x, "ip_emb_ln", 1e-3)
        x = x * self.t["ip_mult_gate"].T + self.t["ip_add_gate"].T
        alpha = (2 * self.a.encoders) ** -0.25
        if dense_embedding:
            x = self.norm(x + alpha * self.ffn(x, "ip_emb_ffn", self.act), "ip_emb_ffn_ln", 1e-3)
        for i in range(self.a.encoders):
            x = self.encoder(x, f"encoder.{i}", self.a.heads, alpha)
        return x

    def positions(self, tokens: Array) -> Array:
        if self.a.input_embedding == "dense":
            return self.fc(tokens[:, :12].reshape(-1), "ip_emb_preproc").reshape(64, -1)
        result = np.zeros((64, 64))
        for a in range(64):
            for b in range(64):
                dx = abs(a % 8 - b % 8)
                dy = abs(a // 8 - b // 8)
                reached = dx == 0 or dy == 0 or dx == dy or {dx, dy} == {1, 2}
                result[a, b] = -1 if a == b else float(reached)
        return result

    def norm(self, x: Array, path: str, epsilon: float) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
        return np.asarray(scaled * self.t[f"{path}_gammas"] + self.t[f"{path}_betas"])

    def ffn(self, x: Array, path: str, activation: Any) -> Array:
        return self.fc(activation(self.fc(x, f"{path}.dense1")), f"{path}.dense2")

    def encoder(self, x: Array, path: str, heads: int, alpha: float) -> Array:
        epsilon = 1e-3 if self.a.input_embedding == "dense" else 1e-6
        x = self.norm(x + alpha * self.attention(x, f"{path}.mha", heads), f"{path}.ln1", epsilon)
        activation = ACTIVATIONS[self.a.ffn_activation]
        return self.norm(x + alpha * self.ffn(x, f"{path}.ffn", activation), f"{path}.ln2", epsilon)

    def attention(self, x: Array, path: str, heads: int) -> Array:
        q, k, v = (self.fc(x, f"{path}.{name}") for name in "qkv")
        depth = q.shape[1] // heads
        extra = self.smolgen(x, f"{path}.smolgen", heads) if f"{path}.smolgen.compress" in self.t else None
        mixed = np.zeros_like(q)
        for h in range(heads):
            part = slice(h * depth, (h + 1) * depth)
            scores = q[:, part] @ k[:, part].T / np.sqrt(depth)
            if extra is not None:
                scores = scores + extra[h]
            mixed[:, part] = softmax(scores) @ v[:, part]
        return self.fc(mixed, f"{path}.dense")

    def smolgen(self, x: Array, path: str, heads: int) -> Array:
        activation = ACTIVATIONS[self.a.smolgen_activation]
        compressed = (x @ self.t[f"{path}.compress"].T).reshape(-1)
        hidden = self.norm(activation(self.fc(compressed, f"{path}.dense1")), f"{path}.ln1", 1e-3)
        generated = self.norm(activation(self.fc(hidden, f"{path}.dense2")), f"{path}.ln2", 1e-3)
        return np.asarray((generated.reshape(heads, -1) @ self.t["smolgen_w"].T).reshape(heads, 64, 64))

    def head(self, x: Array, tokens: Array, convolution: str, layers: str) -> Array:
        if self.a.encoders:
            flat = self.act(self.fc(tokens, layers.format(""))).reshape(-1)
        else:
            flat = self.act(self.conv(x, convolution)).reshape(-1)
        return self.fc(self.act(self.fc(flat, layers.format(1))), layers.format(2))

    def policy(self, x: Array, tokens: Array) -> Array:
        moves = all_moves()
        prefix = self.a.policy_prefix
        if self.a.policy == "classical":
            return self.fc(self.act(self.conv(x, f"{prefix}policy")).reshape(-1), f"{prefix}ip_pol")
        if self.a.policy == "convolution":
            planes = self.conv(self.act(self.conv(x, f"{prefix}policy1")), f"{prefix}policy")
            return np.array([planes[plane_of(move)][move[0] // 8, move[0] % 8] for move in moves])
        return self.attention_policy(tokens, moves)

    def attention_policy(self, tokens: Array, moves: list[tuple[int, int, str]]) -> Array:
        prefix = self.a.policy_prefix
        embed = f"{prefix}ip_pol" if f"{prefix}ip_pol_w" in self.t else "policy_heads.ip_pol"
        activation = self.act if self.a.structure >= 6 else ACTIVATIONS["selu"]
        x = activation(self.fc(tokens, embed))
        i = 0
        while f"{prefix}pol_encoder.{i}.mha.q_w" in self.t:
            x = self.encoder(x, f"{prefix}pol_encoder.{i}", int(self.a.scalars[f"{prefix}pol_headcount"]), 1.0)
            i += 1
        q = self.fc(x, f"{prefix}ip2_pol")
        k = self.fc(x, f"{prefix}ip3_pol")
        scores = q @ k.T / np.sqrt(q.shape[1])
        promotions = k[56:] @ self.t[f"{prefix}ip4_pol_w"].T
        result = []
        for origin, target, piece in moves:
            bonus = promotions[target - 56, "qrb".index(piece)] + promotions[target - 56, 3] if piece else 0.0
            result.append(scores[origin, target] + bonus)
        return np.array(result)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def all_moves() -> list[tuple[int, int, str]]:
    """lc0's 1858 moves as (from, to, promotion)."""
    moves = []
    for a in range(64):
        for b in range(64):
            dx = abs(a % 8 - b % 8)
            dy = abs(a // 8 - b // 8)
            if a != b and (dx == 0 or dy == 0 or dx == dy or {dx, dy} == {1, 2}):
                moves.append((a, b, ""))
    for file in range(8):
        for target in (file - 1, file, file + 1):
            if 0 <= target < 8:
                moves += [(48 + file, 56 + target, piece) for piece in "qrb"]
    return moves


def plane_of(move: tuple[int, int, str]) -> int:
    """Plane of the convolution policy head."""
    origin, target, piece = move
    dx = target % 8 - origin % 8
    dy = target // 8 - origin // 8
    if piece:
        return 64 + 3 * (dx + 1) + "rbq".index(piece)
    knight = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
    if (dx, dy) in knight:
        return 56 + knight.index((dx, dy))
    distance = max(abs(dx), abs(dy))
    step = (np.sign(dx), np.sign(dy))
    directions = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    return 7 * directions.index(step) + distance - 1
