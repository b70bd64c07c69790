"""Traps: the values of both searches, how often a model answers, and the story of a game at odds."""

from __future__ import annotations

import pytest

from hauteur.games.positions import position
from hauteur.games.registry import load_game
from hauteur.mcts.analysis import search
from hauteur.mcts.params import SearchParams
from hauteur.players.settings import parse_player
from hauteur.studies.traps import MoveTrap, TrapFinder, odds_story, traps_text

GUESSES = parse_player("net=uniform visits=1 temperature=1")
"""An opponent whose replies are all alike."""


@pytest.fixture(scope="module")
def finder() -> TrapFinder:
    return TrapFinder(load_game("tictactoe"), "rollout", GUESSES)


def test_a_threat_is_answered_by_one_of_six_guesses(finder: TrapFinder) -> None:
    """X on a1 threatens with a2 to fill the file; of the six replies a3 alone answers."""
    state = position("tictactoe", "a1 b2")
    found = {trap.move: trap for trap in finder.find(state, visits=2000, moves=9)}
    threat = found["a2"]
    assert threat.answer == "a3"
    assert threat.finds == pytest.approx(1 / 6, abs=1e-6)
    assert threat.is_trap
    assert threat.gain > 0.2
    assert threat.model > 5 / 6  # five replies of six lose at once
    assert (found["c3"].finds or 0.0) > (threat.finds or 1.0)


def test_the_plain_value_is_that_of_a_plain_search(finder: TrapFinder) -> None:
    state = position("tictactoe", "a1 b2")
    plain = {row.action: row.q for row in search(state, "rollout", SearchParams(), visits=300).moves if row.visits}
    for trap in finder.find(state, visits=300):
        assert trap.plain == pytest.approx((1 + plain[trap.action]) / 2, abs=1e-6)


def test_a_move_that_ends_the_game_is_no_trap(finder: TrapFinder) -> None:
    state = position("tictactoe", "a1 b1 a2 b2")
    [win] = [trap for trap in finder.find(state, visits=300) if trap.move == "a3"]
    assert (win.finds, win.answer, win.is_trap, win.model) == (None, "", False, 1.0)
    assert "a3" in traps_text([win], "guesses")


def test_the_same_seed_finds_the_same(finder: TrapFinder) -> None:
    state = position("tictactoe", "a1 b2")
    assert finder.find(state, visits=200, seed=3) == finder.find(state, visits=200, seed=3)


def test_a_searching_opponent_is_a_model_of_n_visits() -> None:
    searcher = parse_player("net=uniform visits=40 temperature=1")
    state = position("tictactoe", "a1 b2")
    with TrapFinder(state.game, "rollout", searcher) as against, TrapFinder(state.game, "rollout", GUESSES) as guesses:
        strong, weak = (
            {trap.move: trap for trap in found.find(state, visits=2000, moves=9)} for found in (against, guesses)
        )
    assert strong["a2"].model < weak["a2"].model - 0.1


def test_an_opponent_without_a_net_is_refused() -> None:
    with pytest.raises(ValueError, match="against random: a model of the opponent needs a net"):
        TrapFinder(load_game("tictactoe"), "rollout", parse_player("random"))


def test_the_story_of_a_game(finder: TrapFinder) -> None:
    """O answers the threat on the a-file elsewhere and loses: the first player's score rises by that mistake."""
    start = load_game("tictactoe").new_initial_state()
    actions = []
    state = start.copy()
    for text in ["a1", "b2", "a2", "c1", "a3"]:
        actions.append(state.parse(text))
        state.apply(actions[-1])
    story = odds_story(start, actions, 0, finder, visits=400)
    assert len(story.scores) == 6
    assert story.scores[-1] == 1.0
    assert story.won_back is not None
    assert all(score >= 0.5 for score in story.scores[story.won_back :])
    [trap] = [one for one in story.traps if one.reply == "c1"]
    assert (trap.ply, trap.move) == (2, "a2")
    assert isinstance(trap.trap, MoveTrap)
    assert trap.trap.answer == "a3"
    lost = odds_story(start, actions, 1, finder, visits=400)
    assert lost.won_back is None
    assert lost.scores[-1] == 0.0
