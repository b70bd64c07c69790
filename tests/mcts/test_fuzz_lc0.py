"""checks/fuzz_lc0.py with a search of ours in the place of lc0: no difference, a named one, and one without a cause."""

from typing import Any

import numpy as np
import pytest

import fuzz_lc0
from hauteur._core import Game
from hauteur.networks.evaluators.base import UniformEvaluator
from verify_lc0 import reached

NET = UniformEvaluator(Game("chess"))


class Double:
    """Answers as lc0 does. how: its roundings; extra: visits that it adds to a move."""

    def __init__(self, how: str, extra: int) -> None:
        self.how = how
        self.extra = extra
        self.lines = list[str]()

    def send(self, *lines: str) -> None:
        """Take commands; search at `go nodes N`."""
        if lines[0] != "ucinewgame":
            fen, _, moves = lines[0].removeprefix("position ").removeprefix("fen ").partition(" moves ")
            state = reached({"id": fen, "fen": fen, "moves": moves.split()})
            search = fuzz_lc0.Varied(state, {}, NET, self.how, 7)
            search.run(search.answers, int(lines[1].split()[-1]))
            rows = [(state.action_to_text(one.action), one.visits, one.prior) for one in search.root.edges]
            rows[0] = (rows[0][0], rows[0][1] + self.extra, rows[0][2])
            end = "(P: {:.2f}%) (WL: 0.1) (V:  0.0000)"
            self.lines = [
                f"info string {m} (1 ) N: {n} (+ 0) {end.format(100 * p)}" for m, n, p in (*rows, ("node", 1, 0))
            ]

    def until(self, word: str) -> list[str]:
        """Return what was said."""
        return [*self.lines, word]


@pytest.mark.parametrize(("how", "extra", "cause"), [("", 0, None), ("ties", 0, "ties"), ("", 1, "")])
def test_differences_have_causes(how: str, extra: int, cause: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: dict[str, Any] = {"NODES": (1, 4), "GAMES": 2, "ROUNDS": 1, "TRIES": 8}
    for name, value in sizes.items():
        monkeypatch.setattr(fuzz_lc0, name, value)
    found = fuzz_lc0.compare(Double(how, extra), NET, 3, {})  # type: ignore[arg-type]
    assert (found["positions"], found["searches"]) == (2, 4)
    assert {one["cause"] for one in found["differences"]} == (set() if cause is None else {cause})
    assert fuzz_lc0.report([found]) == int(cause == "")
    assert np.isclose(found["V"], 0.0)
