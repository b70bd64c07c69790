"""Table 1 of the search-contempt paper: how the giver of queen odds scores by nodes, with PUCT and search-contempt.

A. Joshi, "Search-contempt", 2025, section 4.1. The giver plays without its queen against a fixed odds taker, which has
all its pieces and is weak enough that the giver scores something. The paper's net was trained for queen odds; any net
will do here. The odds taker is `--opponent`, the odds are the position of `--game`, such as `chess(fen=...)`; in a game
without pieces, such as Connect Four, the giver is the player of `--side`, who is lost from the start.

The paper's column is the share of games won; a lead in score may be draws that a weak odds taker did not win, so claims
are decided by score and by games won. Games of two settings from one opening are compared, and where openings repeat
the openings are the units.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

import hauteur as ht
from hauteur_experiments.deciding import HARDLY_ACTS
from hauteur_experiments.experiment import Experiment, Finding, Result, joined, stated
from hauteur_experiments.grid import COLOURS, Match, Played, chosen, play, points, with_net
from hauteur_experiments.measured import ClusterMean, Interval, Mean, by_opening, columns
from hauteur_experiments.search_contempt.settings import HYBRID, PAPER, contempt
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import SMALLEST_POINTS, Claim, Inequality

LEAST_UNITS = 50
"""Openings of a cell, or games where it has one opening, below which nothing is concluded."""

By = Literal["score", "games won"]
BY: tuple[By, By] = ("score", "games won")
BY_SCORE = "by score, not by games won"
"""Scope of what is measured by the score: the paper's column is the share of games won."""

DRAWS = {"stalemate": "stalemate", "threefold repetition": "repetition", "fifty-move rule": "fifty moves"}
"""Ends of drawn games, and the kinds they are counted as; all others are `other`."""

KINDS = (*DRAWS.values(), "other")

TABLE_1 = {100: (0.2343, 0.3676), 800: (0.3525, 0.5781), 20_000: (0.2540, 0.8173)}
"""Nodes: the giver's score with PUCT and with search-contempt."""

RISE = 100 * (TABLE_1[20_000][1] - TABLE_1[100][1])
"""Percentage points that the paper's giver gains from 100 to 20,000 nodes with search-contempt."""
PUCT_RISE = 100 * (TABLE_1[20_000][0] - TABLE_1[100][0])
"""Percentage points that the paper's giver gains from 100 to 20,000 nodes with PUCT."""

PUCT_BEST = 800
"""Nodes at which the paper's PUCT scores most."""

POINTS = "percentage points"
PUCT = 1_000_000_000
"""N_scl that turns search-contempt off."""

PUBLISHED_N_SCL = 28
APART = 2
"""N_scl that are nearer to the odds taker's visits than by this factor are not compared with them."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One entry of the table: N_scl, nodes, the giver's games."""

    n_scl: int
    nodes: int
    played: Played

    @property
    def score(self) -> float:
        """The giver's share of the points."""
        return self.played.tally.record.score

    @property
    def drawn(self) -> dict[str, int]:
        """Drawn games by their kind."""
        counts = Counter(DRAWS.get(game.end, "other") for game in self.played.games if game.score == 0.5)
        return {kind: counts[kind] for kind in KINDS}


Cells = Mapping[tuple[int, int], Cell]
"""By N_scl and nodes."""


class Gain(NamedTuple):
    """A gain in percentage points, the smallest one that matters, and the source's at the same nodes, if it has one."""

    measured: Mean | ClusterMean
    matters: float
    source: float | None = None


ALIKE = 0.5
"""Share of the games of a setting that are move for move PUCT's, from which on it hardly acts."""


def title(n_scl: int) -> str:
    """Return the title of a setting in tables."""
    return "PUCT" if n_scl == PUCT else f"N_scl {n_scl}"


def findings(cells: Cells, visits: int) -> list[Finding]:
    """The statements of the paper, and one of our own, by score and by games won; where cells are missing, those that
    need them are left out. visits: the odds taker's.
    """
    statements = (rise, rise_at_ends, more, fall, lead, lead_of_any, partial(fits, visits=visits))
    found = (statement(cells, by=by) for statement in statements for by in BY)
    return [finding for finding in found if finding is not None]


def rise(cells: Cells, by: By) -> Finding | None:
    """Search-contempt with the paper's N_scl is stronger at every number of nodes than at the one before."""
    return finding_by(
        "rise", by, _rises([(PUBLISHED_N_SCL, pair) for pair in pairwise(_of(cells, PUBLISHED_N_SCL))], by)
    )


def rise_at_ends(cells: Cells, by: By) -> Finding | None:
    """Some N_scl is stronger with the most nodes than with the least."""
    ends = [(n_scl, pair) for n_scl, pair in _ends(cells).items() if n_scl != PUCT]
    return finding_by("rise-at-ends", by, _rises(ends, by), needs="any")


def _rises(pairs: Sequence[tuple[int, tuple[Cell, Cell]]], by: By) -> dict[str, Gain]:
    """The gains from the first cell to the second."""
    return {
        f"{title(n_scl)} at {_nodes(pair)} nodes": Gain(gain(*pair, by), _share_of(pair, RISE), _rise_of_paper(*pair))
        for n_scl, pair in pairs
    }


def _rise_of_paper(less: Cell, most: Cell) -> float | None:
    """The gain of the paper's search-contempt between two cells; None for other nodes or another N_scl."""
    known = less.n_scl == PUBLISHED_N_SCL and less.nodes in TABLE_1 and most.nodes in TABLE_1
    if not known:
        return None
    return 100 * (TABLE_1[most.nodes][1] - TABLE_1[less.nodes][1])


def more(cells: Cells, by: By) -> Finding | None:
    """Search-contempt gains more than PUCT from the same nodes: the interaction, by games from the same openings."""
    ends = _ends(cells)
    plain = ends.pop(PUCT, None)
    if plain is None:
        return None
    found = {n_scl: pair for n_scl, pair in ends.items() if _nodes(pair) == _nodes(plain)}
    gains = {
        f"{title(n_scl)} beyond PUCT": Gain(_difference(plain, pair, by), _share_of(pair, RISE - PUCT_RISE))
        for n_scl, pair in found.items()
    }
    return finding_by("more", by, gains, needs="any")


def fall(cells: Cells, by: By) -> Finding | None:
    """PUCT rises from the least nodes to those nearest to the paper's best number, and falls from there to the most."""
    levels = _of(cells, PUCT)
    if len(levels) < 3:
        return None
    first, *between, last = levels
    best = min(between, key=lambda cell: abs(math.log(cell.nodes / PUCT_BEST)))
    low, high, end = (100 * puct for puct, _ in TABLE_1.values())
    rise = high - low
    drop = high - end
    gains = {
        f"{best.nodes:,} above {first.nodes:,} nodes": Gain(gain(first, best, by), rise / 2, rise),
        f"{best.nodes:,} above {last.nodes:,}": Gain(gain(last, best, by), drop / 2, drop),
    }
    scores = ", ".join(_score_text(cell) for cell in levels)
    return finding_by("fall", by, gains, shown=f"PUCT scores {scores}")


def lead(cells: Cells, by: By) -> Finding | None:
    """Search-contempt with the paper's N_scl is ahead of PUCT at every number of nodes.

    It is open where that N_scl hardly acts at one of them: games that are PUCT's say nothing of search-contempt.
    """
    places = [place for place in cells if place[0] == PUBLISHED_N_SCL]
    found = finding_by("lead", by, _leads(cells, places, by))
    idle = []
    for n_scl, nodes in places:
        share = alike(cells, n_scl, nodes)
        if share >= ALIKE:
            idle.append(f"{100 * share:.0f} % of its games at {nodes:,} nodes")
    if found is None or not idle:
        return found
    scope = joined(found.scope, f"{HARDLY_ACTS}: {' and '.join(idle)} are PUCT's move for move")
    return replace(found, verdict="open", missing=None, scope=scope, claim=None)


def alike(cells: Cells, n_scl: int, nodes: int) -> float:
    """Share of the games of a cell that are move for move those of PUCT from the same openings; 0 without PUCT's."""
    if (PUCT, nodes) not in cells:
        return 0.0
    mine, plain = (cells[place, nodes].played.games for place in (n_scl, PUCT))
    same = [bool(a.moves == b.moves) for a, b in zip(mine, plain, strict=True)]
    return sum(same) / len(same)


def lead_of_any(cells: Cells, by: By) -> Finding | None:
    """Some N_scl is ahead of PUCT at the most nodes that both have."""
    both = [place for place in cells if place[0] != PUCT and (PUCT, place[1]) in cells]
    most = max((nodes for _, nodes in both), default=0)
    gains = _leads(cells, [place for place in both if place[1] == most], by)
    return finding_by("lead-of-any", by, gains, needs="any")


def _leads(cells: Cells, places: Sequence[tuple[int, int]], by: By) -> dict[str, Gain]:
    """The leads over PUCT at equal nodes; what matters is half of the paper's, by the logarithm of the nodes."""
    known = [math.log(nodes) for nodes in TABLE_1]
    published = [100 * (contempt - puct) for puct, contempt in TABLE_1.values()]
    leads = {}
    for n_scl, nodes in places:
        if (PUCT, nodes) not in cells:
            continue
        half = float(np.interp(math.log(nodes), known, published)) / 2
        ahead = gain(cells[PUCT, nodes], cells[n_scl, nodes], by)
        leads[f"{title(n_scl)} at {nodes:,} nodes"] = Gain(ahead, half, _lead_of_paper(n_scl, nodes))
    return leads


def _lead_of_paper(n_scl: int, nodes: int) -> float | None:
    """The paper's lead over PUCT; None for other nodes or another N_scl."""
    puct, contempt = TABLE_1.get(nodes, (0.0, 0.0))
    if n_scl == PUBLISHED_N_SCL and nodes in TABLE_1:
        return 100 * (contempt - puct)
    return None


def fits(cells: Cells, visits: int, by: By) -> Finding | None:
    """The odds taker's visits as N_scl are ahead of every N_scl that is APART from them, at the most nodes."""
    most = max((nodes for n_scl, nodes in cells if n_scl == visits), default=0)
    gains = {}
    for (n_scl, nodes), cell in cells.items():
        if nodes != most or n_scl == PUCT:
            continue
        if max(n_scl, visits) >= APART * min(n_scl, visits):
            ahead = gain(cell, cells[visits, most], by)
            gains[f"N_scl {visits} above {n_scl} at {most:,} nodes"] = Gain(ahead, SMALLEST_POINTS)
    return finding_by("best-n-scl", by, gains)


def finding_by(
    key: str,
    by: By,
    gains: Mapping[str, Gain],
    *,
    needs: Literal["all", "any"] = "all",
    shown: str = "",
    least: int = LEAST_UNITS,
) -> Finding | None:
    """Return the finding on a statement that is true where all gains, or any, are above 0; None without gains."""
    if not gains:
        return None
    units = {Mean: "games", ClusterMean: "openings"}
    sides = tuple(
        Inequality(
            f"{by}: {what}",
            one.measured,
            0.0,
            "above",
            least,
            unit=POINTS,
            of=units[type(one.measured)],
            matters=one.matters,
            source=one.source,
        )
        for what, one in gains.items()
    )
    scope = BY_SCORE if by == "score" else ""
    text = f"by {by}, {shown}" if shown else f"by {by}"
    return Finding.of(key, Claim(sides, needs=needs), text, scope)


def _result(game: Any, by: By) -> float:
    """Return what a game counts for: its score, or whether it was won."""
    return game.score if by == "score" else float(game.score == 1.0)


def gain(before: Cell, after: Cell, by: By) -> Mean | ClusterMean:
    """The gain of `after` in percentage points, game by game: the openings are the same."""
    games = list(zip(before.played.games, after.played.games, strict=True))
    gains = [100 * (_result(b, by) - _result(a, by)) for a, b in games]
    return by_opening(gains, [_opening(a) for a, _ in games])


def _difference(less: tuple[Cell, Cell], greater: tuple[Cell, Cell], by: By) -> Mean | ClusterMean:
    """How much more the second pair of cells gains than the first, game by game."""
    of_less = gain(*less, by).samples
    of_greater = gain(*greater, by).samples
    samples = [b - a for a, b in zip(of_less, of_greater, strict=True)]
    openings = [_opening(game) for game in less[0].played.games]
    return by_opening(samples, openings)


def _opening(game: Any) -> str:
    return f"{game.fen} {game.opening}"


def _of(cells: Cells, n_scl: int) -> list[Cell]:
    """The cells of an N_scl by their nodes."""
    return sorted((cell for (other, _), cell in cells.items() if other == n_scl), key=lambda cell: cell.nodes)


def _ends(cells: Cells) -> dict[int, tuple[Cell, Cell]]:
    """The cells of each N_scl with the least and the most nodes, where these differ."""
    found = {n_scl: _of(cells, n_scl) for n_scl, _ in cells}
    return {n_scl: (mine[0], mine[-1]) for n_scl, mine in found.items() if len(mine) > 1}


def _nodes(pair: tuple[Cell, Cell]) -> str:
    return f"{pair[0].nodes:,} to {pair[1].nodes:,}"


def _share_of(pair: tuple[Cell, Cell], rise: float) -> float:
    """Half of the paper's rise, from 100 to 20,000 nodes, that belongs to these nodes by their logarithm."""
    return rise / 2 * math.log(pair[1].nodes / pair[0].nodes) / math.log(max(TABLE_1) / min(TABLE_1))


def _score_text(cell: Cell) -> str:
    low, high = cell.played.tally.score_interval
    return f"{cell.score:.1%} [{low:.1%}, {high:.1%}] at {cell.nodes:,}"


CLAIMS = (
    *stated(
        f"{PAPER}, table 1",
        "rise | search-contempt at odds, N_scl 28, rises at every step of the nodes"
        " | 36.8, 57.8, 81.7 % at 100, 800, 20,000",
        "rise-at-ends | weaker: with some N_scl it scores more with the most nodes than with the least"
        " | 36.8, 57.8, 81.7 % at 100, 800, 20,000",
        "more | search-contempt, with some N_scl, gains more from the nodes than PUCT"
        " | +45 against +2 percentage points",
        "fall | PUCT rises, then falls | 23.4, 35.3, 25.4 %",
        "lead | search-contempt with N_scl 28 is ahead of PUCT at every number of nodes"
        " | +13, +23, +56 percentage points at 100, 800, 20,000",
        "lead-of-any | weaker: with some N_scl it is ahead of PUCT at the most nodes | +13, +23, +56 percentage points",
        "fine-tuned | a net that was fine-tuned at odds scores more with search-contempt than its parent"
        " | the paper's net was trained at queen odds"
        " | a run of runs/odds_queen.toml, then 400 games a cell with it and with its parent: about 6 core hours",
    ),
    *stated(
        f"{PAPER}, section 4.1",
        "best-nodes | PUCT is best at 800, 10,000 and 20,000 nodes with a queen, a rook and a knight off | 800, 10,000,"
        " 20,000 | 150 games a cell at six numbers of nodes up to 40,000, three handicaps: about 60 core hours",
        "people | search-contempt gains against people | +150 Elo"
        " | 200 games against people on a public server: weeks by the clock",
    ),
    *stated(
        "this laboratory",
        "best-n-scl | the best N_scl at odds is the number of the odds taker's visits | the author's for odds: 28",
    ),
)

GAMES = 200
"""Games of a setting; the paper does not say how many it played."""

OF_THE_TAKER = (1.0, 1 / 3, 3.0)
"""N_scl of the giver besides: in the odds taker's visits."""

GAME = "chess(fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1)"
TAKER = "visits=10 temperature=0.5"
OPENING_PLIES = 2
LINES = 200
LEAST_NODES = 100
SHOWN = ("search", "nodes", "wins", "draws", "losses", "score", "low_95", "high_95", "paper")
"""Columns of the rows that are shown."""

GROWTH = 4
WORTH = {"q": 9, "r": 5, "b": 3, "n": 3, "p": 1}
"""Usual values of pieces: the giver has less."""


def make(setting: Setting) -> Result:
    """Play every cell of the table, then draw it."""
    planned = matches(setting)
    played = play(setting, planned.values())
    cells = {}
    for (n_scl, nodes), match in planned.items():
        if match.name in played:
            cells[n_scl, nodes] = Cell(n_scl, nodes, played[match.name])
    taker = ht.Player.from_text(odds_taker(setting))
    _, fen = start(setting)
    facts = {"odds_taker": taker.model_dump(exclude_defaults=True), "start": fen, "side": setting.side}
    found = findings(cells, taker.visits)
    rows = [_row(cell) for cell in cells.values()]
    texts = [columns(rows, *SHOWN)]
    return Result(rows, found, [figure(cells)], texts, facts).scoped(*scopes(setting, cells))


def scopes(setting: Setting, cells: Cells) -> tuple[str, ...]:
    """In what the cells differ from the paper's besides their openings and odds taker, which it does not state."""
    game, _ = start(setting)
    most = max((nodes for _, nodes in cells), default=0)
    odds = (
        ""
        if game != "chess" or ht.load_game(setting.game or GAME).spec == ht.load_game(GAME).spec
        else "other odds than the queen"
    )
    nodes = "" if most >= max(TABLE_1) else f"up to {most:,} nodes, not {max(TABLE_1):,}"
    return ("" if game == "chess" else "another game", odds, nodes)


def matches(setting: Setting) -> dict[tuple[int, int], Match]:
    """The matches by N_scl and nodes, all from the same openings; the cheap ones first."""
    game, fen = start(setting)
    games = setting.scaled(GAMES, 2)
    taker = odds_taker(setting)
    lines = () if fen is None else odds_lines(game, fen)
    colours: Literal["first", "second"] = "first" if giver_is_first(setting) else "second"
    found = {}
    for nodes in node_counts(setting.visits):
        for n_scl in (PUCT, *n_scls(ht.Player.from_text(taker))):
            words = f"visits={nodes} {HYBRID if n_scl == PUCT else contempt(n_scl)}"
            giver = with_net(words, setting.net, setting.precision)
            name = f"{label(n_scl)}-{nodes}"
            found[n_scl, nodes] = Match(name, giver, taker, games, game=game, colours=colours, openings=lines)
    return found


def n_scls(taker: ht.Player) -> list[int]:
    """N_scl of the giver: the published one, and the odds taker's visits, a third of them, three times as many.

    Not three times as many where the published one is between 2 and 4 times; a taker without a net has no others.
    """
    if not taker.has_net:
        return [PUBLISHED_N_SCL]
    own = [max(1, round(factor * taker.visits)) for factor in OF_THE_TAKER]
    if 2 * own[0] <= PUBLISHED_N_SCL <= 4 * own[0]:
        own.pop()
    return list(dict.fromkeys([PUBLISHED_N_SCL, *own]))


def node_counts(most: int | None) -> list[int]:
    """The paper's node counts; with another limit the counts below it in steps of a factor 4, down to 100."""
    if most is None:
        return sorted(TABLE_1)
    counts = [most]
    while counts[0] >= GROWTH * LEAST_NODES:
        counts.insert(0, round(counts[0] / GROWTH))
    return counts


def start(setting: Setting) -> tuple[str, str | None]:
    """The game without its position, and the position of the odds; None: the game's start, where a side gives them.

    ValueError where there is neither, or both.
    """
    spec = setting.game or GAME
    name, _, rest = spec.partition("(")
    if setting.side is not None:
        if name in ("chess", "minichess"):
            raise ValueError(f"--side is for games without pieces, such as connect4; {name} has a position as its odds")
        return ht.load_game(spec).spec, None
    key, equals, fen = rest.removesuffix(")").partition("=")
    if key.strip() != "fen" or not equals or "=" in fen:
        needed = (
            "the position of the odds as --game 'chess(fen=...)', or in a game without pieces the --side that gives"
        )
        raise ValueError(f"contempt-odds needs {needed}, got {spec!r}")
    ht.load_game(spec)
    return name, fen


def giver_is_first(setting: Setting) -> bool:
    """Return whether the giver has the first move: by --side, or as the one with less material.

    ValueError where both have as many.
    """
    if setting.side is not None:
        return setting.side == "first"
    fen = str(start(setting)[1])
    pieces, *_ = fen.split()
    white = sum(WORTH.get(sign.lower(), 0) for sign in pieces if sign.isupper())
    black = sum(WORTH.get(sign.lower(), 0) for sign in pieces if not sign.isupper())
    if white == black:
        raise ValueError(f"no odds: both sides have the same material in {fen}")
    return white < black


def odds_taker(setting: Setting) -> str:
    """The fixed opponent as text; with the giver's net unless it names one or has none."""
    words = setting.opponent or TAKER
    try:
        player = ht.Player.from_text(words)
    except ValueError as error:
        raise ValueError(f"--opponent: {error}") from None
    if not player.has_net:
        return words
    net = setting.net if player.net is None else None
    precision = None if player.precision else setting.precision
    return with_net(words, net, precision)


def odds_lines(game: str, fen: str) -> list[str]:
    """Return LINES positions after two random plies, one by each side, so that games differ from the start."""
    begin = ht.load_game(f"{game}(fen={fen})").new_initial_state()
    lines = []
    for number in range(LINES):
        random = ht.stream(1, "odds opening", number)
        line = None
        while line is None:
            line = _random_line(begin.copy(), random)
        lines.append(line)
    return lines


def _random_line(state: ht.State, random: Any) -> str | None:
    """Play OPENING_PLIES random moves; None where they end the game."""
    for _ in range(OPENING_PLIES):
        state.apply(int(random.choice(state.legal_actions())))
        if state.outcome() is not None:
            return None
    return state.notation()


def label(n_scl: int) -> str:
    """Return the label of a setting in folder names."""
    return "puct" if n_scl == PUCT else f"n{n_scl}"


def _row(cell: Cell) -> dict[str, Any]:
    paper = dict(zip((PUCT, PUBLISHED_N_SCL), TABLE_1.get(cell.nodes, ()), strict=False)).get(cell.n_scl)
    return {"search": label(cell.n_scl), **row_of(cell), "paper": paper}


def row_of(cell: Cell) -> dict[str, Any]:
    """The nodes of a cell, its results, and the score of the giver with its interval."""
    record = cell.played.tally.record
    low, high = cell.played.tally.score_interval
    row: dict[str, Any] = {
        "nodes": cell.nodes,
        "games": record.games,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
    }
    for kind, count in cell.drawn.items():
        row[f"draws_{kind.replace(' ', '_')}"] = count
    row["score"] = cell.score
    row["low_95"] = low
    row["high_95"] = high
    return row


def figure(cells: Mapping[tuple[int, int], Cell]) -> ht.Figure:
    """Score by nodes, a line a setting, and the paper's."""
    by_setting: dict[int, list[Cell]] = {}
    for cell in cells.values():
        by_setting.setdefault(cell.n_scl, []).append(cell)
    lines = []
    for number, (n_scl, mine) in enumerate(by_setting.items()):
        nodes = []
        scores = []
        for cell in mine:
            nodes.append(cell.nodes)
            scores.append(Interval(cell.score, len(cell.played.games), cell.played.tally.interval))
        colour = COLOURS[number % len(COLOURS)]
        lines.append(points(title(n_scl), nodes, scores, colour, joined=True))
    for place, name in enumerate(("PUCT", title(PUBLISHED_N_SCL))):
        values = [scores[place] for scores in TABLE_1.values()]
        lines.append(ht.Series(f"paper, {name}", list(TABLE_1), values, COLOURS[place], dashed=True))
    games = next(iter(cells.values())).played.tally.record.games if cells else 0
    return ht.Figure(
        "contempt-odds",
        "Odds by nodes",
        f"The giver's score against a fixed odds taker, {games:,} games a point, 95 %. Dashed: the paper.",
        "score of the giver",
        "nodes a move",
        lines=tuple(lines),
        percent=True,
        x_log=True,
    )


EXPERIMENTS = (
    Experiment(
        "contempt-odds",
        f"{PAPER}, table 1",
        "odds: score by nodes, PUCT and search-contempt",
        make,
        claims=CLAIMS,
        matches=lambda setting: chosen(setting, matches(setting).values()),
        uses=("nets", "visits", "game", "opponent", "side", "precision", "only"),
        looks=True,
    ),
)
