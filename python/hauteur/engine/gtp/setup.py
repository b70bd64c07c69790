"""Commands about the board: its size, moves played and taken back, what is on it, who has won."""

from __future__ import annotations

from pathlib import Path

from hauteur.engine.gtp.game_history import GameHistory
from hauteur.engine.gtp.points import sgf_vertex
from hauteur.engine.gtp.protocol import (
    COLOURS,
    Arguments,
    Commands,
    GtpCommand,
    read_colour,
    read_integer,
    read_number,
    text_lines,
)
from hauteur.engine.gtp.session import PASS, GtpSession, sized
from hauteur.system.errors import explain


class SetupCommands:
    """The commands, for one session."""

    def __init__(self, session: GtpSession) -> None:
        self._session = session
        self.komi = 0.0

    def table(self) -> Commands:
        """The commands by their names."""
        return {
            "boardsize": GtpCommand("SIZE", "An empty square board of this size.", self._boardsize),
            "clear_board": GtpCommand("", "A new game: no moves, full clocks, nothing remembered.", self._clear_board),
            "komi": GtpCommand("KOMI", "A number, kept and of no effect: points are not counted.", self._komi),
            "get_komi": GtpCommand("", "That number.", lambda _: f"{self.komi:g}"),
            "play": GtpCommand("COLOUR VERTEX", "Plays a move.", self._play),
            "undo": GtpCommand("", "Takes the last move back.", self._undo),
            "showboard": GtpCommand("", "Draws the board.", self._showboard),
            "loadsgf": GtpCommand(
                "FILE [MOVE_NUMBER]", "The main line of a game, up to before this move.", self._loadsgf
            ),
            "final_score": GtpCommand("", "Who has won: `B+1`, `W+1`, `0` for a draw.", self._final_score),
            "all_legal": GtpCommand("COLOUR", "The legal moves of the player whose turn it is.", self._all_legal),
            "is_legal": GtpCommand("COLOUR VERTEX", "1 if the move is legal, else 0.", self._is_legal),
            "last_move": GtpCommand("", "Colour and vertex of the last move.", self._last_move),
            "move_history": GtpCommand("", "All moves, the last one first.", self._move_history),
        }

    def _boardsize(self, arguments: Arguments) -> str:
        self._session.resize(read_integer(arguments[0]))
        return ""

    def _clear_board(self, _: Arguments) -> str:
        self._session.clear()
        return ""

    def _komi(self, arguments: Arguments) -> str:
        self.komi = read_number(arguments[0])
        return ""

    def _play(self, arguments: Arguments) -> str:
        colour, board = read_colour(arguments[0]), self._session.board
        if board.is_over and arguments[1].lower() == PASS:
            board.pass_at_end()
        else:
            board.play(board.action(colour, arguments[1]))
        return ""

    def _undo(self, _: Arguments) -> str:
        self._session.board.undo()
        return ""

    def _showboard(self, _: Arguments) -> str:
        return "\n" + text_lines(self._session.board.state.text().split("\n"))

    def _loadsgf(self, arguments: Arguments) -> str:
        most = read_integer(arguments[1]) if len(arguments) > 1 else None
        try:
            self._load(Path(arguments[0]), most)
        except (ValueError, OSError) as error:
            raise ValueError(f"cannot load file: {explain(error)}") from None
        return ""

    def _load(self, path: Path, number: int | None) -> None:
        """Play the game of a file up to before move `number` (from 1; None or 0: all); a failure changes nothing."""
        from hauteur.games.sgf import read_main_line

        line = read_main_line(path)
        if line.columns != line.rows:
            raise ValueError(f"its board has {line.columns} columns and {line.rows} rows, a square one is needed")
        game = GameHistory(sized(self._session.board.game, line.rows))
        for at, (player, column, row) in enumerate(line.moves[: number - 1 if number else None], 1):
            try:
                game.play(game.action(player, sgf_vertex(column, row, line.rows)))
            except ValueError as error:
                raise ValueError(f"move {at}: {error}") from None
        self._session.resize(line.rows)
        for action in game.actions:
            self._session.board.play(action)

    def _final_score(self, _: Arguments) -> str:
        outcome = self._session.board.state.outcome()
        if outcome is None:
            raise ValueError("cannot score: the game is not over")
        return {1: "B+1", 0: "0", -1: "W+1"}[outcome]

    def _all_legal(self, arguments: Arguments) -> str:
        board = self._session.board
        board.require_turn(read_colour(arguments[0]))
        return " ".join(board.vertex(action) for action in board.state.legal_actions().tolist())

    def _is_legal(self, arguments: Arguments) -> str:
        colour = read_colour(arguments[0])
        try:
            self._session.board.action(colour, arguments[1])
        except ValueError as error:
            if str(error).startswith("syntax"):
                raise
            return "0"
        return "1"

    def _last_move(self, _: Arguments) -> str:
        moves = self._session.board.moves()
        if not moves:
            raise ValueError("no move has been played")
        return _move_text(*moves[-1])

    def _move_history(self, _: Arguments) -> str:
        return text_lines(_move_text(*move) for move in reversed(self._session.board.moves()))


def _move_text(player: int, vertex: str) -> str:
    return f"{COLOURS[player]} {vertex}"
