"""The search beside lc0 itself: root visits of positions from random and from played games, with random options too.

    python checks/fuzz_lc0.py LC0 NET --blocks 10
    python checks/fuzz_lc0.py LC0 NET --blocks 600 --seed 1000 --out blocks.jsonl

LC0: program of lc0 0.31 with the backend eigen. A block is 16 games of one seed side by side: usual starts, Chess960
and few pieces with a counter of plies; moves at random, drawn from the net's policy, or taken back. Ten times in every
game both search the position, with its history, to each number of nodes: with lc0's defaults in blocks of even seeds
(SEQUENTIAL apart), else with random options. At one node the net's priors and value are compared as well. A difference
has a cause if one of TRIES searches with other roundings has lc0's visits: `ties`, equal priors in another order (lc0's
is that of an unstable sort); `inputs`, the net's inputs changed by at most NUDGE (lc0's Q is off by up to 2e-5);
`counter`, the same from LARGE plies on the fifty-move counter on, where lc0's net rounds more, at most NUDGE_THERE.
Else it is UNEXPLAINED, and status 1 comes. --out: a line of JSON a block; a block that is there is not searched again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from fuzz_rules import SHUFFLES, back_again, pieces_on  # noqa: E402
from hauteur._core import State  # noqa: E402
from hauteur.mcts.lc0_options import search_params  # noqa: E402
from reference import Leaf, Search, Value  # noqa: E402
from time_checks import Engine  # noqa: E402
from verify_lc0 import actions_of, evaluated, forest_of, grow, opened, reached, softmax  # noqa: E402

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Answers, Evaluator, Floats

SEQUENTIAL = """Backend eigen, Threads 1, TaskWorkers 0, MinibatchSize 1, MaxPrefetch 0, OutOfOrderEval false,
    SmartPruningFactor 0, CacheHistoryLength 7, NNCacheSize 2000, VerboseMoveStats true"""
"""Options with which lc0 searches one leaf after the other and evaluates every position with its own history."""

DRAWN = """CPuct 0.2 5, CPuctBase 20 40000, CPuctFactor 0 6, CPuctAtRoot 0.2 5, CPuctBaseAtRoot 20 40000,
    CPuctFactorAtRoot 0 6, RootHasOwnCpuctParams false true, FpuStrategy reduction absolute, FpuValue -1 1,
    FpuStrategyAtRoot reduction absolute same, FpuValueAtRoot -1 1, PolicyTemperature 0.4 3, DrawScore -1 1,
    HistoryFill no fen_only always, TwoFoldDraws false true, StickyEndgames false true,
    ContemptMode play white_side_analysis black_side_analysis disable, Contempt -400 400, WDLCalibrationElo 1000 3500,
    WDLDrawRateReference 0.1 0.9, WDLMaxS 0.2 2, WDLContemptAttenuation 0.1 1.5, WDLBookExitBias 0.3 1,
    WDLDrawRateTarget 0.05 0.9"""
"""Options that a block of an odd seed may have: two ends of a range, or words to choose from."""

NODES = (1, 10, 100)
GAMES = 16
ROUNDS = 10
MOST_PLIES = 9
"""MOST_PLIES: by which a game goes on between two comparisons."""

NUDGE, NUDGE_THERE, LARGE, TRIES = 1e-5, 1e-4, 20, 100
PRINTED_P, PRINTED_V = 1e-4, 5e-4
"""Differences of priors, beyond a step of their 11 bits, and of values that figures of four decimals allow."""

ROW = re.compile(r"info string (\w+) +\( *\d+ *\) N: +(\d+) .*?\(P: +([\d.]+)%\).*\(V: +(-?[\d.-]+)\)")


def asked_lc0(lc0: Engine, position: str) -> dict[int, dict[str, tuple[int, float, str]]]:
    """Visits, prior and value by move, of the root by `node`, by number of nodes; the tree grows on."""
    lc0.send("ucinewgame")
    found = {}
    for nodes in NODES:
        lc0.send(f"position {position}", f"go nodes {nodes}")
        rows = filter(None, map(ROW.match, lc0.until("bestmove")))
        found[nodes] = {row[1]: (int(row[2]), float(row[3]) / 100, row[4]) for row in rows}
    return found


class Played:
    """A game that both search on its way. command: its position in UCI."""

    def __init__(self, draws: random.Random, history_fill: str) -> None:
        self.draws = draws
        self.moves = list[str]()
        kind = draws.randrange(4)
        self.fen = "startpos"
        if kind == 2:
            self.fen = chess.Board.from_chess960_pos(draws.randrange(960)).shredder_fen()
        while kind == 3:
            self.fen = f"{pieces_on(draws, 8, 8, 'PNBRQpnbrqPp')} {draws.choice('wb')} - - {draws.randrange(100)} 60"
            if chess.Board(self.fen).is_valid() and not chess.Board(self.fen).is_game_over(claim_draw=True):
                break
        self.state = reached({"id": self.fen, "fen": self.fen}, history_fill)
        self.noise = draws.choice((0.0, 0.1, 1.0))
        self.shuffle = draws.choice(SHUFFLES)

    @property
    def command(self) -> str:
        return f"{self.fen if self.fen == 'startpos' else f'fen {self.fen}'} moves {' '.join(self.moves)}"

    def goes_on(self, logits: Any) -> bool:
        """Play a move; return whether the game goes on."""
        legal = self.state.legal_actions().tolist()
        action = back_again(self.state, self.moves, legal) if self.draws.random() < self.shuffle else None
        if action is None:
            weights = None if self.draws.random() < self.noise else softmax(logits[legal]).tolist()
            action = self.draws.choices(legal, weights)[0]
        self.moves.append(self.state.action_to_text(action))
        self.state.apply(action)
        return self.state.outcome() is None

    def shown(self, visits: Any) -> dict[str, int]:
        """Visits by move, of the moves that have any."""
        return {self.state.action_to_text(int(action)): int(visits[action]) for action in np.flatnonzero(visits)}


def drawn_options(draws: random.Random) -> dict[str, Any]:
    """Random options, most at their defaults."""
    found: dict[str, Any] = {}
    for name, *values in (part.split() for part in DRAWN.split(",")):
        if draws.random() < (0.15 if name.startswith(("WDL", "Contempt")) else 0.4):
            is_range = values[0].strip("-.0123456789") == ""
            found[name] = round(draws.uniform(*map(float, values)), 3) if is_range else draws.choice(values)
    return found


class Varied(Search):
    """A search with other roundings, each by a number: `inputs` of the net, and the order of `ties` of priors."""

    def __init__(self, state: State, options: dict[str, Any], net: Evaluator, how: str, number: int) -> None:
        super().__init__(state, search_params(options, arithmetic="lc0"))
        self.net = net
        self.how = how
        self.number = number

    def answers(self, features: Floats) -> Answers:
        """The net's answers; inputs of a position are always changed in the same way."""
        if "inputs" in self.how or "counter" in self.how:
            most = NUDGE_THERE if "counter" in self.how else NUDGE
            noise = np.random.default_rng((self.number, zlib.crc32(features.tobytes()))).uniform(-1, 1, features.shape)
            features = (features * (1 + most * noise)).astype(np.float32)
        return self.net(features)

    def _expand_and_backup(self, leaf: Leaf, priors: list[tuple[int, float]], value: Value) -> None:
        if "ties" in self.how:
            draws = random.Random(f"{self.number} {leaf.node.state.key}")
            priors = sorted(priors, key=lambda pair: (-pair[1], draws.random()))
        super()._expand_and_backup(leaf, priors, value)


def cause(state: State, options: dict[str, Any], net: Evaluator, nodes: int, visits: Any) -> str:
    """The roundings that give these visits; empty: none of TRIES does."""
    counter: Sequence[str] = ("counter", "ties and counter") if int(state.fen.split()[4]) >= LARGE else ()
    for how in ("ties", "inputs", "ties and inputs", *counter):
        for number in range(TRIES):
            search = Varied(state, options, net, how, number)
            search.run(search.answers, nodes)
            if all(edge.visits == visits[edge.action] for edge in search.root.edges):
                return how
    return ""


def compare(lc0: Engine, net: Evaluator, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Play the games of a block; return counts, the largest differences of P and V, and those of visits."""
    draws = random.Random(f"fuzz_lc0 {seed}")
    fill = options.get("HistoryFill", "fen_only")
    forest = forest_of(options)
    games = [Played(draws, fill) for _ in range(GAMES)]
    counts = Counter[str]()
    differences = list[dict[str, Any]]()
    off_p = [0.0]
    off_v = [0.0]
    for _ in range(ROUNDS):
        plies = [draws.randint(1, MOST_PLIES) for _ in games]
        for ply in range(MOST_PLIES):
            for index, (logits, _) in enumerate(list(evaluated([game.state for game in games], net))):
                if ply < plies[index] and not games[index].goes_on(logits):
                    games[index] = Played(draws, fill)
        trees = np.array([forest.add(game.state) for game in games], np.int64)
        found = [asked_lc0(lc0, game.command) for game in games]
        for nodes in NODES:
            grow(forest, trees, nodes, net)
            of_trees = (forest.root_visits(trees), forest.root_priors(trees), forest.network_values(trees))
            for game, every, own, priors, value in zip(games, found, *of_trees, strict=True):
                rows = every[nodes]
                *_, root = rows.pop("node")
                actions = actions_of({"id": game.command}, list(rows), game.state)
                visits = np.zeros_like(own)
                visits[actions] = [row[0] for row in rows.values()]
                if nodes == 1:
                    theirs = np.array([row[1] for row in rows.values()])
                    off_p.append(np.max(np.abs(priors[actions] - theirs) - theirs / 2048))
                    off_v.append(abs(value[0] - value[2] - float(root)))
                counts["searches"] += 1
                if (visits != own).any() or sorted(actions) != game.state.legal_actions().tolist():
                    fact = {"position": game.command, "nodes": nodes, "lc0": game.shown(visits), "own": game.shown(own)}
                    differences.append(fact | {"cause": cause(game.state, options, net, nodes, visits)})
        counts["positions"] += len(games)
        forest.remove(trees)
    worst = {"P": float(max(off_p)), "V": float(max(off_v))}
    return {"seed": seed, "options": options, **counts, **worst, "differences": differences}


def report(blocks: Sequence[dict[str, Any]]) -> int:
    """Print sums and what is not explained; return the exit status."""
    every = [(one["seed"], one["options"], difference) for one in blocks for difference in one["differences"]]
    causes = Counter(difference["cause"] or "UNEXPLAINED" for *_, difference in every)
    print(*(f"UNEXPLAINED: {found}\n" for found in every if not found[2]["cause"]), sep="", end="")
    positions, searches = (sum(one[name] for one in blocks) for name in ("positions", "searches"))
    prior, value = (max((one[name] for one in blocks), default=0.0) for name in "PV")
    print(f"{len(blocks)} blocks, {positions:,} positions, {searches:,} searches: {len(every)} differ {dict(causes)}")
    print(f"root: |dP| <= {prior:.1e} beyond its rounding, |dV| <= {value:.1e}")
    return int(causes["UNEXPLAINED"] > 0 or prior > PRINTED_P or value > PRINTED_V)


def main(words: Sequence[str] | None = None) -> int:
    """Compare; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lc0", type=Path, help="program")
    parser.add_argument("net", type=Path, help="file .pb.gz")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the first block; the others follow")
    parser.add_argument("--out", type=Path, help="lines of results, also of earlier calls")
    asked = parser.parse_args(words)
    lines = asked.out.read_text().splitlines() if asked.out and asked.out.exists() else []
    blocks = {one["seed"]: one for one in map(json.loads, lines)}
    program = (str(asked.lc0), f"--weights={asked.net}")
    with opened(asked.net, threads=1) as net:
        for seed in (seed for seed in range(asked.seed, asked.seed + asked.blocks) if seed not in blocks):
            options = drawn_options(random.Random(seed)) if seed % 2 else {}
            values = [*map(str.split, SEQUENTIAL.split(",")), *((name, str(value)) for name, value in options.items())]
            lc0 = Engine(*map(" value ".join, values), words=program, is_quiet=True)
            blocks[seed] = compare(lc0, net, seed, options)
            lc0.process.kill()
            if asked.out:
                with asked.out.open("a") as file:
                    file.write(json.dumps(blocks[seed]) + "\n")
    return report(list(blocks.values()))


if __name__ == "__main__":
    sys.exit(main())
