"""Odds mode of players: whoever gives odds has the settings published for that, named or not, but for its own."""

from __future__ import annotations

import pytest

from hauteur.engine.odds_mode import GIVER_VISITS, odds_player
from hauteur.engine.sides import with_usual_visits
from hauteur.games.odds import ODDS_STARTS
from hauteur.games.registry import load_game, with_fen
from hauteur.players.settings import PlayerSettings, parse_player, player_text

QUEEN = load_game(with_fen("chess", ODDS_STARTS["queen d1"]))
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


@pytest.mark.parametrize("text", ["", "net=uniform visits=200", "random", "uci:x nodes=1"])
def test_nobody_else_has_them(text: str) -> None:
    player = parse_player(text)
    assert odds_player(player, QUEEN, 1) == (player, None)
    assert odds_player(player, load_game("chess"), 0) == (player, None)
    assert odds_player(player, load_game("connect4"), 0) == (player, None)
    if not player.has_net:
        assert odds_player(player, QUEEN, 0) == (player, None)


def test_maia_plays_at_one_visit_unless_it_is_given_more() -> None:
    assert with_usual_visits(parse_player("net=maia-1900")).visits == 1
    assert with_usual_visits(parse_player("net=maia-1900 visits=5")).visits == 5
    assert with_usual_visits(parse_player("net=chess")).visits == PlayerSettings().visits
    giver, _ = odds_player(parse_player("net=uniform"), QUEEN, 0)
    assert with_usual_visits(giver).visits == GIVER_VISITS
