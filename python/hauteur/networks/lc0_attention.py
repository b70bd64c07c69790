"""Attention in lc0's networks: the body of encoders, smolgen, and the attention policy head."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from hauteur.networks.architecture import Lc0Architecture
from hauteur.networks.chess_moves import attention_indices, reach_map
from hauteur.networks.lc0_layout import policy_embedding, policy_encoders
from hauteur.networks.lc0_parameters import ACTIVATIONS, Activation, Layers, dense_layer, layer_norm

_SMOLGEN_EPSILON = 1e-3


def square_tokens(planes: Tensor) -> Tensor:
    """[B, channels, 8, 8] to [B, 64, channels]."""
    return planes.flatten(2).transpose(1, 2)


class AttentionBody(nn.Module):
    """Embedding of the squares and a stack of encoders, [B, channels, 8, 8] -> [B, 64, embedding]."""

    def __init__(self, architecture: Lc0Architecture, layers: Layers) -> None:
        super().__init__()
        # Sublayers are scaled by alpha before the skip connection (DeepNorm); N = encoders.
        alpha = (2 * architecture.encoders) ** -0.25
        self.embedding = _Embedding(architecture, layers, alpha)
        self.encoders = nn.Sequential(
            *(
                _Encoder(architecture, layers, f"encoder.{i}", architecture.heads, alpha)
                for i in range(architecture.encoders)
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.encoders(self.embedding(square_tokens(x)))  # type: ignore[no-any-return]


class _Embedding(nn.Module):
    """Position information, dense layer, gates; with PE_DENSE also layer norms and a feed-forward layer."""

    reach: Tensor

    def __init__(self, architecture: Lc0Architecture, layers: Layers, alpha: float) -> None:
        super().__init__()
        dense = architecture.input_embedding == "dense"
        self._kind = "none" if architecture.filters else architecture.input_embedding
        self.register_buffer("reach", torch.from_numpy(reach_map()), persistent=False)
        self.preprocess = dense_layer(layers, "ip_emb_preproc_w", "ip_emb_preproc_b") if self._kind == "dense" else None
        self.dense = dense_layer(layers, "ip_emb_w", "ip_emb_b")
        self.norm = layer_norm(layers, "ip_emb_ln", 1e-3) if dense else nn.Identity()
        self.multiply, self.add = (
            layers.parameter(path) if path in layers else None for path in ("ip_mult_gate", "ip_add_gate")
        )
        self._activation = ACTIVATIONS[architecture.activation]
        self.ffn = nn.Sequential()
        if dense:
            self.ffn.append(_FeedForward(layers, "ip_emb_ffn", self._activation, alpha))
            self.ffn.append(layer_norm(layers, "ip_emb_ffn_ln", 1e-3))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.norm(self._activation(self.dense(self._with_positions(tokens))))
        if self.multiply is not None:
            x = x * self.multiply.T
        if self.add is not None:
            x = x + self.add.T
        return self.ffn(x)  # type: ignore[no-any-return]

    def _with_positions(self, tokens: Tensor) -> Tensor:
        if self._kind == "map":
            return torch.cat([tokens, self.reach.expand(tokens.shape[0], 64, 64)], dim=2)
        if self.preprocess is not None:
            squares = self.preprocess(tokens[:, :, :12].flatten(1))
            squares = squares.reshape(-1, 64, self.preprocess.out_features // 64)
            return torch.cat([tokens, squares], dim=2)
        return tokens


class _FeedForward(nn.Module):
    """x + alpha dense(activation(dense_layer(x)))."""

    def __init__(self, layers: Layers, path: str, activation: Activation, alpha: float) -> None:
        super().__init__()
        self.dense1 = dense_layer(layers, f"{path}.dense1_w", f"{path}.dense1_b")
        self.dense2 = dense_layer(layers, f"{path}.dense2_w", f"{path}.dense2_b")
        self._activation, self._alpha = activation, alpha

    def forward(self, x: Tensor) -> Tensor:
        return x + self._alpha * self.dense2(self._activation(self.dense1(x)))  # type: ignore[no-any-return]


class _Encoder(nn.Module):
    """Post-norm encoder: norm(x + alpha attention(x)), then norm(x + alpha feed-forward(x))."""

    def __init__(self, architecture: Lc0Architecture, layers: Layers, path: str, heads: int, alpha: float) -> None:
        super().__init__()
        epsilon = 1e-3 if architecture.input_embedding == "dense" else 1e-6
        self.attention = _Attention(architecture, layers, f"{path}.mha", heads)
        self.norm1 = layer_norm(layers, f"{path}.ln1", epsilon)
        self.ffn = _FeedForward(layers, f"{path}.ffn", ACTIVATIONS[architecture.ffn_activation], alpha)
        self.norm2 = layer_norm(layers, f"{path}.ln2", epsilon)
        self._alpha = alpha

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self._alpha * self.attention(x))
        return self.norm2(self.ffn(x))  # type: ignore[no-any-return]


class _Attention(nn.Module):
    """Multi-head attention; smolgen adds weights computed from the whole position before the softmax."""

    def __init__(self, architecture: Lc0Architecture, layers: Layers, path: str, heads: int) -> None:
        super().__init__()
        self.query = dense_layer(layers, f"{path}.q_w", f"{path}.q_b")
        self.key = dense_layer(layers, f"{path}.k_w", f"{path}.k_b")
        self.value = dense_layer(layers, f"{path}.v_w", f"{path}.v_b")
        self.output = dense_layer(layers, f"{path}.dense_w", f"{path}.dense_b")
        has_smolgen = f"{path}.smolgen.compress" in layers
        self.smolgen = _Smolgen(architecture, layers, f"{path}.smolgen", heads) if has_smolgen else None
        self._heads = heads
        self._depth = self.query.out_features // heads
        self._scale = 1 / math.sqrt(self._depth)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = (self._split(dense(x)) for dense in (self.query, self.key, self.value))
        scores = query @ key.transpose(2, 3) * self._scale
        if self.smolgen is not None:
            scores = scores + self.smolgen(x)
        mixed = torch.softmax(scores, dim=3) @ value
        return self.output(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def _split(self, x: Tensor) -> Tensor:
        """[B, 64, heads x depth] to [B, heads, 64, depth]."""
        return x.reshape(-1, 64, self._heads, self._depth).transpose(1, 2)


class _Smolgen(nn.Module):
    """Attention weights [B, heads, 64, 64] generated from all squares; the last layer is shared by all encoders."""

    def __init__(self, architecture: Lc0Architecture, layers: Layers, path: str, heads: int) -> None:
        super().__init__()
        self.compress = dense_layer(layers, f"{path}.compress")
        self.dense1 = dense_layer(layers, f"{path}.dense1_w", f"{path}.dense1_b")
        self.norm1 = layer_norm(layers, f"{path}.ln1", _SMOLGEN_EPSILON)
        self.dense2 = dense_layer(layers, f"{path}.dense2_w", f"{path}.dense2_b")
        self.norm2 = layer_norm(layers, f"{path}.ln2", _SMOLGEN_EPSILON)
        self.generate = dense_layer(layers, "smolgen_w")
        self._activation = ACTIVATIONS[architecture.smolgen_activation]
        self._heads = heads

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.norm1(self._activation(self.dense1(self.compress(x).flatten(1))))
        generated: Tensor = self.norm2(self._activation(self.dense2(hidden)))
        weights: Tensor = self.generate(generated.reshape(-1, self._heads, self.generate.in_features))
        return weights.reshape(-1, self._heads, 64, 64)


class AttentionPolicy(nn.Module):
    """Every pair of squares by scaled dot product, promotions from the squares of the last rank."""

    indices: Tensor

    def __init__(self, architecture: Lc0Architecture, layers: Layers) -> None:
        super().__init__()
        prefix = architecture.policy_prefix
        shared = policy_embedding(prefix, layers.__contains__)
        self.embed = dense_layer(layers, f"{shared}_w", f"{shared}_b")
        heads = int(architecture.scalars.get(f"{prefix}pol_headcount", 0))
        paths = policy_encoders(prefix, layers.__contains__)
        self.encoders = nn.Sequential(*(_Encoder(architecture, layers, path, heads, 1.0) for path in paths))
        self.query = dense_layer(layers, f"{prefix}ip2_pol_w", f"{prefix}ip2_pol_b")
        self.key = dense_layer(layers, f"{prefix}ip3_pol_w", f"{prefix}ip3_pol_b")
        self.promotion = dense_layer(layers, f"{prefix}ip4_pol_w")
        self.register_buffer("indices", torch.from_numpy(attention_indices()), persistent=False)
        # Towers with an attention head come from a time when SELU was fixed.
        self._activation = ACTIVATIONS[architecture.activation if architecture.structure >= 6 else "selu"]
        self._scale = 1 / math.sqrt(self.query.out_features)
        self._tower = not architecture.encoders

    def forward(self, x: Tensor) -> Tensor:
        tokens = square_tokens(x) if self._tower else x
        embedded = self.encoders(self._activation(self.embed(tokens)))
        query, key = self.query(embedded), self.key(embedded)
        pairs = query @ key.transpose(1, 2) * self._scale
        logits = torch.cat([pairs.flatten(1), self._promotions(key, pairs).flatten(1)], dim=1)
        return logits.index_select(1, self.indices)

    def _promotions(self, key: Tensor, pairs: Tensor) -> Tensor:
        """[B, 8 from, 8 to, 3 pieces]: the pair's logit, the piece's offset at the target, one for all pieces."""
        offsets = self.promotion(key[:, 56:])
        offsets = offsets[:, :, :3] + offsets[:, :, 3:]
        promotions: Tensor = pairs[:, 48:56, 56:, None] + offsets[:, None]
        return promotions
