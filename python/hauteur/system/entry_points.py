"""Additions of other installed distributions, by their entry points: commands and experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = "hauteur.commands"
"""Group of entry points that are commands: `name = "module:app"`."""

EXPERIMENTS = "hauteur.experiments"
"""Group of entry points that are sequences of experiments, of which the command `hauteur experiment` makes one."""


def offered(group: str) -> list[EntryPoint]:
    """Return the entry points of a group by name, without importing any."""
    from importlib.metadata import entry_points  # here: slow to import

    return sorted(entry_points(group=group), key=lambda entry: entry.name)
