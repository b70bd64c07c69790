"""Programs that speak the Gomocup's protocol as players: they are told the whole game, and lose by their faults."""

import shlex
import sys
from pathlib import Path

import pytest

from hauteur.matches.play import play_match
from hauteur.matches.results import MatchGame
from hauteur.players.engines.process import BAD_OUTPUT, CRASHED, ILLEGAL_MOVE, TIMEOUT

HERE = Path(__file__).parent.parent / "support"
PATIENT = "start-timeout=60"
"""For programs that should start, on a machine with other work."""
GAME = "gomoku(size=15)"


def program(fault: str = "good", more: str = "max_node=10", *, patience: str = PATIENT) -> str:
    """The words of the fake program."""
    arguments = shlex.quote(f"args={HERE / 'fake_gomocup_engine.py'} {fault}")
    return f"{shlex.quote(f'gomocup:{sys.executable}')} {arguments} {patience} {more}"


def played(player: str, *, games: int = 2, random_plies: int = 3) -> tuple[MatchGame, ...]:
    """Games of a program against random moves, which it loses only by its own fault or by five in a row."""
    return play_match(player, "random", GAME, games=games, random_plies=random_plies, seed=4).games


def test_it_is_told_every_move_of_every_game_once() -> None:
    """The fake ends itself where it is told a point twice, and plays a taken one where it is not told of it."""
    games = played(program(), games=6)
    assert {game.end for game in games} <= {"five in a row", "full board"}
    for game in games:
        moves = game.moves.split()
        assert len(set(moves)) == len(moves)


def test_it_may_begin() -> None:
    games = played(program(), random_plies=0)
    first = next(game for game in games if game.a == "first")
    assert first.moves.split()[0] == "A15", "the top left point"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crash", CRASHED),
        ("hang", TIMEOUT),
        ("no-point", BAD_OUTPUT),
        ("error", BAD_OUTPUT),
        ("outside", ILLEGAL_MOVE),
    ],
)
def test_a_fault_loses_the_game(fault: str, reason: str) -> None:
    limit = "move-timeout=1" if reason == TIMEOUT else ""
    for game in played(program(fault, f"max_node=10 {limit}"), random_plies=0):
        assert game.end == reason
        assert game.score == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (program("refuses-board"), "does not play this game: START 15 was answered by 'ERROR unsupported size'"),
        (program("refuses-options"), "Fake Five 1.2 refuses INFO max_node 10: 'UNKNOWN max_node'"),
        (program("silent", patience="start-timeout=1"), "the program does not start"),
        (program(more=""), "say how long the engine thinks: movetime="),
        (program(more="nodes=10"), "the Gomocup's protocol has no nodes: give a key of its INFO"),
        (program(more="tc=10+1"), "the Gomocup's protocol has no time for every move beside the clock: tc=10+1"),
    ],
)
def test_impossible_requests_are_refused_before_the_match(words: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".*") as caught:
        play_match(words, "random", GAME, games=2)
    assert message in str(caught.value)


def test_it_plays_gomoku_alone() -> None:
    with pytest.raises(ValueError, match=r"the Gomocup's protocol is for gomoku, got connect4"):
        play_match(program(), "random", "connect4", games=2)


@pytest.mark.parametrize("more", ["movetime=5000", "tc=2:00"])
def test_times_are_said_to_it(more: str) -> None:
    assert [game.moves for game in played(program(more=more))] == [game.moves for game in played(program())]


def test_our_engine_plays_by_the_protocol_what_it_plays_without() -> None:
    """A player within the match and the same as a program play the same moves: no draw of either is random."""
    inside = "net=uniform visits=12 solver.lookahead=1"
    command = f"{sys.executable} -m hauteur.cli gomocup --batch-size 1 --player '{inside}'"
    outside = f"{shlex.quote(f'gomocup:{command}')} {PATIENT} movetime=1000000"
    same = play_match(inside, outside, "gomoku(size=6)", games=4, random_plies=4, seed=2)
    again = play_match(outside, inside, "gomoku(size=6)", games=4, random_plies=4, seed=2)
    assert {game.end for game in same.games} <= {"five in a row", "full board"}
    assert [game.moves for game in same.games] == [game.moves for game in again.games]
