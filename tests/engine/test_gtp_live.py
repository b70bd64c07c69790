"""The GTP engine with live analysis, and as a process: a match under a controller, the end of the input."""

import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from gtp_table import Table

import hauteur as ht
from hauteur.cli import main

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


def test_katagos_analysis_with_its_keys() -> None:
    command = "kata-analyze interval 1 maxmoves 2 rootInfo true ownership true"
    said = live("net=uniform", command, has_said("info move"), "name")
    line = next(line for line in said if line.startswith("info "))
    keys = line.split(" info ")[0].split()
    assert keys[:2] == ["info", "move"]
    assert keys[3:15:2] == ["visits", "utility", "winrate", "prior", "lcb", "order"]
    assert keys[15:17] == ["pv", keys[2]]
    assert line.count("info move ") <= 2
    rate = float(line.split(" winrate ")[1].split()[0])
    assert 0.0 <= rate <= 1.0


def test_a_pass_in_an_analysis_is_katago_s_pass() -> None:
    """Sabaki leaves a move out whose line has another pass."""
    table = Table("go(size=2)", "net=uniform")
    command = "kata-analyze w interval 1 maxmoves 50"
    table.engine.run(Typist("play b pass", command, lambda: has_said("info move")(table)))
    assert "info move pass" in table.stream.getvalue()
    assert "PASS" not in table.stream.getvalue()


def test_the_analysis_of_chess_has_moves_of_uci() -> None:
    table = Table("chess", "net=uniform")
    table.engine.run(
        Typist("play w e2e4", "kata-analyze b interval 1 maxmoves 3", lambda: has_said("info move")(table))
    )
    line = next(line for line in table.stream.getvalue().split("\n") if line.startswith("info "))
    moves = re.findall(r"(?:move|pv) (\S+)", line)
    assert len(moves) == 6
    assert all(re.fullmatch(r"[a-h][1-8][a-h][1-8]", move) for move in moves)
    assert " e4" not in line


def test_an_interrupted_search_answers_at_once() -> None:
    table = Table(player="net=uniform visits=1000000000")
    playing = table.session.analysing
    table.engine.run(Typist("genmove b", lambda: playing.is_searching, "# interrupt", "undo"))
    assert re.fullmatch(r"= [A-E][1-5]\n\n=\n\n", table.stream.getvalue())


# Processes.

ENGINE_FAULTS = ("engine crashed", "engine timeout", "illegal move", "bad output")


def player_of(*arguments: str) -> str:
    """The engine as a program that matches play with; on a busy machine it may start slowly."""
    command = shlex.join(["-m", "hauteur.cli", "gtp", *arguments])
    return shlex.join([f"gtp:{sys.executable}", f"args={command}", "start_timeout=120"])


def test_a_full_match_between_a_search_and_rave() -> None:
    """A pair of games of 9x9 NoGo under a controller, which checks every move."""
    search = player_of("--player", "net=uniform visits=8", "--threads", "1", "--seed", "1")
    rave = player_of("--player", "rave:30", "--seed", "2")
    match = ht.play_match(f"{search} name=search", f"{rave} name=rave", "nogo(size=9)", games=2, random_plies=0)
    assert [game.end for game in match.games] == ["no legal move"] * 2
    assert all(len(game.moves.split()) > 20 for game in match.games)


@pytest.mark.parametrize("spec", ["chess", "connect4", "minichess"])
def test_a_match_in_a_game_whose_moves_are_no_points(spec: str) -> None:
    engine = player_of("--game", spec, "--player", "random", "--seed", "1")
    match = ht.play_match(f"{engine} name=engine", "random", spec, games=2, random_plies=3, max_plies=200, seed=2)
    assert not {game.end for game in match.games} & {*ENGINE_FAULTS, "resignation"}
    assert [game.notes for game in match.games] == [{}, {}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--player", "rave"), "write rave:N"),
        (("--player", "rave:5", "--resign-below", "2"), "--resign-below"),
        (("--player", "rave:5", "--batch-size", "0"), "--batch-size"),
        (("--game", "nogo(size=99)", "--player", "rave:5"), "size must be"),
    ],
)
def test_wrong_arguments_end_with_one_line(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["gtp", *arguments]) == main.EXIT_BAD_INPUT
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert message in said
