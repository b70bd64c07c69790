"""Rates a chess net by the protocol of prophet-bench v0 (2026): Elo against six levels of Stockfish.

    python benchmarks/prophet_bench.py NET --out runs/prophet
    python benchmarks/prophet_bench.py NET --quick

The protocol: at most 256 forward passes a move; Stockfish with UCI_LimitStrength at 1320, 1500, 1700, 2000, 2300, 2600
and 100 ms a move; 60 games a level from the start position, colours alternate, 400 plies are a draw. Elo is the E with
sum n / (1 + 10^((R - E) / 400)) = points. A Stockfish whose least UCI_Elo is above 1320 plays the lowest level at that,
and the result says so.

100 ms are not 100 ms on a busy machine, and a starved Stockfish makes a net look strong: run nothing beside it.
`--nodes N` limits Stockfish by nodes instead, which does not depend on load; that is another scale, and the result
says so. `--quick` plays 10 games a level.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur.matches.ratings.elo import MatchScore, score_of_elo
from hauteur.players.engines.player import engine_command
from hauteur.players.engines.settings import EngineSettings
from hauteur.system.files import write_json

LEVELS = (1320, 1500, 1700, 2000, 2300, 2600)
GAMES, QUICK_GAMES = 60, 10
PASSES = 256
MAX_PLIES = 400
MOVE_MS = 100
SEARCH = "lower-bound.confidence=0.95 solver.lost-child-mode=zero_prior repetition.mode=inline_value"
"""Rules of the net's search beside its visits."""

Z_95 = 1.959964


@dataclass(frozen=True)
class Level:
    """Games against one level."""

    wanted: int
    """UCI_Elo of the protocol."""
    played: int
    """UCI_Elo that Stockfish played at."""
    score: MatchScore
    """Results of the net."""

    @property
    def variance(self) -> float:
        """Variance of the points, with one game of each kind added so that it is not 0 where all are alike."""
        known = self.score.plus(MatchScore(1, 1, 1))
        squares = (known.wins + known.draws / 4) / known.games
        return self.score.games * (squares - known.score**2)


def elo_of(levels: Sequence[Level], points: float) -> float:
    """Return the rating at which this number of points is expected; infinite for none or all of them."""
    games = sum(level.score.games for level in levels)
    if not 0 < points < games:
        return math.copysign(math.inf, points - games / 2)
    low = -4000.0
    high = 8000.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        expected = sum(level.score.games * score_of_elo(middle - level.played) for level in levels)
        if expected < points:
            low = middle
        else:
            high = middle
    return low


def rating(levels: Sequence[Level]) -> tuple[float, float, float]:
    """Return Elo and the ends of its interval of 95 %, from the variance of the points."""
    points = sum(level.score.points for level in levels)
    error = Z_95 * math.sqrt(sum(level.variance for level in levels))
    low, value, high = (elo_of(levels, points + step) for step in (-error, 0.0, error))
    return value, low, high


def stockfish_facts(program: str) -> tuple[str, int, int]:
    """Return the name of a Stockfish and the least and greatest UCI_Elo that it declares. ValueError for others."""
    asking = EngineSettings(protocol="uci", command=program, nodes=1)  # nodes are required, though nothing is searched
    command = engine_command(asking)
    asked = subprocess.run(command, input="uci\nquit\n", capture_output=True, text=True, check=False, timeout=30)
    name = next((line[8:] for line in asked.stdout.splitlines() if line.startswith("id name ")), "")
    words = next((line.split() for line in asked.stdout.splitlines() if "option name UCI_Elo " in line), [])
    if not name.startswith("Stockfish") or not {"min", "max"} <= set(words):
        raise ValueError(f"--stockfish {program}: expected a Stockfish with the option UCI_Elo, got {name!r}")
    return name, int(words[words.index("min") + 1]), int(words[words.index("max") + 1])


def play_level(given: argparse.Namespace, wanted: int, elo: int) -> Level:
    """Play the games against one level, going on where they were in the folder of `--out`."""
    limit = f"nodes={given.nodes}" if given.nodes else f"movetime={MOVE_MS}"
    opponent = f"uci:{given.stockfish} {limit} UCI_LimitStrength=true UCI_Elo={elo}"
    match = ht.play_match(
        f"net={given.net} visits={PASSES} {given.search}",
        opponent,
        "chess",
        games=given.games,
        seed=given.seed,
        random_plies=0,
        max_plies=MAX_PLIES,
        parallel=1 if not given.nodes else 4,
        threads=1,
        out=given.out / f"level-{wanted}" if given.out else None,
    )
    if match.interrupted:
        raise KeyboardInterrupt
    return Level(wanted, elo, MatchScore(match.wins, match.draws, match.losses))


def result_of(given: argparse.Namespace, name: str, levels: Sequence[Level]) -> dict[str, Any]:
    """Return what the file of the result has."""
    value, low, high = rating(levels)
    moved = [f"{level.wanted} played at {level.played}" for level in levels if level.wanted != level.played]
    is_official = not given.nodes and given.games == GAMES and not moved
    return {
        "protocol": "prophet-bench v0",
        "official": is_official,
        "differs": [*moved, *([f"{given.nodes} nodes a move"] if given.nodes else []), *_fewer(given)],
        "net": str(given.net),
        "search": given.search,
        "passes": PASSES,
        "stockfish": name,
        "seed": given.seed,
        "levels": [{"wanted": level.wanted, "played": level.played, **asdict(level.score)} for level in levels],
        "elo": _finite(value),
        "interval_95": [_finite(low), _finite(high)],
    }


def _fewer(given: argparse.Namespace) -> list[str]:
    return [] if given.games == GAMES else [f"{given.games} games a level"]


def _finite(value: float) -> float | None:
    return round(value, 1) if math.isfinite(value) else None


def shown(result: Mapping[str, Any]) -> str:
    """Return the result in lines: each level, then the rating and what differs from the protocol."""
    lines = [
        f"{level['wanted']:>5}  +{level['wins']} ={level['draws']} -{level['losses']}" for level in result["levels"]
    ]
    low, high = result["interval_95"]
    lines.append(f"Elo {result['elo']} [{low}, {high}], {result['stockfish']}")
    if result["differs"]:
        lines.append(f"not by the letter of the protocol: {', '.join(result['differs'])}")
    return "\n".join(lines)


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", help="file or name of a net for chess")
    parser.add_argument("--out", type=Path, help="folder of games and result.json, where an interrupted rating goes on")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_GAMES} games a level")
    parser.add_argument("--nodes", type=int, default=0, help="limit Stockfish by nodes instead of 100 ms")
    parser.add_argument("--search", default=SEARCH, help="rules of the net's search, as words of a player")
    parser.add_argument("--stockfish", default="stockfish", help="program, default the one on the path")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(words)
    given.games = QUICK_GAMES if given.quick else GAMES
    return given


def main(words: Sequence[str] | None = None) -> int:
    """Play all levels, print the result and write it."""
    given = parsed(words)
    try:
        name, least, greatest = stockfish_facts(given.stockfish)
        levels = [play_level(given, level, min(max(level, least), greatest)) for level in LEVELS]
    except (OSError, ValueError) as error:
        print(f"prophet_bench: {error}", file=sys.stderr)
        return 2
    result = result_of(given, name, levels)
    print(shown(result))
    if given.out:
        write_json(given.out / "result.json", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
