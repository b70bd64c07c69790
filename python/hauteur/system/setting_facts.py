"""Facts about the settings of a model: kinds, defaults, ranges, choices and texts, as forms and lists show them."""

import ast
import inspect
import re
import textwrap
from collections.abc import Collection
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from hauteur.system.settings import range_of, value_kinds

SettingKind = Literal["whole", "number", "switch", "choice", "text"]


@dataclass(frozen=True)
class SettingFacts:
    """A setting that is not a section."""

    model: type[BaseModel]
    """The model that has the setting."""
    name: str
    """Its name."""
    kind: SettingKind
    """Kind of its values."""
    default: Any
    """Default value."""
    choices: tuple[str, ...]
    """Allowed texts of a choice."""
    ends: dict[str, float]
    """Ends of its range, by `ge`, `gt`, `le`, `lt`."""
    optional: bool
    """It may be None."""

    @property
    def text(self) -> str:
        """Its text in the source of the model, or of a class that this is made from."""
        for one in self.model.__mro__:
            if self.name not in field_names(one):
                continue
            text = attribute_texts(one).get(self.name) or class_texts(one).get(self.name)
            if text:
                return text
        return ""


def setting_facts(model: type[BaseModel], name: str) -> SettingFacts:
    """Return the facts of a plain setting of a model."""
    field = model.model_fields[name]
    kinds = value_kinds(field.annotation)
    choices: list[str] = []
    for kind in kinds:
        if get_origin(kind) is Literal:
            choices += map(str, get_args(kind))
    return SettingFacts(
        model=model,
        name=name,
        kind=_kind(kinds, tuple(choices)),
        default=field.default,
        choices=tuple(choices),
        ends=range_of(field),
        optional=NoneType in kinds,
    )


def first_sentence(text: str | None) -> str:
    """Return the first sentence of a documentation, without its full stop and what stands in brackets after it."""
    return re.split(r" \(|\. |: ", " ".join((text or "").split()))[0].rstrip(".")


def field_names(model: type) -> Collection[str]:
    """Return the names of the fields of a model, or of a plain class that it has them of; none of other classes."""
    if issubclass(model, BaseModel):
        return model.model_fields
    if not is_dataclass(model):
        return []
    return [field.name for field in fields(model)]


@lru_cache(256)
def attribute_texts(model: type) -> dict[str, str]:
    """Return the texts below the attributes of a class, by name."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    pairs = zip(definition.body, definition.body[1:], strict=False)
    return {
        before.target.id: " ".join(after.value.value.split())
        for before, after in pairs
        if isinstance(before, ast.AnnAssign)
        and isinstance(before.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }


@lru_cache(256)
def class_texts(model: type) -> dict[str, str]:
    """Return the texts of attributes that the documentation of a class lists as `name: text; other, third: text`."""
    found: dict[str, str] = {}
    for part in re.split(r"; |\. ", " ".join((model.__doc__ or "").split())):
        listed, colon, text = part.partition(": ")
        names = listed.split(", ")
        if colon and set(names) <= set(field_names(model)):
            found |= dict.fromkeys(names, text.rstrip(".;"))
    return found


def _kind(kinds: list[Any], choices: tuple[str, ...]) -> SettingKind:
    if choices:
        return "choice"
    if bool in kinds:
        return "switch"
    if float in kinds:
        return "number"
    if int in kinds:
        return "whole"
    return "text"
