"""Building players from their settings; the evaluators and threads that they share."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur import _core
from hauteur.mcts.driver import for_nets, nets_of
from hauteur.mcts.net_search import search_of_net
from hauteur.networks.evaluators.base import MOST_BATCH_ROWS, Backend, Evaluator
from hauteur.networks.evaluators.factory import evaluator, make_evaluator
from hauteur.networks.names import ResolvedNet, resolve_net
from hauteur.players.baselines import make_baseline, parse_baseline
from hauteur.players.function_player import FunctionPlayer
from hauteur.players.move_player import MovePlayer
from hauteur.players.player import Player, object_name, player_label
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS, PlayerSettings, player_text
from hauteur.system.closing import Closing
from hauteur.system.hardware import usable_cores

if TYPE_CHECKING:
    from hauteur.players.engines.player import EngineHost


@dataclass(frozen=True)
class Resources:
    """Resources with which games are played; they do not decide the games.

    threads: 0 = one a core. batch_size: None = half of `parallel`: one half is computed while the other is
    gathered.
    """

    parallel: int = 64
    batch_size: int | None = None
    threads: int = 0
    backend: Backend | None = None

    def __post_init__(self) -> None:
        for name, value, least, most in (
            ("parallel", self.parallel, 1, 100_000),
            ("batch-size", self.rows, 1, MOST_BATCH_ROWS),
            ("threads", self.threads, 0, 1024),
        ):
            if not least <= value <= most:
                raise ValueError(f"--{name} must be {least} to {most:,}, got {value}")

    @property
    def rows(self) -> int:
        """Maximum rows of a batch."""
        if self.batch_size is None:
            return (self.parallel + 1) // 2
        return self.batch_size

    @property
    def cores(self) -> int:
        """Threads of the nets and the search."""
        return usable_cores() if self.threads == 0 else self.threads


class Evaluators(Closing):
    """Opens nets: one evaluator for a net, however many players use it; and threads for players without one.

    exact: the answers of nets in files do not depend on the batch, bit for bit.
    """

    def __init__(self, game: _core.Game, resources: Resources, *, exact: bool = False) -> None:
        self.game = game
        self.resources = resources
        self.exact = exact
        self.opened: dict[tuple[str | int, str | None], Evaluator] = {}
        self._stack = ExitStack()
        self._workers: Executor | None = None
        self._engines: EngineHost | None = None

    def close(self) -> None:
        """Close all nets that were opened."""
        self._stack.close()

    def get(self, net: ResolvedNet, settings: PlayerSettings) -> Evaluator:
        """The evaluator of a player for one of its nets."""
        place = net.path
        if net.has_file:
            place = str(Path(place).resolve())
        key = (place, settings.precision)
        if key not in self.opened:
            self.opened[key] = self._open(net, settings)
        return self.opened[key]

    def _open(self, net: ResolvedNet, settings: PlayerSettings) -> Evaluator:
        """Open a net with the precision and threads of a player."""
        opened = make_evaluator(
            self.game,
            net,
            backend=self.resources.backend,
            precision=settings.precision,
            threads=self.resources.cores,
            batch_size=self.resources.rows,
            exact=self.exact,
        )
        return self._stack.enter_context(closing(opened))

    def of_object(self, source: object) -> Evaluator:
        """The evaluator of an object: a callable, a torch module, or an evaluator, which stays open in the end."""
        key = (id(source), None)
        if key not in self.opened:
            resources = self.resources
            self.opened[key] = evaluator(self.game, source, batch_size=resources.rows, threads=resources.cores)
            if self.opened[key] is not source:
                self._stack.enter_context(closing(self.opened[key]))
        return self.opened[key]

    @property
    def workers(self) -> Executor:
        """The threads in which players without a network find their moves, as many as a net has."""
        if self._workers is None:
            pool = ThreadPoolExecutor(self.resources.cores, thread_name_prefix="baseline")
            self._stack.callback(pool.shutdown, cancel_futures=True)
            self._workers = pool
        return self._workers

    @property
    def engines(self) -> EngineHost:
        """Host of the programs that play; as many of them think at once as a net has threads."""
        if self._engines is None:
            from hauteur.players.engines.player import EngineHost  # here: few players are programs

            self._engines = self._stack.enter_context(EngineHost(self.resources.cores))
        return self._engines


PlayerNets = Mapping[str, ResolvedNet]
"""The nets of a player, by the settings that name them (`NETS`)."""


def player_nets(game: _core.Game, settings: PlayerSettings) -> dict[str, ResolvedNet]:
    """Return the nets of a player, found once; without `net` there is the game's own. Empty for one without a net.

    ValueError for a name that no net has.
    """
    if not settings.has_net:
        return {}
    nets = {}
    if not (isinstance(settings, Player) and settings.evaluator is not None):
        nets["net"] = resolve_net(settings.net, game)
    for setting in NETS[1:]:
        name = getattr(settings, setting)
        if name:
            nets[setting] = resolve_net(name)
    return nets


def as_played(game: _core.Game, settings: PlayerSettings) -> PlayerSettings:
    """Return a player with the search that it plays with: its net's own settings under those that it was given.

    The same where the net carries none; else the net is named by its file. ValueError as in `search_of_net`.
    """
    if not settings.has_net or (isinstance(settings, Player) and settings.evaluator is not None):
        return settings
    net = resolve_net(settings.net, game)
    search = search_of_net(settings.search, net, settings.other_net)
    if search is settings.search:
        return settings
    return settings.model_copy(update={"net": net.path, "search": search})


def build_player(
    game: _core.Game,
    settings: PlayerSettings,
    evaluators: Evaluators,
    label: str,
    nets: PlayerNets | None = None,
) -> SearchPlayer | MovePlayer:
    """The player that the settings describe; ValueError, naming the player, where the search or game refuses them.

    nets: those of `player_nets`, where the caller has resolved them already.
    """
    try:
        if settings.baseline is not None:
            return make_baseline(game, parse_baseline(settings.baseline), evaluators.workers, settings.name)
        if settings.engine is not None:
            from hauteur.players.engines.player import make_engine

            return make_engine(game, settings.engine, evaluators.engines, settings.name)
        if isinstance(settings, Player) and settings.function is not None:
            return FunctionPlayer(settings.name, settings.function, evaluators.workers)
        found = player_nets(game, settings) if nets is None else nets
        return _net_player(game, settings, evaluators, settings.name or label, found)
    except ValueError as error:
        raise ValueError(f"player {label}: {error}") from None


def _net_player(
    game: _core.Game,
    settings: PlayerSettings,
    evaluators: Evaluators,
    name: str,
    nets: PlayerNets,
) -> SearchPlayer:
    """Build a player that searches with one net or more, or with an evaluator object instead of the first."""
    other = nets.get("large_net") or nets.get("opponent_net")
    large = evaluators.get(other, settings) if other is not None else None
    further = [nets[setting] for setting in settings.nets_after_the_second]
    more = tuple(evaluators.get(net, settings) for net in further)
    own = settings if isinstance(settings, Player) else None
    if own is not None and own.evaluator is not None:
        small = evaluators.of_object(own.evaluator)
        search = settings.search
    else:
        small = evaluators.get(nets["net"], settings)
        search = search_of_net(settings.search, nets["net"], other)
    player = SearchPlayer(
        name=name,
        evaluator=small,
        large=large,
        search=for_nets(search, large),
        visits=settings.visits,
        temperature=settings.temperature,
        rules=() if own is None else own.rules,
        more=more,
    )
    nets_of(player.forest(game, seed=0), player.evaluator, large, more)
    return player


def player_facts(game: _core.Game, player: PlayerSettings, key: str) -> dict[str, str]:
    """Return a player's entries in match.json, under this key and keys that begin with it."""
    if player.baseline is not None:
        return {key: player.baseline}
    if player.engine is not None:
        from hauteur.players.engines.player import probed

        text = player_text(player, without=("name",))
        return {key: text, f"{key}_engine": probed(game, player.engine).name}
    if isinstance(player, Player) and player.function is not None:
        return {key: object_content(player.function)}
    rest = player_text(as_played(game, player), without=("name", *NETS, "visits"))
    facts = {key: f"visits={player.visits} {rest}".strip()}
    if isinstance(player, Player) and player.evaluator is not None:
        facts[f"{key}_net"] = object_content(player.evaluator)
    else:
        facts[f"{key}_net"] = resolve_net(player.net, game).content
    if isinstance(player, Player) and player.rules:
        sources = []
        for rule in player.rules:
            sha256 = _source(type(rule)) or "unknown"
            sources.append(f"{rule!r} sha256 {sha256}")
        facts[f"{key}_rules"] = "; ".join(sources)
    if player.other_net:
        other = "large_net" if player.large_net else "opponent_net"
        facts[f"{key}_{other}"] = resolve_net(player.other_net).content
    for setting, name in player.nets_after_the_second.items():
        facts[f"{key}_{setting}"] = resolve_net(name).content
    return facts


def player_name(game: _core.Game, settings: PlayerSettings) -> str:
    """The name that was given, else the net's and what differs from the defaults, its net's own settings included."""
    if settings.name or settings.baseline:
        return settings.name or str(settings.baseline)
    if settings.engine is not None:
        return settings.engine.short_name
    if isinstance(settings, Player) and settings.evaluator is not None:
        net = object_name(settings.evaluator)
    else:
        net = resolve_net(settings.net, game).short_name
    rest = player_label(as_played(game, settings), without=("net", "name", "visits"))
    return f"{net} visits={settings.visits}{' ' if rest else ''}{rest}"


def object_content(thing: Any) -> str:
    """Return the name of an evaluator or a function, with a hash of a module's weights or else of its Python source.

    What the source refers to is not part of it: a function that reads a file or a global is known by its own text.
    """
    state = getattr(thing, "state_dict", None)
    text = _weights(state()) if callable(state) else _source(thing)
    name = object_name(thing)
    if not text:
        return f"object {name}"
    return f"object {name} sha256 {text}"


def _source(thing: Any) -> str | None:
    """Return a hash of the source of a function, or of an object's class; None where there is no source."""
    named = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    try:
        return hashlib.sha256(inspect.getsource(named).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def _weights(state: dict[str, Any]) -> str:
    """Return a hash of the tensors of a torch module, by name."""
    digest = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        values = tensor.detach().cpu()
        digest.update(f"{name} {values.dtype} {tuple(values.shape)} ".encode())
        digest.update(values.double().numpy().tobytes())
    return digest.hexdigest()
