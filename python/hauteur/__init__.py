"""hauteur: an AlphaZero laboratory and engine.

Names are imported with their first use, so that every command starts with what it needs alone.
"""

TYPE_CHECKING = False  # as typing's, whose import would cost every start
if TYPE_CHECKING:
    from hauteur._core import __version__

__all__ = ["__version__"]


def __getattr__(name: str) -> object:
    """Return a public name, imported from where it is defined."""
    if name == "__version__":
        from hauteur import _core

        return _core.__version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
