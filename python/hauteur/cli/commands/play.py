"""`hauteur play`: a game against a net in the terminal."""

import re
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from hauteur.cli.commands.options import GameSpec, NetName, Seed
from hauteur.games.registry import make
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.networks.bundled import net_or_shipped
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.players.search_player import SearchPlayer

VISITS = 400
MAIA = re.compile(r"maia-?[0-9]+")
"""Nets of the Maia project, by the name of their files: they predict moves of people, at 1 visit."""


def play(
    spec: GameSpec = "connect4",
    *,
    net: NetName | None = None,
    visits: int | None = None,
    human: Literal["first", "second", "both", "none"] = "first",
    temperature: float = 0.0,
    save: Path | None = None,
    letters: Annotated[bool, Parameter(negative=())] = False,
    seed: Seed = 0,
) -> int:
    """Play a game against a net in the terminal.

    Parameters
    ----------
    spec
        The game, e.g. `tictactoe`, `connect4`, `nogo(size=7)`, `minichess`, `chess`.
    net
        Net file, name of a net (`hauteur net get` lists them), `uniform` or `rollout`; default: the net that ships for
        the game.
    visits
        Visits of the engine a move. Default: 400; for a net of the Maia project 1, with which it plays like people of
        its rating (more make it stronger than they are).
    human
        Which player you are; `none` lets the engine play both.
    temperature
        Randomness of the engine's moves; 0 plays the best.
    save
        File that gets the game when it ends or you leave: .pgn for chess, .sgf for NoGo, .txt (its moves) for others.
    letters
        Show the pieces of chess as letters. Without it they are figures where the terminal has 256 colours and NO_COLOR
        is not set.
    seed
        Seed of the engine.
    """
    from hauteur.engine.terminal import TerminalGame

    if visits is not None and visits < 1:
        raise ValueError(f"visits must be >= 1, got {visits}")
    game = make(spec)
    file = net_or_shipped(net, game)
    name = Path(file).name.split(".")[0]
    visits, note = visits_of(name, visits)
    seats = {"first": (0,), "second": (1,), "both": (0, 1), "none": ()}[human]
    with closing(make_evaluator(game, file)) as evaluator:
        player = SearchPlayer(name, evaluator, SearchParams(), visits, Temperature(initial=temperature))
        TerminalGame(player, game, seats, seed=seed, save=save, note=note, letters=letters).run()
    return 0


def visits_of(name: str, wanted: int | None) -> tuple[int, str]:
    """Return the visits a move, and what a human should know of them, by the name of the net."""
    if MAIA.fullmatch(name) is None:
        return wanted or VISITS, ""
    if wanted is None:
        return 1, f"{name} predicts moves of people, so it plays without a search (--visits 400 makes it stronger)"
    return wanted, "" if wanted == 1 else f"{name} plays like people of its rating at --visits 1, stronger with more"
