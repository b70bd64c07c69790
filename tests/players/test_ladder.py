"""Opponents by rating: the measured table, their names as players, and UCI's limit of strength."""

from __future__ import annotations

from pathlib import Path

import pytest
from uci_client import engine

from hauteur.engine.uci.options import Options
from hauteur.players.ladder import ladder, rung_at, rung_named
from hauteur.players.settings import parse_player, player_text


def test_the_table_is_a_ladder() -> None:
    """Every hundred points, each rung above the one below it by what 100 Elo are, as far as the games say."""
    rungs = ladder()
    assert [rung.rating for rung in rungs] == list(range(800, 2300, 100))
    assert all(rung.net.startswith("maia-") for rung in rungs)
    assert rung_at(1500).settings[("temperature", "initial")] == 1.0
    for rung in rungs[1:]:
        assert rung.score is not None
        assert rung.low is not None
        assert rung.high is not None
        assert rung.low < rung.score < rung.high
        assert rung.games >= 200
        assert rung.low < 0.68
        assert rung.high > 0.60


def test_names_are_players() -> None:
    player = parse_player("human-1100")
    rung = rung_named("human-1100")
    assert (player.name, player.net, player.visits) == ("human-1100", rung.net, rung.visits)
    assert player.temperature.initial == player.temperature.endgame == rung.temperature
    assert parse_player(player_text(player)) == player
    changed = parse_player("visits=7 human-1100 name=me temperature=0")
    assert (changed.name, changed.visits, changed.temperature.initial) == ("me", 7, 0.0)
    with pytest.raises(ValueError, match=r"no opponent 'human-1150'.*human-800 to human-2200"):
        parse_player("human-1150")


def test_uci_limits_strength() -> None:
    options = Options()
    options.set("CPuct", "3")
    assert options.limited() == (options, None)
    options.set("UCI_LimitStrength", "true")
    options.set("UCI_Elo", "1130")
    limited, visits = options.limited()
    rung = rung_named("human-1100")
    assert (limited.text("WeightsFile"), visits) == (rung.net, rung.visits)
    temperature = limited.temperature().values
    assert temperature["initial"] == temperature["endgame"] == rung.temperature
    assert limited.is_default("CPuct"), "its strength is that of the measured settings"
    with pytest.raises(ValueError, match="UCI_Elo must be a whole number from 800 to 2200"):
        options.set("UCI_Elo", "3000")


def test_the_engine_plays_as_weakly_as_it_is_asked_to(root: Path) -> None:
    nets = root.parent / "shared" / "data" / "nets"
    if not (nets / "maia-1100.pb.gz").is_file():
        pytest.skip("needs the nets of the Maia project")
    with engine("--seed", "5", env={"HAUTEUR_NETS": str(nets)}) as client:
        client.send("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1100", "go nodes 500")
        lines = client.until("bestmove")
    assert any("maia-1100" in line for line in lines)
    assert max(int(line.split(" nodes ")[1].split()[0]) for line in lines if " nodes " in line) <= 1
