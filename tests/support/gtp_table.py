"""The GTP engine in the process of the test, asked line by line."""

import io
import re
from typing import Any

from hauteur.engine.gtp.engine import GtpEngine
from hauteur.engine.gtp.session import GtpSession, GtpSettings
from hauteur.engine.streams import Output
from hauteur.games.registry import load_game
from hauteur.players.settings import parse_player


class Table:
    """An engine in this process, asked command by command; `now` is its clock."""

    def __init__(self, game: str = "nogo(size=5)", player: str = "rave:20", **settings: Any) -> None:
        self.now = 0.0
        self.session = GtpSession(
            load_game(game), parse_player(player), GtpSettings(seed=1, **settings), now=lambda: self.now
        )
        self.stream = io.StringIO()
        self.engine = GtpEngine(self.session, Output(self.stream))

    def say(self, line: str | bytes) -> str:
        """Everything that is answered to a line."""
        self.stream.seek(0)
        self.stream.truncate()
        self.engine.hear(line if isinstance(line, bytes) else line.encode())
        return self.stream.getvalue()

    def ask(self, line: str) -> str:
        """The result of a command that succeeds."""
        text = self.say(line)
        assert re.fullmatch(r"=(?: .*|)\n(?:.+\n)*\n", text), f"{line!r} was answered by {text!r}"
        return text.removeprefix("=").strip()

    def refused(self, line: str) -> str:
        """The message of a command that fails."""
        text = self.say(line)
        assert re.fullmatch(r"\? .+\n\n", text), f"{line!r} was answered by {text!r}"
        return text.removeprefix("? ").strip()

    def run(self, text: str) -> str:
        """All answers to a whole input."""
        self.engine.run(text.encode().splitlines())
        return self.stream.getvalue()
