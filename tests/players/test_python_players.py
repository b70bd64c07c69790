"""Players made of objects and of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import hauteur as ht
from hauteur.networks.evaluators.base import UniformEvaluator
from hauteur.players.build import Evaluators, Resources, build_player, player_facts
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player, player_text

pytestmark = pytest.mark.quick

GAME = ht.load_game("tictactoe")
Floats = NDArray[np.float32]


def even(features: Floats) -> tuple[Floats, Floats]:
    rows = len(features)
    return np.zeros((rows, 9), np.float32), np.tile(np.array([0.25, 0.5, 0.25], np.float32), (rows, 1))


class Curious(ht.Rule):
    def __init__(self, bonus: float = 0.1) -> None:
        self.bonus = bonus

    def edge_value(self, nodes: Any, edges: Any, q: Any) -> Any:
        return q + self.bonus


def built(player: ht.Player) -> SearchPlayer:
    with Evaluators(GAME, Resources(parallel=4, threads=1)) as evaluators:
        found = build_player(GAME, player, evaluators, "A")
    assert isinstance(found, SearchPlayer)
    return found


@given(
    st.sampled_from(["uniform", "rollout"]),
    st.integers(1, 10**9),
    st.floats(0, 100),
    st.builds(ht.SearchParams, draw_score=st.floats(-1, 1), reuse_tree=st.booleans()),
)
def test_a_player_of_objects_is_that_of_its_text(
    net: str, visits: int, temperature: float, params: ht.SearchParams
) -> None:
    player = ht.Player(net, params, visits=visits, temperature=temperature)
    text = player_text(player)
    assert dict(ht.Player.from_text(text)) == dict(player)
    assert dict(parse_player(text)) == {
        k: v for k, v in dict(player).items() if k not in ("evaluator", "function", "rules")
    }
    assert repr(player) == f"Player({text!r})"


def test_an_evaluator_that_was_given_is_shared_and_stays_open() -> None:
    evaluator = UniformEvaluator(GAME)
    closed: list[bool] = []
    evaluator.close = lambda: closed.append(True)  # type: ignore[method-assign]
    with Evaluators(GAME, Resources(parallel=4, threads=1)) as evaluators:
        first, second = (
            build_player(GAME, ht.Player(source, visits=visits), evaluators, "A")
            for source, visits in ((evaluator, 2), (evaluator, 3))
        )
        assert isinstance(first, SearchPlayer)
        assert isinstance(second, SearchPlayer)
        assert first.evaluator is second.evaluator is evaluator
        callables = [evaluators.of_object(even) for _ in range(2)]
        assert callables[0] is callables[1]
    assert not closed


def test_facts_tell_other_objects_apart() -> None:
    def odd(features: Floats) -> tuple[Floats, Floats]:
        return even(features)

    players = [
        *(ht.Player(even), ht.Player(odd), ht.Player("uniform")),
        *(ht.Player("uniform", rules=[Curious(bonus)]) for bonus in (0.1, 0.2)),
    ]
    facts = [player_facts(GAME, player, "a") for player in players]
    assert len({str(fact) for fact in facts}) == len(players)
    assert facts[0] == player_facts(GAME, ht.Player(even, name="other"), "a")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ht.Player("uniform", visits=0), "Player: visits must be a whole number from 1 .*, got 0"),
        (lambda: ht.Player("uniform", temperature=-1), r"Player: temperature.initial must be .* got -1"),
        (
            lambda: ht.Player("mcts:400"),
            r"without a net: write hauteur.Player.from_text\('mcts:400'\)",
        ),
        (lambda: ht.Player("uci:stockfish"), "is a player without a net"),
        (lambda: ht.Player("uniform", {"cpuct": {"innit": 2}}), "search.cpuct.innit is not a setting"),  # type: ignore[arg-type]
        (lambda: ht.Player("uniform", rules=[Curious]), r"rules\[0\] must be an object, got the class Curious"),  # type: ignore[list-item]
        (lambda: ht.Player.from_text("visits=3 nett=uniform"), "nett is not a setting"),
        (lambda: built(ht.Player(3)), "player A: an evaluator is made of a network file"),
        (lambda: built(ht.Player(Curious)), r"player A: an evaluator is made of an object, got .*: write Curious\(\)"),
        (lambda: built(ht.Player(lambda features: features)), "player A: evaluator <lambda> returned float32"),
        (lambda: built(ht.Player(Path("no.safetensors"))), "no.safetensors"),
        (
            lambda: built(ht.Player(UniformEvaluator(ht.load_game("connect4")))),
            "player A: evaluator uniform is for connect4",
        ),
    ],
)
def test_what_makes_no_player_is_one_line(make: Any, message: str) -> None:
    with pytest.raises((ValueError, OSError), match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def last_legal(state: ht.State) -> int:
    return int(state.legal_actions()[-1])


def by_text(state: ht.State) -> str:
    return state.action_to_text(last_legal(state))


def test_a_function_plays_as_it_answers() -> None:
    player = ht.Player.from_function(last_legal)
    assert not player.has_net
    assert player_facts(GAME, player, "a")["a"].startswith("object last_legal sha256 ")
    match = ht.play_match(player, "random", "tictactoe", games=6, seed=3, random_plies=1, progress=False)
    own = 0
    for game in match.games:
        state = GAME.new_initial_state()
        for text in game.opening.split():
            state.apply(state.parse(text))
        for text in game.moves.split():
            if state.to_move == int(game.a == "second"):
                assert state.parse(text) == last_legal(state)
                own += 1
            state.apply(state.parse(text))
    assert own >= 6
    texts = ht.Player.from_function(by_text, name="texts")
    again = ht.play_match(texts, "random", "tictactoe", games=6, seed=3, random_plies=1, progress=False)
    assert [game.moves for game in again.games] == [game.moves for game in match.games]


def test_a_function_may_play_on_in_the_position_that_it_gets() -> None:
    def plays_on(state: ht.State) -> int:
        action = last_legal(state)
        state.apply(action)
        return action

    given = [ht.Player.from_function(choose, name="last") for choose in (last_legal, plays_on)]
    matches = [ht.play_match(one, "random", "tictactoe", games=6, seed=3, progress=False) for one in given]
    first, second = ([game.moves for game in match.games] for match in matches)
    assert first == second


@pytest.mark.parametrize("answer", [-1, 99, "z9", None, 0.5])
def test_a_function_that_answers_no_legal_move_ends_the_match_with_a_line(answer: object) -> None:
    player = ht.Player.from_function(lambda state: answer, name="wrong")  # type: ignore[arg-type, return-value]
    message = r"^player wrong: the answer .* is no legal move; allowed: a legal action"
    with pytest.raises(ValueError, match=message) as raised:
        ht.play_match(player, "random", "tictactoe", games=2, seed=0, progress=False)
    assert repr(answer) in str(raised.value)
    with pytest.raises(ValueError, match="needs a function"):
        ht.Player.from_function(7)  # type: ignore[arg-type]
