"""The game in the terminal: moves, commands, mistakes, the end."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from terminal_toys import played

import hauteur as ht
from hauteur.cli.main import main
from hauteur.games.game_line import TaggedGame
from hauteur.games.game_texts import games_of_file
from hauteur.games.registry import load_game
from hauteur.matches.openings import read_openings

pytestmark = pytest.mark.quick


def test_the_engine_answers() -> None:
    screen, state = played("connect4", ["4", "quit"])
    assert state.ply == 2
    assert state.notation()[0] == "4"
    assert "toy plays " in screen
    assert "Yellow, your move: " in screen


def test_wrong_moves_say_what_is_allowed() -> None:
    screen, state = played("tictactoe", ["z9", "", "b2"], humans=(0, 1))
    assert '"z9" is not a legal move of tictactoe here; legal moves: a3 b3 c3' in " ".join(screen.split())
    assert state.notation() == "b2"


def test_commands() -> None:
    screen, state = played("tictactoe", ["help", "moves", "hint", "undo", "b2", "undo"])
    assert "a3 b3 c3 a2 b2 c2 a1 b1 c1" in screen
    assert "visits" in screen
    assert "there is no move of yours to take back" in screen
    assert "take back your last move" in screen
    assert state.ply == 0


def test_a_game_to_its_end() -> None:
    screen, state = played("tictactoe", ["a3", "a2", "b3", "b2", "c3"], humans=(0, 1))
    assert state.outcome() == 1
    assert screen.strip().endswith("X wins (three in a row)")


def test_pieces_are_seen_from_the_side_of_the_human() -> None:
    screen, _ = played("chess", [], humans=(1,))
    assert screen.index("1  R N B K Q B N R") < screen.index("8  r n b k q b n r") < screen.index("h g f e d c b a")
    screen, _ = played("chess", ["e2e4"], humans=(0, 1))
    assert "(P)" in screen
    screen, _ = played("connect4", [], humans=(1,))
    assert "7 6 5" not in screen, "stones do not fall upwards"


def test_a_chess_game_is_saved_as_pgn(tmp_path: Path) -> None:
    screen, state = played("chess", ["f3", "e5", "g4", "Qh4"], humans=(0, 1), save=tmp_path / "game.pgn")
    assert f"saved: {tmp_path}" in screen.replace("\n", "")
    (game,) = games_of_file(tmp_path / "game.pgn", load_game("chess"))
    assert isinstance(game, TaggedGame)
    assert (game.outcome, len(game.actions)) == (-1, state.ply)
    assert '[White "you"]' in (tmp_path / "game.pgn").read_text()


def test_a_game_that_is_left_is_saved_and_read_as_an_opening_and_for_a_review(tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    played("connect4", ["4", "4", "quit"], (0, 1), save=file)
    (opening,) = read_openings(file, load_game("connect4"))
    assert opening.actions == (3, 3)
    (game,) = ht.read_games(file)
    assert (game.skipped, game.moves) == (None, ("4", "4"))
    assert file.read_text() == "# connect4\n4 4\n"
    for wrong, message in ((Path(f"{file}.pgn"), "are saved as .txt files"), (Path("nowhere/x.txt"), "is not there")):
        with pytest.raises(ValueError, match=message):
            played("connect4", [], (0, 1), save=wrong)


ODDS = ["--net", "uniform", "--odds"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([*ODDS, "queen d1"], "chess: you are Black against the net uniform, settings for odds, 400 visits a move; "),
        ([*ODDS, "queen d1"], "it gives you odds, queen d1, and plays with the settings published for that"),
        ([*ODDS, "queen d8", "--visits", "30"], "chess: you are White against the net uniform, settings for odds, 30 "),
        ([*ODDS, "rook a1", "--temperature", "0"], "it gives you odds, rook a1, and plays with the settings"),
        ([*ODDS, "queen d1", "--human", "first"], "400 visits a move; help lists commands \u256d"),
        ([*ODDS, "queen d1", "--no-odds-mode"], "400 visits a move; help lists commands \u256d"),
    ],
)
def test_at_odds_the_engine_gives_and_says_with_which_settings(
    words: list[str], shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    monkeypatch.setenv("COLUMNS", "300")
    assert main(["play", "chess", *words]) == 0
    assert shown in " ".join(capsys.readouterr().out.split())


def test_a_game_that_cannot_be_saved_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk that is full when the game ends does not take the moves with it."""

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    shown: list[str] = []
    monkeypatch.setattr("hauteur.engine.terminal.write_bytes", full)
    monkeypatch.setattr("hauteur.engine.terminal.TerminalGame._say", lambda _, text: shown.append(text))
    with pytest.raises(OSError, match="No space left"):
        played("connect4", ["4", "5", "quit"], (0, 1), save=tmp_path / "game.txt")
    assert "# connect4\n4 5" in "\n".join(shown)
