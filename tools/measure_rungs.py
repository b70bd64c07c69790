"""Measure the rungs of the ladder: `python tools/measure_rungs.py FOLDER --games 400`.

The rungs are those of the table (hauteur/matches/rungs/chess.toml) in their order. Neighbours and next-but-one
neighbours play pairs of games from the file of openings; one fit with the anchor gives all ratings, and the table is
written anew, in their order. The folder keeps the games: an interrupted run goes on, more --games add to them.

    python tools/measure_rungs.py FOLDER --games 40            # plays and fits
    python tools/measure_rungs.py FOLDER --games 0             # fits what is there
    python tools/measure_rungs.py FOLDER --openings 500        # makes the file of openings anew
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import numpy as np
import tomli_w

import hauteur as ht
from hauteur.games.registry import load_game
from hauteur.matches.match_result import MatchResult
from hauteur.matches.openings import random_opening
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.rating_list import Encounter, RatingList
from hauteur.matches.rungs.climb import stockfish_version
from hauteur.matches.rungs.plain_pgn import plain_pgn, sha256_of_text
from hauteur.matches.rungs.table import Pair, RatedRung, RungTable, nets_of, openings_path, read_table, table_path
from hauteur.system.files import sha256_of, write_bytes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "ratings.md"
BEGIN, END = "<!-- rungs -->", "<!-- end of the rungs -->"
STEP = 40
"""Games that each pair plays before the next one has its turn."""
PLIES, EVEN, NODES = 4, 60, 20_000
"""Random plies of an opening, the most centipawns that it may be uneven, nodes of that judgement."""


def neighbours(rungs: tuple[RatedRung, ...]) -> Iterator[tuple[RatedRung, RatedRung]]:
    """Yield each rung with the next one and the next but one."""
    for index, rung in enumerate(rungs):
        for other in rungs[index + 1 : index + 3]:
            yield rung, other


def known_pairs(table: RungTable, folder: Path) -> list[tuple[RatedRung, RatedRung]]:
    """Return the pairs that have games in the folder; their neighbourhood may be that of an earlier order."""
    rungs = {rung.name: rung for rung in table.rung}
    names = [place.parent.name.split("~") for place in sorted(folder.glob("*~*/games.jsonl"))]
    return [(rungs[a], rungs[b]) for a, b in names if a in rungs and b in rungs]


def play(table: RungTable, folder: Path, a: RatedRung, b: RatedRung, games: int, stockfish: str | None) -> MatchResult:
    """Return the match of two rungs with at least so many games, the missing ones played."""
    place = folder / f"{a.name}~{b.name}"
    file = place / "games.jsonl"
    there = len(file.read_bytes().splitlines()) if file.exists() else 0
    wanted = max(games, there + there % 2)
    return ht.play_match(
        ht.Player.of(a.settings(stockfish)),
        ht.Player.of(b.settings(stockfish)),
        table.game,
        games=wanted,
        seed=table.seed,
        openings=openings_path(table.game),
        max_plies=table.max_plies,
        parallel=2,
        threads=1,
        out=place,
        progress=False,
    )


def pair_of(match: MatchResult, a: RatedRung, b: RatedRung) -> Pair:
    """Return the row of a pair."""
    record = match.match.tally.different.record
    pgn = plain_pgn(match.match.game, [(game, (a.name, b.name)) for game in match.games], "hauteur rungs")
    counts = {"wins": record.wins, "draws": record.draws, "losses": record.losses}
    return Pair(a=a.name, b=b.name, **counts, sha256=sha256_of_text(pgn))


def fitted(table: RungTable, matches: list[tuple[RatedRung, RatedRung, MatchResult]]) -> RatingList:
    """Return the ratings of all rungs that have games."""
    records = [(a.name, b.name, match.match.tally.different.record) for a, b, match in matches]
    return rating_list([Encounter(*one) for one in records], anchors={table.anchor: table.anchor_elo})


def rated(table: RungTable, matches: list[tuple[RatedRung, RatedRung, MatchResult]]) -> tuple[RatedRung, ...]:
    """Return the rungs with their ratings, the weakest first."""
    found = {rating.name: rating for rating in fitted(table, matches).ratings}
    rungs = []
    for rung in table.rung:
        rating = found[rung.name]
        low, high = rating.interval()
        numbers = {"elo": round(rating.elo, 1), "low": round(low, 1), "high": round(high, 1)}
        rungs.append(rung.model_copy(update={**numbers, "games": rating.record.games}))
    return tuple(sorted(rungs, key=lambda rung: rung.rating))


def measured(table: RungTable, matches: list[tuple[RatedRung, RatedRung, MatchResult]], version: str) -> RungTable:
    """Return the table with ratings and the check sums of the games."""
    return table.model_copy(
        update={
            "rung": rated(table, matches),
            "pair": tuple(pair_of(match, a, b) for a, b, match in matches),
            "stockfish": version,
            "nets": nets_of(table),
            "openings_sha256": sha256_of(openings_path(table.game)),
        }
    )


def write_page(table: RungTable) -> None:
    """Renew the rungs in the reference."""
    rows = ["| Elo | 95 % interval | games | rung | player |", "|---|---|---|---|---|"]
    for rung in reversed(table.rung):
        interval = "anchor" if rung.name == table.anchor else f"{rung.low:.0f} to {rung.high:.0f}"
        rows.append(f"| {rung.rating:.0f} | {interval} | {rung.games:,} | `{rung.name}` | `{rung.player}` |")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    write_bytes(PAGE, f"{before}{BEGIN}\n{chr(10).join(rows)}\n{END}{after}".encode())


def write(table: RungTable, path: Path) -> None:
    """Write the table with the command that made it."""
    head = "# tools/measure_rungs.py: each with the next two, one Bradley-Terry fit with one anchor.\n\n"
    write_bytes(path, (head + tomli_w.dumps(table.model_dump(mode="json", exclude_none=True))).encode())


def show(rungs: tuple[RatedRung, ...], matches: list[tuple[RatedRung, RatedRung, MatchResult]]) -> None:
    """Print the rungs, and the score of each against the next two."""
    for rung in rungs:
        interval = f"[{rung.low:7.1f}, {rung.high:7.1f}]"
        print(f"{rung.rating:7.1f} {interval} {rung.games:6} games  {rung.name}: {rung.player}")
    for a, b, match in matches:
        low, high = match.score_interval
        score = f"{1 - match.score:.1%} [{1 - high:.1%}, {1 - low:.1%}]"
        print(f"{b.name} scores {score} of {len(match.games)} against {a.name}")
    sys.stdout.flush()


def make_openings(table: RungTable, count: int, stockfish: str) -> None:
    """Write a file of different openings of random plies that Stockfish calls even."""
    game = load_game(table.game)
    random = np.random.default_rng(table.seed)
    found: dict[str, str] = {}
    with chess.engine.SimpleEngine.popen_uci(stockfish) as engine:
        while len(found) < count:
            board = chess.Board()
            moves = []
            state = game.new_initial_state()
            for action in random_opening(game, PLIES, random):
                moves.append(state.action_to_text(action))
                state.apply(action)
                board.push_uci(moves[-1])
            info = engine.analyse(board, chess.engine.Limit(nodes=NODES), game=object())
            if abs(info["score"].white().score(mate_score=100_000)) <= EVEN:
                found.setdefault(board.epd(), " ".join(moves))
    head = f"# {count} openings of {PLIES} random plies, seed {table.seed}, within {EVEN} centipawns at {NODES} nodes\n"
    write_bytes(openings_path(table.game), (head + "\n".join(found.values()) + "\n").encode())


def main() -> None:
    """Play, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the games are kept")
    parser.add_argument("--games", type=int, default=400, help="of each pair of rungs (default: 400)")
    parser.add_argument("--openings", type=int, help="make a file of so many openings, and stop")
    parser.add_argument("--stockfish", default="stockfish", help="the program")
    parser.add_argument("--table", type=Path, default=table_path())
    given = parser.parse_args()
    table = read_table(given.table)
    if given.openings:
        make_openings(table, given.openings, given.stockfish)
        return
    version = stockfish_version(table, given.stockfish)
    for games in [*range(STEP, given.games, STEP), given.games]:
        for a, b in neighbours(table.rung):
            if games and play(table, given.folder, a, b, games, given.stockfish).interrupted:
                return
        print(f"{games} games a pair", flush=True)
    pairs = known_pairs(table, given.folder)
    matches = [(a, b, play(table, given.folder, a, b, 0, given.stockfish)) for a, b in pairs]
    found = measured(table, matches, version)
    show(found.rung, matches)
    write(found, given.table)
    if given.table == table_path():
        write_page(found)


if __name__ == "__main__":
    main()
