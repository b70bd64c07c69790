"""Answers of a game that are of a wrong kind: each is one line with game, moves, method and what is allowed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hauteur import _core
from hauteur.cli import main
from hauteur.games import registry
from hauteur.games.laws import check_laws

RECIPE = """
game = "race"
network = { filters = 4, blocks = 1 }
selfplay = { games = 4, visits = 4 }
gate = { by = "off" }
train = { batch_size = 8 }
run = { generations = 1, threads = 1, solved_positions = 0 }
"""


class Race:
    """Players take turns to advance a common counter by one or two; who reaches 6 wins."""

    num_actions: Any = 3
    feature_shape: Any = (1, 2, 4)

    def __init__(self) -> None:
        self.counter, self.to_move = 0, 0

    def legal_actions(self) -> list[int]:
        return [] if self.counter >= 6 else [0, 1, 2]

    def apply(self, action: int) -> None:
        self.counter += action + 1
        self.to_move = 1 - self.to_move

    def outcome(self) -> int | None:
        return None if self.counter < 6 else (1 if self.to_move else -1)

    def features(self) -> NDArray[np.float32]:
        return (np.arange(8) < self.counter).astype(np.float32).reshape(1, 2, 4)

    def copy(self) -> Race:
        twin = type(self)()
        twin.counter = self.counter
        twin.to_move = self.to_move
        return twin


def giving(answer: Any) -> Callable[..., Any]:
    """A method that gives this, whatever it is asked."""
    return lambda self, *arguments: answer


class Unshowable:
    def __repr__(self) -> str:
        raise KeyError("no repr")


MASK = "indices, not a mask: np.flatnonzero"

OF_POSITIONS: list[tuple[str, Any, str]] = [
    ("legal_actions", [0.0, 1.0], "got [0.0, 1.0]"),
    ("legal_actions", np.array([True, False, True]), MASK),
    ("legal_actions", [False, True], MASK),
    ("legal_actions", [0, 1, 1], MASK),
    ("legal_actions", None, "got None"),
    ("legal_actions", [(0, 1), (1, 2)], "got [(0, 1), (1, 2)]"),
    ("legal_actions", 3, "got 3"),
    ("legal_actions", "01", "got '01'"),
    ("legal_actions", np.array([0.0, 1.0]), "got array([0., 1.])"),
    ("legal_actions", np.zeros((2, 2), int), "got array"),
    ("legal_actions", np.where([True, False, True]), "got (array"),
    ("legal_actions", [2, 1], "ascending"),
    ("legal_actions", [0, 0], "without repeats"),
    ("legal_actions", [3], "in 0 to 2"),
    ("legal_actions", [-1], "in 0 to 2"),
    ("legal_actions", [2**70], "in 0 to 2"),
    ("legal_actions", [None], "got [None]"),
    ("legal_actions", Unshowable(), "an object of type"),
    ("features", np.zeros(8), "must give shape [1, 2, 4], got [8]"),
    ("features", None, "must give shape [1, 2, 4], got None"),
    ("features", np.zeros((2, 4)), "got [2, 4]"),
    ("features", [[1], [1, 2]], "got [[1], [1, 2]]"),
    ("features", "board", "got 'board'"),
    ("features", {"plane": 1}, "got {'plane': 1}"),
    ("features", np.full((1, 2, 4), None), "finite"),
    ("features", np.full((1, 2, 4), "x"), "got array"),
    ("features", np.full((1, 2, 4), np.inf), "finite numbers, got inf"),
    ("features", np.full((1, 2, 4), np.nan), "finite numbers, got NaN"),
    ("outcome", 2, "must be 1, 0, -1 or None, got 2"),
    ("outcome", 1.0, "got 1.0"),
    ("outcome", "win", "got 'win'"),
    ("outcome", False, "None means that the game goes on"),
    ("outcome", np.bool_(False), "None means that the game goes on"),
    ("outcome", (1, -1), "got (1, -1)"),
    ("outcome", [], "got []"),
    ("outcome", np.zeros(2), "got array"),
    ("copy", None, "copy() must give another position, got None"),
    ("copy", {"counter": 0}, "copy() must give another position, got {'counter': 0}"),
    ("copy", 0, "got 0"),
    ("action_to_text", 5, "action_to_text(0) must give text, got 5"),
    ("action_to_text", None, "must give text, got None"),
    ("text", b"board", "text() must give text, got b'board'"),
    ("text", ["row"], "text() must give text, got ['row']"),
    ("svg", 1, "svg() must give text, got 1"),
    ("cells", [".."], "cells() must give 2 texts of 4 signs, got ['..']"),
    ("cells", 5, "cells() must give 2 texts of 4 signs, got 5"),
    ("notation", [0], "notation() must give text, got [0]"),
    ("squares", 3, "must be pairs (row, column) below (2, 4), got 3"),
    ("squares", [(0, 9)], "got [(0, 9)]"),
    ("squares", [(0,)], "got [(0,)]"),
    ("squares", [("a", 1)], "got [('a', 1)]"),
    ("squares", [0, 1], "got [0, 1]"),
    ("repetition", "twice", "repetition() must be None or"),
    ("repetition", (1,), "got (1,)"),
    ("repetition", (1, 900), "got (1, 900)"),
    ("repetition", 1, "got 1"),
]
"""Method of a position, what it gives, part of the message."""

OF_GAMES: list[tuple[str, Any, str]] = [
    ("num_actions", 3.0, "num_actions must be a whole number from 1 to 65535, got 3.0"),
    ("num_actions", 0, "got 0"),
    ("num_actions", None, "got None"),
    ("num_actions", "3", "got '3'"),
    ("feature_shape", (8,), "feature_shape must be three whole numbers >= 1: planes, rows, columns, got (8,)"),
    ("feature_shape", 8, "got 8"),
    ("feature_shape", (1, 2.5, 4), "got (1, 2.5, 4)"),
    ("feature_shape", (1, 0, 4), "got (1, 0, 4)"),
    ("feature_shape", None, "got None"),
    ("max_plies", 0, "max_plies must be a whole number >= 1, got 0"),
    ("max_plies", 9.5, "got 9.5"),
    ("look", "pictures", "look must be one of"),
    ("look", 1, "got 1"),
    ("has_draws", "no", "has_draws must be True or False, got 'no'"),
    ("past_matters", 1, "past_matters must be True or False, got 1"),
    ("symmetries", giving(None), "symmetries() must give two integer arrays"),
    ("symmetries", giving(np.zeros((1, 8))), "symmetries() must give two integer arrays"),
    ("symmetries", giving(([0], [0])), "the symmetries' squares must be an integer array [S, 8]"),
    ("symmetries", giving((np.zeros((1, 8), int), np.zeros((1, 3), int))), "must be a permutation of 0 to 7"),
    ("legal_actions", [0, 1], "Broken.legal_actions must be a method, got [0, 1]"),
    ("outcome", None, "Broken.outcome must be a method, got None"),
    ("features", np.zeros((1, 2, 4)), "Broken.features must be a method, got array"),
]
"""Member of the initial position, its value, part of the message."""


def broken(**members: Any) -> type[Race]:
    return type("Broken", (Race,), members)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Race]], None]:
    def register(kind: type[Race]) -> None:
        monkeypatch.setattr(registry, "_registered", {"race": kind})

    return register


def check_line(line: str, name: str, part: str) -> None:
    """The line names the game, the member and what is allowed, and is no error of Python."""
    assert "race" in line
    assert name in line
    assert part in line
    assert len(line) <= 1500
    assert not any(word in line for word in ("TypeError", "AttributeError", "Traceback", "raised "))


@pytest.mark.parametrize(("method", "answer", "part"), OF_POSITIONS)
def test_check_game_names_answers_of_a_wrong_kind(
    method: str,
    answer: object,
    part: str,
    registered: Callable[[type[Race]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    registered(broken(**{method: giving(answer)}))
    assert main.main(["check-game", "race", "--games", "2"]) == 2
    output = "".join(capsys.readouterr())
    lines = [line.strip() for line in output.splitlines() if part in line]
    assert lines, output
    check_line(lines[0], method, part)
    assert method == "copy" or "after the actions [" in lines[0]


def test_a_law_without_a_check_is_not_said_to_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ok legal 0 checks  Legal actions are ascending` stood below the line that they are not."""

    class Descending(Race):
        def legal_actions(self) -> list[int]:
            return super().legal_actions()[::-1]

    monkeypatch.setattr(registry, "_registered", {"race": Descending})
    assert main.main(["check-game", "race", "--games", "2"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert not [line for line in lines if line.startswith("ok")]
    assert "race: 0 of 13 laws hold along 2 random games (seed 0), 12 could not be checked" in lines


@pytest.mark.parametrize(("member", "value", "part"), OF_GAMES)
@pytest.mark.parametrize("command", ["check-game", "train"])
def test_facts_of_a_wrong_kind_are_named(
    member: str,
    value: object,
    part: str,
    command: str,
    registered: Callable[[type[Race]], None],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    registered(broken(**{member: value}))
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    words = [command, "race"] if command == "check-game" else [command, str(recipe), "--run", str(tmp_path / "run")]
    assert main.main(words) == 2
    line = capsys.readouterr().err.strip()
    assert "\n" not in line
    check_line(line, member, part)


SHOWN_ONLY = ("action_to_text", "cells", "text", "svg", "notation", "squares", "repetition")
"""What training does not ask a game."""


@pytest.mark.parametrize(("method", "answer", "part"), [row for row in OF_POSITIONS if row[0] not in SHOWN_ONLY])
def test_train_names_answers_of_a_wrong_kind(
    method: str,
    answer: object,
    part: str,
    registered: Callable[[type[Race]], None],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    registered(broken(**{method: giving(answer)}))
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    assert main.main(["train", str(recipe), "--run", str(tmp_path / "run")]) == 2
    line = capsys.readouterr().err.strip().splitlines()[-1]
    check_line(line, method, part)


@pytest.mark.parametrize("shape", [[1, 2, 4], (1, 2, 4), np.array([1, 2, 4]), (np.int64(1), 2, 4)])
def test_a_shape_is_any_sequence(shape: object) -> None:
    game = _core.Game.from_python(broken(feature_shape=shape)(), "race")
    assert game.feature_shape == (1, 2, 4)
    assert check_laws(game, games=2, seed=0).ok


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("squares", [[0, 1]]),
        ("squares", np.array([[0, 1], [1, 3]])),
        ("squares", []),
        ("key", (1, np.zeros(3), ["a"])),
    ],
)
def test_answers_that_are_allowed(method: str, answer: object) -> None:
    state = _core.Game.from_python(broken(**{method: giving(answer)})(), "race").new_initial_state()
    assert state.squares(0) == ([tuple(pair) for pair in np.array(answer).tolist()] if method == "squares" else [])
    assert isinstance(state.key, int)


def test_a_position_that_forgets_its_mover_is_named() -> None:
    class Forgets(Race):
        def copy(self) -> Race:
            twin = type(self)()
            del twin.to_move
            return twin

    state = _core.Game.from_python(Forgets(), "race").new_initial_state()
    with pytest.raises(_core.WrongAnswer, match=r"race after the actions .*to_move must be 0 or 1"):
        _ = state.to_move


def test_a_move_that_makes_another_position_is_named() -> None:
    class Functional(Race):
        def apply(self, action: int) -> Race:  # type: ignore[override]
            twin = self.copy()
            Race.apply(twin, action)
            return twin

    state = _core.Game.from_python(Functional(), "race").new_initial_state()
    with pytest.raises(_core.WrongAnswer, match=r"apply\(0\) must play in place"):
        state.apply(0)


def test_long_games_and_answers_make_short_lines() -> None:
    class Long(Race):
        max_plies = 900

        def outcome(self) -> int | None:
            return "x" * 10_000 if self.counter > 800 else None  # type: ignore[return-value]

        def legal_actions(self) -> list[int]:
            return [0]

    state = _core.Game.from_python(Long(), "race").new_initial_state()
    for _ in range(801):
        state.apply(0)
    with pytest.raises(_core.WrongAnswer) as caught:
        state.outcome()
    assert "after the actions [793 more, 0, 0, 0, 0, 0, 0, 0, 0]" in str(caught.value)
    assert len(str(caught.value)) < 500


class ArrayKey(Race):
    """Its key is an array whose repr leaves most numbers out."""

    def key(self) -> object:
        board = np.zeros(2000, np.int8)
        board[1000] = self.counter
        return board


class HiddenArray(ArrayKey):
    """The same within an object of its own."""

    def key(self) -> object:
        return {"board": super().key()}


@pytest.mark.parametrize("wrapped", [lambda board: board, lambda board: ("board", board), lambda board: [1, [board]]])
def test_large_arrays_are_whole_keys(wrapped: Callable[[object], object]) -> None:
    kind = type("Wrapped", (ArrayKey,), {"key": lambda self: wrapped(ArrayKey.key(self))})
    state = _core.Game.from_python(kind(), "race").new_initial_state()
    keys = set()
    for action in (0, 2, 0, 1):
        keys.add(state.key)
        state.apply(action)
    assert len(keys) == 4
    assert check_laws(state.game, games=3, seed=0).ok


def test_a_repr_that_leaves_numbers_out_is_no_key() -> None:
    state = _core.Game.from_python(HiddenArray(), "race").new_initial_state()
    with pytest.raises(_core.WrongAnswer, match=r"key\(\) must tell positions apart.*tobytes"):
        _ = state.key


def field_module(name: str) -> ModuleType:
    place = Path(__file__).parents[1] / "support/field/trainers" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def reported() -> dict[str, str]:
    answers: dict[str, str] = field_module("wrong_types").ANSWERS
    return answers


def test_every_reported_answer_is_among_these(reported: dict[str, str]) -> None:
    methods = {row[0] for row in (*OF_POSITIONS, *OF_GAMES)}
    assert {answer.partition(":")[0] for answer in reported} <= methods
