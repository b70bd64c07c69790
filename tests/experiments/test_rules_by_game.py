"""The table of rules by game: its cells, the tuned base, a small table to the end, verdicts."""

import csv
import json
from pathlib import Path

import pytest

from hauteur.cli.main import main
from hauteur.matches.results import MatchGame, Tally
from hauteur.players.settings import parse_player
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.matches import MatchSpec, PlayedMatch
from hauteur_experiments.mcts_experiments import rules_by_game
from hauteur_experiments.mcts_experiments.rules_by_game import (
    CELLS,
    CPUCTS,
    DEFAULT,
    GAMES,
    TABLE_RULES,
    Base,
    TableCell,
    cell_name,
    cell_spec,
    chosen,
    finding,
    tuned,
    tuning_spec,
)

CONNECT4 = GAMES[0]
BY_NAME = {rule.name: rule for rule in TABLE_RULES}


def setting(folder: Path, *only: str) -> ExperimentSetting:
    return ExperimentSetting(folder, visits=2, scale=0.004, seeds=1, threads=1, show=lambda line: None, only=only)


def test_cells_have_players_that_differ(tmp_path: Path) -> None:
    assert len(TABLE_RULES) >= 12
    assert len({cell_name(*cell) for cell in CELLS}) == len(CELLS)
    for rule, game in CELLS:
        spec = cell_spec(ExperimentSetting(tmp_path), rule, game, Base(1.0, 0.2))
        assert spec.a != spec.b
        assert spec.b.search.cpuct.init == 1.0
        assert spec.b.search.fpu.value == 0.2
        assert spec.games == game.games
        assert (spec.a.visits, spec.b.visits) == (100, 100)


def test_the_base_is_tuned_with_other_openings(tmp_path: Path) -> None:
    cell = cell_spec(ExperimentSetting(tmp_path), TABLE_RULES[0], CONNECT4, DEFAULT)
    assert tuning_spec(ExperimentSetting(tmp_path), CONNECT4, Base(1.0, 0.2)).seed != cell.seed


def test_a_cell_is_chosen_by_name_rule_or_game(tmp_path: Path) -> None:
    assert chosen(setting(tmp_path, "connect4-solver")) == ["connect4-solver"]
    assert chosen(setting(tmp_path, "repetition")) == ["minichess-repetition", "chess-repetition"]
    assert len(chosen(setting(tmp_path, "nogo7"))) == len(TABLE_RULES) - 2
    assert len(chosen(setting(tmp_path))) == len(CELLS)
    with pytest.raises(ValueError, match="--only nil: a cell is GAME-RULE, GAME or RULE; games: connect4, minichess"):
        chosen(setting(tmp_path, "nil"))


def tally(score: float, games: int) -> Tally:
    found = Tally(paired=True)
    for index in range(games):
        won = index * 0.6180339887 % 1 < score
        seat = "first" if index % 2 == 0 else "second"
        found.add(MatchGame(index=index, a=seat, score=float(won), end="x", plies=9))  # type: ignore[arg-type]
    return found


def played(score: float, games: int = 1000) -> PlayedMatch:
    player = parse_player("random")
    return PlayedMatch(MatchSpec("m", player, player, games), tally(score, games), [])


@pytest.mark.parametrize(
    ("score", "games", "verdict"),
    [(0.6, 1000, "holds"), (0.52, 1000, "open"), (0.4, 1000, "does not hold"), (0.9, 150, "open")],
)
def test_verdicts(score: float, games: int, verdict: str) -> None:
    cell = TableCell(BY_NAME["solver"], CONNECT4, played(score, games))
    assert finding(cell, [cell]).verdict == verdict


def test_tree_balance_counts_beyond_its_control() -> None:
    balance = TableCell(BY_NAME["tree-balance"], CONNECT4, played(0.6))
    alone = finding(balance, [balance])
    assert (alone.verdict, alone.scope) == ("holds", "without its control c-puct")
    control = TableCell(BY_NAME["c-puct"], CONNECT4, played(0.6))
    assert finding(balance, [balance, control]).verdict == "open"


def test_the_best_base_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(at: ExperimentSetting, specs: object) -> dict[str, PlayedMatch]:
        names = [spec.name for spec in specs]  # type: ignore[attr-defined]
        return {name: played({"c0.75": 0.6, "c1": 0.55}.get(name.split("-")[2], 0.4)) for name in names}

    monkeypatch.setattr(rules_by_game, "play_matches", play)
    assert tuned(setting(tmp_path), CONNECT4) == Base(0.75, DEFAULT.fpu)
    monkeypatch.setattr(rules_by_game, "play_matches", lambda at, specs: {spec.name: played(0.4) for spec in specs})
    assert tuned(setting(tmp_path), CONNECT4) == DEFAULT


def test_a_small_table_to_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--visits", "2", "--scale", "0.002", "--threads", "1", "--out", str(tmp_path)]
    words = ["--only", "connect4-solver", "--only", "connect4-lower-bound"]
    assert main(["experiment", "rules-by-game", *options, *words]) == 0
    assert "solver makes a player of connect4 stronger" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "result.csv").open()))
    assert [(row["game"], row["rule"], row["games"]) for row in rows] == [
        ("connect4", "solver", "2"),
        ("connect4", "lower-bound", "2"),
    ]
    facts = json.loads((tmp_path / "result.json").read_text())
    assert facts["facts"]["base"]["connect4"]["cpuct"] in (*CPUCTS, DEFAULT.cpuct)
    assert facts["facts"]["cells"] == len(CELLS)
    assert {one["verdict"] for one in facts["findings"]} == {"open"}
    assert "2 games a cell" in facts["figures"][0]["text"]
