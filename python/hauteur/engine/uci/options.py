"""The options of the UCI engine: their declarations, the values in force, and the player that follows from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlaySettings
from hauteur.mcts.lc0_options import (
    SEARCH_OPTIONS,
    TEMPERATURE_OPTIONS,
    WITHOUT_EFFECT,
    Lc0Option,
    Value,
    search_values,
    temperature_values,
    without_contempt_of_play,
)
from hauteur.mcts.net_search import search_over_usual
from hauteur.mcts.plain_settings import PlainSettings, SearchSettings, checked_search, plain_values
from hauteur.networks.evaluators.base import Backend, Precision
from hauteur.networks.names import ResolvedNet, default_net, newest_chess_net, resolve_net, unquoted
from hauteur.system.errors import one_line

MEBIBYTE = 1 << 20
SHIPPED = "<shipped>"
"""Value of WeightsFile: the net of HAUTEUR_NET, else the one that ships."""
AUTODISCOVER = "<autodiscover>"
"""Value of WeightsFile, as in lc0: the newest net of the working directory."""
BYTES_A_CACHED_POSITION = 180
"""Bytes of a chess position in the evaluation cache, with its priors; for RamLimitMb."""


def _option(row: dict[str, Any]) -> Lc0Option:
    """Return the option of a row of options.json, which is read faster than TOML; range: of a number."""
    least, most = row.pop("range", (0, 0))
    return Lc0Option(**{**row, "choices": tuple(row.get("choices", ()))}, least=least, most=most)


_OPTIONS_FILE = Path(__file__).with_name("options.json")

ENGINE_OPTIONS = tuple(map(_option, json.loads(_OPTIONS_FILE.read_text(encoding="utf-8"))))
"""Options of the engine around the search; names, defaults and ranges are lc0's where lc0 has them."""

ALIASES = {"move overhead": "MoveOverheadMs"}
"""Other names, in lower case, under which chess programs set an option."""
DECLARED_ALIASES = (Lc0Option("Move Overhead", "spin", 200, "The same as MoveOverheadMs.", least=0, most=10**8),)

OPTIONS = (*ENGINE_OPTIONS, *DECLARED_ALIASES, *SEARCH_OPTIONS, *TEMPERATURE_OPTIONS)
"""Everything that `uci` declares, in its order."""


@dataclass(frozen=True)
class Change:
    """Effect of a setoption: the option, its new value; option None: a name that changes nothing."""

    option: Lc0Option | None
    value: Value = ""


class Options:
    """The values in force. Names are read in any case."""

    def __init__(self) -> None:
        self._known = {option.name.lower(): option for option in OPTIONS if option not in DECLARED_ALIASES}
        self._values = {name: option.default for name, option in self._known.items()}
        self._without_effect = {name.lower() for name in WITHOUT_EFFECT}
        self.version = 0
        """Grows with every change of a value."""
        # They follow from the values and cost half a millisecond, which every move of a short clock would pay anew.
        self._search: PlainSettings | None = None
        self._temperature: PlainSettings | None = None

    def set(self, name: str, text: str) -> Change:
        """Set an option; ValueError for an unknown name or a value that is not allowed, alone or beside the others."""
        key = ALIASES.get(name.lower(), name).lower()
        option = self._known.get(key)
        if option is not None:
            given = unquoted(text) if option.kind == "string" else text  # some programs quote the names of files
            return Change(option, self._set_checked(option, key, option.parse(given)))
        if key in self._without_effect:
            return Change(None)
        raise ValueError(f"no option {name!r}; `uci` lists the options")

    def _set_checked(self, option: Lc0Option, key: str, value: Value) -> Value:
        """Set a value unless the settings that follow from all options would be none; return it."""
        before = self._values[key]
        self._set_value(key, value)
        try:
            self.search_params()
            self.temperature()
        except ValueError as error:
            self._set_value(key, before)
            raise ValueError(f"{option.name} {option.text(value)}: {one_line(error)}") from None
        return value

    def _set_value(self, key: str, value: Value) -> None:
        """Set a value, and forget what followed from the old one."""
        self._values[key] = value
        self.version += 1
        self._search = None
        self._temperature = None

    def changed(self, changes: Mapping[str, Value]) -> Options:
        """Return the same options with other values for some; they must be of their kinds and in their ranges."""
        if not changes:
            return self
        other = Options()
        other._values = dict(self._values)
        for name, value in changes.items():
            option = other._known[name.lower()]
            other._set_value(name.lower(), option.parse(option.text(value)))
        return other

    def limited(self) -> tuple[Options, int | None]:
        """Return the options in force, with UCI_LimitStrength those of its opponent, and its visits; None: no limit."""
        if not self.flag("UCI_LimitStrength"):
            return self, None
        from hauteur.players.ladder import rung_at  # here: few games need it

        rung = rung_at(self.whole("UCI_Elo"))
        plain = {option.name: option.default for option in (*SEARCH_OPTIONS, *TEMPERATURE_OPTIONS)}
        heat = {"Temperature": rung.temperature, "TempEndgame": rung.temperature}
        nets: dict[str, Value] = {"WeightsFile": rung.net, "LargeWeightsFile": "", "OpponentNet": "", "OddsMode": False}
        return self.changed({**plain, **heat, **nets}), rung.visits

    def is_default(self, name: str) -> bool:
        """Return whether an option has its default value; one that was set to it counts as well."""
        return self._values[name.lower()] == self._known[name.lower()].default

    def number(self, name: str) -> float:
        return float(self._values[name.lower()])

    def whole(self, name: str) -> int:
        return int(self._values[name.lower()])

    def flag(self, name: str) -> bool:
        return bool(self._values[name.lower()])

    def text(self, name: str) -> str:
        return str(self._values[name.lower()])

    def search_params(self) -> PlainSettings:
        """Return the settings of the search, with the memory caps."""
        if self._search is None:
            self._search = checked_search(self._search_values())
        return self._search

    def _search_values(self) -> dict[str, Any]:
        """Read the settings of the search from the values."""
        tree, positions = self.memory()
        found = search_values(
            self._values,
            max_tree_bytes=tree,
            cache_size=positions,
            cache_key=self.text("CacheKey"),
            graph=self.flag("GraphSearch"),
            opponent_net=self._opponent_net(),
        )
        if not self.text("LargeWeightsFile") or self.whole("LargeVisits") == 0:
            return found
        rule = {
            "small_visits": self.whole("SmallVisits"),
            "large_visits": self.whole("LargeVisits"),
            "large_batch": self.whole("LargeBatch"),
        }
        # All three are refused with a second net, and two are on by default: its file alone would be an error.
        without = {"solver": None, "cache_key": "exact", "graph": False}
        return {**found, **without, "second_net": rule}

    def _opponent_net(self) -> dict[str, object] | None:
        """Return the settings of the model of the opponent; None without one. 0 plies: all of the opponent's nodes."""
        if not self.text("OpponentNet"):
            return None
        plies = self.whole("OpponentNetPlies")
        numbers = {key: self._values[f"opponentnet{key}"] for key in ("temperature", "share")}
        return {**numbers, "plies": plies or None}

    def temperature(self) -> PlainSettings:
        """Return the settings of the choice of the move."""
        if self._temperature is None:
            self._temperature = PlainSettings(temperature_values(self._values))
        return self._temperature

    def declarations(self) -> Iterator[str]:
        """Return the option lines that answer `uci`."""
        return (option.declaration() for option in OPTIONS)

    def memory(self) -> tuple[int, int]:
        """Return bytes of tree and positions of cache: four to one of RamLimitMb where both do not fit in it."""
        tree = self.whole("Hash") * MEBIBYTE
        positions = self.whole("NNCacheSize")
        limit = self.whole("RamLimitMb") * 1_000_000
        if limit == 0 or tree + positions * BYTES_A_CACHED_POSITION <= limit:
            return tree, positions
        most_positions = limit // 5 // BYTES_A_CACHED_POSITION
        return min(tree, limit * 4 // 5), min(positions, most_positions)


NO_NET = (
    "no net: set the option WeightsFile (or --weights, or the variable HAUTEUR_NET) to a .pb.gz file of Leela Chess "
    "Zero, or to the name of a net that `hauteur net get` has downloaded, such as maia-1900; `uniform` plays without"
)


def choose_net(options: Options) -> tuple[NetChoice, str]:
    """Return the nets of the options, and why the first was chosen; ValueError without any.

    That is the option WeightsFile, else the environment, else the net that ships.
    """
    net = options.text("WeightsFile")
    reason = "option WeightsFile"
    if net in ("", SHIPPED, AUTODISCOVER):
        found = newest_chess_net() if net == AUTODISCOVER else default_net(_core.Game("chess"))
        if found is None:
            raise ValueError(NO_NET)
        net, reason = found
    backend = cast("Backend | None", None if options.text("Backend") == "auto" else options.text("Backend"))
    precision = cast("Precision", options.text("Precision"))
    other = options.text("LargeWeightsFile") or options.text("OpponentNet")
    return NetChoice(net, other, backend, precision, threads=options.whole("Threads")), reason


@lru_cache(1)
def open_tablebase(path: str) -> _core.Tablebase | None:
    """Open the tablebases of the option SyzygyPath; None without any. ValueError where they cannot be read."""
    return _core.Tablebase(path) if path else None


def value_text(value: Value) -> str:
    """Return a value as `setoption` takes it, for texts and tables."""
    if isinstance(value, bool | str):
        return str(value).lower()
    return f"{value:g}"


def _file_of(net: str) -> ResolvedNet:
    """Return the file of a net that was opened; what no file has opened carries nothing."""
    try:
        return resolve_net(net)
    except ValueError:
        return ResolvedNet(net)


@lru_cache(1)
def usual_search() -> PlainSettings:
    """Return the settings of the search of an engine whose options were not set."""
    return Options().search_params()


def play_settings(options: Options, *, net: str = "", infinite: bool = False) -> PlaySettings:
    """Return how the player thinks. infinite: analysis without an end has no contempt of play.

    net: a file or name, whose own settings for play count where an option has its default; empty: none.
    """
    search: SearchSettings = options.search_params()
    if net:
        second = options.text("LargeWeightsFile") or options.text("OpponentNet")
        # An engine has a value for every option, so what a user has set is what differs from the defaults.
        search = search_over_usual(search, usual_search(), _file_of(net), second)
    if infinite:
        search = PlainSettings(without_contempt_of_play(plain_values(search)))
    return PlaySettings(
        search=search,
        temperature=options.temperature(),
        batch_size=options.whole("MinibatchSize") or None,
        tablebase=open_tablebase(options.text("SyzygyPath")),
        fast_play=options.flag("SyzygyFastPlay"),
    )
