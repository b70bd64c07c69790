"""The settings of Python are those that the core declares, and what the core refuses is one clear line."""

from __future__ import annotations

import json
from typing import Any

import pytest

import settings_schema as schema
from hauteur._core import Forest, Game, check_settings, settings_schema
from hauteur.mcts.params import SearchParams

pytestmark = pytest.mark.quick

SECTIONS = {section["name"]: section for section in json.loads(settings_schema())}
"""Sections of the core by name."""


@pytest.mark.parametrize("path", schema.written(), ids=lambda path: path.name)
def test_what_is_checked_in_is_what_make_schema_writes(path: Any) -> None:
    assert path.read_text(encoding="utf-8") == schema.written()[path], "run make schema"


def numbers() -> list[tuple[str, dict[str, Any]]]:
    """The settings of SearchParams with a range: the key of their section, and what the core says of them."""
    inner = {
        setting["name"]: setting["type"]["section"]
        for setting in SECTIONS["SearchParams"]["settings"]
        if "section" in setting["type"]
    }
    owners = {"": "SearchParams", **inner}
    return [(key, one) for key, name in owners.items() for one in SECTIONS[name]["settings"] if one["range"]]


@pytest.mark.parametrize(("section", "setting"), numbers(), ids=str)
def test_model_and_core_refuse_what_lies_beyond_a_range(section: str, setting: dict[str, Any]) -> None:
    name = setting["name"]
    is_whole = setting["type"]["kind"] == "int"
    for end, outward in zip(setting["range"], (-1, 1), strict=True):
        outside = (
            int(end) + outward * max(1, int(end) // 1000) if is_whole else end + outward * max(abs(end), 1e-3) / 1000
        )
        refused: dict[str, Any] = {section: {name: outside}} if section else {name: outside}
        with pytest.raises(ValueError, match=name):
            SearchParams(**refused)
        with pytest.raises(ValueError, match=f"{name} must be|expected"):
            Forest(Game("tictactoe"), json.dumps(refused))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"search_contempt": {"n_scl": 0}}, r"n_scl must not be 0 without opponent_net"),
        (
            {"search_contempt": {"ratio_schedule": "5"}},
            r"^search_contempt: ratio_schedule must be VISITS:R.*\"5\"$",
        ),
        ({"second_net": {"small_visits": 0, "large_visits": 0}}, r"^second_net: .* must not both be 0$"),
        ({"tree_balance": {"mode": "legacy", "scale": 0}}, r"^tree_balance: scale, .* 0\.01 to 1000, got 0$"),
        ({"wdl_contempt": {"draw_rate_target": 1e-5}}, r"^wdl_contempt: draw_rate_target, unless 0, must be"),
        ({"gumbel": {}, "forced_playouts": {}}, r"^gumbel and forced_playouts exclude each other"),
        ({"gumbel": {}, "posterior": {}}, r"^gumbel and posterior exclude each other"),
        ({"cpuct": {"init": -1}}, r"^cpuct\.init must be a number from 0 to 100, got -1$"),
    ],
)
def test_what_is_not_allowed_is_one_line(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        SearchParams(**settings)
    assert "\n" not in str(error.value)


def test_neutral_settings_are_those_of_the_core() -> None:
    assert check_settings("TreeBalance", '{"many": 0, "few": 0}')
    assert not check_settings("TreeBalance", "{}")
    with pytest.raises(ValueError, match="Cpuct is not a section of a rule"):
        check_settings("Cpuct", "{}")
    params = SearchParams(tree_balance={"many": 0, "few": 0}, solver={})
    assert params.without_neutral_rules() == SearchParams(solver={})
