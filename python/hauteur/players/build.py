"""Building players from their settings; the evaluators and threads that they share."""

import hashlib
import inspect
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.mcts.driver import for_nets, nets_of
from hauteur.networks.evaluators.base import Backend, Evaluator
from hauteur.networks.evaluators.factory import evaluator, make_evaluator
from hauteur.networks.names import WITHOUT_FILE, net_or_shipped, resolve_net
from hauteur.players.baselines import make_baseline, parse_baseline
from hauteur.players.engines.player import EngineHost, make_engine, probed
from hauteur.players.function_player import FunctionPlayer
from hauteur.players.move_player import MovePlayer
from hauteur.players.player import Player, object_name, player_label
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS, PlayerSettings, player_text
from hauteur.system.closing import Closing
from hauteur.system.files import sha256_of
from hauteur.system.hardware import usable_cores


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
            ("batch-size", self.rows, 1, 65_536),
            ("threads", self.threads, 0, 1024),
        ):
            if not least <= value <= most:
                raise ValueError(f"--{name} must be {least} to {most}, got {value}")

    @property
    def rows(self) -> int:
        return (self.parallel + 1) // 2 if self.batch_size is None else self.batch_size

    @property
    def cores(self) -> int:
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
        self._stack.close()

    def get(self, net: str, settings: PlayerSettings) -> Evaluator:
        """The evaluator of a player for one of its nets."""
        file = resolve_net(net)
        key = (file if is_builtin(file) else str(Path(file).resolve()), settings.precision)
        if key not in self.opened:
            self.opened[key] = self._open(file, settings)
        return self.opened[key]

    def _open(self, net: str, settings: PlayerSettings) -> Evaluator:
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
            self._engines = self._stack.enter_context(EngineHost(self.resources.cores))
        return self._engines


def build_player(
    game: _core.Game, settings: PlayerSettings, evaluators: Evaluators, label: str
) -> SearchPlayer | MovePlayer:
    """The player that the settings describe; ValueError, naming the player, where the search or game refuses them."""
    try:
        if settings.baseline is not None:
            return make_baseline(game, parse_baseline(settings.baseline), evaluators.workers, settings.name)
        if settings.engine is not None:
            return make_engine(game, settings.engine, evaluators.engines, settings.name)
        if isinstance(settings, Player) and settings.function is not None:
            return FunctionPlayer(settings.name, settings.function, evaluators.workers)
        return _net_player(game, settings, evaluators, settings.name or label)
    except ValueError as error:
        raise ValueError(f"player {label}: {error}") from None


def _net_player(game: _core.Game, settings: PlayerSettings, evaluators: Evaluators, name: str) -> SearchPlayer:
    large = evaluators.get(settings.other_net, settings) if settings.other_net else None
    own = settings if isinstance(settings, Player) else None
    small = (
        evaluators.get(resolved_net(game, settings), settings)
        if own is None or own.evaluator is None
        else evaluators.of_object(own.evaluator)
    )
    player = SearchPlayer(
        name=name,
        evaluator=small,
        large=large,
        search=for_nets(settings.search, large),
        visits=settings.visits,
        temperature=settings.temperature,
        rules=() if own is None else own.rules,
    )
    nets_of(player.forest(game, seed=0), player.evaluator, large)
    return player


def is_builtin(net: str) -> bool:
    """Return whether this is an evaluator without a file."""
    return net in WITHOUT_FILE


def net_content(net: str) -> str:
    """Identity of a net, whatever its file's location."""
    net = resolve_net(net)
    return net if is_builtin(net) else f"{Path(net).name} sha256 {sha256_of(Path(net))}"


def resolved_net(game: _core.Game, settings: PlayerSettings) -> str:
    """The net that the player uses: its own, or the one that comes with the game."""
    return net_or_shipped(settings.net, game)


def player_facts(game: _core.Game, player: PlayerSettings, key: str) -> dict[str, str]:
    """Return a player's entries in match.json, under this key and keys that begin with it."""
    if player.baseline is not None:
        return {key: player.baseline}
    if player.engine is not None:
        return {key: player_text(player, without=("name",)), f"{key}_engine": probed(game, player.engine).name}
    if isinstance(player, Player) and player.function is not None:
        return {key: object_content(player.function)}
    rest = player_text(player, without=("name", *NETS, "visits"))
    if isinstance(player, Player) and player.evaluator is not None:
        net = object_content(player.evaluator)
    else:
        net = net_content(resolved_net(game, player))
    facts = {key: f"visits={player.visits} {rest}".strip(), f"{key}_net": net}
    if isinstance(player, Player) and player.rules:
        sources = [f"{rule!r} sha256 {_source(type(rule)) or 'unknown'}" for rule in player.rules]
        facts[f"{key}_rules"] = "; ".join(sources)
    other = "large_net" if player.large_net else "opponent_net"
    return facts | {f"{key}_{other}": net_content(player.other_net)} if player.other_net else facts


def player_name(game: _core.Game, settings: PlayerSettings) -> str:
    """The name that was given, else the net's and what differs from the defaults."""
    if settings.name or settings.baseline:
        return settings.name or str(settings.baseline)
    if settings.engine is not None:
        return settings.engine.short_name
    if isinstance(settings, Player) and settings.evaluator is not None:
        net = object_name(settings.evaluator)
    else:
        net = Path(resolved_net(game, settings)).name.split(".")[0]
    rest = player_label(settings, without=("net", "name", "visits"))
    return f"{net} visits={settings.visits}{' ' if rest else ''}{rest}"


def object_content(thing: Any) -> str:
    """Return the name of an evaluator or a function, with a hash of a module's weights or else of its Python source.

    What the source refers to is not part of it: a function that reads a file or a global is known by its own text.
    """
    state = getattr(thing, "state_dict", None)
    text = _weights(state()) if callable(state) else _source(thing)
    return f"object {object_name(thing)}{f' sha256 {text}' if text else ''}"


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
