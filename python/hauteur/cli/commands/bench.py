"""hauteur bench: speed on this machine; ratios compare rounds that took turns."""

import json as json_format
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from hauteur import _core, networks
from hauteur.games import registry as games
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import Backend, Precision
from hauteur.networks.evaluators.factory import PRECISIONS, backends_at_hand, make_evaluator, precisions_here
from hauteur.system.formatting import duration

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator, GameEvaluator

DEFAULT_VISITS = {"chess": 300_000, "connect4": 100_000}


def search(*specs: str, visits: int = 0, rounds: int = 5, encode: bool = True) -> None:
    """Measure visits per second of the bare search on one thread, without a network.

    The policy is uniform, values are derived from position keys.

    Parameters
    ----------
    specs
        Games, e.g. chess "nogo(size=7)"; default: connect4 and chess.
    visits
        Visits of the tree grown from the start position in each round; 0 = 300,000 for chess, 100,000 for other games.
    rounds
        Rounds; the minimum, median and maximum are printed.
    encode
        Also measure with feature rows written for every leaf.
    """
    check_positive(rounds=rounds)
    for spec in specs or ("connect4", "chess"):
        game = _core.Game(spec)
        wanted = visits or DEFAULT_VISITS.get(game.name, 100_000)
        check_positive(visits=wanted)
        runs = {
            with_rows: search_rounds(game, wanted, 0, with_rows)
            for with_rows in ((False, True) if encode else (False,))
        }
        for _ in announced(rounds):
            for with_rows, results in runs.items():
                results.extend(search_rounds(game, wanted, 1, with_rows))
        for with_rows, results in runs.items():
            print_search(game.spec, with_rows, results)


def search_rounds(game: _core.Game, visits: int, rounds: int, encode: bool) -> list[dict[str, float]]:
    """Counters and seconds of each round."""
    return [_core.bench_search(game.new_initial_state(), SearchParams(), visits, encode) for _ in range(rounds)]


def print_search(spec: str, encode: bool, results: list[dict[str, float]]) -> None:
    """One JSON line of one game with or without rows."""
    last = results[-1]
    line = {
        "bench": "search",
        "game": spec,
        "encode": encode,
        "visits": int(last["visits"]),
        "visits_per_second": spread([result["visits"] / result["seconds"] for result in results]),
        "bytes_per_node": round(last["bytes"] / last["visits"], 1),
        "mean_depth": round(last["depth_sum"] / last["visits"], 2),
    }
    print(json_format.dumps(line), flush=True)


def engine(
    *,
    net: Path,
    spec: str = "chess",
    visits: int = 20_000,
    batch: int = 0,
    threads: int = 0,
    in_flight: int = 2,
    rounds: int = 3,
    backend: Backend | None = None,
    precision: Precision | None = None,
    json: bool = False,
) -> None:
    """Visits per second of a search from the start position, against evaluations per second of the bare evaluator.

    Both use the same evaluator, batch size and number of batches in flight, in turns in one process.

    Parameters
    ----------
    net
        Net file.
    spec
        Game that the net is for.
    visits
        Visits of each search.
    batch
        Rows of a batch; 0 = the evaluator's preference.
    threads
        Threads of the evaluator; 0 = all that this process may use.
    in_flight
        Batches that wait at a time.
    rounds
        Rounds; the minimum, median and maximum are printed.
    backend
        core, torch or onnxruntime; default: what suits the net and the machine.
    precision
        float32, bfloat16, float16 ...; default: the backend's.
    json
        Print one JSON object instead of a table.
    """
    check_positive(visits=visits, rounds=rounds, in_flight=in_flight)
    game = _core.Game(spec)
    evaluator = make_evaluator(game, str(net), backend=backend, precision=precision, threads=threads or None)
    size = batch or evaluator.batch_size
    try:
        measured = engine_rounds(game, evaluator, size, in_flight, visits, rounds)
    finally:
        evaluator.close()
    facts = {"net": net.name, "evaluator": evaluator.name, "batch": size, "in_flight": in_flight, "visits": visits}
    if json:
        print(json_format.dumps({"bench": "engine"} | facts | measured), flush=True)
    else:
        print_engine(facts, measured)


def print_engine(facts: dict[str, Any], measured: dict[str, Any]) -> None:
    """Print what was measured, and with what, as a table."""
    print(", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items()))
    print(f"{'':24} {'least':>9} {'median':>9} {'most':>9}")
    for key, rates in measured.items():
        name = key.replace("_", " ")
        if isinstance(rates, dict):
            print(f"{name:24} " + " ".join(f"{rates[end]:9,.0f}" for end in ("min", "median", "max")))
        else:
            print(f"{name:24} {'':9} {rates:9.3f}")


def announced(rounds: int) -> Iterator[int]:
    """Count the rounds; tell a terminal which one is under way, and how long the others will take."""
    began = time.perf_counter()
    for done in range(rounds):
        if sys.stderr.isatty():
            left = f", {duration((time.perf_counter() - began) / done * (rounds - done))} left" if done else ""
            print(f"\rround {done + 1} of {rounds}{left}   ", end="", file=sys.stderr, flush=True)
        yield done
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)


def engine_rounds(
    game: _core.Game, evaluator: Any, size: int, in_flight: int, visits: int, rounds: int
) -> dict[str, Any]:
    """Rates of the bare evaluator and of searches, in turns, and their ratios."""
    features = sample_rows(game, size)
    bare_rates(evaluator, features, in_flight, 3 * size)
    bare, searched, rows = [], [], []
    for _ in announced(rounds):
        bare.append(bare_rates(evaluator, features, in_flight, visits))
        visit_rate, row_rate = search_rates(game, evaluator, size, in_flight, visits)
        searched.append(visit_rate)
        rows.append(row_rate)
    return {
        "visits_per_second": spread(searched),
        "rows_per_second": spread(rows),
        "evaluations_per_second": spread(bare),
        "visits_by_evaluations": round(median(searched) / median(bare), 3),
        "rows_by_evaluations": round(median(rows) / median(bare), 3),
    }


def evaluator(
    *,
    net: Path,
    backend: tuple[Backend, ...] = (),
    precision: tuple[Precision, ...] = (),
    batch: str = "1,8,32,128,256",
    threads: str = "1",
    instructions: str | None = None,
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
    rounds
        Rounds; the minimum, median and maximum are printed.
    seconds
        Time of one measurement.
    """
    check_positive(rounds=rounds)
    if not 0.001 <= seconds <= 60:
        raise ValueError(f"--seconds must be 0.001 to 60, got {seconds}")
    sizes, counts = whole_numbers("batch", batch), whole_numbers("threads", threads)
    description = networks.describe(net)
    game = games.load_game(description.game)
    measured = backend or (backends_at_hand(description) if instructions is None else ("core",))
    kinds = [(b, p) for b in measured for p in precision or precisions_of(b, instructions)]
    combinations = [(b, p, count) for b, p in kinds for count in counts]
    opened = {combination: opened_evaluator(game, net, combination, instructions) for combination in combinations}
    try:
        results = evaluator_rounds(game, opened, sizes, rounds, seconds)
    finally:
        for one in opened.values():
            one.close()
    for ((name, kind, count), size), rates in results.items():
        line = {"bench": "evaluator", "net": net.name, "backend": name, "precision": kind, "threads": count}
        walls, processor = zip(*rates, strict=True)
        line |= {"batch": size, "evaluations_per_second": spread(list(walls))}
        print(json_format.dumps(line | {"evaluations_per_cpu_second": spread(list(processor))}), flush=True)


Combination = tuple[Backend, Precision, int]
"""Backend, precision, threads."""

Rates = tuple[float, float]
"""Evaluations per second of wall time and of processor time."""


def evaluator_rounds(
    game: _core.Game, opened: "Mapping[Combination, Evaluator]", sizes: list[int], rounds: int, seconds: float
) -> dict[tuple[Combination, int], list[Rates]]:
    """Evaluations per second of wall time and of processor time, by combination and batch size; one pair a round."""
    features = sample_rows(game, max(sizes))
    results: dict[tuple[Combination, int], list[tuple[float, float]]] = {
        (c, size): [] for c in opened for size in sizes
    }
    for combination, size in results:
        timed_rates(opened[combination], features[:size], 0.0)
    for _ in announced(rounds):
        for (combination, size), rates in results.items():
            rates.append(timed_rates(opened[combination], features[:size], seconds))
    return results


def timed_rates(evaluator: "Evaluator", features: Any, seconds: float) -> Rates:
    """Evaluations per second of wall time and of processor time, with two batches under way."""
    waiting, done = [evaluator.submit(features)], 0
    wall, processor = time.perf_counter(), time.process_time()
    while True:
        waiting.append(evaluator.submit(features))
        waiting.pop(0).result()
        done += len(features)
        if time.perf_counter() - wall >= seconds:
            break
    waiting.pop().result()
    done += len(features)
    return done / (time.perf_counter() - wall), done / max(time.process_time() - processor, 1e-9)


def opened_evaluator(
    game: _core.Game, net: Path, combination: Combination, instructions: str | None
) -> "GameEvaluator":
    """Open the net as a combination says, on the processor; instructions: of the core, None: its best."""
    backend, precision, threads = combination
    if instructions is None:
        return make_evaluator(game, net, backend=backend, precision=precision, threads=threads, device="cpu")
    if backend != "core":
        raise ValueError(f"--instructions are for backend core, got --backend {backend}")
    from hauteur.networks.evaluators.core import CoreEvaluator

    return CoreEvaluator(game, networks.load(net), precision=precision, threads=threads, instructions=instructions)


def precisions_of(backend: Backend, instructions: str | None = None) -> tuple[Precision, ...]:
    """Return the backend's precisions on this processor, without emulated ones."""
    if instructions is not None:
        precisions = dict(_core.Network.available()).get(instructions, PRECISIONS["core"])
        return tuple(precision for precision in PRECISIONS["core"] if precision in precisions)
    missing: set[Precision] = set() if "bfloat16" in precisions_here("core") else {"bfloat16", "float16"}
    return tuple(precision for precision in PRECISIONS[backend] if precision not in missing)


def whole_numbers(name: str, text: str) -> list[int]:
    """Numbers separated by commas, each from 1 to 65536."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= 65536 for part in parts):
        raise ValueError(f"--{name} must be numbers from 1 to 65536 separated by commas, got {text!r}")
    return [int(part) for part in parts]


def sample_rows(game: _core.Game, rows: int) -> Any:
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


def bare_rates(evaluator: Any, features: Any, in_flight: int, evaluations: int) -> float:
    """Evaluations per second when `in_flight` batches are always under way."""
    pending: list[Any] = []
    done = 0
    started = time.perf_counter()
    while done < evaluations:
        while len(pending) < in_flight:
            pending.append(evaluator.submit(features))
        pending.pop(0).result()
        done += len(features)
    rate = done / (time.perf_counter() - started)
    for late in pending:
        late.result()
    return rate


def search_rates(game: _core.Game, evaluator: Any, batch: int, in_flight: int, visits: int) -> tuple[float, float]:
    """Visits and network rows per second of one search with a fresh tree and cache."""
    from hauteur.mcts.driver import run_searches

    forest = _core.Forest(game, SearchParams())
    ids = np.array([forest.add(game.new_initial_state())])
    forest.set_visit_limits(ids, np.array([visits], np.uint32))
    facts = run_searches(forest, evaluator, batch_size=batch, in_flight=in_flight)
    stats = forest.stats()
    return stats["visits"] / facts.total, stats["rows"] / facts.total


def spread(rates: list[float]) -> dict[str, float]:
    """Minimum, median and maximum, rounded to whole numbers."""
    return {"min": round(min(rates)), "median": round(median(rates)), "max": round(max(rates))}


def spread_in_digits(values: list[float]) -> dict[str, float]:
    """Minimum, median and maximum, in four digits."""
    found = {"min": min(values), "median": median(values), "max": max(values)}
    return {name: float(f"{value:.4g}") for name, value in found.items()}


def check_positive(**numbers: int) -> None:
    """Raise ValueError for the first number that is not positive."""
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be 1 or more, got {number}")
