"""Links of `hauteur analyse`: made after a search, and repeated."""

from __future__ import annotations

import json
from pathlib import Path

from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.playing import PlayingSession
from hauteur.mcts.report import RootReport

DIFFERENT = 1
"""Exit status where the tree is another one than that of the link."""


def link_address(
    session: PlayingSession,
    choice: NetChoice,
    place: tuple[str, str | None, tuple[str, ...], tuple[str, ...]],
    visits: int,
    report: RootReport,
) -> str:
    """Return the link of a search that has ended. place: game, FEN, moves, the only moves searched; visits: its limit.

    The link of one that was stopped says no digest: no other ends where it did.
    """
    from hauteur.studies.links.facts import linked, repeatable_digest
    from hauteur.studies.links.link import SearchLink

    game, fen, moves, only = place
    words = tuple(" ".join(moves).split())
    player = session.wait()
    assert isinstance(player, OpenNets)
    position = SearchLink(game=game, fen=fen or "", moves=words, only=only, seed=session.seed, visits=visits)
    return linked(position, choice, player, session.settings, digest=repeatable_digest(session, report)).address


def repeat_link(text: str, net: str | None, large_net: str | None, *, rows: int, as_json: bool) -> int:
    """Repeat the search of a link, show it and whether the tree is the same; return the exit status."""
    from hauteur.mcts.report_text import report_json
    from hauteur.networks.names import resolve_net
    from hauteur.studies.links.facts import nets_by_name
    from hauteur.studies.links.link import read_link
    from hauteur.studies.links.repeat import repeat

    link = read_link(text)
    files = [path for path in Path().iterdir() if path.is_file()]
    small, large = (resolve_net(name) if name else "" for name in (net, large_net))
    found = repeat(link, nets_by_name(files), net=small, large_net=large, lines=rows)
    if as_json:
        facts = {
            "equal": found.equal,
            "verdict": found.verdict,
            "differences": found.differences,
            "link": found.own.address,
        }
        print(json.dumps(report_json(found.report, game=found.report.state.game.spec, net=found.own.net, **facts)))
    else:
        _show(found.report, rows)
        print(found.verdict)
    return DIFFERENT if found.equal is False else 0


def _show(report: RootReport, rows: int) -> None:
    from rich.console import Console

    from hauteur.engine.terminal_board import position_text
    from hauteur.mcts.report_text import report_view

    console = Console(highlight=False)
    console.width = console.width if console.is_terminal else max(console.width, 160)
    console.print(position_text(report.state, console))
    console.print(report_view(report, rows=rows))
