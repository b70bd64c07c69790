"""Positions for experiments, mined from games of even matches of chess: mates in few moves, balanced endings.

    python experiments/position_sets.py mates runs/experiments        # writes mates.epd of the experiments
    python experiments/position_sets.py endings runs/experiments      # the same for endings.epd

The folder has the runs that RUNS names, played again by their commands or taken from the history
(docs/experiments/results/README.md says how).

Both are drawn by a fixed seed, at most one position a game. A mate was given in the game by checks and is forced by
checks; its best moves are all checks that force it in as many moves. An ending has 8 to 12 pieces, kings included, no
check and no capture just made; its game was drawn, all its searches from there found it even, and one more game of PUCT
from it was drawn: the set is for a regime of many draws, so it is chosen by them, and games of other seeds from it are
drawn less often.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess

import hauteur as ht
from hauteur_experiments.kept import match_folders
from hauteur_experiments.search_contempt.settings import HYBRID

FOLDER = Path(__file__).resolve().parent / "src" / "hauteur_experiments"
MATCHES = ("validation-1900", "fpu-1900", "q-average-1900", "cpuct-1900")
SELF_PLAY = ("contempt-wdl-1900", "temperature-wdl-1900", "odds-models-even-1500-100", "odds-models-even-1500-400")
RUNS = {"mates": MATCHES, "endings": MATCHES + SELF_PLAY}
"""Runs of maia-1900 in chess without odds, by the set that is mined from them, as they were on 26 November 2026."""

SEED = 1
MATES = (2, 3, 4, 5)
MATES_EACH = 50
LEAST_PIECES = 8
MOST_KNOWN = 2_000
MOST_BEST = 3
"""A mate that more moves give is no question."""

ENDINGS = 300
PIECES = range(8, 13)
VISITS, DRAWING_SEED = 30, 9001
"""Of the games by which endings are chosen: few visits, so that the draw is easy to hold."""

EVEN, STAYS = 40, 12
"""Centipawns that the value is from 0 at most, to the end of the game, and the plies to there at least."""


def games(name: str, runs: Path) -> Iterator[dict[str, Any]]:
    """Yield the games of the runs for a set, as their files have them. ValueError for a run without games."""
    for run in RUNS[name]:
        folders = match_folders(runs / run)
        if not folders:
            raise ValueError(f"{runs / run} has no games; the set {name!r} is mined from {', '.join(RUNS[name])}")
        for folder in folders.values():
            for line in (folder / "games.jsonl").read_text(encoding="utf-8").splitlines():
                if line.endswith("}"):
                    yield json.loads(line)


def drawn(name: str, runs: Path) -> Iterator[dict[str, Any]]:
    """Yield the games in a random order that is always the same; of equal ones the last."""
    every = list({one["moves"]: one for one in games(name, runs)}.values())
    for number in ht.stream(SEED, name).permutation(len(every)):
        yield every[number]


def positions(game: dict[str, Any]) -> list[ht.State]:
    """The positions of a game, the start first."""
    state = ht.load_game("chess").new_initial_state()
    found = [state.copy()]
    for move in f"{game.get('opening', '')} {game['moves']}".split():
        state.apply_text(move)
        found.append(state.copy())
    return found


def mates(runs: Path) -> list[str]:
    """Mates by their number of moves, MATES_EACH of each as far as the games have them, the long ones sought first."""
    found: dict[int, list[str]] = {n: [] for n in MATES}
    for game in drawn("mates", runs):
        states = positions(game)
        free = [n for n in reversed(MATES) if len(found[n]) < MATES_EACH and len(states) >= 2 * n]
        for n in free if game["end"] == "checkmate" else ():
            checks = all(chess.Board(state.fen).is_check() for state in states[1 - 2 * n :: 2])
            if checks and pieces(states[-2 * n]) >= LEAST_PIECES and (line := mate(states[-2 * n], n)):
                found[n].append(line)
                print(f"{sum(map(len, found.values()))}: {line}", flush=True)
                break
    return [line for n in MATES for line in found[n]]


def mate(state: ht.State, n: int) -> str:
    """A position as a line of EPD where checks mate in n moves and not in fewer, by MOST_BEST first moves or fewer.

    Empty for another, and for one that is too long to prove.
    """
    board = chess.Board(state.fen)
    known = dict[tuple[str, int], bool]()
    try:
        best = [] if checks_that_mate(board, n - 1, known) else checks_that_mate(board, n, known)
    except OverflowError:
        return ""
    moves = " ".join(map(board.san, best))
    return f"{fields(state)} bm {moves}; dm {n};" if 0 < len(best) <= MOST_BEST else ""


def checks_that_mate(board: chess.Board, n: int, known: dict[tuple[str, int], bool]) -> list[chess.Move]:
    """The checks of the player to move after which checks mate within n moves, this one included."""
    found = []
    for move in list(board.legal_moves) if n else ():
        if board.gives_check(move):
            board.push(move)
            if is_mated(board, n - 1, known):
                found.append(move)
            board.pop()
    return found


def is_mated(board: chess.Board, n: int, known: dict[tuple[str, int], bool]) -> bool:
    """Return whether the player in check is mated, or will be by n more checks whatever is replied.

    OverflowError for more than MOST_KNOWN positions.
    """
    key = board.epd(), n
    if key not in known:
        if len(known) > MOST_KNOWN:
            raise OverflowError
        known[key] = True
        for reply in list(board.legal_moves):
            board.push(reply)
            known[key] = bool(checks_that_mate(board, n, known))
            board.pop()
            if not known[key]:
                break
    return known[key]


def fields(state: ht.State) -> str:
    """The first four fields of the FEN."""
    return " ".join(state.fen.split()[:4])


def endings(runs: Path) -> list[str]:
    """Even endings in a random order, no two alike, from which PUCT draws; of more than ENDINGS the first."""
    found: dict[str, None] = {}
    for game in drawn("endings", runs):
        new = [line for state in even(game) if (line := fields(state)) not in found] if game["score"] == 0.5 else []
        if new:
            found[new[int(ht.stream(SEED, "ply", len(found)).integers(len(new)))]] = None
    lines = list(found)
    words = f"net=maia-1900 visits={VISITS} {HYBRID}"
    options: Any = {"colours": "first", "threads": 1, "progress": False}
    match = ht.play_match(words, words, "chess", games=len(lines), seed=DRAWING_SEED, openings=lines, **options)
    kept = [line for line, game in zip(lines, match.games, strict=True) if game.score == 0.5]
    print(f"{len(kept)} of {len(lines)} endings were drawn")
    return [f'{line} c0 "{sum(map(str.isalpha, line.split()[0]))} pieces";' for line in kept[:ENDINGS]]


def even(game: dict[str, Any]) -> Iterator[ht.State]:
    """Yield the positions without a check, after no capture, from which the searches found the game even to its end."""
    states = positions(game)
    first = len(game.get("opening", "").split())
    for ply in range(first, len(states) - STAYS):
        values = game["centipawns"][ply - first :]
        if max(map(abs, values)) <= EVEN and pieces(states[ply]) in PIECES and is_quiet(states[ply - 1], states[ply]):
            yield states[ply]


def is_quiet(before: ht.State, state: ht.State) -> bool:
    """Return whether the move that led to a position was no capture and gave no check."""
    return pieces(before) == pieces(state) and not chess.Board(state.fen).is_check()


def pieces(state: ht.State) -> int:
    """Pieces on the board, kings included."""
    return sum(sign.isalpha() for sign in state.fen.split()[0])


def main(words: list[str]) -> int:
    """Write a set."""
    makers = {"mates": mates, "endings": endings}
    if len(words) != 2 or words[0] not in makers:
        given = " ".join(words)
        print(f"expected a set ({', '.join(makers)}) and the folder of the runs, got {given!r}", file=sys.stderr)
        return 2
    name, runs = words
    try:
        lines = makers[name](Path(runs))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    (FOLDER / f"{name}.epd").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
