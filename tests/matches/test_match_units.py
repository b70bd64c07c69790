"""Units of matches: what describes them, what a worker makes of them, and how they are cut."""

from pathlib import Path

import pytest

import hauteur as ht
from hauteur.cluster.unit import Unit
from hauteur.matches.match import MatchSettings, match_plans
from hauteur.matches.playing import _in_pairs, _of_unit, unit_size
from hauteur.matches.record import GamePlan
from hauteur.matches.units import MatchJob, UnitPlayers, match_unit, read_games, unit_players
from hauteur.players.build import Resources
from hauteur.players.settings import PlayerSettings, parse_player

GAME = ht.load_game("tictactoe")
RESOURCES = Resources(parallel=4, threads=1)


def shared_of(*players: str, max_plies: int | None = None) -> UnitPlayers:
    settings = [parse_player(text) for text in players]
    return unit_players(GAME, settings, ("A", "B"), max_plies=max_plies, resources=RESOURCES)[0]


@pytest.fixture(scope="module")
def unit() -> Unit:
    players = {"a": parse_player("net=uniform visits=8"), "b": parse_player("random")}
    settings = MatchSettings.model_validate({"game": "tictactoe", "games": 4, "random_plies": 2, **players})
    plans = [
        GamePlan(plan.index, plan.sides, plan.start, plan.origin, seed=plan.index)
        for plan in match_plans(GAME, settings, ())
    ]
    return match_unit("four games", shared_of("net=uniform visits=8", "random"), {}, plans)


def test_the_games_of_a_unit_are_read_as_they_were_played(unit: Unit) -> None:
    job = MatchJob(unit, {}, 1)
    (result,) = job.play(iter([unit]))
    job.close()
    assert (result.key, result.facts["games"]) == (unit.key, 4)
    evaluators, games = read_games(unit, result.content)
    assert evaluators == ["uniform"]
    assert [game.index for game in games] == [0, 1, 2, 3]
    lines = result.content.splitlines(keepends=True)
    for content in (b"".join(lines[:-1]), b"".join([lines[0], lines[2], lines[1], *lines[3:]])):
        with pytest.raises(ValueError, match="four games: "):
            read_games(unit, content)


@pytest.mark.parametrize("content", [b"", b"\xff\n", b"[]\n", b"{}\n"])
def test_what_are_no_games_is_refused(content: bytes, unit: Unit) -> None:
    with pytest.raises(ValueError, match="four games: not the games of a match") as error:
        read_games(unit, content)
    assert "\n" not in str(error.value)


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
