"""The regime map of two nets: the dial, the choice of cells on one seed, their test on others, and its claims."""

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
from hauteur.matches.results import MatchGame, Tally
from hauteur.networks.names import data_path
from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.mpv_mcts import regime, regime_cells, regime_nets, regime_play, regime_result
from hauteur_experiments.mpv_mcts.noisy import noisy_net
from hauteur_experiments.mpv_mcts.pairs import Pair
from hauteur_experiments.mpv_mcts.regime_cells import (
    HALVES,
    MIDDLE,
    Division,
    RegimeCell,
    RegimePoint,
    is_near,
    level_point,
    outside_points,
    sigma_between,
)
from hauteur_experiments.mpv_mcts.regime_play import OutsideTest, RegimeStage, tuned_map
from hauteur_experiments.registry import find

GAME = "tictactoe"


@pytest.fixture
def large() -> Path:
    """A real net of a small game."""
    return data_path("tictactoe.safetensors")


def setting(folder: Path, *nets: Path, **changes: object) -> ExperimentSetting:
    """Two games a match, three seeds, the budget 8 alone."""
    values = {"scale": 0.002, "seeds": 3, "threads": 1, "parallel": 4, "visits": 8, "show": lambda line: None}
    return ExperimentSetting(folder, nets=nets, **(values | changes))  # type: ignore[arg-type]


# The dial


def test_noise_is_the_same_for_a_seed_and_grows_with_sigma(large: Path, tmp_path: Path) -> None:
    def noise(sigma: float, seed: int, folder: str) -> dict[str, np.ndarray]:
        path = noisy_net(large, tmp_path / folder, sigma, seed)
        return {name: tensor - clean[name] for name, tensor in networks.load(path).tensors.items()}

    clean = networks.load(large).tensors
    weak, strong, other = noise(0.1, 1, "a"), noise(0.2, 1, "a"), noise(0.1, 2, "a")
    assert (
        noisy_net(large, tmp_path / "a", 0.1, 1).read_bytes() == noisy_net(large, tmp_path / "b", 0.1, 1).read_bytes()
    )
    for name, tensor in clean.items():
        assert np.allclose(2 * weak[name], strong[name], atol=1e-5)
        if tensor.ndim < 2:
            assert not weak[name].any()
        else:
            assert not np.allclose(weak[name], other[name])
    weights = [name for name, tensor in clean.items() if tensor.size > 400]
    assert weights
    for name in weights:
        assert weak[name].std() == pytest.approx(0.1 * clean[name].std(), rel=0.2)
    assert not any(tensor.any() for tensor in noise(0.0, 1, "a").values())
    facts = networks.describe(tmp_path / "a" / "noise-0.1-seed-1.safetensors").training
    assert (facts["noise_sigma"], facts["noise_seed"]) == (0.1, 1)


@pytest.mark.parametrize("sigma", [-0.1, 11.0, float("nan"), float("inf")])
def test_noise_beyond_its_range_is_refused(large: Path, tmp_path: Path, sigma: float) -> None:
    with pytest.raises(ValueError, match="sigma must be 0 to 10"):
        noisy_net(large, tmp_path, sigma, 1)
    assert not list(tmp_path.glob("noise*"))


# The choice


def tally(elo: float, games: int = 400) -> Tally:
    """A match of won and lost games with about this Elo difference."""
    found = Tally(paired=True)
    wins = round(games / (1 + 10 ** (-elo / 400)))
    order = np.random.default_rng(1).permutation(games)
    for index in range(games):
        seat = ("first", "second")[index % 2]
        found.add(MatchGame(index=index, a=seat, score=float(order[index] < wins), end="no legal move", plies=9))  # type: ignore[arg-type]
    return found


@pytest.fixture
def pair(large: Path) -> Pair:
    return Pair(large, large, 1 / 8)


def point(pair: Pair, gap: float, *, budget: int = 16, sigma: float = 0.2, games: int = 400) -> RegimePoint:
    return RegimePoint(RegimeCell(f"noise-{sigma:g}", pair, budget, sigma), tally(gap, games))


def test_the_cell_nearest_to_the_middle_of_the_band_is_chosen(pair: Pair) -> None:
    points = [point(pair, gap) for gap in (-200, -55, -35, -5, 90)]
    chosen = level_point(points)
    assert chosen is points[2]
    assert level_point([points[0], points[4]]) is None
    assert level_point([]) is None


def test_cells_outside_of_the_band_are_chosen_on_either_side(pair: Pair) -> None:
    points = [point(pair, gap) for gap in (-400, -150, -70, -30, 10, 110, 300)]
    assert outside_points(points) == [points[1], points[5]]
    assert outside_points(points[2:5]) == []  # their intervals reach into the band
    assert [is_near(one) for one in points] == [False, True, True, True, True, True, False]
    assert is_near(point(pair, -300, games=4))  # too few games to leave a cell


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(-150, 150)), min_size=2, max_size=6, unique_by=lambda x: x[0])
)
def test_sigma_is_sought_between_the_cells_around_the_band(rows: list[tuple[int, int]]) -> None:
    class Place:
        def __init__(self, sigma: float, gap: float) -> None:
            self.cell, self.gap = type("C", (), {"sigma": sigma})(), type("G", (), {"value": gap})()

    points = [Place(sigma / 100, float(gap)) for sigma, gap in rows]
    found = sigma_between(points)  # type: ignore[arg-type]
    gaps = [gap for _, gap in sorted(rows)]
    if found is not None:
        assert min(rows)[0] / 100 < found < max(rows)[0] / 100
        assert found not in [sigma / 100 for sigma, _ in rows] or len(rows) > 2
    elif min(gaps) > MIDDLE or max(gaps) < MIDDLE:
        assert all(gap > MIDDLE for gap in gaps) or all(gap < MIDDLE for gap in gaps)


class Law(RegimeStage):
    """A stage in which strength follows from sigma; nothing is played, and what would be is written down."""

    played: list[tuple[str, int]]
    strength: Callable[[float], float]

    def level(self, cell: RegimeCell, games: int) -> Tally:
        self.played.append((cell.name, games))
        assert cell.sigma is not None
        return tally(self.strength(cell.sigma), games)

    def over(self, cell: RegimeCell, share: float, games: int, division: Division = HALVES) -> Tally:
        self.played.append((f"{cell.name} {division.name} {share:g}", games))
        return tally(0.0, games)


def test_the_map_turns_the_dial_until_a_cell_is_in_the_band(pair: Pair, tmp_path: Path) -> None:
    stage = Law("tune", setting(tmp_path, scale=1.0))
    object.__setattr__(stage, "played", [])
    object.__setattr__(stage, "strength", lambda sigma: 400 - 2000 * sigma)

    def dial(sigma: float, budget: int) -> RegimeCell:
        return RegimeCell(f"noise-{sigma:g}", pair, budget, sigma)

    points = tuned_map(stage, [dial(0.0, 16), dial(0.15, 16), dial(0.35, 16)], dial)
    sigmas = [one.cell.sigma for one in points]
    assert len(sigmas) == 4
    assert sigmas[3] == pytest.approx(0.215, abs=0.01)
    assert regime_play.level_points(points) == [points[3]]
    games = dict(stage.played)
    assert games["b16-noise-0"] == games["b16-noise-0.35"] == 100  # far: the first games alone
    assert games[points[3].cell.name] == 400
    assert games["b16-noise-0.35 r50-a50 1"] == 100
    assert len([name for name in games if name.startswith(f"{points[3].cell.name} ")]) == 10  # five divisions, two nets


# The claims


def fresh(pair: Pair, over_small: float, over_large: float, budget: int = 16, games: int = 1600) -> RegimePoint:
    found = point(pair, -30, budget=budget)
    return replace(found, over_small={HALVES: tally(over_small, games)}, over_large={HALVES: tally(over_large, games)})


def verdicts(levels: list[RegimePoint], outside: list[OutsideTest]) -> list[str]:
    return [finding.verdict for finding in regime_result.findings(levels, levels, outside, "a test")]


def test_the_pair_beats_both_only_where_it_beats_both(pair: Pair) -> None:
    assert verdicts([fresh(pair, 60, 40)], [])[0] == "holds"
    assert verdicts([fresh(pair, 60, 14)], [])[0] == "open"
    assert verdicts([fresh(pair, 60, 2)], [])[0] == "no such effect"  # below half of the published 55 Elo
    assert verdicts([fresh(pair, 60, -40)], [])[0] == "does not hold"
    assert verdicts([fresh(pair, 60, 40, games=398)], [])[0] == "open"
    assert verdicts([], [])[0] == "open"


def test_more_budget_compares_the_ends(pair: Pair) -> None:
    few, many = fresh(pair, 10, 10, 16), fresh(pair, 70, 60, 256)
    assert verdicts([few, fresh(pair, 0, 0, 64), many], [])[-1] == "holds"
    assert verdicts([replace(many, cell=few.cell), replace(few, cell=many.cell)], [])[-1] == "does not hold"
    assert verdicts([few], [])[-1] == "open"


def test_outside_the_pair_must_be_below_the_better_net_everywhere(pair: Pair) -> None:
    def tests(*elos: float) -> list[OutsideTest]:
        gaps = (-150.0, 120.0)
        return [OutsideTest(point(pair, gap), tally(elo)) for gap, elo in zip(gaps, elos, strict=True)]

    assert verdicts([], tests(-80, -80))[1] == "holds"
    assert verdicts([], tests(-80, 80))[1] == "does not hold"
    assert verdicts([], tests(-80, -5))[1] == "open"
    assert verdicts([], [])[1] == "open"


# From beginning to end


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "result.csv").open() as file:
        return list(csv.DictReader(file))


def make_twice(name: str, made: ExperimentSetting) -> list[dict[str, str]]:
    """Make it, and again: nothing is played or written anew, and the results are the same."""
    make_experiment(find(name), made)
    kept = [
        *made.folder.rglob("games.jsonl"),
        *made.folder.glob("nets/*.safetensors"),
        *made.folder.glob("speeds.json"),
    ]
    times = {path: path.stat().st_mtime_ns for path in kept}
    before = (made.folder / "result.csv").read_bytes()
    make_experiment(find(name), made)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert len(list(made.folder.rglob("games.jsonl"))) == len([path for path in kept if path.name == "games.jsonl"])
    assert (made.folder / "result.csv").read_bytes() == before
    return rows_of(made.folder)


def seeds_of(folder: Path, prefix: str) -> set[int]:
    matches = [path for path in folder.glob("*/match.json") if path.parent.name.startswith(prefix)]
    return {json.loads(path.read_text())["settings"]["seed"] for path in matches}


def test_cells_are_chosen_on_one_seed_and_tested_on_others(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regime, "SIGMAS", (0.2, 0.5))
    monkeypatch.setattr(regime_cells, "BAND", (-2000.0, 2000.0))
    monkeypatch.setattr(regime_play, "VARIANTS", (Division(share=0.25),))
    monkeypatch.setattr(regime_play, "outside_points", lambda points: list(points)[:1])
    made = setting(tmp_path / "out", large, game=GAME, first_seed=5, cost=4.0)
    rows = make_twice("mpv-regime", made)
    assert seeds_of(made.folder, "tune-") == {5}
    assert seeds_of(made.folder, "test-") == {6, 7}
    assert [row["seeds"] for row in rows] == ["tuning"] * 3 + ["test"] * 2
    assert {row["cost"] for row in rows} == {"0.25"}
    assert {(row["small_turns"], row["large_turns"]) for row in rows if row["share"] == "0.5"} == {("16", "4")}
    tested_row = rows[3]
    assert (tested_row["s_l_games"], tested_row["pair_s_games"]) == ("4", "4")  # two a seed
    assert {path.name for path in (made.folder / "nets").iterdir()} == {
        "noise-0.2-seed-5.safetensors",
        "noise-0.5-seed-5.safetensors",
    }
    assert (made.folder / "mpv-regime.csv").exists()
    with pytest.raises(ValueError, match="name another folder"):
        make_experiment(find("mpv-regime"), replace(made, cost=8.0))


def test_real_nets_keep_the_costs_that_were_measured(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, other = (noisy_net(large, tmp_path, sigma, 1) for sigma in (0.3, 0.5))
    monkeypatch.setattr(regime_play, "VARIANTS", ())
    speeds = iter([4000.0, 2000.0, 1000.0] * 2 + [1.0] * 30)
    monkeypatch.setattr(regime_nets, "speed_of", lambda setting, net: next(speeds))
    made = setting(tmp_path / "out", small, other, large, seeds=2)
    rows = make_twice("mpv-regime-nets", made)
    assert {(row["small"], row["cost"]) for row in rows} == {("noise-0.3-seed-1", "0.25"), ("noise-0.5-seed-1", "0.5")}
    text = json.loads((made.folder / "result.json").read_text())["texts"][1]
    assert "S and L are level where an evaluation of L costs so many of S" in text
    assert [one.name for one in made.folder.glob("tune-*-s-vs-half")]


@pytest.mark.slow
def test_nets_of_several_sizes_are_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (regime, regime_nets):
        monkeypatch.setattr(module, "SMALL_SIZES", ((4, 1), (4, 2)))
    monkeypatch.setattr(regime, "LARGE_SIZE", (8, 2))
    monkeypatch.setattr(regime, "TEACHER", replace(regime_nets.TEACHER, simulations=20, games=4000, epochs=1))
    rows = make_twice("mpv-regime-nets", setting(tmp_path / "out", game="nogo(size=3)", seeds=2, cost=4.0))
    assert {row["small"] for row in rows} == {"f4-1", "f4-2"}


def test_what_cannot_be_is_refused(large: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--seeds 2 or more"):
        make_experiment(find("mpv-regime"), setting(tmp_path / "out", large, game=GAME, seeds=1))
    with pytest.raises(ValueError, match="at least 8, got 7"):
        make_experiment(find("mpv-regime"), setting(tmp_path / "out", large, game=GAME, visits=7))
    with pytest.raises(ValueError, match=r"needs two nets or more, --net SMALL \.\.\. --net LARGE, got 1"):
        make_experiment(find("mpv-regime-nets"), setting(tmp_path / "out", large))
    with pytest.raises(ValueError, match="mpv-allocation takes no --cost"):
        make_experiment(find("mpv-allocation"), setting(tmp_path / "out", large, large, seeds=1, cost=8.0))
    with pytest.raises(ValueError, match="cost must be above 1 and at most 10,000, got 1"):
        setting(tmp_path, cost=1.0)
    assert not (tmp_path / "out").exists()


def test_budgets_are_quarters(tmp_path: Path) -> None:
    found = [regime.budgets(setting(tmp_path, visits=visits)) for visits in (None, 64, 32, 8)]
    assert found == [[16, 64, 256], [16, 64], [8, 32], [8]]


@given(st.floats(2, 64), st.floats(-150, 150), st.floats(10, 100))
def test_the_cost_at_which_both_nets_are_level(cost: float, gap: float, doubling: float) -> None:
    """A doubling's Elo more of S needs half as costly a large net; at the middle of the band nothing changes."""
    assert regime_nets.level_cost(cost, MIDDLE, doubling) == pytest.approx(cost)
    found = regime_nets.level_cost(cost, gap, doubling)
    assert regime_nets.level_cost(cost, gap + doubling, doubling) == pytest.approx(found / 2)
    assert (found > cost) == (gap < MIDDLE) or gap == pytest.approx(MIDDLE)


def test_nets_of_one_name_are_told_apart(tmp_path: Path) -> None:
    nets = [tmp_path / "a" / "gen-1.safetensors", tmp_path / "b" / "gen-1.safetensors", tmp_path / "x.safetensors"]
    assert regime_nets.labels_of(setting(tmp_path, *nets), nets) == ["gen-1-1", "gen-1-2", "x"]
