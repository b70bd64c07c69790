"""The one reader of settings: keys and values as text and TOML, and wrong ones as one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field, model_validator

import hauteur.learning.recipe
import hauteur.matches.match  # noqa: F401  (for their sections)
from hauteur.system.settings import Section, assign, read_toml, validated

pytestmark = pytest.mark.quick


class Oven(Section):
    degrees: Annotated[int, Field(ge=0, le=300)] = 180
    fan: float | None = None


class Kitchen(Section):
    name: str = "kitchen"
    oven: Oven | None = Oven()
    shelves: tuple[int, ...] = ()
    notes: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_cool(self) -> Kitchen:
        if self.oven is not None and self.oven.degrees > 250:
            raise ValueError("oven is too hot")
        return self


def assigned(*settings: tuple[str, Any]) -> Kitchen:
    values: dict[str, Any] = {}
    for key, value in settings:
        assign(Kitchen, values, tuple(key.split(".")), value)
    return validated(Kitchen, values, "kitchen.toml")


def problem(values: Any) -> str:
    with pytest.raises(ValueError, match=r"^kitchen\.toml: ") as caught:
        validated(Kitchen, values, "kitchen.toml")
    return str(caught.value).removeprefix("kitchen.toml: ")


def test_texts_are_read_by_the_model_and_lists_as_toml() -> None:
    assert assigned(("oven.degrees", "200"), ("shelves", "[1, 2]"), ("name", '"a b"')) == Kitchen(
        name="a b", oven=Oven(degrees=200), shelves=(1, 2)
    )
    assert assigned(("name", "7")).name == "7"
    assert assigned(("oven.fan", "0.5"), ("oven.fan", "off")).oven == Oven()
    assert assigned(("notes.a.b", "x")).notes == {"a.b": "x"}


def test_sections_are_on_or_off() -> None:
    assert assigned(("oven", "off")).oven is None
    assert assigned(("oven", "off"), ("oven", "on")).oven == Oven()
    assert assigned(("oven.degrees", "1"), ("oven", "on")).oven == Oven(degrees=1)
    assert assigned(("oven.fan", "2"), ("oven", "3")).oven == Oven(degrees=3, fan=2)
    with pytest.raises(
        ValueError, match=r"oven is a section: it is on or off, a number \(its degrees\), or .*; got 'x'"
    ):
        assigned(("oven", "x"))


@pytest.mark.parametrize("degrees", [np.int64(90), np.float32(90)])
def test_a_number_of_numpy_in_the_place_of_a_section_is_its_first_number(degrees: Any) -> None:
    assert Kitchen(oven=degrees).oven == Oven(degrees=90)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("ovne", "ovne is not a setting (did you mean oven?); allowed: name, oven, shelves, notes"),
        ("oven.degres", "oven.degres is not a setting (did you mean degrees?); allowed: degrees, fan"),
        ("name.x", "name is a value, not a section: it has no x"),
    ],
)
def test_unknown_keys_name_those_there_are(key: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the text is compared)
        assigned((key, "1"))
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"oven": {"degres": 3}}, "oven.degres is not a setting (did you mean degrees?); allowed: degrees, fan"),
        ({"oven": {"degrees": -3}}, "oven.degrees must be a whole number from 0 to 300, got -3"),
        ({"oven": {"degrees": 251}}, "oven is too hot"),
        ({"oven": "x"}, "oven must be a number (its degrees) or have named values, got 'x'"),
        ([], "the whole content must have named values, got []"),
        (
            {"shelves": [f"x{number}" for number in range(8)]},
            "; ".join(f"shelves.{number} must be a whole number, got 'x{number}'" for number in range(5))
            + "; and 3 more",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(values: Any, words: str) -> None:
    assert problem(values) == words


class Ranges(Section):
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    threshold: Annotated[float, Field(ge=-1, lt=0)] = -0.5
    even: Annotated[int, Field(ge=2, multiple_of=2)] = 2
    seconds: Annotated[float, Field(gt=0)] | None = None
    by: Literal["match", "sprt"] | None = None
    tag: Annotated[str, Field(pattern="^[a-z]+$", max_length=4)] = "a"
    on: bool = True


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("share", 0, "share must be a number more than 0 and at most 1, got 0"),
        ("share", "x", "share must be a number more than 0 and at most 1, got 'x'"),
        ("threshold", 0, "threshold must be a number of at least -1 and less than 0, got 0"),
        ("even", 3, "even must be a whole number of at least 2 and a multiple of 2, got 3"),
        ("even", 2.5, "even must be a whole number of at least 2 and a multiple of 2, got 2.5"),
        ("seconds", -1, "seconds must be a number more than 0 or none, got -1"),
        ("by", "x", "by must be 'match', 'sprt' or none, got 'x'"),
        ("tag", "1", "tag must be a text of the form ^[a-z]+$, got '1'"),
        ("tag", "abcde", "tag must be a text of at most 4 characters, got 'abcde'"),
        ("tag", 5, "tag must be a text, got 5"),
        ("on", "maybe", "on must be true or false, got 'maybe'"),
    ],
)
def test_a_message_says_what_is_allowed(name: str, given: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the text is compared)
        Ranges(**{name: given})
    assert str(caught.value) == words


WRONG: tuple[Any, ...] = (
    "abc",
    "",
    -(10**30),
    10**30,
    1.5,
    float("nan"),
    [],
    ["x"],
    {"x": 1},
    None,
    True,
    "x" * 10**4,
    object(),
)


def sections() -> list[type[Section]]:
    """All sections of settings that the package has, without those that are made in other words."""
    found = [Section]
    for model in found:
        found += model.__subclasses__()
    ours = [model for model in found if model.__module__.startswith("hauteur.")]
    return [model for model in ours if "__init__" not in vars(model)]


def test_no_message_is_in_the_words_of_the_library_that_checks() -> None:
    assert {"PlayerSettings", "Recipe", "MatchSettings"} <= {model.__name__ for model in sections()}
    said = []
    for model in sections():
        for name in model.model_fields:
            for value in WRONG:
                try:
                    validated(model, {name: value}, "x")
                except ValueError as error:
                    said.append(str(error))
    assert len(said) > 1000
    foreign = [text for text in said if re.search("Input should|valid integer|unable to parse|should have", text)]
    assert not foreign


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    for content in (b"a = ", b"\xff", b"a = " + b"[" * 5000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.toml: not a TOML file: "):
            read_toml(path)
