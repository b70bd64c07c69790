"""The reference page of the GTP engine lists the commands that there are, and what they take."""

from pathlib import Path

from hauteur.engine.gtp.engine import GtpEngine
from hauteur.engine.gtp.protocol import Commands, GtpCommand
from hauteur.engine.gtp.session import GtpSession, GtpSettings
from hauteur.engine.streams import Output
from hauteur.games.registry import load_game
from hauteur.players.settings import parse_player


def commands_of(player: str) -> Commands:
    """The commands of an engine with this player."""
    session = GtpSession(load_game("nogo(size=5)"), parse_player(player), GtpSettings())
    commands = GtpEngine(session, Output(None)).commands()  # type: ignore[arg-type]
    session.close()
    return commands


def row(name: str, command: GtpCommand, *, of_nets: bool) -> str:
    """The line of the page's table about a command."""
    usage = f"`{command.usage}`" if command.usage else ""
    return f"| `{name}`{' *' if of_nets else ''} | {usage} | {command.help} |"


def rows() -> list[str]:
    """The whole table."""
    of_all, with_net = commands_of("random"), commands_of("net=uniform")
    assert of_all.keys() < with_net.keys()
    return [row(name, command, of_nets=name not in of_all) for name, command in with_net.items()]


def test_the_page_lists_every_command(root: Path) -> None:
    section = (root / "docs/reference/gtp.md").read_text(encoding="utf-8").partition("\n## Commands\n")[2]
    listed = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    assert listed == rows()
