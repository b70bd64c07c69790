"""A rating list: players with their Elo, intervals and results; lists and crosstables as text and as JSON.

Results come from the folders of matches and tournaments, and from PGN files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hauteur.games.pgn import open_reader
from hauteur.matches.folder import MatchFolder, match_folders
from hauteur.matches.ratings.different import DifferentGames
from hauteur.matches.ratings.elo import MatchScore
from hauteur.system.packed import content_suffix, plain_file
from hauteur.system.tables import Rows

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Encounter:
    """Games of two players; the record is `first`'s."""

    first: str
    second: str
    record: MatchScore


@dataclass(frozen=True)
class Rating:
    """The rating of one player."""

    name: str
    """The player's name."""
    elo: float
    """Rating in Elo, relative to the anchors or to the mean of the group."""
    deviation: float
    """Standard error in Elo; 0 for an anchor, infinite without games."""
    group: int
    """Number of the group of connected players, 0 the largest; ratings of different groups cannot be compared."""
    anchored: bool
    """The rating was given."""
    record: MatchScore
    """Every game as it came, also games that repeat earlier ones, which the rating does not count."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the rating, Elo, relative to the anchors or to the mean of the group."""
        return _interval(self.elo, self.deviation, confidence)


@dataclass(frozen=True)
class RatingList:
    """Ratings, the best first; groups that never met each have a mean of 0 (or their anchors) and cannot be compared.

    covariance [n, n], Elo squared, in the order of `ratings`; draws: nu of the largest group; results: all games of
    each pair (a, b) from a's view.
    It shows itself as a table.

    >>> import hauteur as ht
    >>> ratings = ht.tournament(["net=uniform visits=20", "random"], "tictactoe", games=8)
    >>> [rating.name for rating in ratings.ratings]
    ['uniform visits=20', 'random']
    """

    ratings: tuple[Rating, ...]
    covariance: Floats
    draws: float
    results: Mapping[tuple[str, str], MatchScore] = field(default_factory=dict)

    def __repr__(self) -> str:
        return rating_table(self) if self.ratings else "RatingList of no players"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the list as a pandas DataFrame, a row a player, the best first.

        Columns: name; elo, its 95 % interval elo_low and elo_high, deviation (standard error), all in Elo; games, wins,
        draws, losses; score, 0 to 1; group (ratings compare inside a group only); anchored. ImportError where pandas is
        not installed.
        """
        return rating_rows(self).to_pandas()

    def crosstable(self) -> str:
        """Return the points of each player against each other as a table."""
        return crosstable(self.names, self.results)

    @property
    def names(self) -> list[str]:
        """The players, the best first."""
        return [rating.name for rating in self.ratings]

    @property
    def groups(self) -> int:
        """Number of groups of players between which there is no game and no anchor."""
        return 1 + max((rating.group for rating in self.ratings), default=-1)

    @property
    def draw_share(self) -> float:
        """Share of draws among equals of the largest group, 0 to 1."""
        return self.draws / (2 + self.draws)

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """Elo of a above b and its standard error, smaller than those of both ratings suggest; infinite where the two
        cannot be compared.
        """
        i = self._index(a)
        j = self._index(b)
        above = self.ratings[i]
        below = self.ratings[j]
        if above.group != below.group:
            return 0.0, math.inf
        covariance = self.covariance
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        error = math.sqrt(max(0.0, float(variance)))
        return above.elo - below.elo, error

    def difference_interval(self, a: str, b: str, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of Elo of a above b."""
        return _interval(*self.difference(a, b), confidence)

    def superiority(self, a: str, b: str) -> float:
        """Chance that a is stronger than b, 0 to 1."""
        elo, deviation = self.difference(a, b)
        if deviation == 0:
            return 0.5 + math.copysign(0.5, elo) if elo else 0.5
        return NormalDist().cdf(elo / deviation)

    def _index(self, name: str) -> int:
        """Return the index of a player; ValueError for an unknown name."""
        for index, rating in enumerate(self.ratings):
            if rating.name == name:
                return index
        known = ", ".join(rating.name for rating in self.ratings)
        raise ValueError(f"no player {name!r} in the list; there are {known}")


def _interval(middle: float, deviation: float, confidence: float) -> tuple[float, float]:
    """Return the confidence interval of a normal distribution; ValueError for a confidence out of range."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence must be between 0 and 1, got {confidence}")
    half = NormalDist().inv_cdf((1 + confidence) / 2) * deviation
    return middle - half, middle + half


class RatingRow(NamedTuple):
    """A row of a rating list."""

    name: str
    """The player's name."""
    elo: float
    """Rating in Elo."""
    elo_low: float
    """Lower end of the 95 % interval of the rating, Elo."""
    elo_high: float
    """Upper end of the 95 % interval of the rating, Elo."""
    deviation: float
    """Standard error of the rating, Elo."""
    games: int
    """All games of the player."""
    wins: int
    """Games won."""
    draws: int
    """Games drawn."""
    losses: int
    """Games lost."""
    score: float
    """Share of the points, 0 to 1."""
    group: int
    """Number of the group of connected players, 0 the largest."""
    anchored: bool
    """The rating was given."""


def rating_rows(found: RatingList) -> Rows[RatingRow]:
    """The list as rows, the best first."""
    return Rows(map(_rating_row, found.ratings))


def _rating_row(rating: Rating) -> RatingRow:
    """Return a player of the list as a row."""
    record = rating.record
    return RatingRow(
        rating.name,
        rating.elo,
        *rating.interval(),
        rating.deviation,
        record.games,
        record.wins,
        record.draws,
        record.losses,
        record.score,
        rating.group,
        rating.anchored,
    )


def rating_table(found: RatingList) -> str:
    """The list as text, a paragraph for each group of players that can be compared; names last, they may be long."""
    parts = []
    for group in range(found.groups):
        members = [rating for rating in found.ratings if rating.group == group]
        lines = ["  #     Elo  95 % interval    games  score  draws  above next  player"]
        lines += [_line(number, members, found) for number in range(len(members))]
        parts.append("\n".join(lines))
    if found.groups > 1:
        parts.append(f"{found.groups} groups of players without a game between them: compare inside a group only.")
    return "\n\n".join([*parts, _footer(found)])


def _line(number: int, members: Sequence[Rating], found: RatingList) -> str:
    """A player with its chance to be stronger than the next one of its group."""
    rating = members[number]
    low, high = rating.interval()
    interval = "anchor" if rating.anchored else f"{low:+z.0f} to {high:+z.0f}"
    record = rating.record
    drawn = record.draws / max(1, record.games)
    played = f"{record.games:7,} {record.score:6.1%} {drawn:6.1%}"
    above = ""
    if number + 1 < len(members):
        following = members[number + 1]
        above = f"{found.superiority(rating.name, following.name):.1%}"
    return f"{number + 1:3} {rating.elo:+z7.0f}  {interval:15} {played}  {above:>10}  {rating.name}"


def _footer(found: RatingList) -> str:
    """Return the line below a table: what 0 Elo means, and the share of draws among equals."""
    anchored = any(rating.anchored for rating in found.ratings)
    zero = "Elo of the anchors given" if anchored else "Elo 0 is the mean of a group"
    largest = " of the largest group" if found.groups > 1 else ""
    drawn = any(rating.record.draws for rating in found.ratings)
    return f"{zero}{f'; draws among equals{largest} {found.draw_share:.1%}' if drawn else ''}"


def crosstable(names: Sequence[str], results: Mapping[tuple[str, str], MatchScore]) -> str:
    """Points of each player against each other, in the order of `names`. results: of pairs (a, b), from a's view."""
    rows = crosstable_rows(names, results)
    widest = 0
    for row in rows:
        widest = max(widest, *(len(cell) for cell in row[1:]))
    lines = []
    for (number, *cells), name in zip(rows, ("player", *names), strict=True):
        points = "".join(cell.rjust(2 + widest) for cell in cells)
        lines.append(f"{number:>3}{points}  {name}")
    return "\n".join(lines)


def crosstable_rows(names: Sequence[str], results: Mapping[tuple[str, str], MatchScore]) -> list[list[str]]:
    """The cells of the crosstable: a row of column names, then one a player, which its number begins."""
    numbers = [str(number) for number in range(1, len(names) + 1)]
    rows = [["", *numbers, "points"]]
    for number, name in zip(numbers, names, strict=True):
        cells = []
        points = 0.0
        games = 0
        for other in names:
            record = score_between(results, name, other)
            points += record.points
            games += record.games
            if other == name:
                cells.append("")
            elif record.games:
                cells.append(f"{record.points:g}/{record.games}")
            else:
                cells.append("-")
        rows.append([number, *cells, f"{points:g}/{games}"])
    return rows


def score_between(results: Mapping[tuple[str, str], MatchScore], name: str, other: str) -> MatchScore:
    """Return the games of two players from the view of the first; of none, or of a player with itself: no game."""
    if (name, other) in results:
        return results[name, other]
    return results.get((other, name), MatchScore()).turned


def ratings_json(found: RatingList) -> dict[str, Any]:
    """The list as JSON; None where there is no interval."""
    differences = []
    for a, b in combinations(found.ratings, 2):
        if a.group == b.group:
            differences.append({"a": a.name, "b": b.name, **_difference_json(found, a.name, b.name)})
    return {
        "ratings": [_rating_json(row) for row in rating_rows(found)],
        "differences": differences,
        "groups": found.groups,
        "draw_share_among_equals": found.draw_share,
    }


def _rating_json(row: RatingRow) -> dict[str, Any]:
    """Return a rating as JSON has it."""
    values = row._asdict()
    interval = [values.pop("elo_low"), values.pop("elo_high")]
    return {**values, "elo_interval_95": interval}


def _difference_json(found: RatingList, a: str, b: str) -> dict[str, Any]:
    """Return the difference of two players with its interval."""
    elo, deviation = found.difference(a, b)
    interval = None
    if math.isfinite(deviation):
        interval = [*found.difference_interval(a, b)]
    return {"elo": elo, "elo_interval_95": interval, "los": found.superiority(a, b)}


UNKNOWN = ("", "?")
"""Values of the tags White and Black where nobody knows who played."""
SCORES = {"1-0": MatchScore(wins=1), "1/2-1/2": MatchScore(draws=1), "0-1": MatchScore(losses=1)}


@dataclass(frozen=True)
class Rated:
    """The results of a source; games without a result (unfinished) or the name of a player (nameless) do not count."""

    encounters: tuple[Encounter, ...]
    unfinished: int = 0
    nameless: int = 0


def read_results(path: Path) -> Rated:
    """The results of a PGN file, or of all matches in a folder; ValueError where there are none."""
    if path.is_dir():
        return Rated(tuple(map(_of_match, match_folders(path))))
    if content_suffix(path) == ".pgn":
        return _read_pgn(path)
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    raise ValueError(f"{path}: expected the folder of a match or of a tournament, or a .pgn file")


def _of_match(folder: MatchFolder) -> Encounter:
    """The games of a match that differ; players have the names that the match gave them."""
    different = DifferentGames(folder.stored()["settings"].get("colours") == "swap")
    for game in folder.games():
        different.add(game.index, game.score, game.line)
    return Encounter(*folder.names(), different.record)


def _read_pgn(path: Path) -> Rated:
    """The tags White, Black and Result of every game with moves; the moves themselves are passed over."""
    found: Counter[tuple[str, str, str]] = Counter()
    for game in open_reader(plain_file(path), plays=False):
        if game.plies:
            white = game.tags.get("White", "").strip()
            black = game.tags.get("Black", "").strip()
            found[white, black, game.tagged] += 1
    if not found:
        raise ValueError(f"{path}: has no games with moves")
    encounters = []
    without_result = without_name = 0
    for (white, black, result), n in found.items():
        score = SCORES.get(result)
        if score is None:
            without_result += n
        elif not {white, black}.isdisjoint(UNKNOWN):
            # Whoever they are, they are not one player.
            without_name += n
        else:
            record = MatchScore(score.wins * n, score.draws * n, score.losses * n)
            encounters.append(Encounter(white, black, record))
    return Rated(tuple(encounters), without_result, without_name)
