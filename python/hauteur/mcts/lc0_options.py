"""lc0's options: their names, defaults and ranges, and the setting of hauteur that each one changes.

This is the only place where a name of lc0 meets a field of `SearchParams` or `Temperature`. The UCI engine declares
the entries of `SEARCH_OPTIONS`; `search_params` turns values by lc0's names into settings, also for reference files.
`WITHOUT_EFFECT` lists the names of lc0 that hauteur recognises and ignores: a new rule moves its name up into the
table.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from hauteur import _core

if TYPE_CHECKING:
    from hauteur.mcts.params import SearchParams, Temperature

Value = bool | int | float | str
Kind = Literal["check", "spin", "float", "string", "combo"]


@dataclass(frozen=True)
class Lc0Option:
    """One option of the engine."""

    name: str
    """Name of the option in UCI, as lc0 has it."""
    kind: Kind
    """Kind of the option; a `float` is declared as a string, as UCI has no fractions."""
    default: Value
    """Value without `setoption`."""
    help: str
    """What the option does, for documents."""
    least: float = 0
    """Minimum of a spin or float."""
    most: float = 0
    """Maximum of a spin or float."""
    choices: tuple[str, ...] = ()
    """Values of a combo."""
    field: str = ""
    """Dotted path of the setting of `SearchParams` or `Temperature` that it changes; empty: none."""
    check: Callable[[Any], object] | None = None
    """Raises ValueError for a value of the right kind and range that is still not allowed."""

    def declaration(self) -> str:
        """Return the line that answers `uci`. Fractions are strings in UCI, as in lc0."""
        kind = "string" if self.kind == "float" else self.kind
        default = self.text(self.default) or "<empty>"
        parts = [f"option name {self.name} type {kind} default {default}"]
        if self.kind == "spin":
            parts.append(f"min {self.least:.0f} max {self.most:.0f}")
        parts += [f"var {choice}" for choice in self.choices]
        return " ".join(parts)

    def parse(self, text: str) -> Value:
        """Return the value that a text means; ValueError with what is allowed."""
        value = self._read(text.strip())
        if value is None:
            raise ValueError(f"{self.name} must be {self.allowed}, got {text.strip()!r}")
        if self.check is not None:
            self.check(value)
        return value

    def _read(self, text: str) -> Value | None:
        """Return the value, None where the text means none that is allowed."""
        match self.kind:
            case "check":
                return _SWITCH.get(text.lower())
            case "spin" | "float":
                try:
                    number: int | float = int(text) if self.kind == "spin" else float(text)
                except ValueError:
                    return None
                if self.least <= number <= self.most:
                    return number
                return None
            case "combo":
                return next((choice for choice in self.choices if choice.lower() == text.lower()), None)
            case _:
                return "" if text == "<empty>" else text

    def text(self, value: Value) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return f"{value:.10g}"
        return str(value)

    @property
    def allowed(self) -> str:
        words = {
            "check": "true or false",
            "spin": f"a whole number from {self.least:.0f} to {self.most:.0f}",
            "float": f"a number from {self.least:g} to {self.most:g}",
            "combo": f"one of {', '.join(self.choices)}",
        }
        return words.get(self.kind, "any text")


_SWITCH = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}

KINDS: dict[str, Kind] = {
    "int": "spin",
    "float": "float",
    "bool": "check",
    "choice": "combo",
    "str": "string",
}
"""Kinds of options by those of settings in the core's schema."""


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


def _checked(name: str, section: str, setting: str) -> Callable[[Value], None]:
    """Return a check of an option by the section that its setting is in: ValueError names the option."""

    def check(value: Value) -> None:
        try:
            _core.check_settings(section, json.dumps({setting: value}))
        except ValueError as error:
            raise ValueError(str(error).replace(setting, name)) from None

    return check


_SEARCH = """
CPuct | cpuct.init | Exploration of PUCT.
CPuctBase | cpuct.base | Visits at which exploration starts to grow.
CPuctFactor | cpuct.factor | Growth of exploration with visits.
RootHasOwnCpuctParams | | Use the three CPuct...AtRoot options at the root.
CPuctAtRoot | root_cpuct.init | CPuct of the root.
CPuctBaseAtRoot | root_cpuct.base | CPuctBase of the root.
CPuctFactorAtRoot | root_cpuct.factor | CPuctFactor of the root.
FpuStrategy | fpu.kind | Value of a move without visits: the parent's less a reduction, or FpuValue itself.
FpuValue | fpu.value | The reduction, or the value.
FpuStrategyAtRoot | root_fpu.kind | FpuStrategy of the root.
FpuValueAtRoot | root_fpu.value | FpuValue of the root, unless its strategy is `same`.
PolicyTemperature | policy_temperature | Flattens (> 1) or sharpens the net's policy.
DirichletNoiseEpsilon | dirichlet.epsilon | Share of noise in the root's policy.
DirichletNoiseAlpha | dirichlet.alpha | Concentration of that noise.
DrawScore | draw_score | Value of a draw for White.
SwapColors | swap_colors | The net is shown the other colour: for nets that were trained for one.
TwoFoldDraws | | A position that comes back within a line counts as a draw.
StickyEndgames | | Proven wins, draws and losses are carried up the tree.
Contempt | | Elo by which the contempt side is taken to be stronger; or a list of name=value, by the name of UCI_Opponent.
ContemptMode | wdl_contempt.mode | The contempt side: the one to move at the root (not in infinite analysis), White, Black, none.
ContemptMaxValue | wdl_contempt.max_value | Contempt beyond counts as this.
WDLCalibrationElo | wdl_contempt.calibration_elo | Elo of the contempt side; 0: unknown.
WDLContemptAttenuation | wdl_contempt.attenuation | Factor of the contempt.
WDLMaxS | wdl_contempt.max_s | Bound of the sharpness of evaluations.
WDLEvalObjectivity | wdl_contempt.eval_objectivity | Share of the contempt that scores leave out.
WDLDrawRateTarget | wdl_contempt.draw_rate_target | Draw rate to assume, at least 0.001; 0: the net's.
WDLDrawRateReference | wdl_contempt.draw_rate_reference | Draw rate at the net's strength.
WDLBookExitBias | wdl_contempt.book_exit_bias | Advantage in which opening books end.
UCI_Opponent | | Title, Elo, kind and name of the opponent, as programs send it.
UCI_RatingAdv | | Contempt where that option says nothing.
LowerBound | | Choose the move by the lower confidence bound of its value instead of its visits.
MateSearch | solver.threats | Positions looked at in every new node for mates by checks; 0: none. Needs StickyEndgames.
ScLimit | search_contempt.n_scl | Search-contempt: visits after which the opponent's moves are drawn; below 0: the engine's; 0: of OpponentNet.
ScTemperature | search_contempt.temperature | Flattens (> 1) or sharpens those draws.
HybridSamplingRatio | search_contempt.sampling_ratio | Share of the visits that are drawn.
HybridRatioSchedule | search_contempt.ratio_schedule | That share by visits of the position: `1000:0.5 8000:0.9`.
"""  # noqa: E501
"""Options that shape the tree: name | setting, empty: see `search_params` | help. LowerBound, MateSearch are ours."""

_TEMPERATURE = """
Temperature | initial | Randomness of the moves played; 0: always the best.
TempDecayMoves | decay_moves | Moves over which Temperature falls to 0.
TempDecayDelayMoves | decay_delay_moves | Moves before it starts to fall.
TempCutoffMove | cutoff_move | From this move on TempEndgame counts; 0: never.
TempEndgame | endgame | Temperature after the cutoff, and the least while it falls.
TempValueCutoff | value_cutoff | Moves worse by more per cent are never drawn.
TempVisitOffset | visit_offset | Added to the visits before moves are drawn.
"""

_OF_LC0: Mapping[str, dict[str, Any]] = {
    "RootHasOwnCpuctParams": {"kind": "check", "default": False},
    "FpuStrategy": {"choices": ("reduction", "absolute")},
    "FpuStrategyAtRoot": {"default": "same", "choices": ("reduction", "absolute", "same")},
    "FpuValueAtRoot": {"default": 1.0},
    "PolicyTemperature": {"least": 0.1, "most": 10},
    "DirichletNoiseEpsilon": {"default": 0.0},
    "DirichletNoiseAlpha": {"least": 0.001},
    "TwoFoldDraws": {"kind": "check", "default": True},
    "StickyEndgames": {"kind": "check", "default": True},
    "LowerBound": {"kind": "check", "default": False},
    "Contempt": {"kind": "string", "default": "", "check": contempt_elo},
    "WDLDrawRateTarget": {"check": _checked("WDLDrawRateTarget", "WdlContempt", "draw_rate_target")},
    "UCI_Opponent": {"kind": "string", "default": ""},
    "UCI_RatingAdv": {"kind": "float", "default": 0.0, "least": -MOST_CONTEMPT, "most": MOST_CONTEMPT},
    "HybridRatioSchedule": {"check": _checked("HybridRatioSchedule", "SearchContempt", "ratio_schedule")},
    "TempDecayMoves": {"most": 640},
    "TempDecayDelayMoves": {"most": 100},
    "TempCutoffMove": {"most": 1000},
    "TempVisitOffset": {"least": -1000, "most": 1000},
}
"""Facts of options in lc0 that are not those of the setting."""


@cache
def _schema() -> dict[str, dict[str, Any]]:
    """Return the core's facts about every setting, by section and name."""
    found = {}
    for section in json.loads(_core.settings_schema()):
        found[section["name"]] = {setting["name"]: setting for setting in section["settings"]}
    return found


def _options(table: str, section: str) -> tuple[Lc0Option, ...]:
    """Return the options of a table: kind, default, range and choices of their settings, unless lc0 has others.

    section: of the core's schema, to which the settings belong.
    """
    options = []
    for row in table.strip().splitlines():
        name, field, text = (cell.strip() for cell in row.split("|", 2))
        options.append(_option(name, field, text, section))
    return tuple(options)


def _option(name: str, field: str, text: str, section: str) -> Lc0Option:
    facts: dict[str, Any] = {}
    if field:
        *sections, last = field.split(".")
        for part in sections:
            section = _schema()[section][part]["type"]["section"]
        found = _schema()[section][last]
        kind = found["type"]
        least, most = found["range"] or (0, 0)
        facts["kind"] = KINDS[kind["kind"]]
        facts["default"] = found["default"]
        facts["least"] = least
        facts["most"] = most
        facts["choices"] = tuple(kind.get("choices", ()))
    facts |= _OF_LC0.get(name, {})
    return Lc0Option(name, help=text, field=field, **facts)


SEARCH_OPTIONS = _options(_SEARCH, "SearchParams")
"""The options that shape the tree."""
TEMPERATURE_OPTIONS = _options(_TEMPERATURE, "Temperature")
"""The options of the choice of the move."""

# Known by name, so that settings written for lc0 are taken without an error, and no name is ignored by mistake.
_NAMES_WITHOUT_EFFECT = """
    AuxEngineFile BackendOptions CacheHistoryLength ConfigFile ContemptModeTB HybridRatioMode IdlingMinimumWork
    KLDGainAverageInterval MaxCollisionEvents MaxCollisionVisits MaxCollisionVisitsScalingEnd
    MaxCollisionVisitsScalingPower MaxCollisionVisitsScalingStart MaxConcurrentSearchers MaxOutOfOrderEvalsFactor
    MaxPrefetch MinimumKLDGainPerNode MinimumProcessingWork MinimumRemainingWorkForPicking
    MinimumWorkPerTaskForProcessing MovesLeftConstantFactor MovesLeftMaxEffect MovesLeftQuadraticFactor
    MovesLeftScaledFactor MovesLeftSlope MovesLeftThreshold NodesPerSecondLimit OutOfOrderEval Preload
    SearchSpinBackoff SolidTreeThreshold TaskWorkers ThreadIdlingThreshold TimeManager UCI_ShowMovesLeft ValueOnly
"""
WITHOUT_EFFECT = tuple(_NAMES_WITHOUT_EFFECT.split())
"""Names of lc0 (and of its forks) that hauteur accepts and that change nothing."""


STICKY_ENDGAMES = {
    "lost_child_mode": "zero_prior",
    "clamp_to_bounds": False,
    "root_excludes_proven": False,
    "auto_extend": False,
}
"""The settings of the solver that are lc0's StickyEndgames."""


def setting_path(name: str) -> tuple[str, ...]:
    """Return where a player has what an option of lc0, in any case, sets: CPuct is ("search", "cpuct", "init").

    Empty for a name that is none, or sets nothing by itself.
    """
    for section, options in (("search", SEARCH_OPTIONS), ("temperature", TEMPERATURE_OPTIONS)):
        for option in options:
            if option.field and option.name.lower() == name.lower():
                return (section, *option.field.split("."))
    return ()


def search_params(options: Mapping[str, Value], **others: Any) -> "SearchParams":
    """Return the settings of the search by lc0's names, as in `search_values`. ValueError for what is not allowed."""
    from hauteur.mcts.params import SearchParams  # here: engines start without models

    return SearchParams.model_validate(search_values(options, **others))


def search_values(options: Mapping[str, Value], **others: Any) -> dict[str, Any]:
    """Return the settings of the search, sections as dicts, by lc0's names (any case) and defaults.

    Other names are passed over. `others` are fields of SearchParams without a name in lc0 (cache_size=...,
    max_tree_bytes=...); those that are None are left out.
    """
    given = {name.lower(): value for name, value in options.items()}
    values = {option.name: _value(option, given) for option in SEARCH_OPTIONS}
    fields = _nested((option.field, values[option.name]) for option in SEARCH_OPTIONS if option.field)
    # In lc0 the options of the root are there always, and count with their switch alone. Here a section is the switch.
    if not values["RootHasOwnCpuctParams"]:
        del fields["root_cpuct"]
    if values["FpuStrategyAtRoot"] == "same":
        del fields["root_fpu"]
    if values["DirichletNoiseEpsilon"] == 0.0:
        del fields["dirichlet"]
    if values["TwoFoldDraws"]:
        fields["repetition"] = {"mode": "inline_value"}
    own_solver = fields.pop("solver")
    if values["StickyEndgames"]:
        fields["solver"] = {**STICKY_ENDGAMES, **own_solver}
    if values["LowerBound"]:
        fields["lower_bound"] = {}
    # The core decides what is neutral: ScLimit 0 is not, where there is a model of the opponent.
    if _core.check_settings("SearchContempt", json.dumps({"n_scl": values["ScLimit"]})):  # it is neutral
        del fields["search_contempt"]
    advantage = float(values["UCI_RatingAdv"])
    contempt = contempt_elo(str(values["Contempt"]), str(values["UCI_Opponent"]), advantage)
    fields["wdl_contempt"]["contempt"] = contempt
    # Without one of the three the rule is neutral, whatever its other options are: no shift, and a ratio of 1.
    if not (contempt or values["WDLCalibrationElo"] or values["WDLDrawRateTarget"]):
        del fields["wdl_contempt"]
    return {**fields, **{name: value for name, value in others.items() if value is not None}}


def without_contempt_of_play(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a search for infinite analysis: in the mode `play` there is no contempt."""
    # As in lc0. The contempt is the mover's in this mode: in analysis it would change sides with every move, and no
    # tree could be kept.
    rule = values.get("wdl_contempt")
    if rule is None or rule["mode"] != "play":
        return values
    return {**values, "wdl_contempt": {**rule, "mode": "disable"}}


def temperature(options: Mapping[str, Value]) -> "Temperature":
    """Return the randomness of the moves played, by lc0's names. ValueError for what is not allowed."""
    from hauteur.mcts.params import Temperature  # here: engines start without models

    return Temperature.model_validate(temperature_values(options))


def temperature_values(options: Mapping[str, Value]) -> dict[str, Any]:
    """Return the settings of the choice of the move, by lc0's names (any case) and defaults."""
    given = {name.lower(): value for name, value in options.items()}
    return {option.field: _value(option, given) for option in TEMPERATURE_OPTIONS}


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
