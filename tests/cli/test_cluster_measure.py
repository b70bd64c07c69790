"""`hauteur cluster measure` writes constants that the simulation reads."""

from pathlib import Path

import pytest

from hauteur.cli.main import main
from hauteur.cluster.model.costs import read_costs
from hauteur.cluster.model.outcome import outcome

RECIPE = str(Path(__file__).parents[2] / "runs" / "tictactoe.toml")


def test_what_is_measured_can_be_simulated(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "mine.toml"
    small = ("selfplay.shard_games=6", "selfplay.visits=8", "train.batch_size=32")
    assert (
        main(["cluster", "measure", RECIPE, *small, "--units", "4", "--folder", str(tmp_path), "--out", str(file)]) == 0
    )
    costs = read_costs(str(file))
    assert costs.unit.games == 6
    assert 6 * 5 <= costs.unit.positions <= 6 * 9
    assert costs.unit.result_bytes > 1000
    assert min(costs.unit.seconds, costs.driver.take_seconds, costs.driver.write_seconds, costs.driver.read_seconds) > 0
    assert costs.driver.write_cpu_seconds <= costs.driver.write_seconds
    assert costs.generation.train_positions_per_second < 1e7
    assert outcome(costs, 10, lag=1, seeds=[1]).share > 0
    assert sorted(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--units", "2"], "--units must be 4 to 1,000, got 2"),
        (["--units", "5"], "--units must be even, since two end together, got 5"),
        (["--folder", "nowhere"], "--folder nowhere: is not a folder"),
        (["--out", "nowhere/mine.toml"], "nowhere/mine.toml: the folder nowhere is not there"),
        (["selfplay.visit=3"], "selfplay.visit is not a setting"),
    ],
)
def test_bad_input_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "measure", RECIPE, *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
