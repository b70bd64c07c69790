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
    found = solved_set(game, 12, watch=lambda what, done, of: seen.append((what, done, of)))
    assert found == solved_set(game, 12)
    for name in ("games played", "positions solved"):
        counts = [done for what, done, _ in seen if what == name]
        assert counts[0] == 1
        assert len(counts) >= 12
    assert seen[-1][0] == "positions solved"


@pytest.mark.parametrize(("spec", "shown"), [("tutorial", True), ("tictactoe", None)])
def test_games_in_python_are_counted_in_logs_too(
    spec: str, shown: bool | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
    assert begun == [shown]
    assert any("positions of ply" in line for line in lines)
    assert "value-preserving moves" in capsys.readouterr().out
