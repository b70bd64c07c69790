"""Counts of self-play by N_scl: what is counted of a game, and that the page follows from the counts."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def counting(root: Path) -> ModuleType:
    """The script, as a module."""
    spec = spec_from_file_location("nature_counts", root / "benchmarks/nature_counts.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["nature_counts"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("moves", "end", "expected"),
    [
        ("f2f3 e7e5 g2g4 d8h4", "checkmate", (4, 0, 1, 0, 0)),
        ("e2e4 d7d5 e4d5 d8d5 b1c3 d5e5", "", (6, 2, 1, 0, 0)),
        ("e2e4 e7e5 e1e2 d8h4 e2e3 h4e4", "checkmate", (6, 1, 1, 0, 1)),
        ("e2e4 e7e5 e1e2 d8h4 e2e3 h4e4", "stalemate", (6, 1, 1, 1, 0)),
    ],
)
def test_what_is_counted_of_a_game(counting: ModuleType, moves: str, end: str, expected: tuple[int, ...]) -> None:
    assert counting.counted(moves, end) == expected


def test_the_page_follows_from_the_counts(counting: ModuleType, root: Path) -> None:
    counts = counting.read_counts(root / "docs/experiments/nature-counts.json")
    assert {name: len(games) for name, games in counts.items()} == dict.fromkeys(counting.SETS, 400)
    assert counting.page(counts) in (root / "docs/experiments/finding-nature.md").read_text(encoding="utf-8")
    stalemates = sum(game.stalemate for games in counts.values() for game in games)
    assert f"{stalemates} of 2,000 games" in (root / "docs/experiments/finding-nature.md").read_text(encoding="utf-8")
