"""Experiments with two nets: budgets, the ladder, and each experiment small from beginning to end and again."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.learning.recipe import NetworkSettings, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.trainers import architecture_for
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.rating_list import Encounter
from hauteur.matches.results import MatchGame, Tally
from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.shapes import resnet_shapes
from hauteur.players.settings import PlayerSettings, player_text
from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.mpv_mcts import allocation, az_pairs, midsize, nets, runs, training
from hauteur_experiments.mpv_mcts.pairs import BUDGETS, SHARES, Pair, alone, net_cost, turns
from hauteur_experiments.mpv_mcts.points import (
    LEAST_GAMES,
    Elo,
    all_ahead,
    budgets_of,
    contrast,
    elo_of,
    games_of,
    mean_rating,
    pooled,
    rating_of,
)
from hauteur_experiments.player_pool import RUNGS, Ladder, PlayerPool, field_seconds
from hauteur_experiments.registry import find

GAME = "nogo(size=3)"
SIZES = {"small": (4, 1), "large": (8, 2), "middle": (8, 1)}


def toy_net(path: Path, size: tuple[int, int], salt: int = 0, game: str = GAME) -> Path:
    """A net of random weights; its cost is that of its size."""
    rules, random = load_game(game), np.random.default_rng(salt)
    shape = NetworkSettings(filters=size[0], blocks=size[1], policy_channels=2, value_channels=1, value_hidden=4)
    architecture = architecture_for(rules, shape)
    assert isinstance(architecture, ResNetArchitecture)
    tensors = {
        name: (np.ones(of) if name.endswith("running_var") else random.normal(size=of) * 0.3).astype(np.float32)
        for name, of in resnet_shapes(architecture).items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    networks.save(path, architecture, tensors, game=rules.spec)
    return path


@pytest.fixture
def toys(tmp_path: Path) -> tuple[Path, ...]:
    """A small net, a large one of eight times its cost, and one between."""
    return tuple(toy_net(tmp_path / f"{name}.safetensors", size) for name, size in SIZES.items())


def setting(folder: Path, *nets: Path, **changes: object) -> ExperimentSetting:
    """Two games a match, one thread, one fixed opponent."""
    values = {"scale": 0.002, "seeds": 1, "threads": 1, "parallel": 4, "opponent": "random", "show": lambda line: None}
    return ExperimentSetting(folder, nets=nets, **(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("budget", "share", "wanted"),
    [
        (200, 0.5, (800, 100)),
        (800, 0.5, (3200, 400)),
        (1600, 0.5, (6400, 800)),
        (800, 0.25, (4800, 200)),
        (100, 0.0, (800, 0)),
        (100, 1.0, (0, 100)),
    ],
)
def test_the_papers_budgets(budget: int, share: float, wanted: tuple[int, int]) -> None:
    assert turns(budget, share, 1 / 8) == wanted


@given(st.integers(4, 5000), st.sampled_from(SHARES), st.floats(0.01, 0.99))
def test_turns_cost_the_budget(budget: int, share: float, cost: float) -> None:
    """b_L = r B and b_S = (1 - r) B / cost, to the half turn that rounding leaves."""
    small, large = turns(budget, share, cost)
    assert abs(large - share * budget) <= 0.5
    assert abs(small - (1 - share) * budget / cost) <= 0.5 + 1e-6
    assert abs(small * cost + large - budget) <= (1 + cost) / 2 + 1e-6


@pytest.mark.parametrize(("budget", "share", "cost"), [(1, 0.25, 0.125), (0, 0.5, 0.1), (8, 1.5, 0.1), (8, 0.5, 0.0)])
def test_budgets_that_cannot_be_are_refused(budget: float, share: float, cost: float) -> None:
    with pytest.raises(ValueError, match=r"too small for a share|must be above 0"):
        turns(budget, share, cost)


def test_a_pair_knows_its_cost_and_players(toys: tuple[Path, ...]) -> None:
    small, large, middle = toys
    pair = Pair(small, large)
    assert pair.cost == pytest.approx(1 / 8)
    assert pair.game == GAME
    assert net_cost(middle) / net_cost(large) == pytest.approx(1 / 2)
    both = pair.player(16, 0.5)
    assert (both.net, both.large_net, both.visits) == (str(small), str(large), 64)
    assert both.search.second_net is not None
    assert (both.search.second_net.small_visits, both.search.second_net.large_visits) == (64, 8)
    assert player_text(pair.player(16, 0)) == player_text(alone(small, 128))
    assert player_text(pair.player(16, 1)) == player_text(alone(large, 16))


def test_nets_that_are_no_pair_are_refused(toys: tuple[Path, ...], tmp_path: Path) -> None:
    small, large, _ = toys
    with pytest.raises(ValueError, match="the small net comes first"):
        Pair(large, small)
    with pytest.raises(ValueError, match="a pair plays one game"):
        Pair(small, toy_net(tmp_path / "other.safetensors", (8, 2), game="nogo(size=4)"))
    with pytest.raises(ValueError, match="--net SMALL --net LARGE, got 3"):
        nets.pair_of(toys)
    with pytest.raises(ValueError, match=r"is for nogo\(size=3\), not for nogo\(size=4\)"):
        nets.game_of(setting(tmp_path, small, game="nogo(size=4)"))


def test_sizes_at_scale(tmp_path: Path) -> None:
    full = ExperimentSetting(tmp_path)
    assert budgets_of(full, BUDGETS) == [100, 200, 400, 800, 1600]
    assert budgets_of(replace(full, visits=64), BUDGETS) == [4, 8, 16, 32, 64]
    assert (games_of(full, 1000), games_of(replace(full, scale=0.001), 1000)) == (1000, 2)
    assert budgets_of(replace(full, visits=32), BUDGETS) == [4, 8, 16, 32]
    with pytest.raises(ValueError, match="--visits is the largest budget, at least 4, got 3"):
        budgets_of(replace(full, visits=3), BUDGETS)


class Judge(PlayerPool):
    """A field in which a player scores against a rung what a table says; nothing is played."""

    scores: Callable[[int], float]

    def meet(self, a: str, b: str, games: int | None = None) -> Tally:
        """The table's score, in a hundred games."""
        tally = Tally(paired=False)
        wins = round(100 * self.scores(int(b.removeprefix("rave"))))
        for index in range(100):
            game = MatchGame(index=index, a="first", score=float(index < wins), end="no legal move", plies=9)
            tally.add(game)
        self.tallies[a, b] = tally
        return tally


@pytest.mark.parametrize(
    ("strength", "begin", "wanted"),
    [(1000, 0, 800), (1000, 14, 800), (1200, 3, 1600), (1, 5, 50), (10**9, 5, 800_000), (6000, -3, 6400)],
)
def test_the_ladder_is_climbed_to_where_the_score_is_a_half(
    tmp_path: Path, strength: float, begin: int, wanted: int
) -> None:
    field = Judge(setting(tmp_path, opponent=None), "nogo", 24, 2)
    field.scores = lambda rung: 1 / (1 + rung / strength)
    field.enter("a", PlayerSettings(baseline="random"))
    ladder = Ladder(field)
    assert ladder.near("a", begin) == f"rave{wanted}"
    assert ladder.zero == f"rave{wanted}"
    ladder.used = {RUNGS.index(800), RUNGS.index(3200)}
    field.tallies.clear()
    ladder.link()
    assert list(field.tallies) == [("rave1600", "rave800"), ("rave3200", "rave1600")]


def test_ratings_and_their_means() -> None:
    found = rating_list(
        [Encounter("a", "zero", MatchScore(75, 0, 25)), Encounter("b", "zero", MatchScore(50, 0, 50))],
        anchors={"zero": 0.0},
    )
    a, mean, ahead = rating_of(found, "a"), mean_rating(found, ["a", "b"]), contrast(found, ["a"], ["b"])
    assert 150 < a.value < 200
    assert a.low < a.value < a.high
    assert mean.value == pytest.approx(a.value / 2, abs=1)
    assert mean.high - mean.low < a.high - a.low < ahead.high - ahead.low


def tally_of(results: str) -> Tally:
    """Pairs of games: + won, - lost."""
    tally = Tally(paired=True)
    for index, sign in enumerate(results):
        tally.add(
            MatchGame(index=index, a=("first", "second")[index % 2], score=float(sign == "+"), end="no move", plies=9)
        )
    return tally


def test_matches_are_counted_together() -> None:
    one, other = tally_of("++-+"), tally_of("--+-+-")
    whole = elo_of(tally_of("++-+--+-+-"))
    assert pooled([one, other]) == whole


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ([(2, 18), (3, 9)], "holds"),
        ([(2, 18), (-3, 21)], "open"),
        ([(2, 18), (-3, 9)], "no such effect"),  # less than 15 Elo
        ([(2, 18), (-17, -3)], "does not hold"),
        ([(2, 18), (-17, -0.5)], "no such effect"),  # refuted at 95 %, not at the level of one of two
    ],
)
def test_a_pair_is_ahead_where_it_is_ahead_of_all(ends: list[tuple[float, float]], verdict: str) -> None:
    elos = {f"of {number}": Elo((low + high) / 2, low, high) for number, (low, high) in enumerate(ends)}
    assert all_ahead(elos, LEAST_GAMES).verdict == verdict
    assert all_ahead(elos, LEAST_GAMES - 1).verdict == "open"


def test_elo_keeps_its_interval_in_a_claim() -> None:
    measured = Elo(9, 1, 17).measured(400)
    assert (measured.value, measured.units) == (9, 400)
    assert measured.interval(0.95) == pytest.approx((1, 17))
    assert measured.interval(0.5)[0] > 1


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "result.csv").open() as file:
        return list(csv.DictReader(file))


def make_twice(name: str, made: ExperimentSetting) -> list[dict[str, str]]:
    """Makes an experiment, and again: nothing is played the second time, and the results are the same."""
    make_experiment(find(name), made)
    games = {path: path.stat().st_mtime_ns for path in made.folder.rglob("games.jsonl")}
    before = (made.folder / "result.csv").read_bytes()
    make_experiment(find(name), made)
    assert {path: path.stat().st_mtime_ns for path in made.folder.rglob("games.jsonl")} == games
    assert (made.folder / "result.csv").read_bytes() == before
    assert json.loads((made.folder / "result.json").read_text())["facts"]["zero"] == "opponent"
    return rows_of(made.folder)


def test_allocation_from_beginning_to_end(
    toys: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allocation, "BUDGETS", (4,))
    monkeypatch.setattr(allocation, "SHARES", (0.0, 0.5, 1.0))
    monkeypatch.setattr(allocation, "MIXED", (0.5,))
    rows = make_twice("mpv-allocation", setting(tmp_path / "out", *toys[:2], visits=4))
    assert [(row["share"], row["small_turns"], row["large_turns"]) for row in rows] == [
        ("0.0", "32", "0"),
        ("0.5", "16", "2"),
        ("1.0", "0", "4"),
    ]
    assert (tmp_path / "out/b4-r50-vs-b4-r0/games.jsonl").exists()
    assert (tmp_path / "out/mpv-allocation.csv").exists()
    with pytest.raises(ValueError, match="name another folder"):
        make_experiment(find("mpv-allocation"), setting(tmp_path / "out", *toys[:2], visits=8))


def test_midsize_from_beginning_to_end(toys: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(midsize, "BUDGETS", (4,))
    rows = make_twice("mpv-midsize", setting(tmp_path / "out", *toys, visits=4))
    assert [row["player"] for row in rows] == ["f4,1 + f8,2", "f8,1"]
    played = json.loads((tmp_path / "out/b4-mpv-vs-b4-mid1/result.json").read_text())["settings"]
    assert played["b"].startswith("visits=8 ")
    with pytest.raises(ValueError, match="got 2 nets"):
        midsize.MidsizeNets(toys[:2])


def toy_run(folder: Path, *, two: bool, generations: int = 4, units: float = 100.0) -> Path:
    """The folder of a learning run, with nets of random weights and metrics that tell the budget."""
    nets = {"filters": SIZES["small"][0], "blocks": 1} if two else {"filters": 8, "blocks": 2}
    values: dict[str, object] = {"game": GAME, "network": nets}
    if two:
        rule = {"small_visits": 8, "large_visits": 1}
        values |= {"large": {"filters": 8, "blocks": 2}, "selfplay": {"search": {"second_net": rule}}}
    run = RunFolder(folder)
    run.create(parse_recipe(values, "toy"))
    history = [{"generation": n, "cost": {"normalised_total": n * units}} for n in range(1, generations + 1)]
    run.write_metrics(history)
    for generation in range(1, generations + 1):
        toy_net(run.net(generation), SIZES["small" if two else "large"], generation)
        if two:
            toy_net(run.net(generation, large=True), SIZES["large"], generation)
    return folder


def test_pairs_of_runs_from_beginning_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(az_pairs, "BUDGETS", (4,))
    monkeypatch.setattr(az_pairs, "even_stages", lambda last: runs.even_stages(last, 1))
    two, one = toy_run(tmp_path / "two", two=True), toy_run(tmp_path / "one", two=False, generations=5)
    rows = make_twice("mpv-az-pairs", setting(tmp_path / "out", two, one, visits=4))
    assert [(row["generation"], row["player"]) for row in rows] == [
        ("4", player) for player in az_pairs.PLAYERS.values()
    ]
    same = az_pairs.stages_of([RunFolder(two)])
    assert same[0].pair.large == RunFolder(two).net(4, large=True)
    with pytest.raises(ValueError, match="needs one or two runs"):
        az_pairs.stages_of([RunFolder(one)] * 3)


def test_training_from_beginning_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "BUDGETS", (4,))
    monkeypatch.setattr(training, "STAGES", 2)
    two = toy_run(tmp_path / "two", two=True, units=110)
    one = toy_run(tmp_path / "one", two=False, units=100)
    rows = make_twice("mpv-training", setting(tmp_path / "out", one, two, visits=4))
    assert [(row["run"], row["spent"], row["generation"], row["two_nets"]) for row in rows] == [
        ("one", "200.0", "2", "False"),
        ("two", "200.0", "2", "True"),
        ("one", "400.0", "4", "False"),
        ("two", "400.0", "4", "True"),
    ]
    with pytest.raises(ValueError, match=r"runs with one net and with two.*got 2 and 0"):
        training.named([RunFolder(one), RunFolder(toy_run(tmp_path / "other", two=False))])
    with pytest.raises(ValueError, match="is not the folder of a run"):
        runs.learned_runs(setting(tmp_path / "no", tmp_path / "two/nets"), training.PLANS)


@pytest.mark.parametrize("last", [1, 3, 8, 14, 40])
def test_stages_are_spread_and_end_with_the_last(last: int) -> None:
    found = runs.even_stages(last)
    assert found[-1] == last
    assert len(found) == min(last, 8)
    assert max(np.diff([0, *found])) <= np.ceil(last / 8)


def test_nets_are_learned_from_the_teachers_games(tmp_path: Path) -> None:
    teacher = replace(nets.PAPER_TEACHER, epochs=1)
    made = setting(tmp_path, game=GAME, visits=8, scale=0.00005)
    assert teacher.match(made).games == 10
    assert teacher.match(made).a.baseline == "rave:250"
    assert replace(teacher, budget=None).match(made).a.baseline == "rave:50000"
    small, large = nets.supervised_nets(made, ((4, 1), (8, 2)), teacher)
    assert Pair(small, large).cost == pytest.approx(1 / 8)
    facts = RunFolder(small.parent).read_start()
    assert facts is not None
    assert facts["start"]["games"] + facts["start"]["held_out_games"] == 10
    again = nets.supervised_nets(made, ((4, 1), (8, 2)), teacher)
    assert [net.read_bytes() for net in again] == [small.read_bytes(), large.read_bytes()]


def test_runs_are_learned_as_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "GENERATIONS", 1)
    monkeypatch.setattr(runs, "SMALL", (4, 1))
    monkeypatch.setattr(runs, "LARGE", (8, 2))
    made = setting(tmp_path, game=GAME, visits=8, scale=1e-6)
    one, two = runs.learned_runs(made, (training.PLANS[0], training.PLANS[-1]))
    assert (runs.has_two_nets(one), runs.has_two_nets(two)) == (False, True)
    rule = two.stored_recipe().selfplay.search.second_net
    assert rule is not None
    assert (rule.small_visits, rule.large_visits, one.stored_recipe().selfplay.visits) == (8, 1, 2)
    assert runs.large_net(two, 1) == two.net(1, large=True)
    assert runs.units_by_generation(one)[0] > 0


def test_the_papers_runs_have_equal_normalised_budgets(tmp_path: Path) -> None:
    recipes = {plan.name: plan.recipe(ExperimentSetting(tmp_path)) for plan in training.PLANS}
    for recipe in recipes.values():
        rule = recipe.selfplay.search.second_net
        units = recipe.selfplay.visits / 8 + rule.large_visits if rule else recipe.selfplay.visits
        assert recipe.selfplay.games * recipe.run.generations * units == 2_000_000 * 200
        assert recipe.train.window_games == 100_000
        assert (recipe.selfplay.search.cpuct.init, recipe.selfplay.search.cpuct.factor) == (1.5, 0.0)


@pytest.mark.parametrize("name", ["mpv-allocation", "mpv-training"])
def test_durations_are_estimated_before_anything_is_learned(name: str, tmp_path: Path) -> None:
    small = setting(tmp_path / "small", game=GAME, visits=64, scale=0.001)
    assert find(name).estimate(small, 1.0) > 0
    assert not (tmp_path / "small").exists()


def test_the_ladders_simulations_take_time(tmp_path: Path) -> None:
    field = PlayerPool(setting(tmp_path), GAME, 10, 2)
    a, b = (field.enter(f"rave{n}", PlayerSettings(baseline=f"rave:{n}")) for n in (1000, 2000))
    plies, seconds = 0.85 * 9, field_seconds(field.setting, [field.spec(a, b)])
    assert seconds == pytest.approx(10 * plies / 2 * 3000 / 120_000)
