"""Odds mode of players: whoever gives odds has the settings published for that, named or not, but for its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from hauteur.engine.odds_mode import GIVER_VISITS, odds_player
from hauteur.engine.odds_table import giver_settings, odds_table
from hauteur.engine.sides import EngineOptions, EngineSide, GameSide, with_usual_visits
from hauteur.games.odds import ODDS_STARTS, odds_of
from hauteur.games.played_game import PlayedGame
from hauteur.games.registry import load_game, with_fen
from hauteur.players.settings import PlayerSettings, parse_player, player_text

pytestmark = pytest.mark.quick

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
    assert game.text().startswith("odds game, queen d1: ScLimit 40, Temperature 0.7, ")
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
    assert with_usual_visits(parse_player("net=folder/maia-1900.pb.gz"), 400).visits == 1
    assert with_usual_visits(parse_player("net=chess"), 400).visits == 400
    assert with_usual_visits(parse_player("net=chess")).visits == PlayerSettings().visits
    giver, _ = odds_player(parse_player("net=uniform"), QUEEN, 0)
    assert with_usual_visits(giver).visits == GIVER_VISITS


def settings(name: str) -> dict[str, bool | float | str]:
    odds = odds_of(ODDS_STARTS[name])
    assert odds is not None
    return giver_settings(odds)[0]


def test_settings_are_those_published() -> None:
    runs = {"ScLimit": 28, "Temperature": 0.7, "TempEndgame": 0.1, "TempDecayMoves": 5}
    assert settings("rook a1") == settings("pawn f7") == settings("queen d1 + rook a1") == runs
    queen = {**runs, "CPuct": 1.5, "FpuValue": 0.4}
    assert settings("queen d1") == {**queen, "ScLimit": 40, "DrawScore": -0.4}
    assert settings("queen d8") == {**queen, "ScLimit": 32, "DrawScore": 0.6}


def test_settings_of_ones_own_go_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "odds.toml"
    own.write_text('[[odds]]\npieces = "qr"\ngives = "white"\nsettings = { ScLimit = 8 }\n')
    before = settings("queen d1 + rook a1")
    monkeypatch.setenv("HAUTEUR_ODDS", str(own))
    assert settings("queen d1 + rook a1") == before | {"ScLimit": 8}
    assert settings("queen d8 + rook a8") == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[odds]]\nsettings = { ScLimt = 8 }\n", "no option 'ScLimt'"),
        ("[[odds]]\nsettings = { CPuct = -1 }\n", "CPuct must be a number from 0"),
        ('[[odds]]\ngives = "red"\nsettings = {}\n', "gives"),
        ("[[odds]\n", "not a TOML file"),
        (None, "No such file"),
    ],
)
def test_a_wrong_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, words: str
) -> None:
    own = tmp_path / "odds.toml"
    if text is not None:
        own.write_text(text)
    monkeypatch.setenv("HAUTEUR_ODDS", str(own))
    with pytest.raises(ValueError, match=words) as error:
        settings("queen d1")
    assert str(own) in str(error.value)
    assert "\n" not in str(error.value)


def test_settings_by_the_value_of_the_last_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with a condition come after all others, and only where a search has found such a value."""
    own = tmp_path / "odds.toml"
    own.write_text(
        '[[odds]]\npieces = "q"\nnodes = 900\n'
        "[[when]]\nq_below = -0.3\nsettings = { ScLimit = 4 }\n"
        '[[when]]\nq_above = 0.0\npieces = "q"\nnodes = 5000\n'
    )
    monkeypatch.setenv("HAUTEUR_ODDS", str(own))
    odds = odds_of(ODDS_STARTS["queen d1"])
    assert odds is not None
    before, nodes = giver_settings(odds)
    assert (before["ScLimit"], nodes) == (40, 900)
    for q, n_scl, most in ((-0.9, 4, 900), (-0.3, 40, 900), (0.0, 40, 5000)):
        found, nodes = giver_settings(odds, q=q)
        assert (found["ScLimit"], nodes) == (n_scl, most)
    giver, shown = odds_player(parse_player("net=uniform"), QUEEN, 0)
    assert giver.visits == GIVER_VISITS
    assert shown is not None
    assert "; at most 900 visits" in shown.text()
    own.write_text("[[when]]\nq_below = -3\n")
    odds_table.cache_clear()
    with pytest.raises(ValueError, match=r"odds.toml: .*when.*q_below.*-3"):
        giver_settings(odds)


def test_a_side_thinks_with_the_settings_for_what_its_last_search_found() -> None:
    """The first search has the side's own settings, the next those for the value of the one before."""
    seen: list[float] = []

    def after(q: float) -> PlayerSettings:
        seen.append(q)
        return parse_player("net=uniform visits=7 search_contempt.n_scl=3")

    played = PlayedGame(QUEEN)
    with EngineSide(QUEEN, GameSide(parse_player("net=uniform visits=5"), at=after), EngineOptions(seed=1)) as side:
        first, second = (side.start(played).result().report for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.visits, second.visits) == (5, 7)
    assert seen[0] == first.wdl[0] - first.wdl[2]


def test_when_tables_count_in_games_of_the_browser_and_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "odds.toml"
    own.write_text("[[when]]\nq_below = 0.5\nsettings = { ScLimit = 4 }\n")
    monkeypatch.setenv("HAUTEUR_ODDS", str(own))
    player = parse_player("net=uniform")
    for q, n_scl in ((None, 40), (0.6, 40), (0.4, 4)):
        giver, _ = odds_player(player, QUEEN, 0, q)
        assert giver.search.search_contempt is not None
        assert giver.search.search_contempt.n_scl == n_scl
