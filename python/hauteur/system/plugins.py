"""Files of the user's own that register games and networks, and additions of other distributions by entry points.

Only what the user names is ever imported.
"""

import importlib
import importlib.util
import os
import sys
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS_GROUP = "hauteur.commands"
"""Group of entry points that are commands: `name = "module:app"`."""

EXPERIMENTS_GROUP = "hauteur.experiments"
"""Group of entry points that are sequences of experiments, of which the command `hauteur experiment` makes one."""

VARIABLE = "HAUTEUR_IMPORT"
"""Environment variable that names modules or .py files, separated by commas, to import when a name is not known."""

_imported: set[str] = set()
_names: set[str] = set()  # of the modules that .py files became


def import_named(entry: str, source: str) -> None:
    """Import a module by its name, or a .py file by its path, once. ValueError, naming `source`, where it fails."""
    name = str(Path(entry).resolve()) if entry.endswith(".py") else entry  # other processes may be in other folders
    if name in _imported:
        return
    _imported.add(name)
    try:
        _import(entry)
    except (ImportError, OSError, SyntaxError) as error:
        _imported.discard(name)
        raise ValueError(f"{source}: cannot import {entry!r}: {error}") from error
    except Exception as error:  # whatever the user's own code raises
        _imported.discard(name)
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename}, line {place.lineno}"
        raise ValueError(f"{source}: cannot import {entry!r}: {where}: {type(error).__name__}: {error}") from error


def named_for_processes() -> str:
    """Return what processes that need the same games and nets import, as VARIABLE has it.

    That is what it names here, and what was imported here, files by their whole paths.
    """
    named = os.environ.get(VARIABLE)
    own = sorted(_imported)
    return ",".join([named, *own] if named else own)


def environment_for_processes() -> dict[str, str]:
    """Return the environment for another process of hauteur: this one's, with its modules, games and networks."""
    return {
        **os.environ,
        VARIABLE: named_for_processes(),
        "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path),
    }


def load_variable() -> None:
    """Import what the environment variable names, each once."""
    for entry in filter(None, (part.strip() for part in os.environ.get(VARIABLE, "").split(","))):
        import_named(entry, VARIABLE)


def _import(entry: str) -> None:
    """Import a module by its name, or a .py file by its path."""
    if not entry.endswith(".py"):
        importlib.import_module(entry)
        return
    name = Path(entry).stem
    place = Path(entry).resolve()
    known = None if name in _names else importlib.util.find_spec(name)
    if known is not None and Path(known.origin or "").resolve() != place:
        raise ImportError(f"there is a module {name} already: rename the file")
    if name in sys.modules and name not in _names:
        return  # a file that was imported before has imported this one
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))  # so that it may import what lies next to it; last, to hide nothing
    module_spec = importlib.util.spec_from_file_location(name, entry)
    assert module_spec is not None  # a .py path always has a loader
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    _names.add(name)
    try:
        module_spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


@cache
def offered(group: str) -> "tuple[EntryPoint, ...]":
    """Return the entry points of a group by name, without importing any; those of the first call in this process."""
    from importlib.metadata import entry_points  # here: slow to import

    return tuple(sorted(entry_points(group=group), key=lambda entry: entry.name))
