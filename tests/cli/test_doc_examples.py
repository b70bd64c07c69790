"""Examples run: programs and notebooks of `examples/`, and the examples in the docstrings of the public names."""

import ast
import doctest
import inspect
import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doc_blocks import ROOT

import hauteur
from hauteur.games import registry
from hauteur.mcts.analysis import search

PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
LONGEST = {"alphazero_loop.py": 80}
"""Programs with a limit of their own; the others have at most 60 lines."""

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
NAMES = [name for name in hauteur.__all__ if name != "__version__"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory of its own, and games that are registered for this test alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_registered", {})


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_programs_run(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(program), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_programs_are_short_and_explain_themselves(program: Path) -> None:
    text = program.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST.get(program.name, 60)
    assert ast.get_docstring(ast.parse(text))
    assert f"({program.name})" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")


def public(name: str) -> Any:
    """Return what a public name stands for; for a module that can be called, its function."""
    thing = getattr(hauteur, name)
    return search if inspect.ismodule(thing) else thing


def examples_of(name: str) -> list[doctest.DocTest]:
    """Return the examples in the docstrings of a public name and of its public members."""
    thing = public(name)
    found = doctest.DocTestFinder().find(thing, name, module=inspect.getmodule(thing), globs={"ht": hauteur})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings(name: str, record_property: Callable[[str, object], None]) -> None:
    tests = examples_of(name)
    failures: list[str] = []
    for test in tests:
        doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=failures.append)
    assert not failures, "".join(failures)
    count = sum(len(test.examples) for test in tests)
    record_property("doc_blocks", [(("docstring example executed", ""), count)] if count else [])


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_an_example(name: str) -> None:
    assert examples_of(name)


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
    assert [f"(notebooks/{path.name})" in index for path in NOTEBOOKS] == [True] * 3
