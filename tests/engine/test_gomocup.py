"""The Gomocup engine: its answers, line by line; a position is the same however it was said; no move takes too long."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.engine.gomocup import LONGEST_LINE, GomocupEngine
from hauteur.engine.gtp.session import GtpSession, GtpSettings
from hauteur.engine.streams import Output
from hauteur.games.registry import load_game
from hauteur.players.settings import parse_player

pytestmark = pytest.mark.quick


class Table:
    """An engine in this process, asked line by line."""

    def __init__(self, player: str = "random", **settings: Any) -> None:
        self.session = GtpSession(load_game("gomoku"), parse_player(player), GtpSettings(seed=1, **settings))
        self.stream = io.StringIO()
        self.engine = GomocupEngine(self.session, Output(self.stream))

    def say(self, *lines: str) -> str:
        """Everything that is answered to these lines."""
        self.stream.seek(0)
        self.stream.truncate()
        for line in lines:
            self.engine.hear(line.encode())
        return self.stream.getvalue().removesuffix("\n")

    def stones(self) -> dict[str, str]:
        """The stones on the board, by their points."""
        board = self.session.board.drawing
        cells = zip(board.square_names, board.cells, strict=True)
        return {name: cell for name, cell in cells if cell != "."}


@pytest.fixture
def table() -> Table:
    """An engine that plays random moves."""
    return Table()


@pytest.fixture
def thinking() -> Iterator[Table]:
    """An engine with a search."""
    table = Table("net=uniform visits=20 solver.lookahead=1")
    yield table
    table.session.close()


def point(text: str) -> tuple[int, int]:
    x, y = text.split(",")
    return int(x), int(y)


def test_a_conversation_as_managers_have_it(table: Table) -> None:
    assert table.say("ABOUT").startswith('name="hauteur", version="')
    assert table.say("START 15") == "OK"
    assert table.say("INFO timeout_turn 1000", "INFO rule 0", "INFO game_type 1", "INFO folder /tmp") == ""
    first = point(table.say("BEGIN"))
    reply = (0, 0) if first != (0, 0) else (1, 0)
    second = point(table.say(f"TURN {reply[0]},{reply[1]}"))
    assert second not in (first, reply)
    assert len(table.stones()) == 3
    assert table.say("RESTART") == "OK"
    assert table.stones() == {}
    assert table.say("END") == ""


def test_the_first_row_is_the_top_and_the_first_column_the_left_one(table: Table) -> None:
    table.say("START 15", "TURN 2,0")
    assert table.stones()["C15"] == "X"


def test_windows_line_ends_and_small_letters_are_read(table: Table) -> None:
    assert table.say("start 9\r") == "OK"
    assert table.session.board.size == 9


def test_a_square_rectangle_is_a_board(table: Table) -> None:
    assert table.say("RECTSTART 9,9") == "OK"
    assert table.say("RECTSTART 9,10").startswith("ERROR only square boards")


@given(st.permutations(range(10)))
def test_the_lines_of_board_may_come_in_any_order(order: list[int]) -> None:
    """Five stones of each player, in two rows with gaps: the position is theirs, whoever is named first."""
    columns = (0, 2, 4, 6, 8)
    lines = [f"{x},3,1" for x in columns] + [f"{x},9,2" for x in columns]
    table = Table()
    table.say("START 15", "BOARD", *(lines[place] for place in order), "DONE")
    stones = table.stones()
    own = {f"{letter}12" for letter in "ACEGJ"}
    others = {f"{letter}6" for letter in "ACEGJ"}
    assert {name for name, cell in stones.items() if cell == "O"} == others
    assert len(stones) == 11
    assert own < {name for name, cell in stones.items() if cell == "X"}


def test_the_opponent_may_have_begun(table: Table) -> None:
    table.say("START 15", "BOARD", "7,7,2", "DONE")
    stones = table.stones()
    assert stones.pop("H8") == "X"
    assert list(stones.values()) == ["O"]


def test_a_search_says_what_it_found_and_moves(thinking: Table) -> None:
    thinking.say("START 15")
    message, move = thinking.say("BEGIN").split("\n")
    assert message.startswith("MESSAGE ")
    assert message.split(": ")[1].split()[0] == move


def test_a_search_wins_at_once(thinking: Table) -> None:
    fours = [f"{x},7,1" for x in range(4)] + [f"{x},9,2" for x in (0, 1, 2, 5)]
    answer = thinking.say("START 15", "BOARD", *fours, "DONE")
    assert answer.split("\n")[-1] == "4,7"
    assert thinking.say("TURN 3,9") == "ERROR the game is over: 1-0 (five in a row)"


def test_takeback(table: Table) -> None:
    move = table.say("START 15", "TURN 7,7").removeprefix("OK\n")
    assert table.say("TAKEBACK 7,7") == "ERROR 7,7 is not the last move"
    assert table.say(f"TAKEBACK {move}", "TAKEBACK 7,7") == "OK\nOK"
    assert table.stones() == {}


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["START"], "ERROR START takes the size of the board, such as START 15, got ''"),
        (["START 20"], "ERROR unacceptable size: gomoku(size=20): size must be a whole number from 5 to 15"),
        (["START -1"], "ERROR START takes the size of the board, such as START 15, got '-1'"),
        (["TURN 7"], "ERROR TURN takes a point X,Y, such as TURN 7,7, got '7'"),
        (["TURN 15,0"], "ERROR 15,0 is outside of the board, whose points go from 0,0 to 14,14"),
        (["TURN a,b"], "ERROR TURN takes a point X,Y, such as TURN 7,7, got 'a,b'"),
        (["BOARD", "7,7,1", "DONE"], "ERROR with 1 own and 0 of the opponent's stones it is not this engine's turn"),
        (
            ["BOARD", "7,7,3", "8,8,2", "DONE"],
            "ERROR BOARD takes lines X,Y,1 (own stones) and X,Y,2 (the opponent's), got '7,7,3'",
        ),
        (["BOARD", "7,7,1", "7,7,2", "DONE"], "ERROR 7,7 is not free"),
        (["INFO rule 1", "BEGIN"], "ERROR rule 1 is not played; allowed is 0, five or more in a row"),
        (["INFO rule 4", "TURN 7,7"], "ERROR rule 4 is not played; allowed is 0, five or more in a row"),
        (["SWAP2BOARD"], "UNKNOWN 'SWAP2BOARD' is no command of this engine"),
        (["TURN " + "1" * LONGEST_LINE], f"ERROR a line has at most {LONGEST_LINE} bytes, got {LONGEST_LINE + 5}"),
    ],
)
def test_what_cannot_be_done_is_one_line(table: Table, lines: list[str], answer: str) -> None:
    assert table.say(*lines) == answer
    assert table.say("START 9") == "OK", "it goes on"


def test_a_wrong_move_changes_nothing(table: Table) -> None:
    table.say("START 15", "TURN 7,7")
    before = table.stones()
    assert table.say("TURN 7,7") == "ERROR 7,7 is not free"
    assert table.say("BEGIN") == "ERROR BEGIN opens a game, and this one has moves; RESTART goes before it"
    assert table.stones() == before


@given(st.integers(0, 10**7), st.integers(1, 10**7))
def test_a_move_takes_less_than_its_time_and_than_what_is_left(turn: int, left: int) -> None:
    table = Table()
    table.say("START 15", f"INFO timeout_turn {turn}", f"INFO time_left {left}")
    budget = table.engine.budget()
    assert budget is not None
    assert 0 <= budget.target <= budget.maximum <= min(turn, left) / 1000


def test_without_limits_the_visits_end_a_search(table: Table) -> None:
    table.say("START 15", "INFO timeout_match 0", f"INFO time_left {2**31 - 1}")
    assert table.engine.budget() is None


def test_it_ends_among_the_lines_of_board(table: Table) -> None:
    table.engine.run([b"START 15\nBOARD\n7,7,2\nEND\nABOUT"])
    assert table.stream.getvalue() == "OK\n"


def test_the_end_of_the_input_ends_it(table: Table) -> None:
    table.engine.run([b"START 15\nABOUT", b"END\nABOUT"])
    assert table.stream.getvalue().count("name=") == 1


@given(st.lists(st.binary(max_size=60), max_size=20))
def test_whatever_is_said_it_goes_on(lines: list[bytes]) -> None:
    table = Table()
    for line in lines:
        table.engine.hear(line.replace(b"\n", b" "))
    table.engine.hear(b"DONE")
    assert table.say("START 15").split("\n")[-1] == "OK"
