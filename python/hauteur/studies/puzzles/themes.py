"""Themes of a puzzle, by Lichess's names: those alone that follow from the rules, the line's length or its value."""

from __future__ import annotations

from collections.abc import Iterator

import chess

from hauteur.studies.puzzles.puzzle import Puzzle

CRUSHING, ADVANTAGE = 0.8, 0.35
"""Chance of winning, -1 to 1, from which a position is won, and from which a side has the advantage: 600 and 200
centipawns by Lichess's formula."""
ENDGAME_PIECES = 6
"""Queens, rooks, bishops and knights of an endgame, at most."""
LENGTHS = {1: "oneMove", 2: "short", 3: "long"}


def themes_of(puzzle: Puzzle) -> tuple[str, ...]:
    """The themes, in alphabetical order; of games other than chess only length and whether the line wins."""
    found = {LENGTHS.get(len(puzzle.solver_moves), "veryLong")}
    if puzzle.game.startswith("chess"):
        found |= set(_of_rules(puzzle))
        found |= set() if "mate" in found else {_of_value(puzzle)}
    elif _wins(puzzle):
        found |= {"win", f"winIn{len(puzzle.solver_moves)}"}
    return tuple(sorted(found))


def _of_value(puzzle: Puzzle) -> str:
    """Return the theme by the value of the solver's last move."""
    return "crushing" if puzzle.value >= CRUSHING else "advantage" if puzzle.value >= ADVANTAGE else "equality"


def _wins(puzzle: Puzzle) -> bool:
    """Return whether the solver's last move wins the game."""
    state = puzzle.position()
    solver = state.to_move
    for move in puzzle.solution:
        state.apply(state.parse(move))
    return state.outcome() == (1 if solver == 0 else -1)


def _of_rules(puzzle: Puzzle) -> Iterator[str]:
    position = puzzle.position()
    board = chess.Board(position.notation(), chess960="chess960" in puzzle.game)
    pieces = board.occupied & ~(board.pawns | board.kings)
    if pieces.bit_count() <= ENDGAME_PIECES:
        yield "endgame"
    for number, text in enumerate(puzzle.solution):
        move = board.parse_uci(text)
        if number % 2 == 0:
            yield from _of_move(board, move)
        board.push(move)
    if board.is_checkmate():
        yield "mate"
        yield f"mateIn{len(puzzle.solver_moves)}"


def _of_move(board: chess.Board, move: chess.Move) -> Iterator[str]:
    """Yield the themes of a move of the solver."""
    if board.is_castling(move):
        yield "castling"
    if board.is_en_passant(move):
        yield "enPassant"
    if move.promotion is not None:
        yield "promotion" if move.promotion == chess.QUEEN else "underPromotion"
    board.push(move)
    if board.checkers_mask().bit_count() > 1:
        yield "doubleCheck"
    board.pop()
