"""Named random numbers, not stored: a stream for every (seed, purpose, index), the same on every machine.

Nothing here has state that a checkpoint would have to keep: a resumed run names the same streams again.
"""

import hashlib

import numpy as np

from hauteur.system.hints import whole_number


def stream(seed: int, purpose: str, index: int = 0) -> np.random.Generator:
    """The random stream of this name; different names give independent streams.

    >>> import hauteur as ht
    >>> bool(ht.stream(1, "openings").random() == ht.stream(1, "openings").random())
    True
    """
    for name, number in (("seed", seed), ("index", index)):
        whole_number(name, number, 0, 2**64 - 1)
    digest = hashlib.blake2b(purpose.encode(), digest_size=8).digest()
    purpose_key = int.from_bytes(digest, "little")
    bits = np.random.Philox(key=[seed, purpose_key], counter=[0, 0, 0, index])
    return np.random.Generator(bits)


def derived_seed(seed: int, purpose: str, index: int = 0) -> int:
    """First number of the stream, 0 to 2**63 - 1: the seed of something that has its own generator."""
    return int(stream(seed, purpose, index).integers(2**63))
