"""`hauteur play`: a game against a net in the terminal."""

from pathlib import Path
from typing import Literal

from hauteur import _core
from hauteur.cli.commands.options import GameArgument, NetName, Seed
from hauteur.engine.odds_mode import odds_player
from hauteur.engine.sides import SettingsAt, with_usual_visits
from hauteur.games.odds import NORMAL_START, odds_of, parse_odds
from hauteur.games.registry import load_game, with_fen
from hauteur.networks.names import resolve_net
from hauteur.players.settings import PlayerSettings

VISITS = 400
"""Visits of an engine that has been given none."""
Human = Literal["first", "second", "both", "none"]
SIDES: dict[Human, tuple[int, ...]] = {"first": (0,), "second": (1,), "both": (0, 1), "none": ()}


def play(
    spec: GameArgument = "connect4",
    *,
    net: NetName | None = None,
    visits: int | None = None,
    human: Human | None = None,
    temperature: float | None = None,
    odds: str | None = None,
    odds_mode: bool = True,
    save: Path | None = None,
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
        its rating (more make it stronger than they are), but 400 where it gives odds.
    human
        Which player you are; `none` lets the engine play both. Default: first; at odds the odds taker.
    temperature
        Randomness of the engine's moves; 0 plays the best. Default: 0; where it gives odds as published.
    odds
        Chess: begin at these odds, such as "queen d1", "rook a8 + knight b8", "queen for knight".
    odds_mode
        The engine plays with the settings published for who gives odds, where it does; they are shown.
    save
        File that gets the game when it ends or you leave: .pgn for chess, .sgf for Go, Gomoku and NoGo, .txt (its
        moves) for others.
    seed
        Seed of the engine.
    """
    from hauteur.engine.terminal import TerminalGame

    if visits is not None and visits < 1:
        raise ValueError(f"visits must be >= 1, got {visits}")
    game = load_game(spec) if odds is None else odds_start_of(spec, odds)
    found_net = resolve_net(net, game)
    given = {
        "name": found_net.short_name,
        "net": found_net.path,
        "visits": visits,
        "temperature": None if temperature is None else {"initial": temperature},
    }
    values = {key: value for key, value in given.items() if value is not None}
    settings = PlayerSettings.model_validate(values)
    found = odds_of(game.new_initial_state().notation()) if game.name == "chess" else None
    giver = None if found is None else found.giver
    sides = SIDES[human or ("second" if giver == 0 else "first")]
    plain = with_usual_visits(settings, VISITS)
    note = ""
    engines = [plain, plain]
    at: dict[int, SettingsAt] = {}
    if giver is not None and odds_mode:
        engines[giver], by_odds = odds_player(settings, game, giver)
        at[giver] = lambda q: odds_player(settings, game, giver, q)[0]
        if by_odds is not None and giver not in sides:
            note = f"it gives you odds, {by_odds.name}, and plays with the settings published for that"
    first, second = engines
    TerminalGame(game, (first, second), sides, seed=seed, save=save, note=note, at=at).run()
    return 0


def odds_start_of(spec: str, odds: str) -> _core.Game:
    """Return the game of chess that begins at these odds; ValueError for another game or an unknown handicap."""
    if load_game(spec).name != "chess":
        raise ValueError(f"--odds is for chess, got {spec}")
    found = parse_odds(odds)
    plain = found.start == NORMAL_START
    return load_game(with_fen(spec, found.fen) if plain else found.game)
