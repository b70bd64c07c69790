"""The analysis engine: the same answers together and one by one, errors as lines, everything answered at the end."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hauteur as ht
from hauteur import _core
from hauteur.cli import main
from hauteur.engine.analysis import searches as searches_module
from hauteur.engine.analysis.engine import AnalysisEngine
from hauteur.engine.analysis.query import ALLOWED, MOST_LINE, ActionFields, Defaults, Query, QueryFields, read_request
from hauteur.engine.analysis.searches import QuerySearches
from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.streams import Output, bounded_lines
from hauteur.games.played_game import move_text
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import Answers, Floats, GameEvaluator, UniformEvaluator
from hauteur.networks.names import resolve_net, shipped_net

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "reference" / "analysis-protocol.md"
DEFAULTS = Defaults(visits=20, search=SearchParams())
Json = dict[str, Any]


def nets(game: _core.Game) -> NetChoice:
    """The small net that ships for tic-tac-toe, equal priors for other games."""
    return NetChoice(str(shipped_net(game)) if game.name == "tictactoe" else "uniform", threads=1)


@pytest.fixture
def searches() -> Iterator[QuerySearches]:
    """An engine's searches."""
    with QuerySearches(nets) as made:
        yield made


def asked(searches: QuerySearches, lines: Iterable[str | bytes | Json], defaults: Defaults = DEFAULTS) -> list[Json]:
    """The answers to lines that are there from the beginning, up to the end of the input."""
    stream = io.StringIO()
    raw = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    source = [line if isinstance(line, bytes) else line.encode() for line in raw]
    AnalysisEngine(searches, defaults, Output(stream)).run(source)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def random_query(number: int) -> Json:
    """A query for a position some random moves into a game."""
    rng = random.Random(number)
    game = rng.choice(["connect4", "tictactoe", "hex(size=5)", "chess"])
    state = ht.load_game(game).new_initial_state()
    moves = []
    for _ in range(rng.randrange(12)):
        if state.outcome() is not None:
            break
        action = rng.choice(state.legal_actions().tolist())
        moves.append(move_text(state, action))
        state.apply(action)
    query: Json = {"id": f"query {number}", "game": game, "moves": moves, "maxVisits": rng.randrange(2, 24)}
    if number % 5 == 0:
        query["overrideSettings"] = {"cpuct.init": 2.5, "search_contempt": {"n_scl": 3}}
    if number % 7 == 0:
        query["analyzeTurns"] = list(range(len(moves) + 1))
    return query


def by_position(found: Iterable[Json]) -> dict[tuple[str, int], Json]:
    """Answers by query and turn."""
    return {(answer["id"], answer["turnNumber"]): answer for answer in found}


def test_a_thousand_queries_together_and_one_by_one(searches: QuerySearches) -> None:
    queries = [random_query(number) for number in range(1_000)]
    together = by_position(asked(searches, queries))
    assert len(together) == sum(len(query.get("analyzeTurns", [0])) for query in queries)
    with QuerySearches(nets, batch_size=1) as others:
        alone = by_position(answer for query in queries for answer in asked(others, [query]))
    assert together == alone
    assert not any("error" in answer for answer in together.values())
    assert {"gameOver", "mate"} <= {key for answer in together.values() for key in (*answer, *answer["rootInfo"])}


def test_an_answer_is_that_of_a_search(searches: QuerySearches) -> None:
    settings = SearchParams(cpuct={"init": 3.0}, solver={})
    query = {
        "id": "a",
        "game": "connect4",
        "moves": "4 4 3",
        "maxVisits": 300,
        "overrideSettings": {"cpuct": {"init": 3.0}, "solver": {}},
        "analysisPVLen": 3,
        "includePolicy": True,
    }
    (answer,) = asked(searches, [query])
    state = ht.position("connect4", "4 4 3")
    batch = ht.search_batch([state], "uniform", settings, visits=300)
    visits = {state.action_to_text(action): int(n) for action, n in enumerate(batch.visits[0]) if n}
    assert {info["move"]: info["visits"] for info in answer["moveInfos"]} == visits
    assert [info["order"] for info in answer["moveInfos"]] == list(range(len(visits)))
    assert answer["moveInfos"][0]["move"] == state.action_to_text(int(batch.best_actions[0]))
    assert answer["rootInfo"]["visits"] == 300
    assert answer["rootInfo"]["currentPlayer"] == state.game.sides[1]
    assert answer["rootInfo"]["wdl"] == pytest.approx(batch.wdl[0].tolist(), abs=1e-6)
    for values in (answer["rootInfo"], *answer["moveInfos"]):
        win, draw, loss = values["wdl"]
        assert values["winrate"] == pytest.approx(win + draw / 2, abs=2e-6)
        assert values["value"] == pytest.approx(win - loss, abs=2e-6)
    assert (answer["id"], answer["turnNumber"], answer["isDuringSearch"]) == ("a", 3, False)
    assert all(1 <= len(info["pv"]) <= 3 and info["pv"][0] == info["move"] for info in answer["moveInfos"])
    assert answer["policy"].keys() == set(state.legal_moves)
    assert sum(answer["policy"].values()) == pytest.approx(1.0, abs=1e-3)


def test_turns_are_positions_of_the_game(searches: QuerySearches) -> None:
    moves = "a1 b1 a2 b2 a3"
    query = {"id": "t", "game": "tictactoe", "moves": moves, "analyzeTurns": [5, 0, 4], "maxVisits": 30}
    found = by_position(asked(searches, [query]))
    assert set(found) == {("t", 0), ("t", 4), ("t", 5)}
    assert found["t", 4]["moveInfos"][0]["move"] == "a3"
    over = found["t", 5]
    assert over["gameOver"].startswith("1-0")
    assert over["moveInfos"] == []
    lost = {"winrate": 0.0, "value": -1.0, "wdl": [0.0, 0.0, 1.0]}
    assert over["rootInfo"] == {"currentPlayer": "O", "visits": 0, **lost}


def test_positions_in_all_forms(searches: QuerySearches) -> None:
    fen = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"
    forms: dict[str, Json] = {
        "fen": {"position": fen},
        "pgn": {"position": f'[FEN "{fen}"]\n[SetUp "1"]\n\n1. Ra7 Kf8 2. Ra1 Kg8 *'},
        "moves": {"position": "startpos", "moves": ["e4", "c7c5"]},
        "text": {"position": "e4 c5"},
    }
    found = {
        a["id"]: a for a in asked(searches, [{"id": key, "maxVisits": 200, **form} for key, form in forms.items()])
    }
    assert found["fen"]["moveInfos"][0]["move"] == found["pgn"]["moveInfos"][0]["move"] == "a1a8"
    assert (found["moves"]["turnNumber"], found["text"]["turnNumber"]) == (2, 0)
    assert found["moves"]["moveInfos"] == found["text"]["moveInfos"]


def test_a_cleaned_position_has_a_warning(searches: QuerySearches) -> None:
    fen = "4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1"
    warning, answer = asked(searches, [{"id": "w", "position": fen}])
    assert (warning["id"], warning["field"]) == ("w", "position")
    assert "castling" in warning["warning"]
    assert answer["rootInfo"]["visits"] == 20


WRONG: dict[str, tuple[str | None, str | None, str]] = {
    "{": (None, None, "not JSON"),
    '{"id": "a", "priority": NaN}': (None, None, "NaN"),
    "[" * 10_000: (None, None, "not JSON"),
    "[1]": (None, None, "one JSON object, got [1]"),
    "{}": (None, "id", "missing"),
    '{"id": 5}': (None, "id", "id must be a text of 1 to 200 characters, got 5"),
    '{"id": ""}': (None, "id", 'id must be a text of 1 to 200 characters, got ""'),
    '{"id": null}': (None, "id", "id must be a text of 1 to 200 characters, got null"),
    f'{{"id": "{"x" * 201}"}}': (None, "id", "id must be a text of 1 to 200 characters, got 201 characters"),
    '{"id": "a", "maxVisit": 5}': ("a", "maxVisit", "did you mean maxVisits"),
    '{"id": "a", "maxVisits": 0}': ("a", "maxVisits", "from 1 to 1,000,000,000"),
    '{"id": "a", "maxVisits": "5"}': ("a", "maxVisits", 'a whole number from 1 to 1,000,000,000, got "5"'),
    '{"id": "a", "maxVisits": true}': (
        "a",
        "maxVisits",
        "maxVisits must be a whole number from 1 to 1,000,000,000, got true",
    ),
    '{"id": "a", "maxVisits": 1.5}': ("a", "maxVisits", "a whole number from 1 to 1,000,000,000, got 1.5"),
    '{"id": "a", "maxVisits": 10000000000}': ("a", "maxVisits", "from 1 to 1,000,000,000, got 10000000000"),
    '{"id": "a", "game": "ches"}': ("a", "game", "did you mean chess"),
    '{"id": "a", "game": "go(size=8)"}': ("a", "game", "no net ships"),
    '{"id": "a", "position": "8/8 w"}': ("a", "position", "8/8"),
    '{"id": "a", "moves": ["e5"]}': ("a", "moves", "move 1: "),
    '{"id": "a", "moves": 3}': ("a", "moves", "or one text with spaces, got 3"),
    '{"id": "a", "moves": ["e4", ["B", "D4"]]}': ("a", "moves", 'got ["B", "D4"] as value 2'),
    '{"id": "a", "moves": [""]}': ("a", "moves", 'move 1: "" is not a legal move'),
    '{"id": "a", "position": null}': ("a", "position", "position must be startpos, a FEN, PGN, SGF or moves"),
    '{"id": "a", "priority": 1e100}': ("a", "priority", "from -2,147,483,647 to 2,147,483,647, got 1e+100"),
    '{"id": "a", "analysisPVLen": 65}': ("a", "analysisPVLen", "a whole number from 1 to 64, got 65"),
    '{"id": "a", "includePolicy": 1}': ("a", "includePolicy", "includePolicy must be true or false, got 1"),
    '{"id": "a", "overrideSettings": []}': (
        "a",
        "overrideSettings",
        "overrideSettings must be an object of settings, got []",
    ),
    '{"id": "a", "analyzeTurns": [0, -1]}': ("a", "analyzeTurns", "whole numbers from 0 to 5,000, got -1 as value 2"),
    '{"id": "a", "action": "terminate_all", "turnNumbers": 5}': (
        "a",
        "turnNumbers",
        "whole numbers from 0 to 5,000, got 5",
    ),
    '{"id": "a", "action": "terminate", "terminateId": 5}': ("a", "terminateId", "the id of a query, a text"),
    '{"id": "a", "moves": "e4", "analyzeTurns": [2]}': ("a", "analyzeTurns", "the game has 1 moves"),
    '{"id": "a", "moves": "e4", "analyzeTurns": [1, 1]}': ("a", "analyzeTurns", "turn 1 is named twice"),
    '{"id": "a", "analyzeTurns": []}': (
        "a",
        "analyzeTurns",
        "a list of 1 to 5,001 whole numbers from 0 to 5,000, got 0 values",
    ),
    '{"id": "a", "overrideSettings": {"cpuct": {"initial": 2}}}': ("a", "overrideSettings", "cpuct.initial"),
    '{"id": "a", "overrideSettings": {"cpuct.init": -2}}': ("a", "overrideSettings", "cpuct.init"),
    '{"id": "a", "overrideSettings": {"second_net": {}}}': ("a", "overrideSettings", "second net"),
    '{"id": "a", "action": "stop"}': ("a", "action", "query_version"),
    '{"id": "a", "action": "terminate"}': ("a", "terminateId", "terminateId is missing"),
    '{"id": "a", "action": "terminate_all", "terminateId": "b"}': ("a", "terminateId", "no single query"),
    '{"id": "a", "action": "query_version", "moves": "e4"}': ("a", "moves", "allowed"),
    "x" * (MOST_LINE + 1): (None, None, "at most 1,048,576 bytes"),
}
"""Lines, and id, field and part of the message of the answer."""


def own_nets(game: _core.Game) -> NetChoice:
    """Equal priors for chess; other games must have a net of their own."""
    return NetChoice("uniform" if game.name == "chess" else resolve_net(None, game).path)


@pytest.mark.parametrize("line", WRONG, ids=lambda line: line[:60])
def test_what_is_wrong_is_a_line(line: str) -> None:
    query_id, field, words = WRONG[line]
    with QuerySearches(own_nets) as searches:
        wrong, good = asked(searches, [line, {"id": "good"}])
    assert (wrong["id"], wrong["field"]) == (query_id, field)
    assert words in wrong["error"]
    assert "\n" not in wrong["error"]
    assert good["rootInfo"]["visits"] == 20


def test_every_field_says_what_it_may_be() -> None:
    names = {field.alias or name for model in (QueryFields, ActionFields) for name, field in model.model_fields.items()}
    assert names == set(ALLOWED)


def test_mutated_lines_are_all_answered(searches: QuerySearches) -> None:
    rng = random.Random(7)
    lines = []
    for number in range(2_000):
        line = bytearray(json.dumps({**random_query(number), "maxVisits": 2, "priority": number % 3}).encode())
        for _ in range(rng.randrange(4)):
            line[rng.randrange(len(line))] = rng.randrange(32, 256)
        lines.append(bytes(line))
    found = asked(searches, lines)
    answered = {answer["id"] for answer in found if "error" not in answer}
    assert len(found) >= len(lines)
    assert len(answered) > len(lines) // 10
    assert all(answer.keys() >= {"id", "field"} for answer in found if "error" in answer)


def until_idle(searches: QuerySearches) -> list[Json]:
    """The answers of all that is searched."""
    found = []
    while searches.are_busy:
        found += searches.turn()
    return found


def query_of(**fields: Any) -> Query:
    """A checked query."""
    request = read_request(json.dumps(fields).encode(), DEFAULTS)
    assert isinstance(request, Query)
    return request


def test_searches_are_ended(searches: QuerySearches) -> None:
    with QuerySearches(nets, batch_size=1) as few:
        turns = list(range(6))
        few.add(query_of(id="long", game="connect4", moves="4 4 4 4 4", analyzeTurns=turns, maxVisits=10**9))
        few.add(query_of(id="short", game="connect4", maxVisits=5))
        for _ in range(50):
            assert few.turn() == []
        request = read_request(b'{"id": "end", "action": "terminate", "terminateId": "long"}', DEFAULTS)
        assert not isinstance(request, Query)
        waiting = few.end(request)
        assert [answer["turnNumber"] for answer in waiting] == [3, 4, 5]
        assert all(answer["noResults"] for answer in waiting)
        found = by_position(until_idle(few))
        assert set(found) == {("long", 0), ("long", 1), ("long", 2), ("short", 0)}
        assert all(1 < found["long", turn]["rootInfo"]["visits"] < 10**9 for turn in range(3))
        assert found["short", 0]["rootInfo"]["visits"] == 5


def test_actions_are_repeated(searches: QuerySearches) -> None:
    first = {"id": "v", "action": "query_version"}
    last = {"id": "t", "action": "terminate_all", "turnNumbers": [9]}
    version, answer, ended = asked(searches, [first, {"id": "a"}, last])[:3]
    assert version == first | {"version": ht.__version__}
    assert {answer["id"], ended["id"]} == {"a", "t"}


def test_priority_decides_who_begins() -> None:
    with QuerySearches(nets, batch_size=1) as few:
        for number in range(8):
            few.add(query_of(id=str(number), game="connect4", maxVisits=10, priority=int(number == 7)))
        found = until_idle(few)
    assert [answer["id"] for answer in found][:3] == ["7", "0", "1"]
    assert len(found) == 8


class Failing(GameEvaluator):
    """Breaks off in its third batch."""

    def __init__(self, game: _core.Game) -> None:
        super().__init__(game, "failing", 4)
        self.batches = 0

    def compute(self, features: Floats) -> Answers:
        self.batches += 1
        if self.batches == 3:
            raise RuntimeError("the device is gone")
        return np.zeros((len(features), self.num_actions), np.float32), np.full((len(features), 3), 1 / 3, np.float32)


def test_a_search_that_fails_is_an_answer(searches: QuerySearches, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(game: _core.Game, _: NetChoice) -> OpenNets:
        return OpenNets(Failing(game) if game.name == "connect4" else UniformEvaluator(game))

    monkeypatch.setattr(searches_module, "open_nets", opened)
    found = asked(searches, [{"id": "a", "game": "connect4"}, {"id": "b", "game": "chess"}])
    errors = {answer["id"]: answer.get("error") for answer in found}
    assert errors == {"a": "the device is gone", "b": None}
    (again,) = asked(searches, [{"id": "again", "game": "connect4"}])
    assert again["rootInfo"]["visits"] == 20


def test_few_pools_and_nets_are_kept(searches: QuerySearches) -> None:
    lines = [
        {"id": f"{size} {cpuct}", "game": f"hex(size={size})", "overrideSettings": {"cpuct.init": cpuct}}
        for size in range(2, 12)
        for cpuct in (1, 2)
    ]
    assert len(asked(searches, lines)) == 20
    assert len(searches._groups) <= searches_module.MOST_IDLE
    assert len(searches._nets) <= 2 * searches_module.MOST_IDLE


def test_reading_waits_while_much_is_waiting(searches: QuerySearches, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches_module, "MOST_WAITING", 5)
    most = 0

    def watched(query: Query) -> None:
        nonlocal most
        QuerySearches.add(searches, query)
        most = max(most, len(searches._waiting))

    monkeypatch.setattr(searches, "add", watched)
    assert len(asked(searches, [{"id": str(n), "game": "connect4", "maxVisits": 2} for n in range(60)])) == 60
    assert most == 5


def test_a_line_without_end_is_cut() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"abc\n" + b"x" * 100 + b"\n\nlast")
    os.close(writing)
    assert list(bounded_lines(reading, 10)) == [b"abc", b"x" * 11, b"", b"last"]
    os.close(reading)


# -- the command -------------------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "hauteur.cli", "analysis", "--net", "uniform", "--visits", "10"]


def test_the_end_of_the_input_answers_everything(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    queries = "".join(f'{{"id": "{number}"}}\n' for number in range(300)) + '{"id": "last"}'
    done = subprocess.run([*COMMAND, "--log", str(log)], input=queries, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {answer["id"] for answer in found} == {*map(str, range(300)), "last"}
    assert all(answer["rootInfo"]["visits"] == 10 for answer in found)
    assert log.read_text(encoding="utf-8").count(" < ") == 301


def test_a_client_that_waits_for_each_answer() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        for number in range(3):
            engine.stdin.write(f'{{"id": "{number}"}}\n')
            engine.stdin.flush()
            assert json.loads(engine.stdout.readline())["id"] == str(number)
        engine.stdin.close()
        assert engine.wait() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_client_that_is_gone() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        assert engine.stderr is not None
        engine.stdout.close()
        engine.stdin.write(b'{"id": "a"}\n')
        engine.stdin.close()
        assert engine.wait() == 0
        assert engine.stderr.read() == b""


def test_wrong_options_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["analysis", "--visits", "0"]) == main.EXIT_BAD_INPUT
    assert main.main(["analysis", "--large-net", "uniform", "--opponent-net", "uniform"]) == main.EXIT_BAD_INPUT
    assert "exclude each other" in capsys.readouterr().err
    assert main.main(["analysis", "--net", "no-such-net"]) == main.EXIT_BAD_INPUT
    assert "there is no net 'no-such-net'" in capsys.readouterr().err


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_page_has_every_field_and_the_client() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [field.alias for model in (QueryFields, ActionFields) for field in model.model_fields.values()]
    assert [name for name in names if f"| `{name}` |" not in page] == []
    client = (ROOT / "examples" / "analysis_client.py").read_text(encoding="utf-8")
    assert f"```python\n{client}```" in page
    assert len(client.splitlines()) == 20
    queries = [line for line in page.splitlines() if line.startswith('{"id": ') and line.endswith("}")]
    assert len(queries) == 2
    assert all(isinstance(read_request(line.encode(), DEFAULTS), Query) for line in queries)
