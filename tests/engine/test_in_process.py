"""The UCI engine called as a function: its net follows its options."""

from hauteur.engine.uci.in_process import InProcessEngine
from hauteur.engine.uci.net import NetChoice
from hauteur.games.registry import make
from hauteur.networks.evaluators.base import UniformEvaluator


def test_another_net_is_opened_when_its_option_changes() -> None:
    opened: list[str] = []

    def opener(choice: NetChoice) -> UniformEvaluator:
        opened.append(choice.spec)
        return UniformEvaluator(make("chess"))

    with InProcessEngine({"WeightsFile": "uniform"}, opener=opener, seed=1) as engine:
        first = engine.search("startpos", "nodes 20")
        assert engine.search(f"startpos moves {first.move}", "nodes 20").move
        assert opened == ["uniform"]
        engine.options.set("WeightsFile", "rollout")
        assert engine.search("startpos", "nodes 20").move
    assert opened == ["uniform", "rollout"]
