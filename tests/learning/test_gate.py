"""The gate: decisions and their reasons, fair pairs, a match that a stronger player wins."""

import pytest
from learning_toys import ToyEvaluator
from selfplay_toys import gate_match

from hauteur import _core
from hauteur.learning.gate import GateResults, decide, sprt_of
from hauteur.learning.planned import PlannedGames, planned_gate
from hauteur.learning.sections import GateSettings, SelfPlaySettings
from hauteur.matches.ratings.elo import MatchScore
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.players.search_player import SearchPlayer

pytestmark = pytest.mark.quick

GAME = _core.Game("connect4")


def results(**counts: int) -> GateResults:
    return GateResults(record=MatchScore(**counts))


def settings(**values: object) -> GateSettings:
    return GateSettings.model_validate(values)


def planned(gate: GateSettings) -> PlannedGames:
    sizes = SelfPlaySettings(parallel_games=12, batch_size=8)
    return planned_gate(GAME, sizes, gate, generation=1, best=0, seed=1)


@pytest.mark.parametrize(
    ("record", "promoted"),
    [
        (MatchScore(wins=55, losses=45), True),
        (MatchScore(wins=54, losses=46), False),
        (MatchScore(wins=45, draws=20, losses=35), True),  # 45 + 10 of 100
        (MatchScore(wins=44, draws=21, losses=35), False),
        (MatchScore(), False),
    ],
)
def test_draws_count_half_and_the_threshold_is_reached_exactly(record: MatchScore, promoted: bool) -> None:
    decision = decide(settings(), GateResults(record=record), generation=3, best=1)
    assert decision.promoted is promoted
    assert ("reaches" if promoted else "is below") in decision.reason
    assert "55.0%" in decision.reason


def test_a_gate_that_is_off_takes_the_newest() -> None:
    decision = decide(settings(by="off"), GateResults(), generation=2, best=1)
    assert decision.promoted
    assert "gate is off" in decision.reason


def test_a_decision_is_recorded_with_counts_score_and_interval() -> None:
    recorded = decide(settings(), results(wins=30, draws=10, losses=20), generation=4, best=2).to_json()
    assert (recorded["wins"], recorded["draws"], recorded["losses"], recorded["games"]) == (30, 10, 20, 60)
    assert recorded["score"] == pytest.approx(35 / 60)
    low, high = recorded["score_interval_95"]
    assert low < 35 / 60 < high
    assert recorded["elo"] == pytest.approx(58.5, abs=0.1)  # 400 log10(35 / 25)
    assert decide(settings(), results(wins=5), generation=1, best=0).to_json()["elo"] is None


SPRT = {"elo0": 0.0, "elo1": 100.0}


def test_a_sequential_gate_ends_early_and_says_why() -> None:
    gate = settings(by="sprt", games=200, opening_plies=2, sprt=SPRT)
    strong, weak = (
        SearchPlayer(name, ToyEvaluator(GAME), SearchParams(), visits, Temperature(initial=0.5))
        for name, visits in (("strong", 200), ("weak", 4))
    )
    match = gate_match([strong, weak], planned(gate), sprt_of(gate))
    assert match.over
    assert match.test is not None
    assert 2 * match.test.pairs.pairs == match.record.games < 200
    decision = decide(gate, match, generation=1, best=0)
    assert decision.promoted
    assert "SPRT took Elo 100" in decision.reason
    assert decision.to_json()["llr"] >= match.sprt.bounds[1]  # type: ignore[union-attr]
    refused = decide(gate, gate_match([weak, strong], planned(gate), sprt_of(gate)), generation=1, best=0)
    assert not refused.promoted


def test_pairs_count_in_the_order_of_their_numbers() -> None:
    gate = GateResults(sprt_of(settings(by="sprt", sprt=SPRT)))
    for index in (5, 4, 2, 1):
        gate.add(index, 1.0, f"{index}".encode())
    assert gate.test is not None
    assert gate.test.pairs.pairs == 0  # game 0 is missing
    gate.add(0, 0.5, b"0")
    assert gate.test.pairs.counts == (0, 0, 0, 1, 0)
    gate.add(3, 0.0, b"3")
    assert gate.test.pairs.counts == (0, 0, 1, 1, 1)
