"""How far `hauteur prove` is: games, positions and plies are counted while a game in Python is solved."""

from typing import Any

import pytest

from hauteur.cli import main
from hauteur.cli.commands import prove as commands
from hauteur.games.registry import load_game
from hauteur.matches.exact_play import solved_set
from hauteur.system.progress import ProgressLine


def test_a_solved_set_is_counted_while_it_is_found() -> None:
    seen: list[tuple[str, int, int]] = []
    game = load_game("tutorial")
    found = solved_set(game, 150, watch=lambda what, done, of: seen.append((what, done, of)))
    assert found == solved_set(game, 150)
    ends = {"games played": 600, "plies tried": 9, "positions solved": 150}
    assert list(dict.fromkeys(what for what, _, _ in seen)) == list(ends)
    assert all(done <= of == ends[what] for what, done, of in seen), "it said 174 of 100"
    for name in ends:
        counts = [done for what, done, _ in seen if what == name]
        assert len(counts) >= 12
        assert counts[-1] > counts[0]


def test_every_position_that_is_looked_at_is_told() -> None:
    """Where few are quiet, seconds of a slow game went into each of those that were left out."""
    seen: list[str] = []
    solved_set(load_game("tutorial"), 10, watch=lambda what, *_: seen.append(what))
    assert seen.count("plies tried") > 100


@pytest.mark.parametrize("spec", ["tutorial", "tictactoe"])
def test_games_are_counted_in_logs_too(
    spec: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[bool | None] = []
    lines: list[str] = []

    class Line(ProgressLine):
        def __init__(self, on: bool | None, begin: str, **more: Any) -> None:
            begun.append(on)
            super().__init__(on, begin, **more)

        def show(self, text: str, share: float | None = None, *, last: bool = False) -> None:
            lines.append(text)
            assert share is None or 0 <= share <= 1

    monkeypatch.setattr(commands, "ProgressLine", Line)
    main.main(["prove", spec, "--net", "uniform", "--visits", "4", "--positions", "8"])
    assert begun == [True]
    for part in ("games played", "plies tried", "visits made", "positions counted", "positions of ply"):
        assert any(part in line for line in lines), part
    assert "value-preserving moves" in capsys.readouterr().out
