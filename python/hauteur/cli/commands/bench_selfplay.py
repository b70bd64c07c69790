"""hauteur bench selfplay: how fast self-play is, where its time goes, and whether its memory grows."""

import json
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.cli.commands.bench import check_positive
from hauteur.cli.commands.match_view import LINE_SECONDS, ticking
from hauteur.cli.commands.options import GameSpec, Seed
from hauteur.games.registry import load_game
from hauteur.learning.metrics import search_metrics
from hauteur.learning.planned import game_plans
from hauteur.learning.recipe import SelfPlaySettings, parse_recipe
from hauteur.learning.selfplay import episodes
from hauteur.matches.arena import ArenaFacts
from hauteur.networks.evaluators.base import Precision
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.players.search_player import SearchPlayer
from hauteur.system.formatting import duration
from hauteur.system.hardware import resident_bytes

MEMORY_POINTS = 40
"""Points of the memory curve."""


def selfplay(
    spec: GameSpec = "connect4",
    *,
    net: Path | None = None,
    filters: int = 64,
    blocks: int = 5,
    visits: int = 100,
    games: int = 512,
    parallel: int = 256,
    batch: int = 128,
    in_flight: int = 2,
    threads: int = 1,
    precision: Precision = "auto",
    seed: Seed = 1,
    setting: tuple[str, ...] = (),
    memory: bool = False,
) -> None:
    """Measure self-play: games and visits per second, batch fill, and time by phase.

    Parameters
    ----------
    spec
        The game.
    net
        Net file; default: random weights of the size given by --filters and --blocks.
    filters, blocks
        Size of the random net.
    visits
        Visits per move.
    games
        Games to play; with root noise and temperature 1 at each move, the recipe defaults.
    parallel
        Concurrent games.
    batch
        Maximum rows per batch.
    in_flight
        Maximum outstanding batches.
    threads
        Threads of the network; the search uses one, as in learning runs.
    precision
        auto, float32, bfloat16, float16.
    seed
        Seed of the games.
    setting
        A setting of the section [selfplay] of a recipe, such as tree_per_side=true or search.search_contempt.n_scl=8;
        may be repeated.
    memory
        Also print the memory of the process after every fortieth of the games, and its growth.
    """
    check_positive(visits=visits, games=games, parallel=parallel, batch=batch, in_flight=in_flight, threads=threads)
    sizes = {"visits": visits, "games": games, "parallel_games": parallel, "batch_size": batch, "in_flight": in_flight}
    settings = bench_settings(spec, sizes, setting)
    game, run = load_game(spec), SelfPlaySpeed()
    say(f"{spec}: {games:,} games, {parallel:,} at once, {settings.visits:,} visits a move")
    with (
        net_file(game, net, filters, blocks) as path,
        closing(make_evaluator(game, str(path), precision=precision, threads=threads)) as evaluator,
        ticking(LINE_SECONDS, lambda: say(run.progress_line(games))),
    ):
        player = SearchPlayer(path.name, evaluator, settings.search, settings.visits, settings.temperature)
        player = replace(player, playout_cap=settings.playout_cap)
        for _ in run.games(game, player, settings, seed=seed):
            pass
    line = {"bench": "selfplay", "game": spec, "net": evaluator.name, "visits": settings.visits, "threads": threads}
    line |= {"settings": list(setting), **run.numbers()}
    line |= memory_numbers(run.curve, last=settings.games - settings.parallel_games) if memory else {}
    print(json.dumps({key: round(v, 4) if isinstance(v, float) else v for key, v in line.items()}), flush=True)


def say(line: str) -> None:
    """Print a line of progress to stderr."""
    print(line, file=sys.stderr, flush=True)


def bench_settings(spec: str, sizes: dict[str, Any], changes: Sequence[str]) -> SelfPlaySettings:
    """The settings of self-play: a recipe's defaults with these sizes and `key=value` changes."""
    recipe = {"game": spec, "gate": {"by": "off"}, "selfplay": sizes}
    settings = parse_recipe(recipe, "--setting", [f"selfplay.{change}" for change in changes]).selfplay
    if settings.episodes != "best-versus-best":
        raise ValueError(f"--setting episodes must be best-versus-best, got {settings.episodes}")
    return settings


@dataclass
class SelfPlaySpeed:
    """A stretch of self-play and what it took.

    own_cpu_seconds: of the thread that searches and plays, which computes no network; curve: games that are over and
    bytes that the process holds then; began: by the clock.
    """

    facts: ArenaFacts = field(default_factory=ArenaFacts)
    cpu_seconds: float = 0.0
    own_cpu_seconds: float = 0.0
    learned: int = 0
    curve: list[tuple[int, int]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def games(self, game: _core.Game, player: SearchPlayer, settings: SelfPlaySettings, *, seed: int) -> Generator[int]:
        """Play the games; yield how many are over whenever one ends."""
        plans = game_plans(game, settings, generation=1, seed=seed)
        began, own_began = time.process_time(), time.thread_time()
        for record in episodes(game, [player], settings, plans, seed=seed, purpose="bench", facts=self.facts):
            self.cpu_seconds, self.own_cpu_seconds = time.process_time() - began, time.thread_time() - own_began
            self.learned += int(record.learn.sum())
            held = resident_bytes()
            if held is not None and self.facts.games % max(1, settings.games // MEMORY_POINTS) == 0:
                self.curve.append((self.facts.games, held))
            yield self.facts.games

    def progress_line(self, games: int) -> str:
        """Games until now, evaluations a second, time."""
        search, seconds = self.facts.search, time.monotonic() - self.began
        return f"{self.facts.games:,}/{games:,} games  {search.rows / seconds:,.0f} evaluations/s  {duration(seconds)}"

    def numbers(self) -> dict[str, Any]:
        """Speed, fill, cache, shares of time."""
        numbers = search_metrics(self.facts) | {"cpu_seconds": self.cpu_seconds, "moves": self.facts.moves}
        numbers["own_cpu_share"] = self.own_cpu_seconds / max(self.cpu_seconds, 1e-9)
        seconds = max(self.facts.search.total, 1e-9)
        numbers |= {"learned_positions": self.learned, "learned_positions_per_second": self.learned / seconds}
        numbers["search_and_python_share"] = numbers["search_share"] + numbers["python_share"]
        return numbers


def memory_numbers(curve: Sequence[tuple[int, int]], *, last: int) -> dict[str, Any]:
    """The memory curve in MB, and how much higher it is in the second half of the games than in the first.

    The first tenth of the games is left out, in which caches fill, and those after game `last`, when no more begin and
    the batches shrink: the network's engine keeps something for every size of batch that it meets.
    """
    settled = [held for games, held in curve[len(curve) // 10 :] if games <= last]
    if len(settled) < 4:
        raise ValueError(
            f"--memory needs four points of its curve ({MEMORY_POINTS} in all, where the system tells a process's "
            f"memory) between the first tenth of --games and the last --parallel of them, got {len(settled)}"
        )
    middle = len(settled) // 2
    before, after = (sum(part) / len(part) for part in (settled[:middle], settled[middle:]))
    points = [(games, round(held / 1e6, 1)) for games, held in curve]
    return {"memory_mb": points, "memory_growth": after / before - 1, "memory_peak_mb": max(mb for _, mb in points)}


@contextmanager
def net_file(game: _core.Game, net: Path | None, filters: int, blocks: int) -> Iterator[Path]:
    """Yield the given net, or a temporary file with random weights."""
    if net is not None:
        yield net
        return
    from hauteur import networks
    from hauteur.networks.modules import initialise, tensors_of

    architecture = networks.ResNetArchitecture(
        feature_shape=game.feature_shape, num_actions=game.num_actions, filters=filters, blocks=blocks
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"random-{filters}x{blocks}.safetensors"
        networks.save(path, architecture, tensors_of(initialise(architecture, 1)), game=game.spec)
        yield path
