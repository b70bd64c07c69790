"""The rules of every game beside a second implementation, along random games, ply by ply.

    python checks/fuzz_rules.py --plies 10000                         every game
    python checks/fuzz_rules.py --plies 100000 --games chess go5 --seed 1

Compared at every position: the legal moves, the player to move, whether and how the game is over (repetition and
counters of plies included, where the game has them), and in chess the notations of every move, the FEN and earlier
occurrences. Every move is also taken back and played again. The others are python-chess; OpenSpiel (pip install
open-spiel); Fairy-Stockfish (pip install pyffish) for minichess; and for NoGo the rules as written here. Prints a line
a game and exits with status 1 where they differ, naming the moves that lead there.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence

import chess

from hauteur._core import Game, State
from rule_peers import ChessPeer, GoPeer, MinichessPeer, NoGoPeer, Peer, SpielPeer, same

SHUFFLES = (0.0, 0.0, 0.6)
"""Chances, by game, that a player takes its last move back where it can, so that positions come back."""


def pieces_on(draws: random.Random, columns: int, rows: int, kinds: str) -> str:
    """Return the board of a FEN with two kings and up to seven pieces at random; pawns stay off the last ranks."""
    squares = draws.sample(range(columns * rows), draws.randint(2, 9))
    cells = ["."] * (columns * rows)
    for number, square in enumerate(squares):
        is_edge = square // columns in (0, rows - 1)
        cells[square] = "Kk"[number] if number < 2 else draws.choice("NBRQnbrq" if is_edge else kinds)
    lines = ["".join(cells[row * columns : (row + 1) * columns]) for row in range(rows)]
    for run in range(columns, 0, -1):
        lines = [line.replace("." * run, str(run)) for line in lines]
    return "/".join(lines)


def chess_start(draws: random.Random) -> tuple[Game, Peer]:
    """Return the usual start, one of Chess960, or few pieces at random with a counter of plies."""
    kind = draws.randrange(3)
    fen = chess.STARTING_FEN
    chess960 = False
    if kind == 1:
        fen = chess.Board.from_chess960_pos(draws.randrange(960)).fen()
        chess960 = True
    while kind == 2:
        fen = f"{pieces_on(draws, 8, 8, 'PNBRQpnbrqPp')} {draws.choice('wb')} - - {draws.randrange(100)} 60"
        if chess.Board(fen).is_valid():
            break
    return Game(f"chess(fen={fen}, chess960={str(chess960).lower()})"), ChessPeer(fen, chess960=chess960)


def minichess_start(draws: random.Random) -> tuple[Game, Peer]:
    """Return the usual start, or few pieces at random."""
    fen = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1"
    while draws.random() < 0.7:
        fen = f"{pieces_on(draws, 5, 5, 'PNBRQpnbrqPp')} {draws.choice('wb')} - - {draws.randrange(100)} 60"
        try:
            return Game(f"minichess(fen={fen})"), MinichessPeer(fen)
        except ValueError:
            fen = "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1"
    return Game("minichess"), MinichessPeer(fen)


def fixed(spec: str, peer: Callable[[], Peer]) -> Callable[[random.Random], tuple[Game, Peer]]:
    """Return what starts a game that always begins in one way."""
    return lambda _draws: (Game(spec), peer())


def spiel(spec: str, name: str) -> Callable[[random.Random], tuple[Game, Peer]]:
    """Return what starts a game whose actions OpenSpiel numbers in the same way."""
    return fixed(spec, lambda: SpielPeer(name, lambda action: action))


def go(size: int, komi: float) -> Callable[[random.Random], tuple[Game, Peer]]:
    """Return what starts a game of Go."""
    return fixed(f"go(size={size},komi={komi:g})", lambda: GoPeer(size, komi))


STARTS: dict[str, Callable[[random.Random], tuple[Game, Peer]]] = {
    "chess": chess_start,
    "minichess": minichess_start,
    "tictactoe": spiel("tictactoe", "tic_tac_toe"),
    "connect4": spiel("connect4", "connect_four"),
    "connect4-5x4": spiel("connect4(columns=5,rows=4)", "connect_four(columns=5,rows=4)"),
    "othello": spiel("othello", "othello"),
    **{f"hex{n}": spiel(f"hex(size={n})", f"hex(board_size={n})") for n in (3, 7, 11)},
    **{f"gomoku{n}": spiel(f"gomoku(size={n})", f"mnk(m={n},n={n},k=5)") for n in (5, 9, 15)},
    **{f"go{n}": go(n, komi) for n, komi in ((2, 1.0), (3, 0.5), (5, 0.0), (9, 7.5))},
    "nogo3": fixed("nogo(size=3)", lambda: NoGoPeer(3, 3)),
    "nogo4x7": fixed("nogo(rows=4,cols=7)", lambda: NoGoPeer(4, 7)),
    "nogo9": fixed("nogo", lambda: NoGoPeer(9, 9)),
}


def play(name: str, seed: int) -> int:
    """Play one game in both; return its plies. Raise AssertionError with the moves where they differ."""
    draws = random.Random(f"{name} {seed}")
    game, peer = STARTS[name](draws)
    state = game.new_initial_state()
    shuffle = draws.choice(SHUFFLES)
    texts = list[str]()
    try:
        peer.check(state)
        while state.outcome() is None:
            legal = state.legal_actions().tolist()
            action = back_again(state, texts, legal) if draws.random() < shuffle else None
            action = draws.choice(legal) if action is None else action
            texts.append(state.action_to_text(action))
            peer.apply(action, state)
            before = state.copy()
            key = state.key
            state.apply(action)
            undone = state.copy()
            same("action taken back", undone.undo(), action)
            same("position after a move taken back", (undone == before, undone.key), (True, key))
            peer.check(state)
    except (AssertionError, ValueError) as error:
        raise AssertionError(f"seed {seed}, {game.spec}, moves {' '.join(texts)}: {error}") from error
    return len(texts)


def back_again(state: State, texts: Sequence[str], legal: Sequence[int]) -> int | None:
    """Return the action that takes the mover's last move back, where it is a legal one of chess or minichess."""
    if len(texts) < 2 or len(texts[-2]) != 4 or not state.game.has_fen:
        return None
    text = texts[-2][2:] + texts[-2][:2]
    return next((action for action in legal if state.action_to_text(action) == text), None)


def main(words: Sequence[str] | None = None) -> int:
    """Compare the games; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--plies", type=int, default=1_000, help="positions of each game, at least")
    parser.add_argument("--games", nargs="+", choices=tuple(STARTS), default=list(STARTS))
    parser.add_argument("--seed", type=int, default=0, help="of the first game; the others follow")
    given = parser.parse_args(words)
    wrong = 0
    for name in given.games:
        plies = 0
        games = 0
        found = list[str]()
        began = time.process_time()
        while plies < given.plies and len(found) < 3:
            try:
                plies += play(name, given.seed + games)
            except ImportError as error:
                found.append(f"not compared: {error}")
                break
            except AssertionError as error:
                found.append(str(error))
            games += 1
        seconds = time.process_time() - began
        verdict = "DIFFERS" if found else "agrees"
        print(f"{name:12} {games:>8,} games {plies:>9,} plies {seconds:>7.1f} CPU s  {verdict}")
        print("".join(f"  {line}\n" for line in found), end="", flush=True)
        wrong += len(found)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
