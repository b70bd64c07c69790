"""lc0's options: their names, defaults and ranges, and the setting of hauteur that each one changes.

This is the only place where a name of lc0 meets a field of `SearchParams` or `Temperature`. The UCI engine declares
the entries of `SEARCH_OPTIONS`; `search_params` turns values by lc0's names into settings, also for reference files.
`WITHOUT_EFFECT` lists the names of lc0 that hauteur recognises and ignores: a new rule moves its name up into the
table.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hauteur.mcts.params import SearchParams, Temperature
from hauteur.mcts.rules import SEARCH_CONTEMPT_OFF, ratio_steps

Value = bool | int | float | str
Kind = Literal["check", "spin", "float", "string", "combo"]


@dataclass(frozen=True)
class Lc0Option:
    """One option of the engine. `field` is the dotted path of the setting it changes, if it is one of the search."""

    name: str
    kind: Kind
    default: Value
    help: str
    least: float = 0
    most: float = 0
    choices: tuple[str, ...] = ()
    field: str = ""
    check: Callable[[Any], object] | None = None
    """Raises ValueError for a value that is of the kind and in the range, and still cannot be."""

    def declaration(self) -> str:
        """Return the line that answers `uci`. Fractions are strings in UCI, as in lc0."""
        parts = [f"option name {self.name} type {'string' if self.kind == 'float' else self.kind}"]
        parts.append(f"default {self.text(self.default) or '<empty>'}")
        if self.kind == "spin":
            parts.append(f"min {self.least:.0f} max {self.most:.0f}")
        return " ".join(parts + [f"var {choice}" for choice in self.choices])

    def parse(self, text: str) -> Value:
        """Return the value that a text means; ValueError with what is allowed."""
        value = self._parse_kind(text.strip())
        if self.check is not None:
            self.check(value)
        return value

    def _parse_kind(self, text: str) -> Value:
        match self.kind:
            case "check":
                return _parse_check(self.name, text)
            case "spin" | "float":
                return self._parse_number(text)
            case "combo":
                return self._parse_choice(text)
            case _:
                return "" if text == "<empty>" else text

    def text(self, value: Value) -> str:
        """Return a value as the protocol writes it."""
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"{value:.10g}" if isinstance(value, float) else str(value)

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        match self.kind:
            case "check":
                return "true or false"
            case "spin":
                return f"a whole number from {self.least:.0f} to {self.most:.0f}"
            case "float":
                return f"a number from {self.least:g} to {self.most:g}"
            case "combo":
                return "one of " + ", ".join(self.choices)
            case _:
                return "any text"

    def _parse_number(self, text: str) -> Value:
        try:
            number: int | float = int(text) if self.kind == "spin" else float(text)
        except ValueError:
            raise ValueError(f"{self.name} must be {self.allowed}, got {text!r}") from None
        if not self.least <= number <= self.most:
            raise ValueError(f"{self.name} must be {self.allowed}, got {text}")
        return number

    def _parse_choice(self, text: str) -> str:
        for choice in self.choices:
            if choice.lower() == text.lower():
                return choice
        raise ValueError(f"{self.name} must be {self.allowed}, got {text!r}")


def _parse_check(name: str, text: str) -> bool:
    values = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
    if text.lower() not in values:
        raise ValueError(f"{name} must be true or false, got {text!r}")
    return values[text.lower()]


def _float(name: str, default: float, least: float, most: float, field: str, help: str) -> Lc0Option:  # noqa: A002
    return Lc0Option(name, "float", default, help, least=least, most=most, field=field)


def _spin(name: str, default: int, least: int, most: int, field: str, help: str) -> Lc0Option:  # noqa: A002
    return Lc0Option(name, "spin", default, help, least=least, most=most, field=field)


def contempt_elo(text: str, opponent: str = "", otherwise: float = 0.0) -> float:
    """Return the Elo that the option Contempt means against this opponent: `[name=]value` entries, separated by commas.

    The first name that stands in `opponent`, in any case, decides; else the last value without name; else `otherwise`.
    """
    elo = otherwise
    for entry in filter(None, (entry.strip() for entry in text.split(","))):
        name, equals, value = (part.strip() for part in entry.rpartition("="))
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"Contempt must be numbers or name=number, separated by commas, got {entry!r}") from None
        if not abs(number) <= MOST_CONTEMPT:
            raise ValueError(f"Contempt must be -{MOST_CONTEMPT:.0f} to {MOST_CONTEMPT:.0f}, got {entry!r}")
        if not equals:
            elo = number
        elif name.lower() in opponent.lower():
            return number
    return elo


MOST_CONTEMPT = 10_000.0


def check_draw_rate(rate: float) -> None:
    """Raise ValueError for a draw rate between 0, which means none, and the least that can be assumed."""
    if 0.0 < rate < LEAST_DRAW_RATE:
        raise ValueError(f"WDLDrawRateTarget must be 0 or a number from {LEAST_DRAW_RATE} to 0.9999, got {rate:g}")


LEAST_DRAW_RATE = 0.001

CONTEMPT_OPTIONS = (
    Lc0Option(
        "Contempt",
        "string",
        "",
        "Elo by which the contempt side is taken to be stronger; or a list of name=value, by the name of UCI_Opponent.",
        check=contempt_elo,
    ),
    Lc0Option(
        "ContemptMode",
        "combo",
        "play",
        "The contempt side: the one to move at the root (not in infinite analysis), White, Black, none.",
        choices=("play", "white_side_analysis", "black_side_analysis", "disable"),
        field="wdl_contempt.mode",
    ),
    _float("ContemptMaxValue", 420.0, 0, MOST_CONTEMPT, "wdl_contempt.max_value", "Contempt beyond counts as this."),
    _float(
        "WDLCalibrationElo", 0.0, 0, 10_000, "wdl_contempt.calibration_elo", "Elo of the contempt side; 0: unknown."
    ),
    _float("WDLContemptAttenuation", 1.0, -10, 10, "wdl_contempt.attenuation", "Factor of the contempt."),
    _float("WDLMaxS", 1.4, 0.01, 10, "wdl_contempt.max_s", "Bound of the sharpness of evaluations."),
    _float(
        "WDLEvalObjectivity", 1.0, 0, 1, "wdl_contempt.eval_objectivity", "Share of the contempt that scores leave out."
    ),
    Lc0Option(
        "WDLDrawRateTarget",
        "float",
        0.0,
        "Draw rate to assume, at least 0.001; 0: the net's.",
        most=0.9999,
        field="wdl_contempt.draw_rate_target",
        check=check_draw_rate,
    ),
    _float(
        "WDLDrawRateReference",
        0.5,
        1e-4,
        0.9999,
        "wdl_contempt.draw_rate_reference",
        "Draw rate at the net's strength.",
    ),
    _float("WDLBookExitBias", 0.65, -2, 2, "wdl_contempt.book_exit_bias", "Advantage in which opening books end."),
    Lc0Option("UCI_Opponent", "string", "", "Title, Elo, kind and name of the opponent, as programs send it."),
    _float("UCI_RatingAdv", 0.0, -MOST_CONTEMPT, MOST_CONTEMPT, "", "Contempt where that option says nothing."),
)
"""The options of WDL contempt."""


def check_limit(n_scl: int) -> None:
    """Raise ValueError for an ScLimit of 0: a node would freeze before it has weights."""
    if n_scl == 0:
        raise ValueError("ScLimit must not be 0 (1000000000 turns search-contempt off)")


def check_schedule(text: str) -> None:
    """Raise ValueError for a HybridRatioSchedule that is none."""
    try:
        ratio_steps(text)
    except ValueError as error:
        raise ValueError(f"HybridRatioSchedule {error}, got {text!r}") from None


SEARCH_CONTEMPT_OPTIONS = (
    Lc0Option(
        "ScLimit",
        "spin",
        SEARCH_CONTEMPT_OFF,
        "Search-contempt: visits after which moves of the opponent are drawn; below 0: of the engine; not 0.",
        least=-SEARCH_CONTEMPT_OFF,
        most=SEARCH_CONTEMPT_OFF,
        field="search_contempt.n_scl",
        check=check_limit,
    ),
    _float("ScTemperature", 1.0, 0.001, 100, "search_contempt.temperature", "Flattens (> 1) or sharpens those draws."),
    _float("HybridSamplingRatio", 1.0, 0, 1, "search_contempt.sampling_ratio", "Share of the visits that are drawn."),
    Lc0Option(
        "HybridRatioSchedule",
        "string",
        "",
        "That share by visits of the position: `1000:0.5 8000:0.9`.",
        field="search_contempt.ratio_schedule",
        check=check_schedule,
    ),
)
"""The options of search-contempt."""

SEARCH_OPTIONS = (
    _float("CPuct", 1.745, 0, 100, "cpuct.init", "Exploration of PUCT."),
    _float("CPuctBase", 38739, 1, 1e9, "cpuct.base", "Visits at which exploration starts to grow."),
    _float("CPuctFactor", 3.894, 0, 1000, "cpuct.factor", "Growth of exploration with visits."),
    Lc0Option("RootHasOwnCpuctParams", "check", False, "Use the three CPuct...AtRoot options at the root."),
    _float("CPuctAtRoot", 1.745, 0, 100, "root_cpuct.init", "CPuct of the root."),
    _float("CPuctBaseAtRoot", 38739, 1, 1e9, "root_cpuct.base", "CPuctBase of the root."),
    _float("CPuctFactorAtRoot", 3.894, 0, 1000, "root_cpuct.factor", "CPuctFactor of the root."),
    Lc0Option(
        "FpuStrategy",
        "combo",
        "reduction",
        "Value of a move without visits: the parent's less a reduction, or FpuValue itself.",
        choices=("reduction", "absolute"),
        field="fpu.kind",
    ),
    _float("FpuValue", 0.33, -100, 100, "fpu.value", "The reduction, or the value."),
    Lc0Option(
        "FpuStrategyAtRoot",
        "combo",
        "same",
        "FpuStrategy of the root.",
        choices=("reduction", "absolute", "same"),
        field="root_fpu.kind",
    ),
    _float("FpuValueAtRoot", 1.0, -100, 100, "root_fpu.value", "FpuValue of the root, unless its strategy is `same`."),
    _float("PolicyTemperature", 1.359, 0.1, 10, "policy_temperature", "Flattens (> 1) or sharpens the net's policy."),
    _float("DirichletNoiseEpsilon", 0.0, 0, 1, "dirichlet.epsilon", "Share of noise in the root's policy."),
    _float("DirichletNoiseAlpha", 0.3, 0.001, 1000, "dirichlet.alpha", "Concentration of that noise."),
    _float("DrawScore", 0.0, -1, 1, "draw_score", "Value of a draw for White."),
    Lc0Option(
        "SwapColors",
        "check",
        False,
        "The net is shown the other colour: for nets that were trained for one.",
        field="swap_colors",
    ),
    Lc0Option("TwoFoldDraws", "check", True, "A position that comes back within a line counts as a draw."),
    Lc0Option("StickyEndgames", "check", True, "Proven wins, draws and losses are carried up the tree."),
    *CONTEMPT_OPTIONS,
    *SEARCH_CONTEMPT_OPTIONS,
)
"""The options that shape the tree."""

TEMPERATURE_OPTIONS = (
    _float("Temperature", 0.0, 0, 100, "initial", "Randomness of the moves played; 0: always the best."),
    _spin("TempDecayMoves", 0, 0, 640, "decay_moves", "Moves over which Temperature falls to 0."),
    _spin("TempDecayDelayMoves", 0, 0, 100, "decay_delay_moves", "Moves before it starts to fall."),
    _spin("TempCutoffMove", 0, 0, 1000, "cutoff_move", "From this move on TempEndgame counts; 0: never."),
    _float("TempEndgame", 0.0, 0, 100, "endgame", "Temperature after the cutoff, and the least while it falls."),
    _float("TempValueCutoff", 100.0, 0, 100, "value_cutoff", "Moves worse by more per cent are never drawn."),
    _float("TempVisitOffset", 0.0, -1000, 1000, "visit_offset", "Added to the visits before moves are drawn."),
)
"""The options of the choice of the move."""

WITHOUT_EFFECT = (
    "AuxEngineFile",
    "BackendOptions",
    "CacheHistoryLength",
    "ConfigFile",
    "ContemptModeTB",
    "HybridRatioMode",
    "IdlingMinimumWork",
    "KLDGainAverageInterval",
    "MaxCollisionEvents",
    "MaxCollisionVisits",
    "MaxCollisionVisitsScalingEnd",
    "MaxCollisionVisitsScalingPower",
    "MaxCollisionVisitsScalingStart",
    "MaxConcurrentSearchers",
    "MaxOutOfOrderEvalsFactor",
    "MaxPrefetch",
    "MinimumKLDGainPerNode",
    "MinimumProcessingWork",
    "MinimumRemainingWorkForPicking",
    "MinimumWorkPerTaskForProcessing",
    "MovesLeftConstantFactor",
    "MovesLeftMaxEffect",
    "MovesLeftQuadraticFactor",
    "MovesLeftScaledFactor",
    "MovesLeftSlope",
    "MovesLeftThreshold",
    "NodesPerSecondLimit",
    "OutOfOrderEval",
    "Preload",
    "SearchSpinBackoff",
    "SolidTreeThreshold",
    "TaskWorkers",
    "ThreadIdlingThreshold",
    "TimeManager",
    "UCI_ShowMovesLeft",
    "ValueOnly",
)
"""Names of lc0 (and of its forks) that hauteur accepts and that change nothing."""


STICKY_ENDGAMES = {
    "lost_child_mode": "zero_prior",
    "clamp_to_bounds": False,
    "root_excludes_proven": False,
    "auto_extend": False,
}
"""The settings of the solver that are lc0's StickyEndgames."""


def setting_path(name: str) -> tuple[str, ...]:
    """Return where a player has what an option of lc0 sets: CPuct is ("search", "cpuct", "init"). KeyError without."""
    paths = {option.name: ("search", *option.field.split(".")) for option in SEARCH_OPTIONS if option.field}
    return (paths | {option.name: ("temperature", option.field) for option in TEMPERATURE_OPTIONS})[name]


def name_of_lc0(name: str) -> str:
    """Return the key of the setting that an option of lc0, in any case, sets in a player's text; empty without one."""
    options = (option for option in (*SEARCH_OPTIONS, *TEMPERATURE_OPTIONS) if option.field)
    found = next((option for option in options if option.name.lower() == name.lower()), None)
    if found is None:
        return ""
    prefix = "temperature." if found in TEMPERATURE_OPTIONS else ""
    return f"{prefix}{found.field}".replace("_", "-")


def search_params(options: Mapping[str, Value], **others: Any) -> SearchParams:
    """Return the settings of the search by lc0's names (any case) and defaults; other names are passed over.

    `others` are fields of SearchParams without a name in lc0 (cache_size=..., max_tree_bytes=...).
    """
    given = {name.lower(): value for name, value in options.items()}
    values = {option.name: _value(option, given) for option in SEARCH_OPTIONS}
    fields = _nested((option.field, values[option.name]) for option in SEARCH_OPTIONS if option.field)
    if not values["RootHasOwnCpuctParams"]:
        del fields["root_cpuct"]
    if values["FpuStrategyAtRoot"] == "same":
        del fields["root_fpu"]
    if values["DirichletNoiseEpsilon"] == 0.0:
        del fields["dirichlet"]
    if values["TwoFoldDraws"]:
        fields["repetition"] = {"mode": "inline_value"}
    if values["StickyEndgames"]:
        fields["solver"] = STICKY_ENDGAMES
    if abs(int(values["ScLimit"])) == SEARCH_CONTEMPT_OFF:
        del fields["search_contempt"]
    advantage = float(values["UCI_RatingAdv"])
    contempt = contempt_elo(str(values["Contempt"]), str(values["UCI_Opponent"]), advantage)
    fields["wdl_contempt"]["contempt"] = contempt
    if not (contempt or values["WDLCalibrationElo"] or values["WDLDrawRateTarget"]):
        del fields["wdl_contempt"]
    return SearchParams.model_validate({**fields, **others})


def without_contempt_of_play(params: SearchParams) -> SearchParams:
    """Return the settings for infinite analysis: in the mode `play` the contempt is nobody's."""
    rule = params.wdl_contempt
    if rule is None or rule.mode != "play":
        return params
    return params.model_copy(update={"wdl_contempt": rule.model_copy(update={"mode": "disable"})})


def temperature(options: Mapping[str, Value]) -> Temperature:
    """Return the randomness of the moves played, by lc0's names (any case) and defaults."""
    given = {name.lower(): value for name, value in options.items()}
    return Temperature.model_validate({option.field: _value(option, given) for option in TEMPERATURE_OPTIONS})


def _value(option: Lc0Option, given: Mapping[str, Value]) -> Value:
    value = given.get(option.name.lower(), option.default)
    return option.parse(option.text(value))


def _nested(fields: Iterable[tuple[str, Value]]) -> dict[str, Any]:
    """{"cpuct.init": 2} as {"cpuct": {"init": 2}}."""
    result: dict[str, Any] = {}
    for path, value in fields:
        *sections, last = path.split(".")
        place = result
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    return result
