"""Rows that a search computes between two looks at its limits: what fits into the time that is left, and no more."""

import threading
import time

import numpy as np
import pytest
from forests import make_forest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hauteur import _core
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.control import SearchControl
from hauteur.mcts.limits import Budget, Limits
from hauteur.mcts.step_plan import LONGEST_BATCH, ROWS_A_STEP, VISITS_PER_ROW, plan_by_time, plan_by_visits
from hauteur.networks.evaluators.base import Answers, GameEvaluator, UniformEvaluator

CHESS = _core.Game("chess")


@given(
    st.integers(0, 10**6),
    st.integers(1, 512),
    st.floats(1e-6, 10.0),
    st.floats(0.0, 3.0),
    st.floats(1.0, 2.5),
    st.data(),
)
def test_a_step_takes_no_longer_than_what_is_left(
    visits: int, most: int, row: float, target: float, stretch: float, data: st.DataObject
) -> None:
    budget = Budget(target, target * stretch)
    passed = data.draw(st.floats(0.0, 2 * budget.maximum))
    plan = plan_by_time(visits, most, row, budget=budget, passed=passed)
    rows = plan.rows * plan.batches
    left = (budget.target if passed < budget.target else budget.maximum) - passed
    assert rows == 1 or rows * row <= left
    assert rows <= max(plan.rows, ROWS_A_STEP)
    assert plan.rows == 1 or plan.rows * row <= LONGEST_BATCH
    assert plan.rows <= max(1, min(most, visits // VISITS_PER_ROW))
    assert plan.seconds == budget.maximum - passed
    assert plan.sure == (visits == 0)


def test_one_batch_as_long_as_nothing_is_known_of_a_row() -> None:
    for visits in (0, 1, 500, 10**6):
        plan = plan_by_time(visits, 64, 0.0, budget=Budget(9.0, 9.0), passed=0.0)
        assert (plan.batches, plan.rows) == (1, plan_by_visits(visits, 64).rows)


def test_a_search_by_visits_computes_as_many_rows_whatever_the_time() -> None:
    assert [(plan.rows, plan.batches) for plan in (plan_by_visits(n, 64) for n in (0, 1, 31, 64, 512, 9999))] == [
        (1, 32),
        (1, 32),
        (1, 32),
        (4, 8),
        (32, 1),
        (64, 1),
    ]


@pytest.mark.parametrize("seconds", [0.0, 0.005])
@pytest.mark.parametrize("row", [0.0, 0.02])
def test_a_search_without_time_computes_one_row(seconds: float, row: float) -> None:
    """The clock of the search began a second ago: whatever the budget, there is no time left."""
    with Analysis(UniformEvaluator(CHESS)) as made:
        made.set_position(CHESS.new_initial_state())
        made.row_seconds = row
        began = time.monotonic() - 1.0
        report = made.search(Limits(budget=Budget(seconds, seconds)), control=SearchControl(began=began))
        assert (report.visits, report.pace.rows, report.reason) == (1, 1, "time")
        again = made.search(Limits(budget=Budget(seconds, seconds)), control=SearchControl(began=began))
        assert (again.visits, again.pace.rows, again.reason) == (1, 0, "time"), "the tree has a move already"


def test_a_stopped_search_has_its_first_visit_and_no_other() -> None:
    with Analysis(UniformEvaluator(CHESS)) as made:
        made.set_position(CHESS.new_initial_state())
        for visits in (1, 1):
            control = SearchControl()
            control.stop()
            report = made.search(Limits(visits=5000), control=control)
            assert (report.visits, report.reason) == (visits, "stopped")


def test_steps_of_the_core_end_with_the_flag_and_with_the_time() -> None:
    stop = _core.StopFlag()
    forest = make_forest(CHESS)
    core = UniformEvaluator(CHESS).core
    assert forest.step(core, 1, 0, 5, stop)[:2] == (5, 5)
    assert forest.step(core, 1, 0, 5, None, 0.0)[:2] == (0, 0)
    assert forest.step(core, 1, 0, 5, None, 1e300)[:2] == (5, 5)
    stop.set()
    assert stop.is_set
    assert forest.step(core, 1, 0, 5, stop)[:2] == (0, 0)
    assert forest.step(core, 1, 0, 5, stop, None, 2)[:2] == (2, 2)
    forest.check_invariants(0)
    assert forest.root_node_visits([0])[0] == 12


class Blocking(GameEvaluator):
    """An evaluator that computes no batch after the first ones until it may."""

    def __init__(self, quick: int) -> None:
        super().__init__(CHESS, "blocking", 16)
        self.quick = quick
        self.begun = threading.Event()
        self.may = threading.Event()

    def compute(self, features: NDArray[np.float32]) -> Answers:
        if self.quick == 0:
            self.begun.set()
            self.may.wait(60)
        self.quick = max(0, self.quick - 1)
        return np.zeros((len(features), self.num_actions), np.float32), np.full((len(features), 3), 1 / 3, np.float32)


@pytest.mark.parametrize("limits", [Limits(visits=10**6), Limits(infinite=True), Limits(budget=Budget(1e6, 1e6))])
def test_a_stop_does_not_wait_for_a_batch_that_is_being_computed(limits: Limits) -> None:
    evaluator = Blocking(quick=4)
    made = Analysis(evaluator)
    made.set_position(CHESS.new_initial_state())
    found = made.start(limits)
    assert evaluator.begun.wait(60)
    made.stop()
    report = found.result(60)
    assert not evaluator.may.is_set(), "the batch is not computed yet"
    assert (report.reason, report.visits) == ("stopped", 4)
    assert all(move.in_flight == 0 for move in report.moves)
    evaluator.quick = 10**9
    evaluator.may.set()
    assert made.search(Limits(visits=50)).visits == 50
