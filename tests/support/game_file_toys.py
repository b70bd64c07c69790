"""Games of which many tests of files are made."""

from hauteur import _core

CHESS = _core.Game("chess")


NOGO = _core.Game("nogo(size=5)")


SCHOLAR = """[Event "a {curious} event"]
[Result "1-0"]

1. e4 {the best (by test)} e5 (1... c5 2. Nf3 (2. c3 d5) d6) 2. Bc4 $1 Nc6 3. Qh5?! Nf6?? ; a blunder
4. Qxf7# 1-0
"""
