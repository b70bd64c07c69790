"""`hauteur.review` and `hauteur.puzzles`: the same as the commands, from files, texts and games of python-chess."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

import hauteur as ht
from hauteur.cli import main

FOOLS_MATE = '[White "A"]\n[Black "B"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
EASY: dict[str, Any] = {"low": 3, "high": 100, "swing": 0.2, "gap": 0.2, "hindsight": 0, "least": -0.5, "rest": 1}


def test_a_review_is_that_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "game.pgn"
    file.write_text(FOOLS_MATE)
    assert main.main(["review", str(file), "--net", "uniform", "--visits", "30", "--json"]) == 0
    of_command = json.loads(capsys.readouterr().out)["games"]
    for games in (file, str(file), FOOLS_MATE, chess.pgn.read_game(io.StringIO(FOOLS_MATE))):
        assert games is not None
        review = ht.review(games, "uniform", visits=30)
        (found,), (expected,) = review.to_dict()["games"], of_command
        assert found["moves"] == expected["moves"]
    assert "g4??" in repr(review)
    assert "g4??" in review._repr_html_()
    assert [move.text for move in review.marked] == ["g4"]


def test_a_review_is_saved_by_the_end_of_the_name(tmp_path: Path) -> None:
    review = ht.review(FOOLS_MATE, "uniform", visits=10)
    assert "[%eval" in review.save(tmp_path / "a.pgn").read_text()
    assert review.save(tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert json.loads(review.save(tmp_path / "a.json").read_text())["games"]
    with pytest.raises(ValueError, match=r"a.txt: a review is saved as .pgn, .sgf, .html or .json"):
        review.save(tmp_path / "a.txt")
    with pytest.raises(ValueError, match=r"games of chess are not written as SGF: save the review as \.pgn, \.html"):
        review.save(tmp_path / "a.sgf")
    with pytest.raises(ValueError, match=r"games of connect4 are not written as PGN: save the review as \.html"):
        ht.review("connect4\n4 4 4", visits=10, evaluator="uniform").to_pgn()


def test_a_review_of_go_is_saved_as_sgf(tmp_path: Path) -> None:
    review = ht.review("(;GM[1]SZ[9]KM[7];B[ee];W[cc])", "uniform", visits=10)
    assert "SBKV[" in review.save(tmp_path / "a.sgf").read_text()
    with pytest.raises(ValueError, match=r"games of go are not written as PGN: save the review as \.sgf, \.html"):
        review.to_pgn()


def test_a_review_names_what_it_left_out() -> None:
    review = ht.review("connect4\n4 4\n4 9", "uniform", visits=10)
    assert len(review.games) == 1
    assert len(review.left_out) == 1


@pytest.mark.parametrize(
    ("games", "options", "message"),
    [
        ("", {}, "has no game to review"),
        (FOOLS_MATE, {"visits": 0}, "visits must be a whole number from 1 to 1,000,000,000"),
        (FOOLS_MATE, {"evaluator": print}, "evaluator must be a net by name or file"),
        (FOOLS_MATE, {"evaluator": "maia-190"}, "there is no net 'maia-190'"),
    ],
)
def test_what_cannot_be_reviewed_is_one_line(games: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        ht.review(games, **options)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_puzzles_are_those_of_the_command(tmp_path: Path) -> None:
    games = tmp_path / "games"
    ht.play_match("random", "random", "tictactoe", games=12, seed=1, out=games)
    found = ht.puzzles(games, ht.Player("uniform"), game="tictactoe", first_ply=0, **EASY)
    options = [word for name, value in EASY.items() for word in (f"--{name}", str(value))]
    source = ["puzzles", "mine", str(games), "--game", "tictactoe", "--first-ply", "0", "--player", "net=uniform"]
    assert main.main([*source, "--out", str(tmp_path / "mined"), *options]) == 0
    of_command = json.loads((tmp_path / "mined" / "puzzles.json").read_text())
    assert [one["id"] for one in of_command] == [puzzle.id for puzzle in found]
    assert len(found) > 0
    assert [path.name for path in found.save(tmp_path / "saved")] == ["puzzles.json"]
    assert found[0].id in (tmp_path / "saved" / "puzzles.json").read_text()
    assert "rating" in repr(found)
    assert "<table>" in found._repr_html_()


def test_a_player_of_puzzles_is_one_that_a_text_can_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="player must have a net by name or file"):
        ht.puzzles(tmp_path, ht.Player(print))
    with pytest.raises(ValueError, match="puzzles: swing"):
        ht.puzzles(tmp_path, swing=9)
