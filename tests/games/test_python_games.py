"""Games written in Python: exceptions, broken laws, registration; games and positions by their public names."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hauteur as ht
from hauteur import _core
from hauteur.cli import main
from hauteur.games import registry
from hauteur.games import registry as games
from hauteur.games.laws import check_laws
from hauteur.games.tutorial import MisereTicTacToe

pytestmark = pytest.mark.quick


class Race:
    """Players take turns to advance a common counter by one or two; who reaches `goal` wins."""

    num_actions = 2
    feature_shape = (1, 1, 8)

    def __init__(self, goal: int = 6) -> None:
        self.goal = goal
        self.counter = 0
        self.to_move = 0

    def legal_actions(self) -> list[int]:
        return [] if self.counter >= self.goal else [0, 1]

    def apply(self, action: int) -> None:
        self.counter += action + 1
        self.to_move = 1 - self.to_move

    def outcome(self) -> int | None:
        return None if self.counter < self.goal else (1 if self.to_move else -1)

    def features(self) -> NDArray[np.float32]:
        return (np.arange(8) < self.counter).astype(np.float32).reshape(1, 1, 8)

    def copy(self) -> Race:
        twin = type(self)(self.goal)
        twin.counter = self.counter
        twin.to_move = self.to_move
        return twin


def broken_race(**members: Any) -> Race:
    """The race with some members replaced."""
    return type("Broken", (Race,), members)()  # type: ignore[no-any-return]


def results(position: object) -> dict[str, str | None]:
    """Law -> how it is broken."""
    game = _core.Game.from_python(position, "race")
    return {result.name: result.broken for result in check_laws(game, games=5, seed=0)}


def test_a_minimal_game_obeys_the_laws_and_has_defaults() -> None:
    game = _core.Game.from_python(Race(), "race(goal=6)")
    assert (game.name, game.spec, game.max_plies) == ("race", "race(goal=6)", 1000)
    assert set(results(Race()).values()) == {None}
    state = game.new_initial_state()
    state.apply(state.parse("1"))
    assert (state.notation(), state.text(), state.ply) == ("1", "race(goal=6): 1", 1)
    assert state.perft(4) == 2


class Raises:
    """A method that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __get__(self, instance: object, owner: type) -> Callable[..., Any]:
        def method(*arguments: object) -> Any:
            if getattr(instance, "counter", 0) >= 2:
                raise self.error
            inherited: Callable[..., Any] = getattr(super(owner, instance), self.name)
            return inherited(*arguments)

        return method

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


@pytest.mark.parametrize("method", ["legal_actions", "apply", "outcome", "features"])
def test_exceptions_reach_the_caller_of_a_search(method: str) -> None:
    game = _core.Game.from_python(broken_race(**{method: Raises(KeyError("lost"))}))
    forest = _core.Forest(game, "{}", 1, 2)
    features = np.zeros((4, *game.feature_shape), np.float32)
    for _ in range(3):
        forest.add(game.new_initial_state())

    def search() -> None:
        for _ in range(50):
            batch = forest.gather(features)
            rows = len(batch)
            forest.apply(batch, np.zeros((rows, 2), np.float32), np.full((rows, 3), 1 / 3, np.float32))

    with pytest.raises(KeyError, match="lost"):
        search()
    fresh = game.new_initial_state()
    assert fresh.legal_actions().tolist() == [0, 1]


@pytest.mark.parametrize("method", ["legal_actions", "outcome", "features", "copy"])
def test_exceptions_reach_the_caller_of_a_state(method: str) -> None:
    state = _core.Game.from_python(broken_race(**{method: Raises(KeyError("lost"))})).new_initial_state()
    state.apply(0)
    state.apply(1)
    with pytest.raises(KeyError, match="lost"):
        getattr(state, method)()


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"legal_actions": lambda self: [1, 0]}, "legal_actions must be ascending, without repeats, in 0 to 1; got"),
        ({"legal_actions": lambda self: [0, 2]}, "got [0, 2]"),
        ({"outcome": lambda self: 2}, "outcome() must be 1, 0, -1 or None, got 2"),
        ({"features": lambda self: np.zeros((1, 2, 8))}, "features() must give shape [1, 1, 8], got [1, 2, 8]"),
        ({"features": lambda self: np.full((1, 1, 8), np.nan)}, "features() must give finite numbers, got NaN"),
        ({"max_plies": 2}, "lasts longer than max_plies = 2"),
    ],
)
def test_wrong_answers_are_named(members: dict[str, Any], part: str) -> None:
    broken = [message for message in results(broken_race(**members)).values() if message]
    assert any(part in message for message in broken), broken
    assert all("after the actions [" in message for message in broken)


@pytest.mark.parametrize(
    ("members", "law"),
    [
        ({"copy": lambda self: self}, "copies"),
        ({"key": lambda self: 1}, "keys"),
        ({"action_to_text": lambda self, action: "x"}, "notation"),
        ({"text": lambda self: " "}, "drawings"),
        ({"svg": lambda self: "<svg>"}, "drawings"),
        ({"symmetries": lambda self: (np.array([range(8), range(8)]), np.array([[0, 1], [1, 0]]))}, "symmetries"),
        ({"features": lambda self: np.random.default_rng().random((1, 1, 8))}, "copies"),
    ],
)
def test_broken_laws_are_found(members: dict[str, Any], law: str) -> None:
    assert results(broken_race(**members))[law] is not None


def test_a_copy_of_the_class_above_is_refused() -> None:
    """The game was played by the rules of that class, whatever its own were."""

    class Above(Race):
        def copy(self) -> Race:
            twin = Above(self.goal)
            twin.counter = self.counter
            twin.to_move = self.to_move
            return twin

    class Longer(Above):
        def legal_actions(self) -> list[int]:
            return super().legal_actions()[:1]

    assert ht.check_game(Above).ok
    with pytest.raises(ValueError, match=r"copy\(\) of Longer must give a Longer, got a Above: make"):
        ht.check_game(Longer)


def test_a_copy_that_leaves_something_out_is_found() -> None:
    class Passes(Race):
        """Two passes in a row end the race; a copy forgets the first one."""

        quiet = 0

        def apply(self, action: int) -> None:
            self.quiet = 0 if action else self.quiet + 1
            self.counter += action
            self.to_move = 1 - self.to_move

        def outcome(self) -> int | None:
            return 0 if self.quiet == 2 else super().outcome()

        def legal_actions(self) -> list[int]:
            return [] if self.outcome() is not None else [0, 1]

        def features(self) -> NDArray[np.float32]:
            return super().features() + np.float32(self.quiet)

    broken = {name: message for name, message in results(Passes()).items() if message}
    assert "copy() leaves something out" in broken["copies"]

    class Whole(Passes):
        def copy(self) -> Race:
            twin = super().copy()
            twin.quiet = self.quiet  # type: ignore[attr-defined]
            return twin

    assert results(Whole())["copies"] is None


def test_a_forest_takes_states_of_another_instance_of_its_game() -> None:
    forest = _core.Forest(games.load_game("tutorial"), "{}")
    tree = forest.add(games.load_game("tutorial").new_initial_state())
    assert forest.active().tolist() == [tree]


def test_a_broken_law_gives_exit_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(games, "_registered", {"unfair-race": lambda: broken_race(copy=lambda self: self)})
    assert main.main(["check-game", "unfair-race", "--games", "2"]) == 1
    output = capsys.readouterr().out
    assert "BROKEN copies" in output
    assert "after the actions [" in output


# -- public names ------------------------------------------------------------------------------------------------------


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
