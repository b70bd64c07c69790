"""A game as text that somebody pastes, sends or takes away: PGN, SGF, a FEN, or a line of moves.

What a text is shows from how it begins: PGN with a tag or move number, SGF with `(;`, a FEN with its board; everything
else are moves in the game's notation.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from hauteur import _core
from hauteur.games.game_line import RECORDED, BadGame, result_text
from hauteur.games.pgn import pgn_games, position_tags, spec_of_pgn_text, written_pgn
from hauteur.games.played_game import PlayedGame
from hauteur.games.registry import load_game, with_fen
from hauteur.games.sgf import result_of, sgf_games, spec_of_sgf_text, written_sgf

Form = Literal["pgn", "sgf", "fen", "moves"]

MOST_CHARACTERS = 2**20
"""Most characters of a text that is read."""
MOST_PLIES = 5_000
"""Most moves of a game that is read."""

_FEN = re.compile(r"[^\s/]+(?:/[^\s/]+)+\s+[wb]\b")
_PGN = re.compile(r"\[\s*[A-Za-z0-9_]+\s+\"|1\s*\.")


@dataclass(frozen=True)
class ReadGame:
    """A game that was read. spec: of the game with its start; names: of the players, empty where the text has none.

    outcome, reason: how it ended, off the board too; None where it goes on or nothing says so.
    """

    spec: str
    actions: tuple[int, ...]
    names: tuple[str, str] = ("", "")
    outcome: int | None = None
    reason: str = ""


def form_of(text: str) -> Form:
    """Return what a text is, as it begins."""
    begins = text.lstrip("\ufeff \t\r\n")
    if begins.startswith("("):
        return "sgf"
    if _FEN.match(begins):
        return "fen"
    return "pgn" if _PGN.match(begins) or begins.startswith(("%", ";", "{")) else "moves"


def forms_of(game: _core.Game) -> tuple[Form, ...]:
    """Return the forms in which a game can be written, the fullest first."""
    own: tuple[Form, ...] = () if game.record_form is None else (game.record_form,)
    return (*own, *(("fen",) if game.has_fen else ()), "moves")


def read_game(text: str, spec: str) -> ReadGame:
    """Return the game of a text, of several the first. spec: of the game that moves and FENs are of.

    Raise ValueError naming what is wrong, and for more than MOST_CHARACTERS or MOST_PLIES.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"the text has {len(text):,} characters, allowed are {MOST_CHARACTERS:,}")
    if not text.strip():
        raise ValueError("the text is empty; it may be PGN, SGF, a FEN or moves")
    form = form_of(text)
    found = _recorded(text, form) if form in ("pgn", "sgf") else _line(text, form, spec)
    if len(found.actions) > MOST_PLIES:
        raise ValueError(f"the game has {len(found.actions):,} plies, allowed are {MOST_PLIES:,}")
    return found


def written_game(game: PlayedGame, form: Form, names: tuple[str, str], *, event: str = "hauteur play") -> str:
    """Return a game as text, finished or not. names: of the first and the second player.

    Raise ValueError for a form that this game has not.
    """
    if form not in forms_of(game.game):
        raise ValueError(f"{game.game.name} is written as {' or '.join(forms_of(game.game))}, not as {form}")
    if form == "pgn":
        return _pgn(game, names, event)
    if form == "sgf":
        return _sgf(game, names, event)
    return f"{game.state.notation() if form == 'fen' else ' '.join(_moves(game))}\n"


def _recorded(text: str, form: Form) -> ReadGame:
    """The first game of PGN or SGF."""
    if form == "pgn":
        base = load_game(spec_of_pgn_text(io.StringIO(text)))
        _, found = next(pgn_games(io.StringIO(text), "PGN", base), ("", BadGame("PGN", "has no game")))
        players = "White", "Black"
    else:
        base = load_game(spec_of_sgf_text(text))
        _, found = next(sgf_games(text, "SGF", base))
        players = "PB", "PW"
    if isinstance(found, BadGame):
        raise ValueError(str(found))
    start = base if found.origin is None else found.origin.game
    first, second = (found.tags.get(player, "")[:60] for player in players)
    reason = "" if found.end_reason == RECORDED else found.end_reason
    return ReadGame(start.spec, found.actions, (first, second), found.outcome, reason)


def _line(text: str, form: Form, spec: str) -> ReadGame:
    """A FEN, or moves from the start of the game; move numbers are passed over."""
    if form == "fen":
        if not load_game(spec).has_fen:
            raise ValueError(f"{spec} has no FEN; positions of it are given by moves")
        return ReadGame(load_game(with_fen(spec, " ".join(text.split()))).spec, ())
    game = load_game(spec)
    words = [word for word in text.split() if not re.fullmatch(r"\d+\.+", word)]
    if len(words) > MOST_PLIES:
        raise ValueError(f"the game has {len(words):,} plies, allowed are {MOST_PLIES:,}")
    played = PlayedGame(game)
    for ply, word in enumerate(words, 1):
        try:
            played.play(played.state.parse(word))
        except ValueError as error:
            raise ValueError(f"ply {ply}: {error}") from None
    return ReadGame(game.spec, tuple(played.actions))


def _pgn(game: PlayedGame, names: tuple[str, str], event: str) -> str:
    ending = game.ending
    result = "*" if ending is None else result_text(ending.outcome)
    tags = [("Event", event), ("Site", "?"), ("Date", date.today().isoformat().replace("-", ".")), ("Round", "-")]
    tags += [("White", names[0]), ("Black", names[1]), ("Result", result)]
    tags += position_tags(game.game, game.start, is_start_of_game=True)
    if ending is not None and ending.reason:
        tags.append(("Termination", ending.reason))
    return written_pgn(tags, game.start.copy(), game.actions, result)


def _sgf(game: PlayedGame, names: tuple[str, str], event: str) -> str:
    root = {"EV": event, "DT": date.today().isoformat(), "PB": names[0], "PW": names[1]}
    if game.ending is not None:
        root["RE"] = result_of(game.ending.outcome, game.ending.reason)
    return written_sgf(game.game, root, game.actions, {})


def _moves(game: PlayedGame) -> Iterator[str]:
    """The moves in the game's own notation, which every reader knows."""
    state = game.start.copy()
    for action in game.actions:
        yield state.action_to_text(action)
        state.apply(action)
