"""Every public class with five or more fields says under each field what it holds: unit, range, shape, meaning."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FIELDS = 5
"""Classes with fewer fields may describe them in the docstring of the class."""


def sources() -> list[Path]:
    """Python files of the package and of the experiments; skips outside a checkout."""
    patterns = ["python/hauteur/*.py", "experiments/src/*.py"]
    done = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def has_docstring(body: list[ast.stmt], index: int) -> bool:
    """Return whether a string follows the statement."""
    if index + 1 == len(body):
        return False
    following = body[index + 1]
    return (
        isinstance(following, ast.Expr)
        and isinstance(following.value, ast.Constant)
        and isinstance(following.value.value, str)
    )


def public_fields(node: ast.ClassDef) -> Iterator[tuple[str, bool]]:
    """Yield name of each public field, and whether it has a docstring."""
    for index, statement in enumerate(node.body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            if not name.startswith("_"):
                yield name, has_docstring(node.body, index)


def undescribed(path: Path) -> Iterator[str]:
    """Yield the fields of a file that lack a docstring, as `file:line Class.field`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        fields = list(public_fields(node))
        if len(fields) < FIELDS:
            continue
        for name, described in fields:
            if not described:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}.{name}"


def test_fields_are_described() -> None:
    missing = [line for path in sources() for line in undescribed(path)]
    assert not missing, "fields without a docstring:\n" + "\n".join(missing)
