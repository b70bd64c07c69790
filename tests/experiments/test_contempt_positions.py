"""Misjudged positions: which are drawn, what is written down of them, resume, rates by game."""

import json
from pathlib import Path

import numpy as np
import pytest

from hauteur.games.registry import load_game
from hauteur.matches.results import MatchGame
from hauteur_experiments.bootstrap_ci import rate_of, ratio_of
from hauteur_experiments.experiment import ExperimentSetting, make_experiment
from hauteur_experiments.search_contempt import positions
from hauteur_experiments.search_contempt.position_counts import KINDS, SWING, MeasuredPosition, findings
from hauteur_experiments.search_contempt.positions import analysed, draw, read_measured

GAMES = [
    MatchGame(index=0, a="first", score=0, end="checkmate", plies=4, moves="f2f3 e7e5 g2g4 d8h4"),
    MatchGame(index=1, a="first", score=0.5, end="x", plies=5, opening="e2e4", moves="e7e5 g1f3 b8c6 f1b5"),
    MatchGame(index=2, a="first", score=0.5, end="x", plies=3, moves="e2e4 e7e5 g1f3"),
]


def setting(folder: Path, **changes: object) -> ExperimentSetting:
    values = {"nets": (Path("uniform"),), "visits": 3, "scale": 0.02, "seeds": 1, **changes}
    return ExperimentSetting(folder, threads=1, show=lambda line: None, **values)  # type: ignore[arg-type]


def position(**changes: object) -> MeasuredPosition:
    values = {"game": 0, "ply": 1, "fen": "f", "before": "b", "move": "m", "white_to_move": True, "best": "a1a2"}
    return MeasuredPosition.model_validate({**values, "low": 0.0, "high": 0.0, "gap": None, "change": False, **changes})


def kinds_of(one: MeasuredPosition) -> set[str]:
    return {name for name, kind in KINDS.items() if kind(one)}


def test_positions_are_different_and_none_is_the_end_of_its_game() -> None:
    rules = load_game("chess")
    places = draw(rules, GAMES, 100)
    assert [(place.game, place.ply) for place in places] == [
        *((0, ply) for ply in (1, 2, 3)),
        *((1, ply) for ply in (1, 2, 3, 4, 5)),
    ]
    assert len(draw(rules, GAMES, 4)) == 4
    assert draw(rules, GAMES, 4) == draw(rules, GAMES, 4)


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({"low": 0.1, "high": 0.29}, set()),
        ({"low": 0.1, "high": 0.49}, {"shifted"}),
        ({"low": 0.1, "high": 0.5}, {"shifted", "misjudged", "mistake"}),
        ({"low": 0.5, "high": -0.5}, {"shifted", "misjudged", "gravely misjudged", "trap"}),
        ({"low": -0.5, "high": 0.4, "gap": 0.3, "change": True}, set(KINDS) - {"trap"}),
        ({"low": -0.5, "high": 0.4, "gap": 0.3}, {"shifted", "misjudged", "gravely misjudged", "mistake"}),
        ({"low": -0.2, "high": 0.4, "gap": 0.2, "change": True}, {"shifted", "misjudged", "mistake"}),
    ],
)
def test_what_counts_as_what(changes: dict[str, object], kinds: set[str]) -> None:
    assert kinds_of(position(**changes)) == kinds


def test_judgements_are_kept_and_go_on_after_half_a_line(tmp_path: Path) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
    whole = analysed(setting(tmp_path / "a", scale=0.012), "n5", GAMES)
    assert len(whole) == 6
    assert all(-1 <= one.low <= 1 and -1 <= one.high <= 1 for one in whole)
    file = tmp_path / "b" / "n5.positions.jsonl"
    lines = (tmp_path / "a" / "n5.positions.jsonl").read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:2]) + lines[2][:30])
    assert analysed(setting(tmp_path / "b", scale=0.012), "n5", GAMES) == whole
    assert len(read_measured(file)) == 6


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"game": 1}\n')
    with pytest.raises(ValueError, match=r"x.jsonl: a line is no analysed position; delete the file"):
        read_measured(tmp_path / "x.jsonl")


def test_the_experiment_from_beginning_to_end_and_again(tmp_path: Path) -> None:
    experiment = positions.EXPERIMENTS[0]
    result = make_experiment(experiment, setting(tmp_path / "p"))
    assert len(result.rows) == 3 * len(KINDS)
    assert {row["games"] for row in result.rows} == {"n5", "n32", "puct"}
    assert all(row["low_95"] <= row["per_1000"] <= row["high_95"] for row in result.rows)
    assert make_experiment(experiment, setting(tmp_path / "p")).rows == result.rows
    facts = json.loads((tmp_path / "p/result.json").read_text())["facts"]
    assert (facts["low_visits"], facts["high_visits"], facts["swing"]) == (5, 12, SWING)


def test_minichess_and_a_game_without_fen(tmp_path: Path) -> None:
    result = make_experiment(positions.EXPERIMENTS[0], setting(tmp_path / "m", game="minichess", scale=0.05))
    assert {finding.scope for finding in result.findings} == {"minichess, not chess, 3 visits, not 1,000"}
    assert all(len(one.fen.split()[0].split("/")) == 5 for one in read_measured(tmp_path / "m/n5.positions.jsonl"))
    with pytest.raises(ValueError, match=r"needs a game with FEN \(.*minichess.*\), got connect4"):
        make_experiment(positions.EXPERIMENTS[0], setting(tmp_path / "c", game="connect4"))


def found(often: int, seldom: int, games: int = 200) -> dict[str, list[MeasuredPosition]]:
    """20 positions of each game, of which so many are misjudged, all in games of their own."""
    sets = {"n5": often, "n32": often, "puct": seldom}
    return {
        name: [position(game=i % games, high=0.9 * (i < count), gap=0.5, change=True) for i in range(20 * games)]
        for name, count in sets.items()
    }


@pytest.mark.parametrize(
    ("often", "seldom", "games", "more", "twenty"),
    [
        (120, 20, 200, "holds", "does not hold"),
        (20, 20, 200, "open", "does not hold"),
        (2, 100, 200, "does not hold", "does not hold"),
        (1, 0, 200, "open", "open"),
        (3800, 20, 200, "holds", "holds"),
        (60, 2, 99, "open", "open"),
    ],
)
def test_verdicts(often: int, seldom: int, games: int, more: str, twenty: str) -> None:
    verdicts = [finding.verdict for finding in findings(found(often, seldom, games))]
    assert verdicts == [more] * 6 + [twenty] * 6


def test_findings_name_their_n_scl() -> None:
    texts = [finding.measured.split(",")[0] for finding in findings(found(5, 5))]
    assert texts == 2 * (3 * ["N_scl 5"] + 3 * ["N_scl 32"])


def test_a_rate_is_surer_where_its_games_differ_less() -> None:
    alike = rate_of([(game, number < 2) for game in range(50) for number in range(10)])
    clustered = rate_of([(game, game < 10) for game in range(50) for _ in range(10)])
    assert alike.share == clustered.share == 0.2
    assert clustered.high - clustered.low > 2 * (alike.high - alike.low)
    nothing = rate_of([(game, False) for game in range(50)])
    assert (nothing.counted, nothing.low, nothing.high > 0.05) == (0, 0.0, True)


def test_a_ratio_covers_the_truth() -> None:
    random = np.random.default_rng(1)
    inside = 0
    for _ in range(40):
        one, other = ([(i // 10, bool(random.random() < p)) for i in range(1000)] for p in (0.15, 0.05))
        _, low, high = ratio_of(one, other, draws=200)
        inside += low <= 3 <= high
    assert inside >= 33


def test_no_positions_have_no_rate() -> None:
    with pytest.raises(ValueError, match="one position or more, got none"):
        rate_of([])
