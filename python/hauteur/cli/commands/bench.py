"""hauteur bench: speed on this machine; ratios compare rounds that took turns."""

import json as json_format
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from hauteur import _core, networks
from hauteur.cli.commands.options import SearchSettings
from hauteur.games.registry import load_game
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import Backend, Floats, Precision
from hauteur.networks.evaluators.factory import PRECISIONS, backends_at_hand, make_evaluator, precisions_here
from hauteur.system.progress import ProgressLine

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator, GameEvaluator

CHESS_VISITS = 300_000
"""Visits of a round of the bare search in chess."""
VISITS = 100_000
"""Visits of a round of the bare search in other games."""
PYTHON_VISITS = 2_000
"""Visits of a round of the bare search in games in Python."""


def search(
    *specs: str,
    visits: int = 0,
    rounds: int = 5,
    search: SearchSettings = SearchParams(),  # noqa: B008  (immutable)
) -> None:
    """Visits per second of the bare search on one thread, without a network; with a rule, also relative to plain PUCT.

    The policy is uniform, values are derived from position keys. One JSON line a game.

    Parameters
    ----------
    specs
        Games, e.g. chess "nogo(size=7)"; default: connect4 and chess.
    visits
        Visits of the tree grown from the start position in each round; 0 = 300,000 for chess, 100,000 for other games,
        2,000 for games in Python.
    rounds
        Rounds, each with plain PUCT and the settings of --search.KEY in turns; least, median and greatest are printed.
    """
    check_positive(rounds=rounds)
    for spec in specs or ("connect4", "chess"):
        game = load_game(spec)
        count = visits or usual_visits(game)
        check_positive(visits=count)
        print(json_format.dumps(search_line(game, search, count, rounds)), flush=True)


def usual_visits(game: _core.Game) -> int:
    """Return the visits of a round, which takes a second at most."""
    if game.name not in _core.game_names():
        return PYTHON_VISITS
    return CHESS_VISITS if game.name == "chess" else VISITS


def search_line(game: _core.Game, params: SearchParams, visits: int, rounds: int) -> dict[str, Any]:
    """Return what was measured of one game."""
    plain = SearchParams()
    bare_search(game, plain, visits // 4)
    rates = []
    ratios = []
    for _ in announced(rounds):
        first = bare_search(game, params, visits)
        last = bare_search(game, params, visits)
        before = bare_search(game, plain, visits)
        seconds = first["seconds"] + last["seconds"]
        rate = (first["visits"] + last["visits"]) / seconds
        rates.append(rate)
        ratios.append(rate * before["seconds"] / before["visits"])
    reached = last["visits"]
    line = {
        "bench": "search",
        "game": game.spec,
        "visits": int(reached),
        "visits_per_second": spread(rates),
    }
    if params != plain:
        line["search"] = params.model_dump(exclude_unset=True)
        line["by_plain_puct"] = spread(ratios)
    line["bytes_per_visit"] = round(last["bytes"] / reached, 1)
    line["mean_depth"] = round(last["depth_sum"] / reached, 2)
    return line


def bare_search(game: _core.Game, params: SearchParams, visits: int) -> dict[str, float]:
    """Counters and seconds of one search from the start position, without feature rows."""
    return _core.bench_search(game.new_initial_state(), params, visits)


def evaluator(
    *,
    net: Path,
    backend: Annotated[tuple[Backend, ...], Parameter(negative=())] = (),
    precision: Annotated[tuple[Precision, ...], Parameter(negative=())] = (),
    batch: str = "1,8,32,128,256",
    threads: str = "1",
    instructions: str | None = None,
    device: str = "cpu",
    rounds: int = 5,
    seconds: float = 0.2,
) -> None:
    """Evaluations per second of a net, for every combination of backend, precision, threads and batch size.

    Combinations take turns in every round, so that ratios mean something on a machine that also does other work.

    Parameters
    ----------
    net
        Net file.
    backend
        core, torch, onnxruntime; several if given several times; default: all that can compute the net here.
    precision
        float32, bfloat16, float16 ...; several if given several times; default: all that a backend has here.
    batch
        Rows of a batch, separated by commas.
    threads
        Threads of the evaluator, separated by commas.
    instructions
        Of the core, such as avx2, to measure other ones than the processor's best; `hauteur doctor` lists them.
    device
        Of torch: cpu, cuda or cuda:N.
    rounds
        Rounds; the minimum, median and maximum are printed.
    seconds
        Time of one measurement.
    """
    check_positive(rounds=rounds)
    if not 0.001 <= seconds <= 60:
        raise ValueError(f"--seconds must be 0.001 to 60, got {seconds}")
    sizes = whole_numbers("batch", batch)
    counts = whole_numbers("threads", threads)
    description = networks.describe(net)
    game = load_game(description.game)
    measured: Sequence[Backend] = backend
    if not measured:
        measured = backends_at_hand(description) if instructions is None else ("core",)
    combinations: list[Combination] = []
    for one in measured:
        for kind in precision or precisions_of(one, instructions):
            combinations += [(one, kind, count) for count in counts]
    opened = {found: opened_evaluator(game, net, found, instructions, device) for found in combinations}
    try:
        results = evaluator_rounds(game, opened, sizes, rounds, seconds)
    finally:
        for opened_net in opened.values():
            opened_net.close()
    for (combination, size), rates in results.items():
        print(json_format.dumps(_rates_json(net, combination, size, rates)), flush=True)


Combination = tuple[Backend, Precision, int]
"""Backend, precision, threads."""

Rates = tuple[float, float]
"""Evaluations per second of wall time and of processor time."""


def _rates_json(net: Path, combination: Combination, size: int, rates: list[Rates]) -> dict[str, Any]:
    """Return a line about the rates of a combination at a batch size."""
    backend, precision, threads = combination
    walls, processor = zip(*rates, strict=True)
    return {
        "bench": "evaluator",
        "net": net.name,
        "backend": backend,
        "precision": precision,
        "threads": threads,
        "batch": size,
        "evaluations_per_second": spread(list(walls)),
        "evaluations_per_cpu_second": spread(list(processor)),
    }


def evaluator_rounds(
    game: _core.Game,
    opened: "Mapping[Combination, Evaluator]",
    sizes: list[int],
    rounds: int,
    seconds: float,
) -> dict[tuple[Combination, int], list[Rates]]:
    """Evaluations per second of wall time and of processor time, by combination and batch size; one pair a round."""
    features = sample_rows(game, max(sizes))
    results: dict[tuple[Combination, int], list[Rates]] = {key: [] for key in product(opened, sizes)}
    for combination, size in results:
        timed_rates(opened[combination], features[:size], 0.0)
    for _ in announced(rounds):
        for (combination, size), rates in results.items():
            rates.append(timed_rates(opened[combination], features[:size], seconds))
    return results


def timed_rates(evaluator: "Evaluator", features: Floats, seconds: float) -> Rates:
    """Evaluations per second of wall time and of processor time, with two batches under way."""
    waiting = [evaluator.submit(features)]
    done = 0
    wall = time.perf_counter()
    processor = time.process_time()
    while True:
        waiting.append(evaluator.submit(features))
        waiting.pop(0).result()
        done += len(features)
        if time.perf_counter() - wall >= seconds:
            break
    waiting.pop().result()
    done += len(features)
    seconds_of_wall = time.perf_counter() - wall
    seconds_of_processor = time.process_time() - processor
    return done / seconds_of_wall, done / max(seconds_of_processor, 1e-9)


def opened_evaluator(
    game: _core.Game,
    net: Path,
    combination: Combination,
    instructions: str | None,
    device: str = "cpu",
) -> "GameEvaluator":
    """Open the net as a combination says; instructions: of the core, None: its best; device: of torch."""
    backend, precision, threads = combination
    if instructions is None:
        return make_evaluator(game, net, backend=backend, precision=precision, threads=threads, device=device)
    if backend != "core":
        raise ValueError(f"--instructions are for backend core, got --backend {backend}")
    from hauteur.networks.evaluators.core import CoreEvaluator

    return CoreEvaluator(game, networks.load(net), precision=precision, threads=threads, instructions=instructions)


def precisions_of(backend: Backend, instructions: str | None = None) -> tuple[Precision, ...]:
    """Return the backend's precisions on this processor, without emulated ones."""
    if instructions is not None:
        here = dict(_core.Network.available()).get(instructions, PRECISIONS["core"])
        return tuple(precision for precision in PRECISIONS["core"] if precision in here)
    missing: set[Precision] = set()
    if "bfloat16" not in precisions_here("core"):
        missing = {"bfloat16", "float16"}
    return tuple(precision for precision in PRECISIONS[backend] if precision not in missing)


def sample_rows(game: _core.Game, rows: int) -> Floats:
    """Feature rows, float32 [rows, planes, rows, columns], of positions along random games."""
    random = np.random.default_rng(0)
    features = np.zeros((rows, *game.feature_shape), np.float32)
    state = game.new_initial_state()
    for row in features:
        if state.outcome() is not None:
            state = game.new_initial_state()
        row[...] = state.features()
        state.apply(int(random.choice(state.legal_actions())))
    return features


def announced(rounds: int) -> Iterator[int]:
    """Count the rounds; tell a terminal which one is under way, and how long the others will take."""
    with ProgressLine(None, f"round 1 of {rounds}", left=True) as line:
        for done in range(rounds):
            line.show(f"round {done + 1} of {rounds}", done / rounds, last=True)
            yield done
        line.clear()


def whole_numbers(name: str, text: str) -> list[int]:
    """Numbers separated by commas, each from 1 to 65536."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= 65536 for part in parts):
        raise ValueError(f"--{name} must be numbers from 1 to 65536 separated by commas, got {text!r}")
    return [int(part) for part in parts]


def spread(values: list[float]) -> dict[str, float]:
    """Minimum, median and maximum, in four digits."""
    found = {"min": min(values), "median": median(values), "max": max(values)}
    return {name: float(f"{value:.4g}") for name, value in found.items()}


def check_positive(**numbers: int) -> None:
    """Raise ValueError for the first number that is not positive."""
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be 1 or more, got {number}")
