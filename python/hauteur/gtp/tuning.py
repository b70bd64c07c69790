"""Commands that show and change the player's settings, by their names in `--player`."""

from __future__ import annotations

import shlex

from hauteur.gtp.command import Command, Commands
from hauteur.gtp.desk import Desk
from hauteur.gtp.protocol import text_lines
from hauteur.player_spec import changed_player, player_text, setting_text

Arguments = tuple[str, ...]


class TuningCommands:
    """The commands, for one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def table(self) -> Commands:
        """The commands by their names."""
        return {
            "hauteur-set": Command("NAME VALUE", "Changes a setting of the player, such as `visits 800`.", self._set),
            "hauteur-get": Command("[NAME]", "A setting of the player; all that differ from the defaults.", self._get),
        }

    def _set(self, arguments: Arguments) -> str:
        self._desk.change_player(changed_player(self._desk.player, f"{arguments[0]}={arguments[1]}"))
        return ""

    def _get(self, arguments: Arguments) -> str:
        if arguments:
            return setting_text(self._desk.player, arguments[0])
        return text_lines(map(shlex.quote, shlex.split(player_text(self._desk.player))))
