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
    import_all_for_signatures()
    return names


def import_all_for_signatures() -> None:
    """Make the imports for signatures of all modules that are loaded, and of those that this loads.

    A module may need what another one defines there: it waits for the others then. ImportError where none goes on.
    """
    done: set[str] = set()
    while waiting := {name: file for name, file in loaded_files().items() if name not in done}:
        known, problem = len(done), ImportError()
        for name, file in waiting.items():
            try:
                import_for_signatures(file, vars(sys.modules[name]))
                done.add(name)
            except ImportError as error:
                problem = error
        if len(done) == known:
            raise problem


def loaded_files() -> dict[str, Path]:
    """Return the files of the modules of hauteur that are loaded, by the modules' names."""
    files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
    return {name: Path(file) for name, file in files.items() if name.startswith("hauteur.") and file.endswith(".py")}


def function_of(thing: Any) -> Any:
    """Return what a public name stands for; for a module that can be called, its function."""
    return names if inspect.ismodule(thing) else thing


def import_for_signatures(file: Path, namespace: dict[str, Any]) -> None:
    """Make a loaded module's imports under `if TYPE_CHECKING:`, which signatures alone refer to."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), str(file), "exec"), namespace)
