"""The searches of lc0 that can be recomputed: the settings of a set, or the rule for which it has to be skipped."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hauteur.mcts.lc0_options import SEARCH_OPTIONS, TEMPERATURE_OPTIONS, WITHOUT_EFFECT, Value, search_params
from hauteur.mcts.params import SearchParams
from hauteur.studies.verify.files import PLAIN_PUCT

FULL_HISTORY = 7


@dataclass(frozen=True)
class Need:
    """An option that must have a certain value for a search to be recomputed; `default` is lc0's."""

    name: str
    default: Value
    is_met: Callable[[Value], bool]
    reason: str


def _off(value: Value) -> bool:
    return value in (False, 0, "false", "off", "0")


NEEDS = (
    Need(
        "CacheHistoryLength",
        0,
        lambda value: value == FULL_HISTORY,
        "evaluations are re-used for positions with another history",
    ),
    Need("ScLimit", PLAIN_PUCT, lambda value: float(value) >= PLAIN_PUCT, "search-contempt has random draws"),
    Need("SmartPruningFactor", 1.33, lambda value: float(value) == 0, "moves that cannot catch up are left out"),
    Need("MinibatchSize", 0, lambda value: value == 1, "leaves are collected in batches"),
    Need("DirichletNoiseEpsilon", 0.0, lambda value: float(value) == 0, "random noise at the root"),
    Need("SwapColors", False, _off, "search-contempt with swapped colours"),
    Need("SyzygyPath", "", lambda value: value in ("", "<empty>"), "endgame tablebases"),
)
"""Rules of lc0 that change root visits and are not part of plain PUCT."""

NO_INFLUENCE = (
    "Backend",
    "Hash",
    "LogFile",
    "LogLiveStats",
    "MoveOverheadMs",
    "MultiPV",
    "NNCacheSize",
    "PerPVCounters",
    "Ponder",
    "RamLimitMb",
    "ScoreType",
    "Slowmover",
    "StrictTiming",
    "Threads",
    "UCI_Chess960",
    "UCI_ShowEPS",
    "UCI_ShowWDL",
    "VerboseMoveStats",
    "WeightsFile",
)
"""Options of the engine that have no influence on the root visits of a sequential search."""

HISTORY_FILL = "HistoryFill"


def check_names(options: Mapping[str, Value]) -> None:
    """Raise ValueError naming the first unknown option."""
    known = {name.lower() for name in (*WITHOUT_EFFECT, *NO_INFLUENCE, HISTORY_FILL)}
    known |= {need.name.lower() for need in NEEDS}
    known |= {option.name.lower() for option in (*SEARCH_OPTIONS, *TEMPERATURE_OPTIONS)}
    unknown = [name for name in options if name.lower() not in known]
    if unknown:
        raise ValueError(f"unknown option {unknown[0]!r}: neither lc0 nor hauteur has it")


def unmet(options: Mapping[str, Value]) -> list[str]:
    """The rules that a set needs and plain sequential PUCT does not have, in words; empty = it can be recomputed."""
    given = {name.lower(): value for name, value in options.items()}
    found = []
    for need in NEEDS:
        value = given.get(need.name.lower(), need.default)
        if not _is_met(need, value):
            source = "" if need.name.lower() in given else " by default"
            found.append(f"{need.name}={value}{source} ({need.reason})")
    return found


def _is_met(need: Need, value: Value) -> bool:
    try:
        return need.is_met(value)
    except ValueError:
        raise ValueError(f"option {need.name}: {value!r} is not a value that it can have") from None


def settings(options: Mapping[str, Value], **others: int) -> SearchParams:
    """The search of a set, exactly sequential (one leaf a tree at a time), in lc0's arithmetic."""
    return search_params(options, max_in_flight=1, arithmetic="lc0", **others)


def history_fill(options: Mapping[str, Value]) -> str:
    """Return the rule for filling positions before the first one, default fen_only."""
    given = {name.lower(): value for name, value in options.items()}
    return str(given.get(HISTORY_FILL.lower(), "fen_only"))
