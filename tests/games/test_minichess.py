"""Gardner's minichess: the numbers of Fairy-Stockfish, the laws, its mirror image, openings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.registry import check_game, load_game
from hauteur.matches.openings import read_opening, read_openings

pytestmark = pytest.mark.quick

START = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1"
STARTS = [
    START,
    "k4/2PP1/1r1b1/p3p/3QK w - - 0 1",
    "4k/P1P2/5/1pp1p/4K b - - 3 20",
    "k1b2/4Q/2n2/3p1/q1R1K w - - 0 1",
    "3k1/2n2/5/1B3/K4 w - - 90 60",
]
# Fairy-Stockfish 11.1, variant gardner, `go perft`; more of them in crates/core/src/games/minichess/tests.rs.
PERFT = [
    (START, [7, 53, 506, 4775, 52_512, 572_874]),
    ("k4/2PP1/1r1b1/p3p/3QK w - - 0 1", [17, 222, 3253, 41_726]),
    ("k1b2/4Q/2n2/3p1/q1R1K w - - 0 1", [1, 19, 319, 4893, 63_996]),
]


def position(fen: str) -> _core.State:
    """The position of a FEN."""
    return load_game(f"minichess(fen={fen})").new_initial_state()


@pytest.mark.parametrize(("fen", "counts"), PERFT)
def test_known_numbers_of_move_sequences(fen: str, counts: list[int]) -> None:
    state = position(fen)
    assert [state.perft(depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize("fen", STARTS)
def test_laws(fen: str) -> None:
    results = check_game(f"minichess(fen={fen})", games=2, seed=2)
    assert [result for result in results if result.broken] == []
    assert all(result.checks > 0 for result in results)


def test_the_mirror_image_begins_with_the_king_on_the_left() -> None:
    game = load_game("minichess")
    assert game.new_initial_state(1).notation() == "kqbnr/ppppp/5/PPPPP/KQBNR w - - 0 1"
    squares, actions = game.symmetries()
    assert squares.shape == (2, 25)
    assert actions.shape == (2, 455)
    features = game.new_initial_state().features().reshape(15, 25)
    assert np.array_equal(game.new_initial_state(1).features().reshape(15, 25), features[:, squares[1]])
    with pytest.raises(ValueError, match="minichess: symmetry must be from 0 to 1, got 2"):
        game.new_initial_state(2)


def test_openings_are_fens_or_moves(tmp_path: Path) -> None:
    game = load_game("minichess")
    book = tmp_path / "book.epd"
    book.write_text("k4/5/5/5/K3R b - - 3 20\nk4/5/5/5/K3R w - -\nb1c3 d4d3\n", encoding="utf-8")
    first, second, third = read_openings(book, game)
    assert first.origin(game).notation() == "k4/5/5/5/K3R b - - 3 20"
    assert second.origin(game).notation() == "k4/5/5/5/K3R w - - 0 1"
    assert (third.fen, len(third.actions)) == (None, 2)
    with pytest.raises(ValueError, match="the game is over"):
        read_opening("k4/5/5/5/K3N b - -", game)
