"""Time to result: goals, the first net that reaches one, and the rows of a real run."""

from pathlib import Path

import pytest

from hauteur import _core
from hauteur.cli.main import main
from hauteur.games.registry import load_game
from hauteur.learning.run_folder import RunFolder
from hauteur.mcts.params import SearchParams
from hauteur.players.search_player import SearchPlayer
from hauteur.studies import time_to_result
from hauteur.studies.time_to_result import MeasuredNet, first_at, goals, leaderboard_rows, measured_nets

RECIPE = """game = "{game}"
[network]
filters = 8
blocks = 1
policy_channels = 2
value_channels = 2
value_hidden = 8
[selfplay]
games = 20
visits = 10
[gate]
by = "off"
[run]
generations = 2
threads = 1
"""


def a_run(folder: Path, game: str) -> RunFolder:
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(game=game))
    assert main(["train", str(recipe), "--run", str(folder / "run")]) == 0
    return RunFolder(folder / "run")


def test_the_first_net_at_a_level_is_the_one_that_counts() -> None:
    nets = [MeasuredNet(1, 60, 30, 10, 0.89), MeasuredNet(2, 120, 60, 20, 0.93), MeasuredNet(3, 180, 90, 30, 0.91)]
    reached = [first_at(nets, goal) for goal in goals(load_game("connect4"))]
    assert reached == [nets[1], None, None]


def test_a_run_gets_its_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(tmp_path, "tictactoe")
    nets = list(measured_nets(run, 30))
    assert [net.generation for net in nets] == [1, 2]
    assert nets[1].games == 40
    assert 0 < nets[0].cpu_seconds < nets[1].cpu_seconds
    assert all(0 < net.level <= 1 for net in nets)
    (row,) = leaderboard_rows(run, nets, 30)
    reached = first_at(nets, goals(load_game("tictactoe"))[0])
    assert (f"generation {reached.generation}" if reached else "not reached") in row
    capsys.readouterr()
    assert main(["bench", "learning", str(run.path), "--visits", "30"]) == 0
    assert row in capsys.readouterr().out


def test_one_search_judges_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that learned with Gumbel noise is not judged with it."""
    search = "search = {{ dirichlet = {{ epsilon = 0.0 }}, gumbel = {{ considered = 4 }} }}"
    monkeypatch.setitem(globals(), "RECIPE", RECIPE.replace("visits = 10", f"visits = 10\n{search}"))
    run = a_run(tmp_path, "tictactoe")
    assert run.stored_recipe().selfplay.search.gumbel is not None
    judges: list[SearchPlayer] = []

    def level(player: SearchPlayer, game: _core.Game) -> float:
        judges.append(player)
        return 0.5

    monkeypatch.setattr(time_to_result, "measured_level", level)
    list(measured_nets(run, 30))
    assert {(judge.search, judge.visits) for judge in judges} == {(SearchParams(), 30)}


def test_other_games_have_no_goals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(tmp_path, "nogo(size=3)")
    assert main(["bench", "learning", str(run.path)]) == 2
    assert "tictactoe and connect4, got a run of nogo(size=3)" in capsys.readouterr().err
