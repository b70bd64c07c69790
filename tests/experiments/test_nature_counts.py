"""Counts of self-play by N_scl: what is counted of a game, and that the page follows from the counts."""

from pathlib import Path

import pytest

import nature_counts


@pytest.mark.parametrize(
    ("moves", "end", "expected"),
    [
        ("f2f3 e7e5 g2g4 d8h4", "checkmate", (4, 0, 1, 0, 0)),
        ("e2e4 d7d5 e4d5 d8d5 b1c3 d5e5", "", (6, 2, 1, 0, 0)),
        ("e2e4 e7e5 e1e2 d8h4 e2e3 h4e4", "checkmate", (6, 1, 1, 0, 1)),
        ("e2e4 e7e5 e1e2 d8h4 e2e3 h4e4", "stalemate", (6, 1, 1, 1, 0)),
    ],
)
def test_what_is_counted_of_a_game(moves: str, end: str, expected: tuple[int, ...]) -> None:
    assert nature_counts.counted(moves, end) == expected


def test_the_page_follows_from_the_counts(root: Path) -> None:
    counts = nature_counts.read_counts(root / "docs/experiments/nature-counts.json")
    assert {name: len(games) for name, games in counts.items()} == dict.fromkeys(nature_counts.SETS, 400)
    assert nature_counts.page(counts) in (root / "docs/experiments/finding-nature.md").read_text(encoding="utf-8")
    stalemates = sum(game.stalemate for games in counts.values() for game in games)
    assert f"{stalemates} of 2,000 games" in (root / "docs/experiments/finding-nature.md").read_text(encoding="utf-8")
