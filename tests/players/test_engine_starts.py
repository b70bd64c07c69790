"""Programs that do not start: no match begins, or goes on, with games that were not played."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from hauteur import _core
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match, MatchSettings
from hauteur.players.build import Resources
from hauteur.players.engines.process import START_FAILED, EngineConnection
from hauteur.players.move_player import EngineFailure
from hauteur.players.settings import parse_player

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake engine uses signals and process groups")

CHESS = _core.Game("chess")
FAKE = Path(__file__).parent.parent / "support" / "fake_engine.py"


@pytest.fixture(autouse=True)
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which fake engines leave their numbers."""
    (tmp_path / "pids").mkdir()
    monkeypatch.setenv("FAKE_ENGINE_PIDS", str(tmp_path / "pids"))
    return tmp_path / "pids"


def match_of(fault: str, patience: int | float, folder: Path) -> Match:
    words = [f"uci:{sys.executable}", f"args={FAKE} {fault} e2e4", f"start-timeout={patience}", "nodes=1"]
    a = parse_player(shlex.join(words))
    settings = MatchSettings(game="chess", a=a, b=parse_player("random"), games=4, random_plies=2, seed=1, max_plies=6)
    return Match(CHESS, settings, resources=Resources(parallel=4, threads=2), folder=MatchFolder(folder))


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ("start-crash", "engine crashed: exit status 3; its last words: 'out of ideas'"),
        ("start-hang", "engine timeout: no uciok within 0.5 s"),
        ("start-flood", "bad output: more than 16,777,216 bytes or 100,000 lines for one answer"),
    ],
)
def test_an_engine_that_does_not_start_begins_no_match(fault: str, detail: str, tmp_path: Path, pids: Path) -> None:
    with pytest.raises(ValueError, match=rf"the program does not start: {re.escape(detail)}$"):
        list(match_of(fault, 0.5 if fault == "start-hang" else 60, tmp_path / "match").play())
    assert len(list(pids.iterdir())) == 1
    assert not (tmp_path / "match").exists()


def test_an_engine_that_no_longer_starts_ends_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(*_: object, **__: object) -> None:
        raise EngineFailure(START_FAILED, "no such file")

    match = tmp_path / "match"
    with monkeypatch.context() as patch:
        patch.setattr(EngineConnection, "begin", gone)
        with pytest.raises(ValueError, match=r"does not start: no such file \(3 attempts\)$"):
            list(match_of("good", 60, match).play())
    assert list(MatchFolder(match).games()) == []
    assert {game.end for game in match_of("good", 60, match).play()} == {"ply limit"}
