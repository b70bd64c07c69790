"""The result of a match, for programs in Python: numbers with their intervals, and the games."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hauteur.matches.game_files import write_games
from hauteur.matches.match import Match
from hauteur.matches.ratings.elo import elo_of_score
from hauteur.matches.results import MatchGame, table
from hauteur.system.tables import Rows

if TYPE_CHECKING:
    import pandas


class GameRow(NamedTuple):
    """A game of a match."""

    game: int
    """Number of the game, from 0."""
    a: str
    """A's side."""
    score: float
    """A's score: 1, 0.5 or 0."""
    end: str
    """Reason of the end, such as `checkmate`."""
    plies: int
    """Moves of the game, opening included."""
    opening: str
    """Moves that were given, separated by spaces."""
    moves: str
    """Moves that were searched, separated by spaces."""
    fen: str | None
    """Start position; None: the game's own start."""


class MatchGames(tuple[MatchGame, ...]):
    """The games of a match in the order of their numbers; a tuple that is displayed as a table."""

    def rows(self) -> Rows[GameRow]:
        """Return the games as rows."""
        return Rows(
            GameRow(game.index, game.a, game.score, game.end, game.plies, game.opening, game.moves, game.fen)
            for game in self
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return the games as a pandas DataFrame, a row a game; columns as in `GameRow`. ImportError without pandas."""
        return self.rows().to_pandas()

    def __repr__(self) -> str:
        return repr(self.rows())

    def _repr_html_(self) -> str:
        return self.rows()._repr_html_()


@dataclass(frozen=True, repr=False)
class MatchResult:
    """The result of a match, all of it from A's view and of the same games: `games`.

    Intervals are of 95 %. They and `los` come from the variance of pairs of games where openings are played twice with
    sides swapped (docs/reference/ratings.md); a game whose partner is missing counts in all of them.

    match: settings, tally and cost of the match.
    """

    match: Match
    games: MatchGames

    @property
    def interrupted(self) -> bool:
        """True where Ctrl-C ended the match."""
        return self.match.interrupted

    @property
    def names(self) -> tuple[str, str]:
        """Tell what results call A and B."""
        return self.match.names

    @property
    def wins(self) -> int:
        """Games that A won."""
        return self.match.tally.record.wins

    @property
    def draws(self) -> int:
        """Drawn games."""
        return self.match.tally.record.draws

    @property
    def losses(self) -> int:
        """Games that A lost."""
        return self.match.tally.record.losses

    @property
    def score(self) -> float:
        """A's share of the points, (wins + draws / 2) / games, 0 to 1; 0.5 without games."""
        return self.match.tally.record.score

    @property
    def score_interval(self) -> tuple[float, float]:
        """95 % interval of the score, 0 to 1."""
        return self.match.tally.score_interval

    @property
    def elo(self) -> float:
        """Elo of A above B, 400 log10(score / (1 - score)); infinite where all games were won or lost."""
        return elo_of_score(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        """95 % interval of the Elo of A above B; infinite on one side where all games were won or lost."""
        return self.match.tally.elo_interval

    @property
    def los(self) -> float:
        """Likelihood of superiority: the chance that A is the stronger player, 0 to 1."""
        return self.match.tally.superiority

    @property
    def complete(self) -> bool:
        """True if all games were played, or a sequential test has ended."""
        return self.match.complete

    def to_json(self) -> dict[str, Any]:
        """Return everything as `hauteur match --json` prints it."""
        return self.match.result()

    def to_pgn(self, path: str | Path, *, evals: bool = False) -> int:
        """Write the games to a .pgn file (chess), and return how many; evals: with lichess's [%eval].

        Raise ValueError for another game or another ending of the name.
        """
        return self._write(path, evals=evals)

    def to_sgf(self, path: str | Path) -> int:
        """Write the games to an .sgf file (Go, Gomoku, NoGo), and return how many.

        ValueError for another game or ending.
        """
        return self._write(path)

    def _write(self, path: str | Path, *, evals: bool = False) -> int:
        return write_games(Path(path), [(self.match, self.games)], evals=evals)

    def __repr__(self) -> str:
        text = table(self.match.tally, self.match.work, self.names)
        if self.complete:
            return text
        state = "interrupted" if self.interrupted else "not complete"
        wanted = self.match.games_wanted
        of = "" if wanted is None else f" of {wanted:,}"
        return f"{state}: {len(self.games):,}{of} games\n{text}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


class SprtResult(MatchResult):
    """The result of a sequential test, and the games that it counted: complete pairs in the order of their numbers."""

    @property
    def verdict(self) -> Literal["elo0", "elo1"] | None:
        """The hypothesis that was accepted; None: neither, the games ended before."""
        assert self.match.tally.test is not None
        verdict = self.match.tally.test.verdict
        if verdict is None:
            return None
        return "elo1" if verdict else "elo0"

    @property
    def llr(self) -> float:
        """Log likelihood ratio of elo1 to elo0."""
        assert self.match.tally.test is not None
        return self.match.tally.test.llr

    @property
    def llr_bounds(self) -> tuple[float, float]:
        """Log likelihood ratios at which elo0 and elo1 are accepted."""
        assert self.match.tally.test is not None
        return self.match.tally.test.sprt.bounds


def games_of(match: Match) -> MatchGames:
    """Return the games that the numbers of a match count, in order."""
    most = match.settings.games if match.sprt is None else match.tally.record.games
    counted = [game for game in match.games() if game.index < most]
    return MatchGames(sorted(counted, key=lambda game: game.index))
