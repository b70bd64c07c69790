"""One process, local workers and workers on Ray learn the same: every file of games and every net, bit for bit.

    python benchmarks/cluster_equality.py                              # 0, 1 and 2 local workers, 2 on Ray
    python benchmarks/cluster_equality.py --games connect4 --ways 0 2  # 0: one process; 2: two local workers
    python benchmarks/cluster_equality.py --games connect4 --ways 0 2 ray2 --lag 1

For each game two generations with a small net and a gate. Printed: for each game and way the sha256 of all nets, of the
checkpoint's tensors and of all files of games, and the seconds. Status 1 where a way differs, with the files' names.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cluster_common import (
    differences,
    digest_of,
    left_behind,
    parser_of,
    ray_nodes,
    recipe_of,
    run_hashes,
    train,
    write_recipe,
)

GAMES: dict[str, dict[str, dict[str, Any]]] = {
    "tictactoe": {},
    "connect4": {"train": {"weight_average": 0.9}},
    "nogo(size=5)": {"selfplay": {"playout_cap": {"fast_visits": 4}}},
    "minichess": {"selfplay": {"tree_per_side": True, "resignation": {"threshold": -0.01, "moves": 2}}},
    "chess": {"selfplay": {"games": 8, "visits": 8, "shard_games": 2}, "gate": {"games": 4}},
}
"""Games, and what their recipes have besides: each some other rules of self-play."""

DEFAULT = ("connect4", "nogo(size=5)", "minichess", "chess")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=DEFAULT)
    parser.add_argument("--ways", nargs="+", default=("0", "1", "2", "ray2"), help="numbers of local workers, or rayN")
    parser.add_argument("--lag", type=int, default=0, help="selfplay.max_policy_lag")
    parser.add_argument("--generations", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = False
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        most = max((int(way[3:]) for way in options.ways if way.startswith("ray")), default=0)
        address = stack.enter_context(ray_nodes(most)).address if most else ""
        print(f"{'game':14s} {'way':6s} {'nets':16s} {'checkpoint':16s} {'games':16s} {'files':>6s} {'seconds':>8s}")
        for game in options.games:
            changes = {section: dict(values) for section, values in GAMES[game].items()}
            changes["run"] = {"generations": options.generations, "seed": options.seed}
            if options.lag:
                changes.setdefault("selfplay", {})["max_policy_lag"] = options.lag
            recipe = write_recipe(place / "recipe.toml", recipe_of(game, **changes))
            first: dict[str, str] = {}
            for way in options.ways:
                folder, began = place / f"{game}-{way}", time.monotonic()
                fleet = ["--workers", way.removeprefix("ray")]
                train(recipe, folder, *fleet, *(["--cluster", address] if way.startswith("ray") else []))
                found = run_hashes(folder)
                first = first or found
                print(row(game, way, found, time.monotonic() - began), flush=True)
                for name in [*differences(found, first), *left_behind(folder)]:
                    print(f"    differs or is left over: {name}")
                    wrong = True
    print("something differs" if wrong else "all equal")
    sys.exit(wrong)


def row(game: str, way: str, hashes: dict[str, str], seconds: float) -> str:
    """A line of the table."""
    nets = {name: value for name, value in hashes.items() if name.endswith(".safetensors")}
    games = {name: value for name, value in hashes.items() if name.startswith("games/")}
    checkpoint = hashes["checkpoint's tensors"][:16]
    return f"{game:14s} {way:6s} {digest_of(nets)} {checkpoint} {digest_of(games)} {len(games):6d} {seconds:8.1f}"


if __name__ == "__main__":
    main()
