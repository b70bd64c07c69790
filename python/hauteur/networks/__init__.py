"""Networks: architectures, files, and the torch modules that compute them. Importing it does not import torch.

net = networks.load(path)      # .safetensors (trained here) or .pb.gz (lc0)
net.description                # architecture, game, shapes, training facts, content hash
net.module                   # torch module for inference and training
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hauteur.networks.architecture import Architecture, Lc0Architecture, NetDescription, ResNetArchitecture
    from hauteur.networks.registry import Net, convert, describe, load, save

__all__ = [
    "Architecture",
    "Lc0Architecture",
    "Net",
    "NetDescription",
    "ResNetArchitecture",
    "convert",
    "describe",
    "load",
    "save",
]
REGISTRY = ("Net", "convert", "describe", "load", "save")


def __getattr__(name: str) -> Any:
    """Return a public name; what reads files is imported with the first use, since engines start without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'registry' if name in REGISTRY else 'architecture'}"), name)
