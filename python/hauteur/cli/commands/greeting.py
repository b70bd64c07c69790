"""`hauteur` alone in a terminal."""

import os
from textwrap import wrap

from hauteur.networks.names import downloaded_nets, shipped_names

WIDTH = 100
"""Signs of a line."""


def greeting() -> None:
    """Print what can be done now, and with which nets, in some lines."""
    from hauteur.cli.main import version

    shipped = shipped_names()
    downloaded = list(downloaded_nets())
    for line in greeting_lines(version(), shipped, downloaded, os.environ.get("HAUTEUR_NET", "")):
        print(line)


def greeting_lines(version: str, shipped: list[str], downloaded: list[str], named: str) -> list[str]:
    """Return the greeting. shipped, downloaded: nets by name; named: the chess net of HAUTEUR_NET, or empty."""
    here = f"Nets here: {', '.join(shipped)} (shipped)"
    if downloaded:
        here += f"; {', '.join(downloaded)} (downloaded)"
    maia = next((name for name in downloaded if name.startswith("maia-")), None)
    chess = ""
    if not ("chess" in shipped or named):
        chess = f" --net {maia}" if maia else " --net uniform"
    rows = (
        ("play", "hauteur play connect4", "in the terminal; or chess, nogo, ..."),
        ("browser", "hauteur web", "play, odds, analyse, review, puzzles, runs"),
        ("odds", 'hauteur play chess --odds "queen d1"', "the engine gives its queen"),
        ("analyse", f"hauteur analyse chess{chess}", "a position: moves, values, lines"),
        ("review", f"hauteur review game.pgn{chess}", "mistakes, missed mates, better lines"),
        ("puzzles", "hauteur puzzles mine games.pgn --out mined", "from games of yours"),
        ("engine", "hauteur-uci", "for chess programs; others: hauteur gtp"),
        ("compare", "hauteur match mcts:500 random --game nogo", "two players, with error bars"),
        ("learn", "hauteur train tictactoe", "a game from zero; hauteur train --list"),
        ("nets", "hauteur net get", "public chess nets: Maia, lc0"),
        ("more", "hauteur help", "all commands; what is missing: hauteur doctor"),
    )
    width = max(len(row[1]) for row in rows)
    return [
        f"hauteur {version}: learns two-player games from zero, plays, analyses and measures them.",
        *wrap(here, WIDTH, subsequent_indent="  "),
        "",
        *(f"  {word:8} {command:{width}}  {text}" for word, command, text in rows),
    ]
