"""Players as text: `net=maia-1900.pb.gz visits=100 temperature=0.5 search.cpuct.init=1.5`, or a TOML file of such keys.

An opponent by rating is a word of its own, `human-1500` (hauteur.players.ladder), whose settings other words change.
A player without a network is one: `rave:1000 name=NAME` (hauteur.players.baselines). So is a program of
its own, `uci:stockfish nodes=1000`, and then the other words are about that program (hauteur.players.engines.settings).

Nothing here names a rule of the search: keys are looked up in the models of `hauteur.mcts.params`, values are read
by them.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from hauteur.mcts.lc0_options import setting_path
from hauteur.mcts.net_search import play_search_keys
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.mcts.plain_settings import MOST_VISITS
from hauteur.networks.evaluators.base import Precision
from hauteur.networks.names import WITHOUT_FILE, is_known_net, resolve_net
from hauteur.players.baselines import FORMS, is_baseline, parse_baseline
from hauteur.players.engines.settings import (
    EngineSettings,
    engine_key,
    engine_of,
    engine_words,
    is_engine,
    split_arguments,
)
from hauteur.players.ladder import is_rung, rung_named
from hauteur.system.formatting import did_you_mean, setting_text
from hauteur.system.settings import Key, Section, assign, leaves, read_toml, unknown_key, validated

Colours = Literal["swap", "first", "second", "mover"]
"""Side of a player: the one and the other in turns, always one, or that of the side to move."""


class PlayoutCap(Section):
    """Settings of the playout cap: a share of the moves of self-play is searched in full, the others are fast.

    Playout-cap randomisation: Wu 2019, 'Accelerating Self-Play Learning in Go', arXiv:1902.10565, section 3.1. A value
    target is worth one game, however many visits its moves had; a policy target wants many visits. So most moves are
    searched with few visits, which gives more games for the same work, and only the others are learned from.
    """

    full_share: Annotated[float, Field(gt=0, le=1)] = 0.25
    """Chance that a move is searched with all visits."""
    fast_visits: Annotated[int, Field(ge=1, le=MOST_VISITS)] = 20
    """Visits of the other moves, which are searched as in play, without noise at the root, and are not learned from."""


class WithModelOfOpponent(Section):
    """Settings with `search` and `opponent_net`: a net of that name switches `search.opponent_net` on."""

    @model_validator(mode="before")
    @classmethod
    def _with_model_of_opponent(cls, values: Any) -> Any:
        """Switch search.opponent_net on where settings that are read have a net for it."""
        if not isinstance(values, dict) or not values.get("opponent_net"):
            return values
        search = values.get("search") or {}
        if isinstance(search, SearchParams):
            search = search.model_dump(exclude_unset=True)
        return {**values, "search": {"opponent_net": {}, **search}}


class PlayerSettings(WithModelOfOpponent):
    """Settings of a player of a match."""

    name: str = ""
    """Name in results; empty: its text."""
    baseline: Annotated[str, AfterValidator(lambda text: str(parse_baseline(text)))] | None = None
    """A player without a network, such as `random`; it has a name and nothing else."""
    engine: EngineSettings | None = None
    """A program that plays; it has a name and nothing else."""
    net: str | None = None
    """A net file, `uniform` or `rollout`; None: the net that comes with the game."""
    large_net: str | None = None
    """A second net, which corrects the first one (search.second_net; visits are then the first net's)."""
    opponent_net: str | None = None
    """A second net, which models the opponent (search.opponent_net, which it switches on); not with `large_net`."""
    third_net: str | None = None
    """A net larger than `large_net`; search.second_net.more has its turns and weights."""
    fourth_net: str | None = None
    """A net larger than `third_net`."""
    precision: Precision | None = None
    """Precision of the nets' arithmetic; None: the backend's."""
    visits: Annotated[int, Field(ge=1, le=MOST_VISITS)] = 100
    """Root visits at which a move is chosen."""
    temperature: Temperature = Temperature()
    """Temperature by the ply of the game."""
    search: SearchParams = SearchParams()
    """Settings of the search."""

    @property
    def has_net(self) -> bool:
        """True where it searches with a net (or with an evaluator in its place)."""
        return self.baseline is None and self.engine is None

    @property
    def other_net(self) -> str | None:
        """The large net or the model of the opponent, where there is one."""
        return self.large_net or self.opponent_net

    @property
    def nets_after_the_second(self) -> dict[str, str]:
        """The names of the nets after the large one, by the settings that name them, the smaller one first."""
        named = {"third_net": self.third_net, "fourth_net": self.fourth_net}
        return {setting: name for setting, name in named.items() if name}

    @property
    def policy_heat(self) -> float:
        """Temperature of the net's policy in the moves of a player of one visit, which draws from its priors: those are
        softened by search.policy_temperature before `temperature` is applied. At temperature 0 that of the priors.
        """
        return self.search.policy_temperature * (self.temperature.initial or 1.0)

    @model_validator(mode="before")
    @classmethod
    def _nets_from_the_smallest(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("opponent_net") and values.get("large_net"):
            raise ValueError("large_net and opponent_net exclude each other: both are a second net")
        if isinstance(values, dict):
            for net, smaller in (("third_net", "large_net"), ("fourth_net", "third_net")):
                if values.get(net) and not values.get(smaller):
                    raise ValueError(f"{net} needs {smaller}: nets are given from the smallest up")
        return values

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


NETS = ("net", "large_net", "opponent_net", "third_net", "fourth_net")
"""Settings of a player that name nets."""

SHORT: dict[Key, Key] = {("temperature",): ("temperature", "initial")}
"""Keys that stand for a longer one when a value is given: `temperature=0.5`."""


def parse_player(text: str, label: str = "player") -> PlayerSettings:
    """The settings that the words of `text` give; later words go before those of TOML files. ValueError names the word.

    A word is key=value, @FILE.toml, a path that ends in .toml, human-RATING, a player without a network, or a program
    with its arguments (see engines.settings.split_arguments).
    Dashes are as good as underscores in keys, and `search.` may be left out. label: what messages call the player.
    """
    return changed_player(PlayerSettings(), text, label)


def given_player(given: object, label: str) -> PlayerSettings:
    """Return the settings of a player that was given as an object or as a text; ValueError for anything else."""
    if isinstance(given, PlayerSettings):
        return given
    if isinstance(given, str):
        return parse_player(given, label)
    raise ValueError(f"{label} must be a text or a hauteur.Player, got {given!r}: write hauteur.Player(...)")


def player_text(settings: PlayerSettings, *, without: tuple[str, ...] = ()) -> str:
    """The shortest text that gives these settings, leaving out the fields `without`.

    Without a named net that is the game's own; where that may carry a search, see `hauteur.players.build.as_played`.
    """
    changed = settings.model_dump(exclude_defaults=True, exclude={"engine", *without})
    if "search" not in without:
        for path, value in given_over_net(settings):
            assign(PlayerSettings, changed, ("search", *path), value)
    baseline = changed.pop("baseline", None)
    words = [] if baseline is None else [baseline]
    if settings.engine is not None and "engine" not in without:
        words += engine_words(settings.engine)
    for path, value in leaves(changed):
        short = next((key for key, full in SHORT.items() if full == path), path)
        key = ".".join(short)
        words.append(shlex.quote(f"{key}={_value_text(value)}"))
    return " ".join(words)


def given_over_net(settings: PlayerSettings) -> Iterator[tuple[Key, Any]]:
    """Yield the settings that were given in the place of those that the named net carries, defaults among them."""
    if settings.net is None or not settings.has_net:
        return
    try:
        carried = play_search_keys(resolve_net(settings.net))
    except ValueError:
        return  # there is no such net here, which its player reports
    for path, value in leaves(settings.search.model_dump(exclude_unset=True)) if carried else ():
        if any(key[: len(path)] == path for key in carried):
            yield path, value


MOST_TEXT = 20_000
"""Characters of the text of a player."""


def changed_player(settings: PlayerSettings, text: str, label: str = "player") -> PlayerSettings:
    """Return the settings with what the words of `text` change, as in `parse_player`."""
    if len(text) > MOST_TEXT:
        raise ValueError(f"{label}: the text has {len(text):,} characters, allowed are {MOST_TEXT:,}")
    try:
        values = settings.model_dump(exclude_unset=True)
        for key, value in _assignments(text):
            assign(PlayerSettings, values, key, value)
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    return validated(PlayerSettings, values, label)


def value_key(key: str) -> Key:
    """Return the full name of a value's key: `temperature` is ("temperature", "initial"); ValueError if unknown."""
    path = _full_key(tuple(key.split(".")), is_value=True)
    assign(PlayerSettings, {}, path, None)
    return path


def value_at(settings: PlayerSettings, path: Key) -> Any:
    """Return the player's value of a key as `value_key` gives it; None in a section that is off."""
    value: Any = settings
    for name in path:
        value = None if value is None else getattr(value, name)
    return value


def _assignments(text: str) -> Iterator[tuple[Key, Any]]:
    """Yield full key and value of every setting, files first."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    words, arguments = split_arguments(words)
    if arguments:
        words.append(f"args={shlex.join(arguments)}")
    from_files: list[tuple[Key, Any]] = []
    for word in filter(_is_file, words):
        from_files += _file_assignments(Path(word.removeprefix("@")))
    yield from from_files
    for word in filter(is_rung, words):
        yield from rung_named(word).settings.items()
    words = [word for word in words if not _is_file(word) and not is_rung(word)]
    has_engine = any(path[0] == "engine" for path, _ in from_files) or any(map(is_engine, words))
    given: set[Key] = set()
    for word in words:
        for path, value in _word_assignments(word, has_engine=has_engine):
            if path in given:
                raise ValueError(f"{'.'.join(path)} is given twice")
            given.add(path)
            yield path, value


def _word_assignments(word: str, *, has_engine: bool) -> Iterator[tuple[Key, Any]]:
    """Full key and value of what a word gives. has_engine: the text is of a program, so that other keys are meant."""
    if is_engine(word):
        for key, value in engine_of(word).items():
            yield ("engine", key), value
        return
    if is_baseline(word):
        yield ("baseline",), word
        return
    key, equals, value = word.partition("=")
    if not equals or not key:
        is_net = word in WITHOUT_FILE or is_known_net(word)
        near = f": a net is given as net={word}" if is_net else did_you_mean(word.partition(":")[0], FORMS)
        raise ValueError(f"{word!r} is neither key=value nor a .toml file{near}")
    if has_engine:
        yield engine_key(key), value
    else:
        yield _full_key(tuple(key.split(".")), is_value=True), value


def _is_file(word: str) -> bool:
    """Return whether a word names a file of settings."""
    return word.startswith("@") or (word.endswith(".toml") and "=" not in word)


def _file_assignments(path: Path) -> Iterator[tuple[Key, Any]]:
    """Yield full key and value of every setting of a TOML file."""
    for key, value in leaves(read_toml(path)):
        if key[:2] == ("engine", "options"):
            yield key, value
        else:
            yield _full_key(key, is_value=not isinstance(value, dict)), value


def _full_key(path: Key, *, is_value: bool) -> Key:
    """The key with underscores, with `search` where it was left out, and written out where it is a short one."""
    names = tuple(name.replace("-", "_") for name in path)
    first = names[0]
    of_search = first in SearchParams.model_fields
    of_player = first in PlayerSettings.model_fields
    if not of_search and not of_player:
        ours = ".".join(setting_path(path[0])).removeprefix("search.").replace("_", "-")
        if ours:
            raise ValueError(f"{path[0]} is lc0's name of {ours}: write {ours}=...")
        raise ValueError(unknown_key(first, [*PlayerSettings.model_fields, *SearchParams.model_fields]))
    has_setting = len(names) > 1 or not is_value
    if of_search and (has_setting or not of_player):
        names = ("search", *names)
    return SHORT.get(names, names) if is_value else names


def _value_text(value: Any) -> str:
    """Return a value as the text of a player has it."""
    if value == {}:
        return "on"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value_text, value))}]"
    return setting_text(value, absent="none")
