"""Players as text: `net=maia-1900.pb.gz visits=100 temperature=0.5 search.cpuct.init=1.5`, or a TOML file of such keys.

A player without a network is a word of its own: `rave:1000 name=NAME` (hauteur.players.baselines). So is a program
of its own,
`uci:stockfish nodes=1000`, and then the other words are about that program (hauteur.players.engines.settings).

Nothing here names a rule of the search: keys are looked up in the models of `hauteur.search.params`, values are read
by them.
"""

from __future__ import annotations

import difflib
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, Field, ValidationError, model_validator

from hauteur.players.baselines import is_baseline, parse_baseline
from hauteur.players.engines.settings import EngineSettings, engine_key, engine_of, engine_words, is_engine
from hauteur.search.params import SearchParams, Temperature
from hauteur.system.settings import Section

Colours = Literal["swap", "first", "second", "mover"]
"""Which seat is a player's: the one and the other in turns, always one, or that of the side to move."""

ON, OFF = ("on", "true"), ("off", "none", "false")
"""Words that stand for an optional section: with its defaults, or absent."""


def _written(baseline: str) -> str:
    """The shortest way to write a player without a network."""
    return str(parse_baseline(baseline))


class PlayerSettings(Section):
    """What makes a player of a match.

    baseline: a player without a network, engine: a program that plays; either has a name and nothing else.

    net: a net file, `uniform` or `rollout`; None: the net that comes with the game. large_net: a second net, which
    corrects the first one (search.second_net; visits are then the first net's). precision: of the nets' arithmetic;
    None: the backend's. visits: root visits at which a move is chosen.
    """

    name: str = ""
    baseline: Annotated[str, AfterValidator(_written)] | None = None
    engine: EngineSettings | None = None
    net: str | None = None
    large_net: str | None = None
    precision: Literal["float32", "bfloat16", "float16", "int8"] | None = None
    visits: Annotated[int, Field(ge=1, le=1_000_000_000)] = 100
    temperature: Temperature = Temperature()
    search: SearchParams = SearchParams()

    @property
    def has_net(self) -> bool:
        """Whether it searches with a net (or with an evaluator in the place of one)."""
        return self.baseline is None and self.engine is None

    @model_validator(mode="after")
    def _without_a_network_nothing_else(self) -> Self:
        fields = set(PlayerSettings.model_fields) - {"baseline", "engine", "name"}
        given = sorted(self.model_dump(exclude_defaults=True, include=fields))
        if self.baseline is not None and self.engine is not None:
            given.append("engine")
        if not self.has_net and given:
            player = self.baseline or f"{self.engine and self.engine.command}"
            raise ValueError(f"{player} is a player without a network: {given[0]} does not apply; allowed: name")
        return self


SHORT: dict[tuple[str, ...], tuple[str, ...]] = {("temperature",): ("temperature", "initial")}
"""Keys that stand for a longer one when a value is given: `temperature=0.5`."""


def parse_player(text: str, label: str = "player") -> PlayerSettings:
    """The settings that the words of `text` give; later words go before those of TOML files. ValueError names the word.

    A word is key=value, or @FILE.toml, or a path that ends in .toml, or a player without a network, or a program.
    Dashes are as good as underscores in keys, and `search.` may be left out. label: what messages call the player.
    """
    return changed_player(PlayerSettings(), text, label)


def player_text(settings: PlayerSettings, *, without: tuple[str, ...] = ()) -> str:
    """The shortest text that gives these settings, leaving out the fields `without`."""
    changed = settings.model_dump(exclude_defaults=True, exclude={"engine", *without})
    baseline = changed.pop("baseline", None)
    words = [] if baseline is None else [baseline]
    if settings.engine is not None and "engine" not in without:
        words += engine_words(settings.engine)
    for path, value in _leaves(changed):
        short = next((key for key, full in SHORT.items() if full == path), path)
        words.append(shlex.quote(f"{'.'.join(short)}={_value_text(value)}"))
    return " ".join(words)


def changed_player(settings: PlayerSettings, text: str, label: str = "player") -> PlayerSettings:
    """The settings with what the words of `text` change, as in `parse_player`."""
    try:
        values = settings.model_dump(exclude_unset=True)
        for path, value in _assignments(text):
            _assign(values, path, value)
        return PlayerSettings.model_validate(values)
    except ValidationError as error:
        raise ValueError(f"{label}: {'; '.join(_problem(dict(d)) for d in error.errors(include_url=False))}") from None
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None


def setting_text(settings: PlayerSettings, key: str) -> str:
    """The value of a setting by its key, which may be a short one; ValueError for a key that is none."""
    value: Any = settings
    path = _full_key(tuple(key.split(".")), is_value=True)
    for depth, name in enumerate(path):
        if isinstance(value, BaseModel) and name not in type(value).model_fields:
            raise ValueError(_unknown(".".join(path[: depth + 1]), list(type(value).model_fields)))
        value = getattr(value, name, None)
    return _value_text(value.model_dump(exclude_defaults=True) if isinstance(value, BaseModel) else value)


def value_key(key: str) -> tuple[str, ...]:
    """The full name of a key that has a value: `temperature` is ("temperature", "initial"); ValueError if unknown."""
    path = _full_key(tuple(key.split(".")), is_value=True)
    _assign({}, path, None)
    return path


def value_at(settings: PlayerSettings, path: tuple[str, ...]) -> Any:
    """The player's value of a key as `value_key` gives it; None in a section that is off."""
    value: Any = settings
    for name in path:
        value = None if value is None else getattr(value, name)
    return value


def value_kinds(path: tuple[str, ...]) -> list[Any]:
    """The types that a key's value may have."""
    kinds: list[Any] = [PlayerSettings]
    for name in path:
        sections = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        kinds = _kinds(_with_field(sections, name).model_fields[name].annotation)
    return kinds


def _assignments(text: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Full key and value of everything that is given, files first."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    from_files = [
        found for word in words if _is_file(word) for found in _file_assignments(Path(word.removeprefix("@")))
    ]
    yield from from_files
    words = [word for word in words if not _is_file(word)]
    has_engine = any(path[0] == "engine" for path, _ in from_files) or any(map(is_engine, words))
    given: set[tuple[str, ...]] = set()
    for word in words:
        for path, value in _word_assignments(word, has_engine=has_engine):
            if path in given:
                raise ValueError(f"{'.'.join(path)} is given twice")
            given.add(path)
            yield path, value


def _word_assignments(word: str, *, has_engine: bool) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Full key and value of what a word gives. has_engine: the text is of a program, so that other keys are meant."""
    if is_engine(word):
        yield from ((("engine", key), value) for key, value in engine_of(word).items())
        return
    key, equals, value = ("baseline", "=", word) if is_baseline(word) else word.partition("=")
    if not equals or not key:
        raise ValueError(f"{word!r} is neither key=value nor a .toml file")
    own_key = has_engine and not is_baseline(word)
    yield engine_key(key) if own_key else _full_key(tuple(key.split(".")), is_value=True), value


def _is_file(word: str) -> bool:
    return word.startswith("@") or (word.endswith(".toml") and "=" not in word)


def _file_assignments(path: Path) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Full key and value of every setting of a TOML file."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from None
    for key, value in _leaves(values):
        is_option = key[:2] == ("engine", "options")
        yield key if is_option else _full_key(key, is_value=not isinstance(value, dict)), value


def _leaves(values: dict[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is no table, or an empty one, with its key."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*prefix, name))
        else:
            yield (*prefix, name), value


def _full_key(path: tuple[str, ...], *, is_value: bool) -> tuple[str, ...]:
    """The key with underscores, with `search` where it was left out, and written out where it is a short one."""
    names = tuple(name.replace("-", "_") for name in path)
    if names[0] not in PlayerSettings.model_fields:
        if names[0] not in SearchParams.model_fields:
            raise ValueError(_unknown(names[0], [*PlayerSettings.model_fields, *SearchParams.model_fields]))
        names = ("search", *names)
    return SHORT.get(names, names) if is_value else names


def _assign(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Puts the value into nested dicts, making the sections on its way; a section itself may be `on` or `off`."""
    if path[:2] == ("engine", "options") and len(path) > 2:
        values.setdefault("engine", {}).setdefault("options", {})[".".join(path[2:])] = value
        return
    model: type[BaseModel] = PlayerSettings
    for depth, name in enumerate(path):
        if name not in model.model_fields:
            raise ValueError(_unknown(".".join(path[: depth + 1]), list(model.model_fields)))
        kinds = _kinds(model.model_fields[name].annotation)
        sections = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if depth == len(path) - 1:
            _set_value(values, name, value, ".".join(path), is_section=bool(sections), optional=NoneType in kinds)
            return
        if not sections:
            raise ValueError(f"{'.'.join(path[: depth + 1])} is a value, not a section: it has no {path[depth + 1]}")
        model = _with_field(sections, path[depth + 1])
        if not isinstance(values.get(name), dict):
            values[name] = {}
        values = values[name]


def _set_value(values: dict[str, Any], name: str, value: Any, key: str, *, is_section: bool, optional: bool) -> None:
    word = str(value).lower()
    if not is_section:
        values[name] = None if optional and word in ("none", "off") else _read(value)
    elif word in ON or value == {}:
        if not isinstance(values.get(name), dict):
            values[name] = {}
    elif word in OFF and optional:
        values[name] = None
    else:
        allowed = "on or off" if optional else "on"
        raise ValueError(f"{key} is a section: it is {allowed}, or one of its settings is given; got {value!r}")


def _read(value: Any) -> Any:
    """Lists are written as in TOML; everything else is read by the model."""
    if not isinstance(value, str) or not value.startswith(("[", "{")):
        return value
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _kinds(annotation: Any) -> list[Any]:
    """The types that an annotation allows, `Annotated` and unions taken apart."""
    inner = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _kinds(inner[0])
    if not inner or isinstance(annotation, type) or getattr(annotation, "__origin__", None) is Literal:
        return [annotation]
    return [kind for part in inner for kind in _kinds(part)]


def _with_field(sections: list[type[BaseModel]], name: str) -> type[BaseModel]:
    """Of the sections that a field may hold, the one that has this setting."""
    return next((section for section in sections if name in section.model_fields), sections[0])


def _unknown(key: str, allowed: list[str]) -> str:
    name = key.rpartition(".")[2]
    close = difflib.get_close_matches(name, allowed, 1)
    return f"{key} is not a setting{f' (did you mean {close[0]}?)' if close else ''}; allowed: {', '.join(allowed)}"


def _problem(detail: dict[str, Any]) -> str:
    key = ".".join(str(part) for part in detail["loc"])
    message = str(detail["msg"]).removeprefix("Value error, ")
    given = "" if isinstance(detail["input"], dict) else f", got {str(detail['input'])[:80]!r}"
    return f"{key}: {message}{given}" if key else message


def _value_text(value: Any) -> str:
    if value == {}:
        return "on"
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value_text, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
