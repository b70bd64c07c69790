"""FENs are cleaned of castling rights and en passant squares that no position can have; the rest is refused."""

import pytest

import hauteur as ht
from hauteur import _core
from hauteur.engine.uci.commands import parse_position
from hauteur.engine.uci.options import Options
from hauteur.games.registry import load_game, with_fen

ROOK_ODDS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBNR w KQkq - 0 1"
CASTLED = "rnbqkbnr/pppppppp/8/8/8/5BN1/PPPPPPPP/RNBQ1RK1 b HQkq - 0 1"
MIDDLEGAME = "2r5/5p1k/p4b2/2Rp1pr1/1Pn1q3/2P3PP/P4P2/2RQ2K1 b KQkq - 0 1"
FISCHER = "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1"
TWO_STARTS = "bqnnrbkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhe - 0 1"  # as books of double Chess960 have them
FISCHER_ODDS = "bqnrnk1b/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1"


@pytest.mark.parametrize(
    ("fen", "fields"),
    [
        (ROOK_ODDS, "w Kkq -"),
        (CASTLED, "b kq -"),
        (MIDDLEGAME, "b - -"),
        ("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1", "w - -"),
        ("r3k2r/8/8/8/8/8/8/3RK2R w KQkq - 0 1", "w Kkq -"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah - 0 1", "w KQkq -"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq e3 0 1", "b KQkq -"),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e3 0 1", "w KQkq -"),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e4 0 1", "b KQkq -"),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", "b KQkq e3"),
    ],
)
def test_what_no_position_can_have_is_left_out(fen: str, fields: str) -> None:
    clean, chess960, notes = _core.clean_fen(fen)
    assert (" ".join(clean.split()[1:4]), chess960) == (fields, False)
    is_changed = fields.split()[1:] != fen.split()[2:4]
    assert bool(notes) == (is_changed and "AHah" not in fen)
    assert load_game(with_fen("chess", fen)).new_initial_state().fen == clean


@pytest.mark.parametrize("fen", [FISCHER, FISCHER_ODDS, "4k3/8/8/8/8/8/8/RK6 w Q - 0 1", TWO_STARTS])
def test_rights_that_only_chess960_has_make_it_chess960(fen: str) -> None:
    _, chess960, notes = _core.clean_fen(fen)
    assert chess960
    assert "read as Chess960" in notes[0]
    assert "chess960=true" in load_game(with_fen("chess", fen)).spec


def test_rights_by_files_are_of_the_rooks_that_they_name() -> None:
    """They are written so too, since KQkq would be read as rights that an editor left."""
    state = ht.position(TWO_STARTS)
    assert (state.fen, "chess960=true" in state.game.spec) == (TWO_STARTS, True)
    state.apply(state.parse("h2h4"))
    assert state.fen == "bqnnrbkr/pppppppp/8/8/7P/8/PPPPPPP1/BBQNNRKR b HFhe - 0 1"
    assert ht.position(FISCHER).fen == FISCHER
    # After White's king has left, a right by a file that no rook stands on is no sign of Chess960.
    assert _core.clean_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1KNR w HAhe - 0 1")[1] is False


def test_rights_that_chess960_cannot_have_are_left_out_there_too() -> None:
    clean, chess960, notes = _core.clean_fen(FISCHER_ODDS, chess960=True)
    assert (clean.split()[2], chess960, len(notes)) == ("KQq", True, 1)
    assert _core.clean_fen(FISCHER, chess960=True) == (FISCHER, True, [])


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("8/8/8/4k3/8/8/4Q3/4K3 w - - 0 1", "in check"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "needs a king"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "pawns cannot stand"),
        ("4k3/8/8/8/8/8/8/4K3 w XY - 0 1", "castling"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "turn"),
        ("4k3/8/8/8/8/8/8/4K3", "2 to 6 fields"),
    ],
)
def test_what_no_cleaning_mends_is_refused(fen: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as error:
        _core.clean_fen(fen)
    assert "\n" not in str(error.value)


def test_a_fen_that_stops_after_the_side_to_move_is_read_with_a_note() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K2R w"
    clean, chess960, [note] = _core.clean_fen(fen)
    assert (clean, chess960) == (f"{fen} - - 0 1", False)
    assert "no field for castling rights and en passant square" in note
    position = parse_position(f"fen {fen} moves e2e4", Options())
    assert position.state.fen.split()[1:3] == ["b", "-"]
    assert position.notes == (note,)
    (game,) = ht.read_games(f'[FEN "{fen}"]\n\n1. e4 *')
    assert (game.start, game.moves, game.notes) == (f"{fen} - - 0 1", ("e2e4",), (note,))


@pytest.mark.parametrize(("fen", "fields"), [(ROOK_ODDS, "w Kkq"), (CASTLED, "b kq"), (MIDDLEGAME, "b -")])
def test_engines_say_what_was_changed(fen: str, fields: str) -> None:
    position = parse_position(f"fen {fen}", Options())
    assert " ".join(position.state.fen.split()[1:3]) == fields
    assert position.notes == tuple(_core.clean_fen(fen)[2])
    assert parse_position("startpos moves e2e4", Options()).notes == ()
