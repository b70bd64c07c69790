"""Two players in the same positions: counts, McNemar's exact test, and `hauteur prove` with players."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.cli import main
from hauteur.games.positions import position
from hauteur.matches.exact_play import MoveChooser, kept_values, solved_set
from hauteur.matches.paired_moves import PairedMoves
from hauteur.players.build import Evaluators, Resources, build_player
from hauteur.players.settings import parse_player


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_the_laws_of_pairs(pairs: list[tuple[bool, bool]]) -> None:
    first = [one for one, _ in pairs]
    second = [other for _, other in pairs]
    found = PairedMoves.of(first, second)
    turned = PairedMoves.of(second, first)
    assert found.positions == len(pairs)
    assert found.difference == pytest.approx((sum(second) - sum(first)) / max(1, len(pairs)))
    assert turned.difference == -found.difference
    assert turned.p_value == found.p_value
    low, high = found.interval
    assert -1 <= low <= high <= 1
    assert turned.interval == pytest.approx((-high, -low))
    assert 0 < found.p_value <= 1


def test_p_is_that_of_the_exact_test() -> None:
    """Of 10 deciding positions 1 to 9: 2 * (1 + 10) / 2^10; of none nothing is known."""
    assert PairedMoves(5, 9, 1, 3).p_value == pytest.approx(22 / 1024)
    assert PairedMoves(5, 0, 0, 3).p_value == 1
    assert PairedMoves(0, 5, 5, 0).p_value == 1
    many = PairedMoves(0, 3_000, 3_400, 0)
    z = (400 - 1) / math.sqrt(6_400)
    assert many.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.01)


def test_players_of_all_kinds_choose_as_they_play() -> None:
    """The chooser of a baseline gives the move that it would play, and of several positions each its own."""
    game = position("connect4").game
    states = [one.state for one in solved_set(game, 12).positions]
    with Evaluators(game, Resources(parallel=16, threads=1)) as evaluators:
        for text in ("visits=8", "mcts:50", "random"):
            player = build_player(game, parse_player(text), evaluators, text)
            together = MoveChooser(player, game, seed=3).choose(states)
            again = MoveChooser(player, game, seed=3).choose(states)
            assert together.tolist() == again.tolist()
            assert all(action in state.legal_actions() for action, state in zip(together, states, strict=True))


def test_more_playouts_keep_more_values() -> None:
    game = position("connect4").game
    positions = solved_set(game, 200).positions
    with Evaluators(game, Resources(parallel=16, threads=1)) as evaluators:
        few, many = (
            kept_values(build_player(game, parse_player(text), evaluators, text), positions)
            for text in ("random", "mcts:200")
        )
    assert PairedMoves.of(few, many).interval[0] > 0


def test_players_are_compared_with_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prove", "connect4", "--player", "visits=8", "--player", "random", "--positions", "60"]
    assert main.main(words) == 0
    out = capsys.readouterr().out
    assert "60 solved positions of connect4" in out
    assert "random less connect4 visits=8: -" in out
    assert main.main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    net, chance = document["players"]
    assert net["beside_first"]["difference"] == 0
    assert chance["beside_first"]["difference"] == pytest.approx(chance["total"]["share"] - net["total"]["share"])


def test_a_single_player_has_the_whole_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["prove", "tictactoe", "--player", "mcts:300"]) in (0, 1)
    out = capsys.readouterr().out
    assert "as second player against every reply" in out
    assert "losses; mcts:300, " in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--player", "visits=3", "--net", "tictactoe"], "--player has its net and visits in its text"),
        (["--player", "visits=3", "--visits", "3"], "--player has its net and visits in its text"),
        (["--player", "visits=3", "--player", "random", "--as-first"], "take one --player"),
        (["--player", "visits=3", "--player", "random", "--at-least", "0.5"], "take one --player"),
        (["--player", "visits=none"], "visits must be a whole number"),
    ],
)
def test_wrong_words_are_named(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["prove", "tictactoe", *words]) == main.EXIT_BAD_INPUT
    err = capsys.readouterr().err
    assert said in err
    assert "\n" not in err.strip()
