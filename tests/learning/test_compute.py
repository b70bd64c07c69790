"""The compute of a run: the rule, true multiply-adds, a hand count of a generation, kills, and the budget."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from run_toys import Silent

from hauteur.learning import step_games
from hauteur.learning.compute import (
    NetCompute,
    UnitCosts,
    compute_metrics,
    counted_by_layer,
    counted_by_torch,
    flops_until,
    net_compute,
)
from hauteur.learning.context import Run
from hauteur.learning.display import completion
from hauteur.learning.loop import learn
from hauteur.learning.recipe import Recipe, parse_recipe, recipe_toml
from hauteur.learning.run_folder import RunFolder
from hauteur.networks.modules import initialise
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.system.files import write_bytes

FILTERS, BLOCKS, CHANNELS, HIDDEN, PLANES, ACTIONS, PLACES = 4, 2, 2, 8, 3, 7, 42
VALUES: dict[str, Any] = {
    "game": "connect4",
    "network": {
        "filters": FILTERS,
        "blocks": BLOCKS,
        "policy_channels": CHANNELS,
        "value_channels": CHANNELS,
        "value_hidden": HIDDEN,
    },
    "selfplay": {"games": 12, "visits": 8, "parallel_games": 8, "batch_size": 4, "shard_games": 4},
    "train": {"batch_size": 16, "samples_per_position": 1.0},
    "gate": {"games": 4, "opening_plies": 2},
    "run": {"generations": 2, "threads": 1, "solved_positions": 0},
}


def recipe(**run: Any) -> Recipe:
    return parse_recipe({**VALUES, "run": {**VALUES["run"], **run}}, "test")


def parameters_by_hand() -> int:
    """Weights, normalisations (two numbers a channel) and biases of the tower of VALUES."""
    stem = 9 * PLANES * FILTERS + 2 * FILTERS
    blocks = BLOCKS * 2 * (9 * FILTERS * FILTERS + 2 * FILTERS)
    heads = 2 * (FILTERS * CHANNELS + 2 * CHANNELS)
    policy = PLACES * CHANNELS * ACTIONS + ACTIONS
    value = PLACES * CHANNELS * HIDDEN + HIDDEN + HIDDEN * 3 + 3
    return stem + blocks + heads + policy + value


def multiply_adds_by_hand() -> int:
    """Each weight of a convolution once a place, each of a dense layer once."""
    convolutions = 9 * PLANES * FILTERS + BLOCKS * 2 * 9 * FILTERS * FILTERS + 2 * FILTERS * CHANNELS
    return PLACES * convolutions + PLACES * CHANNELS * (ACTIONS + HIDDEN) + HIDDEN * 3


def test_a_net_costs_what_a_hand_counts() -> None:
    architecture = ResNetArchitecture.sized(recipe().network, (PLANES, 6, 7), ACTIONS)
    network = initialise(architecture, 1)
    network.train()
    found = net_compute(network, architecture.feature_shape)
    assert found == NetCompute(parameters_by_hand(), PLACES, multiply_adds_by_hand())
    assert network.training


@pytest.mark.parametrize(
    "more",
    [{}, {"se_channels": 2}, {"pooling": 2, "pooling_every": 1}, {"value": "scalar"}],
    ids=str,
)
def test_layers_are_counted_as_torch_counts_them(more: dict[str, Any]) -> None:
    settings = parse_recipe({**VALUES, "network": {**VALUES["network"], **more}}, "test").network
    architecture = ResNetArchitecture.sized(settings, (PLANES, 6, 7), ACTIONS)
    network = initialise(architecture, 1).eval()
    features = torch.zeros((1, *architecture.feature_shape))
    with torch.no_grad():
        assert counted_by_layer(network, features) == counted_by_torch(network, features)


def test_a_run_does_not_import_torch_s_compiler(tmp_path: Path) -> None:
    """It takes two seconds, and comes with torch's counter of operations and with its optimisers."""
    write_bytes(tmp_path / "recipe.toml", recipe_toml(recipe(directory=str(tmp_path), generations=1)).encode())
    program = (
        "import sys; from hauteur.cli.main import main; status = main(['train', 'recipe.toml', '--run', 'run']); "
        "print(status, 'torch._dynamo' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert ended.stdout.splitlines()[-1] == "0 False"


def test_the_rule_charges_two_and_six_a_parameter_and_place() -> None:
    net = NetCompute(parameters=10, places=64, multiply_adds=500)
    assert net.flops(evaluations=3, samples=2) == (2 * 3 + 6 * 2) * 10 * 64
    assert net.true_multiply_adds(evaluations=3, samples=2) == (3 + 3 * 2) * 500
    large = NetCompute(parameters=100, places=64, multiply_adds=5000)
    first = compute_metrics(None, 1000, [net, large], (3, 1))
    assert first["flops_total"] == 1000 + first["flops"] == 1000 + 2 * 64 * (3 * 10 + 100)
    second = compute_metrics(first, 1000, [net, large], (0, 0), samples=5)
    assert second["samples"] == 10
    assert second["flops"] == first["flops"] + 6 * 64 * 5 * 110


def test_generations_before_the_count_are_charged_by_their_metrics() -> None:
    net = NetCompute(parameters=10, places=2, multiply_adds=1)
    old = {"cost": {"evaluations": 7}, "train": {"samples": 5}}
    assert flops_until([old, old], [net]) == 2 * (2 * 7 + 6 * 5) * 20
    assert flops_until([old, {"compute": {"flops_total": 99}}, old], [net]) == 99 + (2 * 7 + 6 * 5) * 20


def test_a_generation_is_what_a_hand_counts(tmp_path: Path) -> None:
    run = learn(recipe(), folder=tmp_path / "run", display=Silent())
    place = PLACES * parameters_by_hand()
    before = 0
    for line in RunFolder(tmp_path / "run").read_metrics():
        in_games = line["cost"]["evaluations"]
        in_gate = line["compute"]["evaluations"] - in_games
        assert in_games == sum(UnitCosts(run.folder.costs).of("self-play", line["generation"]))
        assert in_gate > line["gate"]["games"], "each game of the gate evaluates more than one position"
        samples = line["train"]["steps"] * 16
        assert line["compute"]["samples"] == samples
        assert line["compute"]["flops"] == (2 * (in_games + in_gate) + 6 * samples) * place
        before += line["compute"]["flops"]
        assert line["compute"]["flops_total"] == before


def test_a_killed_generation_is_charged_for_all_its_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []

    def killed(path: Path, content: bytes) -> None:
        written.append(path)
        if len(written) == 3:
            raise KeyboardInterrupt
        write_bytes(path, content)

    monkeypatch.setattr(step_games, "write_bytes", killed)
    with pytest.raises(KeyboardInterrupt):
        learn(recipe(generations=1), folder=tmp_path / "run", display=Silent())
    monkeypatch.setattr(step_games, "write_bytes", write_bytes)
    learn(recipe(generations=1), folder=tmp_path / "run", display=Silent())
    folder = RunFolder(tmp_path / "run")
    (line,) = folder.read_metrics()
    lines = folder.costs.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4, "three units, and the one whose file was not written again"
    assert line["cost"]["evaluations"] == sum(UnitCosts(folder.costs).of("self-play", 1))
    assert line["compute"]["evaluations"] > line["cost"]["evaluations"]


def test_a_budget_ends_a_run_and_a_greater_one_continues_it(tmp_path: Path) -> None:
    whole = learn(recipe(generations=3), folder=tmp_path / "whole", display=Silent())
    totals = [line["compute"]["flops_total"] for line in whole.state.history]
    folder = RunFolder(tmp_path / "run")
    display = Silent()
    learn(recipe(generations=3, budget_flops=totals[0] + 1), folder=folder.path, display=display)
    assert len(folder.read_metrics()) == 2
    assert folder.is_complete()
    assert "FLOPs is spent" in display.lines[-1]
    # Another look at it said that it goes on.
    state = learn(recipe(generations=3, budget_flops=totals[0] + 1), folder=folder.path, display=display).state
    of_two = completion(recipe(generations=3, budget_flops=totals[0] + 1), state, totals[1])
    assert of_two.startswith("2 of 3 generations, ")
    assert of_two.endswith(f" FLOPs, the budget is {totals[0] + 1:.3g}")
    assert completion(recipe(generations=3, budget_flops=2 * totals[1]), state, totals[1]) == ""
    again: Run = learn(recipe(generations=3, budget_flops=2 * totals[2]), folder=folder.path, display=Silent())
    assert len(again.state.history) == 3
    assert folder.stored_recipe().run.budget_flops == 2 * totals[2]
    of_three = completion(again.recipe, again.state, totals[2])
    assert of_three.endswith(f"of the {2 * totals[2]:.3g} FLOPs, for which it needs a greater run.generations")
    assert again.learners.tensors().keys() == whole.learners.tensors().keys()
    assert folder.net(3).read_bytes() == RunFolder(tmp_path / "whole").net(3).read_bytes()
