"""The search that a net carries for play: under what a user gives, the same wherever the net plays."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hauteur as ht
from hauteur import _core
from hauteur.cli import main
from hauteur.engine.analysis.engine import AnalysisEngine
from hauteur.engine.analysis.query import Defaults
from hauteur.engine.analysis.searches import QuerySearches
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.engine.streams import Output
from hauteur.engine.uci.options import Options, play_settings
from hauteur.matches.record import GamePlan
from hauteur.matches.settings import MatchSettings
from hauteur.matches.units import MatchUnits
from hauteur.mcts.limits import Limits
from hauteur.mcts.net_search import checked_play_search, search_of_net
from hauteur.mcts.params import SearchParams
from hauteur.mcts.plain_settings import search_model
from hauteur.networks import registry
from hauteur.networks.names import resolve_net
from hauteur.networks.strength import shipped_nets
from hauteur.players.build import Evaluators, Resources, as_played, build_player, player_facts, player_name
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player, player_text
from hauteur.studies.explain.question import side_of

pytestmark = pytest.mark.quick

GAME = ht.load_game("tictactoe")
GOMOKU = ht.load_game("gomoku")
CARRIED = "solver.lookahead=1 cpuct.init=2.5"
WON_AT_ONCE = ("a1", "b1", "a2", "b2")
"""The first player wins by a3, which the solver's lookahead proves at the first visit."""
PROVEN = "nothing left to search"
"""Why a search ends then."""


def net_with(path: Path, fact: object, name: str = "tictactoe") -> str:
    """Write a net that ships with another fact `play_search` to a file; return its path."""
    net = ht.load_network(name)
    registry.save(path, net.architecture, net.tensors, game=net.game, training={"play_search": fact})
    return str(path)


@pytest.fixture
def net(tmp_path: Path) -> str:
    """The file of a net that carries settings."""
    return net_with(tmp_path / "carrier.safetensors", CARRIED)


def built(text: str, game: _core.Game = GAME) -> SearchParams:
    """The search of the player of a text, as games are played."""
    with Evaluators(game, Resources(parallel=2, threads=1)) as evaluators:
        player = build_player(game, parse_player(text), evaluators, "A")
    assert isinstance(player, SearchPlayer)
    return player.search


def played(net: str, search: SearchParams) -> SearchParams:
    """The search of a net by its file."""
    return search_of_net(search, resolve_net(net))


# Where settings come from.


@pytest.mark.parametrize("name", ["gomoku15", "gomoku9"])
def test_a_net_that_ships_has_them_in_the_catalogue(name: str) -> None:
    game = ht.load_game(f"gomoku(size={name.removeprefix('gomoku')})")
    for text in ("visits=3", f"net={name}", f"net={resolve_net(name).path}"):
        solver = built(text, game).solver
        assert solver is not None
        assert (solver.threats, solver.lost_child_mode) == (1000, "zero_prior")


def test_those_of_the_catalogue_are_allowed() -> None:
    for shipped in shipped_nets().values():
        assert checked_play_search(shipped.play_search) == shipped.play_search


def test_a_file_has_them_among_its_facts(net: str) -> None:
    assert built(f"net={net}") == SearchParams(solver={"lookahead": 1}, cpuct={"init": 2.5})


def test_a_net_without_them_leaves_the_very_settings() -> None:
    search = SearchParams(draw_score=0.1)
    for name in ("tictactoe", "connect4", "uniform", "no such file.safetensors"):
        assert played(name, search) is search
    player = parse_player("net=tictactoe solver.lookahead=0")
    assert as_played(GAME, player) is player
    assert player_text(player) == "net=tictactoe search.solver=on"


def test_a_copy_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    assert built(f"net={net_with(path, 'cpuct.init=2.5')}").cpuct.init == 2.5
    assert built(f"net={net_with(path, 'solver=on cpuct.init=3.5')}").cpuct.init == 3.5


# What a user gives.


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", {"solver": {"lookahead": 1}, "cpuct": {"init": 2.5}}),
        ("solver.lookahead=0", {"solver": {"lookahead": 0}, "cpuct": {"init": 2.5}}),
        ("solver=off", {"cpuct": {"init": 2.5}}),
        ("solver=on", {"solver": {"lookahead": 1}, "cpuct": {"init": 2.5}}),
        ("cpuct.init=1.745", {"solver": {"lookahead": 1}, "cpuct": {"init": 1.745}}),
        ("solver.retro-fix=false", {"solver": {"lookahead": 1, "retro_fix": False}, "cpuct": {"init": 2.5}}),
        ("draw-score=0.2", {"solver": {"lookahead": 1}, "cpuct": {"init": 2.5}, "draw_score": 0.2}),
    ],
)
def test_what_is_given_counts_singly(net: str, given: str, expected: dict[str, Any]) -> None:
    player = parse_player(f"net={net} {given}")
    search = SearchParams(**expected)
    assert built(f"net={net} {given}") == search
    # Its text makes the same player, defaults that were given included, and so does the text of what is played.
    for text in (player_text(player), player_text(as_played(GAME, player))):
        assert built(text) == search
    assert as_played(GAME, as_played(GAME, player)) == as_played(GAME, player)


def test_a_second_net_has_the_search_that_is_given(net: str) -> None:
    assert built(f"net={net} large_net=uniform").solver is None
    assert built(f"net={net} opponent_net=uniform").cpuct == SearchParams().cpuct


# The same everywhere.


def proven_by_session(net: str) -> int | None:
    with PlayingSession(GAME, PlaySettings(), seed=1) as session:
        session.open(NetChoice(net))
        start = GAME.new_initial_state()
        session.set_position(start, ht.position("tictactoe", " ".join(WON_AT_ONCE)).moves)
        report = session.think(Limits(visits=2)).report
    assert report is not None
    return 1 if report.reason == PROVEN else None


def proven_by_search(net: str) -> int | None:
    found = ht.search(ht.position("tictactoe", " ".join(WON_AT_ONCE)), net, visits=2)
    return next(move.proven for move in found.moves if move.move == "a3")


def proven_by_batch(net: str) -> int | None:
    position = ht.position("tictactoe", " ".join(WON_AT_ONCE))
    plain = ht.search_batch([position], ht.evaluator(position.game, net), visits=2)
    carried = ht.search_batch([position], net, visits=2)
    return 1 if carried.wdl[0, 0] == 1.0 and plain.wdl[0, 0] < 1.0 else None


@pytest.mark.parametrize("proven", [proven_by_session, proven_by_search, proven_by_batch])
def test_searches_of_a_position_have_them(net: str, proven: Callable[[str], int | None]) -> None:
    assert proven(net) == 1


def test_an_analysis_follows_the_game_of_its_net() -> None:
    with ht.Analysis(None) as analysis:
        gomoku = analysis.go(ht.position("gomoku(size=9)", "E5 A1 F5 C1 G5 E1"), visits=2)
        assert any(move.proven == 1 for move in gomoku.moves)
        other = analysis.go(ht.position("tictactoe", " ".join(WON_AT_ONCE)), visits=2)
        assert all(move.proven is None for move in other.moves)


def test_an_analysis_refuses_settings_that_are_wrong_at_every_call(tmp_path: Path) -> None:
    with ht.Analysis(net_with(tmp_path / "wrong.safetensors", "solver.lookahed=1")) as analysis:
        for _ in range(2):
            with pytest.raises(ValueError, match="is not a setting"):
                analysis.go(GAME.new_initial_state(), visits=10)


def test_the_command_analyse_and_its_options(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    reasons = []
    for options in ([], ["--search.solver.lookahead", "0"], ["--search.solver", "off"]):
        words = ["analyse", "tictactoe", "--net", net, "--moves", *WON_AT_ONCE, "--visits", "2", "--json"]
        assert main.main([*words, *options]) == 0
        reasons.append(json.loads(capsys.readouterr().out)["reason"])
    assert reasons == [PROVEN, "visits", "visits"]


def test_queries_of_the_analysis_protocol_have_them(net: str) -> None:
    query = {"id": "q", "game": "tictactoe", "moves": list(WON_AT_ONCE), "maxVisits": 9}
    lines = [query, {**query, "overrideSettings": {"solver.lookahead": 0}}]
    written = io.StringIO()
    with QuerySearches(lambda _: NetChoice(net)) as searches:
        engine = AnalysisEngine(searches, Defaults(visits=9, search=SearchParams()), Output(written))
        engine.run(json.dumps(line).encode() for line in lines)
    visits = sorted(json.loads(line)["rootInfo"]["visits"] for line in written.getvalue().splitlines())
    assert visits[0] == 1
    assert visits[1] > 1


def test_both_sides_of_an_explanation_have_them(net: str) -> None:
    common = parse_player(f"net={net}")
    assert side_of("", GAME, "A", common).search == built(f"net={net}")
    assert side_of("solver=off", GAME, "A", common).search.solver is None


def test_options_of_the_uci_engine_count_where_they_were_set(tmp_path: Path) -> None:
    net = net_with(tmp_path / "net.safetensors", "cpuct.init=2.5 lower_bound=on", "chess")
    options = Options()
    usual = play_settings(options).search
    assert play_settings(options, net="chess").search is usual
    found = search_model(play_settings(options, net=net).search)
    plain = search_model(usual)
    assert (found.cpuct.init, found.lower_bound is not None) == (2.5, True)
    assert found.model_copy(update={"cpuct": plain.cpuct, "lower_bound": None}) == plain
    options.set("CPuct", "3.25")
    assert search_model(play_settings(options, net=net).search).cpuct.init == 3.25


def test_workers_are_sent_what_is_played(net: str) -> None:
    player = parse_player(f"net={net} solver.lookahead=0")
    settings = MatchSettings(game="tictactoe", a=player, b=player, games=2)
    units = MatchUnits(GAME, settings, {"A": player}, Resources(), 2)
    (unit,) = units.units(iter([GamePlan(0)]))
    sent = unit.shared["players"][0]["settings"]["search"]
    assert sent == {"solver": {"lookahead": 0}, "cpuct": {"init": 2.5}}


# What is said.


def test_a_match_says_what_is_played(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    a = f"net={net} visits=2 solver.lookahead=0"
    b = f"net={net} visits=2 solver=off cpuct.init=1"
    assert main.main(["match", a, b, "--game", "tictactoe", "--games", "2", "--threads", "1"]) == 0
    said = capsys.readouterr()
    assert f"A plays with the search of its net, {CARRIED}; given instead: solver.lookahead=0\n" in said.err
    assert f"B plays with the search of its net, {CARRIED}; given instead: cpuct.init=1.0 solver=off\n" in said.err
    assert "A: carrier visits=2 search.cpuct.init=2.5 search.solver.lookahead=0\n" in said.out
    assert "B: carrier visits=2 search.cpuct.init=1.0 search.solver=none\n" in said.out


def test_results_tell_searches_apart(net: str) -> None:
    assert player_name(GOMOKU, parse_player("")).startswith("gomoku15 visits=100 search.solver.threats=1000")
    texts = ("", "solver.lookahead=0", "solver=off", "solver=off cpuct.init=1.745")
    facts = [player_facts(GAME, parse_player(f"net={net} {text}"), "a")["a"] for text in texts]
    assert len(set(facts)) == len(facts)
    assert player_facts(GAME, parse_player("net=tictactoe solver=on"), "a")["a"] == "visits=100 search.solver=on"


def test_a_net_is_shown_with_its_search(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["net", "info", net]) == 0
    assert f"search in play  {CARRIED}\n" in capsys.readouterr().out
    assert main.main(["net", "info", "gomoku15", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["play_search"] == shipped_nets()["gomoku15"].play_search
    assert main.main(["net", "info", "connect4", "--json"]) == 0
    assert "play_search" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("solver.lookahed=1", "play_search: solver.lookahed is not a setting (did you mean lookahead?)"),
        ("cpuct.init=-3", "play_search: cpuct.init"),
        ("cpuct.init", "play_search: 'cpuct.init' is not key=value"),
        ("solver='", "play_search: No closing quotation"),
        ("cache_size=5", "play_search: cache_size is not a net's to say"),
        ("second_net.alpha=1", "play_search: second_net.alpha is not a net's to say"),
        (3, "play_search in its metadata must be a text of settings, got 3"),
    ],
)
def test_a_bad_setting_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], fact: object, said: str) -> None:
    net = net_with(tmp_path / "bad.safetensors", fact)
    for words in (
        ["match", f"net={net}", "random", "--game", "tictactoe", "--games", "2"],
        ["analyse", "tictactoe", "--net", net],
    ):
        assert main.main(words) == 2
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1
        assert net in lines[0]
        assert said in lines[0]
