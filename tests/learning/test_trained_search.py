"""A net of a run that plays with another search than it was trained with: one line says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from hauteur.cli import main
from hauteur.games.registry import load_game
from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.run import learn
from hauteur.learning.trained_search import search_differences, search_notes
from hauteur.players.settings import parse_player

SEARCH = "visits=4 cpuct.init=1.2 cpuct.factor=0 fpu.value=0 policy_temperature=1"
"""The search of the recipe below but for its noise."""


def recipe(**search: object) -> Recipe:
    """A recipe with settings of the search of self-play."""
    values = {"game": "tictactoe", "selfplay": {"visits": 4, "search": search}}
    return parse_recipe(values, "recipe")


def differences(text: str, **search: object) -> list[str]:
    return search_differences(recipe(**search), parse_player(text))


def test_visits_noise_and_rules_are_named() -> None:
    found = differences(SEARCH.replace("visits=4", "visits=100"), solver={"lookahead": 1})
    assert found[0] == "visits 100 instead of 4"
    assert "dirichlet.epsilon off instead of 0.25" in found
    assert "solver.lookahead off instead of 1" in found
    assert differences(f"{SEARCH} dirichlet.epsilon=0.25 dirichlet.alpha=0.3") == []
    assert differences(SEARCH, dirichlet={"epsilon": 0.0}) == []
    assert differences(f"{SEARCH} solver.lookahead=1", dirichlet={"epsilon": 0.0})


def test_resources_are_no_search() -> None:
    assert differences(f"{SEARCH} cache_size=5 max_in_flight=3", dirichlet={"epsilon": 0.0}) == []


def test_a_net_of_no_run_says_nothing(tmp_path: Path) -> None:
    game = load_game("tictactoe")
    for text in ("visits=3", "random", "net=tictactoe"):
        assert search_notes("A", parse_player(text), game) == []
    alone = tmp_path / "net.safetensors"
    alone.write_bytes(b"")
    assert search_notes("A", parse_player(f"net={alone}"), game) == []


def test_the_match_says_it_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ("run.generations=1", "selfplay.games=8", "selfplay.visits=4", "gate.games=2", "run.threads=1")
    run = learn("tictactoe", *small, "run.solved_positions=0", out=tmp_path / "run", on_generation=lambda _: None)
    words = ["random", "--game", "tictactoe", "--games", "2", "--threads", "1"]
    for net in (run.best, tmp_path / "run" / "nets" / "gen-00001.safetensors"):
        capsys.readouterr()
        assert main.main(["match", f"net={net} visits=7", *words]) == 0
        lines = [line for line in capsys.readouterr().err.splitlines() if "trained with" in line]
        assert len(lines) == 1
        assert lines[0].startswith("A does not play with the search that its net was trained with: visits 7 instead of")
        assert "and " in lines[0]
