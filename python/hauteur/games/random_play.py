"""What random games of a game look like: results by side, lengths, choices; what of it is worth a remark."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from hauteur import _core
from hauteur.games.pictures import board_of, why_no_board

FEW = 10
"""Games below which nothing is said about who wins."""

SIDES = ("first", "second")


@dataclass
class RandomPlay:
    """Counts of random games that came to their ends."""

    outcomes: list[int] = field(default_factory=list)
    """Of every game: +1 the first player won, 0 draw, -1."""
    plies: list[int] = field(default_factory=list)
    """Length of every game."""
    choices: list[int] = field(default_factory=list)
    """Legal actions of every position in which somebody moved."""
    movers: list[int] = field(default_factory=lambda: [0, 0])
    """Moves of the first and the second player."""
    board: str = ""
    """The board that is seen in the game's text, or why there is none."""

    def moved(self, mover: int, choices: int) -> None:
        """Count a move."""
        self.movers[mover] += 1
        self.choices.append(choices)

    def ended(self, outcome: int, plies: int) -> None:
        """Count a game."""
        self.outcomes.append(outcome)
        self.plies.append(plies)

    def remarks(self) -> Iterator[str]:
        """Yield what may be right, but is seldom meant."""
        games = len(self.outcomes)
        for side, name in enumerate(SIDES):
            if sum(self.movers) and not self.movers[side]:
                yield f"the {name} player never moves: to_move is always {1 - side}"
        if games < FEW:
            return
        won = [self.outcomes.count(result) for result in (1, -1)]
        if not any(won):
            yield f"nobody won any of {games} games"
            return
        for name, wins in zip(SIDES, won, strict=True):
            if not wins:
                why = "is outcome() +1 for the first player, whoever moves?"
                yield f"the {name} player won none of {games} games: {why}"

    def __str__(self) -> str:
        games = len(self.outcomes)
        if not games:
            return "no game came to its end"
        won = self.outcomes.count(1)
        drawn = self.outcomes.count(0)
        lost = self.outcomes.count(-1)
        plies = f"{min(self.plies)} to {max(self.plies)}, median {median(self.plies):g}"
        moves = f"first player {self.movers[0]:,}, second player {self.movers[1]:,}"
        lines = [
            f"played: {games} games: first player won {won}, drawn {drawn}, second player won {lost}",
            f"plies: {plies}; moves: {moves}",
        ]
        if self.choices:
            mean = sum(self.choices) / len(self.choices)
            lines.append(f"legal actions: {min(self.choices)} to {max(self.choices)}, mean {mean:.1f}")
        if self.board:
            lines.append(f"board: {self.board}")
        for remark in self.remarks():
            lines.append(f"remark: {remark}")
        return "\n".join(lines)


def board_text(state: _core.State) -> str:
    """Return the size and look of the board that is seen in a position's text, or `none, because ...`."""
    board = board_of(state, ())
    if board is None:
        return f"none, because {why_no_board(state)}"
    labels = "" if any(board.row_labels) else ", no labels"
    return f"{board.rows} rows, {board.columns} columns, drawn as {board.look}{labels}"
