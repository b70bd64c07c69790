"""The yardstick: matches of the best nets with a fixed opponent, beside the run and without effect on it."""

import json
from pathlib import Path
from typing import Any

import pytest

import hauteur as ht
from hauteur.learning import yardstick
from hauteur.learning.report.page import run_numbers
from hauteur.learning.run_folder import RunFolder

MCTS: dict[str, Any] = {"opponent": "mcts:20", "every": 2, "games": 4, "visits": 10}


def recipe(generations: int = 3, **sections: Any) -> ht.Recipe:
    return ht.Recipe(
        game="tictactoe",
        network={"filters": 4, "blocks": 1},
        selfplay={"games": 8, "visits": 4},
        train={"batch_size": 16},
        gate={"by": "off"},
        run={"generations": generations, "threads": 1, "solved_positions": 0},
        **sections,
    )


def learned(folder: Path, given: ht.Recipe) -> RunFolder:
    ht.learn(given, out=folder, on_generation=lambda row: None)
    return RunFolder(folder)


def nets(folder: RunFolder) -> list[bytes]:
    return [folder.net(generation).read_bytes() for generation in range(4)]


def test_the_nets_that_are_due_are_measured_and_the_run_is_the_same(tmp_path: Path) -> None:
    measured = learned(tmp_path / "measured", recipe(yardstick=MCTS))
    plain = learned(tmp_path / "plain", recipe())
    assert nets(measured) == nets(plain)
    found = json.loads(measured.yardstick.read_text())
    assert sorted(found["nets"]) == ["2", "3"]
    match = ht.play_match(
        f"net={measured.net(2)} visits=10", "mcts:20", "tictactoe", games=4, seed=1, random_plies=2, progress=False
    )
    one = found["nets"]["2"]
    assert (one["wins"], one["draws"], one["losses"]) == (match.wins, match.draws, match.losses)
    assert one["score_interval_95"] == list(match.score_interval)
    assert [line["generation"] for line in measured.read_metrics() if "yardstick" in line] == [2, 3]
    page = measured.report.read_text()
    assert page.index("against mcts:20") < page.index("Games of self-play")
    assert "against mcts:20" not in plain.report.read_text()


def test_a_run_without_gate_shows_no_elo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its strength is the score against the yardstick, or nothing; that of a gated run is Elo."""
    measured = recipe(2, yardstick=MCTS)
    plain = recipe(2)
    for name, given in (("measured", measured), ("plain", plain)):
        assert "Elo" not in repr(ht.learn(given, out=tmp_path / name))
    shown = capsys.readouterr().out
    assert "Elo" not in shown
    assert shown.count("against mcts:20") == 1
    numbers = run_numbers(RunFolder(tmp_path / "measured"))
    assert numbers.yardstick is not None
    assert numbers.strength == f"{numbers.yardstick:.1%} against the yardstick"
    assert run_numbers(RunFolder(tmp_path / "plain")).strength == ""
    assert "Elo over" not in (tmp_path / "plain" / "report.html").read_text()
    gated = plain.model_copy(update={"gate": plain.gate.model_copy(update={"by": "match", "games": 4})})
    assert "Elo" in repr(ht.learn(gated, out=tmp_path / "gated"))
    assert "Elo" in capsys.readouterr().out
    assert run_numbers(RunFolder(tmp_path / "gated")).strength.startswith("Elo")


def test_the_last_net_of_a_run_that_its_budget_ends_is_measured(tmp_path: Path) -> None:
    given = recipe(3, yardstick=MCTS | {"every": 100})
    limited = given.model_copy(update={"run": given.run.model_copy(update={"budget_flops": 1.0})})
    folder = learned(tmp_path / "run", limited)
    assert len(folder.read_metrics()) == 1
    assert sorted(json.loads(folder.yardstick.read_text())["nets"]) == ["1"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    folder = learned(tmp_path / "run", recipe(1, yardstick=MCTS))
    content = json.loads(folder.yardstick.read_text())
    folder.yardstick.write_text(json.dumps(content | {"nets": {"first": {}}}))
    with pytest.raises(ValueError, match=r"yardstick\.json is not what a run wrote: delete it"):
        learned(folder.path, recipe(2, yardstick=MCTS))


def test_a_match_that_was_broken_off_is_played_when_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_off(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(yardstick, "play_match", broken_off)
        with pytest.raises(KeyboardInterrupt):
            learned(tmp_path / "run", recipe(yardstick=MCTS))
    assert not RunFolder(tmp_path / "run").yardstick.exists()
    resumed = learned(tmp_path / "run", recipe(yardstick=MCTS))
    assert sorted(json.loads(resumed.yardstick.read_text())["nets"]) == ["2", "3"]
    assert nets(resumed) == nets(learned(tmp_path / "whole", recipe(yardstick=MCTS)))


def test_a_run_may_get_a_yardstick_later_and_not_another_one(tmp_path: Path) -> None:
    folder = learned(tmp_path / "run", recipe())
    learned(folder.path, recipe(yardstick=MCTS))
    assert sorted(json.loads(folder.yardstick.read_text())["nets"]) == ["2", "3"]
    config = folder.config.read_bytes()
    with pytest.raises(ValueError, match=r"was measured with opponent mcts:20, not random: delete it"):
        learned(folder.path, recipe(4, yardstick=MCTS | {"opponent": "random"}))
    assert folder.config.read_bytes() == config


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"opponent": "nobody"}, "'nobody' is neither"),
        ({"opponent": "net=missing.safetensors"}, r"missing\.safetensors"),
        ({"opponent": "gtp:no-such-program"}, "no program 'no-such-program'"),
        ({"games": 5}, "in pairs"),
    ],
)
def test_a_wrong_yardstick_begins_no_run(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, OSError), match=message):
        learned(tmp_path / "run", recipe(yardstick=MCTS | changes))
    assert not (tmp_path / "run" / "config.toml").exists()
