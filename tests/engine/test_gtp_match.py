"""The GTP engine as an external player of `hauteur match`: a full match of 9x9 NoGo against `rave`."""

import json
import shlex
import sys

import pytest

from hauteur.cli.main import main


@pytest.mark.parametrize("player", ["rave:20", "net=uniform visits=8"])
def test_a_match_against_rave(player: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-m", "hauteur.cli.main", "gtp", "--game", "nogo", "--threads", "1", "--player", player]
    spec = f"gtp:{shlex.quote(shlex.join(words))} start-timeout=60 move-timeout=60"
    match = ["match", spec, "rave:20", "--game", "nogo", "--games", "2", "--parallel", "2", "--threads", "1", "--json"]
    status = main(match)
    results = json.loads(capsys.readouterr().out)["results"]
    assert status == 0
    assert results["games"] == 2
    assert results["wins"] + results["losses"] == 2
    assert results["ends"] == {"no legal move": 2}, "every game went on until somebody could not move"
    assert results["notes"] == {}
    assert results["mean_plies"] > 20
