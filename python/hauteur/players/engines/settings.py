"""Players that are programs of their own: which program, how long it thinks, its options; as words of a player's text.

`uci:stockfish nodes=1000 UCI_Elo=1600` is a program that speaks UCI, `gtp:gnugo --mode gtp` one that speaks GTP and
gets two arguments, `gomocup:pbrain-rapfi max_node=1000` one of Gomoku that speaks the Gomocup's protocol. Words that
are named like a field of EngineSettings are settings here, all others are options of the engine; `options.NAME=` is
always one.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from hauteur.system.settings import Section

Protocol = Literal["uci", "gtp", "gomocup"]
PROTOCOLS: tuple[Protocol, ...] = ("uci", "gtp", "gomocup")
OPTION_PREFIX = "options."
WHOLE_GAME = re.compile(r"(?:(\d{1,4}):)?(\d{1,5}(?:\.\d{1,3})?)(?:\+(\d{1,5}(?:\.\d{1,3})?))?")
"""A time control: seconds or minutes:seconds for the game, and seconds for every move."""


def clock_of(text: str) -> tuple[float, float]:
    """Seconds for the whole game and for every move of a time control like 10+0.1 or 3:00+2; ValueError for others."""
    found = WHOLE_GAME.fullmatch(text)
    base = 0.0 if found is None else 60 * int(found[1] or 0) + float(found[2])
    if found is None or base <= 0:
        raise ValueError("tc is SECONDS+INCREMENT, such as 10+0.1, or MINUTES:SECONDS+INCREMENT")
    return base, float(found[3] or 0)


def _checked_clock(text: str) -> str:
    """The text of a time control, unchanged. ValueError where it is none."""
    clock_of(text)
    return text


class EngineSettings(Section):
    """A program that plays. All search limits that are given apply together."""

    protocol: Protocol
    """Protocol that it speaks."""
    command: Annotated[str, Field(min_length=1)]
    """The program, or program and arguments in shell syntax where no file has this name."""
    args: str = ""
    """More arguments, in shell syntax."""
    nodes: Annotated[int, Field(ge=1, le=10**15)] | None = None
    """Nodes per move."""
    depth: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Depth per move, in plies."""
    movetime: Annotated[int, Field(ge=1, le=10**9)] | None = None
    """Milliseconds per move."""
    tc: Annotated[str, AfterValidator(_checked_clock)] | None = None
    """Its clock for a game, such as `60+0.6`."""
    start_timeout: Annotated[float, Field(gt=0, le=3600)] = 10.0
    """Seconds from its start to its first answer."""
    random_moves: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of its moves that are drawn among the legal ones instead, as the seed of the game says: a handicap that
    needs no option of the program."""
    move_timeout: Annotated[float, Field(gt=0, le=10**6)] | None = None
    """Seconds per move; None: 600, or 10 more than `movetime`."""
    time_margin: Annotated[int, Field(ge=0, le=60_000)] = 50
    """Milliseconds by which it may overdraw its clock."""
    options: dict[str, str] = Field(default_factory=dict)
    """Values of its options, by name."""

    @field_validator("options", mode="before")
    @classmethod
    def _options_are_texts(cls, values: Any) -> Any:
        """Numbers and truth values of TOML as UCI writes them."""
        if not isinstance(values, Mapping):
            return values
        texts = {}
        for name, value in values.items():
            texts[name] = str(value).lower() if isinstance(value, bool) else _text(value)
        return texts

    @field_validator("options")
    @classmethod
    def _options_are_lines(cls, options: dict[str, str]) -> dict[str, str]:
        for name, value in options.items():
            if not name.strip() or "=" in name or not (name + value).isprintable():
                raise ValueError(f"an option is NAME=VALUE in printable characters, got {name!r} with {value!r}")
        return options

    @field_validator("command", "args")
    @classmethod
    def _quotes_are_closed(cls, text: str) -> str:
        try:
            shlex.split(text)
        except ValueError as error:
            raise ValueError(f"{str(error).lower()}") from None
        return text

    @model_validator(mode="after")
    def _limits_fit(self) -> Self:
        """Refuse limits that exclude each other or do not exist in the protocol."""
        if self.tc is not None and self.movetime is not None:
            raise ValueError("tc and movetime exclude each other: a clock for the game, or a time for every move")
        if self.protocol == "uci" and not any((self.nodes, self.depth, self.movetime, self.tc)):
            raise ValueError("say how long the engine thinks: nodes=, depth=, movetime= (milliseconds) or tc=")
        if self.protocol == "gtp":
            self._check_gtp()
        if self.protocol == "gomocup":
            self._check_gomocup()
        return self

    def _check_gtp(self) -> None:
        """Refuse settings that GTP has no commands for."""
        limits = [name for name in ("nodes", "depth") if getattr(self, name)]
        unfit = [*limits, *self.options]
        if unfit:
            raise ValueError(
                f"GTP has no {unfit[0]}: give it to the program as an argument; allowed: {', '.join(LIMITS)}"
            )
        if self.tc is not None and clock_of(self.tc)[1]:
            raise ValueError(f"GTP has no time for every move beside the clock: tc={self.tc} does not fit")
        if self.movetime is not None and self.movetime % 1000:
            raise ValueError(f"GTP knows whole seconds: movetime={self.movetime} milliseconds does not fit")

    def _check_gomocup(self) -> None:
        """Refuse settings that the Gomocup's protocol has no words for, and a program that would choose its time."""
        unfit = next((name for name in ("nodes", "depth") if getattr(self, name)), None)
        if unfit is not None:
            own = "give a key of its INFO that the program knows, such as max_node=1000"
            raise ValueError(f"the Gomocup's protocol has no {unfit}: {own}")
        if self.tc is not None and clock_of(self.tc)[1]:
            raise ValueError(f"the Gomocup's protocol has no time for every move beside the clock: tc={self.tc}")
        if not any((self.movetime, self.tc, self.options)):
            raise ValueError("say how long the engine thinks: movetime= (milliseconds), tc= or a key of its INFO")

    @property
    def seconds_for_a_move(self) -> float:
        """Seconds without a move after which the engine has lost, clocks aside."""
        if self.move_timeout is not None:
            return self.move_timeout
        if self.movetime is None:
            return 600.0
        return self.movetime / 1000 + 10.0

    @property
    def short_name(self) -> str:
        """Name in results: the program and its limits."""
        program = Path(program_words(self.command)[0]).name
        keys = ("nodes", "depth", "movetime", "tc", "random_moves")
        limits = [f"{key}={getattr(self, key)}" for key in keys if getattr(self, key)]
        options = [f"{name}={value}" for name, value in self.options.items()]
        words = [program, *shlex.split(self.args), *limits, *options]
        return " ".join(words)


LIMITS = tuple(
    name for name in EngineSettings.model_fields if name not in ("protocol", "command", "options", "nodes", "depth")
)
"""Settings that a player of every protocol has."""


def program_words(command: str) -> list[str]:
    """Program and arguments: the whole text where a file has this name, else its words as a shell reads them."""
    if Path(command).is_file():
        return [command]
    return shlex.split(command)


def is_engine(word: str) -> bool:
    """Return whether a word of a player's text begins an engine."""
    return word.partition(":")[0] in PROTOCOLS and ":" in word


def split_arguments(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of a player's text that are its settings, and those that are arguments of its program.

    Arguments begin with a dash; a word without `=` after the program or after an argument is one too, except for a TOML
    file after the program: `uci:lc0 --backend=onednn --threads 2 nodes=800`, `uci:python engine.py nodes=1`.
    """
    rest: list[str] = []
    arguments: list[str] = []
    before = ""
    for word in words if any(map(is_engine, words)) else ():
        is_bare = "=" not in word and not word.startswith("@") and not is_engine(word)
        follows = before == "argument" or (before == "program" and not word.endswith(".toml"))
        if word.startswith("-") or (is_bare and follows):
            arguments.append(word)
            before = "argument"
        else:
            rest.append(word)
            before = "program" if is_engine(word) else ""
    return rest or list(words), arguments


def engine_of(word: str) -> dict[str, str]:
    """Protocol and command of a word like `uci:stockfish`."""
    protocol, _, command = word.partition(":")
    if not command.strip():
        raise ValueError(f"{word!r} names no program; write {protocol}:PROGRAM")
    return {"protocol": protocol, "command": command}


def engine_key(key: str) -> tuple[str, ...]:
    """Return the path of a word of an engine's text, below the player's settings."""
    plain = key.replace("-", "_")
    if plain == "name":
        return ("name",)
    if plain in EngineSettings.model_fields and plain not in ("protocol", "command", "options"):
        return ("engine", plain)
    return ("engine", "options", key.removeprefix(OPTION_PREFIX))


def engine_words(engine: EngineSettings) -> list[str]:
    """The words that give these settings, quoted."""
    values = engine.model_dump(exclude_defaults=True, exclude={"protocol", "command", "options"})
    words = [f"{engine.protocol}:{engine.command}"]
    words += [f"{key}={_text(value)}" for key, value in values.items()]
    for name, value in engine.options.items():
        is_plain = engine_key(name) == ("engine", "options", name) and not name.startswith("-")
        prefix = "" if is_plain else OPTION_PREFIX
        words.append(f"{prefix}{name}={value}")
    return [shlex.quote(word) for word in words]


def _text(value: Any) -> str:
    """A number without a superfluous fraction."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
