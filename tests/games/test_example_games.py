"""The games of examples/: their laws by `hauteur check-game`, and moves by hand."""

import runpy
from pathlib import Path

import pytest

import hauteur as ht
from hauteur.cli import main
from hauteur.games import registry

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


@pytest.fixture(autouse=True)
def games(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two games are registered for the time of a test."""
    monkeypatch.setattr(registry, "_registered", {})
    for name in ("breakthrough", "dots_and_boxes"):
        runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.mark.parametrize(
    "spec",
    [
        *("breakthrough", "breakthrough(size=5)"),
        *("dots-and-boxes", "dots-and-boxes(rows=2, columns=2)", "dots-and-boxes(rows=1, columns=3)"),
    ],
)
def test_the_laws_hold(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["check-game", spec, "--games", "4"]) == 0
    assert "ok" in capsys.readouterr().out


def test_breakthrough_is_won_on_the_other_side() -> None:
    state = ht.position("breakthrough(size=5)", "a2-a3 c4-c3 a3xb4")
    assert state.outcome() is None
    assert "b4xa5" in state.child(state.parse("d4-d3")).legal_moves
    assert "b4-b5" not in state.child(state.parse("d4-d3")).legal_moves, "b5 has a piece on it"
    won = ht.position("breakthrough(size=5)", "a2-a3 c4-c3 a3xb4 d4-d3 b4xa5")
    assert won.outcome() == 1


def test_who_closes_a_box_moves_again() -> None:
    state = ht.position("dots-and-boxes(rows=1, columns=2)", "b1 b3 a2 c2")
    assert (state.ply, state.to_move) == (4, 1)
    assert state.text().splitlines()[1] == "| O | . ."
    end = ht.position("dots-and-boxes(rows=1, columns=2)", "b1 b3 a2 c2 d1 d3 e2")
    assert end.outcome() == -1, "the second player has drawn the last edge of both boxes"


def test_a_search_knows_who_moves_again() -> None:
    state = ht.position("dots-and-boxes(rows=1, columns=2)", "b1 b3 a2")
    found = ht.search(state, "uniform", ht.SearchParams(solver={}), visits=300)
    assert found.best_move == "c2", "it closes a box"
