"""Figures of learning: plain data (Figure), drawn as SVG for pages and as PNG for papers, written as CSV.

`shares` and `lines` make figures of plain numbers. `svg` draws one for pages with `hauteur.plots.page.STYLE`, which
have its legend; `write_png` and `write_csv` write one as a standalone file.
"""

from hauteur.plots.figure import LINE_COLOURS, Figure, Series, lines, over_seeds, shares
from hauteur.plots.files import write_csv, write_png
from hauteur.plots.page import svg

__all__ = ["LINE_COLOURS", "Figure", "Series", "lines", "over_seeds", "shares", "svg", "write_csv", "write_png"]
