"""Learning from Python: callbacks, what is read afterwards; self-play in memory, varied, ended early without harm."""

import gc
import sys
import threading
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_toys import tiny

from hauteur import _core
from hauteur.learning.display import GenerationRow
from hauteur.learning.recipe import Recipe, parse_recipe, recipe_toml
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.run import LearningRun, learn, self_play
from hauteur.matches.record import GameRecord
from hauteur.networks.architecture import ResNet
from hauteur.players.settings import parse_player

pytestmark = pytest.mark.quick

SHAPE = ResNet(filters=8, blocks=1, policy_channels=4, value_channels=4, value_hidden=8)


def small(**run: Any) -> Recipe:
    return tiny(selfplay={"games": 8}, gate={"games": 2}, run=run)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[LearningRun, list[GenerationRow]]:
    """A run of two generations, and the rows that its callback got."""
    rows: list[GenerationRow] = []
    return learn(small(), out=tmp_path_factory.mktemp("runs") / "whole", on_generation=rows.append), rows


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
    assert run.recipe.network.filters == 4
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
    Path("tiny.toml").write_text(recipe_toml(small()))
    run = learn("tiny.toml", "run.generations=1", "run.tag=first")
    assert run.folder == Path("runs/tictactoe/first")
    out = capsys.readouterr().out
    assert "learning tictactoe from zero: 1 generation in" in out
    assert "gen 1/1  games 8  positions" in out


def test_a_recipe_takes_a_tower_and_survives_toml() -> None:
    recipe = Recipe(game="tictactoe", network=SHAPE)
    assert recipe.network.summary == "8 filters, 1 blocks"
    import tomllib

    assert parse_recipe(tomllib.loads(recipe_toml(recipe)), "again") == recipe
    assert sys.modules["hauteur.learning.recipe"].Recipe is Recipe


GAME = _core.Game("tictactoe")


def lines(records: list[GameRecord]) -> list[tuple[int, ...]]:
    ordered = sorted(records, key=lambda record: record.plan.index)
    return [(*record.plan.start, *record.actions.tolist()) for record in ordered]


def test_games_differ_and_are_the_same_for_the_same_seed() -> None:
    first = lines(list(self_play(GAME, "net=uniform visits=12", 12, parallel=5, seed=1)))
    assert len(set(first)) > 6
    assert first == lines(list(self_play("tictactoe", parse_player("net=uniform visits=12"), 12, parallel=12, seed=1)))
    assert first != lines(list(self_play(GAME, "net=uniform visits=12", 12, seed=2)))


def test_without_noise_and_temperature_all_games_are_one() -> None:
    records = list(self_play(GAME, "net=uniform visits=30", 5, temperature=0.0, noise=False))
    assert len(set(lines(records))) == 1
    own = list(self_play(GAME, "net=uniform visits=30 dirichlet=on", 5, temperature=None, random_plies=3))
    assert len({record.plan.start for record in own}) > 1


def test_records_fill_a_buffer() -> None:
    buffer = ReplayBuffer(GAME)
    added = buffer.add(self_play(GAME, "net=uniform visits=12", 6, max_plies=7))
    batch = buffer.sample(np.random.default_rng(0), 20)
    assert added == 6
    assert batch.features.shape == (20, *GAME.feature_shape)
    assert batch.policy.shape == (20, 9)
    assert batch.wdl.shape == (20, 3)
    assert batch.features.dtype == batch.policy.dtype == batch.wdl.dtype == np.float32


def test_games_can_be_dropped_half_way() -> None:
    threads = threading.active_count()
    some = list(islice(self_play(GAME, "net=tictactoe visits=20", 500), 3))
    gc.collect()
    assert len(some) == 3
    assert threading.active_count() <= threads + 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"games": 0}, "games must be at least 1.* got 0, 0 and 0"),
        ({"random_plies": -1}, "got 100, -1 and 0"),
        ({"parallel": 0}, "parallel must be 1 to 100,000, got 0"),
        ({"threads": -1}, "threads must be 0 to 1,024, got -1"),
        ({"max_plies": 0}, "max_plies must be more than random_plies, got 0 and 0"),
        ({"player": "visits=0"}, "visits"),
        ({"player": "net=no-such-net.safetensors"}, "no-such-net"),
        ({"game": "no-such-game"}, "no game 'no-such-game'"),
        ({"temperature": -1.0}, "initial"),
    ],
)
def test_wrong_arguments_fail_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, OSError), match=message):
        self_play(settings.pop("game", GAME), settings.pop("player", "net=uniform visits=5"), **settings)
