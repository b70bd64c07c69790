"""`hauteur` alone in a terminal."""

import os

from hauteur.networks.names import downloaded_nets, shipped_names


def greeting() -> None:
    """Print what can be done now, and with which nets, in ten lines."""
    from hauteur.cli.main import version

    shipped, downloaded = shipped_names(), list(downloaded_nets())
    for line in greeting_lines(version(), shipped, downloaded, os.environ.get("HAUTEUR_NET", "")):
        print(line)


def greeting_lines(version: str, shipped: list[str], downloaded: list[str], named: str) -> list[str]:
    """Return the greeting. shipped, downloaded: nets by name; named: the chess net of HAUTEUR_NET, or empty."""
    here = ", ".join(shipped) + " (shipped)" + f"; {', '.join(downloaded)} (downloaded)" * bool(downloaded)
    maia = next((name for name in downloaded if name.startswith("maia-")), None)
    chess = "" if "chess" in shipped or named else f" --net {maia}" if maia else " --net uniform"
    rows = (
        ("play", "hauteur play connect4", "in the terminal; or chess, nogo, ..."),
        ("analyse", f"hauteur analyse chess{chess}", "a position: moves, values, lines"),
        ("engine", "hauteur-uci", "for chess programs; others: hauteur gtp"),
        ("compare", "hauteur match mcts:500 random --game nogo", "two players, with error bars"),
        ("learn", "hauteur train RECIPE.toml", "a game from zero, as a recipe says"),
        ("nets", "hauteur net get", "public chess nets: Maia, lc0"),
        ("more", "hauteur --help", "all commands; what is missing: hauteur doctor"),
    )
    width = max(len(row[1]) for row in rows)
    return [
        f"hauteur {version}: learns two-player games from zero, plays, analyses and measures them.",
        f"Nets here: {here}",
        "",
        *(f"  {word:8} {command:{width}}  {text}" for word, command, text in rows),
    ]
