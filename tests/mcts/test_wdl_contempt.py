"""WDL contempt: the formulas against numbers computed here, the trees that it makes, and the options of the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import forests
import numpy as np
import pytest
from numpy.typing import NDArray
from search_toys import hash_evaluator

from hauteur._core import Forest, Game, State
from hauteur.mcts.lc0_options import contempt_elo, search_params, search_values, without_contempt_of_play
from hauteur.mcts.params import SearchParams, WdlContempt
from reference.wdl_contempt import logistic

pytestmark = pytest.mark.quick

Wdl = NDArray[np.float32]
LN10 = math.log(10.0)
REFERENCE = 1.0 / math.log(3.0)
"""Sharpness at a draw rate of 0.5: (1 + 0.5) / (1 - 0.5) = 3."""


@dataclass
class Root:
    """A root with one visit: what the search, the network and reports say of it."""

    searched: Wdl
    network: Wdl
    reported: Wdl


def evaluated(
    rule: WdlContempt, wdl: tuple[float, float, float], *, second_to_move: bool = False, **others: Any
) -> Root:
    """A root about which the network has said `wdl`."""
    params = SearchParams(wdl_contempt=rule, **others)
    state = Game("tictactoe").new_initial_state()
    if second_to_move:
        state.apply(0)
    forest = Forest(state.game, params)
    ids = np.array([0])
    forest.add(state)
    forest.set_visit_limits(ids, np.array([1], np.uint32))
    batch = forest.gather(np.zeros((1, *state.game.feature_shape), np.float32))
    forest.apply(batch, np.zeros((1, 9), np.float32), np.array([wdl], np.float32))
    return Root(forest.root_values(ids)[0], forest.network_values(ids)[0], forest.reported_values(ids)[0])


def changed(
    wdl: tuple[float, float, float], *, ratio: float, diff: float, sign: float = 1.0, cap: float = 1.4
) -> list[float]:
    """Win, draw, loss after the change, straight from the definition."""
    w, _, l_ = wdl
    a = math.log(1.0 / l_ - 1.0)
    b = math.log(1.0 / w - 1.0)
    s = min(2.0 / (a + b), cap)
    mu = (a - b) / (a + b)
    s, mu = s * ratio, mu + sign * s * s * diff
    win = 1.0 / (1.0 + math.exp((1.0 - mu) / s))
    loss = 1.0 / (1.0 + math.exp((1.0 + mu) / s))
    return [win, 1.0 - win - loss, loss]


# -- ratio and diff ----------------------------------------------------------------------------------------------------


def test_contempt_alone() -> None:
    """100 Elo, nothing calibrated: only mu moves."""
    near = math.cosh(0.175 / REFERENCE) ** -2
    far = math.cosh(0.825 / REFERENCE) ** -2
    diff = 1.0 / REFERENCE / (near + far) * LN10 / 200.0 * 100.0
    assert diff == pytest.approx(0.87445, abs=1e-5)  # by hand: 1.09861 * 1.15129 / (0.96393 + 0.48252)
    found = evaluated(WdlContempt(contempt=100), (0.4, 0.4, 0.2)).searched
    np.testing.assert_allclose(found, changed((0.4, 0.4, 0.2), ratio=1.0, diff=diff), atol=2e-7)


def test_calibrated_by_elo() -> None:
    """Own Elo 2700, opponent 2000."""

    def soft(elo: float) -> float:
        return elo + 125.0 * math.log(1.0 + math.exp((2737.0 - elo) / 250.0))

    def sharpness(elo: float) -> float:
        return 1.0 / (1.0 / 15.0 + math.exp(elo / 425.0 - 6.75))

    def mu(elo: float) -> float:
        return -LN10 / 200.0 * 15.0 * 425.0 * math.log(1.0 + math.exp(6.75 - elo / 425.0) / 15.0)

    own = soft(2700.0)
    other = soft(2000.0)
    ratio = math.sqrt((sharpness(own) ** 2 + sharpness(other) ** 2) / 2.0) / REFERENCE
    diff = (mu(own) - mu(other)) / REFERENCE**2
    assert own == pytest.approx(2796.3, abs=0.1)
    assert other == pytest.approx(2374.9, abs=0.1)
    found = evaluated(WdlContempt(contempt=700, calibration_elo=2700), (0.25, 0.5, 0.25)).searched
    np.testing.assert_allclose(found, changed((0.25, 0.5, 0.25), ratio=ratio, diff=diff), atol=2e-7)


# -- what is changed ---------------------------------------------------------------------------------------------------


def test_the_opponent_loses_what_the_contempt_side_gains() -> None:
    gains = evaluated(WdlContempt(contempt=150, mode="white_side_analysis"), (0.3, 0.5, 0.2)).searched
    loses = evaluated(
        WdlContempt(contempt=150, mode="white_side_analysis"), (0.2, 0.5, 0.3), second_to_move=True
    ).searched
    np.testing.assert_allclose(loses, gains[::-1], atol=1e-7)
    assert gains[0] - gains[2] > 0.1


@pytest.mark.parametrize("wdl", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.0, 0.5), (0.6, 0.39995, 0.00005)])
def test_values_that_say_nothing_stay(wdl: tuple[float, float, float]) -> None:
    found = evaluated(WdlContempt(contempt=300), wdl)
    np.testing.assert_array_equal(found.searched, found.network)


def test_the_logistic_of_the_reference_ends_where_float64_does() -> None:
    assert logistic(-710.0) == 0.0 < logistic(-709.0) < 1e-300


# -- trees that are used again -----------------------------------------------------------------------------------------


def grown(params: SearchParams, *, state: State | None = None, visits: int = 60) -> Forest:
    """A forest with one tree of `visits` visits."""
    state = state or Game("nogo(size=4)").new_initial_state()
    forest = Forest(state.game, params)
    forest.add(state)
    search(forest, visits)
    return forest


def search(forest: Forest, visits: int) -> None:
    forests.search(forest, hash_evaluator(forest.game.num_actions), visits=visits, rows=1)
    forest.check_invariants(0)


def play_best(forest: Forest) -> None:
    forest.advance(np.array([0]), np.array([forest.root_edges(0)[0]["action"]], np.uint16))


def test_play_keeps_the_tree_over_two_plies_and_begins_anew_after_one() -> None:
    forest = grown(SearchParams(wdl_contempt=WdlContempt(contempt=100)))
    play_best(forest)
    play_best(forest)
    kept = int(forest.root_node_visits(np.array([0]))[0])
    assert kept > 1
    forest.restrict_root(0, [])
    assert int(forest.root_node_visits(np.array([0]))[0]) == kept
    search(forest, 80)
    play_best(forest)
    assert len(forest.active()) == 1, "a tree for the other side holds no visits that count"
    search(forest, 3)
    assert int(forest.root_node_visits(np.array([0]))[0]) == 3
    fresh = Forest(forest.game, SearchParams(wdl_contempt=WdlContempt(contempt=100)))
    fresh.add(forest.state(0))
    search(fresh, 3)
    assert fresh.digest(0) == forest.digest(0), "cached evaluations are those of the network"


# -- options of the engine ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "opponent", "elo"),
    [
        ("", "", 30.0),
        ("250", "", 250.0),
        ("-12.5", "none none computer Stockfish 17", -12.5),
        ("250,stockfish=-50,human=400", "none none computer Stockfish 17", -50.0),
        ("stockfish=-50,250", "GM 2800 human Magnus Carlsen", 250.0),
        ("stock=1,fish=2", "STOCKFISH", 1.0),
        (" human = 400 , ", "IM 2400 human N. N.", 400.0),
    ],
)
def test_contempt_by_opponent(text: str, opponent: str, elo: float) -> None:
    assert contempt_elo(text, opponent, 30.0) == elo


@pytest.mark.parametrize("text", ["much", "a=", "a=b", "=", "nan", "20000"])
def test_contempt_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="Contempt must be"):
        contempt_elo(text)


def test_options_become_settings() -> None:
    assert search_params({}).wdl_contempt is None
    found = search_params({"contempt": "100", "ContemptMode": "black_side_analysis", "WDLMaxS": 2.0}).wdl_contempt
    assert found == WdlContempt(contempt=100, mode="black_side_analysis", max_s=2.0)
    assert search_params({"UCI_RatingAdv": 40.0}).wdl_contempt == WdlContempt(contempt=40)
    assert search_params({"WDLCalibrationElo": 2500.0}).wdl_contempt == WdlContempt(calibration_elo=2500)


def test_infinite_analysis_has_no_contempt_of_play() -> None:
    play = search_values({"Contempt": "100"})
    analysed = SearchParams.model_validate(without_contempt_of_play(play))
    assert analysed.wdl_contempt == WdlContempt(contempt=100, mode="disable")
    white = search_values({"Contempt": "100", "ContemptMode": "white_side_analysis"})
    assert without_contempt_of_play(white) == white
    assert without_contempt_of_play(search_values({})) == search_values({})
