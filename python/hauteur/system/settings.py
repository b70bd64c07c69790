"""Settings: their base, keys and values as text and TOML, and what does not fit as one line for the user."""

import math
import re
from collections.abc import Iterable, Iterator
from numbers import Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from hauteur.system.formatting import did_you_mean
from hauteur.system.hints import setting_hint

Key = tuple[str, ...]
"""Names of the sections that lead to a setting, and its own."""

ON = ("on", "true")
"""Words that stand for an optional section with its defaults."""
OFF = ("off", "none", "false")
"""Words that stand for an optional section that is absent."""

MOST_PROBLEMS = 5
"""Wrong settings that one message names."""

OF_A_KIND = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    NoneType: "none",
}
"""What values of a type are called."""
OF_AN_ERROR = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number with fewer digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "none_required": "none",
    "dict_type": "named values",
    "list_type": "a list",
    "tuple_type": "a list",
    "path_type": "a path",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "literal_error": "{expected}",
    "string_too_short": "a text of {min_length} or more characters",
    "string_too_long": "a text of at most {max_length} characters",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "too_short": "{min_length} or more values",
    "too_long": "at most {max_length} values",
}
"""What pydantic's kinds of errors say is allowed, with the facts of the error in braces."""
RANGE_WORDS = {
    "ge": "at least",
    "gt": "more than",
    "le": "at most",
    "lt": "less than",
    "multiple_of": "a multiple of",
}
"""What is said of the ends of a range, in this order."""
OF_ONE_VALUE = ("int_", "float_", "bool_", "finite_", "greater_", "less_", "multiple_", "literal_", "string_type")
"""Beginnings of the kinds of errors of which the type and range of the setting say all."""


class Section(BaseModel):
    """Immutable, no unknown keys. A number instead of a section is its first setting that is a number.

    Raise ValueError, in one line, for what is not allowed.
    """

    def __init__(self, /, *unnamed: Any, **settings: Any) -> None:
        if unnamed:
            first = first_number(type(self)) or next(iter(type(self).model_fields))
            raise TypeError(f"{type(self).__name__} has named settings: write {type(self).__name__}({first}=...)")
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise ValueError(problems(error)) from None

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # sections within are validated without it

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # a start builds what it uses

    @model_validator(mode="before")
    @classmethod
    def _read_number(cls, given: Any) -> Any:
        if isinstance(given, bool) or not isinstance(given, Real):  # those of numpy too
            return given
        name = first_number(cls)
        return given if name is None else {name: given}


def first_number(model: type[BaseModel]) -> str | None:
    """Return the name of a section's first setting that is a number; None without one, and where it has sections."""
    numbers = []
    for name, field in model.model_fields.items():
        kinds = value_kinds(field.annotation)
        if _sections(kinds):
            return None
        if int in kinds or float in kinds:
            numbers.append(name)
    return numbers[0] if numbers else None


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], values: Any, source: str) -> Model:
    """Return the settings that `values` give; ValueError names `source` and everything that is wrong in one line."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ValueError(f"{source}: {problems(error)}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; ValueError names the file where it holds none."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: not a TOML file: nested too deeply") from None


def leaves(values: dict[str, Any], prefix: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Yield every value that is not a table, or is an empty one, with its key."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def flat_settings(values: dict[str, Any]) -> dict[str, Any]:
    """Return nested settings by dotted keys."""
    return {".".join(key): value for key, value in leaves(values)}


def assign(model: type[BaseModel], values: dict[str, Any], key: Key, value: Any) -> None:
    """Put a setting of `model` into nested `values`, with the sections on its way.

    Texts are read by the model, lists, tables and quoted texts as TOML. A section itself may be on or off. Raises
    ValueError where the model has no such key, or a section is given another value.
    """
    for depth, name in enumerate(key):
        if name not in model.model_fields:
            unknown = ".".join(key[: depth + 1])
            raise ValueError(unknown_key(unknown, list(model.model_fields)))
        kinds = value_kinds(model.model_fields[name].annotation)
        rest = key[depth + 1 :]
        sections = _sections(kinds)
        if not rest:
            values[name] = _section_value(values.get(name), value, key, kinds) if sections else _read(value, kinds)
            return
        if not isinstance(values.get(name), dict):
            values[name] = {}
        values = values[name]
        tables = [get_args(kind)[1] for kind in kinds if get_origin(kind) is dict]
        if not sections and tables:
            values[".".join(rest)] = value if str in tables else _plain(value)
            return
        if not sections:
            raise ValueError(f"{'.'.join(key[: depth + 1])} is a value, not a section: it has no {rest[0]}")
        model = _with_field(sections, rest[0])


def assigned(model: type[Model], pairs: Iterable[tuple[str, Any]], source: str) -> Model:
    """Return the settings that dotted keys and their values give; ValueError as `assign` and `validated`."""
    values: dict[str, Any] = {}
    try:
        for key, value in pairs:
            assign(model, values, tuple(key.replace("-", "_").split(".")), value)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    return validated(model, values, source)


def assign_texts(model: type[BaseModel], values: dict[str, Any], texts: Iterable[str]) -> None:
    """Put settings of `model` that are given as texts `section.key=value` into nested `values`.

    ValueError for a text of another form, and as `assign`.
    """
    for given in texts:
        key, equals, text = given.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{given!r} is not of the form key=value, such as selfplay.games=200")
        assign(model, values, tuple(key.strip().split(".")), text.strip())


def kinds_at(model: type[BaseModel], key: Key) -> list[Any]:
    """Return the types that the value of a key of `model` may have."""
    kinds: list[Any] = [model]
    for name in key:
        kinds = value_kinds(_with_field(_sections(kinds), name).model_fields[name].annotation)
    return kinds


def value_kinds(annotation: Any) -> list[Any]:
    """Return the types that an annotation allows, `Annotated` and unions taken apart."""
    if get_origin(annotation) is Annotated:
        return value_kinds(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [kind for part in get_args(annotation) for kind in value_kinds(part)]
    return [annotation]


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a section, None for a plain setting."""
    sections = _sections(value_kinds(field.annotation))
    return sections[0] if sections else None


def unknown_key(key: str, allowed: list[str]) -> str:
    """Return what to say of a key that there is not, the last name of which should be one of `allowed`."""
    name = key.rpartition(".")[2]
    meant = setting_hint(name, allowed) or did_you_mean(name, allowed)
    return f"{key} is not a setting{meant}; allowed: {', '.join(allowed)}"


def problems(error: ValidationError) -> str:
    """Return what is wrong with settings in one line: of each the key, what is allowed, and what was given."""
    found: dict[str, None] = {}
    for detail in error.errors(include_url=False):
        found[_problem(error.title, dict(detail))] = None
    named = list(found)[:MOST_PROBLEMS]
    more = len(found) - len(named)
    if more:
        named.append(f"and {more} more")
    return "; ".join(named)


def _problem(title: str, detail: dict[str, Any]) -> str:
    """Return one wrong setting in words. title: of the error, which names the model among other words."""
    names = [str(part) for part in detail["loc"]]
    key = ".".join(names)
    length = detail.get("ctx", {}).get("actual_length")
    given = repr(detail["input"])[:80] if length is None else _number(length)
    if detail["type"] == "extra_forbidden":
        return unknown_key(key, _allowed(title, names[:-1]))
    if detail["type"] in ("missing", "missing_argument"):
        return f"{key} is missing"
    if detail["type"] == "model_type":
        return f"{key or 'the whole content'} must {_section_words(title, names)}, got {given}"
    if words := _allowed_words(title, names, detail):
        return f"{key or 'the value'} must be {words}, got {given}"
    message = " ".join(str(detail["msg"]).removeprefix("Value error, ").split())
    if not key:
        return message
    if isinstance(detail["input"], dict | BaseModel):
        return f"{key}: {message}"
    return f"{key}: {message}, got {given}"


def _allowed_words(title: str, names: list[str], detail: dict[str, Any]) -> str:
    """Return what a wrong setting may be: by the setting where it is known, else by the error; empty for others."""
    kind = str(detail["type"])
    if names and kind.startswith(OF_ONE_VALUE):
        for model in _models_at(title, names[:-1]):
            for name, field in model.model_fields.items():
                if names[-1] in (name, field.alias) and (words := words_of(field)):
                    return words
    facts = {name: _number(fact) for name, fact in detail.get("ctx", {}).items()}
    return OF_AN_ERROR.get(kind, "").format_map(facts)


def _section_words(title: str, names: list[str]) -> str:
    """Return what a section may be, to stand after `must`."""
    numbers = [first_number(model) for model in _models_at(title, names)] if names else []
    number = next(filter(None, numbers), None)
    return "have named values" if number is None else f"be a number (its {number}) or have named values"


def words_of(field: FieldInfo) -> str:
    """Return what a plain setting may be, in words, with its range; empty for one that is not a plain value."""
    ends = range_of(field)
    words = []
    for kind in value_kinds(field.annotation):
        if get_origin(kind) is Literal:
            words += [repr(choice) for choice in get_args(kind)]
        elif kind in OF_A_KIND:
            words.append(f"{OF_A_KIND[kind]}{_range_words(ends) if kind in (int, float) else ''}")
        else:
            return ""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def range_of(field: FieldInfo) -> dict[str, float]:
    """Return the range of a number by `ge`, `gt`, `le`, `lt` and `multiple_of`, wherever in its type it stands."""
    facts = [*field.metadata]
    for kind in get_args(field.annotation):
        for info in get_args(kind):
            if isinstance(info, FieldInfo):
                facts += info.metadata
    found = {}
    for fact in facts:
        for name in ("ge", "gt", "le", "lt", "multiple_of"):
            if hasattr(fact, name):
                found[name] = getattr(fact, name)
    return found


def _range_words(ends: dict[str, float]) -> str:
    """Return a range in words, to stand after the kind of number."""
    told = {name: _number(end) for name, end in ends.items()}
    words = [f"{phrase} {told[name]}" for name, phrase in RANGE_WORDS.items() if name in told]
    if "ge" in told and "le" in told:
        words[:2] = [f"from {told['ge']} to {told['le']}"]
    if not words:
        return ""
    joint = " of " if words[0].startswith("at ") else " "
    return joint + " and ".join(words)


def _number(fact: Any) -> str:
    """Return a number as messages write it, and other facts as they are."""
    if isinstance(fact, bool) or not isinstance(fact, int | float):
        return str(fact)
    return f"{fact:,}" if isinstance(fact, int) else f"{fact:g}"


def _allowed(title: str, sections: list[str]) -> list[str]:
    """Return the keys of a section of the model that the title names; none where it is not a `Section`."""
    return list(dict.fromkeys(name for model in _models_at(title, sections) for name in model.model_fields))


def _models_at(title: str, sections: list[str]) -> list[type[BaseModel]]:
    """Return what a section of the model that the title names may be; none where it is not a `Section`."""
    words = re.findall(r"\w+", title)
    models = [Section]
    for model in models:
        models.extend(model.__subclasses__())
    found: list[type[BaseModel]] = [model for model in models if model.__name__ in words]
    for name in sections:
        fields = [model.model_fields[name] for model in found if name in model.model_fields]
        found = [section for field in fields for section in _sections(value_kinds(field.annotation))]
    return found


def _section_value(before: Any, value: Any, key: Key, kinds: list[Any]) -> Any:
    """Return what a section becomes by a word or an empty table; settings that were given before stay."""
    word = str(value).lower()
    optional = NoneType in kinds
    if word in ON or value == {}:
        return before if isinstance(before, dict) else {}
    if word in OFF and optional:
        return None
    name = first_number(_sections(kinds)[0])
    if name is not None and _is_number(value):
        return {**(before if isinstance(before, dict) else {}), name: value}
    allowed = "on or off" if optional else "on"
    if name is not None:
        allowed += f", a number (its {name})"
    raise ValueError(f"{'.'.join(key)} is a section: it is {allowed}, or one of its settings is given; got {value!r}")


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def _read(value: Any, kinds: list[Any]) -> Any:
    """Return the value of a text where the model does not read it: none, and what is written as in TOML."""
    if NoneType in kinds and str(value).lower() in ("none", "off"):
        return None
    if not isinstance(value, str) or not value.startswith(("[", "{", '"', "'")):
        return value
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return the value of a text whose model does not say what it is: as in TOML, else the text itself."""
    import tomllib

    try:
        if not isinstance(value, str):
            return value
        return tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return value


def _sections(kinds: list[Any]) -> list[type[BaseModel]]:
    """Return those of the types that have settings of their own."""
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _with_field(sections: list[type[BaseModel]], name: str) -> type[BaseModel]:
    """Return, of the sections that a field may hold, the one that has this setting."""
    return next((section for section in sections if name in section.model_fields), sections[0])
