"""For tests of reports: hand-made metrics and folders of learning runs, and a look at pages."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder


def line(generation: int, **changes: Any) -> dict[str, Any]:
    """Metrics of a generation with every part on; `changes` replace whole sections, None removes them."""
    shares = {"network_share": 0.8, "search_share": 0.125, "python_share": 0.075, "cache_hit_rate": 0.3}
    speeds = {"games_per_second": 3.0, "visits_per_second": 1234.5, "evaluations_per_second": 900.0}
    use = {"mean_batch_fill": 0.9, "device_busy": 0.7, "tree_bytes": 2e6, "seconds": 40.0}
    values = {
        "generation": generation,
        "games": {
            "games": 50,
            "positions": 400,
            "first_wins": 25,
            "draws": 15,
            "second_wins": 10,
            "mean_length": 8.0 + generation,
            "ratio": 35 / 15,
            "learner": {"wins": 30, "draws": 10, "losses": 10},
            "resigned": {"games": 10, "played_out": 4, "wrong": 1},
        },
        "selfplay": shares | speeds | use,
        "train": {"policy_loss": 2.0 / generation, "value_loss": 1.0, "seconds": 15.0},
        "train_large": {"policy_loss": 1.5 / generation, "value_loss": 0.875},
        "gate": {
            "games": 20,
            "wins": 10,
            "draws": 4,
            "losses": 6,
            "score": 0.6,
            "score_interval_95": [0.4, 0.75],
            "promoted": True,
        },
        "cost": {"normalised": 250.0, "normalised_total": 250.0 * generation},
        "search_contempt": {"n_scl": 4 * generation, "visits": 100, "ratio": 35 / 15, "settled": False},
        "elo": 70.0 * generation,
        "best": generation,
        "best_elo": 70.0 * generation,
        "train_steps": 10 * generation,
        "seconds": 60.0 * generation,
        "cpu_seconds": 100.0 * generation,
        "resident_bytes": 123_000_000,
    }
    return {key: value for key, value in (values | changes).items() if value is not None}


def paths(values: dict[str, Any], prefix: str = "") -> list[str]:
    """Dotted paths of all sections and numbers."""
    found = []
    for key, value in values.items():
        found.append(prefix + key)
        if isinstance(value, dict):
            found += paths(value, f"{prefix}{key}.")
    return found


def without(values: dict[str, Any], absent: set[str]) -> dict[str, Any]:
    """The metrics without what stands at these paths."""
    result = copy.deepcopy(values)
    for path in absent:
        *sections, key = path.split(".")
        inner = result
        for section in sections:
            inner = inner.get(section, {})
        inner.pop(key, None)
    return result


def recipe(**sections: Any) -> Recipe:
    """A recipe of tic-tac-toe."""
    return parse_recipe({"game": "tictactoe"} | sections, "test")


def folder_with(path: Path, history: list[dict[str, Any]], **sections: Any) -> RunFolder:
    """A run folder with this history."""
    folder = RunFolder(path)
    folder.create(recipe(**sections))
    folder.write_metrics(history)
    return folder


CONTEMPT: dict[str, Any] = {"selfplay": {"search": {"search_contempt": {}}}}
VOID = {"meta", "br", "link"}


class Structure(HTMLParser):
    """Checks that every element of a page is closed where it should be.

    seen: the names of all elements; addresses: what they refer to; data: what scripts of data hold.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.addresses: list[str] = []
        self.data: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"] and data.startswith("{"):
            self.data.append(data)


def structure(text: str) -> list[str]:
    """Names of all elements of a page that is well formed."""
    return Structure(text).seen


def games_on(page: str) -> list[dict[str, object]]:
    """The games that the page's widget has."""
    games = json.loads(Structure(page).data[0])["games"]
    assert isinstance(games, list)
    return games


def charts_of(text: str) -> list[ElementTree.Element]:
    """The drawings of a page."""
    return [ElementTree.fromstring(chart) for chart in re.findall(r"<svg xmlns.*?</svg>", text)]
