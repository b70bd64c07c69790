"""The limits of CONTRIBUTING.md that no linter knows: length of files and functions, forbidden calls and text."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILE_LINES = 600
FUNCTION_LINES = 60
LONG_FILES = {"python/hauteur/_core.pyi": 1000}
"""The interface of the compiled core is one module, which a stub cannot divide."""


def tracked(*patterns: str) -> list[Path]:
    """Files of the repository that match a pattern; skips outside a checkout."""
    done = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a Python file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without those of its docstring, which for a command describes every parameter."""
    first = node.body[0]
    has_docstring = ast.get_docstring(node) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if has_docstring else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def lines(path: Path) -> int:
    """Number of lines of a text file."""
    return path.read_text(encoding="utf-8").count("\n")


def test_files_are_short() -> None:
    files = tracked("*.py", "*.rs", "*.pyi")
    counts = {str(path.relative_to(ROOT)): lines(path) for path in files}
    long = {name: count for name, count in counts.items() if count > LONG_FILES.get(name, FILE_LINES)}
    assert not long, f"files that are too long: {long}"


def test_functions_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in tracked("*.py")
        for node in functions(path)
        if code_lines(node) > FUNCTION_LINES
    ]
    assert not long, f"functions of more than {FUNCTION_LINES} lines: {long}"


def test_nothing_unpickles() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in tracked("python/*.py")
        if re.search(r"^\s*(import|from) pickle|\btorch\.load\(|allow_pickle=True", path.read_text(), re.MULTILINE)
    ]
    assert not found, f"these would run code from a file: {found}"


FORBIDDEN = {
    r"(?<![\w.~/:*\])}>$-])/(?!(?:usr|sys|proc|dev|etc|bin|full|path|static|live|runs)\b)[a-z]\w+/\w": (
        "an absolute path"
    ),
    r"<{7} |>{7} ": "a merge that was not finished",
    r"\b(TODO|FIXME|XXX)\b": "unfinished work: finish it or write it down in the documentation",
}

TEXT = ("*.py", "*.pyi", "*.rs", "*.sh", "*.js", "*.md", "*.toml", "*.yml", "*.cff", "Makefile", ".ci/*")


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_forbidden_text(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked(*TEXT)
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert not found, f"{FORBIDDEN[pattern]}: {found}"


def test_the_most_visits_of_a_search_are_written_once() -> None:
    """What users may ask for is `MOST_VISITS` of `mcts/plain_settings.py`, but for settings of the core."""
    number = re.compile(r"visits\w*: .*\b(?:le|lte|lt)=(?:1_000_000_000|10\*\*9|2\*\*32)\b")
    found = []
    for path in tracked("python/hauteur/**.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if number.search(line):
                found.append(f"{path.relative_to(ROOT)}: {line.strip()}")
    assert not found, found
