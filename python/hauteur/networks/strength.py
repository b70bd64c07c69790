"""What is known of nets: how those that ship were made and how strong they are, and an opinion in words for players."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath

from hauteur.networks.names import WITHOUT_FILE, data_path, known_net

LICENCE = "GPL-3.0-or-later, as hauteur"
"""Licence of the nets that ship, where nothing else is said."""


@dataclass(frozen=True)
class Measurement:
    """The strength of a net against one judge."""

    judge: str
    """The opponent, or the table of exact values."""
    terms: str
    """Visits, games and openings."""
    result: str
    """Score or difference in Elo, with the 95 % interval."""


@dataclass(frozen=True)
class ShippedNet:
    """A net that ships, as data/shipped_nets.toml describes it."""

    made: str
    """How it learned."""
    data: str
    """What it learned from."""
    minutes: str
    """Processor time of that, minutes."""
    measured: str
    """Machine and date."""
    use: str
    """What it is good for."""
    not_for: str
    """What it is not good for."""
    more: str
    """The page about it, from the top of the repository, with a heading."""
    strength: tuple[Measurement, ...]
    """What was measured, at least one."""
    licence: str = LICENCE
    """Licence of the file."""
    recipe: str = ""
    """The recipe that it was made with, from the top of the repository; empty: the one of its name."""
    play_search: str = ""
    """Settings of the search that it is played with (hauteur.mcts.net_search); empty: those of any net."""
    opinion: str = ""
    """Its strength in half a sentence for players; empty where it was measured against nothing that they know."""


@cache
def shipped_nets() -> dict[str, ShippedNet]:
    """Return the nets that ship by name, in the order of the table."""
    import tomllib

    rows = tomllib.loads(data_path("shipped_nets.toml").read_text(encoding="utf-8"))
    return {name: _shipped_net(row) for name, row in rows.items()}


def _shipped_net(row: dict[str, object]) -> ShippedNet:
    """Return the net of a table of the file; TypeError for a missing or an unknown key."""
    measured = row.pop("strength")
    assert isinstance(measured, list)
    return ShippedNet(**row, strength=tuple(Measurement(**one) for one in measured))  # type: ignore[arg-type]


def shipped_play_search(path: Path) -> str:
    """Return the settings of the search that the net of a file ships with; empty for other nets and files."""
    path = path.resolve()
    if path.parent != data_path("").resolve():
        return ""
    shipped = shipped_nets().get(path.name.removesuffix(".safetensors"))
    return "" if shipped is None else shipped.play_search


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
    shipped = shipped_nets().get(name)
    if shipped is not None and shipped.opinion:
        path = str(data_path(f"{name}.safetensors"))
        # A file of the same name elsewhere is another net, of which nothing is known.
        if net in (name, path):
            return shipped.opinion
    known = known_net(name)
    return "a net of unknown strength" if known is None else known.about
