"""The games: known numbers, reference positions, drawings, bad input; minichess; Connect Four of other sizes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from hauteur import _core
from hauteur.cli import main
from hauteur.games.registry import check_game, load_game
from hauteur.games.tutorial import MisereTicTacToe

pytestmark = pytest.mark.quick

SPECS = [
    "tictactoe",
    "connect4",
    "nogo",
    "nogo(size=3)",
    "nogo(rows=3,cols=4)",
    "nogo(rows=13,cols=2)",
    "nogo(size=13)",
    "chess",
    "tutorial",
]

PERFT = [
    ("tictactoe", [9, 72, 504, 3024, 15120, 54720, 148_176, 200_448, 127_872]),
    ("connect4", [7, 49, 343, 2401, 16_807, 117_649, 823_536, 5_673_234]),
    ("nogo(size=2)", [4, 12, 16, 0]),
    ("nogo(size=3)", [9, 72, 496, 2832, 12768, 41328, 80352, 43776, 0]),
    ("nogo(rows=3,cols=4)", [12, 132, 1312, 11592, 89304, 581_760]),
    ("nogo(size=4)", [16, 240, 3352, 43264, 511_776]),
    ("nogo(size=6)", [36, 1260, 42832]),
    ("nogo", [81, 6480, 511_912]),
]


@pytest.mark.parametrize(("spec", "counts"), PERFT)
def test_known_numbers_of_move_sequences(spec: str, counts: list[int]) -> None:
    state = load_game(spec).new_initial_state()
    assert [state.perft(depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize("spec", SPECS)
def test_laws(spec: str) -> None:
    results = check_game(spec, games=2, seed=1)
    assert all(result.checks > 0 for result in results)
    assert [result for result in results if result.broken] == []


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        (" nogo( size = 7 ) ", "nogo(size=7)"),
        ("nogo(size=9)", "nogo"),
        ("nogo(rows=4,cols=4)", "nogo(size=4)"),
        ("nogo(cols=3,rows=2)", "nogo(rows=2,cols=3)"),
        ("connect4()", "connect4"),
    ],
)
def test_a_spec_is_written_in_one_way(given: str, canonical: str) -> None:
    assert load_game(given).spec == canonical
    assert load_game(canonical).spec == canonical


def points(names: list[str], state: _core.State) -> list[int]:
    """GTP points of a 9x9 board as actions."""
    return sorted("ABCDEFGHJ".index(name[0]) + 9 * (9 - int(name[1:])) for name in names)


def test_nogo_reference_positions(shared_data: Path) -> None:
    reference = json.loads((shared_data / "nogo" / "reference.json").read_text(encoding="utf-8"))
    positions = reference["positions_9x9"]["positions"]
    assert len(positions) == 100
    for position in positions:
        state = load_game("nogo").new_initial_state()
        for move in position["moves"]:
            state.apply(state.parse(move))
        own, opponent = ("legal_black", "legal_white")[:: 1 - 2 * state.to_move]
        planes = state.features().reshape(4, 81)
        assert np.flatnonzero(planes[2]).tolist() == points(position[own], state)
        assert np.flatnonzero(planes[3]).tolist() == points(position[opponent], state)
        assert state.legal_actions().tolist() == points(position[own], state)


@pytest.mark.parametrize(
    ("spec", "moves", "notation", "outcome", "reason"),
    [
        ("tictactoe", "b2 a1 a3 c1 c3 b1", "b2 a1 a3 c1 c3 b1", -1, "three in a row"),
        ("tictactoe", "a3 b3 c3 b2 a2 c2 b1 a1 c1", "a3 b3 c3 b2 a2 c2 b1 a1 c1", 0, "full board"),
        ("connect4", "d 4 E 5 c 3 f", "4455336", 1, "four in a row"),
        ("nogo(size=2)", "A1 B2", "A1 B2", None, None),
    ],
)
def test_moves_in_their_notation(spec: str, moves: str, notation: str, outcome: int | None, reason: str | None) -> None:
    state = load_game(spec).new_initial_state()
    for move in moves.split():
        state.apply(state.parse(move))
    assert (state.notation(), state.outcome(), state.end_reason()) == (notation, outcome, reason)


def test_drawings() -> None:
    state = load_game("connect4").new_initial_state()
    for column in (3, 3, 2):
        state.apply(column)
    assert state.text().splitlines() == [
        *(f"{row} . . . . . . ." for row in (6, 5, 4, 3)),
        "2 . . . R . . .",
        "1 . . Y Y . . .",
        "  1 2 3 4 5 6 7",
        "Red to move",
    ]
    discs = ElementTree.fromstring(state.svg()).findall("{http://www.w3.org/2000/svg}use")
    assert [disc.attrib["href"] for disc in discs].count("#discs-e") == 39
    assert len(discs) == 42


def test_a_python_game_is_the_rust_game_move_for_move() -> None:
    class TicTacToe(MisereTicTacToe):
        """The misère game with the result turned round."""

        def outcome(self) -> int | None:
            misere = super().outcome()
            return None if misere is None else -misere

        def copy(self) -> TicTacToe:
            twin = TicTacToe()
            twin.stones = self.stones.copy()
            twin.to_move = self.to_move
            return twin

    ours = load_game("tictactoe")
    python = _core.Game.from_python(TicTacToe(), "python-tictactoe")
    assert python.new_initial_state().perft(5) == ours.new_initial_state().perft(5)
    rng = np.random.default_rng(3)
    for _ in range(50):
        a = ours.new_initial_state()
        b = python.new_initial_state()
        while a.outcome() is None:
            assert a.legal_actions().tolist() == b.legal_actions().tolist()
            assert np.array_equal(a.features(), b.features())
            action = int(rng.choice(a.legal_actions()))
            assert a.action_to_text(action) == b.action_to_text(action)
            a.apply(action)
            b.apply(action)
        assert a.outcome() == b.outcome()
        assert b.legal_actions().tolist() == []


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["perft", "nogo(size=1)", "2"], "size must be a whole number from 2 to 13"),
        (["perft", "connect4", "0"], "depth must be >= 1, got 0"),
        (["perft", "connect4", "deep"], "DEPTH"),
        (["check-game", "hopscotch"], "known games: chess, connect4"),
        (["check-game", "tutorial(size=4)"], "parameters: none"),
        (["check-game", "connect4", "--games", "0"], "games must be a whole number from 1 to 1,000,000,000, got 0"),
        (["check-game", "nogo(size=3"], "expected name or name(key=value, ...)"),
        (
            ["prove", "chess", "--net", "uniform"],
            "chess cannot be solved by its positions: ",
        ),
        (["prove", "tictactoe", "--visits", "0"], "visits must be >= 1, got 0"),
        (["prove", "connect4", "--at-least", "2"], "share from 0 to 1"),
        (["play", "chess", "--net", "maia-1500"], "the net maia-1500 is not downloaded yet: hauteur net get maia-1500"),
        (["play", "nogo(size=5)"], "no net ships for nogo(size=5)"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(arguments) == main.EXIT_BAD_INPUT
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert part in captured.err


def test_a_python_game_has_customs_of_its_own() -> None:
    class Stones(MisereTicTacToe):
        look = "stones"
        has_draws = False

    game = _core.Game.from_python(Stones())
    assert (game.look, game.has_draws) == ("stones", False)
    assert (game.record_form, game.move_notation, game.has_fen) == (None, None, False)
    Stones.look = "marbles"
    with pytest.raises(
        ValueError, match="look must be one of pieces, stones, reversi, hexagons, discs, crosses, letters, got"
    ):
        _core.Game.from_python(Stones())


# -- Connect Four of other sizes ---------------------------------------------------------------------------------------


SIZES = [(4, 4), (5, 4), (4, 6), (5, 5), (6, 5), (7, 4), (6, 6), (7, 5)]


def spec(columns: int, rows: int) -> str:
    return f"connect4(columns={columns},rows={rows})"


class Columns:
    """The rules with a list of stones a column."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns: list[list[int]] = [[] for _ in range(columns)]
        self.rows = rows

    @property
    def ply(self) -> int:
        return sum(map(len, self.columns))

    def legal(self) -> list[int]:
        return [number for number, stones in enumerate(self.columns) if len(stones) < self.rows]

    def at(self, column: int, row: int) -> int | None:
        inside = 0 <= column < len(self.columns) and 0 <= row < len(self.columns[column])
        return self.columns[column][row] if inside else None

    def play(self, column: int) -> int | None:
        """Return the outcome after this move, None while the game goes on."""
        mover = self.ply % 2
        self.columns[column].append(mover)
        row = len(self.columns[column]) - 1
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
            line = [self.at(column + i * right, row + i * up) == mover for i in range(-3, 4)]
            if any(all(line[i : i + 4]) for i in range(4)):
                return 1 - 2 * mover
        return None if self.legal() else 0


@pytest.mark.parametrize("size", SIZES)
def test_random_games_are_those_of_another_program(size: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    game = load_game(spec(*size))
    for _ in range(60):
        state = game.new_initial_state()
        other = Columns(*size)
        outcome = None
        while outcome is None:
            assert (state.outcome(), state.legal_actions().tolist()) == (None, other.legal())
            action = int(random.choice(other.legal()))
            outcome = other.play(action)
            state.apply(action)
            planes = state.features().reshape(game.feature_shape)
            stones = {(c, r): stone for c, column in enumerate(other.columns) for r, stone in enumerate(column)}
            for plane, player in ((0, state.to_move), (1, 1 - state.to_move)):
                met = {(int(c), size[1] - 1 - int(r)) for r, c in np.argwhere(planes[plane])}
                assert met == {place for place, stone in stones.items() if stone == player}
            assert (planes[2] == (state.to_move == 0)).all()
        assert (state.outcome(), state.legal_actions().tolist()) == (outcome, [])
        assert state.ply <= game.max_plies == size[0] * size[1]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("connect4(columns=8)", r"connect4\(columns=8\): columns must be a whole number from 4 to 7"),
        ("connect4(rows=3)", r"connect4\(rows=3\): rows must be a whole number from 4 to 6"),
        ("connect4(rows=x)", r"connect4\(rows=x\): rows must be a whole number from 4 to 6"),
        ("connect4(size=5)", 'connect4 has no parameter "size"; allowed: columns, rows'),
    ],
)
def test_sizes_that_there_are_not_are_refused(given: str, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        load_game(given)
