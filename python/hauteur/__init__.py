"""hauteur: an AlphaZero laboratory and engine."""

from hauteur._core import __version__

__all__ = ["__version__"]
