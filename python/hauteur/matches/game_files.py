"""Games of matches as PGN (chess) and SGF (Go, Gomoku, NoGo), made from games.jsonl.

Tags and comments of PGN are those of cutechess and fastchess: `{+0.25/12 0.29s}` is the mover's score in pawns (or
+M5), the depth (0 unknown), and the time of the move; moves of the opening are `{book}`, and the last comment ends with
the reason of the result. SGF has the same with the value from -1 to 1 instead of pawns.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from hauteur import _core
from hauteur.games.game_line import PLY_LIMIT, RESIGNATION, result_text
from hauteur.games.pgn import position_tags, written_pgn
from hauteur.games.played_game import movers_of
from hauteur.games.registry import load_game, with_fen
from hauteur.games.sgf import result_of, written_sgf
from hauteur.matches.match import Match
from hauteur.matches.results import MatchGame
from hauteur.mcts.scores import MATE, score_text, value_of_pawns
from hauteur.players.engines.process import BAD_OUTPUT, CRASHED, ILLEGAL_MOVE, LOST_ON_TIME, START_FAILED, TIMEOUT
from hauteur.players.player import Player, object_name
from hauteur.players.settings import PlayerSettings
from hauteur.system.files import write_bytes

Of = TypeVar("Of")

TERMINATIONS = {
    PLY_LIMIT: "adjudication",
    CRASHED: "abandoned",
    START_FAILED: "abandoned",
    TIMEOUT: "time forfeit",
    LOST_ON_TIME: "time forfeit",
    ILLEGAL_MOVE: "rules infraction",
    BAD_OUTPUT: "rules infraction",
}
"""Values of PGN's tag Termination; everything else is `normal`."""


def write_games(path: Path, played: Iterable[tuple[Match, Iterable[MatchGame]]], *, evals: bool = False) -> int:
    """Write the games of matches into one file, in the order of their numbers; how many.

    The form is that of the file's ending, .pgn or .sgf; ValueError where it does not fit the game. evals: PGN with
    lichess's [%eval] too.
    """
    texts: list[str] = []
    for match, games in played:
        form = match.game.record_form
        if form is None or path.suffix != f".{form}":
            fits = f"a file *.{form}" if form else "no file: written are chess (.pgn) and go, gomoku, nogo (.sgf)"
            raise ValueError(f"{path}: games of {match.game.spec} go to {fits}")
        for game in sorted(games, key=lambda game: game.index):
            if form == "pgn":
                texts.append(pgn_of(match, game, evals=evals))
            else:
                texts.append(sgf_of(match, game))
    write_bytes(path, "".join(texts).encode())
    return len(texts)


def pgn_of(match: Match, game: MatchGame, *, evals: bool = False) -> str:
    """A game as PGN."""
    start, actions = played_line(match.game, game)
    tags = list(_tags(match, game))
    tags += position_tags(match.game, start, is_start_of_game=game.fen is None)
    comments = dict(_comments(game, score_text))
    if evals:
        for ply, mover in enumerate(movers_of(start, actions)):
            value = _eval(game, ply, mover)
            if value:
                comment = comments.get(ply, "")
                comments[ply] = f"[%eval {value}] {comment}".rstrip()
    result = result_text(outcome_of(game))
    return written_pgn(tags, start, actions, result, comments)


def sgf_of(match: Match, game: MatchGame) -> str:
    """A game as SGF."""
    _, actions = played_line(match.game, game)
    first, second = by_side(game, match.names)
    root = {
        "EV": _event(match),
        "RO": str(game.index + 1),
        "DT": match.date.replace(".", "-"),
        "PB": first,
        "PW": second,
        "RE": result_of(outcome_of(game), game.end),
        "GC": f"seed {match.settings.seed}, {game.end}",
    }
    known = {name: value for name, value in root.items() if "?" not in value}

    def value_text(score: float) -> str:
        return f"{value_of_pawns(score):+.3f}"

    return written_sgf(match.game, known, actions, _comments(game, value_text))


def _tags(match: Match, game: MatchGame) -> list[tuple[str, str]]:
    """Return the PGN tags of a game."""
    first, second = by_side(game, match.names)
    white, black = by_side(game, (match.settings.a, match.settings.b))
    tags = [
        ("Event", _event(match)),
        ("Site", "?"),
        ("Date", match.date),
        ("Round", str(game.index + 1)),
        ("White", first),
        ("Black", second),
        ("Result", result_text(outcome_of(game))),
        ("PlyCount", str(game.plies)),
        ("Termination", RESIGNATION if game.end == RESIGNATION else TERMINATIONS.get(game.end, "normal")),
    ]
    tags += _player_tags("White", white) + _player_tags("Black", black)
    # PGN has one TimeControl for both sides; where they differ each has a tag of its own.
    if (control := _clock(white)) and control == _clock(black):
        tags.append(("TimeControl", control))
    return [*tags, ("Seed", str(match.settings.seed))]


def _player_tags(side: str, player: PlayerSettings) -> list[tuple[str, str]]:
    """Return the PGN tags of one player: clock or net."""
    if not player.has_net:
        control = _clock(player)
        return [(f"{side}TimeControl", control)] if control else []
    net = Path(player.net).name if player.net else "default"
    if isinstance(player, Player) and player.evaluator is not None:
        net = object_name(player.evaluator)
    return [(f"{side}Net", net), (f"{side}Visits", str(player.visits))]


def _clock(player: PlayerSettings) -> str | None:
    """Return the time control of a program; None for other players."""
    return None if player.engine is None else player.engine.tc


def _event(match: Match) -> str:
    """Return the name of the event, the players' names."""
    return f"{match.names[0]} - {match.names[1]}"


def by_side(game: MatchGame, of_a_and_b: tuple[Of, Of]) -> tuple[Of, Of]:
    """Reorder values of A and B to first and second side."""
    if game.a == "first":
        return of_a_and_b
    return (of_a_and_b[1], of_a_and_b[0])


def outcome_of(game: MatchGame) -> int:
    """+1 the first player won, 0 draw, -1 the second won."""
    of_a = round(2 * game.score - 1)
    return of_a if game.a == "first" else -of_a


def played_line(game: _core.Game, played: MatchGame) -> tuple[_core.State, list[int]]:
    """Return the start position and all actions; ValueError names a game with illegal moves."""
    if played.fen is not None:
        game = load_game(with_fen(game.spec, played.fen))
    start = game.new_initial_state()
    state = start.copy()
    actions: list[int] = []
    try:
        for move in f"{played.opening} {played.moves}".split():
            actions.append(state.parse(move))
            state.apply(actions[-1])
    except ValueError as error:
        raise ValueError(f"game {played.index}: {error}") from None
    return start, actions


def _comments(game: MatchGame, score: Callable[[float], str]) -> Mapping[int, str]:
    """Return the comments of the moves, by ply; score: formats a known score in pawns."""
    begins = len(game.opening.split())
    moves = len(game.moves.split())
    comments = dict.fromkeys(range(begins), "book")
    for move in range(moves):
        comments[begins + move] = _comment(game, move, score)
    last = begins + moves - 1
    if last >= 0:
        comments[last] = ", ".join(filter(None, (comments[last], game.end)))
    return {ply: comment for ply, comment in comments.items() if comment}


def _comment(game: MatchGame, move: int, text: Callable[[float], str]) -> str:
    """Score, depth and time of a move, as far as they are known."""
    score = score_of(game, move)
    words = []
    if not math.isnan(score):
        depth = game.depths[move] if game.depths else 0
        words.append(f"{text(score)}/{depth}")
    if game.milliseconds:
        words.append(f"{game.milliseconds[move] / 1000:.2f}s")
    return " ".join(words)


def score_of(game: MatchGame, move: int) -> float:
    """The mover's score in pawns; NaN where it is unknown."""
    if move < 0 or not game.centipawns:
        return math.nan
    score = game.centipawns[move]
    return math.nan if score is None else score / 100


def _eval(game: MatchGame, ply: int, mover: int) -> str:
    """Format [%eval]: pawns from White's view, mates as #3 and #-3; empty where unknown."""
    move = ply - len(game.opening.split())
    score = score_of(game, move)
    if mover != 0:
        score = -score
    if math.isnan(score):
        return ""
    if abs(score) >= MATE / 2:
        sign = "-" if score < 0 else ""
        return f"#{sign}{MATE - abs(score):.0f}"
    return f"{score + 0.0:.2f}"  # no -0.00
