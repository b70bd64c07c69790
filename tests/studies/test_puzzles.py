"""Mining and solving: puzzles are right by exact values, an interrupted mining comes to the same files, rules hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hauteur as ht
from hauteur import _core
from hauteur.games.game_line import BadGame
from hauteur.games.registry import load_game
from hauteur.matches.results import MatchGame
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player
from hauteur.studies.puzzles.mine import Mine, MineRule, MineSettings, without_followers
from hauteur.studies.puzzles.problems import read_problems
from hauteur.studies.puzzles.puzzle import Opinion, Puzzle, identity, themes_of
from hauteur.studies.puzzles.sources import first_of_each, positions, read_lines, source_files, take_census
from hauteur.system.jsonl import lines_of

TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")
CHESS = load_game("chess")
VALUES = ht.exact_values("tictactoe")
RULE = MineRule(low=3, high=400, swing=0.2, gap=0.2, hindsight=0.0, least=-0.5, rest=1.0)
FAST = Resources(24, 8, 1)
SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
BACK_RANK = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"
TWO_ROOKS = "6k1/5ppp/8/8/8/8/5PPP/3RR1K1 w - - 0 1"


def random_games(folder: Path, game: _core.Game, count: int, seed: int = 1) -> str:
    """A match folder of random games."""
    random = np.random.default_rng(seed)
    lines = list[MatchGame]()
    for index in range(count):
        state = game.new_initial_state()
        moves = list[str]()
        while state.outcome() is None:
            action = int(random.choice(state.legal_actions()))
            moves.append(state.action_to_text(action))
            state.apply(action)
        played = MatchGame(index=index, a="first", score=0.5, end="?", plies=len(moves), moves=" ".join(moves))
        lines.append(played)
    folder.mkdir(exist_ok=True)
    (folder / "games.jsonl").write_bytes(lines_of(lines))
    return str(folder)


def mining(game: _core.Game, sources: list[str], folder: Path, rule: MineRule = RULE, **more: Any) -> Mine:
    settings = MineSettings(game=game.spec, player=parse_player("net=uniform"), rule=rule, first_ply=0)
    return Mine(game, settings, sources, folder, FAST, show=lambda _: None, **more)


def puzzles_in(folder: Path) -> list[Puzzle]:
    return [Puzzle.model_validate(one) for one in json.loads((folder / "puzzles.json").read_text())]


def exact_values(state: _core.State) -> dict[str, int]:
    """Return what each move of tic-tac-toe is worth for its player with best play."""
    return dict(zip(map(state.action_to_text, state.legal_actions().tolist()), VALUES(state), strict=True))


def test_every_move_of_a_puzzle_is_the_only_best_one(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", TICTACTOE, 60)
    result = mining(TICTACTOE, [source], tmp_path / "mine").run()
    puzzles = puzzles_in(tmp_path / "mine")
    assert result["puzzles"] == len(puzzles) >= 5
    for puzzle in puzzles:
        state = puzzle.position()
        assert puzzle.id == identity(state)
        assert puzzle.low.move != puzzle.high.move == puzzle.solution[0]
        assert RULE.low < puzzle.visits <= RULE.deep
        for number, move in enumerate(puzzle.solution):
            values = exact_values(state)
            if number % 2 == 0 and number < len(puzzle.solution) - 1:
                assert all(values[move] > value for other, value in values.items() if other != move)
            elif number % 2 == 0:
                assert values[move] == max(values.values())
            state.apply(state.parse(move))
    assert [puzzle.rating for puzzle in puzzles] == sorted(puzzle.rating for puzzle in puzzles)


def test_puzzles_of_connect_four_by_the_solver(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", CONNECT4, 25)
    rule = RULE.model_copy(update={"high": 800, "gap": 0.5, "moves": 1, "least": 0.5})
    mining(CONNECT4, [source], tmp_path / "mine", rule, limit=120).run()
    puzzles = puzzles_in(tmp_path / "mine")
    solver = _core.ExactSolver(CONNECT4)
    assert puzzles
    for puzzle in puzzles:
        state = puzzle.position()
        if state.ply < 12:
            continue
        values = dict(zip(state.legal_actions().tolist(), solver.move_values(state) or [], strict=True))
        assert values[state.parse(puzzle.solution[0])] == max(values.values())


class Stopped(Exception):  # noqa: N818
    """The test interrupts a mining."""


def test_an_interrupted_mining_goes_on(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", TICTACTOE, 30)
    whole = mining(TICTACTOE, [source], tmp_path / "whole").run()

    def stop(done: int, *_: int) -> None:
        if done >= 40:
            raise Stopped

    with pytest.raises(Stopped):
        mining(TICTACTOE, [source], tmp_path / "parts", tick=stop).run()
    journal = tmp_path / "parts" / "positions.jsonl"
    begun = journal.read_text()
    assert begun.count("\n") == 40
    journal.write_text(begun + '{"id": "half')
    parts = mining(TICTACTOE, [source], tmp_path / "parts").run()
    assert parts == whole
    for name in ("puzzles.json",):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert journal.read_text().startswith(begun)


def test_another_rule_is_refused(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", TICTACTOE, 2)
    mining(TICTACTOE, [source], tmp_path / "mine").run()
    for change in ({"gap": 0.1}, {"high": 500}):
        with pytest.raises(ValueError, match=r"other settings: rule was"):
            mining(TICTACTOE, [source], tmp_path / "mine", RULE.model_copy(update=change)).run()


def test_screens_lie_between_the_two_searches() -> None:
    assert MineRule(low=5, high=200).visits == (5, 16, 64, 200)
    assert MineRule(low=20, high=800).screens == ((64, 0.1), (200, 0.2))


def test_positions_that_the_game_does_not_change_are_given_up(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", TICTACTOE, 60)
    plain = mining(TICTACTOE, [source], tmp_path / "plain").run()["sources"][source]
    hindsight = RULE.model_copy(update={"hindsight": 0.3})
    result = mining(TICTACTOE, [source], tmp_path / "mine", hindsight).run()["sources"][source]
    assert plain["searched"] == result["searched"]
    assert 0 < result["misjudged"] <= plain["misjudged"]
    entries = {}
    for name in ("plain", "mine"):
        lines = (tmp_path / name / "positions.jsonl").read_text().splitlines()
        entries[name] = {one["id"]: one | {"check": ""} for one in map(json.loads, lines)}
    followed = [name for name, one in entries["mine"].items() if "high" in one]
    assert 0 < len(followed) < sum("high" in one for one in entries["plain"].values())
    assert all(entries["mine"][name] == entries["plain"][name] for name in followed)


def test_more_positions_contain_the_fewer(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", TICTACTOE, 30)
    found = {}
    for limit in (20, 50):
        result = mining(TICTACTOE, [source], tmp_path / "mine", limit=limit).run()
        assert result["sources"][source]["searched"] == limit
        found[limit] = (tmp_path / "mine" / "positions.jsonl").read_text().splitlines()
    assert found[50][:20] == found[20]
    assert len(found[50]) == 50


def test_each_source_is_counted_by_itself(tmp_path: Path) -> None:
    a = random_games(tmp_path / "a", TICTACTOE, 10, seed=1)
    b = random_games(tmp_path / "b", TICTACTOE, 10, seed=2)
    alone = {one: mining(TICTACTOE, [one], tmp_path / f"mine-{one[-1]}").run()["sources"][one] for one in (a, b)}
    both = mining(TICTACTOE, [a, b], tmp_path / "mine").run()["sources"]
    for source in (a, b):
        assert both[source]["verdicts"] == alone[source]["verdicts"]
        assert both[source]["different"] < both[source]["positions"]


def test_positions_of_a_census_are_found_again(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", CONNECT4, 5)
    census = take_census([source], CONNECT4, 4)
    found = dict(first_of_each([source], CONNECT4, 4, census.distinct(source)))
    assert found.keys() == census.distinct(source)
    assert set(census.first_game[source].values()) == set(range(1, 6))
    assert all(identity(one.state) == name and one.ply >= 4 for name, one in found.items())


def test_a_match_that_still_goes_on(tmp_path: Path) -> None:
    source = random_games(tmp_path / "games", TICTACTOE, 3)
    file = tmp_path / "games" / "games.jsonl"
    content = file.read_text()
    file.write_text(content + content[:20])
    assert len(list(read_lines([source], TICTACTOE, print))) == 3
    assert file.read_text() == content + content[:20]


def test_sources_of_chess(tmp_path: Path) -> None:
    (tmp_path / "list.epd").write_text(f'{SCHOLAR[:-4]} id "x";\n# nothing\n{BACK_RANK}\n')
    (tmp_path / "games.pgn").write_text('[Result "1-0"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n')
    lines = list(read_lines([str(tmp_path / "list.epd"), str(tmp_path / "*.pgn")], CHESS, print))
    assert [(line.single, len(line.actions)) for line in lines] == [(True, 0), (True, 0), (False, 7)]
    assert [len(list(positions(line, CHESS, 2))) for line in lines] == [1, 1, 5]
    assert source_files(str(tmp_path)) == [tmp_path / "games.pgn"]


def test_a_wrong_line_of_a_list_is_left_out(tmp_path: Path) -> None:
    """As a wrong game of a file is: one bad line is no reason to refuse a suite."""
    path = tmp_path / "suite.epd"
    path.write_text(f"{BACK_RANK}\n; a comment\n8/8/8/8/8/8/8/8 w - -\n{SCHOLAR};\n")
    bad: list[BadGame] = []
    assert [line.number for line in read_lines([str(path)], CHESS, bad.append)] == [1, 4]
    assert [one.where for one in bad] == [f"{path}, line 2", f"{path}, line 3"]
    path.write_text("no position\n")
    with pytest.raises(ValueError, match="line 1: "):
        list(read_lines([str(path)], CHESS, bad.append))


def test_a_list_of_chess_positions(tmp_path: Path) -> None:
    (tmp_path / "list.epd").write_text(f"{BACK_RANK}\n")
    rule = MineRule(low=16, high=64, swing=0.1, gap=0.1)
    mining(CHESS, [str(tmp_path / "list.epd")], tmp_path / "mine", rule).run()
    (puzzle,) = puzzles_in(tmp_path / "mine")
    assert puzzle.solution[0] == "e1e8"
    assert puzzle.themes == ("endgame", "mate", "mateIn1", "oneMove")
    (problem,) = read_problems(tmp_path / "mine" / "puzzles.json", CHESS)
    assert problem.name == puzzle.id
    assert problem.steps[0].state.notation().split()[:4] == BACK_RANK.split()[:4]


def mate_puzzle(**more: Any) -> Puzzle:
    opinion = Opinion(visits=5, move="f3f7", q=0.5)
    values: dict[str, Any] = {
        "id": "x",
        "game": "chess",
        "fen": SCHOLAR,
        "solution": ("f3f7",),
        "rating": 1000,
        "visits": 9,
        "gap": 1.0,
        "value": 1.0,
        "low": opinion,
        "high": opinion,
    }
    return Puzzle.model_validate({**values, **more})


def test_themes() -> None:
    assert themes_of(mate_puzzle()) == ("mate", "mateIn1", "oneMove")
    castles = mate_puzzle(fen="4k3/8/8/8/8/8/8/4K2R w K - 0 1", solution=("e1g1", "e8d7", "g1g2"), value=0.5)
    assert themes_of(castles) == ("advantage", "castling", "endgame", "short")
    assert "crushing" in themes_of(castles.model_copy(update={"value": 0.9}))


def test_later_positions_of_a_line_are_no_puzzles_of_their_own() -> None:
    long = mate_puzzle(fen=TWO_ROOKS, solution=("d1d7", "g8f8", "e1e8"))
    state = long.position()
    for move in long.solution[:2]:
        state.apply(state.parse(move))
    short = mate_puzzle(id=identity(state), fen=state.notation(), solution=("e1e8",))
    assert without_followers([long, short]) == ([long], 1)
    assert without_followers([short]) == ([short], 0)
