"""The settings of the search, listed for the command line."""

import re
from collections.abc import Iterator
from typing import Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hauteur.search.params import SearchParams


def print_settings() -> int:
    """Print every setting of the search with its default and what is allowed; return the exit status."""
    rows = list(setting_rows())
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for key, default, allowed in rows:
        print(f"{key:{widths[0]}}  {default:{widths[1]}}  {allowed}".rstrip())
    return 0


def setting_rows() -> Iterator[tuple[str, str, str]]:
    """Yield key, default and allowed values of every setting; a rule that is off has a row of its own before them."""
    for name, field in SearchParams.model_fields.items():
        key, section = f"--search.{name.replace('_', '-')}", _section(field)
        if section is None:
            yield key, _text(field.default), _allowed(field)
            continue
        if field.default is None:
            yield f"{key}:", "off", _first_sentence(section)
        for inner, inside in section.model_fields.items():
            yield f"{key}.{inner.replace('_', '-')}", _text(inside.default), _allowed(inside)


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a rule's section, None for a plain setting."""
    kinds = (field.annotation, *get_args(field.annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _first_sentence(section: type[BaseModel]) -> str:
    """What a rule does, from its documentation."""
    text = " ".join((section.__doc__ or "").split())
    return re.split(r" \(|\. |: ", text)[0].rstrip(".")


def _text(value: object) -> str:
    """A default as it is written on the command line."""
    if value is None or value in ((), ""):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(field: FieldInfo) -> str:
    """What a setting may be: its choices, or the ends of its range."""
    kinds = (field.annotation, *get_args(field.annotation))
    choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())
    if choices or field.annotation is bool:
        return " | ".join(map(str, choices)) or "true | false"
    facts = [*field.metadata, *(fact for kind in kinds for info in get_args(kind) for fact in _metadata(info))]
    ends = {name: getattr(fact, name) for fact in facts for name in ("ge", "gt", "le", "lt") if hasattr(fact, name)}
    signs = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
    return ", ".join(f"{signs[name]} {end:g}" for name, end in ends.items())


def _metadata(info: object) -> list[object]:
    return list(info.metadata) if isinstance(info, FieldInfo) else []
