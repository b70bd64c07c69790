"""Documents run: blocks of pages, programs and notebooks of `examples/`, docstrings of the public names."""

import ast
import contextlib
import doctest
import inspect
import io
import json
import os
import re
import runpy
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import doc_commands
import pytest
from doc_blocks import PARSED, ROOT, RUN, SHELL, Block, blocks, command_lines, pages

import hauteur
from hauteur.games import registry
from hauteur.learning.recipe import Recipe
from hauteur.mcts.analysis import search
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur_experiments import registry as experiments

PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
LONGEST = {"alphazero_loop.py": 80, "breakthrough.py": 100, "dots_and_boxes.py": 100}
"""Programs with a limit of their own; the others have at most 70 lines."""

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
    assert len(text.splitlines()) <= LONGEST.get(program.name, 70)
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


# -- blocks of pages ---------------------------------------------------------------------------------------------------


FAKES = ROOT / "tests" / "support"
NO_PROGRAM = ("text", "rust", "yaml", "")
"""Languages of blocks that show something: output, parts of files of the core, settings of other programs."""


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with the recipes, and a fake program called stockfish in PATH."""
    shutil.copytree(ROOT / "runs", tmp_path / "runs", ignore=lambda folder, names: [n for n in names if "." not in n])
    for recipe in (tmp_path / "runs").rglob("*.toml"):
        recipe.write_text(files_for_names(recipe.read_text(encoding="utf-8")), encoding="utf-8")
    program = tmp_path / "bin" / "stockfish"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{FAKES / 'fake_engine.py'}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(experiments, "_registered", {})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.timeout(1200)  # a page has up to twenty commands, and the machine may be busy
@pytest.mark.parametrize("page", pages(RUN), ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page: Path, workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.reason:
            continue
        if block.language == "python":
            run_python(block, names)
        elif block.language in SHELL:
            run_shell(block, monkeypatch)
        elif block.language == "toml":
            check_toml(block)
        else:
            assert block.language in NO_PROGRAM, f"{block.place}: what is a block of {block.language}?"


@pytest.mark.parametrize("page", pages(PARSED), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_measurements_parse(page: Path) -> None:
    for block in blocks(page):
        for words in command_lines(block) if block.language in SHELL else []:
            if words[0] == "hauteur":
                doc_commands.parse(words[1:])


def run_python(block: Block, names: dict[str, Any]) -> None:
    """Execute a Python block in the namespace of its page; one that begins with a file's name is that file too."""
    save_named(block)
    code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)


def run_shell(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute the commands of a shell block, or parse those that cannot be small."""
    for words in command_lines(block):
        shown = " ".join(words)
        status = doc_commands.perform(words, monkeypatch)
        assert status == 0, f"{block.place}: {shown}: exit status {status}"


def check_toml(block: Block) -> None:
    """Read a TOML block as what it is: a recipe or a part of one, a player, or a part of pyproject.toml."""
    save_named(block)
    values = tomllib.loads(block.text)
    if "project" in values:
        return
    if values.keys() & PlayerSettings.model_fields.keys() and not values.keys() & {"game", "run"}:
        Path("player.toml").write_text(block.text, encoding="utf-8")
        parse_player("player.toml")
        return
    if "controller" in values:
        values.setdefault("selfplay", {"search": {"search_contempt": {}}})
    Recipe.model_validate({"game": "connect4"} | values)


def save_named(block: Block) -> None:
    """Write a block that begins with the name of a file, as a comment, to that file in the working directory."""
    name = re.match(r"# ([\w-]+\.(?:py|toml))\n", block.text)
    if name:
        text = files_for_names(re.sub(r"visits = \d+", "visits = 4", block.text))
        Path(name[1]).write_text(text, encoding="utf-8")


def files_for_names(settings: str) -> str:
    """Return settings in which public nets are files, which the commands of a page find beside them."""
    return re.sub(r'"(maia-\d+)"', r'"\1.pb.gz"', settings)
