"""Games on a board in the page of a run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from report_toys import games_on
from run_toys import Silent, tiny

from hauteur.games.registry import load_game
from hauteur.games.walks import evenly
from hauteur.learning.loop import learn
from hauteur.learning.report.games import game_html, generations_with_games, played_games, sample_games
from hauteur.learning.report.page import run_report
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.shards import FORMAT, table_digest

pytestmark = pytest.mark.quick

GAME = load_game("tictactoe")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny run."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    selfplay = {"games": 6, "visits": 4, "shard_games": 6, "opening_plies": 0}
    learn(tiny(selfplay=selfplay, gate={"by": "off"}), folder=folder, display=Silent())
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> RunFolder:
    """A copy that the test may damage."""
    shutil.copytree(finished, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def test_the_page_shows_games_of_every_generation(run: RunFolder) -> None:
    """Written by the run itself; the searches' chances are with the games."""
    page = run.report.read_text()
    titles = [str(game["title"]) for game in games_on(page)]
    assert [title.split(",")[0] for title in titles] == ["generation 1"] * 3 + ["generation 2"] * 3
    assert any(wdl is not None for game in games_on(page) for wdl in game["wdl"])  # type: ignore[attr-defined]
    assert len(page) < 400_000


def test_damaged_games_are_named_and_the_rest_is_shown(run: RunFolder) -> None:
    """A report never fails for a shard."""
    next(run.games.glob("gen-00001-*")).write_bytes(b"nonsense")
    games, unread = sample_games(run, GAME)
    (line,) = unread
    assert line.startswith("Games of generation 1 are not shown: ")
    assert len(games.walks) == 3
    assert line in run_report(run).html()


def test_generations_are_chosen_evenly() -> None:
    """The first and the last are among them, each once."""
    for count in (1, 2, 7, 8, 9, 100):
        chosen = evenly(range(count), 8)
        assert len(chosen) == len(set(chosen)) == min(count, 8)
        assert chosen[0] == 0
        assert chosen[-1] == count - 1


def test_any_game_of_any_generation_with_its_visits(run: RunFolder) -> None:
    assert generations_with_games(run) == [1, 2]
    games = played_games(run, 2)
    assert [game.number for game in games] == list(range(6))
    assert {(game.first, game.second) for game in games} == {("net 1", "net 1")}
    (walk,) = games_on(game_html(run, 2, 4))
    assert str(walk["title"]).startswith("generation 2, game 5: net 1 - net 1")
    assert isinstance(walk["notes"], list)
    assert len(walk["notes"]) == games[4].plies
    for note in walk["notes"]:
        assert re.match(r"4 visits: [abc][123] \d+%(, [abc][123] \d+%)*$", note), note
    assert isinstance(walk["best"], list)
    assert [len(squares) for squares in walk["best"]] == [1] * games[4].plies + [0]


def test_games_that_there_are_not(run: RunFolder) -> None:
    with pytest.raises(ValueError, match="no games of generation 3"):
        played_games(run, 3)
    with pytest.raises(ValueError, match="generation 2 has no game 7"):
        game_html(run, 2, 6)
    table = pq.read_table(next(run.games.glob("gen-00001-*")))
    first = table.column_names.index("actions")
    wrong = table.set_column(first, "actions", [[[0, 0]] * len(table)]).cast(table.schema)
    facts = {"format": FORMAT, "sha256": table_digest(wrong)}
    pq.write_table(wrong.replace_schema_metadata(facts), next(run.games.glob("gen-00001-*")))
    with pytest.raises(ValueError, match=r"game 1: has columns that do not fit each other"):
        game_html(run, 1, 0)
    next(run.games.glob("gen-00002-*")).write_bytes(b"PAR1 no shard")
    with pytest.raises(ValueError, match="not a whole Parquet file"):
        game_html(run, 2, 0)
