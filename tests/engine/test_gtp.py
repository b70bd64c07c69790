"""The GTP engine: its answers, line by line; no budget is more than what is left, periods begin and end right."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from gtp_table import Table
from hypothesis import given
from hypothesis import strategies as st
from outside_games import Occupied

from hauteur import _core
from hauteur.engine.gtp.session import PlayerClock, TimeSettings, after_move, budget_of, full_clock
from hauteur.games.registry import load_game, register_game
from hauteur.players.engines.gtp import board_size

pytestmark = pytest.mark.quick

REQUIRED = {
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit"),
    *("boardsize", "clear_board", "komi", "play", "genmove"),
}
"""Commands of every engine of version 2."""


@pytest.fixture
def table() -> Table:
    """An engine without a net."""
    return Table()


@pytest.fixture
def thinking() -> Iterator[Table]:
    """An engine with a search."""
    table = Table(player="net=uniform visits=40")
    yield table
    table.session.close()


# The protocol.


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"protocol_version", "= 2\n\n"),
        (b"17 protocol_version\n", "=17 2\n\n"),
        (b"007 komi 6.5", "=007\n\n"),
        (b"  \t12\tname \t # who are you?", "=12 hauteur\n\n"),
        (b"name\r\n", "= hauteur\n\n"),
        (b"na\x00me\x07\x7f", "= hauteur\n\n"),
        (b"", ""),
        (b"   \t \r\n", ""),
        (b"# a comment", ""),
        (b"5 # a comment", "?5 unknown command\n\n"),
        (b"12name", "? unknown command\n\n"),
        (b"-1 name", "? unknown command\n\n"),
        (b"Name", "? unknown command\n\n"),
        (b"3 boardsize", "?3 syntax error: expected boardsize SIZE [SIZE], got 0 arguments\n\n"),
        (b"quit", "=\n\n"),
    ],
)
def test_answers_to_single_lines(table: Table, line: bytes, answer: str) -> None:
    assert table.say(line) == answer


def test_commands_that_are_listed_are_known_and_the_others_are_not(table: Table, thinking: Table) -> None:
    for place in (table, thinking):
        listed = place.ask("list_commands").split("\n")
        assert len(set(listed)) == len(listed)
        assert set(listed) >= REQUIRED
        assert all(place.ask(f"known_command {name}") == "true" for name in listed)
        for name in ("fixed_handicap", "GENMOVE", "x"):
            assert place.ask(f"known_command {name}") == "false"
            assert place.refused(name) == "unknown command"
    only_by_search = set(thinking.engine.commands()) - set(table.engine.commands())
    assert "kata-analyze" in only_by_search
    assert all(table.refused(name) == "unknown command" for name in only_by_search)


# The board.


def test_stones_and_turns(table: Table) -> None:
    assert table.ask("play b c3") == ""
    assert table.ask("play WHITE D4") == ""
    assert table.ask("move_history") == "white D4\nblack C3"
    board = table.ask("showboard").split("\n")
    assert board[1] == "4 . . . O ."
    assert board[2] == "3 . . X . ."
    assert table.refused("play w a1") == "illegal move: it is the turn of black, who cannot pass in nogo"
    assert table.refused("play b c3") == "illegal move: C3 is not a legal move of black here"
    assert table.refused("play b f1") == "illegal move: F1 is not a legal move of black here"
    assert table.refused("play b i1") == "syntax error: expected a vertex such as A1, got 'i1'"
    assert table.refused("play b pass") == "illegal move: PASS is not a legal move of black here"
    assert table.refused("play red c4") == "syntax error: expected a colour (b, black, w, white), got 'red'"
    assert table.refused("genmove w") == "it is the turn of black, who cannot pass in nogo"
    assert table.ask("undo") == table.ask("undo") == ""
    assert table.refused("undo") == "cannot undo: no move has been played"


@pytest.mark.parametrize("size", ["1", "14", "25", "1000000"])
def test_sizes_that_the_game_has_not(table: Table, size: str) -> None:
    table.ask("play b c3")
    assert table.refused(f"boardsize {size}").startswith("unacceptable size: ")
    assert table.ask("move_history") == "black C3"
    assert table.refused("boardsize many").startswith("syntax error")
    assert table.refused("boardsize 5 7") == "unacceptable size: 5 7: boards are square"
    assert table.refused("boardsize 5 x").startswith("syntax error")
    assert table.ask("boardsize 5 5") == table.ask("move_history") == ""


def test_the_end_of_a_game(table: Table) -> None:
    table.ask("boardsize 2")
    assert table.refused("final_score") == "cannot score: the game is not over"
    colour = 0
    while not table.session.board.is_over:
        table.ask(f"genmove {'bw'[colour]}")
        colour = 1 - colour
    assert colour == 1, "on 2x2 Black wins"
    assert table.ask("final_score") == "B+1"
    assert table.ask("genmove w") == "resign"
    assert table.ask("genmove b") == "pass"
    moves = table.ask("move_history")
    assert table.ask("play b pass") == table.ask("undo") == ""
    assert table.ask("move_history") == moves
    table.ask("clear_board")
    assert table.ask("move_history") == ""


def test_chess_has_the_moves_of_uci_and_white_begins() -> None:
    table = Table("chess", "net=uniform visits=4")
    assert table.ask("play w e2e4") == table.ask("play b e5") == table.ask("play white Nf3") == ""
    assert table.ask("move_history") == "white g1f3\nblack e7e5\nwhite e2e4"
    assert table.refused("play w d2d4") == "illegal move: it is the turn of black, who cannot pass in chess"
    assert table.refused("play b e8e9").startswith('illegal move: "e8e9" is not a legal move in ')
    move = table.ask("genmove b")
    assert table.ask("move_history").startswith(f"black {move}\n")
    assert re.fullmatch(r"[a-h][1-8][a-h][1-8]", move)
    assert table.ask("boardsize 8") == table.ask("move_history") == ""
    assert table.refused("boardsize 9").startswith("unacceptable size: ")
    for line in ("play w f3", "play b e5", "play w g4"):
        table.ask(line)
    assert table.ask("play b Qh4#") == ""
    assert table.ask("final_score") == "B+1"
    assert table.ask("genmove w") == "resign"
    table.session.close()


@pytest.mark.parametrize(
    ("game", "lines", "history"),
    [
        ("minichess", ("play w a2a3", "play b b4b3"), "black b4b3\nwhite a2a3"),
        ("connect4", ("play b 4", "play w 4"), "white 4\nblack 4"),
        (
            "chess(fen=r3k3/8/8/8/8/8/p7/4K2R w K - 0 1)",
            ("play w e1g1", "play b a2a1n"),
            "black a2a1n\nwhite e1g1",
        ),
    ],
)
def test_moves_that_are_no_points_stand_as_the_game_writes_them(game: str, lines: Sequence[str], history: str) -> None:
    table = Table(game, "random")
    for line in lines:
        assert table.ask(line) == ""
    assert table.ask("move_history") == history
    mover = table.session.board.colours[table.session.board.state.to_move]
    move = table.ask(f"genmove {mover}")
    assert table.ask("move_history") == f"{mover} {move}\n{history}"
    assert table.refused(f"play {table.session.board.colours[0]} A1").startswith("illegal move: ")


class Steps(Occupied):
    """A game whose moves are two words."""

    def action_to_text(self, action: int) -> str:
        return f"step {action}"


class Twice(Occupied):
    """A game whose players move twice in a row."""

    def pass_on(self) -> None:
        self.plies += 1
        self.to_move = self.plies // 2 % 2


def test_a_move_that_keeps_the_turn_is_followed_by_one_of_the_same_player() -> None:
    register_game("twice", Twice)
    table = Table("twice", "random")
    assert table.ask("play b 0") == ""
    assert table.refused("play w 1") == "illegal move: it is the turn of black, who cannot pass in twice"
    table.ask("genmove b")
    assert table.refused("genmove b") == "it is the turn of white, who cannot pass in twice"


def test_a_game_whose_moves_are_more_than_a_word_is_refused() -> None:
    register_game("steps", Steps)
    with pytest.raises(ValueError, match="a move is one word in GTP, without #; a move of steps is 'step 0'"):
        Table("steps", "random")
    with pytest.raises(ValueError, match="a move is one word in GTP, without #; a move of steps is 'step 0'"):
        board_size(load_game("steps"))


def test_the_clock_bounds_the_search_and_runs_meanwhile() -> None:
    table = Table(player="net=uniform")
    assert table.session.budget(0) is None
    for line in ("time_settings 0 0 0", "time_settings 0 30 0"):
        table.ask(line)
        assert table.session.budget(0) is None
    table.ask("time_settings 60 0 0")
    budget = table.session.budget(0)
    assert budget is not None
    assert 0 < budget.target <= budget.maximum <= 30
    table.ask("time_left b 2 0")
    shorter = table.session.budget(0)
    assert shorter is not None
    assert shorter.target < budget.target
    table.ask("time_left b 5 1")
    period = table.session.budget(0)
    assert period is not None
    assert 4 < period.target < 5, "the last stone of a period may take what is left of it"
    table.session.close()


def test_the_page_lists_every_command(table: Table, thinking: Table, root: Path) -> None:
    of_all = table.engine.commands()
    rows = []
    for name, command in thinking.engine.commands().items():
        usage = f"`{command.usage}`" if command.usage else ""
        rows.append(f"| `{name}`{'' if name in of_all else ' *'} | {usage} | {command.help} |")
    thinking.session.close()
    with_go = Table(game="go", player="random").engine.commands()
    rows += [
        f"| `{name}` ° | `{command.usage}` | {command.help} |"
        for name, command in with_go.items()
        if name not in of_all
    ]
    section = (root / "docs/reference/gtp.md").read_text(encoding="utf-8").partition("\n## Commands\n")[2]
    assert [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `")] == rows


# -- clocks ------------------------------------------------------------------------------------------------------------


SECONDS = st.floats(0.0, 1e5)
LIMITED = st.builds(TimeSettings, SECONDS, SECONDS, st.integers(0, 100)).filter(
    lambda settings: not settings.is_unlimited
)


@given(LIMITED, st.floats(0.0, 1.0), st.integers(0, 200), st.integers(1, 200), st.floats(0.0, 5.0))
def test_no_budget_exceeds_the_clock(
    settings: TimeSettings, share: float, ply: int, max_plies: int, overhead: float
) -> None:
    for clock in (full_clock(settings), PlayerClock(settings.main * share), PlayerClock(settings.period * share, 3)):
        budget = budget_of(clock, settings, ply=ply, max_plies=max_plies, overhead=overhead)
        assert budget is not None
        in_period = settings.a_move if clock.stones == 0 else 0.0
        assert 0.0 <= budget.target <= budget.maximum <= max(0.0, clock.left + in_period - overhead) + 1e-9


@given(LIMITED, st.lists(st.floats(0.0, 100.0), max_size=50))
def test_a_clock_never_shows_less_than_nothing(settings: TimeSettings, moves: list[float]) -> None:
    clock = full_clock(settings)
    for seconds in moves:
        clock = after_move(clock, settings, seconds)
        assert clock.left >= 0.0
        assert 0 <= clock.stones <= settings.stones


def test_main_time_then_periods() -> None:
    settings = TimeSettings(10.0, 30.0, 3)
    seen = []
    clock = full_clock(settings)
    for seconds in (6.0, 3.0, 5.0, 10.0, 2.0, 31.0):
        seen.append((clock.left, clock.stones))
        clock = after_move(clock, settings, seconds)
    assert seen == [(10.0, 0), (4.0, 0), (1.0, 0), (26.0, 2), (16.0, 1), (30.0, 3)]
    assert clock == PlayerClock(30.0, 3), "an overstepped period is over"
    assert full_clock(TimeSettings(0.0, 5.0, 1)) == PlayerClock(5.0, 1)
    assert after_move(PlayerClock(1.0), TimeSettings(1.0), 2.0) == PlayerClock(0.0)


def test_the_engine_runs_its_own_clocks() -> None:
    table = Table(player="rave:10")
    table.ask("time_settings 100 0 0")
    times = iter([0.0, 0.0, 7.0, 7.0, 7.0, 10.0])  # of each move: begin, the net is there, end
    table.session._now = lambda: next(times)
    table.ask("genmove b")
    table.ask("genmove w")
    assert [clock.left for clock in table.session.clocks] == [93.0, 97.0]
    table.ask("time_left b 50 0")
    assert [clock.left for clock in table.session.clocks] == [50.0, 97.0]
    table.ask("clear_board")
    assert [clock.left for clock in table.session.clocks] == [100.0, 100.0]


# Other games.


def test_komi_counts_in_go() -> None:
    table = Table(game="go(size=5)", player="random")
    assert table.ask("komi 5.5") == ""
    assert table.session.board.game.spec == "go(size=5,komi=5.5)"
    table.ask("play b c3")
    assert table.ask("komi 24.5") == ""
    assert table.ask("move_history") == "black C3"
    for colour in "wb":
        table.ask(f"play {colour} pass")
    assert table.ask("final_score") == "B+0.5"  # all of the board, less 24.5
    table.ask("clear_board")
    table.ask("komi 25")
    for line in ("play b c3", "play w pass", "play b pass"):
        table.ask(line)
    assert table.ask("final_score") == "0"
    table.ask("boardsize 7")
    assert table.session.board.game.spec == "go(size=7,komi=25)"
    assert table.refused("komi 0.3").startswith("unacceptable komi: go(")
    assert table.refused("komi 1000").startswith("unacceptable komi: ")
    assert table.refused("komi much").startswith("syntax error")
    assert table.session.board.game.spec == "go(size=7,komi=25)"


@pytest.fixture
def go() -> Table:
    """An engine of Go on 9x9."""
    return Table(game="go", player="random")


def test_go_is_scored_in_points_and_all_stones_are_alive(go: Table) -> None:
    assert go.refused("final_status_list alive") == "cannot score: the game is not over"
    for line in ("play b c3", "play w a1", "play b pass", "play w pass"):
        go.ask(line)
    assert go.ask("final_score") == "W+7.5", "the empty points border both: a stone each, and komi"
    assert go.ask("final_status_list alive") == "C3 A1"
    assert go.ask("final_status_list dead") == go.ask("final_status_list seki") == ""
    assert go.refused("final_status_list asleep") == "syntax error: expected alive, dead, seki, got 'asleep'"


def test_othello_is_scored_in_discs() -> None:
    table = Table(game="othello(size=4)", player="random")
    colour = 0
    while not table.session.board.is_over:
        mover = table.session.board.state.to_move
        table.ask(f"genmove {'bw'[mover]}")
        colour += 1
    cells = _core.board_of(table.session.board.state)
    assert cells is not None
    lead = sum({"X": 1, "O": -1}.get(cell, 0) for cell in cells.cells)
    expected = f"{'B' if lead > 0 else 'W'}+{abs(lead)}" if lead else "0"
    assert table.ask("final_score") == expected


def test_a_player_may_play_twice_in_go_and_undo_takes_back_what_was_said(go: Table) -> None:
    for line in ("play b c3", "play b c4", "genmove b", "play b d4"):
        go.ask(line)
    assert [line.split()[0] for line in go.ask("move_history").split("\n")] == ["black"] * 4
    assert go.session.board.state.to_move == 1
    for left in (3, 2, 1):
        assert go.ask("undo") == ""
        assert len(go.ask("move_history").split("\n")) == left
        assert go.session.board.state.to_move == 1, "no pass is left over"
    assert go.ask("undo") == go.ask("move_history") == ""
    assert go.refused("undo") == "cannot undo: no move has been played"


def test_a_refused_move_leaves_no_pass(go: Table) -> None:
    go.ask("play b c3")
    assert go.refused("play b c3") == "illegal move: C3 is not a legal move of black here"
    assert go.session.board.state.to_move == 1
    go.ask("play w pass")
    assert go.refused("play w c4") == "illegal move: it is the turn of black, whose pass would end the game"
    assert go.ask("komi 0.5") == ""
    assert go.ask("move_history") == "white PASS\nblack C3"


def test_komi_keeps_the_moves_of_one_colour(go: Table) -> None:
    go.ask("fixed_handicap 3")
    go.ask("komi 0.5")
    assert go.ask("move_history") == "black C7\nblack G7\nblack C3"
    assert go.ask("undo") == ""
    assert go.ask("move_history") == "black G7\nblack C3"


@pytest.mark.parametrize(
    ("size", "stones", "points"),
    [
        (9, 2, "C3 G7"),
        (9, 5, "C3 G7 C7 G3 E5"),
        (9, 6, "C3 G7 C7 G3 C5 G5"),
        (9, 9, "C3 G7 C7 G3 C5 G5 E3 E7 E5"),
        (13, 7, "D4 K10 D10 K4 D7 K7 G7"),
        (8, 4, "C3 F6 C6 F3"),
        (7, 4, "C3 E5 C5 E3"),
    ],
)
def test_fixed_handicaps(go: Table, size: int, stones: int, points: str) -> None:
    """Section 4.1.1 of the protocol: corners, the centre for odd numbers from 5 on, sides."""
    go.ask(f"boardsize {size}")
    assert go.ask(f"fixed_handicap {stones}") == points
    assert go.session.board.state.to_move == 1
    assert go.refused("fixed_handicap 2") == "board not empty: handicap stones come before the first move"


def test_handicaps_that_do_not_exist(go: Table) -> None:
    assert go.refused("fixed_handicap 1").startswith("invalid number of stones: 1")
    assert go.refused("fixed_handicap 10").startswith("invalid number of stones: 10")
    assert go.refused("set_free_handicap C3").startswith("bad vertex list: expected 2 vertices or more")
    assert go.refused("set_free_handicap C3 C3").startswith("bad vertex list: illegal move")
    assert go.refused("set_free_handicap C3 pass").startswith("bad vertex list: expected points")
    assert go.ask("move_history") == ""
    go.ask("boardsize 6")
    assert go.refused("place_free_handicap 2") == "invalid number of stones: 2, on a board of 6 there are none"
    assert go.ask("set_free_handicap C3 D4") == ""
    assert go.ask("move_history") == "black D4\nblack C3"


def test_hex_has_a_column_i() -> None:
    table = Table(game="hex(size=11)", player="random")
    assert table.ask("play b i5") == ""
    assert table.ask("play w k11") == ""
    assert table.ask("move_history") == "white K11\nblack I5"
    assert table.refused("play b l1") == "illegal move: L1 is not a legal move of black here"
    small = Table(game="hex(size=5)", player="random")
    assert small.refused("play b i1") == "syntax error: expected a vertex such as A1, got 'i1'"


@pytest.mark.parametrize("spec", ["go", "hex(size=11)", "othello", "gomoku", "nogo", "tictactoe"])
def test_games_of_points_answer(spec: str) -> None:
    table = Table(game=spec, player="random")
    assert table.ask("genmove b") not in ("", "resign")
    assert table.ask("genmove w") not in ("", "resign")
