"""What is known of the strength of a net, in words for players: how far an opinion of it can be trusted."""

from pathlib import PurePath

from hauteur.networks.names import WITHOUT_FILE, data_path, known_net

SHIPPED = {
    "chess": "at 100 visits 96 Elo below maia-1100, 350 above Stockfish 15.1 with UCI_Elo 1500 and 2,000 nodes a move",
}
"""Nets that ship, where their strength was measured against others (docs/experiments/bundled-nets.md)."""


def strength_of(net: str) -> str:
    """Return what is known of the strength of a net, given by name or file, in half a sentence.

    >>> strength_of("chess").partition(" Elo")[0]
    'at 100 visits 96'
    >>> strength_of("mine.safetensors")
    'a net of unknown strength'
    """
    if net in WITHOUT_FILE:
        return "no net: it knows the rules alone"
    name = PurePath(net).name.removesuffix(".safetensors").removesuffix(".pb.gz")
    if name in SHIPPED and net in (name, str(data_path(f"{name}.safetensors"))):
        return SHIPPED[name]
    known = known_net(name)
    return "a net of unknown strength" if known is None else known.about
