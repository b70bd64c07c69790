"""The rules of self-play: playout cap, resignation, openings, ply limit, fixed opponent, a tree for each side."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learning_toys import ToyEvaluator
from selfplay_toys import CAP, GAME, RESIGNS, games_of, play_generation, player, same

from hauteur import _core
from hauteur.games.game_line import RESIGNATION
from hauteur.games.registry import load_game
from hauteur.learning.metrics import resignation_metrics
from hauteur.learning.planned import game_plans, planned_selfplay
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.sections import SelfPlaySettings
from hauteur.matches.record import Resignation
from hauteur.mcts.params import Dirichlet, ForcedPlayouts, SearchParams, Temperature
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayoutCap
from reference.resignation import NO_SIDE, ResignationWatch

pytestmark = pytest.mark.quick


def without_reuse(**rules: Any) -> SearchParams:
    return SearchParams(dirichlet=Dirichlet(), reuse_tree=False, **rules)


def test_fast_moves_have_few_visits_and_are_not_learned_from() -> None:
    games = games_of([player(cap=CAP, search=without_reuse())], 40)
    visits, learn = (np.concatenate([getattr(game, name) for game in games]) for name in ("visits", "learn"))
    assert set(visits[learn == 1]) == {24}
    assert set(visits[learn == 0]) == {5}
    assert len(learn) > 300
    assert learn.mean() == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / len(learn)) ** 0.5)


def test_fast_searches_are_those_of_a_player_without_noise_and_forced_playouts() -> None:
    never = PlayoutCap(full_share=1e-12, fast_visits=15)
    noisy = without_reuse(forced_playouts=ForcedPlayouts())
    fast = games_of([player(cap=never, search=noisy)])
    plain = games_of([player(visits=15, search=SearchParams(reuse_tree=False))])
    assert [game.actions.tolist() for game in fast] == [game.actions.tolist() for game in plain]
    assert all(np.array_equal(a.root_wdl, b.root_wdl) for a, b in zip(fast, plain, strict=True))
    assert not same(fast, games_of([player(visits=15, search=noisy)]))


def watched(settings: Resignation, values: list[tuple[int, float]], *, plays_through: bool = False) -> ResignationWatch:
    watch = ResignationWatch(settings, plays_through)
    for ply, (mover, value) in enumerate(values):
        watch.see(mover, value, ply)
    return watch


def test_a_player_resigns_after_low_values_in_a_row_of_its_own() -> None:
    settings = Resignation(threshold=-0.8, moves=2, play_through=0)
    low = [(0, -0.9), (1, 0.9), (0, -0.8), (1, 0.9)]
    assert watched(settings, low[:2]).side == NO_SIDE
    assert watched(settings, low[:3]).side == 0
    assert watched(settings, [(1, -1.0), (0, 1.0), (1, -0.7), (0, 1.0), (1, -1.0)]).side == NO_SIDE
    assert watched(settings, [(0, -1.0), (1, -1.0), (1, -1.0), (0, -1.0)]).side == 1
    assert not watched(settings, low, plays_through=True).ends_game
    assert watched(settings, [(0, float("nan"))] * 5).side == NO_SIDE


def test_resigned_games_are_the_beginnings_of_the_games_that_would_have_been() -> None:
    whole = games_of([player()], 60)
    games = games_of([player()], 60, resignation=RESIGNS)
    ended = [game.end_reason == RESIGNATION for game in games]
    assert 10 < sum(ended) < 60
    for game, full, resigned in zip(games, whole, ended, strict=True):
        watch = ResignationWatch.begin(RESIGNS, game.seed)
        for ply, (mover, wdl) in enumerate(zip(full.movers, full.root_wdl, strict=True)):
            watch.see(int(mover), float(wdl[0] - wdl[2]), ply)
            if watch.ends_game:
                break
        assert full.actions[: len(game.actions)].tolist() == game.actions.tolist()
        if resigned:
            assert len(game.actions) == ply + 1
            assert game.resigned == watch.side == game.movers[-1]
            assert game.outcome == (-1 if game.resigned == 0 else 1)
        else:
            assert game.actions.tolist() == full.actions.tolist()
            assert (game.outcome, game.end_reason) == (full.outcome, full.end_reason)
            assert game.resigned == (watch.side if watch.plays_through else NO_SIDE)
    played_out = [game for game in games if game.resigned != NO_SIDE and game.end_reason != RESIGNATION]
    assert len(played_out) > 3


def test_resignations_are_counted_from_the_shards(tmp_path: Path) -> None:
    settings = SelfPlaySettings(games=60, visits=16, parallel_games=8, batch_size=8, resignation=RESIGNS)
    planned = planned_selfplay(GAME, settings, generation=1, nets=[0], seed=3)
    units = play_generation([player()], planned, tmp_path)
    assert len(units) == 3
    buffer = ReplayBuffer(GAME, 100)
    games = buffer.extend(units)
    assert games is not None
    found = resignation_metrics(games)
    assert found["games"] == int(games.gave_up.sum()) > 5
    out = [(r, o) for r, o, gave_up in zip(games.resigned, games.outcome, games.gave_up, strict=True) if not gave_up]
    assert found["played_out"] == sum(r >= 0 for r, _ in out) > 3
    assert found["wrong"] == sum((r == 0 and o >= 0) or (r == 1 and o <= 0) for r, o in out)


def chess_book(folder: Path) -> Path:
    book = folder / "book.epd"
    book.write_text(
        "rnbqkb1r/pppppppp/7n/8/8/7N/PPPPPPPP/RNB1KB1R w KQkq -\n"
        "rnb1kb1r/pppppppp/7n/8/8/7N/PPPPPPPP/RNBQKB1R b KQkq -\n"
    )
    return book


def test_games_begin_with_openings_of_the_book_and_random_plies(tmp_path: Path) -> None:
    chess = _core.Game("chess")
    book = chess_book(tmp_path)
    settings = SelfPlaySettings(games=40, opening_book=str(book), opening_plies=2, opening_share=0.8)
    plans = list(game_plans(chess, settings, generation=1, seed=1))
    assert len(plans) == 40
    origins = [None if plan.origin is None else plan.origin.text() for plan in plans]
    assert 2 <= origins.count(None) <= 16
    assert len(set(origins)) == 3
    assert {len(plan.start) for plan in plans if plan.origin is not None} == {0, 1, 2}
    assert all(plan.start == () for plan in plans if plan.origin is None)


def test_games_from_a_book_are_learned_from_as_they_were_played(tmp_path: Path) -> None:
    chess = _core.Game("chess")
    settings = SelfPlaySettings(
        games=4, visits=4, opening_book=str(chess_book(tmp_path)), opening_plies=3, max_plies=9, parallel_games=4
    )
    toy = SearchPlayer("toy", ToyEvaluator(chess), SearchParams(), 4, Temperature(initial=1.0))
    planned = planned_selfplay(chess, settings, generation=1, nets=[0], seed=1)
    buffer = ReplayBuffer(chess, 10)
    games = buffer.extend(play_generation([toy], planned, tmp_path))
    assert games is not None
    features = buffer.samples_of(np.arange(games.positions)).features
    move = 0
    for number in range(games.games):
        state = load_game(games.origin[number]).new_initial_state()
        line = games.lines[games.line_offsets[number] : games.line_offsets[number + 1]]
        assert len(line) == 9
        for ply, action in enumerate(line.tolist()):
            if ply == games.plies[move]:
                np.testing.assert_array_equal(features[move], state.features())
                move = min(move + 1, games.positions - 1)
            state.apply(action)
    assert move == games.positions - 1
