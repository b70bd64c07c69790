"""The settings of Python and of the core are the same: names, defaults, and the bounds of every number."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from annotated_types import Ge, Le
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hauteur._core import Forest, Game
from hauteur.mcts.params import SearchParams
from hauteur.system.settings import value_kinds

GAME = Game("tictactoe")

PYTHON_ALONE = {
    "max_in_flight:high",
    "cache_size:high",
    "second_net.small_visits:high",
    "second_net.large_visits:high",
    "second_net.large_first:high",
    "tree_balance.until:high",
    "q_average.limit:high",
    "initial_trust.until:high",
}
"""Bounds that Python alone has, KEY:low or KEY:high: the core takes what lies outside them."""


class NumericField(NamedTuple):
    """A number among the settings: its key, its type, its bounds, which are allowed themselves."""

    key: tuple[str, ...]
    kind: type
    low: Any
    high: Any


def sections() -> dict[str, type[BaseModel]]:
    """The sections of SearchParams by name."""
    kinds = {name: value_kinds(field.annotation) for name, field in SearchParams.model_fields.items()}
    return {
        name: kind
        for name, found in kinds.items()
        for kind in found
        if isinstance(kind, type) and issubclass(kind, BaseModel)
    }


def bounds_of(field: FieldInfo) -> list[Any]:
    """The bounds of a field; of an optional one they stand in its annotation."""
    nested = [part for part in getattr(field.annotation, "__args__", ()) if hasattr(part, "__metadata__")]
    inner = [item for part in nested for info in part.__metadata__ for item in getattr(info, "metadata", [])]
    return [*field.metadata, *inner]


def numeric_fields() -> Iterator[NumericField]:
    """Every number of SearchParams and its sections."""
    owners: list[tuple[tuple[str, ...], type[BaseModel]]] = [((), SearchParams)]
    owners += [((name,), section) for name, section in sections().items()]
    for prefix, model in owners:
        for name, field in model.model_fields.items():
            kinds = [kind for kind in value_kinds(field.annotation) if kind in (int, float)]
            if kinds:
                bounds = bounds_of(field)
                low = next((bound.ge for bound in bounds if isinstance(bound, Ge)), None)
                high = next((bound.le for bound in bounds if isinstance(bound, Le)), None)
                yield NumericField((*prefix, name), kinds[0], low, high)


FIELDS = list(numeric_fields())


def nested(key: tuple[str, ...], value: float) -> dict[str, Any]:
    """The settings that have this value alone."""
    *prefix, name = key
    return {prefix[0]: {name: value}} if prefix else {name: value}


def python_takes(values: dict[str, Any]) -> bool:
    try:
        SearchParams.model_validate(values)
    except ValidationError:
        return False
    return True


def core_takes(values: dict[str, Any]) -> bool:
    try:
        Forest(GAME, json.dumps(values))
    except ValueError:
        return False
    return True


def beside(value: float, kind: type, direction: int) -> float:
    """The next number in a direction."""
    if kind is int:
        return int(value) + direction
    return math.nextafter(value, direction * math.inf) if value else direction * 1e-300


@pytest.mark.parametrize("name", ["", *sections()])
def test_defaults_are_the_same(name: str) -> None:
    values: dict[str, Any] = {name: {}} if name else {}
    core = json.loads(Forest(GAME, json.dumps(values)).params)
    python = SearchParams.model_validate(values).model_dump(mode="json")
    assert _without_none(core) == _without_none(python)


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    """The settings that are there."""
    shorter = {key: _without_none(value) if isinstance(value, dict) else value for key, value in values.items()}
    return {key: value for key, value in shorter.items() if value is not None}


def test_names_are_the_same() -> None:
    everything = SearchParams().model_dump(mode="json")
    assert json.loads(Forest(GAME, json.dumps(everything)).params)  # the core refuses names that it does not know
    assert len(everything) == len(SearchParams.model_fields)


def test_all_numbers_are_found() -> None:
    assert len(FIELDS) > 60
    assert all(field.low is not None for field in FIELDS)
    assert {field.key for field in FIELDS if field.high is None} == {("max_tree_bytes",)}


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: ".".join(field.key))
def test_bounds_are_the_same(field: NumericField) -> None:
    for end, bound, outward in (("low", field.low, -1), ("high", field.high, 1)):
        if bound is None:
            continue
        inside, outside = field.kind(bound), beside(bound, field.kind, outward)
        assert python_takes(nested(field.key, inside)) == core_takes(nested(field.key, inside)), inside
        assert not python_takes(nested(field.key, outside)), outside
        python_alone = f"{'.'.join(field.key)}:{end}" in PYTHON_ALONE
        assert core_takes(nested(field.key, outside)) == python_alone, outside
