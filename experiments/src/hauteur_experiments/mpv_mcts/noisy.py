"""A net made worse by a known amount: Gaussian noise on its weights, as a dial of strength.

Each tensor of weights (convolutions and dense layers; not biases and normalisation) gets noise of sigma times its own
standard deviation. The direction of the noise follows from the seed and the tensor's name alone, so that strength
changes steadily with sigma, and the same sigma and seed give the same file.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from hauteur import networks
from hauteur.system.files import sha256_of
from hauteur.system.seeds import stream

MOST_SIGMA = 10.0


def noisy_net(source: Path, folder: Path, sigma: float, seed: int) -> Path:
    """Write the net with noise into the folder, where it is not there yet; its path.

    source: a `.safetensors` or `.pb.gz` file; sigma: 0 to 10, in standard deviations of each tensor of weights.
    ValueError for other values, and for a net that no weights can be loaded of.
    """
    if not (math.isfinite(sigma) and 0 <= sigma <= MOST_SIGMA):
        raise ValueError(f"sigma must be 0 to {MOST_SIGMA:g}, got {sigma:g}")
    path = folder / f"{noise_name(sigma)}-seed-{seed}.safetensors"
    if path.exists():
        return path
    net = networks.load(source)
    noisy = {name: _with_noise(name, tensor, sigma, seed) for name, tensor in net.tensors.items()}
    facts = {"noise_sigma": sigma, "noise_seed": seed, "noise_on_sha256": sha256_of(source)}
    folder.mkdir(parents=True, exist_ok=True)
    networks.save(path, net.architecture, noisy, game=net.game, training=facts)
    return path


def noise_name(sigma: float) -> str:
    """Return the name of a sigma in folders and tables."""
    return f"noise-{sigma:g}"


def _with_noise(name: str, tensor: np.ndarray, sigma: float, seed: int) -> np.ndarray:
    if tensor.ndim < 2:
        return tensor
    noise = stream(seed, f"noise of {name}").standard_normal(tensor.shape)
    return (tensor + sigma * float(tensor.std(dtype=np.float64)) * noise).astype(np.float32)
