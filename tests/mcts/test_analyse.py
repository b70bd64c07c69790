"""Analysis sessions: limits, stopping, re-use of the tree, reports."""

import time
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hauteur import _core
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.control import SearchControl
from hauteur.mcts.lc0_options import search_params
from hauteur.mcts.limits import Budget, Limits
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import RootReport
from hauteur.mcts.step_plan import VISITS_PER_ROW
from hauteur.networks.evaluators.base import Answers, GameEvaluator, UniformEvaluator

CHESS = _core.Game("chess")
CONNECT4 = _core.Game("connect4")
TICTACTOE = _core.Game("tictactoe")


class Probe(GameEvaluator):
    """Uneven policies and values, a time for every batch; remembers the rows it was given."""

    def __init__(self, game: _core.Game, *, seconds: float = 0.0, batch_size: int = 32) -> None:
        super().__init__(game, "probe", batch_size)
        self.seconds = seconds
        self.rows: list[int] = []
        self.broken = False

    def compute(self, features: NDArray[np.float32]) -> Answers:
        """Answers by a fixed function of the features."""
        if self.broken:
            raise OSError("the device is gone")
        self.rows.append(len(features))
        time.sleep(self.seconds)
        sums = features.reshape(len(features), -1) @ np.linspace(0.0, 1.0, features[0].size, dtype=np.float32)
        logits = np.sin(np.outer(sums, np.arange(1, self.num_actions + 1))).astype(np.float32)
        win = (0.5 + 0.3 * np.sin(sums)).astype(np.float32)
        return logits, np.stack([win, np.full_like(win, 0.1), 0.9 - win], axis=1)


def session(game: _core.Game = CHESS, moves: str = "", **options: object) -> Analysis:
    """A session at a position."""
    made = Analysis(Probe(game), SearchParams(), **options)  # type: ignore[arg-type]
    go_to(made, game, moves)
    return made


def go_to(made: Analysis, game: _core.Game, moves: str) -> bool:
    """Goes to the position after the moves; whether the tree was kept."""
    state = game.new_initial_state()
    actions = []
    for move in moves.split():
        actions.append(state.parse(move))
        state.apply(actions[-1])
    return made.set_position(game.new_initial_state(), actions)


@pytest.mark.parametrize("visits", [1, 2, 7, 100, 333])
@pytest.mark.parametrize("batch_size", [1, 8, None])
def test_visits_are_exact(visits: int, batch_size: int | None) -> None:
    report = session(batch_size=batch_size).search(Limits(visits=visits))
    assert report.visits == visits == report.pace.new_visits
    assert sum(move.visits for move in report.moves) == visits - 1
    assert report.reason == "visits"
    assert all(move.in_flight == 0 for move in report.moves)


def test_batches_grow_with_the_tree() -> None:
    made = session()
    made.search(Limits(visits=1000))
    rows = made._nets.small.rows  # type: ignore[attr-defined]
    assert rows[0] == 1
    assert max(rows) == 32
    grown = np.cumsum(rows)
    assert all(size <= max(1, seen // VISITS_PER_ROW) for size, seen in zip(rows[1:], grown[:-1], strict=True))


def test_the_same_position_keeps_its_tree_and_clear_forgets_it() -> None:
    made = session()
    made.search(Limits(visits=50))
    assert go_to(made, CHESS, "")
    assert made.search(Limits(new_visits=10)).visits == 60
    made.clear()
    assert not go_to(made, CHESS, "")
    assert made.search(Limits(visits=10)).visits == 10


def test_only_some_moves() -> None:
    made = session()
    made.search(Limits(visits=100))
    chosen = [made.state.parse(move) for move in ("a2a3", "h2h4")]
    report = made.search(Limits(new_visits=100), actions=chosen, lines=2)
    assert {move.action for move in report.moves} == set(chosen)
    assert all(move.line[0] == move.action for move in report.moves)
    assert len(made.search(Limits(new_visits=1)).moves) == 20


def test_limits_count_from_ponderhit_on() -> None:
    made = session()
    control = SearchControl(ponder=True)
    future = made.start(Limits(budget=Budget(0.05, 0.05)), control=control)
    time.sleep(0.2)
    assert not future.done()
    control.ponderhit()
    assert future.result(10).reason == "time"


def test_a_search_with_nothing_left_waits_for_stop_if_infinite() -> None:
    made = session(TICTACTOE, "a1 b2 c3 a2 c2 b1 b3 a3")
    assert made.search(Limits(visits=10_000)).reason in ("visits", "nothing left to search")
    future: Future[RootReport] = made.start(Limits(infinite=True))
    time.sleep(0.1)
    assert not future.done()
    made.stop()
    assert future.result(10).reason == "stopped"


def test_a_full_tree_ends_a_search() -> None:
    made = Analysis(Probe(CHESS), SearchParams(max_tree_bytes=100_000))
    go_to(made, CHESS, "")
    report = made.search(Limits(visits=10_000_000))
    assert report.reason == "nothing left to search"
    assert 100_000 <= report.memory < 200_000


def test_nets_that_do_not_fit_a_game_leave_none_of_them_to_the_game_before() -> None:
    session = Analysis("uniform", large=UniformEvaluator(TICTACTOE))
    visits = session.go(TICTACTOE.new_initial_state(), visits=20).tree.root.visits
    with pytest.raises(ValueError, match="is for tictactoe"):
        session.go(CONNECT4.new_initial_state(), visits=20)
    again = session.go(TICTACTOE.new_initial_state(), visits=40)
    assert (visits, again.tree.root.visits) == (20, 40)


def test_without_position() -> None:
    with pytest.raises(ValueError, match="call set_position first"):
        Analysis(Probe(CHESS), SearchParams()).search(Limits(visits=1))


@pytest.mark.parametrize("spec", ["chess", "connect4", "tictactoe", "nogo(size=5)"])
def test_values_of_a_report_fit_together(spec: str) -> None:
    game = _core.Game(spec)
    made = Analysis(Probe(game), SearchParams())
    made.set_position(game.new_initial_state())
    report = made.search(Limits(visits=300))
    visits = sum(move.visits for move in report.moves)
    mean = sum(move.visits * move.q for move in report.moves if move.visits) / visits
    root = (mean * visits + report.value[0] - report.value[2]) / (visits + 1)
    assert report.wdl[0] - report.wdl[2] == pytest.approx(root, abs=1e-4)
    assert sum(report.wdl) == pytest.approx(1.0, abs=1e-4)
    assert sum(move.prior for move in report.moves) == pytest.approx(1.0, abs=1e-2)
    assert [move.visits for move in report.moves if not move.result] == sorted(
        (move.visits for move in report.moves if not move.result), reverse=True
    )


def test_a_win_at_once_is_best_and_a_proven_mate() -> None:
    report = session(CONNECT4, "1 2 1 2 1 2").search(Limits(visits=200))
    assert report.best is not None
    assert report.state.action_to_text(report.best.action) == "1"
    assert report.best.result == 1
    assert report.mate == 1


def test_mate_limit() -> None:
    made = Analysis(UniformEvaluator(CHESS), search_params({}))
    made.set_position(_core.Game("chess(fen=7k/8/8/8/8/8/R7/1R4K1 w - - 0 1)").new_initial_state())
    report = made.search(Limits(mate=2))
    assert report.reason == "mate found"
    assert report.mate == 2


def chess_state(fen: str) -> _core.State:
    """A chess position."""
    return _core.Game(f"chess(fen={fen})").new_initial_state()


def test_tablebase(shared_data: Path) -> None:
    tables = _core.Tablebase(str(shared_data / "syzygy"))
    made = Analysis(Probe(CHESS), SearchParams(), tablebase=tables)
    made.set_position(chess_state("8/8/4k3/3p4/8/3K4/3PP3/8 w - - 0 1"))
    report = made.search(Limits(visits=500))
    assert report.pace.tablebase_hits > 0
    won = chess_state("8/8/8/8/8/4k3/R7/4K3 w - - 0 1")
    made.set_position(won)
    report = made.search(Limits(visits=200))
    kept = tables.root_actions(won)
    assert kept is not None
    assert {move.action for move in report.moves} == set(kept)
    assert report.pace.tablebase_hits == 1, "the root itself"
    assert report.wdl == (1.0, 0.0, 0.0), "a win, whatever the network thinks of it"
    assert all(move.wdl == (1.0, 0.0, 0.0) for move in report.moves)


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", ""),
        ("4k3/8/8/8/8/8/8/4K2R w - - 99 80", ""),
        ("4k3/8/8/8/8/8/8/4K2R w K - 4294967296 1", "h1h4"),
    ],
)
@pytest.mark.parametrize("limits", [Limits(depth=50), Limits(mate=1)], ids=["depth", "mate"])
@pytest.mark.parametrize("solver", [True, False], ids=["solver", "no solver"])
def test_a_depth_or_a_mate_out_of_reach_ends_the_search(fen: str, moves: str, limits: Limits, solver: bool) -> None:
    options = {"StickyEndgames": solver, "TwoFoldDraws": True}
    made = Analysis(UniformEvaluator(CHESS), search_params(options))
    start = chess_state(fen)
    made.set_position(start, [start.parse(move) for move in moves.split()])
    report = made.search(limits)
    assert report.reason in ("result proven", "mate found", "no mate", "no progress")
    assert report.visits < 1_000_000
