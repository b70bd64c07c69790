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
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.game_line import NO_NET, BadGame
from hauteur.games.played_game import position_after
from hauteur.learning.context import Option
from hauteur.learning.publish import publish
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_files import GAME_SUFFIXES, files_of, good_games, read_games
from hauteur.learning.replay import ReplayBuffer, Samples
from hauteur.learning.sections import StartSettings
from hauteur.learning.shards import write_shard
from hauteur.learning.steps.train import TRAINED
from hauteur.learning.train import Batch, CandidateTrainer, losses
from hauteur.learning.trainers import architecture_from
from hauteur.matches.record import GameRecord
from hauteur.networks.evaluators.base import Evaluator, Pending
from hauteur.networks.evaluators.factory import check_fits, make_evaluator
from hauteur.networks.registry import describe
from hauteur.system.seeds import derived_seed, stream

if TYPE_CHECKING:
    from hauteur.learning.context import Run, Steps

MEASURED = ("held_out", "held_out_large")
"""Names of the measurements of a round: of the net, and of the large one where there are two."""
NAMED = 10
"""Bad games that are named one by one."""
SHARD_GAMES = 1000
UNLIMITED = 2**40
LEARN = "learn"
"""The part of the games that is learned from, as its file is called."""
HELD_OUT = "held-out"
"""The part that is not learned from, as its file is called."""
IN_FLIGHT = 3
"""Games that wait for the teacher at a time."""
SHARES = 65_535
"""A share of the policy target is stored in games as a number of parts of the whole, as self-play does with Gumbel."""
MEASURED_ROWS = 256
MOST_MEASURED = 16_384
"""Most positions that are measured, evenly spaced."""


def check_start(game: _core.Game, start: StartSettings) -> None:
    """ValueError or OSError when the files that a run begins with are not there, or are for another game."""
    for name in (start.net, start.large_net):
        if name is not None:
            architecture_from(game, Path(name))
    if start.distil_from is not None:
        check_fits(game, Path(start.distil_from), describe(Path(start.distil_from)))
    if start.games:
        files_of(start.games, GAME_SUFFIXES)


class Started(Option):
    """A run begins with a net, or learns from recorded games in a generation 0."""

    def __init__(self, settings: StartSettings) -> None:
        self._settings = settings

    def check(self, game: _core.Game, recipe: Recipe) -> None:  # noqa: ARG002
        """Raise ValueError or OSError where its files are not there, or are for another game."""
        check_start(game, self._settings)

    def before_first_generation(self, run: Run) -> None:
        """Take the steps of generation 0 that are not done yet, then close it."""
        if run.state.generation > 0:
            return
        for name, step in Start(run, self._settings).steps().items():
            if name not in run.state.done:
                run.take(name, step)
        finish_start(run)


def finish_start(run: Run) -> None:
    """Close generation 0: what was learned from recorded games is the net that self-play begins with."""
    state = run.state
    rounds = state.current["start"]["rounds"]
    samples = sum(one["train"]["samples"] for one in rounds)
    run.charge((0, 0), samples=samples)
    of_training = {name: facts for name, facts in rounds[-1].items() if name in TRAINED}
    # The net is there before the checkpoint that begins generation 1, whose games it plays.
    run.save_nets(0)
    state.start = {"generation": 0, **state.current, **of_training, **run.totals()}
    # The checkpoint goes first: a run that is killed before it publishes does so when it is resumed.
    run.begin_next_generation()
    publish(run)
    run.show_spent_budget()


class Start:
    """The steps of generation 0; their metrics are in the run's state, as `start`."""

    def __init__(self, run: Run, settings: StartSettings) -> None:
        self._run = run
        self._settings = settings

    def steps(self) -> Steps:
        """Return the steps by name, in order."""
        steps: Steps = {"games": self.bring_in}
        if self._settings.distil_from is not None:
            steps["teacher"] = self.teach
        # Each round is a step of its own, so that a kill costs no more than one time through the games.
        for number in range(1, self.rounds + 1):
            steps[f"round {number}"] = partial(self.learn_round, number=number)
        return steps

    @property
    def rounds(self) -> int:
        """Rounds of learning: one for each time through the positions, or part of it."""
        return math.ceil(self._settings.epochs)

    def bring_in(self, run: Run) -> None:
        """Import the games into the run's folder and warn of unusable ones."""
        settings = self._settings
        with run.progress("reading games", None) as progress:
            facts = bring_in(
                settings.games,
                run.game,
                run.folder.start,
                hold_out=settings.hold_out,
                seed=run.recipe.run.seed,
                on_games=progress,
            )
        self._warn([f"left out {bad}" for bad in facts.bad], "left out {more} more games")
        self._warn(facts.notes, "{more} more notes on games")
        run.state.current["start"] = {
            "games": facts.counts[LEARN],
            "held_out_games": facts.counts[HELD_OUT],
            "left_out": len(facts.bad),
            "first_wins": facts.results[1],
            "draws": facts.results[0],
            "second_wins": facts.results[-1],
            "distil_from": settings.distil_from,
            "rounds": [],
        }

    def _warn(self, lines: Sequence[str], rest: str) -> None:
        """Show the first lines as warnings, and how many there are more."""
        for line in lines[:NAMED]:
            self._run.display.warn(line)
        if len(lines) > NAMED:
            self._run.display.warn(rest.format(more=f"{len(lines) - NAMED:,}"))

    def teach(self, run: Run) -> None:
        """Write the teacher's targets into all games."""
        counts = run.state.current["start"]
        games = counts["games"] + counts["held_out_games"]
        with closing(self._teacher()) as teacher, run.progress("asking the teacher", games) as progress:
            teach_games(run.game, run.folder.start, teacher, on_games=progress)

    def learn_round(self, run: Run, number: int) -> None:
        """Train for a round, then measure the nets on the held-out games. number: from 1."""
        start = run.state.current["start"]
        start["positions"] = self.data.learn.positions
        start["held_out_positions"] = 0
        if self.data.held_out is not None:
            start["held_out_positions"] = self.data.held_out.positions
        steps = self._steps_of(number)
        title = f"learning {number}/{self.rounds}"
        with run.progress(title, steps * len(run.learners.trainers)) as progress:
            facts = run.learners.train(
                self.data.learn,
                steps,
                # Else round 1 would draw its batches by the numbers of generation 1.
                seed=derived_seed(run.recipe.run.seed, "start"),
                generation=number,
                generations=self.rounds,
                threads=run.threads,
                on_step=progress,
            )
        found: dict[str, Any] = {}
        for name, trained in zip(TRAINED, facts, strict=False):
            found[name] = trained.metrics()
        for name, trainer in zip(MEASURED, run.learners.trainers, strict=False):
            found[name] = self._measure(trainer)
        start["rounds"].append(found)
        run.display.show(round_line(number, self.rounds, found))

    @cached_property
    def data(self) -> StartData:
        """The games in the run's folder, to learn from and held out."""
        run = self._run
        data = open_data(
            run.game,
            run.folder.start,
            taught=self._settings.distil_from is not None,
            legal=run.recipe.train.mask_illegal,
            extra=run.recipe.train.extra,
            targets=run.learners.trainers[0].targets,
        )
        for message in data.skipped:
            run.display.warn(f"skipped {message}")
        return data

    def _steps_of(self, number: int) -> int:
        """Optimiser steps of a round; those of all rounds draw every position `epochs` times on average."""
        per_epoch = self.data.learn.positions / self._run.recipe.train.batch_size
        # Differences of rounded sums: rounds that were rounded one by one would add up to another number of epochs.
        before = round(min(self._settings.epochs, number - 1) * per_epoch)
        after = round(min(self._settings.epochs, number) * per_epoch)
        return max(1, after - before)

    def _measure(self, trainer: CandidateTrainer) -> dict[str, Any] | None:
        """Return what a net makes of the held-out games; None without any."""
        if self.data.held_out is None:
            return None
        share = self._run.recipe.train.root_value_share
        return asdict(measure(trainer, self.data.held_out, root_value_share=share))

    def _teacher(self) -> Evaluator:
        """Open the net whose answers are learned."""
        run = self._run.recipe.run
        return make_evaluator(
            self._run.game,
            str(self._settings.distil_from),
            backend=run.backend,
            precision=run.precision,
            threads=self._run.threads,
        )


def round_line(number: int, rounds: int, found: dict[str, Any]) -> str:
    """One line about a round of learning."""
    train = found["train"]
    held_out = found["held_out"]
    losses_text = f"loss policy {train['policy_loss']:.3f} value {train['value_loss']:.3f}"
    parts = [f"start {number}/{rounds}", losses_text]
    if held_out is not None:
        parts.append(
            f"held out ({held_out['positions']:,} positions): policy {held_out['policy_loss']:.3f} value "
            f"{held_out['value_loss']:.3f} first move {held_out['policy_accuracy']:.1%}"
        )
    parts.append(f"{train['steps']:,} steps in {train['seconds']:.0f} s")
    return "  ".join(parts)


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
    network = trainer.network if trainer.average is None else trainer.average
    network.eval()
    count = min(data.positions, MOST_MEASURED)
    # Evenly spaced and not drawn: the same positions in every round, so that rounds can be compared.
    chosen = np.arange(count) * data.positions // count
    total = np.zeros(3)
    for rows in np.array_split(chosen, -(-count // MEASURED_ROWS)):
        samples = data.samples_of(rows, root_value_share=root_value_share)
        if samples.legal is None:
            raise ValueError("held-out positions must say which moves are legal")
        batch = Batch.of(samples).to(trainer.device)
        policy = batch["policy"]
        legal = batch["legal"]
        logits, value, *_ = network(batch["features"])
        mask = legal if trainer.settings.mask_illegal else None
        parts = losses(logits.float(), value.float(), policy, batch["wdl"], mask)
        best = logits.masked_fill(legal == 0, -torch.inf).argmax(dim=1)
        hits = (best == policy.argmax(dim=1)).float().mean()
        means = np.array([parts.policy.item(), parts.value.item(), hits.item()])
        total += len(rows) * means
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
    for old in folder.iterdir():  # of an attempt that was killed: shards of half a game list would be counted twice
        old.unlink()
    facts = StartFacts()
    waiting: dict[str, list[GameRecord]] = {LEARN: [], HELD_OUT: []}
    for found in read_games(files, game, facts.notes.append):
        if isinstance(found, BadGame):
            facts.bad.append(found)
            continue
        part = LEARN
        # Whole games are held out: from neighbours of a position, which the net has learned, it would be known too
        # well. Each by its own stream, so that the same games are held out when the step is taken again.
        if hold_out > 0:
            random = stream(seed, "hold out game", found.plan.index)
            if float(random.random()) < hold_out:
                part = HELD_OUT
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
    """Write the waiting games of a part as its next shard."""
    number = (facts.counts[part] - 1) // SHARD_GAMES
    path = folder / f"{part}-{number:05d}.parquet"
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
        """Return samples whose value target is the root's, which is the teacher's answer."""
        return super().samples_of(positions, root_value_share=1.0)


def open_data(
    game: _core.Game,
    folder: Path,
    *,
    taught: bool = False,
    legal: bool = False,
    **further: Any,
) -> StartData:
    """Open the data that `bring_in` left in the folder.

    taught: the games have a teacher's targets; legal: return masks of legal actions with training samples; held-out
    samples always have them; further: of the ReplayBuffer to learn from.
    """
    kind = TaughtGames if taught else ReplayBuffer
    learn = kind(game, UNLIMITED, legal=legal, **further)
    held_out = kind(game, UNLIMITED, legal=True)
    for part, games in ((LEARN, learn), (HELD_OUT, held_out)):
        games.extend(sorted(folder.glob(f"{part}-*.parquet")))
    skipped = [*learn.skipped, *held_out.skipped]
    if not learn.positions:
        raise ValueError(f"{folder}: no positions to learn from{f' ({skipped[0]})' if skipped else ''}")
    return StartData(learn, held_out if held_out.positions else None, skipped)


def teach_games(
    game: _core.Game,
    folder: Path,
    teacher: Evaluator,
    *,
    on_games: Callable[[int], None] | None = None,
) -> None:
    """Write the teacher's targets into all shards of the folder. Done again it changes nothing."""
    # The teacher is asked about positions alone, which its answers leave as they are: after a kill it may begin again
    # on shards that are taught already.
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
    # A few games ahead, so that the teacher computes one batch while the next is encoded; in order all the same.
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
    """Return a game with the teacher's answer to its positions as targets. legal: legal actions of each."""
    logits, wdl = pending.result()
    wdl = wdl[: len(legal)]
    actions = []
    counts = []
    for row, allowed in zip(logits[: len(legal)], legal, strict=True):
        shares = _softmax(row[allowed])
        parts = np.rint(SHARES * shares).astype(np.uint32)
        actions.append(allowed[parts > 0])
        counts.append(parts[parts > 0])
    lengths = [len(parts) for parts in counts]
    normalised = wdl / wdl.sum(axis=1, keepdims=True)  # half precision misses 1 by a little
    value = wdl[:, 0] - wdl[:, 2]
    return replace(
        record,
        policy_actions=np.concatenate(actions),
        policy_counts=np.concatenate(counts),
        policy_lengths=np.array(lengths, np.uint16),
        root_wdl=np.asarray(normalised, np.float32),
        net_value=value.astype(np.float32),
    )


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the shares that logits give."""
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(weights / weights.sum())
