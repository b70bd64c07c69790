"""The experiments of two nets in one tree: players, opponents, the regime map, small ones to the end."""

from pathlib import Path

import numpy as np
import pytest
from experiment_toys import played, setting

import hauteur as ht
from hauteur.networks.names import data_path
from hauteur_experiments import learned as learned_runs
from hauteur_experiments.experiment import make_experiment
from hauteur_experiments.measured import MatchElo, contrast
from hauteur_experiments.mpv_mcts import figures, options, places, regime
from hauteur_experiments.mpv_mcts.pairs import Pair, net_cost, pair_of, turns
from hauteur_experiments.mpv_mcts.places import Place, PlaceTable
from hauteur_experiments.mpv_mcts.regime import RegimeCell, RegimePoint
from hauteur_experiments.registry import find

GAME = "nogo(size=3)"


def network_values(filters: int, blocks: int) -> dict[str, int | str]:
    """A small tower with two heads, as a section of a recipe."""
    return {"filters": filters, "blocks": blocks, "policy_channels": 2, "value_channels": 1, "value": "scalar"}


def small_net(folder: Path, size: tuple[int, int]) -> Path:
    """A new net for NoGo 3x3."""
    path = folder / f"f{size[0]}-{size[1]}.safetensors"
    ht.Trainer(ht.load_game(GAME), ht.ResNet.model_validate(network_values(*size))).save(path)
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
    player = ht.Player.from_text(pair.player(16, 0.5))
    rule = player.search.second_net
    assert rule is not None
    assert (player.visits, rule.small_visits, rule.large_visits, rule.alpha) == (64, 64, 8, 0.5)
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
    assert [one.key for one in two.findings] == ["divisions", "halves", "averages", "duels"]
    assert {one.verdict for one in two.findings} == {"open"}
    three = make_experiment(find("mpv-midsize"), setting(tmp_path / "three", nets=nets, **small))
    assert {row["player"] for row in three.rows} == {figures.BOTH, "f6,2 (1)"}
    changes = make_experiment(find("mpv-options"), setting(tmp_path / "options", nets=nets, visits=16, scale=0.002))
    assert [row["change"] for row in changes.rows] == [claim.key for claim in find("mpv-options").claims]
    shown = {options.OWN_PUCT: elo(-40), "mini": elo(2), "large-first": elo(5), "parent-bonus": elo(-60)}
    assert {one.verdict for one in options.findings(shown)} == {"holds"}
    assert options.findings({"mini": elo(60)})[0].verdict == "does not hold"
    again = make_experiment(find("mpv-allocation"), setting(tmp_path / "two", nets=nets[:2], **small))
    assert again.rows == two.rows


def learned(folder: Path, search: dict[str, object], generations: int = 2, /, **sections: object) -> Path:
    """A run of a few generations of NoGo 3x3."""
    selfplay = {"games": 4, "visits": 4, "search": search}
    train = {"window_games": 8, "batch_size": 8, "samples_per_position": 1.0}
    values = {"game": GAME, "selfplay": selfplay, "train": train, "gate": {"by": "off"}, **sections}
    return ht.learn(
        ht.Recipe.model_validate({**values, "run": {"generations": generations, "threads": 1}}), out=folder
    ).folder


def test_figures_4_and_5_of_given_runs(tmp_path: Path) -> None:
    one = learned(tmp_path / "one", {}, network=network_values(8, 1))
    short = learned(tmp_path / "short", {}, 1, network=network_values(8, 1))
    nets = {"network": network_values(4, 1), "large": network_values(8, 1)}
    two = learned(tmp_path / "two", {"second_net": {"small_visits": 4, "large_visits": 1}}, **nets)
    small = {"visits": 8, "scale": 0.002, "opponent": "random"}
    result = make_experiment(find("mpv-training"), setting(tmp_path / "t", nets=(one, short, two), **small))
    alone = [row["player"] for row in result.rows if row["player"] not in (figures.BOTH, figures.SMALL_ALONE)]
    assert {name.partition(",")[0] for name in alone} == {"one", "short", "two (two nets)"}
    assert [one.key for one in result.findings] == ["together", "worth", "own-small"]
    assert {row["budget"] for row in result.rows} == {8}
    pairs = make_experiment(find("mpv-az-pairs"), setting(tmp_path / "p", nets=(two,), **small))
    assert {row["generation"] for row in pairs.rows} == {1, 2}
    assert [one.key for one in pairs.findings] == ["stages", "duels"]
    for name, given, message in (
        ("mpv-training", (one,), "got 1 and 0"),
        ("mpv-training", (one, one), "must have different names"),
        ("mpv-az-pairs", (tmp_path,), "not the folder of a learning run"),
        ("mpv-az-pairs", (), "needs folders of learning runs"),
    ):
        with pytest.raises(ValueError, match=message):
            make_experiment(find(name), setting(tmp_path / "x", nets=given, **small))


def test_runs_of_equal_names_are_told_apart_by_the_folders_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned_runs, "metrics_of", lambda path: [{}])
    paths = (tmp_path / "seed-1" / "contempt", tmp_path / "seed-2" / "contempt")
    found = learned_runs.runs_of(setting(tmp_path / "x", nets=paths))
    assert found == {"seed-1-contempt": paths[0], "seed-2-contempt": paths[1]}


def test_the_opponent_of_a_place_is_near_its_first_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "RUNGS", (2, 4, 8, 16))
    monkeypatch.setattr(places, "PAPER_RUNG", 2)
    players = {"strong": "mcts:400", "weak": "random"}
    table = PlaceTable(
        setting(tmp_path, scale=0.03), "tictactoe", [Place("p", "1", 1.0, players)], [("strong", "weak")]
    )
    table.play()
    assert int(table.opponents["p"].removeprefix("mcts:")) >= 8
    strong, weak = (table.elo(table.places[0], name) for name in players)
    assert strong.units == weak.units == 30
    assert table.lead(["strong"], ["weak"]).value == pytest.approx(strong.value - weak.value)
    assert table.duel("strong", "weak").value > 0
    assert [row["player"] for row in table.rows()] == list(players)


# -- where the pair beats both nets ------------------------------------------------------------------------------------


def elo(value: float, games: int = 1600) -> MatchElo:
    """A match of won and lost games with about this Elo difference."""
    wins = round(games / (1 + 10 ** (-value / 400)))
    order = np.random.default_rng(1).permutation(games)
    return MatchElo(played([float(place < wins) for place in order], paired=True).tally)


@pytest.fixture
def pair() -> Pair:
    large = data_path("tictactoe.safetensors")
    return Pair(large, large, 1 / 8)


def point(pair: Pair, gap: float, *over: float, budget: int = 16, games: int = 1600) -> RegimePoint:
    """A cell where S is this much above L; over: Elo of the pair over S and over L."""
    names = (regime.OVER_SMALL, regime.OVER_LARGE)
    tested = {name: elo(value, games) for name, value in zip(names, over, strict=False)}
    return RegimePoint(RegimeCell("s", pair, budget), {regime.LEVEL: elo(gap, 400), **tested})


def test_cells_are_chosen_in_the_band_and_on_either_side_of_it(pair: Pair) -> None:
    points = [point(pair, gap) for gap in (-400, -150, -70, -30, 10, 110, 300)]
    assert regime.level_points(points) == [points[3]]
    assert regime.level_points([points[0], points[6]]) == []
    assert regime.outside_points(points) == [points[1], points[5]]
    assert regime.outside_points(points[2:5]) == []  # their intervals reach into the band
    others = [point(pair, gap, budget=64) for gap in (-20, -150)]
    assert regime.level_points([*points, *others]) == [points[3], others[0]]
    assert regime.outside_points([*points, *others]) == [points[1], points[5], others[1]]


def verdicts(levels: list[RegimePoint], *outside: RegimePoint) -> list[str]:
    return [finding.verdict for finding in regime.findings(levels, levels, outside)]


def test_verdicts_of_the_map(pair: Pair) -> None:
    assert verdicts([point(pair, -30, 60, 40)])[0] == "holds"
    assert verdicts([point(pair, -30, 60, 2)])[0] == "no such effect"  # below half of the published 55 Elo
    assert verdicts([point(pair, -30, 60, -40)])[0] == "does not hold"
    assert verdicts([point(pair, -30, 60, 40, games=398)])[0] == "open"
    assert verdicts([]) == ["open"] * 3
    levels = [point(pair, -30, 10, 10), point(pair, -30, 70, 60, budget=256)]
    assert verdicts(levels)[-1] == "holds"
    assert levels[1].lead.value == pytest.approx(65, abs=1)
    assert verdicts([], point(pair, -200, 0, -80))[1] == "holds"
    assert contrast((1, elo(40)), (-1, elo(30))).value == pytest.approx(10, abs=1)


def test_a_small_map_to_the_end(nets: tuple[Path, Path, Path], tmp_path: Path) -> None:
    small = {"scale": 0.002, "nets": nets[:2], "visits": 8}
    found = make_experiment(find("mpv-regime-nets"), setting(tmp_path / "r", cost=4.0, seeds=2, **small))
    assert {row["small"] for row in found.rows} == {"f4-1"}
    assert [one.key for one in found.findings][-2:] == ["not-outside", "more-budget"]
    assert [row["cost"] for row in found.rows] == [0.25]
    by_size = regime.cells_of(setting(tmp_path, nets=nets[:2], visits=8))
    assert [cell.pair.cost for cell in by_size] == [net_cost(nets[0]) / net_cost(nets[1])]
    for changes, message in (({"visits": 4}, "largest budget, at least 8, got 4"), ({"nets": nets[:1]}, "got 1")):
        with pytest.raises(ValueError, match=message):
            make_experiment(find("mpv-regime-nets"), setting(tmp_path / "x", cost=4.0, **{**small, **changes}))
