"""The reference of the public API: the names of `hauteur` by autodoc, settings as tables, the types they refer to."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import docstrings
import settings_text
import staging
from public_names import public_names
from pydantic import BaseModel

NAMED_TYPE = re.compile(r"hauteur(?:\.\w+)+")


def write(target: Path) -> None:
    """Write the page below `target`, the staged checkout."""
    staging.write(target / "docs/reference/api.md", page())


def page() -> str:
    """Return the page: the public names in their order, the classes that they name, and the classes that these name."""
    public = public_names()
    first = referred(list(public.values()), [])
    second = referred(first, list(public.values()))
    entries = [entry("hauteur", name, thing) for name, thing in public.items()]
    named = [entry(thing.__module__, thing.__qualname__, thing) for thing in first]
    head = "# Python API\n\n`import hauteur as ht` gives these names; each is imported with its first use.\n"
    classes = (
        f"## Classes that they refer to\n\n{rest(named)}\n## Further classes\n\n{rest(list(map(mention, second)))}"
    )
    return f"{head}\n## Public names\n\n{rest(entries)}\n{classes}"


def rest(entries: list[str]) -> str:
    """Return directives within a Markdown page."""
    return "```{eval-rst}\n" + "\n".join(entries) + "\n```\n"


def entry(module: str, name: str, thing: Any) -> str:
    """Return the directive that documents a name of a module."""
    if inspect.isclass(thing) and issubclass(thing, BaseModel):
        return settings_entry(module, name, thing)
    if name == "games":  # a package that can be called, which autodoc would take for a module
        lines = docstrings.as_rest(inspect.cleandoc(thing.__doc__ or "").splitlines())
        return "\n".join([f".. py:function:: {module}.games() -> list[str]", "", *(f"   {line}" for line in lines), ""])
    kind = "class" if inspect.isclass(thing) else "function"
    members = "   :members:\n" if kind == "class" else ""
    return f".. auto{kind}:: {module}.{name}\n{members}"


def settings_entry(module: str, name: str, model: type[BaseModel]) -> str:
    """Return the documentation of a section of settings: what it is, and a table of its fields."""
    canonical = f"{model.__module__}.{model.__qualname__}"
    alias = [f"   :canonical: {canonical}"] if canonical != f"{module}.{name}" else []
    text = docstrings.as_rest(inspect.cleandoc(model.__doc__ or "").splitlines())
    rows = [row(setting) for setting in settings_text.settings(model)]
    table = [".. list-table::", "   :header-rows: 1", ""]
    for cells in [("setting", "default", "allowed", "meaning"), *rows]:
        table += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(cells)]
    return "\n".join(
        [f".. py:class:: {module}.{name}", *alias, "", *(f"   {line}" for line in [*text, "", *table]), ""]
    )


def row(setting: settings_text.Setting) -> tuple[str, str, str, str]:
    """Return the cells of a setting, in reStructuredText."""
    meaning = " ".join(docstrings.as_rest(setting.meaning.split("\n"))) if setting.meaning else ""
    if setting.section is not None:
        whole = f"{setting.section.__module__}.{setting.section.__qualname__}"
        return (
            f"``{setting.name}``",
            "absent" if setting.default == "none" else "its defaults",
            f":py:class:`~{whole}`",
            meaning,
        )
    code = f"``{setting.default}``" if setting.default else ""
    return f"``{setting.name}``", code, setting.allowed.replace("`", "``"), meaning


def mention(thing: type) -> str:
    """Return the first paragraph of a class's documentation, as the target of references."""
    paragraph = inspect.cleandoc(thing.__doc__ or "").partition("\n\n")[0]
    lines = docstrings.as_rest(paragraph.splitlines())
    return "\n".join([f".. py:class:: {thing.__module__}.{thing.__qualname__}", "", *(f"   {x}" for x in lines), ""])


def referred(things: list[Any], known: list[Any]) -> list[type]:
    """Return the classes of hauteur that `things` name in signatures and settings and that are new."""
    seen = {id(thing) for thing in [*things, *known]}
    found = {id(other): other for thing in things for other in neighbours(thing) if id(other) not in seen}
    return sorted(found.values(), key=lambda one: one.__qualname__)


def neighbours(thing: Any) -> list[type]:
    """Return the classes of hauteur in the signatures of a function or of a class's public members."""
    if inspect.isclass(thing) and issubclass(thing, BaseModel):
        return [setting.section for setting in settings_text.settings(thing) if setting.section is not None]
    members = [thing] if not inspect.isclass(thing) else [thing.__init__, *public_members(thing)]
    names = {name for member in members for name in NAMED_TYPE.findall(signature_text(member))}
    return [found for found in map(class_named, sorted(names)) if found is not None]


def public_members(owner: type) -> list[Any]:
    """Return the functions of a class's public methods and properties."""
    members = [member for name, member in vars(owner).items() if not name.startswith("_")]
    inner = ("fget", "func", "__func__")  # of a property, of a cached one, of a class method
    return [next((getattr(member, name) for name in inner if hasattr(member, name)), member) for member in members]


def signature_text(function: Any) -> str:
    """Return a function's signature with the full names of its types; empty for what has none."""
    try:
        return str(inspect.signature(function, eval_str=True))
    except (TypeError, ValueError, NameError):
        return ""


def class_named(path: str) -> type | None:
    """Return the class of a dotted path, None where there is none."""
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None
    return found if inspect.isclass(found) else None
