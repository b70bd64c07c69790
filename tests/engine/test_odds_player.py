"""Odds mode of players: whoever gives odds has the settings published for that, named or not, but for its own."""

from __future__ import annotations

import pytest

from hauteur.engine.odds_mode import GIVER_VISITS, odds_player
from hauteur.engine.seats import with_usual_visits
from hauteur.games.odds import ODDS_STARTS
from hauteur.games.registry import load_game, with_fen
from hauteur.networks.catalogue import colour_of
from hauteur.players.settings import PlayerSettings, parse_player, player_text

QUEEN = load_game(with_fen("chess", ODDS_STARTS["queen d1"]))
BLACK_QUEEN = load_game(with_fen("chess", ODDS_STARTS["queen d8"]))
SETTINGS = (
    "temperature=0.7 temperature.decay_moves=5 temperature.endgame=0.1 search.cpuct.init=1.5 search.fpu.value=0.4 "
    "search.draw_score=-0.4 search.search_contempt.n_scl=40"
)


def text_of(player: PlayerSettings) -> str:
    return player_text(player, without=("name", "net"))


@pytest.mark.parametrize("text", ["", "net=chess", "net=uniform", "name=me"])
def test_every_giver_has_the_settings(text: str) -> None:
    giver, game = odds_player(parse_player(text), QUEEN, 0)
    assert game is not None
    assert text_of(giver) == f"visits={GIVER_VISITS} {SETTINGS}"
    assert game.text().startswith("odds game without queen d1: ScLimit 40, Temperature 0.7, ")
    assert giver.name.endswith(", settings for odds")


def test_what_its_text_gives_stays() -> None:
    text = "net=uniform visits=200 cpuct.init=1.745 draw_score=0 temperature=0 search_contempt.n_scl=3"
    giver, game = odds_player(parse_player(text), QUEEN, 0)
    assert game is not None
    assert game.kept == ("ScLimit", "Temperature", "CPuct", "DrawScore")
    assert (giver.visits, giver.search.cpuct.init, giver.search.draw_score) == (200, 1.745, 0)
    assert giver.temperature.initial == 0
    assert giver.search.search_contempt is not None
    assert giver.search.search_contempt.n_scl == 3
    assert (giver.search.fpu.value, giver.temperature.decay_moves) == (0.4, 5)
    assert game.text().endswith("; as set: ScLimit, Temperature, CPuct, DrawScore")


@pytest.mark.parametrize("text", ["", "net=uniform visits=200", "random", "uci:x nodes=1"])
def test_nobody_else_has_them(text: str) -> None:
    player = parse_player(text)
    assert odds_player(player, QUEEN, 1) == (player, None)
    assert odds_player(player, load_game("chess"), 0) == (player, None)
    assert odds_player(player, load_game("connect4"), 0) == (player, None)
    if not player.has_net:
        assert odds_player(player, QUEEN, 0) == (player, None)


def test_black_is_shown_as_white_to_a_net_that_knows_white_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for net, colour in (("chess", None), ("lqo_v2", 0), ("a/folder/lqo_v2.pb.gz", 0), ("maia-1900", None)):
        assert colour_of(net) == colour
    monkeypatch.setattr("hauteur.engine.odds_mode.colour_of", lambda _: 0)
    black, white = odds_player(parse_player(""), BLACK_QUEEN, 1), odds_player(parse_player(""), QUEEN, 0)
    assert black[1] is not None
    assert "DrawScore 0.6, SwapColors true" in black[1].text()
    assert (black[0].search.swap_colors, white[0].search.swap_colors) == (True, False)
    own, game = odds_player(parse_player("swap_colors=false"), BLACK_QUEEN, 1)
    assert game is not None
    assert (own.search.swap_colors, "SwapColors" in game.kept) == (False, True)


def test_maia_plays_at_one_visit_unless_it_is_given_more() -> None:
    assert with_usual_visits(parse_player("net=maia-1900")).visits == 1
    assert with_usual_visits(parse_player("net=maia-1900 visits=5")).visits == 5
    assert with_usual_visits(parse_player("net=chess")).visits == PlayerSettings().visits
    giver, _ = odds_player(parse_player("net=uniform"), QUEEN, 0)
    assert with_usual_visits(giver).visits == GIVER_VISITS
