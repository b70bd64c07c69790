"""Networks: architectures, files, and the torch modules that compute them. Importing it does not import torch.

net = networks.load(path)      # .safetensors (trained here) or .pb.gz (lc0)
net.description                # architecture, game, shapes, training facts, content hash
net.module()                   # torch module for inference and training
"""

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
