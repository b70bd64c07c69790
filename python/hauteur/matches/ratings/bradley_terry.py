"""Rating lists: one Elo scale for many players, with intervals, from the results of games between pairs of them.

The model is Bradley and Terry's with draws as Davidson (1970, J. Amer. Statist. Assoc. 65, 317-328) adds them. With u
the difference of two players in natural units and nu >= 0 the draw parameter, a game of theirs has the weights

    win e^(u/2),  draw nu,  loss e^(-u/2),   each divided by their sum,

so that among equals the share of draws is nu / (2 + nu). Of the usual models with draws this is the one whose
maximum-likelihood list expects of every player exactly the points it scored (Rao and Kupper's does not).

Ratings are in Elo of score: u = (ln 10 / 400) (1 + nu/2) (r_i - r_j). The factor makes a small difference
r between two players give the score of Elo's formula, 1 / (1 + 10^(-r/400)), however many games are drawn; without
draws the two agree everywhere.

The list is the posterior mode under a weak prior, which alone decides where the games leave the list open: every player
has an extra half win and half loss, spread over its opponents by their shares of its games, and the whole group an
extra half draw. In a match of two without draws that is Jeffreys' prior, but for the half draw. Intervals come from the
inverse of the Hessian at the mode; they treat games as independent, which is conservative for paired openings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.rating_list import Encounter, Floats, Rating, RatingList

NATURAL = math.log(10) / 400
"""Elo times this is the natural logarithm of the odds."""

PRIOR_GAMES = 1.0
"""Games that the prior adds to each player, half of them won."""

PRIOR_DRAWS = 0.5
"""Drawn games that the prior adds to a group."""

_MOST_STEPS = 200
_SHORTEST_STEP = 2.0**-40
_LONGEST_STEP = 4.0
"""Of any parameter in one step of `minimum`: far ahead, exponential functions overflow."""


def rating_list(encounters: Iterable[Encounter], *, anchors: Mapping[str, float] | None = None) -> RatingList:
    """The most probable ratings.

    anchors: players with their fixed Elo; players connected to none have a mean of 0 in their group.
    """
    games = _merged(encounters)
    names = sorted({name for pair in games for name in pair})
    fixed = dict(anchors or {})
    _check_anchors(fixed, names)
    if not names:
        return RatingList((), np.zeros((0, 0)), 0.0)
    groups = _groups(games, names, list(fixed))
    fits = [_fitted(games, members, fixed) for members in groups]
    number = {name: group for group, members in enumerate(groups) for name in members}
    elo = {name: value for fit in fits for name, value in fit.elo.items()}
    order = sorted(names, key=lambda name: (number[name], -elo[name], name))
    covariance = np.zeros((len(names), len(names)))
    for members, fit in zip(groups, fits, strict=True):
        rows = [order.index(name) for name in members]
        covariance[np.ix_(rows, rows)] = fit.covariance
    deviations = np.sqrt(np.maximum(0.0, np.diag(covariance))).tolist()
    ratings = tuple(
        Rating(name, elo[name], deviations[i], number[name], name in fixed, _record(games, name))
        for i, name in enumerate(order)
    )
    return RatingList(ratings, covariance, fits[0].draws, games)


@dataclass(frozen=True)
class _Fitted:
    """The ratings of a group, covariance [n, n] in the order of its players, and its nu of draws."""

    elo: dict[str, float]
    covariance: Floats
    draws: float


def _fitted(games: Mapping[tuple[str, str], MatchScore], members: Sequence[str], fixed: Mapping[str, float]) -> _Fitted:
    """Fit one group by its own games, so that others do not change it."""
    own = {pair: record for pair, record in games.items() if pair[0] in members}
    anchors = {name: fixed[name] for name in members if name in fixed}
    fit = _Fit(_ResultTable.of(own, members), *_free_ratings(members, anchors))
    solution, covariance = fit.solve()
    spread = fit.basis @ covariance[: fit.free, : fit.free] @ fit.basis.T
    elo = dict(zip(members, fit.ratings(solution).tolist(), strict=True))
    return _Fitted(elo, spread, math.exp(solution[fit.free]))


def expected(difference: float, draws: float) -> tuple[float, float, float]:
    """Chances of win, draw and loss at this difference in Elo with the draw parameter nu."""
    u = NATURAL * (1 + draws / 2) * difference
    weights = np.exp(np.array([u / 2, math.log(draws) if draws else -math.inf, -u / 2]) - abs(u) / 2)
    win, draw, loss = (weights / weights.sum()).tolist()
    return win, draw, loss


def _merged(encounters: Iterable[Encounter]) -> dict[tuple[str, str], MatchScore]:
    """One record for each pair of names in their order: sums do not depend on the order of the games."""
    found: dict[tuple[str, str], MatchScore] = {}
    for one in encounters:
        turned = one.second < one.first
        key = (one.second, one.first) if turned else (one.first, one.second)
        more = one.record.turned if turned else one.record
        found[key] = found.get(key, MatchScore()).plus(more)
    return {key: found[key] for key in sorted(found) if found[key].games}


def _check_anchors(anchors: Mapping[str, float], names: Sequence[str]) -> None:
    for name, value in anchors.items():
        if name not in names:
            raise ValueError(f"the anchor {name!r} has no games; players are {', '.join(names) or 'none'}")
        if not math.isfinite(value):
            raise ValueError(f"the anchor {name!r} must have a finite Elo, got {value}")


def _record(games: Mapping[tuple[str, str], MatchScore], name: str) -> MatchScore:
    """All games of a player against others, from its view."""
    found = MatchScore()
    for (first, second), record in games.items():
        if first != second and name in (first, second):
            found = found.plus(record if first == name else record.turned)
    return found


@dataclass(frozen=True)
class _ResultTable:
    """Results as arrays, a row for each pair, prior included: players int [k, 2]; wins, draws, losses [k]."""

    players: NDArray[np.intp]
    wins: Floats
    draws: Floats
    losses: Floats

    @classmethod
    def of(cls, games: Mapping[tuple[str, str], MatchScore], names: Sequence[str]) -> _ResultTable:
        number = {name: index for index, name in enumerate(names)}
        players = np.array([[number[first], number[second]] for first, second in games], np.intp)
        counts = np.array([[r.wins, r.draws, r.losses] for r in games.values()], float)
        added = _prior_games(players, counts.sum(1), len(names)) / 2
        draws = counts[:, 1] + PRIOR_DRAWS * counts.sum(1) / counts.sum()
        return cls(players, counts[:, 0] + added, draws, counts[:, 2] + added)


def _prior_games(players: NDArray[np.intp], games: Floats, count: int) -> Floats:
    """Games that the prior adds to each row: 1 a player in all, in the shares of its games."""
    others = np.where(players[:, 0] == players[:, 1], 0.0, games)
    total = np.zeros(count)
    np.add.at(total, players.ravel(), np.repeat(others, 2))
    shares = np.divide(others[:, None], total[players], out=np.zeros((len(games), 2)), where=total[players] > 0)
    return np.asarray(PRIOR_GAMES * shares.mean(1))


def _groups(games: Iterable[tuple[str, str]], names: Sequence[str], anchored: Sequence[str]) -> list[list[str]]:
    """The players of each group, the largest first; all that are connected to an anchor are on one scale: one group."""
    links = [*games, *((anchored[0], other) for other in anchored[1:])]
    root = {name: name for name in names}

    def find(player: str) -> str:
        while root[player] != player:
            player = root[player]
        return player

    for a, b in links:
        root[find(a)] = find(b)
    members: dict[str, list[str]] = {}
    for name in names:
        members.setdefault(find(name), []).append(name)
    return sorted(members.values(), key=lambda group: (-len(group), names.index(group[0])))


def _free_ratings(members: Sequence[str], anchors: Mapping[str, float]) -> tuple[Floats, Floats]:
    """Map free ratings z to all ratings of a group, basis @ z + start: basis [n, m], start [n].

    An anchor is fixed; a group without one has mean rating 0.
    """
    middle = math.fsum(anchors.values()) / len(anchors) if anchors else 0.0  # a good place to begin at
    start = np.array([anchors.get(name, middle) for name in members])
    movable = [i for i, name in enumerate(members) if name not in anchors]
    columns = []
    for i in movable if anchors else movable[:-1]:
        column = np.zeros(len(members))
        column[i] = 1.0
        if not anchors:
            column[movable[-1]] = -1.0
        columns.append(column)
    return (np.array(columns).T if columns else np.zeros((len(members), 0))), start


class _Fit:
    """The posterior as a function of (z, ln nu), with gradient and Hessian.

    In (u, ln nu) a row is an exponential family with the statistics T = (win - loss)/2 and D = draw: its gradient is
    observed minus expected, its Hessian the negative covariance.

    u = NATURAL (1 + nu/2) (rows @ parameters + offset).
    """

    def __init__(self, table: _ResultTable, basis: Floats, start: Floats) -> None:
        self.table = table
        self.basis = basis
        self.start = start
        self.free = basis.shape[1]
        first, second = table.players.T
        self.rows = np.hstack([basis[first] - basis[second], np.zeros((len(first), 1))])
        self.offset = start[first] - start[second]

    def ratings(self, solution: Floats) -> Floats:
        """Elo of each player."""
        return np.asarray(self.basis @ solution[: self.free] + self.start)

    def solve(self) -> tuple[Floats, Floats]:
        """The most probable parameters and their covariance."""
        begin = np.zeros(self.rows.shape[1])
        begin[self.free] = math.log(2 * self.table.draws.sum() / (self.table.wins + self.table.losses).sum())
        games = float((self.table.wins + self.table.draws + self.table.losses).sum())
        enough = 1e-10 * (1 + games)
        scale = np.ones(len(begin)) / NATURAL
        scale[self.free] = 1.0

        def scaled(x: Floats) -> tuple[float, Floats, Floats]:
            value, gradient, hessian = self.negative(x * scale)
            return value, gradient * scale, hessian * np.outer(scale, scale)

        found, hessian = minimum(scaled, begin / scale, enough)
        return found * scale, np.linalg.inv(hessian) * np.outer(scale, scale)

    def negative(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """Negative log posterior, its gradient and Hessian."""
        draws = math.exp(parameters[self.free])
        elo = self.rows @ parameters + self.offset - self.rows[:, self.free] * parameters[self.free]
        factor = NATURAL * (1 + draws / 2)
        u, bend = factor * elo, NATURAL * draws / 2 * elo  # bend = du / d ln nu, and its own derivative too
        win, draw, norm = self._chances(u, float(parameters[self.free]))
        loss = 1 - win - draw
        t = self.table
        games = t.wins + t.draws + t.losses
        value = (t.wins - t.losses) @ u / 2 + t.draws.sum() * parameters[self.free] - games @ norm
        by_u = (t.wins - t.losses - games * (win - loss)) / 2
        by_draw = t.draws - games * draw
        slopes = factor * self.rows
        slopes[:, self.free] = bend
        gradient = slopes.T @ by_u
        gradient[self.free] += by_draw.sum()
        hessian = self._hessian(slopes, by_u, bend, games, win, draw)
        mixed = NATURAL * draws / 2 * self.rows.T @ by_u  # of d2u / d rating d ln nu
        mixed[self.free] = 0
        hessian[self.free] += mixed
        hessian[:, self.free] += mixed
        return -float(value), -gradient, -hessian

    def _hessian(self, slopes: Floats, by_u: Floats, bend: Floats, games: Floats, win: Floats, draw: Floats) -> Floats:
        """The part of the rows: -cov(T, D) carried to the parameters, and the bend of u in ln nu."""
        loss = 1 - win - draw
        mean = (win - loss) / 2
        var_u = (win + loss) / 4 - mean**2
        cov = -mean * draw
        var_draw = draw * (1 - draw)
        hessian = -(slopes.T * (games * var_u)) @ slopes
        cross = slopes.T @ (games * cov)
        hessian[self.free] -= cross
        hessian[:, self.free] -= cross
        hessian[self.free, self.free] += by_u @ bend - games @ var_draw
        return np.asarray(hessian)

    def _chances(self, u: Floats, log_draws: float) -> tuple[Floats, Floats, Floats]:
        """Chances of win and draw, and ln of the sum of the weights, by row."""
        weights = np.stack([u / 2, np.full_like(u, log_draws), -u / 2])
        norm = np.logaddexp.reduce(weights, axis=0)
        return np.exp(weights[0] - norm), np.exp(weights[1] - norm), norm


def minimum(
    function: Callable[[Floats], tuple[float, Floats, Floats]], start: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    """Minimum of a function of value, gradient [n] and Hessian [n, n], and the Hessian there.

    Newton's steps, with the absolute values of the Hessian's eigenvalues where it is not positive (Nocedal and Wright,
    Numerical Optimization, section 3.4), halved until the value falls. tolerance: of the largest component of the
    gradient. Raises RuntimeError where no step lowers the value and the gradient is above 1,000 tolerances.
    """
    x = start
    value, gradient, hessian = function(x)
    for _ in range(_MOST_STEPS):
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            return x, hessian
        step = -_newton(gradient, hessian)
        step *= min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
        length = 1.0
        while length >= _SHORTEST_STEP:
            found = function(x + length * step)
            if found[0] <= value + 1e-4 * length * float(gradient @ step):
                break
            length /= 2
        else:
            break  # the value cannot fall any more in this arithmetic
        x, (value, gradient, hessian) = x + length * step, found
    steepest = np.abs(gradient).max(initial=0.0)
    if not np.isfinite(x).all() or steepest > 1000 * tolerance:
        raise RuntimeError(f"no minimum was found: the gradient is still {steepest:.3g}")
    return x, hessian


def _newton(gradient: Floats, hessian: Floats) -> Floats:
    """The Hessian's absolute inverse times the gradient."""
    values, vectors = np.linalg.eigh(hessian)
    sizes = np.abs(values)
    largest = float(sizes.max(initial=0.0))
    sizes = np.maximum(sizes, 1e-12 * max(1.0, largest))
    return np.asarray(vectors @ ((vectors.T @ gradient) / sizes))
