"""A net made worse by a known amount: Gaussian noise on its weights, as a dial of strength.

Each tensor of weights (convolutions and dense layers; not biases and normalisation) gets noise of sigma times its own
standard deviation. The direction of the noise follows from the seed and the tensor's name alone, so that strength
changes steadily with sigma, and the same sigma and seed give the same file.
"""

from __future__ import annotations

import math
from pathlib import Path

import hauteur as ht

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
    import torch  # here: the list of experiments needs none

    net = ht.load_network(source)
    with torch.no_grad():
        for name, weights in net.module.named_parameters():
            if weights.ndim >= 2:
                noise = ht.stream(seed, f"noise of {name}").standard_normal(tuple(weights.shape))
                scale = sigma * float(weights.double().std(correction=0))
                weights.add_(torch.from_numpy(noise).float(), alpha=scale)
    folder.mkdir(parents=True, exist_ok=True)
    facts = {"noise_sigma": sigma, "noise_seed": seed, "noise_on_sha256": net.description.sha256}
    ht.save_network(path, net.module, net.game, training=facts)
    return path


def noise_name(sigma: float) -> str:
    """Return the name of a sigma in folders and tables."""
    return f"noise-{sigma:g}"
