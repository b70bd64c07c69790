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
    group_of: dict[str, int] = {}
    elo: dict[str, float] = {}
    for group, fit in enumerate(fits):
        group_of |= dict.fromkeys(groups[group], group)
        elo |= fit.elo
    order = sorted(names, key=lambda name: (group_of[name], -elo[name], name))
    covariance = np.zeros((len(names), len(names)))
    for members, fit in zip(groups, fits, strict=True):
        rows = [order.index(name) for name in members]
        covariance[np.ix_(rows, rows)] = fit.covariance
    # Rounding may leave the variance of a rating that hardly moves a little below 0.
    variances = np.maximum(0.0, np.diag(covariance))
    deviations = np.sqrt(variances).tolist()
    ratings = []
    for name, deviation in zip(order, deviations, strict=True):
        record = _record(games, name)
        ratings.append(Rating(name, elo[name], deviation, group_of[name], name in fixed, record))
    return RatingList(tuple(ratings), covariance, fits[0].draws, games)


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
    table = _ResultTable.of(own, members)
    basis, start = _free_ratings(members, anchors)
    fit = _Fit(table, basis, start)
    solution, covariance = fit.solve()
    free = covariance[: fit.free, : fit.free]
    spread = basis @ free @ basis.T
    ratings = fit.ratings(solution).tolist()
    elo = dict(zip(members, ratings, strict=True))
    draws = math.exp(solution[fit.free])
    return _Fitted(elo, spread, draws)


def expected(difference: float, draws: float) -> tuple[float, float, float]:
    """Chances of win, draw and loss at this difference in Elo with the draw parameter nu."""
    u = NATURAL * (1 + draws / 2) * difference
    log_draws = math.log(draws) if draws else -math.inf
    # Less the greater of the two exponents, so that none overflows; the shares stay the same.
    logs = np.array([u / 2, log_draws, -u / 2])
    weights = np.exp(logs - abs(u) / 2)
    shares = weights / weights.sum()
    win, draw, loss = shares.tolist()
    return win, draw, loss


def _merged(encounters: Iterable[Encounter]) -> dict[tuple[str, str], MatchScore]:
    """One record for each pair of names in their order: sums do not depend on the order of the games."""
    found: dict[tuple[str, str], MatchScore] = {}
    for one in encounters:
        pair = (one.first, one.second)
        record = one.record
        if one.second < one.first:
            pair = (one.second, one.first)
            record = record.turned
        before = found.get(pair, MatchScore())
        found[pair] = before.plus(record)
    return {pair: found[pair] for pair in sorted(found) if found[pair].games}


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
        if first == second:
            continue
        if first == name:
            found = found.plus(record)
        elif second == name:
            found = found.plus(record.turned)
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
        """Return the results with those that the prior adds."""
        number = {name: index for index, name in enumerate(names)}
        pairs = [[number[first], number[second]] for first, second in games]
        results = [[record.wins, record.draws, record.losses] for record in games.values()]
        players = np.array(pairs, np.intp)
        counts = np.array(results, float)
        wins, draws, losses = counts.T
        played = counts.sum(1)
        added = _prior_games(players, played, len(names)) / 2
        added_draws = PRIOR_DRAWS * played / counts.sum()
        return cls(players, wins + added, draws + added_draws, losses + added)


def _prior_games(players: NDArray[np.intp], games: Floats, count: int) -> Floats:
    """Games that the prior adds to each row: 1 a player in all, in the shares of its games."""
    # Games of a player with itself tell of draws alone: there is no opponent to spread the prior over.
    is_alone = players[:, 0] == players[:, 1]
    others = np.where(is_alone, 0.0, games)
    total = np.zeros(count)
    np.add.at(total, players.ravel(), np.repeat(others, 2))
    of_players = total[players]
    nothing = np.zeros((len(games), 2))
    shares = np.divide(others[:, None], of_players, out=nothing, where=of_players > 0)
    return np.asarray(PRIOR_GAMES * shares.mean(1))


def _groups(games: Iterable[tuple[str, str]], names: Sequence[str], anchored: Sequence[str]) -> list[list[str]]:
    """The players of each group, the largest first; all that are connected to an anchor are on one scale: one group."""
    links = list(games)
    for other in anchored[1:]:
        links.append((anchored[0], other))
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
    middle = 0.0
    if anchors:
        middle = math.fsum(anchors.values()) / len(anchors)  # a good rating to begin with
    start = np.array([anchors.get(name, middle) for name in members])
    movable = [i for i, name in enumerate(members) if name not in anchors]
    free = movable if anchors else movable[:-1]
    columns = np.zeros((len(free), len(members)))
    for column, i in zip(columns, free, strict=True):
        column[i] = 1.0
        if not anchors:
            # Differences alone are known: unless the last is minus the sum of the others the Hessian is singular.
            column[movable[-1]] = -1.0
    return columns.T, start


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
        table = self.table
        decided = table.wins + table.losses
        begin = np.zeros(self.rows.shape[1])
        begin[self.free] = math.log(2 * table.draws.sum() / decided.sum())
        games = float((table.wins + table.draws + table.losses).sum())
        # The gradient is a sum over games, and so is its rounding.
        enough = 1e-10 * (1 + games)
        # Hundreds of Elo and a logarithm near 1 get one size: one longest step and one tolerance are for both.
        scale = np.ones(len(begin)) / NATURAL
        scale[self.free] = 1.0
        scales = np.outer(scale, scale)

        def scaled(x: Floats) -> tuple[float, Floats, Floats]:
            value, gradient, hessian = self.negative(x * scale)
            return value, gradient * scale, hessian * scales

        found, hessian = minimum(scaled, begin / scale, enough)
        covariance = np.linalg.inv(hessian) * scales
        return found * scale, covariance

    def negative(self, parameters: Floats) -> tuple[float, Floats, Floats]:
        """Negative log posterior, its gradient and Hessian."""
        log_draws = parameters[self.free]
        draws = math.exp(log_draws)
        elo = self.rows @ parameters + self.offset - self.rows[:, self.free] * log_draws
        factor = NATURAL * (1 + draws / 2)
        factor_by_log = NATURAL * draws / 2
        u = factor * elo
        bend = factor_by_log * elo  # du / d ln nu, and its own derivative too
        win, draw, norm = self._chances(u, float(log_draws))
        loss = 1 - win - draw
        table = self.table
        games = table.wins + table.draws + table.losses
        surplus = table.wins - table.losses
        value = surplus @ u / 2 + table.draws.sum() * log_draws - games @ norm
        by_u = (surplus - games * (win - loss)) / 2
        by_draw = table.draws - games * draw
        slopes = factor * self.rows
        slopes[:, self.free] = bend
        gradient = slopes.T @ by_u
        gradient[self.free] += by_draw.sum()
        hessian = self._hessian(slopes, by_u, bend, games, win, draw)
        mixed = factor_by_log * self.rows.T @ by_u  # of d2u / d rating d ln nu
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
        half = u / 2
        weights = np.stack([half, np.full_like(u, log_draws), -half])
        norm = np.logaddexp.reduce(weights, axis=0)
        win = np.exp(weights[0] - norm)
        draw = np.exp(weights[1] - norm)
        return win, draw, norm


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
        longest = float(np.abs(step).max())
        step *= min(1.0, _LONGEST_STEP / longest)
        slope = float(gradient @ step)
        length = 1.0
        while length >= _SHORTEST_STEP:
            found = function(x + length * step)
            # Armijo's condition with the usual constant: a step must bring a part of what the slope promises.
            if found[0] <= value + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break  # the value cannot fall any more in this arithmetic
        x = x + length * step
        value, gradient, hessian = found
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
