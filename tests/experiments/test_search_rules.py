"""The MCTS experiments: what was published, what is played here, verdicts, and a small experiment to the end."""

import csv
from pathlib import Path

import pytest

from hauteur.cli.main import main
from hauteur.matches.ratings.elo import MatchScore, likelihood_of_superiority
from hauteur.matches.results import MatchGame, Tally
from hauteur.players.settings import parse_player, player_text
from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.matches import MatchSpec, PlayedMatch
from hauteur_experiments.mcts_experiments.published_matches import RULES, SOLVER, TREE_BALANCE, Published
from hauteur_experiments.mcts_experiments.search_rules import MeasuredMatch, claim_of, planned
from hauteur_experiments.registry import find

PUBLISHED = {
    "variance-scaling 0.01": (6.95, 87.67),
    "tree 1.5/1.5/0.01": (31.35, 100.0),
    "tree 1.4/2.0/0.1": (5.37, 77.84),
    "tree 1.1/2.0/0.3": (6.95, 89.26),
    "tree 1.07/2.0/0.2": (8.69, 94.42),
    "tree 1.3/1.5/0.01": (4.86, 76.85),
    "certainty-prop, version 2": (10.08, 94.40),
    "certainty-prop alone, version 1": (3.06, 87.63),
    "auto-extend alone": (1.70, 73.83),
    "policy-compression 0.06": (14.46, 99.46),
    "don't trust, all n": (-12.17, 3.05),
    "don't trust, n < 3": (0.35, 52.12),
    "don't trust, n < 2": (-22.96, 0.02),
    "FPU 0": (-114.45, 0.0),
    "FPU 1.1": (-509.68, 0.0),
    "FPU -parent_v": (-15.65, 2.96),
    "cpuct 1.2 v 3.0": (75.10, 100.0),
    "validation: CP, AE, gamma 0.75": (30.55, 100.0),
}
"""Elo and likelihood of superiority as the source prints them."""

EVERY = [published for rule in RULES for trial in rule.trials for published in trial.repeats]


@pytest.mark.parametrize("published", EVERY, ids=str)
def test_the_published_numbers_agree_with_their_counts(published: Published) -> None:
    if published.record is None:
        assert published.setting == "beta 0.49"
        return
    assert published.record.games == published.games
    if published.setting == "gamma 0.75":
        expected = {100: (24.60, 100.0), 800: (-4.52, 25.04)}[published.visits or 0]
    else:
        expected = PUBLISHED[published.setting]
    assert published.elo == pytest.approx(expected[0], abs=0.02)  # the source rounds the score first
    assert 100 * likelihood_of_superiority(published.record) == pytest.approx(expected[1], abs=0.01)


def test_every_published_match_is_repeated() -> None:
    assert {published.setting for published in EVERY} == {*PUBLISHED, "beta 0.49", "gamma 0.75"}


def test_an_interval_may_come_from_the_superiority() -> None:
    low, high = Published("beta", 800, 1000, None, 4.17, 0.724).interval or (0.0, 0.0)
    assert (round(low), round(high)) == (-10, 18)
    assert Published("beta", 100, 10_000, None, 45.0, 1.0).interval is None


def test_trials_are_players_and_have_names_of_their_own() -> None:
    for rule in RULES:
        assert len({trial.name for trial in rule.trials}) == len(rule.trials)
        for trial in rule.trials:
            assert parse_player(trial.a) != parse_player(trial.b)
            assert trial.repeats or trial.shows


def test_controls_have_the_exploration_of_an_average_move() -> None:
    """The fork's factor for a move with the mean number of replies is (1 / scale)^left."""
    by_name = {trial.name: parse_player(trial.a).search for trial in TREE_BALANCE.trials}
    for name in ("1.5", "1.4", "1.1", "1.07", "1.3"):
        rule, control = by_name[f"balance-{name}"].tree_balance, by_name[f"control-{name}"].cpuct
        assert rule is not None
        assert control.init / 1.745 == pytest.approx(rule.scale**-rule.left, rel=0.011)


def test_matches_of_the_sources_visits_and_of_others(tmp_path: Path) -> None:
    setting = ExperimentSetting(tmp_path, game="connect4", scale=0.01)
    own = [spec for _, _, spec in planned(SOLVER, setting)]
    assert [spec.name for spec in own] == ["solver-800", "certainty-100", "auto-extend-100"]
    assert [spec.games for spec in own] == [10, 100, 100]
    other = [spec for _, _, spec in planned(SOLVER, ExperimentSetting(tmp_path, game="connect4", visits=50))]
    assert [spec.name for spec in other] == ["solver", "certainty", "auto-extend"]
    assert {(spec.a.visits, spec.b.visits) for spec in other} == {(50, 50)}


def test_a_net_is_no_part_of_the_words(tmp_path: Path) -> None:
    """The folder of a match knows players by these words, so that one that was begun by hand goes on."""
    _, _, spec = next(planned(TREE_BALANCE, ExperimentSetting(tmp_path, game="connect4", visits=100)))
    words = "search.tree_balance.mode=legacy search.tree_balance.scale=1.5 search.tree_balance.left=1.5"
    assert player_text(spec.a, without=("net", "visits")) == f"{words} search.tree_balance.right=0.01"
    assert player_text(spec.b, without=("net",)) == ""


def measured(score: float, games: int = 400) -> MeasuredMatch:
    """A match with this score, half of its games drawn."""
    tally, won = Tally(paired=True), round(games * (score - 0.25))
    points = [1.0] * won + [0.5] * (games // 2) + [0.0] * (games - games // 2 - won)
    for index in range(games):
        seat = "first" if index % 2 == 0 else "second"
        tally.add(MatchGame(index=index, a=seat, score=points[index * 7 % games], end="x", plies=9))  # type: ignore[arg-type]
    spec = MatchSpec("m", parse_player("random"), parse_player("random"), games)
    return MeasuredMatch(TREE_BALANCE.trials[0], 100, (), PlayedMatch(spec, tally, []))


GAIN = Published("gain", 800, 1000, MatchScore(212, 666, 122))
NOTHING = Published("nothing", 800, 10_000, MatchScore(1780, 6450, 1770))
LOSS = Published("loss", 800, 1000, MatchScore(122, 666, 212))


@pytest.mark.parametrize(
    ("published", "score", "games", "expected"),
    [
        (GAIN, 0.6, 401, "holds"),
        (GAIN, 0.6, 199, "open"),
        (GAIN, 0.505, 401, "open"),
        (GAIN, 0.4, 401, "does not hold"),
        (LOSS, 0.4, 401, "holds"),
        (LOSS, 0.6, 401, "does not hold"),
        (NOTHING, 0.5, 401, "open"),  # not known well enough
        (NOTHING, 0.5, 1601, "holds"),
        (NOTHING, 0.52, 1601, "holds"),  # outside of the source's interval, and within both
        (NOTHING, 0.6, 401, "does not hold"),
    ],
)
def test_verdicts_of_a_published_match(published: Published, score: float, games: int, expected: str) -> None:
    assert claim_of(published, measured(score, games), None, cells=1).verdict == expected


def test_half_of_the_published_difference_can_be_excluded() -> None:
    claim = claim_of(GAIN, measured(0.5, 4001), None, cells=1)
    assert claim.verdict == "no such effect"
    assert "(what matters: 15.7)" in claim.text


@pytest.mark.parametrize(("control", "expected"), [(0.5, "holds"), (0.59, "open"), (0.7, "does not hold")])
def test_a_gain_counts_beyond_its_control(control: float, expected: str) -> None:
    claim = claim_of(GAIN, measured(0.6, 401), measured(control, 401), cells=1)
    assert claim.verdict == expected
    assert "beyond the control" in claim.text


def test_more_cells_need_more() -> None:
    assert claim_of(GAIN, measured(0.55, 1601), None, cells=1).verdict == "holds"
    assert claim_of(GAIN, measured(0.55, 1601), None, cells=1000).verdict == "open"


def run(folder: Path, *more: str) -> int:
    options = ["--game", "connect4", "--visits", "4", "--scale", "0.004", "--threads", "1", "--out", str(folder)]
    return main(["experiment", "fpu", *options, *more])


def test_an_experiment_to_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "--only", "zero") == 0
    told = capsys.readouterr().out
    assert "paper:    FPU 0, visits not stated, 1,000 games: +125 =432 -443, Elo -114 [-131, -98]" in told
    assert "every-move-first" not in told
    assert run(tmp_path) == 0
    assert "reduction-0.33: the reduction of today" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "result.csv").open()))
    assert [row["match"] for row in rows] == ["zero", "every-move-first", "parent-value", "reduction-0.33"]
    assert {row["games"] for row in rows} == {"4"}
    assert [row["paper_games"] for row in rows] == ["1000", "1000", "1000", ""]
    assert (tmp_path / "fpu.csv").exists()


def test_a_match_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "out", "--only", "nil") == 2
    message = capsys.readouterr().err
    assert "--only nil: this experiment has no such match; it has zero, every-move-first" in message
    assert not (tmp_path / "out").exists()


def test_the_same_folder_is_not_used_for_other_visits(tmp_path: Path) -> None:
    setting = ExperimentSetting(
        tmp_path, game="connect4", visits=2, scale=0.001, seeds=1, threads=1, show=lambda line: None
    )
    make_experiment(find("cpuct"), setting)
    with pytest.raises(ValueError, match="visits was 2 and is now 3"):
        make_experiment(find("cpuct"), ExperimentSetting(tmp_path, game="connect4", visits=3, scale=0.001, seeds=1))
