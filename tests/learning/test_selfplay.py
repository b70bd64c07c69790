"""The rules of self-play: playout cap, resignation, openings, ply limit, fixed opponent, a tree for each side."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from learning_toys import ToyEvaluator

from hauteur import _core
from hauteur.games.end_reasons import PLY_LIMIT, RESIGNATION
from hauteur.games.game_line import NO_NET
from hauteur.games.registry import make
from hauteur.learning.metrics import Display, learner_metrics, resignation_metrics
from hauteur.learning.pipeline import learn
from hauteur.learning.recipe import Recipe, SelfPlaySettings, parse_recipe
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.selfplay import game_plans, play_generation, shard_paths
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.openings import read_openings
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.resignation import NOBODY, Resignation, Watch
from hauteur.players.player import Player
from hauteur.players.playout_cap import PlayoutCap
from hauteur.search.params import Dirichlet, SearchParams, Temperature
from hauteur.search.rules import ForcedPlayouts, SearchContempt, SecondNet

GAME = _core.Game("connect4")
CAP = PlayoutCap(full_share=0.25, fast_visits=5)


def player(
    salt: int = 0, *, visits: int = 24, cap: PlayoutCap | None = None, search: SearchParams | None = None
) -> Player:
    search = search or SearchParams(dirichlet=Dirichlet())
    return Player(
        f"toy {salt}", ToyEvaluator(GAME, salt=salt), search, visits, Temperature(initial=1.0), playout_cap=cap
    )


def games_of(players: list[Player], plans: int | list[GamePlan] = 20, **options: Any) -> list[GameRecord]:
    begun = [GamePlan(index) for index in range(plans)] if isinstance(plans, int) else plans
    defaults: dict[str, Any] = {"seed": 1, "purpose": "test", "parallel": 8, "batch_size": 8}
    return sorted(play_games(GAME, players, begun, **(defaults | options)), key=lambda game: game.plan.index)


def same(first: list[GameRecord], second: list[GameRecord]) -> bool:
    """Whether both are the same games, with the same searches."""
    return all(
        a.actions.tolist() == b.actions.tolist()
        and np.array_equal(a.policy_counts, b.policy_counts)
        and np.array_equal(a.learn, b.learn)
        and (a.outcome, a.end_reason, a.resigned) == (b.outcome, b.end_reason, b.resigned)
        for a, b in zip(first, second, strict=True)
    )


# -- playout cap -------------------------------------------------------------------------------------------------------


def without_reuse(**rules: Any) -> SearchParams:
    return SearchParams(dirichlet=Dirichlet(), reuse_tree=False, **rules)


def test_fast_moves_have_few_visits_and_are_not_learned_from() -> None:
    games = games_of([player(cap=CAP, search=without_reuse())], 40)
    visits, learn = (np.concatenate([getattr(game, name) for game in games]) for name in ("visits", "learn"))
    assert set(visits[learn == 1]) == {24}
    assert set(visits[learn == 0]) == {5}
    assert len(learn) > 300
    assert learn.mean() == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / len(learn)) ** 0.5)


def test_which_moves_are_full_is_named_by_the_seed_of_the_game_and_the_ply() -> None:
    for game in games_of([player(cap=CAP)], [GamePlan(k, start=(3, 3)) for k in range(10)]):
        wanted = [CAP.searches_in_full(game.seed, 2 + ply) for ply in range(len(game.actions))]
        assert game.learn.tolist() == [int(full) for full in wanted]


def test_fast_searches_are_those_of_a_player_without_noise_and_forced_playouts() -> None:
    never = PlayoutCap(full_share=1e-12, fast_visits=15)
    noisy = without_reuse(forced_playouts=ForcedPlayouts())
    fast = games_of([player(cap=never, search=noisy)])
    plain = games_of([player(visits=15, search=SearchParams(reuse_tree=False))])
    assert [game.actions.tolist() for game in fast] == [game.actions.tolist() for game in plain]
    assert all(np.array_equal(a.root_wdl, b.root_wdl) for a, b in zip(fast, plain, strict=True))
    assert not same(fast, games_of([player(visits=15, search=noisy)]))


@pytest.mark.parametrize("reuse", [True, False])
def test_a_share_of_one_is_no_playout_cap(reuse: bool) -> None:
    search = SearchParams(dirichlet=Dirichlet(), reuse_tree=reuse)
    always = PlayoutCap(full_share=1, fast_visits=5)
    assert same(games_of([player(cap=always, search=search)]), games_of([player(search=search)]))


def test_one_player_of_two_has_a_playout_cap() -> None:
    plans = [GamePlan(k, (0, 1) if k % 2 else (1, 0)) for k in range(10)]
    for game in games_of([player(cap=CAP, search=without_reuse()), player(1, visits=9, search=without_reuse())], plans):
        capped = np.array(game.plan.seats)[game.movers] == 0
        assert set(game.visits[~capped]) == {9}
        assert (game.learn[~capped] == 1).all()
        assert set(game.visits[capped]) <= {5, 24}


def test_with_two_nets_the_cap_is_of_the_small_one() -> None:
    search = without_reuse(second_net=SecondNet(small_visits=4, large_visits=1))
    me = replace(player(cap=CAP, search=search), large=ToyEvaluator(GAME, salt=9))
    games = games_of([me], 10)
    visits, learn = (np.concatenate([getattr(game, name) for game in games]) for name in ("visits", "learn"))
    assert (set(visits[learn == 1]), set(visits[learn == 0])) == ({24}, {5})


# -- resignation -------------------------------------------------------------------------------------------------------


def watched(settings: Resignation, values: list[tuple[int, float]], *, plays_through: bool = False) -> Watch:
    watch = Watch(settings, plays_through)
    for ply, (mover, value) in enumerate(values):
        watch.see(mover, value, ply)
    return watch


def test_a_player_resigns_after_low_values_in_a_row_of_its_own() -> None:
    settings = Resignation(threshold=-0.8, moves=2, play_through=0)
    low = [(0, -0.9), (1, 0.9), (0, -0.8), (1, 0.9)]
    assert watched(settings, low[:2]).seat == NOBODY
    assert watched(settings, low[:3]).seat == 0
    assert watched(settings, [(1, -1.0), (0, 1.0), (1, -0.7), (0, 1.0), (1, -1.0)]).seat == NOBODY
    assert watched(settings, [(0, -1.0), (1, -1.0), (1, -1.0), (0, -1.0)]).seat == 1
    assert not watched(settings, low, plays_through=True).ends_game
    assert watched(settings, [(0, float("nan"))] * 5).seat == NOBODY


def test_nobody_resigns_early() -> None:
    settings = Resignation(threshold=-0.5, moves=1, earliest_ply=3)
    assert watched(settings, [(0, -1.0), (1, 1.0), (0, -1.0)]).seat == NOBODY
    assert watched(settings, [(0, -1.0), (1, 1.0), (0, -1.0), (1, -1.0)]).seat == 1


RESIGNS = Resignation(threshold=-0.25, moves=2, earliest_ply=6, play_through=0.3)


def test_resigned_games_are_the_beginnings_of_the_games_that_would_have_been() -> None:
    whole = games_of([player()], 60)
    games = games_of([player()], 60, resignation=RESIGNS)
    ended = [game.end_reason == RESIGNATION for game in games]
    assert 10 < sum(ended) < 60
    for game, full, resigned in zip(games, whole, ended, strict=True):
        watch = RESIGNS.watch(game.seed)
        for ply, (mover, wdl) in enumerate(zip(full.movers, full.root_wdl, strict=True)):
            watch.see(int(mover), float(wdl[0] - wdl[2]), ply)
            if watch.ends_game:
                break
        assert full.actions[: len(game.actions)].tolist() == game.actions.tolist()
        if resigned:
            assert len(game.actions) == ply + 1
            assert game.resigned == watch.seat == game.movers[-1]
            assert game.outcome == (-1 if game.resigned == 0 else 1)
        else:
            assert game.actions.tolist() == full.actions.tolist()
            assert (game.outcome, game.end_reason) == (full.outcome, full.end_reason)
            assert game.resigned == (watch.seat if watch.plays_through else NOBODY)
    played_out = [game for game in games if game.resigned != NOBODY and game.end_reason != RESIGNATION]
    assert len(played_out) > 3


def test_resignation_works_with_a_tree_for_each_player_and_the_ply_limit() -> None:
    plans = [GamePlan(k, (0, 1) if k % 2 else (1, 0)) for k in range(40)]
    games = games_of([player(1), player(2)], plans, resignation=RESIGNS, max_plies=14)
    assert {game.end_reason for game in games} >= {RESIGNATION, PLY_LIMIT}
    for game in games:
        if game.end_reason == RESIGNATION:
            assert game.movers[-1] == game.resigned
            assert game.score_of(game.plan.seats[game.resigned]) == 0
        if game.end_reason == PLY_LIMIT:
            assert (len(game.actions), game.outcome) == (14, 0)


def test_resignations_are_counted_from_the_shards(tmp_path: Path) -> None:
    settings = SelfPlaySettings(games=60, visits=16, parallel_games=8, batch_size=8, resignation=RESIGNS)
    play_generation(GAME, [player()], settings, folder=tmp_path, generation=1, nets=[0], seed=3)
    buffer = ReplayBuffer(GAME, 100)
    games = buffer.extend(shard_paths(tmp_path, 1))
    assert games is not None
    found = resignation_metrics(games)
    assert found["games"] == int(games.gave_up.sum()) > 5
    out = [(r, o) for r, o, gave_up in zip(games.resigned, games.outcome, games.gave_up, strict=True) if not gave_up]
    assert found["played_out"] == sum(r >= 0 for r, _ in out) > 3
    assert found["wrong"] == sum((r == 0 and o >= 0) or (r == 1 and o <= 0) for r, o in out)


# -- openings ----------------------------------------------------------------------------------------------------------


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
    plans = list(game_plans(chess, settings, generation=1, seed=1, without=set()))
    assert len(plans) == 40
    origins = [None if plan.origin is None else plan.origin.text() for plan in plans]
    assert 2 <= origins.count(None) <= 16
    assert len(set(origins)) == 3
    assert {len(plan.start) for plan in plans if plan.origin is not None} == {0, 1, 2}
    assert all(plan.start == () for plan in plans if plan.origin is None)
    again = game_plans(chess, settings, generation=1, seed=1, without=set(range(20)))
    assert [plan.start for plan in again] == [plan.start for plan in plans[20:]]


def test_games_from_a_book_are_learned_from_as_they_were_played(tmp_path: Path) -> None:
    chess = _core.Game("chess")
    settings = SelfPlaySettings(
        games=4, visits=4, opening_book=str(chess_book(tmp_path)), opening_plies=3, max_plies=9, parallel_games=4
    )
    toy = Player("toy", ToyEvaluator(chess), SearchParams(), 4, Temperature(initial=1.0))
    play_generation(chess, [toy], settings, folder=tmp_path, generation=1, nets=[0], seed=1)
    buffer = ReplayBuffer(chess, 10)
    games = buffer.extend(shard_paths(tmp_path, 1))
    assert games is not None
    features, move = buffer.samples_of(np.arange(games.positions)).features, 0
    for number in range(games.games):
        state = make(games.origin[number]).initial_state()
        line = games.lines[games.line_offsets[number] : games.line_offsets[number + 1]]
        assert len(line) == 9
        for ply, action in enumerate(line.tolist()):
            if ply == games.plies[move]:
                np.testing.assert_array_equal(features[move], state.encode())
                move = min(move + 1, games.positions - 1)
            state.play(action)
    assert move == games.positions - 1


def test_odds_books_give_origins_and_the_mover_lacks_its_queen(shared_data: Path) -> None:
    chess = _core.Game("chess")
    settings = SelfPlaySettings(
        episodes="best-versus-opponent", games=30, opening_book=str(shared_data / "openings" / "queen_odds_all1_b.epd")
    )
    for plan in game_plans(chess, settings, generation=1, seed=1, without=set(), colours="mover"):
        assert plan.origin is not None
        assert plan.origin.to_move == 1
        assert plan.seats == (1, 0)
        assert "q" not in plan.origin.notation().split()[0]


def test_openings_from_pgn(tmp_path: Path) -> None:
    chess = _core.Game("chess")
    path = tmp_path / "book.pgn"
    path.write_bytes(
        b'[Event "\xe9t\xe9"]\n\n1. e4 {best by test} e5 (1... c5) 2. Nf3 *\n\n'
        b'[Event "b"]\n[SetUp "1"]\n[FEN "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"]\n\n1... d5 *\n'
    )
    first, second = read_openings(path, chess)
    assert first.fen is None
    assert len(first.actions) == 3
    state = second.origin(chess)
    assert (state.to_move, state.action_to_text(second.actions[0])) == (1, "d7d5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no openings in it"),
        ("1. e4 e5 2. Qe7 *\n", "game 1: illegal san"),
        ("1. f3 e5 2. g4 Qh4# 0-1\n", "game 1: the game is over in this position"),
        ('[Variant "Atomic"]\n\n1. e4 *\n', "game 1: is a game of atomic, not of chess"),
        ('1. e4 *\n\n[SetUp "1"]\n[FEN "nonsense"]\n\n1. e4 *\n', "game 2: expected 8 rows"),
    ],
)
def test_wrong_pgn_is_refused(tmp_path: Path, text: str, message: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "book.pgn"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_openings(path, _core.Game("chess"))
    assert caplog.records == []


def test_pgn_is_for_chess(tmp_path: Path) -> None:
    path = tmp_path / "book.pgn"
    path.write_text("1. e4 *\n")
    with pytest.raises(ValueError, match="has openings of chess, not of connect4"):
        read_openings(path, GAME)


# -- a fixed opponent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("colours", "seats"), [("swap", {0, 1}), ("first", {0}), ("second", {1}), ("mover", {0, 1})])
def test_only_the_learner_is_learned_from(tmp_path: Path, colours: Any, seats: set[int]) -> None:
    settings = SelfPlaySettings(
        episodes="best-versus-opponent", games=12, visits=12, parallel_games=6, batch_size=6, opening_plies=3
    )
    opponent = replace(player(1, visits=1), learns=False)
    play_generation(
        GAME, [player(), opponent], settings, folder=tmp_path, generation=1, nets=[7, NO_NET], seed=1, colours=colours
    )
    buffer = ReplayBuffer(GAME, 100)
    games = buffer.extend(shard_paths(tmp_path, 1))
    assert games is not None
    learners = np.argmax(games.nets == 7, axis=1)
    assert set(learners.tolist()) == seats
    assert set(games.nets.ravel().tolist()) == {7, NO_NET}
    of_move = np.repeat(learners, np.diff(games.moves_before))
    np.testing.assert_array_equal(games.learn == 1, games.movers == of_move)
    score = learner_metrics(games)
    assert sum(score.values()) == 12
    assert score["wins"] == sum((games.outcome == 1) & (learners == 0)) + sum((games.outcome == -1) & (learners == 1))
    if colours == "mover":
        starts = games.line_offsets[:-1] * 0 + np.diff(games.line_offsets) - np.diff(games.moves_before)
        np.testing.assert_array_equal(learners, starts % 2)


def test_an_opponent_and_episodes_go_together() -> None:
    with pytest.raises(ValueError, match=r'episodes = "best-versus-opponent" needs a section \[opponent\]'):
        parse_recipe({"game": "chess", "selfplay": {"episodes": "best-versus-opponent"}}, "test")
    with pytest.raises(ValueError, match=r"\[opponent\] needs selfplay.episodes"):
        parse_recipe({"game": "chess", "opponent": {"net": "maia.pb.gz"}}, "test")
    both = {"game": "chess", "selfplay": {"episodes": "candidate-versus-opponent"}, "opponent": {"colours": "mover"}}
    opponent = parse_recipe(both, "test").opponent
    assert opponent is not None
    assert (opponent.visits, opponent.colours) == (1, "mover")


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="fast_visits must be less than visits, got 100 of 100"):
        parse_recipe({"game": "chess", "selfplay": {"visits": 100, "playout_cap": {"fast_visits": 100}}}, "test")
    with pytest.raises(ValueError, match="max_plies must be more than opening_plies, got 6 and 6"):
        parse_recipe({"game": "chess", "selfplay": {"max_plies": 6, "opening_plies": 6}}, "test")
    with pytest.raises(ValueError, match=r"playout_cap.full_share: .* greater than 0, got 0"):
        parse_recipe({"game": "chess", "selfplay": {"playout_cap": {"full_share": 0}}}, "test")
    with pytest.raises(ValueError, match=r"resignation.threshold: .* less than 0, got 0.5"):
        parse_recipe({"game": "chess", "selfplay": {"resignation": {"threshold": 0.5}}}, "test")


# -- a tree for each side ----------------------------------------------------------------------------------------------

CONTEMPT = SearchParams(dirichlet=Dirichlet(), search_contempt=SearchContempt(n_scl=6))


def test_a_tree_for_each_side_is_two_players_with_one_cache() -> None:
    """Same searches as of two players on the seats; the noise of a tree is that of its seat."""
    facts = ArenaFacts()
    both = games_of([player(search=CONTEMPT)], tree_per_side=True, facts=facts)
    seated = [GamePlan(index, (0, 1)) for index in range(20)]
    two = games_of([player(search=CONTEMPT), player(search=CONTEMPT)], seated)
    assert same(both, two)
    assert facts.cache_lookups > 0


def test_search_contempt_with_one_tree_for_both_begins_it_anew_every_ply() -> None:
    quiet = CONTEMPT.model_copy(update={"dirichlet": None})
    anew = games_of([player(search=quiet.model_copy(update={"reuse_tree": False}))])
    assert same(games_of([player(search=quiet)]), anew)


def test_a_tree_for_each_side_keeps_visits() -> None:
    kept, anew = ArenaFacts(), ArenaFacts()
    games_of([player(search=CONTEMPT, visits=60)], tree_per_side=True, facts=kept)
    games_of([player(search=CONTEMPT, visits=60)], facts=anew)
    assert kept.visits / kept.moves < anew.visits / anew.moves == pytest.approx(60, abs=0.5)


# -- the same games again ----------------------------------------------------------------------------------------------


def test_everything_together_is_the_same_for_any_number_of_parallel_games_and_threads() -> None:
    options: dict[str, Any] = {"resignation": RESIGNS, "max_plies": 30}
    search = CONTEMPT.model_copy(update={"forced_playouts": ForcedPlayouts()})
    plans = [GamePlan(k, start=(3,) * (k % 4)) for k in range(16)]
    for per_side in (False, True):
        capped = player(cap=CAP, search=search)
        wanted = games_of([capped], plans, tree_per_side=per_side, **options)
        for how in ({"parallel": 1}, {"parallel": 16, "batch_size": 64}, {"threads": 3}, {"in_flight": 1}):
            assert same(wanted, games_of([capped], plans, tree_per_side=per_side, **(options | how)))
        assert not same(wanted, games_of([capped], plans, tree_per_side=per_side, **(options | {"seed": 2})))


# -- in the loop -------------------------------------------------------------------------------------------------------


class Silent(Display):
    """Keeps the lines that would be printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def generation(self, line: str) -> None:
        self.lines.append(line)


def tiny_recipe(**sections: Any) -> Recipe:
    selfplay = {
        "episodes": "best-versus-opponent",
        "games": 12,
        "visits": 8,
        "parallel_games": 6,
        "batch_size": 4,
        "shard_games": 5,
        "playout_cap": {"fast_visits": 3, "full_share": 0.5},
        "resignation": {"threshold": -0.01, "moves": 1, "earliest_ply": 4, "play_through": 0.5},
    }
    values = {
        "game": "tictactoe",
        "network": {"filters": 4, "blocks": 1, "policy_channels": 2, "value_channels": 2, "value_hidden": 8},
        "selfplay": selfplay,
        "opponent": {"baseline": "random"},
        "train": {"batch_size": 16, "samples_per_position": 1.0, "warmup_steps": 2},
        "gate": {"by": "off"},
        "run": {"generations": 2, "threads": 1},
    }
    return parse_recipe(values | sections, "test")


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows = [row for path in sorted((folder / "games").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    return sorted(rows, key=lambda row: (row["generation"], row["index"]))


def as_text(rows: list[dict[str, Any]]) -> list[str]:
    """Rows to compare; NaN equals NaN."""
    return [repr(row) for row in rows]


def test_a_run_against_an_opponent_with_playout_cap_and_resignation(tmp_path: Path) -> None:
    display = Silent()
    learn(tiny_recipe(), folder=tmp_path / "a", display=display)
    metrics = [json.loads(line) for line in (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()]
    for line, text in zip(metrics, display.lines, strict=True):
        games, rows = line["games"], [row for row in rows_of(tmp_path / "a") if row["generation"] == line["generation"]]
        assert sum(games["learner"].values()) == games["games"] == 12
        assert games["resigned"]["games"] == sum(row["end_reason"] == RESIGNATION for row in rows)
        assert games["resigned"]["wrong"] <= games["resigned"]["played_out"]
        assert games["positions"] == sum(sum(row["learn"]) for row in rows)
        assert line["cost"]["evaluations"] == line["selfplay"]["evaluations"]
        learner = games["learner"]
        assert f"learner +{learner['wins']} ={learner['draws']} -{learner['losses']}" in text
        assert f"resigned {games['resigned']['games']}, wrong" in text
    assert sum(line["games"]["resigned"]["games"] for line in metrics) > 0
    learn(tiny_recipe(run={"generations": 2, "threads": 2}), folder=tmp_path / "b", display=Silent())
    assert as_text(rows_of(tmp_path / "a")) == as_text(rows_of(tmp_path / "b"))


def test_lost_games_against_an_opponent_are_played_again_the_same(tmp_path: Path) -> None:
    recipe = tiny_recipe(run={"generations": 1, "threads": 1})
    learn(recipe, folder=tmp_path / "run", display=Silent())
    before = as_text(rows_of(tmp_path / "run"))
    (tmp_path / "run" / "checkpoint" / "checkpoint.safetensors").unlink()
    (tmp_path / "run" / "games" / "gen-00001-0001.parquet").unlink()
    learn(recipe, folder=tmp_path / "run", display=Silent())
    assert as_text(rows_of(tmp_path / "run")) == before


def test_the_moves_of_an_opponent_with_a_net_cost_nothing(tmp_path: Path) -> None:
    recipe = tiny_recipe(
        opponent={"net": "uniform", "colours": "second", "search": {"cache_size": 0}},
        run={"generations": 1, "threads": 1},
    )
    learn(recipe, folder=tmp_path / "run", display=Silent())
    line = json.loads((tmp_path / "run" / "metrics.jsonl").read_text())
    of_opponent = sum(row["movers"].count(0) for row in rows_of(tmp_path / "run"))
    assert line["selfplay"]["evaluations"] - line["cost"]["evaluations"] == of_opponent > 10


@pytest.mark.parametrize(
    ("selfplay", "opponent", "message"),
    [
        ({"opening_book": "nowhere.epd"}, None, r"nowhere\.epd"),
        ({"episodes": "best-versus-opponent"}, {"baseline": "rave:5"}, "player opponent: rave plays nogo alone"),
        ({"episodes": "best-versus-opponent"}, {"net": "nowhere.pb.gz"}, r"nowhere\.pb\.gz"),
    ],
)
def test_players_that_do_not_fit_are_named_before_the_run_begins(
    tmp_path: Path, selfplay: dict[str, Any], opponent: dict[str, Any] | None, message: str
) -> None:
    sections = {"selfplay": {"games": 2, **selfplay}} | ({"opponent": opponent} if opponent else {})
    with pytest.raises((OSError, ValueError), match=message):
        learn(parse_recipe({"game": "tictactoe", **sections}, "test"), folder=tmp_path / "run", display=Silent())
    assert not (tmp_path / "run" / "config.toml").exists()


def test_the_unknown_surprise_of_an_opponents_moves_is_no_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = {"batch_size": 16, "warmup_steps": 2, "surprise_weight": 0.5}
    recipe = tiny_recipe(train=train, run={"generations": 1, "threads": 1})
    learn(recipe, folder=tmp_path / "run", display=Silent())
    assert any(np.isnan(row["surprise"]).any() for row in rows_of(tmp_path / "run"))
    assert "surprise" not in capsys.readouterr().err
