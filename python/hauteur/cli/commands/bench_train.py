"""hauteur bench train: how fast a net learns, and how little of it is drawing the batches."""

import json
import os
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur import _core
from hauteur.cli.commands.bench import check_positive, spread_in_digits
from hauteur.cli.commands.options import GameSpec
from hauteur.games.registry import load_game
from hauteur.learning.recipe import TrainSettings, parse_recipe
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.shards import write_shard
from hauteur.matches.arena import play_games
from hauteur.matches.record import GamePlan
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.players.search_player import SearchPlayer
from hauteur.system.seeds import stream

if TYPE_CHECKING:
    from hauteur.learning.train import CandidateTrainer

GAMES, VISITS = 128, 4
"""The games that are learned from, played without a network."""

DRAWN = 5
"""Batches whose drawing is timed in a round."""


def train(
    spec: GameSpec = "connect4",
    *,
    net: Path | None = None,
    filters: int = 64,
    blocks: int = 5,
    batch: int = 512,
    steps: int = 10,
    rounds: int = 5,
    threads: int = 1,
    setting: tuple[str, ...] = (),
) -> None:
    """Samples per second of training, in all and per second of processor time, and what drawing them takes.

    plain_samples_per_second is the same net in a loop of torch alone, with all threads in each operation, on batches
    that were drawn before; the two take turns.

    Parameters
    ----------
    spec
        The game.
    net
        Net file, also lc0's; default: random weights of the size that --filters and --blocks give.
    filters, blocks
        Size of the random net.
    batch
        Positions of a step.
    steps
        Steps of a round.
    rounds
        Rounds; least, median and greatest are printed. One more goes before them.
    threads
        Threads of the processor.
    setting
        A setting of the section [train] of a recipe, such as optimiser=sgd or mixed_precision=bfloat16; may be given
        several times.
    """
    check_positive(filters=filters, batch=batch, steps=steps, rounds=rounds, threads=threads)
    let_waiting_threads_sleep()
    settings = train_settings(spec, batch, setting)
    game = load_game(spec)
    trainer, buffer = trainer_of(game, net, filters, blocks, settings), played_buffer(game, settings)
    from hauteur.learning.plain_loop import PlainLoop

    plain = PlainLoop(trainer.network, settings, buffer)
    measured = [
        train_round(trainer, buffer, number, steps, threads)
        | {"plain_samples_per_second": plain.samples_per_second(steps, threads)}
        for number in range(rounds + 1)
    ][1:]
    line = {"bench": "train", "game": spec, "net": trainer.architecture.summary(), "threads": threads}
    line |= {"batch": batch, "settings": list(setting)}
    line |= {name: spread_in_digits([numbers[name] for numbers in measured]) for name in measured[0]}
    print(json.dumps(line), flush=True)


def let_waiting_threads_sleep() -> None:
    """Let threads that share an operation of torch sleep while they wait for each other; before torch is imported.

    By default OpenMP's threads spin meanwhile. Where other programs have the processors, one spins for as long as the
    other waits for its turn, at every one of thousands of barriers, and the plain loop does not come to its end.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def train_settings(spec: str, batch: int, changes: tuple[str, ...]) -> TrainSettings:
    """The settings of training: a recipe's defaults with this batch and `key=value` changes."""
    recipe = {"game": spec, "train": {"batch_size": batch}}
    return parse_recipe(recipe, "--setting", [f"train.{change}" for change in changes]).train


def trainer_of(
    game: _core.Game, net: Path | None, filters: int, blocks: int, settings: TrainSettings
) -> "CandidateTrainer":
    """Return a trainer of the net file, or of random weights."""
    from hauteur import networks
    from hauteur.learning.train import CandidateTrainer
    from hauteur.networks.evaluators.factory import check_fits

    if net is not None:
        check_fits(game, net, networks.describe(net))
        return CandidateTrainer.from_net(net, settings)
    architecture = networks.ResNetArchitecture(
        feature_shape=game.feature_shape, num_actions=game.num_actions, filters=filters, blocks=blocks
    )
    return CandidateTrainer.new(architecture, settings, seed=1)


def played_buffer(game: _core.Game, settings: TrainSettings) -> ReplayBuffer:
    """Games of a few visits a move, from a file as in a run."""
    with closing(make_evaluator(game, "uniform")) as evaluator:
        player = SearchPlayer("uniform", evaluator, SearchParams(), VISITS, Temperature(initial=1.0))
        plans = map(GamePlan, range(GAMES))
        games = list(play_games(game, [player], plans, seed=1, purpose="bench", parallel=64, batch_size=64))
    buffer = ReplayBuffer(game, GAMES, legal=settings.mask_illegal)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.parquet"
        write_shard(path, game.spec, games, generation=1, nets=[0])
        buffer.extend([path])
    return buffer


def train_round(
    trainer: "CandidateTrainer", buffer: ReplayBuffer, number: int, steps: int, threads: int
) -> dict[str, float]:
    """Samples per second, per second of processor time, and the milliseconds of drawing a batch and of a step."""
    cpu = time.process_time()
    facts = trainer.train(buffer, steps, seed=1, generation=number + 1, generations=number + 1, threads=threads)
    cpu = time.process_time() - cpu
    drawing = time.perf_counter()
    for batch in range(DRAWN):
        buffer.sample(stream(1, "bench", batch), trainer.settings.batch_size)
    drawing = time.perf_counter() - drawing
    numbers: dict[str, Any] = {"samples_per_second": facts.samples / facts.seconds}
    numbers["samples_per_cpu_second"] = facts.samples / cpu
    return numbers | {"step_ms": 1000 * facts.seconds / steps, "draw_ms": 1000 * drawing / DRAWN}
