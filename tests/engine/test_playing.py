"""One player in one game: opening it, following a game, thinking, stopping, changing its settings."""

import threading
import time

import pytest

from hauteur import _core
from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.playing import PlayerNotReadyError, PlayingSession, PlaySettings
from hauteur.mcts.control import SearchControl
from hauteur.mcts.limits import Limits
from hauteur.mcts.params import Cpuct, SearchParams, Temperature
from hauteur.mcts.report import RootReport
from hauteur.networks.evaluators.base import UniformEvaluator

pytestmark = pytest.mark.quick

GAME = _core.Game("connect4")


def uniform(**settings: object) -> PlayingSession:
    """A session with an open player that knows nothing."""
    session = PlayingSession(GAME, PlaySettings(**settings), seed=1)  # type: ignore[arg-type]
    session.open(NetChoice("uniform"))
    return session


def test_settings_of_the_search_begin_a_new_tree_and_those_of_the_choice_do_not() -> None:
    with uniform() as session:
        session.think(Limits(visits=100))
        assert not session.use(PlaySettings(temperature=Temperature(initial=1.0)))
        kept = session.think(Limits(visits=1)).report
        assert kept is not None
        assert kept.visits == 100
        assert session.use(PlaySettings(search=SearchParams(cpuct=Cpuct(init=3.0))))
        new = session.think(Limits(visits=1)).report
        assert new is not None
        assert new.visits == 1


def test_a_stop_from_another_thread_and_reports() -> None:
    with uniform() as session:
        seen: list[RootReport] = []
        control = SearchControl()
        first = threading.Event()

        def note(report: RootReport) -> None:
            seen.append(report)
            first.set()

        search = session.start(Limits(infinite=True), lines=2, on_report=note, control=control)
        assert first.wait(60)
        while seen[-1].visits < 100:
            assert not search.done()
            time.sleep(0.01)
        control.stop()
        found = search.result(60)
    assert found.report is not None
    assert found.report.reason == "stopped"
    assert seen
    assert len(found.report.moves[1].line) > 1


def test_a_net_that_is_not_open_yet_can_be_given_up_waiting_for() -> None:
    goes_on = threading.Event()

    def opener(game: _core.Game, choice: NetChoice) -> UniformEvaluator:
        goes_on.wait(60)
        return UniformEvaluator(game)

    with PlayingSession(GAME, opener=opener) as session:
        with pytest.raises(PlayerNotReadyError, match="there is no player"):
            session.wait()
        assert session.open(NetChoice("slow"))
        assert not session.open(NetChoice("slow")), "it is being opened"
        control = SearchControl()
        control.stop()
        with pytest.raises(PlayerNotReadyError, match="not open yet"):
            session.think(Limits(visits=1), control=control)
        goes_on.set()
        assert session.think(Limits(visits=5)).action is not None


def test_a_net_that_cannot_be_opened_is_tried_again_when_asked() -> None:
    opened: list[str] = []

    def opener(game: _core.Game, choice: NetChoice) -> UniformEvaluator:
        opened.append(choice.net)
        if len(opened) == 1:
            raise ValueError("no net at all")
        return UniformEvaluator(game)

    reported: list[object] = []
    with PlayingSession(GAME, opener=opener) as session:
        session.open(NetChoice("a"))
        session.when_open(reported.append)
        for _ in range(2):
            with pytest.raises(ValueError, match="no net at all"):
                session.think(Limits(visits=1))
            assert not session.open(NetChoice("a"))
        assert str(reported[0]) == str(session.error) == "no net at all"
        session.forget_failure()
        assert session.open(NetChoice("a"))
        assert session.think(Limits(visits=3)).action is not None
    assert opened == ["a", "a"]


def test_the_large_net_is_closed_with_the_small_one_and_none_stays_open_after_a_failure() -> None:
    closed: list[str] = []

    class Closing(UniformEvaluator):
        def close(self) -> None:
            closed.append(self.name)

    def opener(game: _core.Game, choice: NetChoice) -> UniformEvaluator:
        if choice.net == "bad":
            raise ValueError("bad net")
        evaluator = Closing(game)
        evaluator.name = choice.net
        return evaluator

    with PlayingSession(GAME, opener=opener) as session:
        session.open(NetChoice("small", "bad"))
        with pytest.raises(ValueError, match="bad net"):
            session.wait()
        assert closed == ["small"]
        session.open(NetChoice("small", "large"))
        assert isinstance(session.wait(), OpenNets)
        report = session.think(Limits(visits=20)).report
        assert report is not None
        assert report.visits == 20
    assert closed == ["small", "small", "large"]
