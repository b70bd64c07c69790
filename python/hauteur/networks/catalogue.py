"""Public chess nets that `hauteur net get` knows: where their publishers keep them, under which licence, how large.

Nothing is looked up: an address that its publisher changes needs `--from` or a new entry here. A hash is recorded only
for a file that was examined; of the others the address alone vouches.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

MEGABYTE = 1_000_000
_MAIA = "https://github.com/CSSLab/maia-chess/raw/master/maia_weights"
_LCZERO = "https://storage.lczero.org/files"

AGPL3 = "AGPL-3.0 (https://github.com/notune/LeelaQueenOdds)"
GPL3 = "GPL-3.0 (https://github.com/CSSLab/maia-chess)"
NOT_STATED = "not stated by the publisher"
LC0_LICENCE = "not stated beside the file; see https://lczero.org"


@dataclass(frozen=True)
class KnownNet:
    """A public net. address: of its publisher; megabytes: about; sha256: of the file, None where it is not known.

    trained_for: the only colour that it was trained to play, in games at odds; None: both.
    """

    name: str
    address: str
    megabytes: float
    licence: str
    about: str
    sha256: str | None = None
    trained_for: Literal["white", "black"] | None = None

    @property
    def file_name(self) -> str:
        """Name of the file that it is kept in; the same on a mirror."""
        return f"{self.name}.pb.gz"


_MAIAS = {
    1100: "e1cf1cd0c96b8a4fa6a275f4b9fd54ed1ffebf9fe44641b9fceded310e9619c4",
    1200: "ead4ba953f233ae732999ebc1e2b675378148527ebcfad2f0acbc5e4c224d98e",
    1300: "36195f87bf4761834baa0bf87472b18509a7261a9d7d6f1a8443261369a733f2",
    1400: "d5353ea6766356dad2d28920c6692f37a5f30963767f1a3105d33b4d0af011e8",
    1500: "35ab6f20421d59e1df3b17c5a5016947af4c6761368ef84044a9a9c7619a9a00",
    1600: "d2c9e5948581acf4b9fc0b1e720c5dc0fe64ce80cfc4a239d3f8a42e1176c876",
    1700: "d277eacd792d340a30abb464dc65127254e65cac57abca17facc469889b96478",
    1800: "0031ad7c4256b1fd09fbebd28418d644d68b26cd2a45df4967ccf5c7ec9c4965",
    1900: "e2f565f42d7cd9f122557e6dc4eb84e5bbaedceda1d404dc485d3611c7c97a12",
}
"""Nets of the Maia project, moves of people with a rating: the hashes of their files."""


_BEST = "networks-contrib"
_LC0 = (
    ("t1-256x10", f"{_BEST}/t1-256x10-distilled-swa-2432500", 37, "small: 256 wide, 10 layers; for CPUs"),
    ("t1-512x15", f"{_BEST}/t1-512x15x8h-distilled-swa-3395000", 145, "medium: 512 wide, 15 layers"),
    ("t3-512x15", f"{_BEST}/t3-512x15x16h-distill-swa-2767500", 155, "medium, newer: 512 wide, 15 layers"),
    ("t82-768x15", "768x15x24h-t82-swa-7464000", 165, "large: 768 wide; for GPUs"),
    ("bt3-768x15", f"{_BEST}/BT3-768x15x24h-swa-2790000", 190, "large, newer: 768 wide; for GPUs"),
    ("bt4-1024x15", f"{_BEST}/big-transformers/BT4-1024x15x32h-swa-6147500", 330, "very large: 1024 wide; large GPUs"),
)
"""Nets of Leela Chess Zero, from its list of best networks: name, path, megabytes, size and use."""


KNOWN_NETS = (
    *(
        KnownNet(
            f"maia-{rating}",
            f"{_MAIA}/maia-{rating}.pb.gz",
            1.3,
            GPL3,
            f"like people rated {rating}, at 1 visit",
            sha256,
        )
        for rating, sha256 in _MAIAS.items()
    ),
    KnownNet(
        name="maia-2200",
        address="https://github.com/CallOn84/LeelaNets/raw/refs/heads/main/Nets/Maia%202200/maia-2200.pb.gz",
        megabytes=1.3,
        licence=NOT_STATED,
        about="the same for 2200, by CallOn84",
        sha256="284dc0280faef11f78b9ccd62b51cc6861afc4d8de646fe3d32039cc1432ba8b",
    ),
    KnownNet(
        name="lqo_v2",
        address="https://github.com/notune/LeelaQueenOdds/releases/download/v2/lqo_v2.pb.gz",
        megabytes=165,
        licence=AGPL3,
        about="queen odds as White, 768 wide; at most 1,000 visits (its author)",
        trained_for="white",
    ),
    *(
        KnownNet(name, f"{_LCZERO}/{path}.pb.gz", megabytes, LC0_LICENCE, f"lc0, {about}")
        for name, path, megabytes, about in _LC0
    ),
)


def colour_of(net: str) -> int | None:
    """Return the only colour that a net, by its name or file, was trained to play: 0 White, 1 Black; None for both."""
    known = known_net(PurePath(net).name.removesuffix(".pb.gz"))
    return None if known is None or known.trained_for is None else ("white", "black").index(known.trained_for)


def known_net(name: str) -> KnownNet | None:
    """Return the public net of this name, None where there is none."""
    return next((net for net in KNOWN_NETS if net.name == name), None)
