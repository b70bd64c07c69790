"""Probing of an engine before a match begins: impossible requests are reported then, in one line."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.players.engines.failures import START_FAILED
from hauteur.players.engines.gtp import NEEDED, GtpEngineConnection, board_size
from hauteur.players.engines.host import EngineHost
from hauteur.players.engines.settings import EngineSettings, program_words
from hauteur.players.engines.uci import VARIANTS, introduced, setup_lines
from hauteur.players.engines.uci_lines import EngineOption
from hauteur.players.move_player import EngineFailure

GAMES_FOLDER = "/usr/games"
"""Where Debian puts chess programs; it is not on everybody's path."""


OVERHEADS = ("moveoverhead", "moveoverheadms")
"""Names, as PLAIN leaves them, of the option for the time that a move loses between clock and program."""
PLAIN = str.maketrans("", "", " _-")


@dataclass(frozen=True)
class Probe:
    """Result of probing an engine. name: its own, with its version; options: those that it declares (UCI)."""

    command: tuple[str, ...]
    name: str
    options: tuple[EngineOption, ...] = ()

    @property
    def overhead(self) -> EngineOption | None:
        """The option for the milliseconds that a move loses on its way; None where it has none."""
        return next((option for option in self.options if option.name.lower().translate(PLAIN) in OVERHEADS), None)

    def option(self, name: str) -> EngineOption | None:
        """The option of this name, in any case."""
        return next((option for option in self.options if option.name.lower() == name.lower()), None)


def probed(game: _core.Game, settings: EngineSettings) -> Probe:
    """Start the engine once and check the request.

    Raise ValueError if the program is missing, does not start, lacks one of the options, or does not play this game.
    """
    return _probed(game.spec, settings.model_dump_json())


@lru_cache(maxsize=64)
def _probed(spec: str, json: str) -> Probe:
    settings, game = EngineSettings.model_validate_json(json), load_game(spec)
    _check_game(game, settings)
    command = engine_command(settings)
    with EngineHost(1) as host:
        try:
            return host.run(_probe_engine(host, game, settings, command))
        except EngineFailure as failure:
            raise ValueError(does_not_start(settings, failure)) from None


def movetime_warning(game: _core.Game, settings: EngineSettings) -> str | None:
    """Return what is wrong with a movetime that the program's overhead takes up; None where nothing is.

    Many programs subtract it from a movetime; hauteur subtracts at most 10 ms of it.
    """
    if settings.movetime is None or settings.protocol != "uci":
        return None
    probe = probed(game, settings)
    option = probe.overhead
    if option is None or probe.name.startswith("hauteur "):
        return None
    given = {name.lower(): value for name, value in settings.options.items()}.get(option.name.lower(), option.default)
    if not given.isdecimal() or int(given) < settings.movetime:
        return None
    return (
        f"{probe.name}: its option {option.name} ({given} ms) is no less than movetime={settings.movetime}; "
        f"a program that subtracts it plays with hardly any search: give '{option.name}=0'"
    )


def does_not_start(settings: EngineSettings, failure: EngineFailure) -> str:
    """Return the error line for a program that cannot be brought to play."""
    reason = failure.detail if failure.reason == START_FAILED else failure
    return f"{settings.protocol}:{settings.command}: the program does not start: {reason}"


def engine_command(settings: EngineSettings) -> tuple[str, ...]:
    """The program's path and its arguments; ValueError where there is no such program."""
    program, *words = program_words(settings.command)
    path = shutil.which(program) or shutil.which(program, path=GAMES_FOLDER)
    if path is None:
        where = "not on the path" if Path(program).name == program else "there is no such program"
        reason = "it may not be executed" if Path(program).is_file() else where
        raise ValueError(f"{settings.protocol}:{settings.command}: no program {program!r}: {reason}")
    return (str(Path(path).absolute()), *words, *shlex.split(settings.args))


def _check_game(game: _core.Game, settings: EngineSettings) -> None:
    if settings.protocol == "gtp":
        board_size(game)
    elif game.name != "chess" and game.name not in VARIANTS:
        raise ValueError(f"UCI is for chess and minichess, got {game.spec}; programs for nogo speak GTP: gtp:PROGRAM")


async def _probe_engine(
    host: EngineHost, game: _core.Game, settings: EngineSettings, command: tuple[str, ...]
) -> Probe:
    process = await host.start(command)
    options: tuple[EngineOption, ...] = ()
    try:
        if settings.protocol == "gtp":
            name = await _checked_gtp(GtpEngineConnection(process, settings, board_size(game)), settings)
        else:
            about = await introduced(process, settings.start_timeout)
            setup_lines(game, settings, about)
            name, options = about.name, tuple(about.options.values())
        await process.quit("quit")
        return Probe(command, name or Path(command[0]).name, options)
    finally:
        process.kill()


async def _checked_gtp(session: GtpEngineConnection, settings: EngineSettings) -> str:
    """The engine's name; ValueError where it lacks a command or does not play on such a board."""
    name, commands = await session.introduced()
    timed = settings.movetime is not None or settings.tc is not None
    missing = [word for word in (*NEEDED, *(("time_settings",) if timed else ())) if commands and word not in commands]
    if missing:
        raise ValueError(f"{name or settings.command} does not know the GTP command {missing[0]}")
    refusal = await session.refusal()
    if refusal is not None:
        raise ValueError(f"{name or settings.command} does not play this game: {refusal}")
    return name
