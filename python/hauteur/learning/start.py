"""Supervised start of a run from recorded games: the steps of generation 0, each resumable.

The games become shards of the run's folder `start`, so that a resumed run has the same data whatever becomes of the
source files. A teacher, if any, sees every position once; a student then learns its softmax over the legal moves and
its win, draw, loss (Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", with temperature 1). Then the
networks train in rounds of about one epoch each, and are measured on the held-out games.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hauteur import _core, networks
from hauteur.games.game_line import NO_NET, BadGame
from hauteur.games.played_game import position_after
from hauteur.learning.display import Display
from hauteur.learning.recipe import Recipe, StartSettings
from hauteur.learning.recorded_files import GAME_SUFFIXES, files_of, good_games, read_games
from hauteur.learning.replay import ReplayBuffer, Samples
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.shards import write_shard
from hauteur.learning.train import CandidateTrainer, losses
from hauteur.learning.trainers import Learners, architecture_from
from hauteur.matches.record import GameRecord
from hauteur.networks.evaluators.base import Evaluator, Pending
from hauteur.networks.evaluators.factory import check_fits, make_evaluator
from hauteur.networks.registered import learned_by
from hauteur.system.seeds import derived_seed, stream

NAMED = 10
"""Bad games that are named one by one."""
SHARD_GAMES = 1000
UNLIMITED = 2**40
LEARN, HELD_OUT = "learn", "held-out"
"""The two parts of the games, as files are called."""
IN_FLIGHT = 3
"""Games that wait for the teacher at a time."""
SHARES = 65_535
"""A share of the policy target is stored in games as a number of parts of the whole, as self-play does with Gumbel."""
MEASURED_ROWS = 256
MOST_MEASURED = 16_384
"""Most positions that are measured, evenly spaced."""


def check_start(game: _core.Game, recipe: Recipe) -> None:
    """ValueError or OSError when the files that a recipe begins with are not there, or are for another game."""
    start = recipe.start
    if start is None:
        return
    for name in (start.net, start.large_net):
        if name is not None:
            architecture_from(game, Path(name))
    if start.distil_from is not None:
        check_fits(game, Path(start.distil_from), networks.describe(Path(start.distil_from)))
    if start.games:
        files_of(start.games, GAME_SUFFIXES)


@dataclass
class Start:
    """Start of a run (generation 0); `current` collects its metrics, as JSON.

    progress: shows a step of N parts (None: unknown), and yields what takes the count so far.
    """

    recipe: Recipe
    folder: RunFolder
    game: _core.Game
    learners: Learners
    display: Display
    progress: Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]
    threads: int
    current: dict[str, Any]

    @property
    def settings(self) -> StartSettings:
        if self.recipe.start is None:
            raise RuntimeError("the recipe has no section [start]")
        return self.recipe.start

    def steps(self) -> dict[str, Callable[[], None]]:
        steps = {"games": self.bring_in}
        if self.settings.distil_from is not None:
            steps["teacher"] = self.teach
        return steps | {f"round {number}": self._round(number) for number in range(1, self.rounds + 1)}

    @property
    def rounds(self) -> int:
        """Rounds of learning: one for each time through the positions, or part of it."""
        return math.ceil(self.settings.epochs)

    def bring_in(self) -> None:
        """Import the games into the run's folder and warn of unusable ones."""
        settings, recipe = self.settings, self.recipe
        with self.progress("reading games", None) as progress:
            facts = bring_in(
                settings.games,
                self.game,
                self.folder.start,
                hold_out=settings.hold_out,
                seed=recipe.run.seed,
                on_games=progress,
            )
        for bad in facts.bad[:NAMED]:
            self.display.warn(f"left out {bad}")
        if len(facts.bad) > NAMED:
            self.display.warn(f"left out {len(facts.bad) - NAMED:,} more games")
        for note in facts.notes[:NAMED]:
            self.display.warn(note)
        if len(facts.notes) > NAMED:
            self.display.warn(f"{len(facts.notes) - NAMED:,} more notes on games")
        self.current["start"] = {
            "games": facts.counts[LEARN],
            "held_out_games": facts.counts[HELD_OUT],
            "left_out": len(facts.bad),
            "first_wins": facts.results[1],
            "draws": facts.results[0],
            "second_wins": facts.results[-1],
            "distil_from": settings.distil_from,
            "rounds": [],
        }

    def teach(self) -> None:
        """The teacher's targets in all games."""
        games = self.current["start"]["games"] + self.current["start"]["held_out_games"]
        with closing(self._teacher()) as teacher, self.progress("asking the teacher", games) as progress:
            teach_games(self.game, self.folder.start, teacher, on_games=progress)

    def _round(self, number: int) -> Callable[[], None]:
        def learn() -> None:
            steps, start = self._steps_of(number), self.current["start"]
            start["positions"] = self.data.learn.positions
            start["held_out_positions"] = self.data.held_out.positions if self.data.held_out is not None else 0
            with self.progress(f"learning {number}/{self.rounds}", steps * len(self.learners.trainers)) as progress:
                facts = self.learners.train(
                    self.data.learn,
                    steps,
                    seed=derived_seed(self.recipe.run.seed, "start"),
                    generation=number,
                    generations=self.rounds,
                    threads=self.threads,
                    on_step=progress,
                )
            found: dict[str, Any] = dict(zip(("train", "train_large"), [one.metrics() for one in facts], strict=False))
            measured = [self._measure(trainer) for trainer in self.learners.trainers]
            found |= dict(zip(("held_out", "held_out_large"), measured, strict=False))
            start["rounds"].append(found)
            self.display.show(round_line(number, self.rounds, found))

        return learn

    @cached_property
    def data(self) -> StartData:
        taught, train = self.settings.distil_from is not None, self.recipe.train
        further: dict[str, Any] = {"extra": train.extra, "targets": learned_by(self.recipe.network.kind)[0]}
        data = open_data(self.game, self.folder.start, taught=taught, legal=train.mask_illegal, **further)
        for message in data.skipped:
            self.display.warn(f"skipped {message}")
        return data

    def _steps_of(self, number: int) -> int:
        """Optimiser steps of a round; those of all rounds draw every position `epochs` times on average."""
        per_epoch = self.data.learn.positions / self.recipe.train.batch_size
        done, to_do = (round(min(self.settings.epochs, upto) * per_epoch) for upto in (number - 1, number))
        return max(1, to_do - done)

    def _measure(self, trainer: CandidateTrainer) -> dict[str, Any] | None:
        if self.data.held_out is None:
            return None
        share = self.recipe.train.root_value_share
        return asdict(measure(trainer, self.data.held_out, root_value_share=share))

    def _teacher(self) -> Evaluator:
        run = self.recipe.run
        return make_evaluator(
            self.game,
            str(self.settings.distil_from),
            backend=run.backend,
            precision=run.precision,
            threads=self.threads,
        )


def round_line(number: int, rounds: int, found: dict[str, Any]) -> str:
    """One line about a round of learning."""
    train, held_out = found["train"], found["held_out"]
    parts = [f"start {number}/{rounds}", f"loss policy {train['policy_loss']:.3f} value {train['value_loss']:.3f}"]
    if held_out is not None:
        parts.append(
            f"held out ({held_out['positions']:,} positions): policy {held_out['policy_loss']:.3f} value "
            f"{held_out['value_loss']:.3f} first move {held_out['policy_accuracy']:.1%}"
        )
    return "  ".join([*parts, f"{train['steps']:,} steps in {train['seconds']:.0f} s"])


@dataclass(frozen=True)
class HeldOut:
    """Means over the positions: the two losses in nats (the scalar value's: a square), and the share of positions in
    which the network's first legal move is the first of the policy target.
    """

    positions: int
    policy_loss: float
    value_loss: float
    policy_accuracy: float


@torch.no_grad()
def measure(trainer: CandidateTrainer, data: ReplayBuffer, *, root_value_share: float = 0.0) -> HeldOut:
    """The trainer's network, or the mean of its weights where one is kept, on these positions."""
    network = (trainer.average if trainer.average is not None else trainer.network).eval()
    count = min(data.positions, MOST_MEASURED)
    chosen = np.arange(count) * data.positions // count
    total = np.zeros(3)
    for rows in np.array_split(chosen, -(-count // MEASURED_ROWS)):
        samples = data.samples_of(rows, root_value_share=root_value_share)
        if samples.legal is None:
            raise ValueError("held-out positions must say which moves are legal")
        arrays = (samples.features, samples.policy, samples.wdl, samples.legal)
        features, policy, wdl, legal = (torch.from_numpy(array).to(trainer.device) for array in arrays)
        logits, value, *_ = network(features)
        parts = losses(logits.float(), value.float(), policy, wdl, legal if trainer.settings.mask_illegal else None)
        hits = (logits.masked_fill(legal == 0, -torch.inf).argmax(dim=1) == policy.argmax(dim=1)).float().mean()
        total += len(rows) * np.array([parts.policy.item(), parts.value.item(), hits.item()])
    policy_loss, value_loss, accuracy = (total / count).tolist()
    return HeldOut(count, policy_loss, value_loss, accuracy)


@dataclass
class StartFacts:
    """Counts of what was read: games of both parts, results of the games to learn from, unusable games."""

    counts: dict[str, int] = field(default_factory=lambda: {LEARN: 0, HELD_OUT: 0})
    results: dict[int, int] = field(default_factory=lambda: {1: 0, 0: 0, -1: 0})
    bad: list[BadGame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was changed to read games, a line each."""


def bring_in(
    sources: Sequence[str],
    game: _core.Game,
    folder: Path,
    *,
    hold_out: float,
    seed: int,
    on_games: Callable[[int], None] | None = None,
) -> StartFacts:
    """Read all games into shards of the folder; the share `hold_out`, drawn by the seed, apart.

    ValueError when nothing can be used.
    """
    files = files_of(sources, GAME_SUFFIXES)
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():  # of an attempt that was killed
        old.unlink()
    facts = StartFacts()
    waiting: dict[str, list[GameRecord]] = {LEARN: [], HELD_OUT: []}
    for found in read_games(files, game, facts.notes.append):
        if isinstance(found, BadGame):
            facts.bad.append(found)
            continue
        drawn = hold_out > 0 and float(stream(seed, "hold out game", found.plan.index).random()) < hold_out
        part = HELD_OUT if drawn else LEARN
        if len(waiting[part]) == SHARD_GAMES:
            _flush(folder, part, game, waiting[part], facts)
        waiting[part].append(found)
        facts.counts[part] += 1
        if part == LEARN:
            facts.results[found.outcome] += 1
        if on_games is not None:
            on_games(found.plan.index + 1)
    for part, records in waiting.items():
        if records:
            _flush(folder, part, game, records, facts)
    if not facts.counts[LEARN]:
        held_out = facts.counts[HELD_OUT]
        empty = facts.bad[0] if facts.bad else "the files are empty"
        reason = f"start.hold_out leaves all {held_out} out" if held_out else empty
        raise ValueError(f"start.games: no game can be used: {reason}")
    return facts


def _flush(folder: Path, part: str, game: _core.Game, records: list[GameRecord], facts: StartFacts) -> None:
    path = folder / f"{part}-{(facts.counts[part] - 1) // SHARD_GAMES:05d}.parquet"
    write_shard(path, game.spec, records, generation=0, nets=[NO_NET, NO_NET])
    records.clear()


@dataclass(frozen=True)
class StartData:
    """Training positions and held-out positions; skipped: unreadable files."""

    learn: ReplayBuffer
    held_out: ReplayBuffer | None
    skipped: list[str]


class TaughtGames(ReplayBuffer):
    """Games whose value target is the teacher's wdl alone, for any root_value_share."""

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 1.0) -> Samples:  # noqa: ARG002
        return super().samples_of(positions, root_value_share=1.0)


def open_data(
    game: _core.Game, folder: Path, *, taught: bool = False, legal: bool = False, **further: Any
) -> StartData:
    """Open the data that `bring_in` left in the folder.

    taught: the games have a teacher's targets; legal: return masks of legal actions with training samples; held-out
    samples always have them; further: of the ReplayBuffer to learn from.
    """
    kind = TaughtGames if taught else ReplayBuffer
    learn, held_out = kind(game, UNLIMITED, legal=legal, **further), kind(game, UNLIMITED, legal=True)
    for part, games in ((LEARN, learn), (HELD_OUT, held_out)):
        games.extend(sorted(folder.glob(f"{part}-*.parquet")))
    skipped = [*learn.skipped, *held_out.skipped]
    if not learn.positions:
        raise ValueError(f"{folder}: no positions to learn from{f' ({skipped[0]})' if skipped else ''}")
    return StartData(learn, held_out if held_out.positions else None, skipped)


def teach_games(
    game: _core.Game, folder: Path, teacher: Evaluator, *, on_games: Callable[[int], None] | None = None
) -> None:
    """Write the teacher's targets into all shards of the folder. Done again it changes nothing."""
    done = 0
    for path in sorted(folder.glob("*.parquet")):
        records = [stored.record for stored in good_games(path)]
        taught = []
        for record in taught_games(game, records, teacher):
            taught.append(record)
            done += 1
            if on_games is not None:
                on_games(done)
        write_shard(path, game.spec, taught, generation=0, nets=[NO_NET, NO_NET])


def taught_games(game: _core.Game, records: Sequence[GameRecord], teacher: Evaluator) -> Iterator[GameRecord]:
    """The games with the teacher's policy as the policy target and its wdl as the root's value, in order."""
    waiting: deque[tuple[GameRecord, list[NDArray[np.uint16]], Pending]] = deque()
    for record in records:
        features, legal = _encoded(game, record)
        waiting.append((record, legal, teacher.submit(features)))
        if len(waiting) >= IN_FLIGHT:
            yield _taught(*waiting.popleft())
    while waiting:
        yield _taught(*waiting.popleft())


def _encoded(game: _core.Game, record: GameRecord) -> tuple[NDArray[np.float32], list[NDArray[np.uint16]]]:
    """Play the game; return the features of its n searched positions, [n, C, H, W], and the legal actions of each."""
    state = position_after(record.plan.begin(game), record.plan.start)
    features = np.empty((len(record.actions), *game.feature_shape), np.float32)
    legal = []
    for move, action in enumerate(record.actions.tolist()):
        features[move] = state.features()
        legal.append(state.legal_actions().astype(np.uint16))
        state.apply(action)
    return features, legal


def _taught(record: GameRecord, legal: list[NDArray[np.uint16]], pending: Pending) -> GameRecord:
    logits, wdl = pending.result()
    wdl = wdl[: len(legal)]
    shares = [_softmax(row[actions]) for row, actions in zip(logits, legal, strict=False)]
    counts = [np.rint(SHARES * row).astype(np.uint32) for row in shares]
    return replace(
        record,
        policy_actions=np.concatenate([actions[count > 0] for actions, count in zip(legal, counts, strict=True)]),
        policy_counts=np.concatenate([count[count > 0] for count in counts]),
        policy_lengths=np.array([np.count_nonzero(count) for count in counts], np.uint16),
        root_wdl=np.asarray(wdl / wdl.sum(axis=1, keepdims=True), np.float32),  # half precision misses 1 by a little
        net_value=(wdl[:, 0] - wdl[:, 2]).astype(np.float32),
    )


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(weights / weights.sum())
