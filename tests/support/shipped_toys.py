"""A data folder of our own with tiny nets that ship for games."""

from pathlib import Path

import pytest
from lc0_toys import random_tensors

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.networks import names
from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.shapes import resnet_shapes

NETS = (("nogo", "nogo9"), ("nogo(size=7)", "nogo7"), ("chess", "chess"))
"""Specs of games and names of their nets."""


def ship_nets(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Let these nets be the ones that ship, in a new folder, and no variable name another; return the folder."""
    folder.mkdir()
    patch.setattr(names, "data_path", lambda name: folder / name)
    patch.delenv("HAUTEUR_NET", raising=False)
    for spec, name in NETS:
        write_net(folder / f"{name}.safetensors", spec)
    return folder


def write_net(path: Path, spec: str) -> None:
    """Write a tiny random net for a game."""
    game = load_game(spec)
    tower = ResNetArchitecture(feature_shape=game.feature_shape, num_actions=game.num_actions, filters=2, blocks=1)
    networks.save(path, tower, random_tensors(resnet_shapes(tower), 1), game=spec)
