"""What a run is said to take on this machine, before it begins."""

from pathlib import Path

import pytest

from hauteur.cli import main
from hauteur.games.registry import load_game
from hauteur.learning import forecast as forecasting
from hauteur.learning.forecast import Forecast, RandomSource, about, forecast, learned_share, mean_plies
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe
from hauteur.learning.replay import Samples
from hauteur.learning.sections import SelfPlaySettings
from hauteur.system.seeds import stream

SMALL = {
    "game": "tictactoe",
    "network": {"filters": 8, "blocks": 1},
    "selfplay": {"games": 8, "visits": 8, "parallel_games": 8, "batch_size": 8},
    "train": {"batch_size": 16},
    "gate": {"by": "off"},
    "run": {"generations": 2, "threads": 1, "solved_positions": 0},
}


def recipe(**sections: object) -> Recipe:
    """A recipe of seconds, with other sections."""
    return Recipe.model_validate({**SMALL, **sections})


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forecast runs of any size, after a tenth of the usual time."""
    monkeypatch.setattr(forecasting, "FEWEST_POSITIONS", 0)
    for name in ("WARM_UP", "PLAYED", "TRAINED"):
        monkeypatch.setattr(forecasting, name, 0.1)


@pytest.mark.usefixtures("any_size")
def test_a_forecast_counts_what_there_is_to_do() -> None:
    few = forecast(recipe())
    many = forecast(recipe(run={"generations": 20, "threads": 1}))
    assert few is not None
    assert many is not None
    assert 2 * 8 * 5 <= few.positions <= 2 * 8 * 9
    assert many.positions == 10 * few.positions
    assert many.samples == 10 * few.samples
    assert few.played > 1
    assert few.trained > 1


def test_time_is_shared_by_threads_and_adds_up() -> None:
    found = Forecast(played=100, trained=1000, positions=60_000, samples=300_000)
    assert found.cpu_seconds == pytest.approx(900)
    assert found.line(1).startswith("on this machine: about 15 min with 1 thread, give or take")
    assert found.line(2).startswith("on this machine: about 8 min with 2 threads")
    assert "a core plays 100 and learns 1,000 positions a second" in found.line(2)


def test_rough_times() -> None:
    assert [about(seconds) for seconds in (0.1, 80, 100, 7000, 7300, 90_000)] == [
        "1 s",
        "80 s",
        "2 min",
        "117 min",
        "2 h",
        "25 h",
    ]


def test_runs_that_are_over_at_once_or_of_another_kind_have_none() -> None:
    assert forecast(recipe()) is None
    two_nets = {"large": {"filters": 16}, "selfplay": {"search": {"second_net": {}}}}
    assert forecast(recipe(**two_nets)) is None
    assert forecast(recipe(run={"backend": "torch"})) is None


def test_a_playout_cap_leaves_its_share_to_learn_from() -> None:
    assert learned_share(SelfPlaySettings()) == 1
    capped = SelfPlaySettings.model_validate({"playout_cap": {"full_share": 0.5, "fast_visits": 4}})
    assert learned_share(capped) == 0.5


def test_random_games_are_cut() -> None:
    game = load_game("connect4")
    assert 7 <= mean_plies(game, None) <= 42
    assert mean_plies(game, 5) == 5


def test_random_batches_are_like_those_of_the_replay_buffer() -> None:
    game = load_game("connect4")
    drawn = RandomSource(game).sample(stream(1, "test"), 6, root_value_share=0.0, symmetries=True)
    assert isinstance(drawn, Samples)
    assert drawn.features.shape == (6, *game.feature_shape)
    assert drawn.policy.sum(1) == pytest.approx(1)
    assert drawn.wdl.sum(1) == pytest.approx(1)


@pytest.mark.usefixtures("any_size")
def test_a_forecast_changes_nothing_of_the_run(tmp_path: Path) -> None:
    plain = learn(recipe(), folder=tmp_path / "plain")
    forecast(recipe())
    after = learn(recipe(), folder=tmp_path / "after")
    assert plain.folder.best().read_bytes() == after.folder.best().read_bytes()


@pytest.mark.usefixtures("any_size")
def test_it_is_said_before_a_run_and_not_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["train", "tictactoe", "run.threads=1", "run.solved_positions=0", "selfplay.games=8", "gate.games=2"]
    assert main.main([*words, "run.generations=1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("on this machine: about ")
    assert lines[2].startswith("learning tictactoe from zero")
    assert main.main([*words, "run.generations=2"]) == 0
    assert "on this machine" not in capsys.readouterr().out
