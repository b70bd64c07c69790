"""The GTP engine: answers in process, and games between processes under a controller that checks them."""

import io
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gtp_client import PlainNoGo, engine, play_nogo
from hauteur.conversation import Output
from hauteur.game import make
from hauteur.gtp.desk import Desk, DeskSettings
from hauteur.gtp.engine import Engine
from hauteur.player_spec import parse_player

REQUIRED = {
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit"),
    *("boardsize", "clear_board", "komi", "play", "genmove"),
}
"""What every engine of version 2 must know."""


class Table:
    """An engine in this process, asked command by command; `now` is its clock."""

    def __init__(self, game: str = "nogo(size=5)", player: str = "rave:20", **settings: Any) -> None:
        self.now = 0.0
        self.desk = Desk(make(game), parse_player(player), DeskSettings(seed=1, **settings), now=lambda: self.now)
        self.stream = io.StringIO()
        self.engine = Engine(self.desk, Output(self.stream))

    def say(self, line: str | bytes) -> str:
        """Everything that is answered to a line."""
        self.stream.seek(0)
        self.stream.truncate()
        self.engine.hear(line if isinstance(line, bytes) else line.encode())
        return self.stream.getvalue()

    def ask(self, line: str) -> str:
        """The result of a command that succeeds."""
        text = self.say(line)
        assert re.fullmatch(r"=(?: .*|)\n(?:.+\n)*\n", text), f"{line!r} was answered by {text!r}"
        return text.removeprefix("=").strip()

    def refused(self, line: str) -> str:
        """The message of a command that fails."""
        text = self.say(line)
        assert re.fullmatch(r"\? .+\n\n", text), f"{line!r} was answered by {text!r}"
        return text.removeprefix("? ").strip()

    def run(self, text: str) -> str:
        """All answers to a whole input."""
        self.engine.run(text.encode().splitlines())
        return self.stream.getvalue()


@pytest.fixture
def table() -> Table:
    """An engine without a net."""
    return Table()


@pytest.fixture
def thinking() -> Iterator[Table]:
    """An engine with a search."""
    table = Table(player="net=uniform visits=40")
    yield table
    table.desk.close()


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
    assert {"lz-analyze", "kata-analyze", "lz-genmove_analyze"} <= only_by_search
    assert all(table.refused(name) == "unknown command" for name in only_by_search)


def test_every_listed_command_does_something(thinking: Table) -> None:
    for name, command in thinking.engine.commands().items():
        words = [word for word in command.usage.split() if not word.startswith("[")]
        values = {"COLOUR": "b", "VERTEX": "C3", "SIZE": "5", "KOMI": "0", "COMMAND": "name", "FILE": "none.sgf"}
        line = " ".join([name, *(values.get(word, "0") for word in words)])
        if "analyze" in name and not name.startswith("gogui"):
            continue  # these need a feed of lines
        text = thinking.say(line)
        assert "unknown command" not in text
        assert "internal error" not in text


# The board.


def test_stones_and_turns(table: Table) -> None:
    assert table.ask("play b c3") == ""
    assert table.ask("play WHITE D4") == ""
    assert table.ask("last_move") == "white D4"
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
    assert table.refused("last_move") == "no move has been played"


@pytest.mark.parametrize("size", ["1", "14", "25", "1000000"])
def test_sizes_that_the_game_has_not(table: Table, size: str) -> None:
    table.ask("play b c3")
    assert table.refused(f"boardsize {size}").startswith("unacceptable size: ")
    assert table.ask("last_move") == "black C3"
    assert table.refused("boardsize many").startswith("syntax error")


def test_sizes_that_it_has(table: Table) -> None:
    table.ask("play b c3")
    for size in (7, 5, 5, 2, 13):
        assert table.ask(f"boardsize {size}") == ""
        assert len(table.ask("all_legal b").split()) == size * size
    table.ask("genmove b")


def test_a_net_of_another_size_refuses_the_board(tmp_path: Path) -> None:
    table = Table("connect4", "net=uniform visits=5")
    assert table.refused("boardsize 9").startswith("unacceptable size: ")
    assert table.ask("boardsize 7") == ""
    table.desk.close()


def test_captures_and_suicide_are_illegal(table: Table) -> None:
    for number, vertex in enumerate(("A2", "E5", "B1", "E4")):
        table.ask(f"play {'bw'[number % 2]} {vertex}")
    assert table.ask("is_legal b A1") == "1"
    table.ask("play b C4")
    assert table.ask("is_legal w A1") == "0"
    assert table.refused("play w A1").startswith("illegal move")
    assert table.ask("is_legal b C3") == "0", "it is not the turn of black"
    assert table.refused("is_legal b 33").startswith("syntax error")


@pytest.mark.parametrize("seed", [1, 2])
def test_legal_moves_are_those_of_plain_rules(seed: int) -> None:
    table, rules, colour = Table(player=f"random name=r{seed}"), PlainNoGo(5), 0
    table.desk.thinker._rng = np.random.default_rng(seed)  # type: ignore[attr-defined]
    while not table.desk.board.is_over:
        assert set(table.ask(f"all_legal {'bw'[colour]}").split()) == rules.legal(colour)
        rules.play(colour, table.ask(f"genmove {'bw'[colour]}"))
        colour = 1 - colour
    assert not rules.legal(colour)


def test_the_end_of_a_game(table: Table) -> None:
    table.ask("boardsize 2")
    assert table.refused("final_score") == "cannot score: the game is not over"
    colour = 0
    while not table.desk.board.is_over:
        table.ask(f"genmove {'bw'[colour]}")
        colour = 1 - colour
    assert colour == 1, "on 2x2 Black wins"
    assert table.ask("final_score") == "B+1"
    assert table.ask("genmove w") == table.ask("reg_genmove w") == "resign"
    assert table.ask("genmove b") == "pass"
    assert table.refused("all_legal w").startswith("the game is over")
    moves = table.ask("move_history")
    assert table.ask("play b pass") == table.ask("undo") == ""
    assert table.ask("move_history") == moves
    table.ask("clear_board")
    assert table.ask("move_history") == ""


# Games of other shapes.


def test_tic_tac_toe_and_a_draw() -> None:
    table = Table("tictactoe", "solver")
    for number in range(9):
        assert re.fullmatch(r"[ABC][123]", table.ask(f"genmove {'bw'[number % 2]}"))
    assert table.ask("final_score") == "0"
    assert table.ask("genmove w") == table.ask("genmove b") == "pass"


def test_connect_four_stones_fall() -> None:
    table = Table("connect4", "mcts:50")
    for number in range(4):
        assert table.ask(f"play {'bw'[number % 2]} D{number + 1}") == ""
    assert table.refused("play b D4").startswith("illegal move")
    assert set(table.ask("all_legal b").split()) == {"A1", "B1", "C1", "D5", "E1", "F1", "G1"}
    assert table.ask("genmove b") in {"A1", "B1", "C1", "D5", "E1", "F1", "G1"}
    assert table.ask("move_history").split("\n")[-2:] == ["white D2", "black D1"]


def test_a_rectangular_board() -> None:
    table = Table("nogo(rows=3,cols=4)", "rave:20")
    assert len(table.ask("all_legal b").split()) == 12
    assert table.ask("boardsize 4") == ""
    assert len(table.ask("all_legal b").split()) == 16


@pytest.mark.parametrize("game", ["minichess", "chess"])
def test_games_whose_moves_are_no_points_are_refused(game: str) -> None:
    with pytest.raises(ValueError, match="GTP is for games whose moves are points"):
        Table(game, "net=uniform")


# SGF.


def test_recorded_games_are_loaded(shared_data: Path) -> None:
    table = Table("nogo", "random")
    for path in sorted((shared_data / "nogo" / "sgf").glob("*.sgf"))[:5]:
        table.ask(f"loadsgf {path}")
        moves = len(re.findall(r";[BW]\[", path.read_text()))
        assert len(table.ask("move_history").split("\n")) == moves
        table.ask(f"loadsgf {path} 6")
        assert len(table.ask("move_history").split("\n")) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[1]SZ[5];B[cc];W[cc])", "move 2: illegal move: C3"),
        ("(;GM[1]SZ[5];W[cc])", "move 1: illegal move: it is the turn of black"),
        ("(;GM[1]SZ[5];B[tt])", "move 1: 'tt' is no point"),
        ("(;GM[1]SZ[19];B[aa])", "nogo(size=19)"),
        ("(;GM[1]SZ[4:5];B[aa])", "4 columns and 5 rows"),
        ("(;GM[1]SZ[5]AB[aa];W[bb])", "sets up a position (AB)"),
        ("nothing", "no SGF"),
    ],
)
def test_files_that_cannot_be_loaded_change_nothing(table: Table, tmp_path: Path, text: str, message: str) -> None:
    table.ask("play b b2")
    path = tmp_path / "game.sgf"
    path.write_text(text)
    said = table.refused(f"loadsgf {path}")
    assert said.startswith("cannot load file: ")
    assert message in said
    assert table.refused(f"loadsgf {tmp_path}/none.sgf").startswith("cannot load file: ")
    assert table.ask("move_history") == "black B2"


def test_a_file_of_another_size_brings_its_board(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[7];B[ag];W[ga])")
    table.ask(f"loadsgf {path}")
    assert table.ask("move_history") == "white G7\nblack A1"


# Time and moves.


def test_reg_genmove_plays_nothing_and_repeats(thinking: Table) -> None:
    moves = {thinking.ask("reg_genmove b") for _ in range(3)}
    assert len(moves) == 1
    assert thinking.ask("move_history") == ""


def test_the_clock_bounds_the_search_and_runs_meanwhile() -> None:
    table = Table(player="net=uniform")
    assert table.desk.budget(0) is None
    for line in ("time_settings 0 0 0", "time_settings 0 30 0"):
        table.ask(line)
        assert table.desk.budget(0) is None
    table.ask("time_settings 60 0 0")
    budget = table.desk.budget(0)
    assert budget is not None
    assert 0 < budget.target <= budget.maximum <= 30
    table.ask("time_left b 2 0")
    shorter = table.desk.budget(0)
    assert shorter is not None
    assert shorter.target < budget.target
    table.ask("time_left b 5 1")
    period = table.desk.budget(0)
    assert period is not None
    assert 4 < period.target < 5, "the last stone of a period may take what is left of it"
    table.desk.close()


def test_a_clock_without_visits_searches_by_time() -> None:
    table = Table("nogo(size=5)", "net=uniform")
    table.ask("time_settings 1 0 0")
    table.ask("genmove b")
    last = table.desk.last
    assert last is not None
    assert last.report.reason in ("time", "decided")
    table.desk.close()


def test_resigning_is_an_option() -> None:
    always = Table("nogo(size=3)", "net=uniform visits=30", resign_below=0.99)
    assert always.ask("genmove b") == "resign"
    assert always.ask("move_history") == ""
    assert always.ask("final_score") if always.desk.board.is_over else always.refused("final_score")
    always.desk.close()


def test_settings_of_the_player(thinking: Table) -> None:
    assert thinking.ask("hauteur-get visits") == "40"
    assert thinking.ask("hauteur-set visits 55") == ""
    assert thinking.ask("hauteur-set search-contempt.n-scl 5") == ""
    assert thinking.ask("hauteur-get").split("\n") == ["net=uniform", "visits=55", "search.search_contempt.n_scl=5"]
    assert thinking.refused("hauteur-set visits many").startswith("player: visits: ")
    assert "did you mean visits?" in thinking.refused("hauteur-set vists 5")
    assert "is not a setting" in thinking.refused("hauteur-get vists")
    assert "none.safetensors" in thinking.refused("hauteur-set net none.safetensors")
    thinking.ask("genmove b")
    assert sum(int(line.split()[1]) for line in thinking.ask("hauteur-visits").split("\n")) == 54
    assert thinking.ask("hauteur-line").split()[0] == "b"
    assert thinking.ask("hauteur-value").split()[0] == "black"


def test_a_player_that_cannot_be_is_refused_at_the_start() -> None:
    for player, message in (("gtp:gnugo", "the program"), ("net=none.pb.gz", "none.pb.gz"), ("", "no net ships")):
        with pytest.raises((ValueError, OSError), match=message):
            Table(player=player)


# Live analysis.


class Typist:
    """Lines that come one after another, each when it is time."""

    def __init__(self, *lines: str | Callable[[], bool]) -> None:
        self._lines = lines
        self._tick = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            if isinstance(line, str):
                yield line.encode()
                continue
            for _ in range(6000):
                if line():
                    break
                self._tick.wait(0.01)


def live(player: str, *lines: str | Callable[[Table], bool]) -> list[str]:
    """The answers to lines, some of which wait for what is said before."""
    table = Table(player=player)
    typist = Typist(*(line if isinstance(line, str) else lambda line=line: line(table) for line in lines))
    table.engine.run(typist)
    return table.stream.getvalue().split("\n")


def has_said(*words: str) -> Callable[[Table], bool]:
    """Waits until the engine has said all of these."""
    return lambda table: all(word in table.stream.getvalue() for word in words)


def test_leela_zeros_analysis() -> None:
    said = live("net=uniform", "3 lz-analyze b 1", has_said("info move"), "4 name", "5 play b c3")
    assert said[0] == "=3"
    infos = [line for line in said if line.startswith("info ")]
    assert said[len(infos) + 1 :] == ["", "=4 hauteur", "", "=5", "", ""]
    keys = infos[-1].split(" info ")[0].split()
    assert keys[:2] == ["info", "move"]
    assert [keys[i] for i in range(3, 13, 2)] == ["visits", "winrate", "prior", "lcb", "order"]
    assert keys[13] == "pv"
    assert keys[14] == keys[2]
    values = {keys[i]: int(keys[i + 1]) for i in range(3, 13, 2)}
    assert values["order"] == 0
    assert 0 <= values["lcb"] <= values["winrate"] <= 10_000


def test_katagos_analysis_with_its_keys() -> None:
    command = "kata-analyze interval 1 maxmoves 2 rootInfo true ownership true"
    said = live("net=uniform", command, has_said("rootInfo"), "name")
    line = next(line for line in said if line.startswith("info "))
    assert line.count("info move ") <= 2
    root = line.split(" rootInfo ")[1].split()
    assert root[::2] == ["visits", "utility", "winrate"]
    rate = float(line.split(" winrate ")[1].split()[0])
    assert 0.0 <= rate <= 1.0


@pytest.mark.parametrize("name", ["lz-genmove_analyze", "kata-genmove_analyze"])
def test_a_move_with_its_analysis(name: str) -> None:
    said = live("net=uniform visits=300", f"8 {name} b 1", "9 last_move")
    assert said[0] == "=8"
    play = next(line for line in said if line.startswith("play "))
    assert said[said.index(play) - 1].startswith("info move ")
    assert f"=9 black {play.removeprefix('play ')}" in said


@pytest.mark.parametrize(
    "line",
    ["lz-analyze b interval", "lz-analyze x", "lz-analyze b 10 nonsense 5", "kata-analyze rootInfo 7", "lz-analyze w"],
)
def test_analysis_that_is_not_understood(thinking: Table, line: str) -> None:
    assert thinking.refused(line)


def test_an_interrupted_search_answers_at_once() -> None:
    table = Table(player="net=uniform visits=1000000000")
    thinker = table.desk.net_thinker
    assert thinker is not None
    table.engine.run(Typist("genmove b", lambda: thinker.session.searching, "# interrupt", "undo"))
    assert re.fullmatch(r"= [A-E][1-5]\n\n=\n\n", table.stream.getvalue())


# Processes.


def test_a_full_match_between_a_search_and_rave() -> None:
    """Four games of 9x9 NoGo under a controller with rules of its own."""
    size, wins = 9, [0, 0]
    with engine("--player", "net=uniform visits=8", "--threads", "1", "--seed", "1") as search:
        with engine("--player", "rave:30", "--seed", "2") as rave:
            for game in range(4):
                players = (search, rave) if game % 2 == 0 else (rave, search)
                winner, moves = play_nogo(players, size)
                wins[winner if game % 2 == 0 else 1 - winner] += 1
                assert len(moves) > 20
                for player in players:
                    assert player.ask("final_score") == ("B+1", "W+1")[winner]
            assert rave.end() == (0, "")
        assert search.ask("quit") == ""
        assert search.process.wait(60) == 0
    assert sum(wins) == 4


def test_the_end_of_the_input_ends_the_engine_after_its_answers() -> None:
    with engine("--player", "rave:200", "--game", "nogo(size=5)") as client:
        client.send(b"1 genmove b\n2 genmove w")
        client.process.stdin.close()  # type: ignore[union-attr]
        assert [client.answer()[0][:2] for _ in range(2)] == ["=1", "=2"]
        assert client.process.wait(60) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--game", "chess", "--player", "net=uniform"), "GTP is for games whose moves are points"),
        (("--player", "rave"), "write rave:N"),
        (("--player", "rave:5", "--resign-below", "2"), "--resign-below must be"),
        (("--player", "rave:5", "--batch-size", "0"), "--batch-size must be"),
        (("--game", "nogo(size=99)", "--player", "rave:5"), "size must be"),
    ],
)
def test_wrong_arguments_end_with_one_line(arguments: tuple[str, ...], message: str) -> None:
    with engine(*arguments) as client:
        status, said = client.end()
    assert status == 2
    assert said.count("\n") == 1
    assert message in said


def test_the_conversation_is_logged(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with engine("--player", "rave:5", "--log", str(log)) as client:
        client.ask("name")
        client.end()
    assert [line.split(" ", 1)[1] for line in log.read_text().splitlines()] == ["> 1 name", "< =1 hauteur", "< ", "> "]


def test_names_are_those_of_the_player() -> None:
    assert Table(player="rave:5 name=Fred").ask("name") == "Fred"
    assert Table(player="rave:5").ask("name") == "hauteur"
