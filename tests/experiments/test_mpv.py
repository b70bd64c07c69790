"""The experiments of two nets in one tree: players, noise, the ladder, the regime map, small ones to the end."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment_toys import played, setting

import hauteur as ht
from hauteur.networks.names import data_path
from hauteur_experiments.experiment import make_experiment
from hauteur_experiments.mpv_mcts import figures, regime_map, regime_result
from hauteur_experiments.mpv_mcts.noisy import noisy_net
from hauteur_experiments.mpv_mcts.pairs import Pair, Teacher, net_cost, network_values, pair_of, turns
from hauteur_experiments.mpv_mcts.regime_map import RegimeCell, RegimePoint, RegimeStage
from hauteur_experiments.registry import find

GAME = "nogo(size=3)"


def small_net(folder: Path, size: tuple[int, int]) -> Path:
    """A new net for NoGo 3x3."""
    heads = network_values(size)
    heads.pop("value_hidden")
    path = folder / f"f{size[0]}-{size[1]}.safetensors"
    ht.Trainer(ht.load_game(GAME), ht.ResNet(**heads)).save(path)
    return path


@pytest.fixture
def nets(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A small, a large and a net between."""
    small, large, between = (small_net(tmp_path, size) for size in ((4, 1), (8, 2), (6, 2)))
    return small, large, between


def test_a_budget_is_divided_by_cost(nets: tuple[Path, Path, Path]) -> None:
    assert (turns(100, 0.5, 1 / 8), turns(100, 0.0, 1 / 8), turns(100, 1.0, 1 / 8)) == ((400, 50), (800, 0), (0, 100))
    with pytest.raises(ValueError, match="too small for a share"):
        turns(1, 0.25, 1 / 8)
    small, large, _ = nets
    pair = pair_of([small, large])
    assert pair.cost == net_cost(small) / net_cost(large) == (4 / 8) ** 2 / 2
    player = ht.Player.from_text(pair.player(16, 0.5, 0.25))
    rule = player.search.second_net
    assert rule is not None
    assert (player.visits, rule.small_visits, rule.large_visits, rule.alpha) == (64, 64, 8, 0.25)
    assert (player.search.cpuct.init, player.search.reuse_tree) == (1.5, False)
    assert ht.Player.from_text(pair.player(16, 1.0)).net == str(large)
    with pytest.raises(ValueError, match="the small net comes first"):
        pair_of([large, small])
    with pytest.raises(ValueError, match="needs two nets, --net SMALL --net LARGE, got 1"):
        pair_of([small])


def test_figures_2_and_3_with_given_nets(nets: tuple[Path, Path, Path], tmp_path: Path) -> None:
    small = {"visits": 16, "scale": 0.002, "opponent": "random"}
    two = make_experiment(find("mpv-allocation"), setting(tmp_path / "two", nets=nets[:2], **small))
    assert {row["player"] for row in two.rows} == set(figures.NAMES.values())
    assert [one.key for one in two.findings] == ["divisions", "averages", "duels"]
    assert {one.verdict for one in two.findings} == {"open"}
    three = make_experiment(find("mpv-midsize"), setting(tmp_path / "three", nets=nets, **small))
    assert {row["player"] for row in three.rows} == {figures.BOTH, "f6,2 (1)"}
    again = make_experiment(find("mpv-allocation"), setting(tmp_path / "two", nets=nets[:2], **small))
    assert again.rows == two.rows


def test_figures_4_and_5_learn_their_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "GENERATIONS", 2)
    monkeypatch.setattr(figures, "SMALL", (4, 1))
    monkeypatch.setattr(figures, "LARGE", (8, 1))
    small = {"game": GAME, "visits": 8, "scale": 0.000003, "opponent": "random"}
    result = make_experiment(find("mpv-training"), setting(tmp_path / "t", **small))
    assert {row["player"] for row in result.rows} == {
        *(f"alone-{n}" for n in (200, 400, 800)),
        "two-800-100 (two nets)",
    }
    runs = tuple(tmp_path / "t/runs" / name for name in ("alone-200", "two-800-100"))
    pairs = make_experiment(find("mpv-az-pairs"), setting(tmp_path / "p", nets=runs[1:], **{**small, "game": None}))
    assert {row["generation"] for row in pairs.rows} == {1, 2}
    same = (runs[0], _copy(runs[0]))
    with pytest.raises(ValueError, match="got 2 and 0"):
        make_experiment(find("mpv-training"), setting(tmp_path / "x", nets=same, **{**small, "game": None}))
    with pytest.raises(ValueError, match="not the folder of a learning run"):
        make_experiment(find("mpv-az-pairs"), setting(tmp_path / "y", nets=(tmp_path,), visits=8, scale=0.01))


def _copy(run: Path) -> Path:
    import shutil

    shutil.copytree(run, run.with_name("other"))
    return run.with_name("other")


def test_the_teacher_plays_as_in_the_paper(tmp_path: Path) -> None:
    match = Teacher().match(setting(tmp_path, visits=None, game=GAME))
    assert (match.games, match.a, match.colours) == (200_000, "rave:50000", "first")
    assert Teacher().match(setting(tmp_path, visits=16, game=GAME)).a == "rave:500"


# -- the regime map ----------------------------------------------------------------------------------------------------


def test_noise_is_the_same_for_a_seed_and_grows_with_sigma(tmp_path: Path) -> None:
    clean, large = ht.load_network("tictactoe").tensors, data_path("tictactoe.safetensors")

    def noise(sigma: float, seed: int) -> dict[str, np.ndarray]:
        tensors = ht.load_network(noisy_net(large, tmp_path, sigma, seed)).tensors
        return {name: tensor - clean[name] for name, tensor in tensors.items()}

    weak, strong, other = noise(0.1, 1), noise(0.2, 1), noise(0.1, 2)
    for name, tensor in clean.items():
        assert np.allclose(2 * weak[name], strong[name], atol=1e-5)
        assert bool(weak[name].any()) == (tensor.ndim >= 2)
        if tensor.size > 400:
            assert weak[name].std() == pytest.approx(0.1 * clean[name].std(), rel=0.2)
            assert not np.allclose(weak[name], other[name])
    with pytest.raises(ValueError, match="sigma must be 0 to 10"):
        noisy_net(large, tmp_path, 11.0, 1)


def tally(elo: float, games: int = 400) -> ht.Tally:
    """A match of won and lost games with about this Elo difference."""
    wins, order = round(games / (1 + 10 ** (-elo / 400))), np.random.default_rng(1).permutation(games)
    return played([float(place < wins) for place in order], paired=True).tally


@pytest.fixture
def pair() -> Pair:
    large = data_path("tictactoe.safetensors")
    return Pair(large, large, 1 / 8)


def point(pair: Pair, gap: float, *, budget: int = 16, sigma: float = 0.2, games: int = 400) -> RegimePoint:
    return RegimePoint(RegimeCell(f"noise-{sigma:g}", pair, budget, sigma), tally(gap, games))


def test_cells_are_chosen_in_the_band_and_on_either_side_of_it(pair: Pair) -> None:
    points = [point(pair, gap) for gap in (-400, -150, -70, -30, 10, 110, 300)]
    assert regime_map.level_point(points) is points[3]
    assert regime_map.level_point([points[0], points[6]]) is None
    assert regime_map.outside_points(points) == [points[1], points[5]]
    assert regime_map.outside_points(points[2:5]) == []  # their intervals reach into the band
    assert [regime_map.is_near(one) for one in points] == [False, True, True, True, True, True, False]
    assert regime_map.is_near(point(pair, -300, games=4))  # too few games to leave a cell


class Law(RegimeStage):
    """A stage in which strength follows from sigma; nothing is played, and what would be is written down."""

    played: list[tuple[str, int]]
    strength: Callable[[float], float]

    def level(self, cell: RegimeCell, games: int) -> ht.Tally:
        self.played.append((cell.name, games))
        assert cell.sigma is not None
        return tally(self.strength(cell.sigma), games)

    def over(self, cell: RegimeCell, share: float, games: int) -> ht.Tally:
        self.played.append((f"{cell.name} {share:g}", games))
        return tally(0.0, games)


def test_the_map_turns_the_dial_until_a_cell_is_in_the_band(pair: Pair, tmp_path: Path) -> None:
    stage = Law("tune", setting(tmp_path))
    object.__setattr__(stage, "played", [])
    object.__setattr__(stage, "strength", lambda sigma: 400 - 2000 * sigma)

    def dial(sigma: float, budget: int) -> RegimeCell:
        return RegimeCell(f"noise-{sigma:g}", pair, budget, sigma)

    points = regime_map.tuned_map(stage, [dial(0.0, 16), dial(0.15, 16), dial(0.35, 16)], dial)
    assert points[3].cell.sigma == pytest.approx(0.215, abs=0.01)
    assert regime_map.level_points(points) == [points[3]]
    games = dict(stage.played)
    assert games["b16-noise-0"] == games["b16-noise-0.35"] == 100  # far: the first games alone
    assert games[points[3].cell.name] == 400
    assert (
        len([name for name in games if name.startswith(f"{points[3].cell.name} ")]) == 2
    )  # the pair against both nets


def fresh(pair: Pair, over_small: float, over_large: float, budget: int = 16, games: int = 1600) -> RegimePoint:
    found = point(pair, -30, budget=budget)
    return replace(found, over_small=tally(over_small, games), over_large=tally(over_large, games))


def verdicts(levels: list[RegimePoint], *outside: regime_map.OutsideTest) -> list[str]:
    return [finding.verdict for finding in regime_result.findings(levels, levels, outside, "a test")]


def test_verdicts_of_the_map(pair: Pair) -> None:
    assert verdicts([fresh(pair, 60, 40)])[0] == "holds"
    assert verdicts([fresh(pair, 60, 2)])[0] == "no such effect"  # below half of the published 55 Elo
    assert verdicts([fresh(pair, 60, -40)])[0] == "does not hold"
    assert verdicts([fresh(pair, 60, 40, games=398)])[0] == "open"
    assert verdicts([]) == ["open"] * 3
    assert verdicts([fresh(pair, 10, 10, 16), fresh(pair, 70, 60, 256)])[-1] == "holds"
    far = regime_map.OutsideTest(point(pair, -200), tally(-80))
    assert verdicts([], far)[1] == "holds"


def test_small_maps_to_the_end(nets: tuple[Path, Path, Path], tmp_path: Path) -> None:
    small = {"scale": 0.002, "seeds": 2, "visits": 8}
    noise = make_experiment(find("mpv-regime"), setting(tmp_path / "n", game="tictactoe", cost=2.0, **small))
    assert {row["seeds"] for row in noise.rows} >= {"tuning"}
    assert [one.key for one in noise.findings][-2:] == ["not-outside", "more-budget"]
    real = make_experiment(find("mpv-regime-nets"), setting(tmp_path / "r", nets=(nets[0], nets[1]), cost=4.0, **small))
    assert {row["small"] for row in real.rows} == {"f4-1"}
    with pytest.raises(ValueError, match="needs --seeds 2 or more"):
        make_experiment(find("mpv-regime"), setting(tmp_path / "x", game="tictactoe", visits=8))
