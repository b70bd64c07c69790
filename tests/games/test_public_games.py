"""Games and positions by their public names: moves as text, copies, pictures, registering a class again."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import pytest

import hauteur as ht
from hauteur.games import registry
from hauteur.games.tutorial import MisereTicTacToe

FIVE: Any = 5

NOTEBOOK_CELL = """
class Cell(MisereTicTacToe):
    max_plies = {plies}
"""


@pytest.fixture(autouse=True)
def _no_games_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})


def cell(plies: int) -> type[MisereTicTacToe]:
    """The class that a notebook's cell defines, each time another object."""
    names: dict[str, type[MisereTicTacToe]] = {"MisereTicTacToe": MisereTicTacToe}
    exec(NOTEBOOK_CELL.format(plies=plies), names)
    return names["Cell"]


@pytest.mark.parametrize("action", ["e2e4", "4", 4711, -1, 1.5, None, b"e2e4"])
def test_a_wrong_move_is_one_line_and_changes_nothing(action: object) -> None:
    state = ht.load_game("chess").new_initial_state()
    wrong = ValueError if isinstance(action, int) else TypeError
    with pytest.raises(wrong, match=r"^[^\n]*$"):
        state.apply(action)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^[^\n]*e2e5[^\n]*$"):
        state.apply_text("e2e5")
    assert (state.moves, state.ply) == ([], 0)


def test_a_position_out_of_a_search_knows_its_past() -> None:
    state = ht.load_game("connect4").new_initial_state()
    state.apply_text("4")
    found = ht.search(state, "uniform", visits=4).state
    assert found == state
    found.apply_text("5")
    assert (found.moves, found.start.notation(), found.notation()) == ([3, 4], "", "45")


@pytest.mark.parametrize("spec", ["chess", "minichess", "connect4", "nogo(size=5)", "tictactoe", "tutorial"])
def test_notebooks_show_the_board(spec: str) -> None:
    state = ht.load_game(spec).new_initial_state()
    state.apply(int(state.legal_actions()[0]))
    assert ElementTree.fromstring(state._repr_svg_()).tag.endswith("svg")
    assert repr(state).startswith(f'ht.position("{spec}", "')
    assert str(state) == state.text()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ht.register_game("mine", FIVE), "expected the class of its positions"),
        (lambda: ht.register_game("My Game", MisereTicTacToe), "small letters"),
        (lambda: ht.check_game(FIVE), "expected a spec, a game or the class"),
        (lambda: ht.load_game("ches"), "no game 'ches'"),
        (lambda: ht.load_game(FIVE), "no game '5'"),
    ],
)
def test_errors_of_games_are_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
