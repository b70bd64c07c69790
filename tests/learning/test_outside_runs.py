"""Runs of outside games and careless settings: the limit of plies, gates that could not differ, divergence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import hauteur as ht
from hauteur.cli import main
from hauteur.games import registry
from hauteur.learning.gate import GateResults, decide, divergence
from hauteur.learning.planned import planned_gate, planned_reanalysis
from hauteur.learning.recipe import Recipe, check_gate
from hauteur.learning.recorded_games import Games
from hauteur.learning.resume import rate_change
from hauteur.learning.run import LearningRun
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import GateSettings, ReanalyseSettings, SelfPlaySettings
from hauteur.system import plugins

FIELD = Path(__file__).parents[1] / "support/field/trainers"
TINY = str(FIELD / "tiny.toml")


@pytest.fixture(autouse=True)
def _imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test imports anew."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(plugins, "_imported", set())


def importing(name: str) -> list[str]:
    return ["--import", str(FIELD / f"{name}.py")]


def tictactoe(**sections: dict[str, Any]) -> Recipe:
    """A small recipe, with some settings of its sections changed."""
    values: dict[str, dict[str, Any]] = {
        "network": {"filters": 4, "blocks": 1},
        "selfplay": {"games": 8, "visits": 6},
        "train": {"batch_size": 16},
        "run": {"generations": 1, "threads": 1, "solved_positions": 0},
    }
    for name, changed in sections.items():
        values[name] = values.get(name, {}) | changed
    return Recipe.model_validate({"game": "tictactoe", **values})


# -- the limit of plies ------------------------------------------------------------------------------------------------


def test_a_game_without_end_is_trained(tmp_path: Path) -> None:
    words = ["train", TINY, "selfplay.max_plies=60", "train.reanalyse.share=0.2", "--run", str(tmp_path)]
    assert main.main([*importing("to_and_fro"), *words]) == 0
    gate = json.loads((tmp_path / "gate/gen-00001.json").read_text("utf-8"))
    assert gate["games"] == 4
    assert gate["different_games"] <= 4
    assert len(LearningRun(tmp_path).metrics) == 2


def test_the_limit_is_planned_in_every_step() -> None:
    game = ht.load_game("tictactoe")
    play = SelfPlaySettings(max_plies=7)
    gate = GateSettings(games=2)
    assert planned_gate(game, play, gate, generation=1, best=0, seed=1).settings.max_plies == 7
    window = Games.of(list(ht.self_play(game, "net=uniform visits=4", games=3, threads=1)))
    again = ReanalyseSettings(share=1.0)
    _, planned = planned_reanalysis(game, play, again, window, generation=1, net=0, seed=1)
    assert planned.settings.max_plies == 7


# -- what is refused at the start --------------------------------------------------------------------------------------


def test_a_start_that_is_over_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert main.main([*importing("zero_while_on"), "train", TINY, "game=zero-while-on", "--run", str(run)]) == 2
    message = "zero-while-on: the start is over: outcome() is 0; None means that the game goes on"
    assert capsys.readouterr().err.strip() == f"hauteur: {message}"
    assert not run.exists()


FIXED = {"games": 10, "temperature": {"initial": 0}}


@pytest.mark.parametrize("by", ["match", "sprt"])
def test_a_gate_of_games_all_alike_is_refused(by: str, tmp_path: Path) -> None:
    recipe = tictactoe(gate={**FIXED, "by": by})
    with pytest.raises(ValueError, match=r"all its pairs would be the same two games.*gate.opening_plies") as caught:
        ht.learn(recipe, out=tmp_path / "run")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "sections",
    [
        {"gate": {**FIXED, "opening_plies": 1}},
        {"gate": {**FIXED, "temperature": {"initial": 0.1}}},
        {"gate": {**FIXED, "temperature": {"initial": 0, "cutoff_move": 1, "endgame": 0.5}}},
        {"gate": {**FIXED, "games": 2}},
        {"gate": {**FIXED, "by": "off"}},
        {"gate": FIXED, "selfplay": {"search": {"gumbel": {}, "dirichlet": None}}},
        {"gate": FIXED, "selfplay": {"search": {"variance": {"mode": "half_normal"}}}},
        {},
    ],
)
def test_gates_whose_games_may_differ(sections: dict[str, dict[str, Any]]) -> None:
    check_gate(tictactoe(**sections))


@pytest.mark.parametrize(
    "sections",
    [
        {"gate": {**FIXED, "temperature": {"initial": 0, "decay_moves": 0, "endgame": 0.5}}},  # which never begins
        {"gate": FIXED, "selfplay": {"search": {"gumbel": {"noise": 0}, "dirichlet": None}}},
    ],
)
def test_gates_whose_games_cannot_differ(sections: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="the same two games"):
        check_gate(tictactoe(**sections))


def test_openings_of_the_gate_are_shorter_than_its_games() -> None:
    with pytest.raises(ValueError, match=r"max_plies must be more than gate.opening_plies, got 4, 4"):
        check_gate(tictactoe(gate={"opening_plies": 4}, selfplay={"max_plies": 4}))


# -- training that goes wrong ------------------------------------------------------------------------------------------


def test_a_net_whose_training_diverged_is_not_promoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tictactoe(gate={"by": "off"}, train={"learning_rate": 10, "schedule": "constant", "warmup_steps": 0})
    ht.learn(recipe, out=tmp_path)
    gate = json.loads((tmp_path / "gate/gen-00001.json").read_text("utf-8"))
    assert not gate["promoted"]
    assert "the training diverged" in gate["reason"]
    assert "its net is not promoted" in capsys.readouterr().err
    assert RunFolder(tmp_path).best().read_bytes() == RunFolder(tmp_path).net(0).read_bytes()


@pytest.mark.parametrize(
    ("policy", "value", "is_diverged"),
    [(2.2, 1.1, False), (6.5, 1.1, False), (6.7, 1.1, True), (2.2, 3.2, False), (2.2, 3.4, True)],
)
def test_what_counts_as_divergence(policy: float, value: float, is_diverged: bool) -> None:
    found = divergence({"policy_loss": policy, "value_loss": value}, 9)
    assert (found is not None) is is_diverged
    decision = decide(GateSettings(by="off"), GateResults(), generation=1, best=0, diverged=found)
    assert decision.promoted is not is_diverged


def buffer_of_games() -> tuple[ht.ReplayBuffer, object]:
    game = ht.load_game("tictactoe")
    buffer = ht.ReplayBuffer(game)
    buffer.add(ht.self_play(game, "net=uniform visits=6", games=6, threads=1))
    return buffer, game


class Spoilt:
    """A buffer whose batches have a wrong number from some draw on."""

    def __init__(self, buffer: ht.ReplayBuffer, first: int) -> None:
        self.buffer = buffer
        self.left = first

    def sample(self, *arguments: object, **options: object) -> object:
        found = self.buffer.sample(*arguments, **options)  # type: ignore[arg-type]
        self.left -= 1
        if self.left < 0:
            found.wdl[0] = np.nan
        return found


def test_a_loss_that_is_no_number_is_named_where_it_arises() -> None:
    buffer, game = buffer_of_games()
    settings = ht.TrainSettings(batch_size=8)
    trainer = ht.Trainer(game, ht.ResNet(filters=4, blocks=1), settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"in generation 1 from step 4 of 9 on \(.*value nan\)"):
        trainer.fit(Spoilt(buffer, 3), steps=9, threads=1)  # type: ignore[arg-type]
    begun = ht.Trainer(game, ht.ResNet(filters=4, blocks=1), settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"from step 1 of 9 on .*what it learns from"):
        begun.fit(Spoilt(buffer, 0), steps=9, threads=1)  # type: ignore[arg-type]


def test_weights_that_are_no_numbers_after_the_last_step_are_named() -> None:
    buffer, game = buffer_of_games()
    trainer = ht.Trainer(game, ht.ResNet(filters=4, blocks=1), ht.TrainSettings(batch_size=8))  # type: ignore[arg-type]
    first = next(iter(trainer.network.parameters()))

    def spoil(step: int) -> None:
        if step == 3:
            with torch.no_grad():
                first.fill_(torch.inf)

    with pytest.raises(ValueError, match=r"the training of generation 1 left .* without finite numbers"):
        trainer.fit(buffer, steps=3, threads=1, on_step=spoil)


# -- more generations --------------------------------------------------------------------------------------------------


def test_more_generations_that_change_the_learning_rate_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tictactoe(gate={"by": "off"}, train={"learning_rate": 0.01, "final_learning_rate": 0.001})
    ht.learn(recipe, out=tmp_path)
    capsys.readouterr()
    ht.learn(tmp_path, "run.generations=3")
    warnings = capsys.readouterr().err
    assert "run.generations is 3 and was 1" in warnings
    assert "generation 2 begins with 0.00775, 7.8 times the 0.001" in warnings
    ht.learn(tmp_path, "run.generations=3")
    assert "run.generations" not in capsys.readouterr().err


@pytest.mark.parametrize("schedule", ["constant", "one_cycle"])
def test_other_schedules_do_not_depend_on_the_generations(schedule: str) -> None:
    before = tictactoe(train={"schedule": schedule})
    assert rate_change(before, tictactoe(train={"schedule": schedule}, run={"generations": 9}), 2) is None


# -- files of a run ----------------------------------------------------------------------------------------------------


def test_report_sees_nets_and_decisions_that_were_emptied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ht.learn(tictactoe(gate={"games": 2}), out=tmp_path)
    capsys.readouterr()
    assert main.main(["report", str(run.folder)]) == 0
    assert "warning" not in capsys.readouterr().err
    emptied = [tmp_path / "nets/gen-00000.safetensors", tmp_path / "gate/gen-00001.json"]
    for path in emptied:
        path.write_bytes(b"")
    assert main.main(["report", str(run.folder)]) == 0
    warnings = capsys.readouterr().err
    assert all(f"hauteur: warning: {path}: " in warnings for path in emptied)
