"""Games of a run that are used again: starts in an archive, positions searched again, proven results as targets."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learning_toys import ToyEvaluator
from run_toys import Silent, assert_same_run, games_of, tiny
from scipy import stats
from solver_toys import best_result

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.learning import loop
from hauteur.learning.context import Run
from hauteur.learning.loop import learn
from hauteur.learning.options.archive import LATER, Archive, Archived
from hauteur.learning.options.reanalyse import Reanalysed
from hauteur.learning.planned import game_plans, planned_reanalysis
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.sections import ArchiveSettings, ReanalyseSettings, SelfPlaySettings
from hauteur.learning.steps import selfplay
from hauteur.matches.arena import GameRules, Layout, play_games
from hauteur.matches.openings import opening_state
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Dirichlet, SearchParams, Solver, Temperature
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayoutCap
from hauteur.system.seeds import stream

GAME = load_game("connect4(columns=5,rows=4)")


def played(game: _core.Game, plans: list[GamePlan], *, solver: bool = False) -> list[GameRecord]:
    """Games of a toy player; a part of their moves is not learned from."""
    search = SearchParams(dirichlet=Dirichlet(), solver=Solver(lookahead=1) if solver else None)
    cap = PlayoutCap(full_share=0.7, fast_visits=5)
    warm = Temperature(initial=1.0)
    player = SearchPlayer("toy", ToyEvaluator(game), search, 80 if solver else 20, warm, playout_cap=cap)
    found = play_games(game, [player], plans, seed=3, purpose="t", layout=Layout(8, 8), rules=GameRules(max_plies=16))
    return sorted(found, key=lambda one: one.plan.index)


RECORDS = played(GAME, [GamePlan(index, start=(2, 2, 1)[: index % 4]) for index in range(30)])
GAMES = Games.of(RECORDS, generation=1)
SOLVED = played(GAME, [GamePlan(index) for index in range(30)], solver=True)


def value_of(record: GameRecord, move: int) -> float:
    win, _, loss = record.root_wdl[move].tolist()
    return float(win - loss)


def weight_of(kind: str, record: GameRecord, move: int) -> float:
    """The weight of a position, game by game and move by move."""
    sign = 1 if record.movers[move] == 0 else -1
    value = value_of(record, move)
    result = sign * record.outcome
    if kind == "regret":
        return abs(value - result)
    if kind == "change":
        later = move + LATER
        if later >= len(record.actions):
            return abs(value - result)
        return abs(value - sign * value_of(record, later) * (1 if record.movers[later] == 0 else -1))
    return 1.0 if kind == "uniform" else float(record.surprise[move])


@pytest.mark.parametrize(
    ("kind", "power"), [("uniform", 1), ("regret", 1), ("regret", 2), ("surprise", 1), ("change", 1)]
)
def test_starts_are_drawn_by_their_weights(kind: Any, power: float) -> None:
    expected = Counter[tuple[int, ...]]()
    for record in RECORDS:
        for move in np.flatnonzero(record.learn).tolist():
            expected[(*record.plan.start, *record.actions[:move].tolist())] += weight_of(kind, record, move) ** power
    archived = Archived(ArchiveSettings(share=0.8, weight=kind, power=power), GAMES)
    count = 10_000
    plans = [archived.plan(index, stream(1, "archive", index)) for index in range(count)]
    starts = [plan.start for plan in plans if plan is not None]
    assert len(starts) == pytest.approx(0.8 * count, abs=4 * (0.16 * count) ** 0.5)
    found = Counter(starts)
    assert found.keys() <= expected.keys(), "only positions that were learned from, with all that came before"
    assert all(opening_state(GAME, GamePlan(0, start=start)).outcome() is None for start in found)
    total = sum(expected.values())
    shares = np.array([expected[start] * len(starts) / total for start in expected])
    counts = np.array([found[start] for start in expected])
    rare = shares < 5
    if rare.any():
        shares, counts = (np.append(one[~rare], one[rare].sum()) for one in (shares, counts))
    assert stats.chisquare(counts, shares).pvalue > 1e-3
    if kind != "uniform":
        assert counts.std() > 1.2 * np.sqrt(counts.mean()), "the test would see even draws"


def test_the_archive_has_games_that_are_over_when_a_generation_may_begin() -> None:
    archive = Archive(ArchiveSettings(window_games=40), lag=1)
    for generation in range(1, 6):
        assert (archive.before(generation) is None) is (generation <= 2)
        archive.add(generation, replace(GAMES, generation=np.full_like(GAMES.generation, generation)))
        for later in (generation + 1, generation + 2):
            if (found := archive.before(later)) is not None:
                window = [one for one in range(1, later - 1) for _ in range(30)][-40:]
                assert found.games.generation.tolist() == window


def test_games_that_do_not_begin_in_the_archive_are_those_without_one() -> None:
    settings = SelfPlaySettings(games=200, opening_plies=4)
    plain = list(game_plans(GAME, settings, generation=2, seed=1))
    archived = Archived(ArchiveSettings(share=0.5, weight="regret"), GAMES)
    mixed = list(game_plans(GAME, settings, generation=2, seed=1, archive=archived))
    assert 60 < sum(one == other for one, other in zip(plain, mixed, strict=True)) < 140
    assert list(game_plans(GAME, settings, generation=2, seed=1, archive=archived)) == mixed
    never = Archived(ArchiveSettings(share=0.0), GAMES)
    assert list(game_plans(GAME, settings, generation=2, seed=1, archive=never)) == plain


def test_chess_goes_on_with_its_past_and_its_origin() -> None:
    chess = load_game("chess")
    origin = load_game("chess(fen=4k3/8/8/8/8/8/4P3/4K3 w - - 0 1)").new_initial_state()
    first = Games.of(played(chess, [GamePlan(0), GamePlan(1, origin=origin)]), generation=1)
    archived = Archived(ArchiveSettings(share=1.0), first)
    plans = [archived.plan(index, stream(2, "archive", index)) for index in range(8)]
    again = [plan for plan in plans if plan is not None]
    buffer = ReplayBuffer(chess, 100)
    records = played(chess, again)
    buffer.add(records)
    assert {plan.origin_spec for plan in again} == {None, origin.game.spec}
    features = buffer.samples_of(np.arange(buffer.positions)).features
    row = 0
    for record in records:
        state = opening_state(chess, record.plan)
        assert state.moves[-len(record.plan.start) :] == list(record.plan.start) or not record.plan.start
        for move, action in enumerate(record.actions.tolist()):
            if record.learn[move]:
                np.testing.assert_array_equal(features[row], state.features())
                row += 1
            state.apply(action)
    assert row == buffer.positions, "what came before a start is not learned from"


def test_positions_searched_again_have_the_new_targets_and_others_their_own() -> None:
    settings = SelfPlaySettings(visits=20)
    again = ReanalyseSettings(share=0.3)
    window = Games.join([GAMES, replace(GAMES, generation=GAMES.generation + 1)])
    moves, planned = planned_reanalysis(GAME, settings, again, window, generation=2, net=0, seed=1)
    old = np.flatnonzero(GAMES.learn)
    assert len(moves) == round(0.3 * len(old))
    assert set(moves) <= set(old), "those of the generation itself are new"
    player = SearchPlayer("new", ToyEvaluator(GAME, salt=7), SearchParams(), 20, Temperature())
    rules = GameRules(max_moves=1)
    games = play_games(GAME, [player], planned.plans, seed=1, purpose="t", layout=Layout(1, 4), rules=rules)
    found = list(games)
    assert {len(record.actions) for record in found} == {1}
    buffer, plain = (ReplayBuffer(GAME, 1000, surprise_weight=0.5) for _ in range(2))
    for one in (buffer, plain):
        one.append(window)
    buffer.retarget(moves, Games.of(found))
    learned = np.flatnonzero(window.learn)
    samples, before = (one.samples_of(np.arange(len(learned)), root_value_share=0.5) for one in (buffer, plain))
    np.testing.assert_array_equal(samples.features, before.features)
    is_new = np.isin(learned, moves)
    for name in ("policy", "wdl"):
        np.testing.assert_array_equal(getattr(samples, name)[~is_new], getattr(before, name)[~is_new])
    searched = ReplayBuffer(GAME, 1000)
    searched.append(Games.of(found))
    alone = searched.samples_of(np.arange(len(found)), root_value_share=1.0)
    np.testing.assert_array_equal(samples.policy[is_new], alone.policy)
    np.testing.assert_array_equal(samples.features[is_new], alone.features)
    own = plain.samples_of(np.arange(len(learned))).wdl[is_new]
    np.testing.assert_allclose(samples.wdl[is_new], (own + alone.wdl) / 2, atol=1e-6)
    assert buffer.games is not None
    assert buffer.games.surprise[moves].tolist() == [record.surprise[0] for record in found]


def marked(records: list[GameRecord]) -> list[GameRecord]:
    return [replace(one, learn=np.asarray(one.learn | one.proven << 1, np.uint8)) for one in records]


def test_proven_results_are_those_of_best_play() -> None:
    known: dict[tuple[int, bytes], int] = {}
    count = 0
    for record in SOLVED:
        state = opening_state(GAME, record.plan)
        for action, proven in zip(record.actions.tolist(), record.proven.tolist(), strict=True):
            if proven:
                assert proven - 2 == best_result(state, known)
                count += 1
            state.apply(action)
    assert count > 30


@pytest.mark.parametrize("kind", ["off", "position", "earlier"])
def test_value_targets_are_proven_results(kind: Any) -> None:
    buffer = ReplayBuffer(GAME, 100, proven=kind)
    share = 0.25
    buffer.add(marked(SOLVED))
    targets = buffer.samples_of(np.arange(buffer.positions), root_value_share=share).wdl
    row = 0
    changed = 0
    for record in SOLVED:
        for move in range(len(record.actions)):
            result = record.outcome
            ahead = [at for at in range(move, len(record.actions)) if record.proven[at]]
            if kind != "off" and ahead and (ahead[0] == move or kind == "earlier"):
                result = (int(record.proven[ahead[0]]) - 2) * (1 if record.movers[ahead[0]] == 0 else -1)
            if not record.learn[move]:
                continue
            wdl = np.eye(3)[1 - result * (1 if record.movers[move] == 0 else -1)]
            if kind == "off" or not record.proven[move]:
                wdl = (1 - share) * wdl + share * record.root_wdl[move]
            np.testing.assert_allclose(targets[row], wdl, atol=1e-6)
            row = row + 1
            changed = changed + (result != record.outcome)
    assert row == buffer.positions
    assert (changed > 0) is (kind != "off"), "some games have mistakes after a proof"


def test_settings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"proven_targets needs \[selfplay.search.solver\]"):
        tiny(train={"proven_targets": "position"})
    search = {"solver": {}, "search_contempt": {"n_scl": 3, "proofs_respect_contempt": True}}
    with pytest.raises(ValueError, match="proven_targets needs exact proofs"):
        tiny(train={"proven_targets": "earlier"}, selfplay={"search": search})


def again_recipe(generations: int) -> Recipe:
    """All methods together, in a small window that generations leave."""
    return tiny(
        selfplay={"archive": {"weight": "regret", "window_games": 20}, "search": {"solver": {}}, "max_policy_lag": 1},
        train={
            "reanalyse": {"share": 0.4},
            "proven_targets": "earlier",
            "window_games": 20,
            "schedule": "constant",
            "root_value_share": 0.5,
            "surprise_weight": 0.5,
        },
        run={"generations": generations},
    )


LAST = 5


@pytest.fixture(scope="module")
def through(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("again") / "run"
    learn(again_recipe(LAST), folder=folder, display=Silent())
    return folder


def test_a_run_uses_its_games_again(through: Path) -> None:
    rows = games_of(through)
    archived = 0
    for row in rows:
        before = [one["start"] + one["actions"] for one in rows if one["generation"] < row["generation"] - 1]
        if row["start"] and row["start"] in [line[: len(row["start"])] for line in before]:
            archived += row["generation"] > 2
        else:
            assert len(row["start"]) <= 2, "an opening of random plies"
    assert archived > 10
    for line in RunFolder(through).read_metrics():
        first = line["generation"] == 1
        assert (line["reanalyse"]["positions"] == 0) is first
        assert (line["reanalyse"]["evaluations"] == 0) is first
        assert line["cost"]["evaluations"] == line["selfplay"]["evaluations"] + line["reanalyse"]["evaluations"]
        assert line["games"]["positions"] == sum(
            len(row["actions"]) for row in rows if row["generation"] == line["generation"]
        )
    assert sorted(path.name[:9] for path in (through / "reanalysed").iterdir()) == [
        f"gen-{generation:05d}" for generation in range(2, LAST + 1)
    ]


@pytest.mark.parametrize(
    ("place", "name"),
    [(selfplay, "read_games"), (Reanalysed, "reanalyse"), (loop, "train"), (loop, "gate")],
)
def test_a_resumed_run_ends_the_same(
    through: Path, tmp_path: Path, place: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: Any = getattr(place, name)
    ends = [2, 4, 5]

    def interrupted(*given: Any) -> Any:
        (run,) = (one for one in given if isinstance(one, Run))
        if ends and run.state.generation == ends[0]:
            raise KeyboardInterrupt
        return taken(*given)

    monkeypatch.setattr(place, name, interrupted)
    while ends:
        with pytest.raises(KeyboardInterrupt):
            learn(again_recipe(LAST), folder=tmp_path / "run", display=Silent())
        ends.pop(0)
    learn(again_recipe(LAST), folder=tmp_path / "run", display=Silent())
    assert_same_run(tmp_path / "run", through)


def test_lost_files_are_made_again(through: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    display = Silent()
    shutil.copytree(through, folder)
    lost = [folder / "reanalysed/gen-00005-0000.parquet", folder / "games/gen-00002-0001.parquet"]
    before = [path.read_bytes() for path in lost]
    for path in lost:
        path.unlink()
    learn(again_recipe(LAST + 1), folder=folder, display=display)
    learn(again_recipe(LAST + 1), folder=tmp_path / "other", display=Silent())
    assert [path.read_bytes() for path in lost] == before
    assert len(display.warnings) == 2
    assert_same_run(folder, tmp_path / "other")


def test_a_resumed_run_reads_the_windows_that_positions_were_drawn_from(tmp_path: Path) -> None:
    def recipe(generations: int) -> Recipe:
        train = {"reanalyse": {"share": 0.4}, "window_games": 20, "schedule": "constant"}
        return tiny(train=train, run={"generations": generations})

    display = Silent()
    learn(recipe(6), folder=tmp_path / "through", display=display)
    learn(recipe(5), folder=tmp_path / "run", display=display)
    for path in (tmp_path / "run/games").glob("gen-0000[12]-*"):
        path.unlink()
    learn(recipe(6), folder=tmp_path / "run", display=display)
    assert display.warnings == []
    for name in ("reanalysed/gen-00006-0000.parquet", "nets/gen-00006.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "through" / name).read_bytes()
