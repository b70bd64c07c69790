"""Settings as text: name, default, allowed values and meaning of every field, read from the pydantic models."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo


class Setting(NamedTuple):
    """One setting: `allowed` is empty where the code knows no bounds, `meaning` where it has no docstring."""

    name: str
    default: str
    allowed: str
    meaning: str
    section: type[BaseModel] | None


def settings(model: type[BaseModel]) -> list[Setting]:
    """Return the settings of a section in their order; `section` is the class of one that is a section itself."""
    meanings = attribute_docstrings(model)
    return [
        Setting(
            name,
            default_text(field.default),
            allowed(field),
            field.description or meanings.get(name, ""),
            section_of(field.annotation),
        )
        for name, field in model.model_fields.items()
    ]


def attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the strings below the fields of a class and of its bases, by the fields' names."""
    found: dict[str, str] = {}
    for base in reversed([base for base in model.__mro__ if issubclass(base, BaseModel) and base is not BaseModel]):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text(text):
                found[field.target.id] = inspect.cleandoc(ast.literal_eval(text.value))  # type: ignore[attr-defined]
    return found


def is_text(node: ast.stmt) -> bool:
    """Return whether a statement is a string alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def default_text(value: Any) -> str:
    """Return a default as written in a recipe; empty for sections and for settings without a default."""
    if isinstance(value, BaseModel) or repr(value) == "PydanticUndefined":
        return ""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def allowed(field: FieldInfo) -> str:
    """Return the allowed values of a setting in words; empty where its type says nothing."""
    bounds = list(field.metadata)
    choices: list[str] = []
    for part in parts(field.annotation):
        if get_origin(part) is Annotated:
            for extra in get_args(part)[1:]:
                bounds += extra.metadata if isinstance(extra, FieldInfo) else [extra]
        elif get_origin(part) is Literal:
            choices += [f"`{choice}`" for choice in get_args(part)]
        elif part is bool:
            choices += ["`true`", "`false`"]
    return ", ".join(choices) or range_text(bounds)


def range_text(bounds: list[Any]) -> str:
    """Return bounds as `1 to 100`, `above 0 to 10`, `0 to below 1` or `at least 0`."""
    low = next((number(bound.ge) for bound in bounds if isinstance(bound, Ge)), "")
    low = next((f"above {number(bound.gt)}" for bound in bounds if isinstance(bound, Gt)), low)
    high = next((number(bound.le) for bound in bounds if isinstance(bound, Le)), "")
    high = next((f"below {number(bound.lt)}" for bound in bounds if isinstance(bound, Lt)), high)
    if low and high:
        return f"{low} to {high}"
    if low:
        return low if low.startswith("above") else f"at least {low}"
    return high if not high or high.startswith("below") else f"at most {high}"


def number(value: Any) -> str:
    """Return a bound, its thousands set apart by spaces."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return f"{int(value):,}".replace(",", " ") if whole else f"{value:g}"


def parts(annotation: Any) -> Iterator[Any]:
    """Yield the alternatives of a type, None left out."""
    if get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from parts(part)
    elif annotation is not NoneType:
        yield annotation


def section_of(annotation: Any) -> type[BaseModel] | None:
    """Return the section that a setting is, None if it is a value."""
    return next((p for p in parts(annotation) if isinstance(p, type) and issubclass(p, BaseModel)), None)
