"""PGN as people and programs write it: where games end, tags, words for moves, results; what is wrong is named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import pyarrow
import pytest
from read_texts import one, skipped_line

import hauteur as ht
from hauteur.games.registry import load_game

QUEEN_ODDS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
FISCHER = "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1"


def moves_of(text: str) -> str:
    return " ".join(one(text).moves)


# Where a game ends.


@pytest.mark.parametrize(
    ("text", "games"),
    [
        ('[Event "a"]\n1. e4 1-0\n[Event "b"]\n1. d4 0-1', [("e2e4", "1-0"), ("d2d4", "0-1")]),
        ('[Event "a"]\n\n\n\n1. e4\n\n\ne5\n\n{c}\n\n2. Nf3 *', [("e2e4 e7e5 g1f3", "*")]),
        ('[Event "a"]\n1. e4 e5\n[Event "b"]\n1. d4', [("e2e4 e7e5", "*"), ("d2d4", "*")]),
        ("1. e4 1-0 1. d4 0-1", [("e2e4", "1-0"), ("d2d4", "0-1")]),
        ('[Event "a"]\n\n[Event "b"]\n\n1. e4 *', [("e2e4", "*")]),
        ('[White "a"]\n[Result "1-0"]\n\n1-0\n\n[White "b"]\n\n1. e4 *', [("e2e4", "*")]),
        ('[White "a"][Black "b"][Result "1-0"] 1. e4 1-0 [White "c"] 1. c4 *', [("e2e4", "1-0"), ("c2c4", "*")]),
        ("1. e4 (1. d4 d5 1-0) e5 1-0", [("e2e4 e7e5", "1-0")]),
        ("1. e4 {1-0 [Event} e5 1-0", [("e2e4 e7e5", "1-0")]),
        ("1. e4 e5 1-0 {a last word} ; and one more\n", [("e2e4 e7e5", "1-0")]),
        ("1. e4 e5*\n1. d4*", [("e2e4 e7e5", "*"), ("d2d4", "*")]),
        ("1. e4 e5\n\n1. d4 d5\n", [("e2e4 e7e5", "*"), ("d2d4 d7d5", "*")]),
        ("1.e4 e5 {the open game}\n  1.d4 ; closed\n1.c4 1-0", [("e2e4 e7e5", "*"), ("d2d4", "*"), ("c2c4", "1-0")]),
        ("1. e4\n1... e5\n2. Nf3\n1-0", [("e2e4 e7e5 g1f3", "1-0")]),
        ("1. e4\n1. ... e5\n1/2-1/2", [("e2e4 e7e5", "1/2-1/2")]),
        ("1. e4\n1. \u2026 e5 *", [("e2e4 e7e5", "*")]),
        ("1. e4 (\n1. d4\n1. c4) e5 *", [("e2e4 e7e5", "*")]),
        ("1. e4 1. e5 2. Nf3 *", [("e2e4 e7e5 g1f3", "*")]),
        ("1. e4\r\n\r\ne5\r\r2. Nf3 *", [("e2e4 e7e5 g1f3", "*")]),
        ('[White "a"]\n\n1-0 * {nothing} 0-1', []),
        ("", []),
    ],
)
def test_tokens_decide_where_games_end(text: str, games: list[tuple[str, str]]) -> None:
    found = [(" ".join(game.moves), game.result) for game in ht.read_games(text + "\n" if text else " \n[Event\n")]
    assert found == games


# Tags.


@pytest.mark.parametrize(
    "tags",
    [
        f'[FEN "{QUEEN_ODDS}"]',
        f'[Fen "{QUEEN_ODDS}"]\n[Setup "1"]',
        f'  [ fen  "{QUEEN_ODDS}" ]  \t\n[SETUP "1"]',
        f'[White "a"] [FEN "{QUEEN_ODDS}"] [SetUp "1"]',
        f'[White "a"][SetUp "1"][FEN "{QUEEN_ODDS}"]',
        f'[FEN\n"{QUEEN_ODDS}"]',
        f'[FEN "{QUEEN_ODDS}"\n]',
        '[FEN "{}"]'.format(QUEEN_ODDS.replace(" w", "\nw")),
        f"[FEN {QUEEN_ODDS}]",
        f'[FEN: "{QUEEN_ODDS}"]',
        f'[FEN "{QUEEN_ODDS}"',
        f'[Annotator "a "b" c"]\n[FEN "{QUEEN_ODDS}"]\r\n',
        f'[SetUp "1"]\n\n\n[FEN "{QUEEN_ODDS}"]',
        f'[Variant "From Position"]\n[FEN "{QUEEN_ODDS}"]',
    ],
)
def test_tags_are_tokens(tags: str) -> None:
    game = one(f"{tags}\n\n1. e4 e5 1-0")
    assert (game.start, game.moves) == (QUEEN_ODDS, ("e2e4", "e7e5"))


def test_values_of_tags_are_as_written() -> None:
    game = one('[White "O\'Neil \\"Joe\\" \\\\ x"]\n[Black "Jos\xe9"]\n[event "small"]\n[Own_1 "x"]\n\n1. e4 *')
    assert game.headers == {"White": 'O\'Neil "Joe" \\ x', "Black": "Jos\xe9", "Event": "small", "Own_1": "x"}


def test_tags_keep_their_order_and_the_first_of_several_counts() -> None:
    game = one('[Site "s"]\n[White "w"]\n[Black "b"]\n[White "other"]\n[Annotator "a"]\n\n1. e4 *')
    assert list(game.headers.items()) == [("Site", "s"), ("White", "w"), ("Black", "b"), ("Annotator", "a")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_files_with_a_mark_of_their_encoding(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    path = tmp_path / "game.pgn"
    path.write_bytes(f'{mark}[White "J\xf3zsef"]\r\n\r\n1. e4 e5 1-0\r\n'.encode(encoding))
    (game,) = ht.read_games(path)
    assert (game.headers["White"], game.moves, game.result) == ("J\xf3zsef", ("e2e4", "e7e5"), "1-0")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_needs_no_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "game.pgn"
    path.write_bytes('[White "J\xf3zsef"]\r\n\r\n1. e4 e5 1-0\r\n'.encode(encoding))
    (game,) = ht.read_games(path)
    assert (game.headers["White"], game.moves, game.result) == ("J\xf3zsef", ("e2e4", "e7e5"), "1-0")


@pytest.mark.parametrize("first", ['[White "a"]\r\n\r\n1. e4 1-0\r\n', "1. e4", '[White "a"]\n\n1. e4 Ke4 *\n\n'])
def test_files_that_were_put_together_keep_their_marks(tmp_path: Path, first: str) -> None:
    """The mark of the second file stands before its first tag, also where the game before cannot be read."""
    path = tmp_path / "games.pgn"
    second = '[White "b"]\r\n[Black "c"]\r\n\r\n1. d4 d5 0-1\r\n'
    path.write_bytes(first.encode("utf-8-sig") + second.encode("utf-8-sig"))
    before, after = ht.read_games(path)
    assert (before.moves == ()) == ("Ke4" in first)
    assert (after.headers["White"], after.moves, after.skipped) == ("b", ("d2d4", "d7d5"), None)


@pytest.mark.parametrize("name", ["gzip", "zip", "bzip2", "xz", "zstd"])
def test_a_packed_file_is_read_whatever_its_name_says(tmp_path: Path, name: str) -> None:
    text = b"1. e4 e5 1-0\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("game.pgn", text)
    packed = {
        "gzip": gzip.compress(text),
        "zip": archive.getvalue(),
        "bzip2": bz2.compress(text),
        "xz": lzma.compress(text),
        "zstd": pyarrow.compress(text, "zstd", asbytes=True),
    }
    path = tmp_path / "game.pgn"
    path.write_bytes(packed[name])
    (game,) = ht.read_games(path)
    assert (game.moves, game.result) == (("e2e4", "e7e5"), "1-0")
    (wrong,) = ht.read_games(_with(path, b"1. e4 e4"))
    assert wrong.skipped is not None
    assert wrong.skipped.startswith(f"{path}, game 1 (line 1)")


def _with(path: Path, text: bytes) -> Path:
    path.write_bytes(gzip.compress(text))
    return path


@pytest.mark.parametrize("end", ["\x1a", "\n\x1a\n", "\0\0\0", " 1-0\n\x1a\x1a"])
def test_bytes_that_fill_the_end_of_a_file_are_passed_over(end: str) -> None:
    assert moves_of(f"1. e4 e5{end}") == "e2e4 e7e5"


@pytest.mark.parametrize("tag", ['[SetUp "1"]', '[SetUp "1"]\n[FEN ""]', '[Setup "1"]\n[White "a"]', '[SETUP "1"]'])
def test_a_start_that_is_not_named_is_never_the_usual_one(tag: str) -> None:
    assert "has the tag SetUp, but no tag FEN" in skipped_line(f"{tag}\n\n1. e4 *")


def test_chess960_without_a_position_is_told() -> None:
    game = one('[Variant "Chess960"]\n\n1. e4 *')
    assert (game.start, len(game.notes)) == ("startpos", 1)
    assert "without a tag FEN" in game.notes[0]


@pytest.mark.parametrize(
    "variant", ["", '[Variant "Chess960"]\n', '[VARIANT "fischerandom"]\n', '[Variant "Standard"]\n']
)
def test_starts_of_chess960_are_known_by_their_castling_rights(variant: str) -> None:
    game = one(f'{variant}[FEN "{FISCHER}"]\n\n1. b3 c5 2. Nf3 d5 3. d4 b6 4. O-O *')
    assert (game.start, game.moves[-1], game.notes) == (FISCHER, "f1g1", ())
    assert game.game == load_game(f"chess(fen={FISCHER}, chess960=true)")


def test_fens_are_cleaned_with_a_note() -> None:
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBNR w KQkq - 0 1"
    game = one(f'[FEN "{fen}"]\n\n1. e4 *')
    assert game.start == fen.replace("KQkq", "Kkq")
    assert "KQkq are read as Kkq" in game.notes[0]


def test_tags_that_differ_are_refused() -> None:
    line = skipped_line(f'[White "a"]\n[FEN "{QUEEN_ODDS}"]\n[Fen "{FISCHER}"]\n\n1. e4 *')
    assert "several tags FEN that differ" in line


# Comments, variations, glyphs.


@pytest.mark.parametrize(
    "text",
    [
        "1. e4 (1. d4 d5 (1... Nf6)) e5 (1... c5) 2. Nf3 *",
        "1. e4 {(} e5 {) (} 2. Nf3 *",
        "1. e4 ; to the end {\n e5 2. Nf3 *",
        "% escaped { line\n1. e4 e5\n%and [Event\n2. Nf3 *",
        "1. e4! e5?! 2. Nf3!! *",
        "1. e4 $1 e5 $142 2. Nf3$14 *",
        "1. e4 = e5 \xb1 2. Nf3 +/- *",
        "1. e4 N e5 +- 2. Nf3 \u2213 *",
        "1. e4\u2a72 e5\xb1 2. Nf3+- *",
        "1. e4 \u25a1 e5 \u221e 2. Nf3 += D *",
        "1.e4 e5 2.Nf3 *",
        "1 e4 e5 2 Nf3 *",
        "1. e4 1... e5 2. Nf3 *",
        "1. e4 1.\u2026 e5 2. Nf3 *",
        "1.e4 ...e5 2.Nf3 *",
        "1e4 e5 2Nf3 *",
        "{intro} 1. e4 {[%clk 0:01]} e5 [%eval 0.1] 2. Nf3 *",
        "1. e2-e4 e7-e5 2. Ng1-f3 *",
        "1. e2e4 e7e5 2. g1f3 *",
        "1.e4(1.d4)e5{x}2.Nf3*",
        "1.\xa0e4 e5\xa02.\u2009Nf3\u202f*",
        "\xa01. e4\u200b e5\u3000\ufeff2. Nf3\xa0",
    ],
)
def test_what_stands_among_the_moves_is_passed_over(text: str) -> None:
    assert moves_of(text) == "e2e4 e7e5 g1f3"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1. e4 {never closed e5 2. Nf3 *\n\n", "line 1: a comment is not closed"),
        ("1. e4 (1. d4 d5 1... e5 2. Nf3 *\n", "line 1: a variation is not closed"),
        ("\n\n1. e4\n(1. d4 (1. c4) 1... e5 *\n", "line 4: a variation is not closed"),
        ("1. e4 e5) 2. Nf3 *", "line 1: a ) closes no variation"),
        ("1. e4 } e5 *", "line 1: a } closes no comment"),
        ("1. e4 {lost 1... e5 2. Nf3 {good} Nc6 *", "a comment is not closed before the next one begins"),
    ],
)
def test_what_is_not_closed_is_named_and_reading_goes_on_at_the_next_tag(text: str, problem: str) -> None:
    before = '[Event "first"]\n\n1. c4 *\n\n'
    games = list(ht.read_games(f'{before}{text}\n[Event "last"]\n[White "w"]\n\n1. d4 d5 1-0\n'))
    assert [" ".join(game.moves) for game in games] == ["c2c4", "", "d2d4 d7d5"]
    assert games[1].skipped is not None
    assert problem.partition(": ")[2] in games[1].skipped
    line = int(problem.partition(":")[0].removeprefix("line ")) if problem.startswith("line") else 1
    assert f"the text, game 2 (line {5 if text.startswith('1') else 7}): line {line + 4}: " in games[1].skipped
    assert games[2].headers == {"Event": "last", "White": "w"}


# Words for moves.

OPEN_GAME = "e2e4 d7d5 e4d5 d8d5 b1c3 d5e5"


@pytest.mark.parametrize(
    "text",
    [
        "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qe5+",
        "1. e4 d5 2. ed5 Qd5 3. Nc3 Qe5",
        "1. e4 d5 2. e:d5 Q:d5 3. Nc3 Qe5+!",
        "1. e4 d5 2. e\xd7d5 Q\xd7d5 3. Nc3 Qe5\u2020",
        "1. e2-e4 d7-d5 2. e4xd5 Qd8xd5 3. Nb1-c3 Qd5-e5+",
        "1. e2-e4 d7-d5 2. e4-d5 Qd8-d5 3. Nb1-c3 Qd5-e5",
        "1. e2e4 d7d5 2. e4d5 Qd8d5 3. Nb1c3 Qd5e5",
        "1. e2\u2013e4 d7\u2013d5 2. e4:d5 Qd8:d5 3. Nb1\u2013c3 Qd5\u2013e5+",
        "1. Pe2-e4 Pd7-d5 2. Pe4xd5 Qxd5 3. Nc3 Qe5",
        "1. e4 d5 2. ed5: Qd5: 3. N(b1)c3 Q(d)e5 ch",
        "1. \u2659e4 d5 2. exd5 \u265bxd5 3. \u2658c3 \u265be5+",
        "1. 5254 4745 2.5445 4845! 3. 2133 4555",
        "1. e4 d5 2. exd5 \u2655xd5 3. \u2658\ufe0ec3 \u2655\ufe0ee5",
        "1. E4 d5".replace("E", "e") + " 2. eXd5 QXd5 3. Nc3 Qe5++",
    ],
)
def test_moves_are_read_as_people_write_them(text: str) -> None:
    assert moves_of(f"{text} *") == OPEN_GAME


@pytest.mark.parametrize(
    "word", ["a8Q", "a8=Q", "a8(Q)", "a8/Q", "a8=Q+", "a7a8q", "a7-a8Q", "a8Q+!?", "a8q", "a8(Q)+", "17181"]
)
def test_promotions_are_read(word: str) -> None:
    assert moves_of(f'[FEN "4k3/P7/8/8/8/8/7p/4K3 w - - 0 1"]\n\n1. {word} Kd7 2. Kd2 h1(N) *').startswith("a7a8q e8d7")


@pytest.mark.parametrize(
    "word", ["O-O", "0-0", "o-o", "O\u2013O", "0\u20130", "OO", "O-O!", "e1g1", "Ke1-g1", "\u041e-\u041e", "5171"]
)
def test_castling_is_read(word: str) -> None:
    text = f"1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. {word} Nf6 *"
    assert moves_of(text).split()[6] == "e1g1"


@pytest.mark.parametrize("word", ["O-O-O", "0-0-0", "o-o-o", "O\u2013O\u2013O", "0\u20110\u20110", "O-O-O+"])
def test_long_castling_is_read(word: str) -> None:
    assert moves_of(f'[FEN "r3k3/8/8/8/8/8/8/R3K2R b KQq - 0 1"]\n\n1... {word} *') == "e8c8"


@pytest.mark.parametrize("word", ["exd6 e.p.", "exd6 ep", "exd6e.p.", "ed6", "e5xd6 e.p.", "e:d6 e.p", "exd6ep"])
def test_en_passant_is_read(word: str) -> None:
    assert moves_of(f"1. e4 a6 2. e5 d5 3. {word} exd6 *").split()[4] == "e5d6"


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1. Sf3 Sf6 2. Sc3 Sc6", "g1f3 g8f6 b1c3 b8c6"),
        ("1. e4 e5 2. Sf3 Sc6 3. Lb5 a6 4. 0-0 Dh4", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1 d8h4"),
        ("1. e4 e5 2. Dh5 Ke7 3. Dxe5#", "e2e4 e7e5 d1h5 e8e7 h5e5"),
        ("1. Cf3 Cf6 2. Cc3 d5 3. d4 Fg4", "g1f3 g8f6 b1c3 d7d5 d2d4 c8g4"),
        ("1. e4 e5 2. Cf3 Cc6 3. Ab5 a6 4. Axc6", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6"),
        ("1. e4 e5 2. Cf3 Cc6 3. Bb5 a6 4. Re2", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1e2"),
        ("1. Pf3 d5 2. Pc3", "g1f3 d7d5 b1c3"),
        ("1. e4 e5 2. Pf3 Pc6 3. Lb5 Df6 4. Kf1 Tb8", "e2e4 e7e5 g1f3 b8c6 f1b5 d8f6 e1f1 a8b8"),
        (
            "1. e4 e5 2. \u041af3 \u041ac6 3. \u0421b5 \u0424f6 4. \u041a\u0440f1 \u041bb8",
            "e2e4 e7e5 g1f3 b8c6 f1b5 d8f6 e1f1 a8b8",
        ),
        ("1. \u041a:f3".replace(":", "") + " d5 2. \u041ac3 d4", "g1f3 d7d5 b1c3 d5d4"),
        ("1. e4 e5 2. Jf3 Jc6 3. Sb5 Df6", "e2e4 e7e5 g1f3 b8c6 f1b5 d8f6"),
        ("1. e4 e5 2. Sf3 Sc6 3. Gb5 Hf6", "e2e4 e7e5 g1f3 b8c6 f1b5 d8f6"),
    ],
)
def test_piece_letters_of_languages_are_read(text: str, moves: str) -> None:
    assert moves_of(f"{text} *") == moves


def test_blanks_of_latin1_are_read(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_bytes('[White "\xc0\xa0\xe0"]\n\n1. e4\xa0e5\xa02. Nf3 *'.encode("latin-1"))
    (game,) = ht.read_games(path)
    assert (game.headers["White"], " ".join(game.moves)) == ("\xc0\xa0\xe0", "e2e4 e7e5 g1f3")


def test_another_language_without_a_letter_of_its_own_is_told() -> None:
    """N is the bishop in Romanian; in an English game it may as well be a knight's move that is wrong."""
    game = one("1. e4 e5 2. Nc4 *")
    assert " ".join(game.moves) == "e2e4 e7e5 f1c4"
    assert game.notes == ("is read in Romanian, since its moves are not legal in English",)
    assert one("1. e4 e5 2. Nc4 Cf6 *").notes == ()


def test_promotions_have_letters_of_languages_too() -> None:
    tags = '[FEN "4k3/P7/8/8/8/8/7p/4K3 w - - 0 1"]'
    assert moves_of(f"{tags}\n\n1. a8D+ Kd7 2. Kd2 h1L *") == "a7a8q e8d7 e1d2 h2h1b"
    assert "may be German or Czech" in skipped_line(f"{tags}\n\n1. a8D+ Kd7 2. Kd2 h1S *")
    assert moves_of(f"{tags}\n\n1. a8=D+ Kd7 2. Kd2 h1(T) *") == "a7a8q e8d7 e1d2 h2h1r"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("1. e4 e5 2. Xf3 *", "Xf3"),
        ("1. e4 e5 2. Sf3 Nc6 *", "Sf3"),
        ("1. e4 e5 2. good *", "good"),
        ("1. e4 e5 2. @f3 *", "@f3"),
        ("1. e4 e5 2. \u265ff9 *", "\u265ff9"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc6 dxc6 5. Nxe6 *", "Nxe6"),
        ("1. e4 e5 2. Nxf3 *", "Nxf3"),
        ("1. e4 d5 2. d5 *", "d5"),
        ("1. e4 e5 2. <Nf3> *", "<Nf3>"),
        ("1. N f3 *", "N"),
        ("1. e4 N f6 *", "N"),
        ("1. e4 e5 2. \u2658 f3 *", "\u2658"),
        ("1. Pe4 e5 *", "Pe4"),
        ("1. N(h1)f3 *", "N(h1)f3"),
        ("1. e4 e5 2.5 Nf3 *", "2.5"),
        ("1. e4 e5 1-0 White resigned", "White"),
        ('[FEN "4k3/P7/8/8/8/8/7p/4K3 w - - 0 1"]\n\n1. a8 Kd7 *', "a8"),
        ('[FEN "4k3/8/8/8/8/8/8/R3K2R w - - 0 1"]\n\n1. Rg1 Kd7 2. Rb1 *', "Rb1"),
    ],
)
def test_words_that_are_no_moves_are_named(text: str, word: str) -> None:
    games = list(ht.read_games(text))
    if word == "Rb1":  # it is one
        assert games[0].moves == ("h1g1", "e8d7", "a1b1")
        return
    skipped = games[-1].skipped
    assert skipped is not None
    assert f'"{word}"' in skipped
    assert "line " in skipped


def test_a_word_that_fits_two_moves_is_named() -> None:
    line = skipped_line('[FEN "4k3/8/8/8/8/8/8/R4RK1 w - - 0 1"]\n\n1. Rd1 *')
    assert '"Rd1" may be several legal moves' in line


@pytest.mark.parametrize("word", ["--", "Z0", "0000", "@@@@", "null"])
def test_a_null_move_ends_the_moves_with_a_note(word: str) -> None:
    game = one(f'[Result "1-0"]\n\n1. e4 e5 2. {word} Nf6 3. d4 1-0')
    assert (game.moves, game.result) == (("e2e4", "e7e5"), "1-0")
    assert "null move" in game.notes[0]
    assert f'"{word}"' in game.notes[0]


# Results.


@pytest.mark.parametrize(
    ("written", "result"),
    [
        *(
            (text, "1/2-1/2")
            for text in ("1/2-1/2", "1/2", "\xbd-\xbd", "\xbd", "0.5-0.5", "0,5-0,5", "1/2:1/2", "\xbd\u2013\xbd")
        ),
        *((text, "1-0") for text in ("1-0", "1:0", "1\u20130", "1 - 0", "1\u22120")),
        *((text, "0-1") for text in ("0-1", "0:1", "0\u20131", "0 - 1")),
        ("*", "*"),
    ],
)
def test_results_are_read_as_people_write_them(written: str, result: str) -> None:
    game = one(f"1. e4 e5 {written}\n")
    assert (game.moves, game.result) == (("e2e4", "e7e5"), result)
    assert one(f'[Result "{written}"]\n\n1. e4 e5\n').result == result


def test_results_that_differ_are_refused() -> None:
    assert "1-0 in the tags and 0-1 after the moves" in skipped_line('[Result "1-0"]\n\n1. e4 0-1')
    assert one('[Result "*"]\n\n1. e4 0-1').result == "0-1"


def test_words_for_checks_of_old_files_are_read() -> None:
    moves = "1. e4 d5 2. Bb5ch c6 3. Bxc6ch. Nxc6 4. Nc3 dxe4 5. Nxe4 Nf6 6. Nxf6dbl.ch gxf6 7. Qe2 dis.ch *"
    assert one(moves).moves[-3:] == ("e4f6", "g7f6", "d1e2")


# Sources.


def test_a_source_is_a_file_or_a_text(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(b'\xef\xbb\xbf[White "M\xfcller"]\n\n1. e4 e5 1-0\n')
    for source in (path, str(path)):
        (game,) = ht.read_games(source)
        assert (game.headers["White"], game.position.ply) == ("M\xfcller", 2)
    with pytest.raises(FileNotFoundError):
        ht.read_games(tmp_path / "none.pgn")
    with pytest.raises(FileNotFoundError):
        ht.read_games("none.pgn")
    with pytest.raises(ValueError, match="a FEN is a position"):
        ht.read_games(QUEEN_ODDS)
    moves = tmp_path / "games.txt"
    moves.write_text("connect4\n4 4 3\n4 9\n")
    good, bad = ht.read_games(moves)
    assert (good.moves, good.start, bad.moves) == (("4", "4", "3"), "startpos", ())
    assert bad.skipped is not None
    (again,) = ht.read_games("4 4 3", "connect4")
    assert again.actions == good.actions


def test_games_of_another_kind_are_left_out() -> None:
    (game,) = ht.read_games(f'[FEN "{FISCHER}"]\n\n1. b3 *', "chess")
    assert "is a game of chess(chess960=true), not of chess" in str(game.skipped)
    with pytest.raises(ValueError, match="PGN holds games of chess"):
        ht.read_games("1. e4 *", "connect4")
    with pytest.raises(ValueError, match="SGF is read for"):
        ht.read_games("(;GM[1]SZ[9];B[ee])", "chess")


def test_a_game_that_is_too_long_is_left_out_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.pgn"
    path.write_text('[Event "a"]\n\n1. e4 {' + "x " * 2_200_000 + '} e5 *\n\n[Event "b"]\n\n1. d4 *\n')
    long, next_one = ht.read_games(path)
    assert long.skipped is not None
    assert next_one.moves == ("d2d4",)


@pytest.mark.parametrize("source", [b"1. e4 e5", None, 3])
def test_what_is_neither_a_path_nor_a_text_is_refused(source: object) -> None:
    with pytest.raises(TypeError, match="from a path or a text, got"):
        ht.read_games(source)  # type: ignore[arg-type]
