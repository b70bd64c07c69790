"""The learning loop end to end: what it leaves behind, the same again for the same seed, and going on after a kill."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_toys import TINY, Silent, assert_same_run, games_of, tiny

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.learning.loop import learn
from hauteur.learning.planned import planned_gate, planned_selfplay
from hauteur.learning.recipe import parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.units import LearningJob, OtherNets, units_of
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.players.search_player import SearchPlayer


def lines_of(folder: Path) -> list[list[int]]:
    return [row["start"] + row["actions"] for row in games_of(folder)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "finished"
    learn(tiny(), folder=folder, display=Silent())
    return folder


def test_a_run_leaves_everything_behind(finished: Path) -> None:
    numbers = [(row["generation"], row["index"]) for row in games_of(finished)]
    assert numbers == [(generation, index) for generation in (1, 2) for index in range(12)]
    metrics = [json.loads(line) for line in (finished / "metrics.jsonl").read_text().splitlines()]
    assert [line["generation"] for line in metrics] == [1, 2]
    assert metrics[1]["games"]["games"] == 12
    assert metrics[1]["games"]["positions"] == sum(len(row["actions"]) for row in games_of(finished)[12:])
    gate = json.loads((finished / "gate" / "gen-00002.json").read_text())
    assert gate["wins"] + gate["draws"] + gate["losses"] == 4
    assert json.loads((finished / "meta.json").read_text())["seed"] == 1
    for name in ("nets/gen-00000", "nets/gen-00001", "nets/gen-00002", "best"):
        assert networks.load(finished / f"{name}.safetensors").description.game == "tictactoe"
    assert networks.load(finished / "nets/gen-00002.safetensors").description.training["games"] == 24
    assert "<svg" in (finished / "report.html").read_text()
    assert not list(finished.rglob("*.tmp*"))


def test_the_same_seed_gives_the_same_run_bit_for_bit(finished: Path, tmp_path: Path) -> None:
    learn(tiny(run={"threads": 3}), folder=tmp_path / "again", display=Silent())
    assert_same_run(finished, tmp_path / "again")
    learn(tiny(run={"seed": 2, "generations": 1}), folder=tmp_path / "other", display=Silent())
    assert lines_of(tmp_path / "other") != lines_of(finished)[:12]


def test_more_generations_go_on_from_the_end(finished: Path, tmp_path: Path) -> None:
    display = Silent()
    folder = tmp_path / "run"
    learn(tiny(run={"generations": 1}), folder=folder, display=display)
    learn(tiny(run={"generations": 2}), folder=folder, display=display)
    assert len(display.lines) == 2
    assert lines_of(folder)[:12] == lines_of(finished)[:12]
    assert len(lines_of(folder)) == 24


def test_fresh_refuses_a_folder_with_a_run(finished: Path) -> None:
    with pytest.raises(ValueError, match="holds a run already"):
        learn(tiny(), folder=finished, fresh=True, display=Silent())


@pytest.mark.parametrize("value", ["wdl", "scalar"])
def test_candidate_against_best_with_the_gate_on_the_episodes(tmp_path: Path, value: str) -> None:
    recipe = tiny(selfplay={"episodes": "candidate-versus-best"}, gate={"by": "episodes"}, network={"value": value})
    run = learn(recipe, folder=tmp_path / "run", display=Silent())
    rows = games_of(tmp_path / "run")
    assert [row["net_first"] for row in rows[:4]] == [0, 0, 0, 0]
    second = rows[12:]
    best = json.loads((tmp_path / "run/gate/gen-00002.json").read_text())["best"]
    assert {row["net_first"] for row in second[::2]} == {1}
    assert {row["net_first"] for row in second[1::2]} == {best}
    gate = json.loads((tmp_path / "run/gate/gen-00002.json").read_text())
    scores = [(1 + row["outcome"] * (1 if row["index"] % 2 == 0 else -1)) / 2 for row in second]
    assert gate["score"] == pytest.approx(np.mean(scores))
    assert (gate["by"], gate["generation"]) == ("episodes", 1)
    assert run.state.best in (0, 1)
    assert run.state.history[0]["best_elo"] == 0, "the first episodes are of one net against itself"


TWO_NETS = {
    "large": {"filters": 8, "blocks": 2, "policy_channels": 2, "value_channels": 2, "value_hidden": 8},
    "search": {"second_net": {"small_visits": 8, "large_visits": 4}, "reuse_tree": False},
}


def test_two_nets_learn_from_the_same_games(tmp_path: Path) -> None:
    recipe = parse_recipe(
        {**TINY, "large": TWO_NETS["large"], "selfplay": {**TINY["selfplay"], "search": TWO_NETS["search"]}}, "test"
    )
    learn(recipe, folder=tmp_path, display=Silent())
    assert learn(recipe, folder=tmp_path, display=Silent()).learners.trainers[1:]  # as the checkpoint has it
    for line in (json.loads(text) for text in (tmp_path / "metrics.jsonl").read_text().splitlines()):
        assert line["train"]["samples"] == line["train_large"]["samples"]
        assert line["train"]["policy_loss"] != line["train_large"]["policy_loss"]
        cost = line["cost"]
        assert 0 < cost["evaluations_large"] < cost["evaluations"]
        units = cost["evaluations"] * (4 / 128) ** 2 / 10 + cost["evaluations_large"] * (8 / 128) ** 2 * 2 / 10
        assert cost["normalised"] == pytest.approx(units)
    for name, filters in (("best", 4), ("best-large", 8), ("nets/gen-00002", 4), ("nets/gen-00002-large", 8)):
        architecture = networks.load(tmp_path / f"{name}.safetensors").description.architecture
        assert isinstance(architecture, ResNetArchitecture)
        assert architecture.filters == filters


def test_the_two_nets_may_have_value_weights_of_their_own(tmp_path: Path) -> None:
    """The first games are those of untrained nets, so the large net differs by its own weight alone."""
    nets = {}
    for name, weights in {
        "both at 1": {"value_weight": 1.0},
        "small at 4": {"value_weight": 4.0, "large_value_weight": 1.0},
        "both at 4": {"value_weight": 4.0},
    }.items():
        values = {**TINY, "large": TWO_NETS["large"], "selfplay": {**TINY["selfplay"], "search": TWO_NETS["search"]}}
        values |= {"train": {**TINY["train"], **weights}, "run": {**TINY["run"], "generations": 1}}
        learn(parse_recipe(values, "test"), folder=tmp_path / name, display=Silent())
        folder = RunFolder(tmp_path / name)
        nets[name] = [networks.load(folder.net(1, large=large)).tensors for large in (False, True)]

    def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
        return all(np.array_equal(one[name], other[name]) for name in one)

    small, large = (dict(zip(nets, column, strict=True)) for column in zip(*nets.values(), strict=True))
    assert same(small["small at 4"], small["both at 4"])
    assert same(large["small at 4"], large["both at 1"])
    assert not same(small["small at 4"], small["both at 1"])
    assert not same(large["small at 4"], large["both at 4"])


def test_the_gate_plays_without_what_makes_games_vary(finished: Path) -> None:
    rules = {"search_contempt": {"n_scl": 3}, "forced_playouts": {"k": 2}, "solver": {}}
    recipe = parse_recipe({**TINY, "selfplay": {**TINY["selfplay"], "search": rules}}, "test")
    game = load_game(recipe.game)
    settings = recipe.selfplay
    seed = recipe.run.seed
    searches = []
    for planned in (
        planned_gate(game, settings, recipe.gate, generation=1, best=1, seed=seed),
        planned_selfplay(game, settings, generation=2, nets=[1], seed=seed),
    ):
        (unit,), sources = units_of(recipe, planned, {1: [RunFolder(finished).net(1)]}, OtherNets(game, recipe), [0])
        with closing(LearningJob(unit, sources, 1)) as job:
            searches += [player.search for player in job.players if isinstance(player, SearchPlayer)]
    gated, best, played = searches
    assert gated == best
    assert (gated.dirichlet, gated.forced_playouts, gated.search_contempt) == (None, None, None)
    assert gated.solver is not None
    assert None not in (played.dirichlet, played.forced_playouts, played.search_contempt)
