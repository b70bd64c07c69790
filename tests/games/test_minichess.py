"""Gardner's minichess: beside Fairy-Stockfish (pyffish), its mirror image, search, openings, the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.registry import check_game, load_game
from hauteur.matches.openings import read_opening, read_openings

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


@pytest.mark.parametrize("fen", STARTS)
def test_fairy_stockfish_plays_by_the_same_rules(fen: str) -> None:
    pyffish: Any = pytest.importorskip("pyffish", reason="pyffish is not installed")
    rng = np.random.default_rng(11)
    for _ in range(3):
        state, moves = position(fen), list[str]()
        while state.outcome() is None:
            before = state.notation()
            assert texts(state) == sorted(pyffish.legal_moves("gardner", before, []))
            moves.append(state.action_to_text(int(rng.choice(state.legal_actions()))))
            state.apply(state.parse(moves[-1]))
            assert state.notation() == pyffish.get_fen("gardner", before, moves[-1:])
            assert state.end_reason() == end_reason(pyffish, state, fen, moves)


def texts(state: _core.State) -> list[str]:
    """The legal moves in coordinates, in the order of the alphabet."""
    return sorted(state.action_to_text(action) for action in state.legal_actions().tolist())


def end_reason(pyffish: Any, state: _core.State, fen: str, moves: list[str]) -> str | None:
    """Why the game is over in our words, as Fairy-Stockfish sees it."""
    now, quiet_plies = state.notation(), int(state.notation().split()[4])
    if not pyffish.legal_moves("gardner", now, []):
        return "checkmate" if pyffish.game_result("gardner", now, []) else "stalemate"
    # Less than four quiet plies cannot repeat a position; the question is slow because all moves are played again.
    if quiet_plies >= 4 and pyffish.is_optional_game_end("gardner", fen, moves)[0]:
        return "fifty-move rule" if quiet_plies >= 100 else "threefold repetition"
    return "insufficient material" if all(pyffish.has_insufficient_material("gardner", now, [])) else None


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
