"""The verdict of the thesis in chess: permutation tests over runs, the premise of equal draws, the plan's recipes."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import hauteur as ht
import thesis_part
from hauteur_experiments.claims_table import recorded_lines, write_table
from hauteur_experiments.kept import read_run, seconds_of
from hauteur_experiments.search_contempt import chess_thesis
from hauteur_experiments.search_contempt.chess_thesis import (
    ARMS,
    CONTEMPT,
    FULL,
    LOOK_LEVEL,
    SMALL,
    TEMPERATURE,
    JudgedNet,
    finding,
    permutation_interval,
    permutation_p,
    ratio_factor,
    recipe_of,
    row,
    small_findings,
    verdict_of,
)
from hauteur_experiments.search_contempt.schedule import balance_of_small
from hauteur_experiments.setting import Setting


def test_p_is_the_share_of_divisions() -> None:
    assert permutation_p([3, 4], [1, 2]) == pytest.approx(1 / 6)
    assert permutation_p([1, 2], [3, 4]) == 1
    assert permutation_p([1, 1], [1, 1]) == 1
    assert permutation_p([4, 5, 6, 7], [0, 1, 2, 3]) == pytest.approx(LOOK_LEVEL)


def test_p_is_uniform_where_there_is_no_difference() -> None:
    random = np.random.default_rng(1)
    ps = [permutation_p(list(random.normal(size=5)), list(random.normal(size=5))) for _ in range(1000)]
    assert 0.015 < np.mean(np.array(ps) <= 0.025) < 0.04


def test_the_interval_has_the_differences_that_the_test_keeps() -> None:
    random = np.random.default_rng(2)
    own = list(random.normal(0.6, 0.05, 8))
    other = list(random.normal(0.5, 0.05, 8))
    low, high = permutation_interval(own, other)
    assert (
        permutation_p([v - low + 1e-4 for v in own], other)
        <= 0.025
        < permutation_p([v - low - 1e-4 for v in own], other)
    )
    assert low < np.mean(own) - np.mean(other) < high
    assert permutation_interval([0.9], [0.1]) == (-math.inf, math.inf)


def test_four_runs_decide_only_where_all_lead_and_others_are_open() -> None:
    assert verdict_of(LOOK_LEVEL, 1.0, 4, premise=True) == "holds"
    assert verdict_of(2 * LOOK_LEVEL, 1.0, 4, premise=True) == "open"
    assert verdict_of(1.0, LOOK_LEVEL, 4, premise=True) == "does not hold"
    assert verdict_of(0.0, 1.0, 6, premise=True) == "open"
    assert verdict_of(0.0107, 1.0, 8, premise=True) == "holds"
    assert verdict_of(0.0108, 1.0, 8, premise=True) == "open"
    assert verdict_of(0.001, 1.0, 8, premise=False) == "open"


def test_a_gain_of_the_draws_alone_holds_against_puct_only() -> None:
    judged = [
        JudgedNet(arm, seed, 18, {"material": base + seed / 1000}, 1, 1, 1.0)
        for arm, base in (("contempt", 0.7), ("puct", 0.5), ("temperature", 0.7))
        for seed in range(8)
    ]
    assert finding(judged, "puct", "more", None).verdict == "holds"
    assert finding(judged, "temperature", "equal", 1.2).verdict == "open"
    assert "20.0 [" in finding(judged, "puct", "more", None).measured
    assert finding([*judged[:8], *judged[16:]], "temperature", "equal", 1.6).verdict == "open"


def test_the_small_size_differs_in_net_and_generations_alone() -> None:
    full = recipe_of(FULL, 11, CONTEMPT).model_dump()
    small = recipe_of(SMALL, 11, CONTEMPT).model_dump()
    assert {key for key in full if full[key] != small[key]} == {"network", "run"}
    differences = {key for key in full["network"] if full["network"][key] != small["network"][key]}
    assert differences == {"filters", "blocks"}
    assert small["run"]["generations"] * chess_thesis.GAMES == 3000


def test_the_factor_between_ratios_is_a_geometric_mean() -> None:
    ratios: dict[tuple[str, int], list[float | None]] = {
        ("contempt", 1): [1.0, 4.0, None],
        ("temperature", 1): [2.0, 2.0, 100.0],
    }
    assert ratio_factor(ratios, [1]) == pytest.approx(1.0)
    ratios["temperature", 1] = [2.0, 8.0, 100.0]
    assert ratio_factor(ratios, [1]) == pytest.approx(4 ** (1 / 3))


def test_the_arms_differ_in_their_controller_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = recipe_of(FULL, 11, None).model_dump()
    steered = recipe_of(FULL, 11, CONTEMPT).model_dump()
    assert {key for key in plain if plain[key] != steered[key]} == {"controller"}
    learned: dict[str, tuple[str, ht.Recipe]] = {}

    def learn_beside(setting: object, runs: dict[str, tuple[str, ht.Recipe]]) -> dict[str, Path]:
        learned.update(runs)
        return {name: tmp_path / folder for name, (folder, _) in runs.items()}

    monkeypatch.setattr(chess_thesis, "learn_beside", learn_beside)
    monkeypatch.setattr(chess_thesis, "ratios_of", lambda folder: [0.5, None])
    runs = chess_thesis.learn_arms(FULL, Setting(tmp_path), 11)
    assert set(runs) == {(arm, 11) for arm in ARMS}
    follower = learned["temperature"][1].controller
    assert follower is not None
    assert follower.targets == (0.5, 100.0)
    assert follower.by == TEMPERATURE["by"]


def small_result(factor: float, runs: int = 8) -> dict[str, object]:
    """Return a result of the small size: search-contempt leads by 20 points, at equal draws by 10, in every seed."""
    judged = []
    for arm, base in (("contempt", 0.7), ("puct", 0.5), ("temperature", 0.6)):
        for seed in range(12, 12 + runs):
            scores = dict.fromkeys(chess_thesis.OPPONENTS, base + seed / 1000)
            judged.append(JudgedNet(arm, seed, 6, scores, 5, 7, 100.0))
    numbers = range(12, 12 + runs)
    ratios: dict[str, list[float | None]] = {f"contempt-{seed}": [1.0, 1.4, 0.7, 1.2, 3.0, None] for seed in numbers}
    for arm in ("puct", "temperature"):
        ratios |= {f"{arm}-{seed}": [0.5] * 6 for seed in numbers}
    duels = {arm: [0.75] * runs for arm in ("puct", "temperature")}
    facts = {"ratio_factor": factor, "ratios": ratios, "duels": duels}
    return {"seeds": runs, "rows": [row(one) for one in judged], "facts": facts, "findings": []}


def test_the_small_thesis_is_decided_by_the_rows_of_its_result() -> None:
    more, equal = small_findings(small_result(1.3))
    assert (more.verdict, equal.verdict) == ("holds", "holds")
    assert (more.test, more.units) == ("sign", "8 runs an arm")
    assert equal.decides.startswith("search-contempt less PUCT, temperature for equal draws 10.0 [")
    assert "3,000 games a run" in equal.scope
    assert "draws are not equal" not in equal.scope
    more, equal = small_findings(small_result(1.9))
    assert (more.verdict, equal.verdict) == ("holds", "open")
    assert equal.scope.endswith("draws are not equal: (w + l)/d differs by a factor of 1.90")


def test_the_balance_of_its_controllers_is_that_of_the_runs_with_search_contempt() -> None:
    (found,) = balance_of_small(small_result(1.3))
    assert found.measured.startswith("(w + l)/d within 0.67 and 1.5 in 4 of 6, 4 of 6,")
    assert (found.verdict, found.units) == ("holds", "8 seeds")
    assert balance_of_small(small_result(1.3, runs=4))[0].verdict == "open"


def test_its_lines_in_the_log_follow_its_kept_file(tmp_path: Path, root: Path) -> None:
    page = tmp_path / "claims.md"
    (tmp_path / "results").mkdir()
    for file in (root / "docs/experiments/results").glob("*.json"):
        (tmp_path / "results" / file.name).symlink_to(file)
    kept = tmp_path / "results" / "chess-thesis-small.json"
    kept.unlink()
    thesis = "Joshi 2025, thesis: training with search-contempt is better or cheaper, where (w + l)/d is equal"
    lines = {}
    for runs in (4, 8):
        experiment = {"settings": {"experiment": "chess-thesis-small"}}
        stored = {"experiment": experiment, "result": small_result(1.3, runs), "matches": {}}
        kept.write_text(json.dumps(stored), encoding="utf-8")
        write_table(page, Setting(tmp_path / "runs"))
        found = recorded_lines(tmp_path / "claims.csv")
        (lines[runs],) = [line for line in found if line["claim"] == thesis and line["run"]]
    assert lines[4]["verdict"].startswith("**holds**")
    assert lines[8]["games"] == "8 runs an arm"
    assert lines[8]["command"] == "`hauteur experiment chess-thesis-small --seeds 8`"
    assert lines[8]["cost"] == "40:00"
    run = read_run(kept)
    assert seconds_of({**run.result, "seconds_of_last_attempt": 5000.0}, []) == 5000.0


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (4, ("Four of eight seeds,", "a p of 1/70.", "Four more seeds decide.", "(p .014), **holds**")),
        (6, ("Six of eight seeds,", "decides at four and at eight seeds.", "Two more seeds decide.", "**open**")),
        (8, ("Eight of eight seeds,", "a p of .0107.", "**holds**. Head to head,", "in 4 of 6, 4 of 6,")),
    ],
)
def test_the_page_says_what_the_kept_file_has_at_any_number_of_seeds(runs: int, words: tuple[str, ...]) -> None:
    text = thesis_part.text(small_result(1.3, runs))
    assert [word for word in words if word not in text] == []
    assert "nothing is said about equal draws" not in text
    assert "nothing is said about equal draws" in thesis_part.text(small_result(1.9, runs))
    figure = thesis_part.figure(small_result(1.3, runs))
    assert f"mean of {runs} seeds" in figure.text
    assert [len(line.values) for line in figure.lines] == [6, 6, 6]
