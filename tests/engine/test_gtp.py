"""The GTP engine: its answers, line by line; no budget is more than what is left, periods begin and end right."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gtp_table import Table
from hypothesis import given
from hypothesis import strategies as st

from hauteur.engine.gtp.session import PlayerClock, TimeSettings, after_move, budget_of, full_clock

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
        (b"3 boardsize", "?3 syntax error: expected boardsize SIZE, got 0 arguments\n\n"),
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
    assert table.refused("play w a1") == "illegal move: it is the turn of black: players alternate in nogo"
    assert table.refused("play b c3") == "illegal move: C3 is not a legal move of black here"
    assert table.refused("play b f1") == "illegal move: F1 is not a legal move of black here"
    assert table.refused("play b i1") == "syntax error: expected a vertex such as A1, got 'i1'"
    assert table.refused("play b pass") == "illegal move: PASS is not a legal move of black here"
    assert table.refused("play red c4") == "syntax error: expected a colour (b, black, w, white), got 'red'"
    assert table.refused("genmove w") == "it is the turn of black: players alternate in nogo"
    assert table.ask("undo") == table.ask("undo") == ""
    assert table.refused("undo") == "cannot undo: no move has been played"


@pytest.mark.parametrize("size", ["1", "14", "25", "1000000"])
def test_sizes_that_the_game_has_not(table: Table, size: str) -> None:
    table.ask("play b c3")
    assert table.refused(f"boardsize {size}").startswith("unacceptable size: ")
    assert table.ask("move_history") == "black C3"
    assert table.refused("boardsize many").startswith("syntax error")


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


@pytest.mark.parametrize("game", ["minichess", "chess", "connect4"])
def test_games_whose_moves_are_no_points_are_refused(game: str) -> None:
    with pytest.raises(ValueError, match="GTP is for games whose moves are points"):
        Table(game, "net=uniform")


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
    of_all, rows = table.engine.commands(), []
    for name, command in thinking.engine.commands().items():
        usage = f"`{command.usage}`" if command.usage else ""
        rows.append(f"| `{name}`{'' if name in of_all else ' *'} | {usage} | {command.help} |")
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
    seen, clock = [], full_clock(settings)
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
    assert table.ask("final_score") == "B+1"  # all of the board, less 24.5
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
