"""The gate: decisions and their reasons, fair pairs, a match that a stronger player wins."""

import pytest

from hauteur import _core
from hauteur.config import SearchParams, Temperature
from hauteur.gate import BEST, CANDIDATE, decide, gate_match, pair_plans
from hauteur.player import Player
from hauteur.rating import Record
from hauteur.recipe import GateSettings
from learning_toys import ToyEvaluator

GAME = _core.Game("connect4")


def settings(**values: object) -> GateSettings:
    return GateSettings.model_validate(values)


@pytest.mark.parametrize(
    ("record", "promoted"),
    [
        (Record(wins=55, losses=45), True),
        (Record(wins=54, losses=46), False),
        (Record(wins=45, draws=20, losses=35), True),  # 45 + 10 of 100
        (Record(wins=44, draws=21, losses=35), False),
        (Record(), False),
    ],
)
def test_draws_count_half_and_the_threshold_is_reached_exactly(record: Record, promoted: bool) -> None:
    decision = decide(settings(), record, generation=3, best=1)
    assert decision.promoted is promoted
    assert ("reaches" if promoted else "is below") in decision.reason
    assert "55.0%" in decision.reason


def test_a_gate_that_is_off_takes_the_newest() -> None:
    decision = decide(settings(by="off"), Record(), generation=2, best=1)
    assert decision.promoted
    assert "gate is off" in decision.reason


def test_a_decision_is_recorded_with_counts_score_and_interval() -> None:
    recorded = decide(settings(), Record(wins=30, draws=10, losses=20), generation=4, best=2).to_json()
    assert (recorded["wins"], recorded["draws"], recorded["losses"], recorded["games"]) == (30, 10, 20, 60)
    assert recorded["score"] == pytest.approx(35 / 60)
    low, high = recorded["score_interval_95"]
    assert low < 35 / 60 < high
    assert recorded["elo"] == pytest.approx(58.5, abs=0.1)  # 400 log10(35 / 25)
    assert decide(settings(), Record(wins=5), generation=1, best=0).to_json()["elo"] is None


def test_pairs_share_their_opening_and_swap_seats() -> None:
    plans = list(pair_plans(GAME, 9, 4, purpose="x", seed=1))
    assert [plan.seats for plan in plans[:4]] == [(CANDIDATE, BEST), (BEST, CANDIDATE)] * 2
    assert all(len(plan.start) == 4 for plan in plans)
    assert [first.start == second.start for first, second in zip(plans[::2], plans[1::2], strict=False)] == [True] * 4
    assert len({plan.start for plan in plans}) > 3


def test_more_visits_win_the_match() -> None:
    strong, weak = (
        Player(name, ToyEvaluator(GAME), SearchParams(), visits, Temperature(initial=0.5))
        for name, visits in (("strong", 200), ("weak", 4))
    )
    seen: list[int] = []
    gate = settings(games=12, opening_plies=2)
    record = gate_match(GAME, strong, weak, gate, generation=1, seed=1, parallel=12, batch_size=8, on_games=seen.append)
    assert seen == list(range(1, 13))
    assert record.games == 12
    assert record.score > 0.7
    swapped = gate_match(GAME, weak, strong, gate, generation=1, seed=1, parallel=12, batch_size=8)
    assert swapped.score < 0.3
