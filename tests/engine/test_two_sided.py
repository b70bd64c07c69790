"""A game between two sides: persons and engines of every kind, clocks, hints, taking back, endings off the board."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hauteur.engine import two_sided
from hauteur.engine.playing import FoundMove
from hauteur.engine.sides import GameSide, default_player
from hauteur.engine.two_sided import TwoSidedGame
from hauteur.games.played_game import PlayedGame
from hauteur.games.registry import load_game
from hauteur.players.settings import parse_player

pytestmark = pytest.mark.quick

SUPPORT = Path(__file__).resolve().parent.parent / "support"
PERSON = GameSide()


def engine(text: str = "net=uniform visits=20", **limits: float | str) -> GameSide:
    return GameSide(parse_player(text), **limits)  # type: ignore[arg-type]


def table(spec: str, first: GameSide, second: GameSide, **settings: object) -> TwoSidedGame:
    return TwoSidedGame(PlayedGame(load_game(spec)), (first, second), seed=1, threads=1, **settings)  # type: ignore[arg-type]


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.005)


def persons_turn(game: TwoSidedGame) -> bool:
    with game.lock:
        return not game.thinking and game.played.state.to_move in game.persons


def test_moves_are_taken_back_while_the_engine_thinks() -> None:
    with table("connect4", PERSON, engine("net=uniform visits=100000000")) as game:
        game.go_on()
        game.play(3)
        wait_for(lambda: game.value is not None)
        assert game.thinking
        assert game.take_back() == 1
        assert (game.thinking, game.played.actions) == (False, [])
        game.play(2)
        assert game.thinking
        wait_for(lambda: game.value is not None)
        game.move_now()
        wait_for(lambda: persons_turn(game))
        assert game.played.actions[0] == 2
        assert game.take_back() == 2
        assert game.take_back() == 0


def test_two_persons_and_two_engines() -> None:
    with table("connect4", PERSON, PERSON) as game:
        game.go_on()
        game.play(3)
        game.play(3)
        assert game.take_back() == 1
        with pytest.raises(ValueError, match="no engine that could be hurried"):
            game.move_now()
    with table("connect4", engine("random"), engine("net=uniform visits=100000000")) as game:
        game.go_on()
        wait_for(lambda: game.played.state.ply == 1)
        game.pause()
        assert (game.paused, game.thinking) == (True, False)
        assert game.take_back() == 1
        assert game.paused
        with pytest.raises(ValueError, match="it is not your turn: random is to move"):
            game.play(3)
        with pytest.raises(ValueError, match="the first player is random, no person"):
            game.resign(0)


def test_a_hint_is_of_the_player_that_the_game_has(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[FoundMove | BaseException] = []
    with table("tutorial", PERSON, engine("random")) as game:
        assert default_player(game.played.game) == "net=rollout"
        game.go_on()
        game.hint(found.append)
        wait_for(lambda: bool(found))
        assert isinstance(found[0], FoundMove)
        assert found[0].report is not None
        assert len(found[0].report.moves[0].line) > 1
        assert game.value is not None
        game.play(4)
        wait_for(lambda: persons_turn(game))
        monkeypatch.setattr(two_sided, "HINT_VISITS", 10**8)
    with table("connect4", PERSON, PERSON) as game:
        game.go_on()
        game.hint(found.append)
        game.play(4)
        assert len(found) == 1, "the hint of a position that is gone"


def test_resignation_and_draws() -> None:
    with table("connect4", PERSON, engine("random")) as game:
        game.go_on()
        assert not game.offer_draw(0)
        assert game.note == "random declines the draw"
        game.resign(0)
        assert game.played.ending is not None
        assert game.played.ending.text == "0-1 (resignation)"
        with pytest.raises(ValueError, match="the game is over"):
            game.hint(lambda found: None)
        assert game.take_back() == 0
    with table("connect4", PERSON, PERSON) as game:
        game.go_on()
        assert game.offer_draw(1)
        assert game.played.ending is not None
        assert game.played.ending.text == "1/2-1/2 (agreement)"
        with pytest.raises(ValueError, match="the game is over"):
            game.offer_draw(0)
    with table("connect4", engine("random"), PERSON) as game:
        game.resign(1)
        game.go_on()
        assert not game.thinking, "nobody moves after the end"


def test_clocks_run_for_the_side_to_move_and_end_the_game() -> None:
    changes: list[int | None] = []
    with table("connect4", GameSide(clock="300+1"), engine(clock="20"), on_change=lambda: changes.append(None)) as game:
        game.go_on()
        assert game.running == 0
        game.play(3)
        wait_for(lambda: persons_turn(game))
        first, second = game.left
        assert first is not None
        assert second is not None
        assert 1.0 < first <= 301
        assert 0.0 < second < 20
        game.pause()
        assert [game.running] == [None]
        assert game.left == game.left, "no clock runs in a pause"
    with table("connect4", GameSide(clock="0.05"), PERSON) as game:
        game.go_on()
        wait_for(lambda: game.played.ending is not None)
        assert game.played.ending is not None
        assert game.played.ending.text == "0-1 (time)"
    with table("connect4", GameSide(clock="500"), engine(seconds=0.05), left=(200.0, None)) as game:
        assert game.left == [200.0, None]
        game.go_on()
        game.play(3)
        wait_for(lambda: persons_turn(game))


def test_a_program_plays_and_goes_back() -> None:
    command = f"uci:'{sys.executable} {SUPPORT / 'fake_engine.py'}' nodes=10"
    with table("chess", PERSON, engine(command)) as game:
        game.go_on()
        for _ in range(2):
            game.play(game.played.state.parse("e2e4"))
            wait_for(lambda: persons_turn(game))
            assert game.played.state.ply == 2
            assert game.take_back() == 2


@pytest.mark.parametrize(("fault", "ending"), [("resign", "0-1 (resignation)"), ("crash", "0-1 (engine crashed)")])
def test_a_program_that_resigns_or_crashes_loses_the_game(fault: str, ending: str) -> None:
    command = f"gtp:'{sys.executable} {SUPPORT / 'fake_gtp_engine.py'} {fault}'"
    with table("nogo(size=5)", engine(command), engine("random")) as game:
        game.go_on()
        wait_for(lambda: game.played.ending is not None)
        assert game.played.ending is not None
        assert game.played.ending.text == ending
        assert game.problem == ""
