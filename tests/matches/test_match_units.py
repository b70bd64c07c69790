"""Units of matches: what a worker hands in is taken only where every game is of its plan and by the rules."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import hauteur as ht
from hauteur.cluster.unit import Unit
from hauteur.matches.match import MatchSettings, match_plans
from hauteur.matches.playing import _in_pairs, _of_unit, unit_size
from hauteur.matches.record import GamePlan
from hauteur.matches.units import MatchJob, UnitPlayers, checked_result, match_unit, unit_players
from hauteur.players.build import Resources
from hauteur.players.settings import PlayerSettings, parse_player

GAME = ht.load_game("tictactoe")
RESOURCES = Resources(parallel=4, threads=1)


@dataclass
class OneUnit:
    """A feed with a unit."""

    waiting: list[Unit]
    content: bytes = b""
    facts: Mapping[str, float] = field(default_factory=dict)

    def next_unit(self) -> Unit | None:
        return self.waiting.pop() if self.waiting else None

    def done(self, unit: Unit, content: bytes, facts: Mapping[str, float]) -> None:
        assert unit.kind == "match"
        self.content, self.facts = content, facts


def shared_of(*players: str, max_plies: int | None = None) -> UnitPlayers:
    settings = [parse_player(text) for text in players]
    return unit_players(GAME, settings, ("A", "B"), max_plies=max_plies, resources=RESOURCES)[0]


@pytest.fixture(scope="module")
def unit() -> Unit:
    players = {"a": parse_player("net=uniform visits=8"), "b": parse_player("random")}
    settings = MatchSettings.model_validate({"game": "tictactoe", "games": 4, "random_plies": 2, **players})
    plans = [
        GamePlan(plan.index, plan.seats, plan.start, plan.origin, seed=plan.index)
        for plan in match_plans(GAME, settings, ())
    ]
    return match_unit("four games", shared_of("net=uniform visits=8", "random"), {}, plans)


@pytest.fixture(scope="module")
def lines(unit: Unit) -> list[dict[str, Any]]:
    """What a worker makes of the unit."""
    feed, job = OneUnit([unit]), MatchJob(unit, {}, 1)
    job.play(feed)
    job.close()
    assert feed.facts["games"] == 4
    found = [json.loads(line) for line in feed.content.splitlines()]
    assert all(len(game.pop("check")) == 16 for game in found[1:])
    return found


def digest(unit: Unit, lines: list[dict[str, Any]], shared: UnitPlayers | None = None) -> str:
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    return checked_result(GAME, shared or shared_of("net=uniform visits=8", "random"), unit, content).digest


def test_times_and_evaluators_do_not_change_the_digest(unit: Unit, lines: list[dict[str, Any]]) -> None:
    header, *games = lines
    assert header == {"evaluators": ["uniform"]}
    later = [{**game, "milliseconds": [7] * len(game["moves"].split())} for game in games]
    assert digest(unit, lines) == digest(unit, [{"evaluators": ["other"]}, *later])
    scores = {**games[0], "centipawns": [1] * len(games[0]["moves"].split())}
    assert digest(unit, lines) != digest(unit, [header, scores, *games[1:]])


def shorter(game: dict[str, Any]) -> dict[str, Any]:
    rest = game["moves"].split()[:-1]
    return {**game, "moves": " ".join(rest), "plies": game["plies"] - 1, "centipawns": (), "milliseconds": ()}


def longer(game: dict[str, Any]) -> dict[str, Any]:
    return {**game, "moves": f"{game['moves']} a1", "plies": game["plies"] + 1, "centipawns": (), "milliseconds": ()}


ALTERED: list[tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = [
    (lambda game: {**game, "score": 0.5 if game["score"] != 0.5 else 1.0}, "game 0: score .* by the rules"),
    (lambda game: {**game, "end": "because"}, "game 0: score .* by 'because', but by the rules"),
    (lambda game: {**game, "index": 3}, "game 0: another number, seat or start"),
    (lambda game: {**game, "a": "second"}, "game 0: another number, seat or start"),
    (lambda game: {**game, "opening": ""}, "game 0: another number, seat or start"),
    (lambda game: {**game, "fen": "x"}, "game 0: another number, seat or start"),
    (lambda game: {**game, "moves": "z9"}, "game 0: "),
    (lambda game: {**game, "plies": 2}, "game 0: 2 plies, but"),
    (lambda game: {**game, "depths": [1]}, "game 0: 1 depths of"),
    (lambda game: {**game, "notes": {"0": "x"}}, "game 0: notes of other moves"),
    (lambda game: {**game, "score": 0.3}, "not the games of a match: "),
    (lambda game: {**game, "more": 1}, "not the games of a match: "),
    (shorter, "game 0: it is not over"),
    (longer, "game 0: a1 after the end of the game"),
]


@pytest.mark.parametrize(("change", "message"), ALTERED)
def test_altered_games_are_refused(
    change: Callable[[dict[str, Any]], dict[str, Any]], message: str, unit: Unit, lines: list[dict[str, Any]]
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        digest(unit, [lines[0], change(lines[1]), *lines[2:]])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\xff\n", b"[]\n", b"{}\n", b'{"evaluators": [3]}\n', b"[" * 100_000])
def test_what_are_no_games_is_refused(content: bytes, unit: Unit) -> None:
    with pytest.raises(ValueError, match="not the games of a match"):
        checked_result(GAME, shared_of("random", "random"), unit, content)


def test_games_that_are_missing_are_named(unit: Unit, lines: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="3 games of 4"):
        digest(unit, lines[:-1])


def test_a_program_may_fail_where_a_net_may_not(unit: Unit, lines: list[dict[str, Any]]) -> None:
    """The player to move loses, and no other."""
    game = shorter(lines[1])
    begins = len(game["opening"].split())
    mover = (begins + len(game["moves"].split())) % 2
    lost = {**game, "end": "engine crashed", "score": 0.0 if (game["a"] == "first") == (mover == 0) else 1.0}
    programs = shared_of("uci:true nodes=1", "uci:true nodes=1")
    assert not programs.comparable
    digest(unit, [lines[0], lost, *lines[2:]], programs)
    with pytest.raises(ValueError, match="by the rules"):
        digest(unit, [lines[0], {**lost, "score": 1 - lost["score"]}, *lines[2:]], programs)
    with pytest.raises(ValueError, match="it is not over"):
        digest(unit, [lines[0], lost, *lines[2:]])


def test_files_that_a_program_needs_must_be_at_the_worker() -> None:
    player = parse_player("uci:true nodes=1 SyzygyPath=/nowhere")
    shared, _ = unit_players(GAME, [player, player], ("A", "B"), max_plies=None, resources=RESOURCES)
    with pytest.raises(ValueError, match=r"player A: SyzygyPath: .* has no /nowhere"):
        MatchJob(match_unit("x", shared, {}, [GamePlan(0, (0, 1), seed=1)]), {}, 1)


def test_pairs_stay_together_and_units_get_smaller() -> None:
    plans = [GamePlan(index) for index in range(100) if index != 7]
    pairs, sizes, left = _in_pairs(iter(plans)), list[int](), 99
    while some := _of_unit(pairs, unit_size(left, workers=2, parallel=32)):
        indices = [plan.index for plan in some]
        assert all(index ^ 1 in indices for index in indices if index not in (6, 7))
        sizes.append(len(some))
        left -= len(some)
    assert sum(sizes) == 99
    assert sizes[:2] == [15, 16]
    assert sizes[1:] == sorted(sizes[1:], reverse=True)
    assert sizes[-3:-1] == [4, 4]  # an eighth of the concurrent games
    assert unit_size(5, workers=9, parallel=2) == 0, "a pair is the least"


def test_large_nets_and_shipped_ones_are_sent_as_files(tmp_path: Path) -> None:
    net = tmp_path / "own.safetensors"
    net.write_bytes(b"content")
    game = ht.load_game("connect4")
    players: list[PlayerSettings] = [parse_player(f"net=connect4 large_net={net}"), parse_player("visits=3")]
    shared, sources = unit_players(game, players, ("A", "B"), max_plies=None, resources=RESOURCES)
    assert {path.name for path in sources.values()} == {"connect4.safetensors", "own.safetensors"}
    assert set(shared.players[0].files) == {"net", "large_net"}
    assert shared.players[0].files["net"] == shared.players[1].files["net"]
