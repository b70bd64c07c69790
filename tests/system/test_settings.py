"""The one reader of settings: keys and values as text and TOML, and wrong ones as one line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field, model_validator

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
        ({"oven": {"degrees": -3}}, "oven.degrees: Input should be greater than or equal to 0, got -3"),
        ({"oven": {"degrees": 251}}, "oven is too hot"),
        ({"oven": "x"}, "oven must have named values, got 'x'"),
        ([], "the whole content must have named values, got []"),
        (
            {"shelves": [f"x{number}" for number in range(8)]},
            "; ".join(
                f"shelves.{number}: Input should be a valid integer, unable to parse string as an integer, "
                f"got 'x{number}'"
                for number in range(5)
            )
            + "; and 3 more",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(values: Any, words: str) -> None:
    assert problem(values) == words


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    for content in (b"a = ", b"\xff", b"a = " + b"[" * 5000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.toml: not a TOML file: "):
            read_toml(path)
