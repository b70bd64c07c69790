"""First guesses of newcomers, in Python and on the command line: what works, and errors that say what to write."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hauteur as ht
from hauteur.cli import main
from hauteur.system.hints import CALLED_HERE, with_hints

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


API: Any = ht
"""As a newcomer without a type checker sees it."""


def chess_start() -> Any:
    return ht.position("chess")


ANSWERED: list[tuple[Callable[[], object], str]] = [
    (lambda: API.search(chess_start(), nodes=5), "search() has no parameter 'nodes': it is called visits here"),
    (lambda: API.search(chess_start(), net="chess"), "'net': it is called evaluator here"),
    (lambda: API.search(chess_start(), time=1), "'time': it is called seconds here"),
    (lambda: API.search(chess_start(), depth=5), "limited by visits= or seconds=, not by depth"),
    (lambda: API.search(chess_start(), visit=5), "'visit' (did you mean visits?)"),
    (lambda: API.search("chess"), "the start of the game is ht.position('chess')"),
    (lambda: API.search("startpos"), "the start of the game is ht.position('chess')"),
    (lambda: API.position("chess", fen=START), "'fen': it is called given here"),
    (lambda: API.Player(net="chess"), "Player() has no parameter 'net': it is called evaluator here"),
    (lambda: API.Player("net=chess"), "hauteur.Player.from_text('net=chess')"),
    (lambda: API.play_match("random", "random", "connect4", num_games=2), "'num_games': it is called games here"),
    (lambda: API.play_match("chess", "random", "chess", games=2), "a net is given as net=chess"),
    (lambda: API.review("1. e4 *", net="uniform"), "review() has no parameter 'net': it is called evaluator here"),
    (lambda: API.puzzles("x.pgn", net="uniform"), "'net': it is called player here"),
    (lambda: API.load_game("go", size=9), "in its spec, as in 'go(size=9)'"),
    (lambda: API.load_game("go9"), "did you mean go(size=9)?"),
    (lambda: API.load_game("connect four"), "did you mean connect4?"),
    (lambda: API.load_game("games.pgn"), "hauteur.review('games.pgn')"),
    (lambda: API.evaluator("maia-1900"), "write ht.evaluator(game, 'maia-1900')"),
    (lambda: API.SearchParams(c_puct=2), "it is called cpuct here"),
    (lambda: API.SearchParams(visits=9), "visits are given to the call"),
    (lambda: API.SearchParams(noise=True), "noise at the root is dirichlet"),
    (lambda: API.SearchContempt(5), "write SearchContempt(n_scl=...)"),
    (lambda: API.analyse, "write ht.search"),
    (lambda: API.Board, 'write ht.position("chess")'),
    (lambda: API.train, "write ht.learn"),
    (lambda: API.load_net, "write ht.load_network, or ht.evaluator"),
    (lambda: chess_start().push, "a position has no attribute 'push': write apply_text(text), or apply(action)"),
    (lambda: chess_start().turn, "write to_move"),
    (lambda: chess_start().is_game_over, "write is_terminal"),
    (lambda: chess_start().nonsense, "a position has no attribute 'nonsense'"),
    (lambda: API.load_game("chess").initial_state, "write new_initial_state()"),
]
"""Calls that fail, and what the error says."""


@pytest.mark.parametrize(("call", "said"), ANSWERED, ids=[said for _, said in ANSWERED])
def test_an_error_says_what_to_write(call: Callable[[], object], said: str) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)) as raised:
        call()
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_result_says_what_its_members_are_called() -> None:
    result = ht.search(chess_start(), "uniform", visits=5)
    for name, meant in (("best", "best_move"), ("policy", "policy_target"), ("root", "tree.root"), ("eval", "score")):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': write {meant}"):
            getattr(result, name)
    assert not hasattr(result, "__array__")


def test_switches_of_rules_are_as_good_as_their_sections() -> None:
    switches: list[Any] = [True, "on", {}]
    for on in switches:
        assert ht.SearchParams(gumbel=on, solver=on) == ht.SearchParams(gumbel={}, solver={})
    for off in (False, "off", None):
        assert ht.SearchParams(gumbel=off) == ht.SearchParams()
    assert ht.SearchParams(search_contempt=5).search_contempt == ht.SearchContempt(n_scl=5)
    with pytest.raises(ValueError, match="cpuct"):
        ht.SearchParams(cpuct=False)


def test_a_fen_is_a_position() -> None:
    assert ht.position(START) == chess_start()


def test_displays_write_moves_as_people_do() -> None:
    result = ht.search("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", "uniform", visits=200)
    assert result.best_move == "a1a8"
    for shown in (repr(result), result._repr_html_()):
        assert "Ra8#" in shown
        assert "a1a8" not in shown


def test_options_of_a_call_pass_through() -> None:
    """A function with options of its own is asked for no more than the names that it has in another form."""

    @with_hints
    def call(games: int = 1, **options: int) -> dict[str, int]:
        return {"games": games, **options}

    assert call(games=2, hindsight=3, nodes=4) == {"games": 2, "hindsight": 3, "nodes": 4}
    assert set(CALLED_HERE["rounds"]) == {"games"}
    with pytest.raises(TypeError, match="'rounds': it is called games here"):
        call(rounds=2)


COMMANDS = [
    (["analyze", "chess"], "(write hauteur analyse)"),
    (["net", "list"], "(write hauteur net get)"),
    (["serve"], "(write hauteur web)"),
    (["version"], "(write hauteur --version)"),
    (["puzzles", "games.pgn"], "(write hauteur puzzles mine games.pgn --out FOLDER)"),
    (["analyse", "chess", "--nodes", "5"], "there is no option --nodes: write --visits"),
    (["analyse", "chess", "e4", "e5"], 'moves are given as --moves "e4 e5", a position as --fen'),
    (["analyse", START], "is a position: give it as --fen"),
    (["analyse", "games.pgn"], "is a file of games: hauteur review games.pgn"),
    (["play", "chess", "--black"], "write --human second"),
    (["match", "random", "random", "--rounds", "2"], "write --games"),
    (["match", "random", "random", "-n", "5"], "there is no option -n: write --games (see"),
    (["play", "tictactoe", "-n", "5"], "there is no option -n: write --visits (see"),
    (["match", "random", "random", "--nodes", "5"], 'a player has it in its text, such as "net=NET visits=400"'),
    (["match", "chess", "random"], "a net is given as net=chess"),
    (["train", "tictactoe", "--games", "5"], "settings of a recipe are words, such as selfplay.games=200"),
]


@pytest.mark.parametrize(("words", "said"), COMMANDS, ids=[" ".join(words) for words, _ in COMMANDS])
def test_a_command_says_what_to_write(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.main(words) == main.EXIT_BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.parametrize("meant", sorted(set(main.MEANT_COMMANDS.values())))
def test_what_is_advised_is_there(meant: str) -> None:
    known = {command.words for command in main.COMMANDS} | set(main.GROUPS) | {"--version", "train --list"}
    assert meant in known


@pytest.mark.parametrize("command", [command.words for command in main.COMMANDS])
def test_an_option_that_is_advised_is_one_of_the_command(command: str) -> None:
    """`bench search --seconds` was told to write `--time`, which it does not have."""
    options = main.options_of(main.make_app(outside=False), command.split())
    for unknown in main.MEANT_OPTIONS:
        said = main.meant_option(f"Unknown option: {unknown}", f"hauteur {command}", options)
        advised = re.search(r": write (--[\w-]+)", said)
        assert advised is None or advised[1] in options
