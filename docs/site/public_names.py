"""The public names of hauteur, imported so that the types in their signatures can be resolved."""

import ast
import inspect
import sys
from pathlib import Path
from typing import Any

import hauteur
from hauteur.games.registry import names


def public_names() -> dict[str, Any]:
    """Return the public names and what they stand for, in their order."""
    names = {name: function_of(getattr(hauteur, name)) for name in hauteur.__all__ if not name.startswith("_")}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name.startswith("hauteur.") and file.endswith(".py"):
            import_for_signatures(Path(file), vars(module))
    return names


def function_of(thing: Any) -> Any:
    """Return what a public name stands for; for a module that can be called, its function."""
    return names if inspect.ismodule(thing) else thing


def import_for_signatures(file: Path, namespace: dict[str, Any]) -> None:
    """Make a loaded module's imports under `if TYPE_CHECKING:`, which signatures alone refer to."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), str(file), "exec"), namespace)
