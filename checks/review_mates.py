r"""Count the short mates of games that `hauteur review` marks: those that a player missed, and those that one allowed.

    python checks/review_mates.py find games.pgn --engine stockfish --out mates.json
    python checks/review_mates.py count mates.json --net chess --visits 800

`find` takes the first such move of each game, until there are `--games`: missed is a mate in three or fewer that the
mover had and, after the move, has no more at any length; allowed is one that the other player has after the move and
neither had before. The core's exact search proposes them, with a limit far above that of a review, and a UCI engine
must agree, at a fixed number of nodes. `count` reviews these moves and prints how many are marked.
Games of weak players come from

    hauteur match "net=maia-1100 visits=2 temperature=1" "net=maia-1500 visits=2 temperature=1" \
        --games 260 --seed 7 --pgn games.pgn
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.engine
import chess.pgn

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.games.game_line import TaggedGame
from hauteur.games.played_game import position_after
from hauteur.mcts.limits import Limits
from hauteur.networks.names import resolve_net
from hauteur.studies.review.games import ReviewedGame, games_of_text
from hauteur.studies.review.run import ReviewRun

LONGEST_MATE = 3
"""Moves of the mates that are looked for."""

MOST_POSITIONS = 5_000_000
"""Positions of a search for them."""


def games_in(path: Path) -> Iterator[chess.pgn.Game]:
    """Yield the games of a file."""
    with path.open(encoding="utf-8") as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            yield game


def short_mate(board: chess.Board) -> int:
    """Return the moves to the mate that the player to move has within LONGEST_MATE moves; 0 without one."""
    line = _core.forced_win(_core.position_of(board), LONGEST_MATE, nodes=MOST_POSITIONS) or []
    return (len(line) + 1) // 2


def seen_mate(engine: chess.engine.SimpleEngine, board: chess.Board, nodes: int) -> int:
    """Return the moves to the mate that an engine sees for the player to move (> 0) or against it (< 0); 0 without."""
    if board.is_checkmate():
        return -1
    score = engine.analyse(board, chess.engine.Limit(nodes=nodes))["score"].relative
    return score.mate() or 0


def event_of(engine: chess.engine.SimpleEngine, game: chess.pgn.Game, nodes: int) -> dict[str, Any] | None:
    """Return ply and kind of the first move of a game that misses or allows a short mate; None without one."""
    board = game.board()
    before = short_mate(board)
    for ply, move in enumerate(game.mainline_moves()):
        earlier = board.copy()
        board.push(move)
        if board.is_game_over(claim_draw=True):
            return None
        after = short_mate(board)
        if before and seen_mate(engine, earlier, nodes) > 0 and seen_mate(engine, board, nodes) >= 0:
            return {"ply": ply, "kind": "missed", "mate": before}
        if after and not before and seen_mate(engine, earlier, nodes) == 0 and seen_mate(engine, board, nodes) > 0:
            return {"ply": ply, "kind": "allowed", "mate": after}
        before = after
    return None


def find(path: Path, out: Path, program: str, nodes: int, most: int) -> None:
    """Write games with such a move, as UCI moves, and the move."""
    found: list[dict[str, Any]] = []
    seen = 0
    with chess.engine.SimpleEngine.popen_uci(program) as engine:
        for game in games_in(path):
            seen += 1
            print(f"{len(found)} of {seen} games", end="\r", file=sys.stderr, flush=True)
            event = event_of(engine, game, nodes)
            if event is not None:
                pgn = game.accept(
                    chess.pgn.StringExporter(columns=None, headers=True, variations=False, comments=False)
                )
                found.append({**event, "pgn": pgn})
            if len(found) == most:
                break
    out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"{out}: {len(found)} games, {dict(Counter(one['kind'] for one in found))}")


def count(path: Path, net: str, visits: int) -> int:
    """Review the moves and print which are marked; return the number of those that are not."""
    events = json.loads(path.read_text(encoding="utf-8"))
    games = games_of_text("\n\n".join(event["pgn"] for event in events), "chess", on_bad=print)
    parts = [part_of(game, event["ply"]) for event, game in zip(events, games, strict=True)]
    run = ReviewRun("games", "", parts, NetChoice(resolve_net(net).path), Limits(visits=visits))
    for game in run.run():
        print(f"{game.number}/{len(games)}", end="\r", file=sys.stderr, flush=True)
    of_kind: Counter[str] = Counter()
    marked: Counter[str] = Counter()
    for event, part in zip(events, parts, strict=True):
        move = part.moves[0]
        of_kind[event["kind"]] += 1
        if move.mark:
            marked[event["kind"]] += 1
        else:
            print(f"game {part.number}: {move.number} {move.text} {event['kind']} mate in {event['mate']}: not marked")
    for kind, number in of_kind.items():
        print(f"{kind}: {marked[kind]} of {number} marked")
    print(f"all: {marked.total()} of {of_kind.total()} marked, {visits} visits of {net} a position")
    return of_kind.total() - marked.total()


def part_of(game: ReviewedGame, ply: int) -> ReviewedGame:
    """Return a game from one of its moves on, with the two moves that follow: its review is that in the whole game."""
    start = position_after(game.start, game.actions[:ply])
    return ReviewedGame(game.number, TaggedGame(game.actions[ply : ply + 3], {}), start)


def main() -> int:
    """Run one of the two steps; status 1 where a move of the set is not marked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    finding = steps.add_parser("find")
    finding.add_argument("file", type=Path)
    finding.add_argument("--out", type=Path, required=True)
    finding.add_argument("--engine", default="stockfish")
    finding.add_argument("--nodes", type=int, default=100_000)
    finding.add_argument("--games", type=int, default=100)
    counting = steps.add_parser("count")
    counting.add_argument("file", type=Path)
    counting.add_argument("--net", default="chess")
    counting.add_argument("--visits", type=int, default=800)
    given = parser.parse_args()
    if given.step == "find":
        find(given.file, given.out, given.engine, given.nodes, given.games)
        return 0
    return int(count(given.file, given.net, given.visits) > 0)


if __name__ == "__main__":
    sys.exit(main())
