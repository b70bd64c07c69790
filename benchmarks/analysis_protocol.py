"""The analysis protocol, queries together and one by one: seconds of processor and clock, and whether answers differ.

    python benchmarks/analysis_protocol.py --game chess --net chess --queries 1000 --visits 100

Three ways: all queries written at once; each written when the one before is answered; and, for the first of them, a
process each. The engine's start is part of the time.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import hauteur as ht
from hauteur.games.played_game import move_text

MOST_PLIES = 30
"""Random moves before a position, at most."""
PROCESSES = 20
"""Queries that have a process each."""


@dataclass(frozen=True)
class Cost:
    """What a way of asking took."""

    queries: int
    wall: float
    processor: float
    """Seconds of all threads of the engine."""

    def line(self, name: str) -> str:
        """Return the cost as a row of a table."""
        rate = self.queries / self.wall
        return f"| {name} | {self.queries:,} | {self.wall:.1f} | {self.processor:.1f} | {rate:.1f} |"


def random_queries(game: str, count: int, visits: int) -> list[str]:
    """Return queries for positions some random moves into a game, none of them over."""
    queries: list[str] = []
    while len(queries) < count:
        rng = random.Random(len(queries))
        state = ht.load_game(game).new_initial_state()
        moves: list[str] = []
        for _ in range(rng.randrange(MOST_PLIES)):
            action = rng.choice(state.legal_actions().tolist())
            if state.child(action).outcome() is not None:
                break
            moves.append(move_text(state, action))
            state.apply(action)
        query = {"id": str(len(queries)), "game": game, "moves": moves, "maxVisits": visits}
        queries.append(f"{json.dumps(query)}\n")
    return queries


def all_at_once(command: list[str], queries: list[str]) -> list[str]:
    """Write all queries, then read all answers."""
    done = subprocess.run(command, input="".join(queries), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def one_by_one(command: list[str], queries: list[str]) -> list[str]:
    """Write each query when the one before is answered."""
    answers = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        for query in queries:
            engine.stdin.write(query)
            engine.stdin.flush()
            answers.append(engine.stdout.readline().rstrip("\n"))
        engine.stdin.close()
    return answers


def a_process_each(command: list[str], queries: list[str]) -> list[str]:
    """Start an engine for each query."""
    return [answer for query in queries for answer in all_at_once(command, [query])]


def processor_seconds() -> float:
    """Return the processor seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


Way = Callable[[list[str], list[str]], list[str]]
"""Gives an engine's command queries, and returns its answers."""


def measured(way: Way, command: list[str], queries: list[str]) -> tuple[list[str], Cost]:
    """Return the sorted answers of a way of asking, and its cost."""
    began = time.perf_counter()
    before = processor_seconds()
    answers = sorted(way(command, queries))
    return answers, Cost(len(queries), time.perf_counter() - began, processor_seconds() - before)


def main() -> int:
    """Measure, print a table; the exit status is 1 where answers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="chess")
    parser.add_argument("--net", default=None)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    command = [sys.executable, "-m", "hauteur.cli", "analysis", "--precision=float32", f"--threads={given.threads}"]
    if given.net is not None:
        command.append(f"--net={given.net}")
    queries = random_queries(given.game, given.queries, given.visits)
    together, cost = measured(all_at_once, command, queries)
    print(cost.line("all at once"), flush=True)
    alone, cost = measured(one_by_one, command, queries)
    print(cost.line("one by one"), flush=True)
    few, cost = measured(a_process_each, command, queries[:PROCESSES])
    print(cost.line("a process each"), flush=True)
    same = together == alone and set(few) <= set(together)
    print("the answers are the same" if same else "THE ANSWERS DIFFER")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
