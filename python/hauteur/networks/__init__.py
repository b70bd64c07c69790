"""Networks: architectures, files, and the torch modules that compute them. Importing it does not import torch.

net = networks.load(path)      # .safetensors (trained here) or .pb.gz (lc0)
net.description                # architecture, game, shapes, training facts, content hash
net.module                   # torch module for inference and training
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hauteur.networks.architecture import Architecture
    from hauteur.networks.description import NetDescription
    from hauteur.networks.lc0_architecture import Lc0Architecture
    from hauteur.networks.registry import Net, convert, describe, load, save
    from hauteur.networks.resnet_architecture import ResNetArchitecture

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
_MODULES = {
    "Architecture": "architecture",
    "Lc0Architecture": "lc0_architecture",
    "NetDescription": "description",
    "ResNetArchitecture": "resnet_architecture",
    **dict.fromkeys(("Net", "convert", "describe", "load", "save"), "registry"),
}
"""Every public name with the module that defines it."""


def __getattr__(name: str) -> Any:
    """Return a public name; what reads files is imported with the first use, since engines start without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
