"""The UCI engine called as a function: its net follows its options, and its clock waits for the net."""

import time

import pytest

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.engine.uci.in_process import InProcessEngine
from hauteur.mcts.lc0_options import Value
from hauteur.networks.evaluators.base import UniformEvaluator


def test_another_net_is_opened_when_its_option_changes() -> None:
    opened: list[str] = []

    def opener(game: _core.Game, choice: NetChoice) -> UniformEvaluator:
        opened.append(choice.net)
        return UniformEvaluator(game)

    with InProcessEngine({"WeightsFile": "uniform"}, opener=opener, seed=1) as engine:
        first = engine.search("startpos", "nodes 20")
        assert engine.search(f"startpos moves {first.move}", "nodes 20").move
        assert opened == ["uniform"]
        engine.options.set("WeightsFile", "rollout")
        assert engine.search("startpos", "nodes 20").move
    assert opened == ["uniform", "rollout"]


def test_the_clock_of_the_first_move_waits_for_the_net() -> None:
    def slow(game: _core.Game, choice: NetChoice) -> UniformEvaluator:
        time.sleep(1.0)
        return UniformEvaluator(game)

    options: dict[str, Value] = {"WeightsFile": "uniform", "Move Overhead": 0, "SmartPruningFactor": 0}
    with InProcessEngine(options, opener=slow, seed=1) as engine:
        move = engine.search("startpos", "movetime 500")
    assert move.report.visits > 1
    assert move.report.reason == "time"


def test_warm_up_opens_the_net_and_leaves_no_tree() -> None:
    opened: list[str] = []

    def opener(game: _core.Game, choice: NetChoice) -> UniformEvaluator:
        opened.append(choice.net)
        return UniformEvaluator(game)

    with InProcessEngine({"WeightsFile": "uniform", "SmartPruningFactor": 0}, opener=opener, seed=1) as engine:
        engine.warm_up()
        assert opened == ["uniform"]
        move = engine.search("startpos", "nodes 200")
        assert (move.report.visits, move.report.pace.new_visits) == (200, 200)
    with InProcessEngine({"WeightsFile": "missing.pb.gz"}) as engine, pytest.raises(FileNotFoundError):
        engine.warm_up()
