"""Games of matches as units: what describes them, how a worker plays them, and how their results are checked.

The result of a unit is text: a line of JSON about the worker's nets, then a line of games.jsonl for each game.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from hauteur import _core
from hauteur.cluster.unit import Unit, UnitResult
from hauteur.games.registry import load_game
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.results import MatchGame
from hauteur.matches.unit_games import plan_to_json, play_units
from hauteur.networks.evaluators.base import Backend
from hauteur.networks.names import resolve_net
from hauteur.players.build import Evaluators, Resources, build_player, is_builtin, resolved_net
from hauteur.players.player import Player, object_name
from hauteur.players.settings import NETS, PlayerSettings
from hauteur.system.files import sha256_of
from hauteur.system.jsonl import NO_LINK, checked_line, lines_of
from hauteur.system.settings import Section

KIND = "match"


class UnitPlayer(Section):
    """A player of units. label: for messages; files: sha256 of its net files, by the setting that names each."""

    settings: PlayerSettings
    label: str
    files: dict[str, str]


class UnitPlayers(Section):
    """Fields that the units of a match or tournament share; see `Resources` for the last three."""

    game: str
    players: tuple[UnitPlayer, ...]
    max_plies: int | None
    parallel: int
    rows: int
    backend: Backend | None


def unit_players(
    game: _core.Game,
    players: Sequence[PlayerSettings],
    labels: Sequence[str],
    *,
    max_plies: int | None,
    resources: Resources,
) -> tuple[UnitPlayers, dict[str, Path]]:
    """Return what units of these players share, and their net files by sha256."""
    sources: dict[str, Path] = {}
    found = []
    for settings, label in zip(players, labels, strict=True):
        nets = _net_files(game, settings)
        hashes = {key: sha256_of(path) for key, path in nets.items()}
        sources |= {hashes[key]: path for key, path in nets.items()}
        found.append(UnitPlayer(settings=settings, label=label, files=hashes))
    shared = UnitPlayers(
        game=game.spec,
        players=tuple(found),
        max_plies=max_plies,
        parallel=resources.parallel,
        rows=resources.rows,
        backend=resources.backend,
    )
    return shared, sources


def refuse_objects(settings: PlayerSettings, label: str) -> None:
    """ValueError for a player that cannot be sent to a worker."""
    if not isinstance(settings, Player) or (settings.evaluator is None and not settings.rules):
        return
    thing = settings.evaluator if settings.evaluator is not None else settings.rules[0]
    raise ValueError(
        f"player {label}: {object_name(thing)} is a Python object, which workers cannot be given; "
        "they play with nets in files, baselines and programs"
    )


def _net_files(game: _core.Game, settings: PlayerSettings) -> dict[str, Path]:
    """Return the files of the player's nets, by the setting that names each."""
    if not settings.has_net:
        return {}
    nets = {"net": resolve_net(resolved_net(game, settings))}
    for name in NETS[1:]:
        if (net := getattr(settings, name)) is not None:
            nets[name] = resolve_net(net)
    return {key: Path(net) for key, net in nets.items() if not is_builtin(net)}


def match_unit(name: str, shared: UnitPlayers, files: Mapping[str, str], plans: Sequence[GamePlan]) -> Unit:
    """Return the unit that plays these games. files: names of the net files by sha256."""
    own = {"plans": [plan_to_json(plan) for plan in plans]}
    fields = shared.model_dump(mode="json", exclude_unset=True)
    return Unit(KIND, name, fields, own, files, games=len(plans))


class MatchJob:
    """Games of a match or tournament, played by a worker. files: of the nets, by sha256; threads: of each net."""

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        shared = UnitPlayers.model_validate(unit.shared)
        self._game, self._max_plies = load_game(shared.game), shared.max_plies
        self._resources = Resources(shared.parallel, shared.rows, threads, shared.backend)
        with ExitStack() as stack:
            evaluators = stack.enter_context(Evaluators(self._game, self._resources, exact=True))
            self._players = [
                build_player(self._game, _with_files(player, files), evaluators, player.label)
                for player in shared.players
            ]
            self._header = {"evaluators": [evaluator.name for evaluator in evaluators.opened.values()]}
            self._stack = stack.pop_all()

    def play(self, units: Iterator[Unit]) -> Iterator[UnitResult]:
        """Play units."""
        for unit, records, facts in play_units(units, self._play):
            yield UnitResult(unit.key, self._encode(records), facts)

    def close(self) -> None:
        """Close the nets."""
        self._stack.close()

    def _play(self, plans: Iterator[GamePlan], facts: ArenaFacts) -> Generator[GameRecord]:
        return play_games(
            self._game,
            self._players,
            plans,
            seed=0,
            purpose=KIND,
            parallel=self._resources.parallel,
            batch_size=self._resources.rows,
            max_plies=self._max_plies,
            facts=facts,
        )

    def _encode(self, records: Sequence[GameRecord]) -> bytes:
        games = [MatchGame.of(self._game, record, a=min(record.plan.sides)) for record in records]
        return f"{json.dumps(self._header)}\n".encode() + lines_of(games)[0]


def _with_files(player: UnitPlayer, files: Mapping[str, Path]) -> PlayerSettings:
    """Return the settings with this worker's places of the nets; ValueError where files of a program are missing."""
    engine = player.settings.engine
    for option, value in () if engine is None else engine.options.items():
        for path in value.split(os.pathsep):
            if Path(path).is_absolute() and not Path(path).exists():
                raise ValueError(f"player {player.label}: {option}: {socket.gethostname()} has no {path}")
    return player.settings.model_copy(update={key: str(files[sha256]) for key, sha256 in player.files.items()})


class UnitGames(NamedTuple):
    """The games of a unit, and the names of the evaluators that played them."""

    evaluators: list[str]
    games: list[MatchGame]


def read_games(unit: Unit, content: bytes) -> UnitGames:
    """Return the games of a unit's result. ValueError where they are not those of the unit, or it has another form."""
    first, *lines = content.splitlines(keepends=True) or [b"null"]
    try:
        evaluators = list(json.loads(first)["evaluators"])
        games, link = list[MatchGame](), NO_LINK
        for line in lines:
            body, link = checked_line(line, link)
            games.append(MatchGame.model_validate_json(body))
    except (ValueError, TypeError, LookupError) as error:
        raise ValueError(f"{unit.name}: not the games of a match: {str(error).splitlines()[0]}") from None
    if [game.index for game in games] != sorted(plan["index"] for plan in unit.own["plans"]):
        raise ValueError(f"{unit.name}: the result has other games, or {len(games)} of {unit.games}")
    return UnitGames(evaluators, games)
