"""The session of the page Play: every game to its end, sides, limits, texts, and what a page may not do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from session_events import Events

from hauteur.games.odds import ODDS_STARTS
from hauteur.games.registry import EXAMPLES, names
from hauteur.web.players import nets_under, page_net, page_player
from hauteur.web.sessions.play import PlaySession
from hauteur.web.sessions.session import SessionSettings

SUPPORT = Path(__file__).resolve().parent.parent / "support"
PERSON: dict[str, Any] = {"player": None}
RANDOM: dict[str, Any] = {"player": "random"}
Shown = Mapping[str, Any]


class Watched:
    """A session and what it has shown last."""

    def __init__(self, **settings: Any) -> None:
        self.events = Events()
        self.session = PlaySession(self.events, SessionSettings(**settings))

    def ask(self, request: str, **fields: Any) -> Shown:
        """Ask the session."""
        return self.session.handle(request, fields)

    def last(self, event: str = "game") -> Shown:
        """The last event of this name."""
        return self.events.last(event)

    def wait(self, condition: Callable[[Shown], bool], event: str = "game") -> Shown:
        """Wait until the last event of this name is so."""
        return self.events.wait_for_last(event, condition)

    def persons_turn(self) -> Shown:
        """Wait until a person is to move or the game is over."""
        return self.wait(lambda game: bool(game["ending"]) or game["position"]["to_move"] in game["persons"])

    def open(self, game: str, first: Mapping[str, Any], second: Mapping[str, Any], **more: Any) -> Shown:
        """Begin a game; return it as soon as a person is to move or it is over."""
        self.events.all.clear()
        self.ask("open", game=game, sides=[first, second], **more)
        return self.persons_turn()

    def play(self, text: str) -> Shown:
        """Play a move of a person; return the game when it is a person's turn again."""
        ply = self.last()["position"]["ply"]
        self.ask("play", ply=ply, text=text)
        self.wait(lambda game: game["position"]["ply"] > ply)
        return self.persons_turn()


@contextmanager
def play_session(**settings: Any) -> Iterator[Watched]:
    watched = Watched(**settings)
    try:
        yield watched
    finally:
        watched.session.close()


@pytest.fixture
def session() -> Iterator[Watched]:
    with play_session() as watched:
        yield watched


def played_out(session: Watched, spec: str) -> Shown:
    """A game of the first legal moves that a page offers against `random`, to its end."""
    game = session.open(spec, PERSON, RANDOM)
    while not game["ending"]:
        position = game["position"]
        action = position["actions"][(7 * position["ply"]) % len(position["actions"])]
        assert all(square < len(position["squares"]) for square in action["squares"])
        session.ask("play", ply=position["ply"], a=action["a"])
        session.wait(lambda game, ply=position["ply"]: game["position"]["ply"] > ply)  # type: ignore[misc]
        game = session.persons_turn()
    return game


@pytest.mark.parametrize("spec", [*names(), *EXAMPLES, "nogo(size=3)", "nogo(rows=3, cols=4)"])
def test_every_game_is_played_to_its_end(session: Watched, spec: str) -> None:
    game = played_out(session, spec)
    assert game["ending"]["outcome"] == game["position"]["outcome"]
    assert game["result"]
    assert len(game["moves"]) == len(game["actions"]) == game["position"]["ply"]
    for form in game["forms"]:
        text = session.ask("write", form=form)["text"]
        read = session.ask("read", text=text, game=spec)
        if form != "fen":
            assert list(read["actions"]) == game["actions"]


@pytest.mark.parametrize("spec", [*names(), *EXAMPLES])
def test_every_game_has_an_opponent_at_once(session: Watched, spec: str) -> None:
    """The player that is there by default, with few visits, answers a move and says what it expects."""
    offers = session.ask("describe", game=spec)["players"]
    assert offers[0]["text"] == ""
    game = session.open(spec, PERSON, {"player": "", "visits": 8})
    game = session.play(game["position"]["actions"][0]["text"])
    assert game["position"]["ply"] == 2
    assert sum(game["wdl"]) == pytest.approx(1.0, abs=1e-5)
    for offer in offers:
        if not offer["text"].startswith("net="):
            session.open(spec, PERSON, {"player": offer["text"]})


def test_castling_and_promotion_are_moves_of_two_squares(session: Watched) -> None:
    game = session.open("chess", PERSON, PERSON, fen="r3k3/6P1/8/8/8/8/8/R3K2R w KQq - 0 1")
    position = game["position"]
    at = {square["name"]: number for number, square in enumerate(position["squares"])}
    castling = [action for action in position["actions"] if action["squares"] == [at["e1"], at["g1"]]]
    assert [action["text"] for action in castling] == ["O-O"]
    promotions = [action for action in position["actions"] if action["squares"] == [at["g7"], at["g8"]]]
    ranked = sorted(promotions, key=lambda action: action["stands"]["rank"])
    assert [action["text"] for action in ranked] == ["g8=Q+", "g8=R+", "g8=B", "g8=N"]
    assert ranked[0]["stands"]["text"] == "white queen"
    session.ask("play", ply=0, a=castling[0]["a"])
    assert session.last()["moves"] == ["O-O"]


def test_a_disc_is_dropped_by_any_square_of_its_column(session: Watched) -> None:
    position = session.open("connect4", PERSON, PERSON)["position"]
    assert [len(action["area"]) for action in position["actions"]] == [6] * 7
    assert position["actions"][3]["squares"][0] in position["actions"][3]["area"]


def test_taking_back_hint_draw_and_resignation(session: Watched) -> None:
    session.open("connect4", PERSON, RANDOM)
    with pytest.raises(ValueError, match="no move of yours to take back"):
        session.ask("take_back")
    assert session.play("4")["position"]["ply"] == 2
    session.ask("take_back")
    assert session.last()["actions"] == []
    session.ask("hint")
    hint = session.wait(lambda hint: True, "hint")
    assert len(hint["moves"]) == 5
    assert sum(move["share"] for move in hint["moves"]) <= 1.0
    assert session.ask("draw", side=0) == {"agreed": False}
    assert session.last()["note"] == "random declines the draw"
    session.ask("resign", side=0)
    assert session.last()["result"] == "0-1 (resignation)"
    session.ask("flip", flip=True)
    assert session.last()["flip"]


def test_a_page_goes_on_with_a_game_that_it_has_kept(session: Watched) -> None:
    clocked = {"player": None, "clock": "5:00+3"}
    session.open("connect4", clocked, clocked)
    game = session.play("4")
    kept = {"actions": game["actions"], "left": [200.5, 17.0]}
    with play_session() as fresh:
        again = fresh.open("connect4", clocked, clocked, paused=True, flip=True, **kept)
        assert (again["moves"], again["left"], again["paused"], again["flip"]) == (["4"], [200.5, 17.0], True, True)
        fresh.ask("go_on")
        assert fresh.last()["running"] == 1
        ended = fresh.open("connect4", PERSON, PERSON, ending={"outcome": -1, "reason": "resignation"})
        assert ended["result"] == "0-1 (resignation)"


@pytest.mark.parametrize(
    ("giver", "name", "shown"),
    [
        ({"player": "", "visits": 2}, "hauteur (2 visits), settings for odds", "ScLimit 40, Temperature 0.7, "),
        ({"player": "net=chess visits=2"}, "chess visits=2, settings for odds", "ScLimit 40, Temperature 0.7, "),
        ({"player": "net=uniform", "visits": 3}, "uniform visits=3, settings for odds", "CPuct 1.5, "),
        ({"player": "net=uniform name=me cpuct.init=2", "seconds": 0.05}, "me, settings for odds", "as set: CPuct"),
    ],
)
def test_whoever_gives_odds_has_the_settings_for_it(
    session: Watched, giver: dict[str, Any], name: str, shown: str
) -> None:
    queen = ODDS_STARTS["queen d1"]
    game = session.open("chess", giver, {"player": None}, fen=queen)
    assert game["names"][0].startswith(name)
    assert game["odds"].startswith("odds game, queen d1: ScLimit 40")
    assert shown in game["odds"]
    off = session.open("chess", giver, {"player": None}, fen=queen, odds_mode=False)
    assert (off["odds"], "odds" in off["names"][0]) == ("", False)
    taker = session.open("chess", {"player": None}, giver, fen=queen)
    assert (taker["odds"], "odds" in taker["names"][1]) == ("", False)


def test_a_search_tells_how_far_it_is(session: Watched) -> None:
    session.open("connect4", PERSON, {"player": "net=uniform", "visits": 30_000_000})
    session.ask("play", ply=0, text="4")
    search = session.wait(lambda search: search["seconds"] > 0.2, "search")
    assert search["of"] == 30_000_000
    assert search["left"] > 0.0
    assert 0 < search["visits"] < search["of"]
    session.ask("move_now")
    session.wait(lambda game: game["position"]["ply"] == 2)


def test_limits_of_every_kind(session: Watched) -> None:
    for limit in ({"visits": 3}, {"seconds": 0.05}, {"clock": "0:01+0.1"}):
        session.open("tictactoe", PERSON, {"player": "net=tictactoe", **limit})
        game = session.play("b2")
        assert game["position"]["ply"] == 2
        assert (game["left"][1] is None) == ("clock" not in limit)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"game": "nosuchgame"}, "no game 'nosuchgame'"),
        ({"game": "chess", "fen": "8/8 w"}, "8/8 w"),
        ({"game": "connect4", "fen": "8/8 w"}, "fen"),
        ({"game": "connect4", "actions": [3, 99]}, "ply 2: action 99 is not legal"),
        ({"game": "connect4", "actions": [0] * 5001}, "actions"),
        ({"left": [-1, None]}, "left"),
        ({"sides": [PERSON]}, "sides"),
        ({"sides": [PERSON, {"player": None, "visits": 3}]}, "second side: a person has no visits, only a clock"),
        ({"sides": [{"player": "random", "visits": 3}, PERSON]}, "first side: player: random is a player without"),
        ({"sides": [{"player": "random", "seconds": 1}, PERSON]}, "seconds a move are for a player with a net"),
        ({"sides": [{"player": "", "visits": 3, "clock": "1+1"}, PERSON]}, "one limit at most, got visits and clock"),
        ({"sides": [{"player": None, "clock": "soon"}, PERSON]}, "tc is SECONDS"),
        ({"sides": [{"player": "rave:10"}, PERSON], "game": "chess"}, "rave plays games of at most 256 actions"),
        ({"what": 1}, "what"),
    ],
)
def test_bad_games_are_refused_in_a_line_and_change_nothing(
    session: Watched, fields: dict[str, Any], problem: str
) -> None:
    session.open("tictactoe", PERSON, PERSON)
    with pytest.raises(ValueError, match=problem) as error:
        session.ask("open", **fields)
    assert "\n" not in str(error.value)
    assert session.play("b2")["moves"] == ["b2"]


def test_moves_that_come_too_late_or_are_illegal(session: Watched) -> None:
    with pytest.raises(ValueError, match="there is no game yet"):
        session.ask("hint")
    session.open("connect4", PERSON, PERSON)
    session.play("4")
    with pytest.raises(ValueError, match="the position has changed meanwhile"):
        session.ask("play", ply=0, a=3)
    with pytest.raises(ValueError, match="action 9 is not legal"):
        session.ask("play", ply=1, a=9)
    with pytest.raises(ValueError, match='"e4" is not a legal move of connect4'):
        session.ask("play", ply=1, text="e4")


def test_programs_are_started_only_where_they_are_allowed() -> None:
    program = {"player": "uci:nosuchprogram", "visits": 10}
    with play_session() as closed, pytest.raises(ValueError, match="hauteur web --allow-programs"):
        closed.ask("open", game="chess", sides=[program, PERSON])
    with play_session(allow_programs=True) as open_session:
        open_session.ask("open", game="chess", sides=[program, PERSON])
        shown = open_session.wait(lambda game: bool(game["problem"]))
        assert "no program 'nosuchprogram'" in shown["problem"]
        assert shown["paused"]
        fake = f"uci:'{sys.executable} {SUPPORT / 'fake_engine.py'} good'"
        open_session.open("chess", PERSON, {"player": fake, "seconds": 0.5})
        game = open_session.play("e4")
        assert game["position"]["ply"] == 2
        assert game["names"][1].endswith("movetime=500")
        assert game["note"] == "Its score: -0.35 at depth 7"


def test_an_engine_that_cannot_play_says_so_and_the_game_waits(session: Watched) -> None:
    session.ask("open", game="chess", sides=[{"player": "net=connect4"}, PERSON])
    shown = session.wait(lambda game: bool(game["problem"]))
    assert "connect4" in shown["problem"]
    assert (shown["paused"], shown["thinking"], shown["ending"]) == (True, False, None)


def test_nets_of_a_page_are_looked_up_and_never_a_path(tmp_path: Path) -> None:
    inside = tmp_path / "runs" / "a" / "nets"
    inside.mkdir(parents=True)
    (inside / "best.safetensors").write_bytes(b"x")
    (tmp_path / "secret.safetensors").write_bytes(b"x")
    roots = [str(tmp_path / "runs")]
    assert list(nets_under(roots)) == ["runs/a/nets/best.safetensors"]
    assert page_net("runs/a/nets/best.safetensors", roots) == str(inside / "best.safetensors")
    assert page_net("uniform", roots) == "uniform"
    assert page_net("connect4", ()).endswith("connect4.safetensors")
    outside = (str(tmp_path / "secret.safetensors"), "runs/../secret.safetensors", "../secret.safetensors", "etc")
    for name in outside:
        with pytest.raises(ValueError, match="there is no net"):
            page_net(name, roots)
    for text in ("@settings.toml", "settings.toml", "net=../secret.safetensors", "large_net=secret", "x" * 3000, "'"):
        with pytest.raises(ValueError, match="player: "):
            page_player(text, roots, allow_programs=False)
    with pytest.raises(ValueError, match=r"maia-1500 is not downloaded yet: hauteur net get maia-1500$"):
        page_player("human-1500", (), allow_programs=False)
    assert page_player("net=connect4 visits=7", (), allow_programs=False).visits == 7


@pytest.mark.parametrize("gives", ["white", "black"])
def test_a_handicap_is_chosen_and_played(session: Watched, gives: str) -> None:
    """By its name and by clicks on home squares; the game begins there, and the giver has its settings."""
    named = session.ask("odds", odds="queen", gives=gives)
    queen, rook = ("d1", "a1") if gives == "white" else ("d8", "a8")
    assert named["odds"] == f"queen {queen}"
    offered = {action["text"] for action in named["position"]["actions"]}
    assert len(offered) == 15  # all but the king, given ones too, since they can be taken back
    more = session.ask("odds", odds=named["odds"], gives=gives, toggle=rook)
    assert more["odds"] == f"queen {queen} + rook {rook}"
    assert session.ask("odds", odds=more["odds"], gives=gives, toggle=queen)["odds"] == f"rook {rook}"
    assert session.ask("odds", odds=f"rook {rook}", gives=gives, toggle=rook)["odds"] == ""
    giver = {"player": "net=uniform", "visits": 5, "against": "net=chess visits=1 temperature=1"}
    sides = (giver, PERSON) if gives == "white" else (PERSON, giver)
    game = session.open("chess", *sides, odds={"odds": "queen + rook", "gives": gives})
    assert game["handicap"] == {"name": f"queen {queen} + rook {rook}", "giver": 0 if gives == "white" else 1}
    assert f"queen {queen} + rook {rook}" in game["odds"]
    session.ask("resign", side=1 if gives == "white" else 0)
    session.wait(lambda game: bool(game["ending"]))
    session.ask("story", against="net=chess visits=1 temperature=1", visits=10)
    story = session.wait(bool, "story")
    assert len(story["scores"]) == len(session.last()["actions"]) + 1
    assert story["giver"] == (0 if gives == "white" else 1)
    session.ask("story", visits=10)  # the net of a human of 1500 is not here: nobody's mistakes are measured
    plain = session.wait(lambda story: not story["against"], "story")
    assert (len(plain["scores"]), {trap["trap"] for trap in plain["traps"]} - {None}) == (len(story["scores"]), set())


def test_handicaps_of_the_960_starts(session: Watched) -> None:
    named = session.ask("odds", odds="queen", start=0)
    game = session.open("chess", PERSON, PERSON, odds={"odds": named["odds"], "start": 0})
    assert "chess960=true" in game["spec"]
    assert session.open("chess", PERSON, PERSON, odds={"start": 518})["handicap"] is None


@pytest.mark.parametrize(
    ("request_name", "fields", "problem"),
    [
        ("odds", {"odds": "king"}, "odds 'king': 'king' is no item"),
        ("odds", {"odds": "queen", "start": 960}, "start"),
        ("odds", {"toggle": "e1"}, "e1 is the square"),
        ("odds", {"toggle": "e4"}, "e4 is the square"),
        ("story", {}, "the game did not begin at odds"),
    ],
)
def test_bad_handicaps_are_one_line(session: Watched, request_name: str, fields: dict[str, Any], problem: str) -> None:
    session.open("chess", PERSON, PERSON)
    with pytest.raises(ValueError, match=problem):
        session.ask(request_name, **fields)


def test_captured_pieces(session: Watched) -> None:
    session.open("chess", PERSON, PERSON, fen="4k3/2P4p/8/8/8/8/6q1/R3K2R w KQ - 0 1")
    for text in ("c8=Q+", "Kf7", "Rxh7"):
        ply = session.last()["position"]["ply"]
        session.ask("play", ply=ply, text=text)
    assert session.last()["captured"] == ("", "p")  # the promoted pawn is not lost
    assert session.open("connect4", PERSON, PERSON)["captured"] == ("", "")


def test_the_event_of_a_new_game_follows_its_reply(events: Events) -> None:
    session = PlaySession(events, SessionSettings())
    try:
        with session.replying():
            session.handle("open", {"game": "tictactoe", "sides": [{"player": None}, {"player": None}]})
            assert events.named("game") == []
        assert [shown["spec"] for shown in events.named("game")] == ["tictactoe"]
    finally:
        session.close()
