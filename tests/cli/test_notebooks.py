"""The notebooks of `examples/notebooks` run, cell by cell, and what their cells show can be displayed."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does; return the value of its last line, None where that is a statement."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "cell", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "notebooks are kept without their outputs"
            shown = run_cell("".join(cell["source"]), names)
            assert repr(shown)
            for display in ("_repr_html_", "_repr_svg_"):
                assert getattr(shown, display, lambda: "nothing of that kind")()


def test_there_are_three_and_the_index_names_them() -> None:
    index = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 3
    assert all(f"(notebooks/{path.name})" in index for path in NOTEBOOKS)
