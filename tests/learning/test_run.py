"""Learning runs from Python: callbacks, interruption and resuming, more generations later, what is read afterwards."""

import sys
from pathlib import Path
from typing import Any

import pytest

from hauteur.learning.display import GenerationRow
from hauteur.learning.recipe import Recipe, parse_recipe, recipe_toml
from hauteur.learning.run import LearningRun, learn
from hauteur.networks.architecture import ResNet

SHAPE = ResNet(filters=8, blocks=1, policy_channels=4, value_channels=4, value_hidden=8)


def tiny(**run: Any) -> Recipe:
    values = {
        "game": "tictactoe",
        "network": SHAPE,
        "selfplay": {"games": 8, "visits": 6, "parallel_games": 8, "batch_size": 8},
        "train": {"batch_size": 16},
        "gate": {"games": 2},
        "run": {"generations": 2, "threads": 1, **run},
    }
    return Recipe.model_validate(values)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[LearningRun, list[GenerationRow]]:
    """A run of two generations, and the rows that its callback got."""
    rows: list[GenerationRow] = []
    return learn(tiny(), out=tmp_path_factory.mktemp("runs") / "whole", on_generation=rows.append), rows


def test_the_callback_gets_a_row_a_generation(
    finished: tuple[LearningRun, list[GenerationRow]], capsys: pytest.CaptureFixture[str]
) -> None:
    run, rows = finished
    assert [(row.generation, row.generations, row.games) for row in rows] == [(1, 2, 8), (2, 2, 8)]
    assert all(row.first_wins + row.draws + row.second_wins == 8 for row in rows)
    assert list(run.metrics) == rows
    assert str(rows[0]).startswith("gen 1/2  games 8  positions ")
    assert capsys.readouterr().out == ""


def test_what_a_run_shows(finished: tuple[LearningRun, list[GenerationRow]]) -> None:
    run, _ = finished
    assert run.best.is_file()
    assert run.report.is_file()
    assert run.recipe.network.filters == 8
    assert "2 of 2 generations" in repr(run)
    html = run._repr_html_()
    assert "policy_loss" in html
    assert "<svg" in html.replace("&lt;", "<")
    assert "body {" not in html.split("<iframe")[0]


def test_metrics_are_a_data_frame(finished: tuple[LearningRun, list[GenerationRow]]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = finished[0].metrics.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["games"].tolist() == [8, 8]


def test_recipes_come_from_files_with_overrides_and_print_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(recipe_toml(tiny()))
    run = learn("tiny.toml", "run.generations=1", "run.tag=first")
    assert run.folder == Path("runs/tictactoe/first")
    out = capsys.readouterr().out
    assert "learning tictactoe from zero: 1 generations" in out
    assert "gen 1/1  games 8  positions" in out


def test_a_recipe_takes_a_tower_and_survives_toml() -> None:
    recipe = Recipe(game="tictactoe", network=SHAPE)
    assert recipe.network.summary == "8 filters, 1 blocks"
    import tomllib

    assert parse_recipe(tomllib.loads(recipe_toml(recipe)), "again") == recipe
    assert sys.modules["hauteur.learning.recipe"].Recipe is Recipe
