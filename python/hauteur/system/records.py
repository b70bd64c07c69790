"""Plain records: dataclasses that check their fields by their annotations, and are read from JSON.

Models of settings (`hauteur.system.settings`) do more, but to import pydantic takes longer than an engine's first move.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)


class DataclassInstance(Protocol):
    """What the functions of dataclasses take."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Record = TypeVar("Record", bound=DataclassInstance)

LONGEST = 80
"""Characters of a wrong value that a message quotes."""

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class Range(NamedTuple):
    """Least and greatest value of a whole number, as a note in `Annotated[int, Range(1, 9)]`; models read it too."""

    ge: int
    le: int

    def __get_pydantic_core_schema__(self, kind: Any, handler: Any) -> Any:
        """Return what pydantic checks of such a number in a model."""
        return {**handler(kind), "ge": self.ge, "le": self.le}


def check_fields(record: DataclassInstance) -> None:
    """Raise ValueError, in one line, for the first field with a value that its annotation does not allow."""
    for name, kind in _kinds(type(record)).items():
        value = getattr(record, name)
        if not fits(value, kind):
            raise ValueError(f"{name} must be {in_words(kind)}, got {repr(value)[:LONGEST]}")


def read_record(record: type[Record], values: object) -> Record:
    """Return the record that values of JSON give; ValueError, in one line, for others."""
    if not isinstance(values, dict):
        raise ValueError(f"must have named values, got {repr(values)[:LONGEST]}")
    known = {field.name: field for field in fields(record)}
    for name in values:
        if name not in known:
            raise ValueError(f"{name[:LONGEST]} is not a setting; allowed: {', '.join(known)}")
    for name, field in known.items():
        is_optional = field.default is not MISSING or field.default_factory is not MISSING
        if name not in values and not is_optional:
            raise ValueError(f"{name} is missing")
    # JSON has lists alone.
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return record(**given)


def record_values(record: DataclassInstance) -> dict[str, Any]:
    """Return the values of a record by the names of its fields."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def json_line(values: Mapping[str, Any]) -> str:
    """Return values as JSON without spaces, as models write it."""
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)


def fits(value: object, kind: Any) -> bool:
    """Return whether a type allows a value: bool, int, float, str, None, `Literal`, `Annotated[int, Range]`, unions,
    tuples of a fixed length, and dicts of these."""
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin is Annotated:
        return fits(value, arguments[0]) and _is_within(value, arguments[1])
    if origin is UnionType:
        return any(fits(value, argument) for argument in arguments)
    if origin is Literal:
        return isinstance(value, int | str) and not isinstance(value, bool) and value in arguments
    if origin is tuple:
        has_length = isinstance(value, tuple) and len(value) == len(arguments)
        return has_length and all(map(fits, value, arguments))  # type: ignore[call-overload]
    if origin is dict:
        keys, values = arguments
        return isinstance(value, dict) and all(fits(k, keys) and fits(v, values) for k, v in value.items())
    if isinstance(value, bool) and kind is not bool:
        return False  # Python counts it among the whole numbers
    return isinstance(value, kind)


def _is_within(value: Any, limits: Range) -> bool:
    """Return whether a number is in a range."""
    return bool(limits.ge <= value <= limits.le)


def in_words(kind: Any) -> str:
    """Return what a type allows, for messages."""
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin is Annotated:
        return f"{arguments[1].ge} to {arguments[1].le}"
    if origin is UnionType:
        return " or ".join(in_words(argument) for argument in arguments)
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin is tuple:
        return f"{len(arguments)} values, each {in_words(arguments[0])}"
    if origin is dict:
        return f"named values, each {in_words(arguments[1])}"
    return _WORDS.get(kind, "none")


@cache
def _kinds(record: type[DataclassInstance]) -> dict[str, Any]:
    """Return the types of the fields of a record, in their order."""
    hints = get_type_hints(record, include_extras=True)
    return {field.name: hints[field.name] for field in fields(record)}
