"""Odds mode of the UCI engine: who gives odds plays with the published settings, and only then."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from uci_client import Client, engine

from hauteur.engine.odds_mode import OddsGame, odds_game
from hauteur.engine.uci.commands import parse_position
from hauteur.engine.uci.options import Options
from hauteur.games.odds import ODDS_STARTS, parse_odds

pytestmark = pytest.mark.quick

QUEEN = ODDS_STARTS["queen d1"]
BLACK_QUEEN = ODDS_STARTS["queen d8"]
SETTINGS = {
    "ScLimit": 40,
    "Temperature": 0.7,
    "TempEndgame": 0.1,
    "TempDecayMoves": 5,
    "CPuct": 1.5,
    "FpuValue": 0.4,
    "DrawScore": -0.4,
}


def found(position: str, *, infinite: bool = False, **values: str) -> OddsGame | None:
    """Return what odds mode finds in a position with these options."""
    options = Options()
    for name, value in {"OddsMode": "true", **values}.items():
        options.set(name, value)
    return odds_game(parse_position(position, options), options, infinite=infinite)


def test_the_giver_gets_the_settings_and_the_taker_nothing() -> None:
    white = found(f"fen {QUEEN}")
    assert white is not None
    assert white.changes == SETTINGS
    assert found(f"fen {QUEEN} moves e2e4") is None, "Black is the odds taker"
    assert found(f"fen {QUEEN} moves e2e4 e7e5") == white
    black = found(f"fen {BLACK_QUEEN} moves e2e4")
    assert black is not None
    assert black.changes == {**SETTINGS, "ScLimit": 32, "DrawScore": 0.6}
    assert found(f"fen {BLACK_QUEEN}") is None


@pytest.mark.parametrize("name", ODDS_STARTS)
def test_every_usual_start(name: str) -> None:
    before = [found(f"fen {ODDS_STARTS[name]}{moves}") for moves in ("", " moves e2e4")]
    giver = parse_odds(name).giver
    game = before[giver]
    assert game is not None
    assert game.name == name
    assert before[1 - giver] is None


def test_options_that_were_set_stay() -> None:
    game = found(f"fen {QUEEN}", CPuct="2", Temperature="0")
    assert game is not None
    assert game.kept == ("CPuct",)
    assert game.changes == {name: value for name, value in SETTINGS.items() if name != "CPuct"}
    assert game.text().endswith("; as set: CPuct")


@pytest.fixture
def client() -> Iterator[Client]:
    """A fresh engine without a net, whose searches and draws repeat."""
    with engine("--weights", "uniform", "--seed", "5") as started:
        started.send("setoption name MinibatchSize value 1", "setoption name VerboseMoveStats value true")
        yield started


def info_of(client: Client, position: str) -> list[str]:
    """All that the engine says of a search, but for times."""
    client.send(f"position {position}", "go nodes 400")
    lines = client.until("bestmove")
    return [line for line in lines if line.startswith(("info string", "bestmove")) and "memory" not in line]


def test_it_is_said_once_and_ends_with_the_game(client: Client) -> None:
    client.send("setoption name OddsMode value true")
    first = info_of(client, f"fen {QUEEN}")
    again = info_of(client, f"fen {QUEEN} moves e2e4 e7e5")
    other = info_of(client, "startpos")
    assert [sum("odds game" in line for line in lines) for lines in (first, again, other)] == [1, 0, 0]
    with engine("--weights", "uniform", "--seed", "5") as plain:
        plain.send("setoption name MinibatchSize value 1", "setoption name VerboseMoveStats value true")
        info_of(plain, f"fen {QUEEN}")
        info_of(plain, f"fen {QUEEN} moves e2e4 e7e5")
        assert info_of(plain, "startpos")[-2:] == other[-2:], "the normal game is searched as without odds mode"


def test_settings_follow_the_value_of_the_last_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "odds.toml"
    own.write_text("[[when]]\nq_below = 1.0\nsettings = { ScLimit = 3 }\nnodes = 7\n")
    monkeypatch.setenv("HAUTEUR_ODDS", str(own))
    with engine("--weights", "uniform") as started:
        started.send("setoption name OddsMode value true")
        assert any("ScLimit 40" in line for line in info_of(started, f"fen {QUEEN}"))
        later = info_of(started, f"fen {QUEEN} moves e2e4 e7e5")
        assert any("ScLimit 3," in line and "at most 7 visits" in line for line in later)
        started.send("ucinewgame")
        assert any("ScLimit 40" in line for line in info_of(started, f"fen {QUEEN}"))
