"""Beginning a run with recorded games or a net: what is learned, held out and taught, and what does not fit."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_toys
import start_toys
from learning_toys import ToyEvaluator
from output_differences import legal_policy
from recorded_games import random_record, shard_of
from start_toys import TICTACTOE, Silent, metrics_of, tiny

import hauteur as ht
from hauteur import _core, networks
from hauteur.games.played_game import position_after
from hauteur.learning.loop import learn
from hauteur.learning.options.start import HELD_OUT, LEARN, TaughtGames, bring_in, check_start, open_data, taught_games
from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.recorded_files import good_games
from hauteur.learning.trainers import first_trainer
from hauteur.networks import ResNetArchitecture
from hauteur.networks.architecture import NetworkSettings
from hauteur.networks.modules import initialise, tensors_of

pytestmark = pytest.mark.quick

shard, teacher_file = start_toys.shard, start_toys.teacher_file  # fixtures


def test_a_run_that_only_learns_from_games(tmp_path: Path, shard: Path) -> None:
    display = Silent()
    folder = tmp_path / "run"
    run = learn(
        tiny({"games": [str(shard)], "epochs": 2.5, "hold_out": 0.2}, train={"warmup_steps": 0}),
        folder=folder,
        display=display,
    )
    (line,) = metrics_of(folder)
    start = line["start"]
    assert line["generation"] == 0
    assert start["games"] + start["held_out_games"] == 60
    assert 3 <= start["held_out_games"] <= 25
    assert len(start["rounds"]) == 3
    steps = [found["train"]["steps"] for found in start["rounds"]]
    assert sum(steps) == line["train_steps"] == round(2.5 * start["positions"] / 16)
    assert steps[2] == pytest.approx(steps[0] / 2, abs=1)
    losses = [found["held_out"]["policy_loss"] for found in start["rounds"]]
    assert losses[-1] < losses[0]
    assert start["rounds"][0]["held_out"]["positions"] == start["held_out_positions"]
    assert [text.split("  ")[0] for text in display.lines] == ["start 1/3", "start 2/3", "start 3/3"]
    page = (folder / "report.html").read_text()
    assert "Learning from recorded games" in page
    assert page.count("<svg") >= 2
    best, first = (networks.load(folder / name) for name in ("best.safetensors", "nets/gen-00000.safetensors"))
    assert all(np.array_equal(best.tensors[name], first.tensors[name]) for name in best.tensors)
    trained = run.learners.trainers[0].network_tensors()
    assert all(np.array_equal(best.tensors[name], trained[name]) for name in best.tensors)
    learn(tiny({"games": [str(shard)], "epochs": 2.5, "hold_out": 0.2}, train={"warmup_steps": 0}), folder=folder)
    assert len(metrics_of(folder)) == 1


def test_held_out_games_are_apart_whole_and_the_same_for_the_same_seed(tmp_path: Path, shard: Path) -> None:
    facts = [bring_in([str(shard)], TICTACTOE, tmp_path / name, hold_out=0.3, seed=seed) for name, seed in ONCE]
    first, again, other = (
        [
            [
                tuple(stored.record.actions)
                for path in sorted((tmp_path / name).glob(f"{part}-*"))
                for stored in good_games(path)
            ]
            for part in (LEARN, HELD_OUT)
        ]
        for name, _ in ONCE
    )
    assert first == again != other
    assert len(first[0]) == facts[0].counts[LEARN]
    assert len(first[1]) == facts[0].counts[HELD_OUT] > 5
    everything = sorted(tuple(stored.record.actions) for stored in good_games(shard))
    assert sorted(first[0] + first[1]) == everything
    data = open_data(TICTACTOE, tmp_path / "a")
    assert data.learn.positions == sum(map(len, first[0]))
    assert data.held_out is not None
    assert data.held_out.positions == sum(map(len, first[1]))


ONCE = (("a", 1), ("b", 1), ("c", 2))


def test_the_teachers_policy_and_values_become_the_targets(tmp_path: Path) -> None:
    teacher = ToyEvaluator(TICTACTOE)
    records = [random_record(TICTACTOE, index, start=(4,) if index % 2 else ()) for index in range(6)]
    taught = list(taught_games(TICTACTOE, records, teacher))
    buffer = TaughtGames(TICTACTOE, 100)
    buffer.extend([shard_of(tmp_path / "taught.parquet", TICTACTOE, taught)])
    samples = buffer.samples_of(np.arange(buffer.positions))
    row = 0
    for record in records:
        state = position_after(TICTACTOE.new_initial_state(), record.plan.start)
        for action in record.actions.tolist():
            logits, wdl = teacher(state.features()[None])
            expected = np.zeros(TICTACTOE.num_actions)
            expected[state.legal_actions()] = legal_policy(state, logits[0])
            assert samples.policy[row] == pytest.approx(expected, abs=2e-5)
            assert samples.wdl[row] == pytest.approx(wdl[0], abs=1e-6)
            assert np.array_equal(samples.features[row], state.features())
            state.apply(action)
            row += 1
    assert row == buffer.positions
    assert [record.outcome for record in taught] == [record.outcome for record in records]


SHAPE = run_toys.TINY["network"]


def begun(**changes: dict[str, Any]) -> Recipe:
    """A recipe of one generation, at a constant rate and without a gate."""
    constant = {"train": {"schedule": "constant"} | changes.pop("train", {}), "gate": {"by": "off"}}
    return run_toys.tiny(**constant, **{"run": {"generations": 1}, "selfplay": {"opening_plies": 0}} | changes)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    shape = ResNetArchitecture(feature_shape=(2, 3, 3), num_actions=9, **SHAPE)
    path = tmp_path / "start.safetensors"
    networks.save(path, shape, tensors_of(initialise(shape, 77)), game="tictactoe")
    return path


def test_a_run_begins_with_the_weights_of_a_file(net: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = learn(begun(start={"net": str(net)}), folder=folder, display=Silent())
    first = networks.load(folder / "nets/gen-00000.safetensors")
    start = networks.load(net)
    assert first.description.architecture == start.description.architecture
    for name, values in start.tensors.items():
        np.testing.assert_array_equal(first.tensors[name], values)
    net.unlink()  # a run that has begun does not need the file
    again = learn(begun(start={"net": str(net)}), folder=folder, display=Silent())
    assert again.learners.steps == run.learners.steps > 0


def test_a_net_that_does_not_fit_is_refused(net: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape("but the section [network] says resnet 16x1")) as caught:
        learn(begun(start={"net": str(net)}, network={"filters": 16}), folder=tmp_path / "a", display=Silent())
    assert str(caught.value).startswith(str(net))
    other = parse_recipe({"game": "connect4", "start": {"net": str(net)}, "gate": {"by": "off"}}, "test")
    with pytest.raises(ValueError, match=r"is a net for tictactoe .* not for connect4"):
        learn(other, folder=tmp_path / "b", display=Silent())


def test_a_run_begins_from_a_net_by_name() -> None:
    recipe = Recipe.model_validate({"game": "tictactoe", "start": {"net": "tictactoe"}})
    assert recipe.start is not None
    check_start(TICTACTOE, recipe.start)
    found = first_trainer(TICTACTOE, recipe).network_tensors()
    shipped = networks.load("tictactoe").tensors
    assert found.keys() == shipped.keys()
    assert all(np.array_equal(found[name], values) for name, values in shipped.items())


def test_a_net_for_another_board_gives_the_layers_that_fit(tmp_path: Path) -> None:
    large = _core.Game("hex(size=4)")
    net = tmp_path / "hex3.safetensors"
    shape = ht.ResNet(filters=4, blocks=1, policy="convolution", value_channels=1, value_hidden=4)
    ht.Trainer(ht.load_game("hex(size=3)"), shape).save(net)
    begun = Recipe.model_validate({"game": "hex(size=4)", "start": {"net": str(net)}})
    assert begun.start is not None
    check_start(large, begun.start)
    trainer = first_trainer(large, begun)
    architecture = trainer.architecture
    tensors = trainer.network_tensors()
    old = networks.load(net).tensors
    assert isinstance(architecture, ResNetArchitecture)
    assert (architecture.feature_shape[1:], architecture.filters) == ((4, 4), 4)
    same = {name for name in tensors if tensors[name].shape == old[name].shape and (tensors[name] == old[name]).all()}
    assert any(name.startswith("policy.output") for name in same)
    assert {name for name in tensors if name not in same if "hidden.weight" in name} == {"value.hidden.weight"}
    with pytest.raises(ValueError, match=r"not for tictactoe"):
        check_start(TICTACTOE, begun.start)
    with pytest.raises(ValueError, match="keeps its shape"):
        first_trainer(large, begun.model_copy(update={"network": NetworkSettings(filters=8)}))
