"""The random draws of the rules: one counter-based generator a tree, used in the order of the visits."""

import math

from hauteur._core import random_u64

RULE_STREAM = 2**64 - 1


class Draws:
    """Draw number `counter` is a pure function of the tree's key and the counter."""

    def __init__(self, tree_key: int) -> None:
        self.key = random_u64(tree_key, RULE_STREAM)
        self.counter = 0

    def uniform(self) -> float:
        """A number in [0, 1), from one draw: its upper 53 bits."""
        word = random_u64(self.key, self.counter)
        self.counter += 1
        return (word >> 11) / 2.0**53

    def normal(self) -> float:
        """z ~ N(0, 1), from two draws (Box and Muller 1958): sqrt(-2 ln(1 - u1)) cos(2 pi u2)."""
        u1 = self.uniform()
        u2 = self.uniform()
        return math.sqrt(-2.0 * math.log(1.0 - u1)) * math.cos(2.0 * math.pi * u2)
