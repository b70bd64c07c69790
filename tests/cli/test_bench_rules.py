"""`hauteur bench rules`: one JSON line a rule and game, for every rule there is."""

import json

import pytest

from hauteur import _core
from hauteur.cli.commands.bench_rules import WITHOUT_MEASURE, measured_rules
from hauteur.cli.main import main
from hauteur.mcts.params import SearchParams


def test_every_rule_is_measured_with_a_setting_that_does_something() -> None:
    rules = measured_rules()
    sections = {name for name, f in SearchParams.model_fields.items() if "hauteur.mcts.rules" in str(f.annotation)}
    assert sections | {"graph"} == set(rules) | set(WITHOUT_MEASURE)
    assert {"search_contempt", "variance", "second_net"} <= sections
    for name, rule in rules.items():
        assert SearchParams.model_validate({name: rule}).without_neutral_rules() != SearchParams(), name


def test_lines_compare_with_plain_puct(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--visits", "200", "--rounds", "2", "--rule", "search_contempt", "--rule", "early_visits")
    assert main(["bench", "rules", "tictactoe", "nogo(size=3)", *words]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [(line["game"], line["rule"]) for line in lines]
    games = [_core.Game(spec).spec for spec in ("tictactoe", "nogo(size=3)")]
    assert found == [(game, rule) for game in games for rule in ("search_contempt", "early_visits")]
    for line in lines:
        assert line["relative"]["min"] <= line["relative"]["median"] <= line["relative"]["max"]
        assert line["visits"] >= 200
        assert line["visits_per_second"]["min"] > 0
    assert lines[0]["settings"]["n_scl"] == 10


def test_an_unknown_rule_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "rules", "tictactoe", "--rule", "magic"]) == 2
    assert "--rule must be one of search_contempt, " in capsys.readouterr().err
