"""The reference of the public API: every name of `hauteur`, by autodoc."""

import inspect
from pathlib import Path

import staging

import hauteur


def write(target: Path) -> None:
    """Write the page below `target`, the staged checkout."""
    staging.write(target / "docs/reference/api.md", page())


def page() -> str:
    """Return the page: classes with their public members, then functions, in alphabetical order."""
    entries = "\n".join(entry(name) for name in sorted(hauteur.__all__) if not name.startswith("_"))
    head = "# Python API\n\n`import hauteur as ht` gives these names; each is imported with its first use.\n"
    return f"{head}\n```{{eval-rst}}\n.. currentmodule:: hauteur\n\n{entries}\n```\n"


def entry(name: str) -> str:
    """Return autodoc's directive for a public name."""
    if inspect.isclass(getattr(hauteur, name)):
        return f".. autoclass:: {name}\n   :members:\n"
    return f".. autofunction:: {name}\n"
