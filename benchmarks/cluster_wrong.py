"""A worker whose games are altered on purpose is found and shut out, and none of its games is kept.

    python benchmarks/cluster_wrong.py                        # three local workers, one alters every unit
    python benchmarks/cluster_wrong.py --seeds 1 2 3          # of the run, and of what is altered
    python benchmarks/cluster_wrong.py --share 0.5            # it alters each second unit, by chance
    python benchmarks/cluster_wrong.py --what match           # a match in the place of self-play

`hauteur train` and `hauteur match` themselves play, with workers of which the first alters its games so that they are
legal: only a second worker's games can show it. Printed, for each seed: the units of that worker until it was shut out
and how many of them were altered, who was shut out, its units that were played again, whether the warning was printed,
and whether all games (and nets) are those of the same command in one process. Status 1 where the worker was not found
within --most units, another one was shut out, the warning is missing, or the games differ.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path

import cluster_wrong_worker
from cluster_common import differences, parser_of, recipe_of, run_hashes, write_recipe
from hauteur.cluster.records import COMPARED, UnitEntry
from hauteur.matches.folder import MatchFolder
from hauteur.system.jsonl import Journal


@dataclass(frozen=True)
class Found:
    """What became of the wrong worker.

    units, altered: it played until then; name, right: who was shut out, and whether it was the wrong one, which
    units.jsonl names; again: of its units that were played again; kept: of those it altered that remained; warned: the
    command's user; differing: names of what is not that of one process.
    """

    units: int
    altered: int
    name: str
    right: bool
    again: int
    kept: int
    warned: bool
    differing: list[str]

    def holds(self, most: int) -> bool:
        """Whether all is as it must be."""
        return self.right and self.units <= most and self.warned and not self.kept and not self.differing


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--what", choices=("self-play", "match"), default="self-play")
    parser.add_argument("--game", default="tictactoe")
    parser.add_argument("--workers", type=int, default=3, help="3 or more: a third must decide")
    parser.add_argument("--units", type=int, default=750, help="of all workers")
    parser.add_argument("--share", type=float, default=1.0, help="of its units that the wrong worker alters")
    parser.add_argument("--compare", type=float, default=0.01, help="share of the units that are compared")
    parser.add_argument("--most", type=int, default=200, help="units of the wrong worker until it is found")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    print(
        f"{'seed':>4s} {'units':>6s} {'altered':>8s} {'again':>6s} {'kept':>5s} {'warned':>7s} {'equal':>6s}  shut out"
    )
    wrong = False
    for seed in options.seeds:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found = checked(options, seed, Path(folder))
        print(
            f"{seed:4d} {found.units:6d} {found.altered:8d} {found.again:6d} {found.kept:5d} "
            f"{'yes' if found.warned else 'no':>7s} {'no' if found.differing else 'yes':>6s}  "
            f"{found.name or 'nobody'}{'' if found.right else ', not the wrong one'}",
            flush=True,
        )
        wrong |= not found.holds(options.most)
    print("not as it must be" if wrong else f"found within {options.most} units, and all its games played again")
    sys.exit(wrong)


def checked(options: Namespace, seed: int, place: Path) -> Found:
    """Play undisturbed, then with the wrong worker."""
    alone, run = place / "alone", place / "run"
    _run([sys.executable, "-m", "hauteur.cli", *command(options, seed, place, alone)])
    workers = ["--workers", str(options.workers), "--worker-threads", "1", "--worker-compare", str(options.compare)]
    wrong = [sys.executable, cluster_wrong_worker.__file__, "command", str(place)]
    wrong += [str(options.share), str(seed), str(options.workers)]
    printed = _run([*wrong, *command(options, seed, place, run), *workers])
    units = cluster_wrong_worker.units_of(place)
    name = next((line.split()[0] for line in printed.splitlines() if " is shut out: " in line), "")
    journal = list(Journal(run / "units.jsonl", UnitEntry, "a unit").entries())
    entries = [entry for entry in journal if entry.kind == options.what]
    named = [entry for entry in journal if entry.kind.endswith(COMPARED) and entry.wrong == (name,) and not entry.equal]
    first = {entry.unit: entry.worker for entry in reversed(entries) if not entry.replaces}
    last = {entry.unit: entry.worker for entry in entries}
    changed = [index for index, changed in units if changed]
    return Found(
        units=len(units),
        altered=len(changed),
        name=name,
        right=bool(named) and any(first.get(index) == name for index in changed),
        again=sum(first[number] == name != worker for number, worker in last.items()),
        kept=sum(last.get(index) == name for index in changed),
        warned=bool(name),
        differing=differences(contents(options.what, run), contents(options.what, alone)),
    )


def command(options: Namespace, seed: int, place: Path, folder: Path) -> list[str]:
    """The command that plays. A unit is a game of self-play, or two of a match."""
    if options.what == "match":
        games = ["--games", str(2 * options.units), "--parallel", "2", "--seed", str(seed), "--out", str(folder)]
        return ["match", "net=uniform visits=8", "random", "--game", options.game, *games]
    selfplay = {"games": options.units, "visits": 4, "shard_games": 1, "parallel_games": 16, "batch_size": 16}
    recipe = recipe_of(options.game, selfplay=selfplay, gate={"by": "off"}, run={"generations": 1, "seed": seed})
    return ["train", str(write_recipe(place / "recipe.toml", recipe)), "--run", str(folder)]


def contents(what: str, folder: Path) -> dict[str, str]:
    """What is there at the end, by name."""
    if what == "self-play":
        return run_hashes(folder)
    return {
        f"game {game.index}": game.model_dump_json(exclude={"milliseconds"}) for game in MatchFolder(folder).games()
    }


def _run(words: list[str]) -> str:
    """Return what a command wrote to stderr. RuntimeError where it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}: status {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stderr


if __name__ == "__main__":
    main()
