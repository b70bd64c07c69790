"""Measure the rungs of the ladder: `python tools/measure_rungs.py FOLDER --games 400 --within 25`.

The rungs are those of the table (hauteur/matches/rungs/chess.toml) in their order. First all neighbours play pairs of
games from the file of openings. One fit with the anchor gives all ratings. Then, until every 95 % interval is narrow
enough, those two rungs go on whose games tell most about the rung with the widest interval: they are up to REACH places
and FAR Elo apart. The table is written anew, in the order of the ratings. The folder keeps the games: an interrupted
run goes on where it was.

    python tools/measure_rungs.py FOLDER --games 40 --within 100   # a short one
    python tools/measure_rungs.py FOLDER --games 0 --within 1000   # fits what is there
    python tools/measure_rungs.py FOLDER --openings 3000           # makes the file of openings anew
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import chess
import chess.engine
import numpy as np
import tomli_w

import hauteur as ht
from hauteur.games.registry import load_game
from hauteur.matches.match_result import MatchResult
from hauteur.matches.openings import random_opening
from hauteur.matches.ratings.bradley_terry import expected, rating_list
from hauteur.matches.ratings.rating_list import Encounter, RatingList
from hauteur.matches.rungs.climb import stockfish_version
from hauteur.matches.rungs.plain_pgn import plain_pgn, sha256_of_text
from hauteur.matches.rungs.table import Z95, Pair, RatedRung, RungTable, nets_of, openings_path, read_table, table_path
from hauteur.system.files import sha256_of, write_bytes

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "ratings.md"
BEGIN, END = "<!-- rungs -->", "<!-- end of the rungs -->"
STEP = 600
"""Games that a pair of rungs plays before the next one has its turn."""
REACH, FAR = 5, 350
"""Places in the table and Elo by which two rungs that play each other are apart at the most, neighbours aside.

Games of rungs far from each other carry a scale further than those of neighbours; a result near 100 % depends on the
form of the model.
"""
Match = tuple[RatedRung, RatedRung, MatchResult]
"""Two rungs and their games."""
PLIES, EVEN, NODES = 4, 60, 20_000
"""Random plies of an opening, the most centipawns that it may be uneven, nodes of that judgement."""


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
        parallel=4,
        threads=1,
        workers=2,
        out=place,
        progress=False,
    )


def pair_of(match: MatchResult, a: RatedRung, b: RatedRung) -> Pair:
    """Return the row of a pair."""
    record = match.match.tally.different.record
    pgn = plain_pgn(match.match.game, [(game, (a.name, b.name)) for game in match.games], "hauteur rungs")
    counts = {"wins": record.wins, "draws": record.draws, "losses": record.losses}
    return Pair(a=a.name, b=b.name, **counts, sha256=sha256_of_text(pgn))


def fitted(table: RungTable, matches: Iterable[Match]) -> RatingList:
    """Return the ratings of all rungs that have games."""
    records = [(a.name, b.name, match.match.tally.different.record) for a, b, match in matches]
    return rating_list([Encounter(*one) for one in records], anchors={table.anchor: table.anchor_elo})


def half_interval(found: RatingList) -> tuple[str, float]:
    """Return the rung with the widest 95 % interval and half of its width in Elo."""
    widest = max(found.ratings, key=lambda rating: rating.deviation)
    return widest.name, Z95 * widest.deviation


def most_telling(table: RungTable, found: RatingList) -> tuple[RatedRung, RatedRung]:
    """Return the two rungs whose next games shorten the widest interval most.

    A game of the rungs i and j with information w makes the variance of the rung k smaller by about
    w (C[k, i] - C[k, j])^2, where C is the covariance of the ratings and w the variance of the score.
    """
    place = {rating.name: index for index, rating in enumerate(found.ratings)}
    elo = {rating.name: rating.elo for rating in found.ratings}
    widest, _ = half_interval(found)
    of_widest = found.covariance[place[widest]]

    def gain(pair: tuple[RatedRung, RatedRung]) -> float:
        a, b = (rung.name for rung in pair)
        win, draw, _ = expected(elo[a] - elo[b], found.draws)
        variance = win + draw / 4 - (win + draw / 2) ** 2
        return variance * float(of_widest[place[a]] - of_widest[place[b]]) ** 2

    return max(possible_pairs(table, elo), key=gain)


def possible_pairs(table: RungTable, elo: dict[str, float]) -> Iterator[tuple[RatedRung, RatedRung]]:
    """Yield neighbours, and those that are at most REACH places and FAR Elo apart."""
    for index, rung in enumerate(table.rung):
        for distance, other in enumerate(table.rung[index + 1 : index + 1 + REACH], start=1):
            if distance == 1 or abs(elo[rung.name] - elo[other.name]) <= FAR:
                yield rung, other


def play_all(table: RungTable, given: argparse.Namespace) -> list[Match]:
    """Return all matches of the folder with those that are missing; SystemExit where a user interrupts them."""
    pairs = known_pairs(table, given.folder)
    matches = {(a.name, b.name): (a, b, play(table, given.folder, a, b, 0, given.stockfish)) for a, b in pairs}

    def go_on(a: RatedRung, b: RatedRung, games: int) -> None:
        match = play(table, given.folder, a, b, games, given.stockfish)
        matches[a.name, b.name] = (a, b, match)
        if match.interrupted:
            raise SystemExit(1)

    for a, b in pairwise(table.rung):
        go_on(a, b, given.games)
    while True:
        found = fitted(table, matches.values())
        name, half = half_interval(found)
        games = sum(len(match.games) for _, _, match in matches.values())
        print(f"{games} games: {name} +-{half:.1f}", flush=True)
        if half <= given.within:
            return list(matches.values())
        a, b = most_telling(table, found)
        before = matches.get((a.name, b.name))
        go_on(a, b, (0 if before is None else len(before[2].games)) + STEP)


def rated(table: RungTable, matches: list[Match]) -> tuple[RatedRung, ...]:
    """Return the rungs with their ratings, the weakest first."""
    found = {rating.name: rating for rating in fitted(table, matches).ratings}
    rungs = []
    for rung in table.rung:
        rating = found[rung.name]
        low, high = rating.interval()
        numbers = {"elo": round(rating.elo, 1), "low": round(low, 1), "high": round(high, 1)}
        rungs.append(rung.model_copy(update={**numbers, "games": rating.record.games}))
    return tuple(sorted(rungs, key=lambda rung: rung.rating))


def measured(table: RungTable, matches: list[Match], version: str) -> RungTable:
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
    head = "# tools/measure_rungs.py: pairs of rungs up to 5 places apart, one Bradley-Terry fit with one anchor.\n\n"
    write_bytes(path, (head + tomli_w.dumps(table.model_dump(mode="json", exclude_none=True))).encode())


def show(rungs: tuple[RatedRung, ...], matches: list[Match], draws: float) -> None:
    """Print the rungs, the score of each pair with what the ratings expect, and chi squared of all pairs."""
    chi_squared = 0.0
    for rung in rungs:
        interval = f"[{rung.low:7.1f}, {rung.high:7.1f}]"
        print(f"{rung.rating:7.1f} {interval} {rung.games:6} games  {rung.name}: {rung.player}")
    elo = {rung.name: rung.rating for rung in rungs}
    for a, b, match in matches:
        low, high = match.score_interval
        score = f"{1 - match.score:.1%} [{1 - high:.1%}, {1 - low:.1%}]"
        win, draw, _ = expected(elo[b.name] - elo[a.name], draws)
        mean = win + draw / 2
        print(f"{b.name} scores {score} of {len(match.games)} against {a.name}, expected {mean:.1%}")
        different = match.match.tally.different.record
        variance = (win + draw / 4 - mean**2) / different.games
        chi_squared += (1 - different.score - mean) ** 2 / variance
    freedom = len(matches) - (len(rungs) - 1)
    print(f"chi squared {chi_squared:.0f} of {freedom} degrees of freedom")
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
    parser.add_argument("--games", type=int, default=400, help="of each two neighbours (default: 400)")
    parser.add_argument("--within", type=float, default=25.0, help="half of every 95 %% interval in Elo (default: 25)")
    parser.add_argument("--openings", type=int, help="make a file of so many openings, and stop")
    parser.add_argument("--stockfish", default="stockfish", help="the program")
    parser.add_argument("--table", type=Path, default=table_path())
    given = parser.parse_args()
    table = read_table(given.table)
    if given.openings:
        make_openings(table, given.openings, given.stockfish)
        return
    version = stockfish_version(table, given.stockfish)
    matches = play_all(table, given)
    found = measured(table, matches, version)
    show(found.rung, matches, fitted(table, matches).draws)
    write(found, given.table)
    if given.table == table_path():
        write_page(found)


if __name__ == "__main__":
    main()
