"""The options of the UCI engine: their declarations, the values in force, and the player that follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast, get_args

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlaySettings
from hauteur.mcts.lc0_options import (
    SEARCH_OPTIONS,
    TEMPERATURE_OPTIONS,
    WITHOUT_EFFECT,
    Lc0Option,
    Value,
    without_contempt_of_play,
)
from hauteur.mcts.lc0_options import search_params as lc0_search_params
from hauteur.mcts.lc0_options import temperature as lc0_temperature
from hauteur.mcts.params import SearchParams, SecondNet, Temperature
from hauteur.mcts.scores import FORMULAS
from hauteur.networks.evaluators.base import Backend, Precision
from hauteur.networks.names import default_net, newest_chess_net
from hauteur.players.ladder import rung_at
from hauteur.system.errors import one_line

MEBIBYTE = 1 << 20
SHIPPED = "<shipped>"
"""Value of WeightsFile: the net of HAUTEUR_NET, else the one that ships."""
AUTODISCOVER = "<autodiscover>"
"""Value of WeightsFile, as in lc0: the newest net of the working directory."""
BYTES_A_CACHED_POSITION = 180
"""Bytes of a chess position in the evaluation cache, with its priors; for RamLimitMb."""

ENGINE_OPTIONS = (
    Lc0Option(
        "WeightsFile",
        "string",
        SHIPPED,
        "The net: a file, a name (`maia-1900`), `uniform`, `rollout`; `<autodiscover>`: the newest file here.",
    ),
    Lc0Option(
        "LargeWeightsFile",
        "string",
        "",
        "A second, large net that corrects the first; StickyEndgames and GraphSearch are off with it, CacheKey exact.",
    ),
    Lc0Option(
        "OpponentNet",
        "string",
        "",
        "A net that models the opponent, such as `maia-1500`: its priors at their moves; ScLimit 0 draws from them.",
    ),
    Lc0Option("OpponentNetTemperature", "float", 1.0, "Flattens (> 1) or sharpens its policy.", least=1e-3, most=100),
    Lc0Option("OpponentNetShare", "float", 1.0, "Share of the draws that are made; the others: PUCT.", least=0, most=1),
    Lc0Option("OpponentNetPlies", "spin", 0, "Plies below the root that it reaches; 0: all.", least=0, most=1000),
    Lc0Option("SmallVisits", "spin", 800, "Small turns to LargeVisits large ones (two nets).", least=1, most=10**9),
    Lc0Option("LargeVisits", "spin", 100, "Large turns to SmallVisits small ones; 0: none.", least=0, most=10**9),
    Lc0Option("LargeBatch", "spin", 1, "Large turns that are made together; 1: exact.", least=1, most=4096),
    Lc0Option(
        "Backend",
        "combo",
        "auto",
        "What computes the net; auto: torch on a GPU, else core, and for nets with attention onnxruntime or torch.",
        choices=("auto", *get_args(Backend)),
    ),
    Lc0Option(
        "Precision",
        "combo",
        "auto",
        "Of the net; auto: float16 on a GPU, bfloat16 where the processor multiplies it, else float32.",
        choices=get_args(Precision),
    ),
    Lc0Option("Threads", "spin", 0, "Threads of the net on the processor; 0: one a core.", least=0, most=1024),
    Lc0Option(
        "Hash",
        "spin",
        1024,
        "Largest size of the search tree in MiB; a full tree grows no more.",
        least=1,
        most=1 << 24,
    ),
    Lc0Option("NNCacheSize", "spin", 2_000_000, "Positions whose evaluation is kept.", least=0, most=999_999_999),
    Lc0Option(
        "CacheKey",
        "combo",
        "position",
        "What shares an evaluation: all that the net sees equal, or (position) any order of moves.",
        choices=("exact", "position"),
    ),
    Lc0Option("GraphSearch", "check", False, "A position that is reached by two orders of moves is one node."),
    Lc0Option(
        "RamLimitMb",
        "spin",
        0,
        "Limit of tree and evaluation cache together, in MB; 0: only Hash.",
        least=0,
        most=10**8,
    ),
    Lc0Option(
        "MinibatchSize", "spin", 0, "Positions a batch; 0: what suits the backend; 1: exact search.", least=0, most=1024
    ),
    Lc0Option("MultiPV", "spin", 1, "Number of lines to show.", least=1, most=500),
    Lc0Option("PerPVCounters", "check", False, "`nodes` of each line are the visits of its first move."),
    Lc0Option("ScoreType", "combo", "WDL_mu", "What `score cp` shows.", choices=tuple(FORMULAS)),
    Lc0Option("UCI_ShowWDL", "check", False, "Show win, draw, loss in permille."),
    Lc0Option(
        "UCI_ShowEPS",
        "check",
        False,
        "Show evaluations per second; after a search also their number, batches and their fill.",
    ),
    Lc0Option("VerboseMoveStats", "check", False, "After a search show visits, prior and values of every move."),
    Lc0Option("LogLiveStats", "check", False, "Show them during the search too."),
    Lc0Option("LogFile", "string", "", "File to which the conversation is written."),
    Lc0Option("UCI_Chess960", "check", False, "Castling is written as the king taking the rook."),
    Lc0Option("Ponder", "check", True, "The program may let the engine think in the opponent's time."),
    Lc0Option("SyzygyPath", "string", "", "Folders of Syzygy tablebases, separated as in PATH."),
    Lc0Option("SyzygyFastPlay", "check", False, "In a position of the tablebases play only the shortest wins."),
    Lc0Option(
        "HistoryFill",
        "combo",
        "fen_only",
        "What stands for the history that is not known.",
        choices=("no", "fen_only", "always"),
    ),
    Lc0Option(
        "SmartPruningFactor", "float", 1.33, "Stop when no move can catch up any more; 0: never.", least=0, most=10
    ),
    Lc0Option("NodesAsPlayouts", "check", False, "`go nodes` counts new visits only, not those of the re-used tree."),
    Lc0Option("MoveOverheadMs", "spin", 200, "Time lost between clock and engine on every move.", least=0, most=10**8),
    Lc0Option("Slowmover", "float", 1.0, "Factor on the time for a move.", least=0, most=100),
    Lc0Option("UCI_LimitStrength", "check", False, "Play like a person of UCI_Elo: a net of the ladder, few visits."),
    Lc0Option("UCI_Elo", "spin", 1500, "That rating, on hauteur's own ladder, in steps of 100.", least=800, most=2200),
    Lc0Option("OddsMode", "check", False, "In games at odds the giver plays with the settings published for them."),
    Lc0Option("StrictTiming", "check", False, "The clock starts at `go`, not at the `position` before it."),
)
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

    def set(self, name: str, text: str) -> Change:
        """Set an option; ValueError for an unknown name or a value that is not allowed, alone or beside the others."""
        key = ALIASES.get(name.lower(), name).lower()
        option = self._known.get(key)
        if option is not None:
            return Change(option, self._set_checked(option, key, option.parse(text)))
        if key in self._without_effect:
            return Change(None)
        raise ValueError(f"no option {name!r}; `uci` lists the options")

    def _set_checked(self, option: Lc0Option, key: str, value: Value) -> Value:
        """Set a value unless the settings that follow from all options would be none; return it."""
        before, self._values[key] = self._values[key], value
        try:
            self.search_params()
            self.temperature()
        except ValueError as error:
            self._values[key] = before
            raise ValueError(f"{option.name} {option.text(value)}: {one_line(error)}") from None
        return value

    def changed(self, changes: Mapping[str, Value]) -> Options:
        """Return the same options with other values for some; they must be of their kinds and in their ranges."""
        if not changes:
            return self
        other = Options()
        other._values = dict(self._values)
        for name, value in changes.items():
            option = other._known[name.lower()]
            other._values[name.lower()] = option.parse(option.text(value))
        return other

    def limited(self) -> tuple[Options, int | None]:
        """Return the options in force, with UCI_LimitStrength those of its opponent, and its visits; None: no limit."""
        if not self.flag("UCI_LimitStrength"):
            return self, None
        rung = rung_at(self.whole("UCI_Elo"))
        plain = {option.name: option.default for option in (*SEARCH_OPTIONS, *TEMPERATURE_OPTIONS)}
        heat = {"Temperature": rung.temperature, "TempEndgame": rung.temperature}
        nets: dict[str, Value] = {"WeightsFile": rung.net, "LargeWeightsFile": "", "OpponentNet": "", "OddsMode": False}
        return self.changed({**plain, **heat, **nets}), rung.visits

    def is_default(self, name: str) -> bool:
        """Return whether the option has its default value."""
        return self._values[name.lower()] == self._known[name.lower()].default

    def number(self, name: str) -> float:
        """Return the value of a spin or float option."""
        return float(self._values[name.lower()])

    def whole(self, name: str) -> int:
        """Return the value of a spin option."""
        return int(self._values[name.lower()])

    def flag(self, name: str) -> bool:
        """Return the value of a check option."""
        return bool(self._values[name.lower()])

    def text(self, name: str) -> str:
        """Return the value of a string or combo option."""
        return str(self._values[name.lower()])

    def search_params(self) -> SearchParams:
        """Return the settings of the search, with the memory caps."""
        tree, positions = self._memory()
        params = lc0_search_params(
            self._values,
            max_tree_bytes=tree,
            cache_size=positions,
            cache_key=self.text("CacheKey"),
            graph=self.flag("GraphSearch"),
            opponent_net=self._opponent_net(),
        )
        if not self.text("LargeWeightsFile") or self.whole("LargeVisits") == 0:
            return params
        rule = SecondNet(
            small_visits=self.whole("SmallVisits"),
            large_visits=self.whole("LargeVisits"),
            large_batch=self.whole("LargeBatch"),
        )
        without = {"solver": None, "cache_key": "exact", "graph": False}
        return SearchParams.model_validate({**dict(params), **without, "second_net": rule})

    def _opponent_net(self) -> dict[str, object] | None:
        """The section of a model of the opponent, where one is named."""
        if not self.text("OpponentNet"):
            return None
        plies = self.whole("OpponentNetPlies")
        numbers = {key: self._values[f"opponentnet{key}"] for key in ("temperature", "share")}
        return {**numbers, "plies": plies or None}

    def temperature(self) -> Temperature:
        """Return the randomness of the moves played."""
        return lc0_temperature(self._values)

    def declarations(self) -> Iterator[str]:
        """Return the option lines that answer `uci`."""
        return (option.declaration() for option in OPTIONS)

    def _memory(self) -> tuple[int, int]:
        """Return bytes of tree and positions of cache: four to one of RamLimitMb where both do not fit in it."""
        tree, positions = self.whole("Hash") * MEBIBYTE, self.whole("NNCacheSize")
        limit = self.whole("RamLimitMb") * 1_000_000
        if limit == 0 or tree + positions * BYTES_A_CACHED_POSITION <= limit:
            return tree, positions
        return min(tree, limit * 4 // 5), min(positions, limit // 5 // BYTES_A_CACHED_POSITION)


NO_NET = (
    "no net: set the option WeightsFile (or --weights, or the variable HAUTEUR_NET) to a .pb.gz file of Leela Chess "
    "Zero, or to the name of a net that `hauteur net get` has downloaded, such as maia-1900; `uniform` plays without"
)


def choose_net(options: Options) -> tuple[NetChoice, str]:
    """Return the nets of the options, and why the first was chosen; ValueError without any.

    That is the option WeightsFile, else the environment, else the net that ships.
    """
    net, reason = options.text("WeightsFile"), "option WeightsFile"
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


def play_settings(options: Options, *, infinite: bool = False) -> PlaySettings:
    """Return how the player thinks. infinite: analysis without an end has no contempt of play."""
    params = options.search_params()
    return PlaySettings(
        search=without_contempt_of_play(params) if infinite else params,
        temperature=options.temperature(),
        batch_size=options.whole("MinibatchSize") or None,
        tablebase=open_tablebase(options.text("SyzygyPath")),
        fast_play=options.flag("SyzygyFastPlay"),
    )
