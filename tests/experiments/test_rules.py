"""The MCTS experiments and the table of rules by game: what was published, verdicts, small ones to the end."""

from pathlib import Path

import pytest
from experiment_toys import played, setting, spread

import hauteur as ht
from hauteur.matches.ratings.elo import MatchScore, likelihood_of_superiority
from hauteur_experiments.experiment import make_experiment
from hauteur_experiments.mcts_experiments import by_exact_play, by_game, tactics
from hauteur_experiments.mcts_experiments.by_game import CELLS, DEFAULT, GAMES, TABLE_RULES, Base, TableCell
from hauteur_experiments.mcts_experiments.rules import (
    FORK,
    RULES,
    SOLVER,
    TREE_BALANCE,
    Published,
    at_the_forks,
    claim_of,
    planned,
)
from hauteur_experiments.measured import MatchElo, Record
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


@pytest.mark.parametrize("published", [one for one in EVERY if one.record], ids=str)
def test_the_published_numbers_agree_with_their_counts(published: Published) -> None:
    assert published.record is not None
    assert published.record.games == published.games
    gamma = {100: (24.60, 100.0), 800: (-4.52, 25.04)}.get(published.visits or 0, (0.0, 0.0))
    expected = PUBLISHED.get(published.setting, gamma)
    assert published.elo == pytest.approx(expected[0], abs=0.02)  # the source rounds the score first
    superiority = likelihood_of_superiority(MatchScore(*published.record))
    assert 100 * superiority == pytest.approx(expected[1], abs=0.01)


def test_a_rule_at_the_constants_of_the_source() -> None:
    assert at_the_forks("q-average=on") == f"{FORK} q-average=on"
    assert at_the_forks(FORK) == FORK
    ratio = 0.94 / ht.SearchParams().cpuct.init
    control = ht.Player.from_text(f"visits=1 {at_the_forks('cpuct.init=0.94')}").search
    assert control.cpuct.init == pytest.approx(1.2 * ratio, rel=0.01)
    assert control.cpuct.factor == 0


def test_trials_are_different_players_and_controls_have_the_exploration_of_an_average_move() -> None:
    assert {published.setting for published in EVERY} == {*PUBLISHED, "beta 0.49", "gamma 0.75"}
    for rule in RULES:
        for trial in rule.trials:
            assert ht.Player.from_text(trial.a) != ht.Player.from_text(trial.b)
            assert trial.repeats or trial.shows or trial.states
    by_name = {trial.name: ht.Player.from_text(trial.a).search for trial in TREE_BALANCE.trials}
    for name in ("1.5", "1.4", "1.1", "1.07", "1.3"):  # the fork's factor for an average move is (1 / scale)^left
        balance = by_name[f"balance-{name}"].tree_balance
        control = by_name[f"control-{name}"].cpuct
        assert balance is not None
        assert control.init / 1.745 == pytest.approx(balance.scale**-balance.left, rel=0.011)
    low, high = Published("beta", 800, 1000, None, 4.17, 0.724).interval or (0.0, 0.0)
    assert (round(low), round(high)) == (-10, 18)


def test_matches_of_the_sources_visits_and_of_others(tmp_path: Path) -> None:
    own = [match for *_, match in planned(SOLVER, setting(tmp_path, visits=None, scale=0.01))]
    assert [(one.name, one.games) for one in own] == [
        ("solver-800", 10),
        ("certainty-100", 100),
        ("auto-extend-100", 100),
    ]
    other = [match for *_, match in planned(SOLVER, setting(tmp_path, visits=50))]
    assert [one.name for one in other] == ["solver", "certainty", "auto-extend"]
    assert {ht.Player.from_text(one.b).visits for one in other} == {50}


GAIN = Published("gain", 800, 1000, Record(212, 666, 122))
NOTHING = Published("nothing", 800, 10_000, Record(1780, 6450, 1770))
LOSS = Published("loss", 800, 1000, Record(122, 666, 212))


def elo(score: float, games: int) -> MatchElo:
    """A match with this score, half of its games drawn."""
    won = round(games * (score - 0.25))
    points = [1.0] * won + [0.5] * (games // 2) + [0.0] * (games - games // 2 - won)
    return MatchElo(played([points[index * 7 % games] for index in range(games)], paired=True).tally)


@pytest.mark.parametrize(
    ("published", "score", "games", "control", "expected"),
    [
        (GAIN, 0.6, 401, None, "holds"),
        (GAIN, 0.6, 199, None, "open"),
        (GAIN, 0.505, 401, None, "open"),
        (GAIN, 0.4, 401, None, "does not hold"),
        (GAIN, 0.5, 4001, None, "no such effect"),
        (LOSS, 0.4, 401, None, "holds"),
        (LOSS, 0.6, 401, None, "does not hold"),
        (NOTHING, 0.5, 401, None, "open"),  # not known well enough
        (NOTHING, 0.52, 1601, None, "holds"),  # outside of the source's interval, and within both
        (NOTHING, 0.6, 401, None, "does not hold"),
        (GAIN, 0.6, 401, 0.5, "holds"),
        (GAIN, 0.6, 401, 0.59, "open"),
        (GAIN, 0.6, 401, 0.7, "does not hold"),
    ],
)
def test_verdicts_of_a_published_match(
    published: Published, score: float, games: int, control: float | None, expected: str
) -> None:
    beside = None if control is None else elo(control, 401)
    assert claim_of(published, elo(score, games), beside, cells=1).verdict == expected


def test_an_experiment_to_the_end(tmp_path: Path) -> None:
    small = {"game": "connect4", "scale": 0.004}
    alone = make_experiment(find("fpu"), setting(tmp_path, only=("zero",), **small))
    assert [one.key for one in alone.findings] == ["zero"]
    whole = make_experiment(find("fpu"), setting(tmp_path, **small))
    names = [(row["match"], row["games"], row["paper_games"]) for row in whole.rows]
    assert names[::3] == [("zero", 4, 1000), ("reduction-0.33", 4, None)]
    assert {one.scope for one in whole.findings} == {"another game; visits not stated by the source"}
    with pytest.raises(ValueError, match="visits was 3 and is now 4"):
        make_experiment(find("fpu"), setting(tmp_path, visits=4, **small))


def test_statements_without_a_number_are_decided_on_their_side(tmp_path: Path) -> None:
    small = {"game": "minichess", "scale": 0.004}
    for name, keys in (("early-visits", ["ease-1"]), ("two-fold-draws", ["certain"])):
        result = make_experiment(find(name), setting(tmp_path / name, **small))
        assert [(one.key, one.scope) for one in result.findings] == [(key, "another game") for key in keys]
    sides = {trial.name: trial.states[1] for rule in RULES for trial in rule.trials if trial.states}
    assert sides == {"ease-1": "below", "certain": "above"}


# -- tactics -----------------------------------------------------------------------------------------------------------


def test_a_position_is_solved_from_where_it_stays_so(tmp_path: Path) -> None:
    at = setting(tmp_path, visits=20)
    assert tactics.counts(at) == [2, 5, 10, 20]
    solved = [[True] * 4, [False, False, True, True], [False] * 4]
    assert [tactics.visits_to_solve(at, one) for one in solved] == [2, 10, 40]
    assert tactics.factor(at, solved * 3, [solved[0]] * 9).value == pytest.approx((1 * 5 * 20) ** (1 / 3))
    mate = tactics.Tactic.from_text('7k/8/6K1/8/8/8/8/5Q2 w - - bm Qf8#; dm 1; id "x";')
    assert (mate.mate, [mate.state.san(move) for move in mate.best]) == (1, ["Qf8#"])
    with pytest.raises(ValueError, match="has no best moves"):
        tactics.Tactic.from_text("7k/8/6K1/8/8/8/8/5Q2 w - - dm 1;")


def test_tactics_to_the_end(tmp_path: Path) -> None:
    small = {"nets": (Path("uniform"),), "scale": 0.05, "visits": 8}
    result = make_experiment(find("tactics"), setting(tmp_path, **small))
    assert {one.key: one.verdict for one in result.findings} == dict.fromkeys(
        ("mates", "compression", "early visits", "both"), "open"
    )
    assert {row["positions"] for row in result.rows} == {f"mate in {n}" for n in (2, 3, 4, 5)}
    again = make_experiment(find("tactics"), setting(tmp_path, **small))  # from the moves on disk
    assert again.rows == result.rows
    suite = tmp_path / "suite.epd"
    suite.write_text("7k/8/6K1/8/8/8/8/5Q2 w - - bm Qf8#;\n")
    other = make_experiment(find("tactics"), setting(tmp_path / "x", positions=str(suite), nets=(Path("uniform"),)))
    assert [one.key for one in other.findings] == ["compression", "early visits", "both"]


# -- the table by game -------------------------------------------------------------------------------------------------

CONNECT4 = GAMES[0]
BY_NAME = {rule.name: rule for rule in TABLE_RULES}


def test_cells_have_players_that_differ_and_are_chosen(tmp_path: Path) -> None:
    at = setting(tmp_path, visits=None)
    for rule, game in CELLS:
        match = by_game.cell_match(at, rule, game, Base(1.0, 0.2))
        a, b = map(ht.Player.from_text, (match.a, match.b))
        assert (a != b, b.search.cpuct.init, b.search.fpu.value) == (True, 1.0, 0.2)
        assert by_game.tuning_match(at, game, Base(1.0, 0.2)).seed != match.seed
    assert by_game.chosen_cells(setting(tmp_path, only=("repetition",))) == {"minichess-repetition", "chess-repetition"}
    assert len(by_game.chosen_cells(setting(tmp_path))) == len(CELLS)
    with pytest.raises(ValueError, match="--only nil: a cell is GAME-RULE, GAME or RULE; games: connect4, minichess"):
        by_game.chosen_cells(setting(tmp_path, only=("nil",)))


@pytest.mark.parametrize(
    ("score", "games", "verdict"), [(0.6, 1000, "holds"), (0.52, 1000, "open"), (0.4, 1000, "does not hold")]
)
def test_verdicts_of_cells(score: float, games: int, verdict: str) -> None:
    cell = TableCell(BY_NAME["solver"], CONNECT4, DEFAULT, spread(score, games))
    assert by_game.finding(cell, [cell]).verdict == verdict
    balance = TableCell(BY_NAME["tree-balance"], CONNECT4, DEFAULT, spread(0.6, 1000))
    control = TableCell(BY_NAME["c-puct"], CONNECT4, DEFAULT, spread(0.6, 1000))
    assert by_game.finding(balance, [balance]).scope == "without its control c-puct"
    assert by_game.finding(balance, [balance, control]).verdict == "open"


def test_a_small_table_to_the_end(tmp_path: Path) -> None:
    at = setting(tmp_path, visits=2, scale=0.002, only=("connect4-solver", "connect4-lower-bound"))
    result = make_experiment(find("rules-by-game"), at)
    rows = [(row["game"], row["rule"], row["games"]) for row in result.rows]
    assert rows == [("connect4", "solver", 2), ("connect4", "lower-bound", 2)]
    assert result.facts["base"]["connect4"]["cpuct"] in (*by_game.CPUCTS, DEFAULT.cpuct)


def test_rules_are_judged_by_exact_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small, from beginning to end: the positions that chose the base are not among those that judge the rules."""
    monkeypatch.setattr(by_exact_play, "SETS", 2)
    found = make_experiment(find("rules-by-exact-play"), setting(tmp_path, scale=0.01, visits=8))
    rows = {row["rule"]: row for row in found.rows}
    (count,) = {row["positions"] for row in found.rows}
    assert 25 < count <= 75
    for row in rows.values():
        assert row["difference"] == pytest.approx(100 * (row["kept_alone"] - row["base_alone"]) / count)
    assert {finding.verdict for finding in found.findings} == {"open"}
    assert len(found.findings) == len(rows) - 1
