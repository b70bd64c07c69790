"""The parts of the paper and of the pages of findings: tables, numbers and figures, from claims and kept results."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import exact_part
import tree_part
from hauteur.plots.figure import Figure, Series
from hauteur_experiments.deciding import OWN_GAMES, OWN_LABORATORY, Row, differences_of, verdict_of
from hauteur_experiments.kept import KeptGame, KeptRun, read_run
from hauteur_experiments.measured import Record, by_opening
from hauteur_experiments.ratio import ratio_of
from hauteur_experiments.search_contempt.settings import N_SCL_SETS, TAU_SETS
from hauteur_experiments.summary import counts, number_of, summary_table

RESULTS = Path(__file__).resolve().parent.parent.parent / "docs" / "experiments" / "results"
RULES = "Every rule in four games"
NONE = "-"
POINTS = "percentage points"


class Quantity(NamedTuple):
    """A measured value and the ends of its interval of 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def numbers(row: Row) -> dict[str, Quantity]:
    """The quantities of a line by their words; an end without a bound is infinite."""
    found = {}
    for number in json.loads(row["numbers"]):
        low = -math.inf if number["low"] is None else number["low"]
        high = math.inf if number["high"] is None else number["high"]
        found[number["what"]] = Quantity(number["value"], low, high)
    return found


def measured(rows: Sequence[Row], claim: str, *words: str) -> list[Row]:
    """The measured lines of a claim that begins so, whose command has these words. ValueError where there is none."""
    of_claim = [row for row in rows if claim in row["claim"] and row["measured"]]
    found = [row for row in of_claim if all(word in row["command"] for word in words)]
    if not found:
        raise ValueError(f"no measured line of the claim {claim!r} has {', '.join(words)} in its command")
    return found


def table(header: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    rows: list[Sequence[object]] = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)


# -- kept games --------------------------------------------------------------------------------------------------------


@cache
def kept_run(run: str) -> KeptRun:
    """A kept run by its name."""
    return read_run(RESULTS / f"{run}.json")


def record_of(games: Sequence[KeptGame]) -> Record:
    """Won, drawn and lost of the first player."""
    counts = Counter(game.score for game in games)
    return Record(counts[1.0], counts[0.5], counts[0.0])


def lead(before: Sequence[KeptGame], after: Sequence[KeptGame], *, won: bool = False) -> Quantity:
    """How much more the second cell scores, or wins, game by game from the same openings, in percentage points."""

    def points(game: KeptGame) -> float:
        return float(game.score == 1.0) if won else game.score

    pairs = [(a, b) for a, b in zip(before, after, strict=False) if a.opening == b.opening]
    gains = [100 * (points(b) - points(a)) for a, b in pairs]
    return quantity_of(gains, [a.opening for a, _ in pairs])


def quantity_of(samples: Sequence[float], openings: Sequence[int]) -> Quantity:
    """The mean of values of games with its interval, by openings."""
    mean = by_opening(samples, openings)
    return Quantity(mean.value, *mean.interval(0.95))


# -- odds --------------------------------------------------------------------------------------------------------------


class Odds(NamedTuple):
    """A setting at odds."""

    title: str
    """Name in tables and figures."""
    taker: int
    """Visits of the odds taker."""
    nodes: int
    """Nodes of the player who gives odds."""
    words: tuple[str, ...]
    """Words of its command."""
    run: str = ""
    """Name of the kept run; empty where the games were not kept, and claims have its numbers alone."""


_MINICHESS = "minichess(fen=rnbqk"
_QUEEN = "--scale 0.75 --opponent 'net=maia-1900 "
ODDS = (
    Odds("minichess, 1 visit", 1, 1600, (_MINICHESS, "visits=1 ")),
    Odds("minichess, 3", 3, 1600, (_MINICHESS, "visits=3 ")),
    Odds("minichess, 10", 10, 6400, (_MINICHESS, "--visits 6400")),
    Odds("minichess, 30", 30, 1600, (_MINICHESS, "visits=30 ")),
    Odds("chess, 1 visit", 1, 800, (f"{_QUEEN}visits=1 ",), "contempt-odds-queen-1v"),
    Odds("chess, 10", 10, 800, (f"{_QUEEN}visits=10 ",), "contempt-odds-queen-10v"),
    Odds("chess, rooks off too, 1", 1, 800, ("chess(fen=1nbqkbn1", "temperature=1"), "contempt-odds-q2r-1900"),
)
TRIED = (1, 3, 9, 10, 28, 30, 90)
"""N_scl of the runs of minichess."""

AHEAD = "with some N_scl it is ahead of PUCT at the most nodes"


def odds_leads(rows: Sequence[Row], one: Odds, *, won: bool = False) -> dict[int, Quantity]:
    """The lead over PUCT at the most nodes by N_scl, in percentage points; empty where wins are not recorded."""
    if one.run:
        cells = kept_run(one.run).games
        plain = cells[f"puct-{one.nodes}"]
        tried = n_scl_cells(cells)
        return {n_scl: lead(plain, games, won=won) for (n_scl, nodes), games in tried.items() if nodes == one.nodes}
    return {} if won else _recorded_leads(rows, one)


def n_scl_cells(cells: Mapping[str, list[KeptGame]]) -> dict[tuple[int, int], list[KeptGame]]:
    """The games of the cells named `nNUMBER-NODES`, by N_scl and nodes, in the order of their names."""
    found = {}
    for name in sorted(cells):
        player, _, nodes = name.partition("-")
        if player[0] == "n" and player[1:].isdecimal() and nodes.isdecimal():
            found[int(player[1:]), int(nodes)] = cells[name]
    return found


def _recorded_leads(rows: Sequence[Row], one: Odds) -> dict[int, Quantity]:
    """The leads by score of a run whose games were not kept."""
    known: dict[str, Quantity] = {}
    for row in measured(rows, AHEAD, *one.words):
        known |= numbers(row)
    names = {n_scl: f"N_scl {n_scl} at {one.nodes:,} nodes" for n_scl in TRIED}
    return {n_scl: known[name] for n_scl, name in names.items() if name in known}


def nearest(leads: Mapping[int, Quantity], visits: int) -> int:
    """The N_scl that was tried and is nearest to the odds taker's visits, by their ratio."""
    return min(leads, key=lambda n_scl: (max(n_scl / visits, visits / n_scl), n_scl))


def odds_table(rows: Sequence[Row]) -> str:
    """The lead over PUCT at odds by the odds taker: with the published N_scl and with the one nearest to its visits."""
    lines = []
    for one in ODDS:
        score = odds_leads(rows, one)
        wins = odds_leads(rows, one, won=True)
        near = nearest(score, one.taker)
        verdict = " / ".join(dict.fromkeys(verdict_of(row) for row in measured(rows, AHEAD, *one.words)))
        nodes = f"{one.nodes:,}"
        won = wins.get(near, NONE)
        lines.append((one.title, nodes, score[28], near, score[near], won, verdict))
    header = ("odds taker", "nodes", "N_scl 28", "nearest", "its lead", "in games won", "verdict")
    return table(header, lines)


def odds_best(rows: Sequence[Row], game: str) -> str:
    """The odds taker at which the lead of the nearest N_scl is greatest in a game, in words, with the lead."""
    leads = {one: odds_leads(rows, one) for one in ODDS if one.title.startswith(game)}
    found = {one.title: score[nearest(score, one.taker)] for one, score in leads.items()}
    best = max(found, key=lambda title: found[title].value)
    return f"{best.partition(', ')[2]} ({found[best]})"


def odds_ends() -> str:
    """How games of chess at odds were won and drawn, by PUCT and by the N_scl nearest to the odds taker's visits."""
    lines = []
    for one in (one for one in ODDS if one.run):
        near = nearest(odds_leads((), one), one.taker)
        for label, name in (("PUCT", "puct"), (f"N_scl {near}", f"n{near}")):
            games = kept_run(one.run).games[f"{name}-{one.nodes}"]
            record = record_of(games)
            ends = Counter(game.end for game in games if game.score == 0.5)
            kinds = (ends.pop("threefold repetition", 0), ends.pop("stalemate", 0), sum(ends.values()))
            lines.append((f"{one.title}: {label}", record.wins, *kinds, record.losses))
    return table(("odds taker, search", "won", "repetition", "stalemate", "other draws", "lost"), lines)


def odds_shares() -> str:
    """The leads of chess that exclude 0, by score and in games won."""
    texts = []
    for one in (one for one in ODDS if one.run):
        leads = odds_leads((), one)
        wins = odds_leads((), one, won=True)
        for n_scl, found in leads.items():
            if found.low > 0:
                texts.append(f"{one.title}, N_scl {n_scl}: {found} by score and {wins[n_scl]} in games won")
    return "; ".join(texts) or "none"


EVEN_LOSES = "in even games search-contempt or a model loses"
EVEN = {100: "odds-models-even-1500-100", 400: "odds-models-even-1500-400"}


def even_leads() -> dict[tuple[int, int], Quantity]:
    """The lead over PUCT in even games of chess, by nodes and N_scl, against a score of one half."""
    found = {}
    for nodes, run in EVEN.items():
        for (n_scl, _), games in n_scl_cells(kept_run(run).games).items():
            scores = [100 * game.score - 50 for game in games]
            found[nodes, n_scl] = quantity_of(scores, [game.opening for game in games])
    return dict(sorted(found.items()))


def even_table() -> str:
    """Search-contempt in even games against PUCT of as many nodes."""
    leads = even_leads()
    numbers = sorted({n_scl for _, n_scl in leads})
    lines = [(f"{nodes:,}", *(leads[nodes, n_scl] for n_scl in numbers)) for nodes in EVEN]
    return table(("nodes", *(f"N_scl {n_scl}" for n_scl in numbers)), lines)


def odds_figure(rows: Sequence[Row]) -> Figure:
    """The lead over PUCT by odds taker."""
    lines = []
    near = "N_scl nearest to its visits"
    for name, shift, colour in (("N_scl 28", -0.1, "orange"), (near, 0.1, "blue")):
        found = [(score := odds_leads(rows, one))[nearest(score, one.taker) if name == near else 28] for one in ODDS]
        lines.append(_points(name, [place + shift for place in range(1, len(ODDS) + 1)], found, colour))
    text = "Lead in score over PUCT at equal nodes, against odds takers of these visits; 95 % intervals."
    names = [one.title for one in ODDS]
    return _figure(("finding-odds", "Search-contempt at odds", text, f"lead, {POINTS}", "odds taker"), lines, names)


def _points(name: str, xs: Sequence[float], found: Sequence[Quantity], colour: str) -> Series:
    low, high = ([one[place] for one in found] for place in (1, 2))
    return Series(name, xs, [one.value for one in found], colour, low=low, high=high, joined=False)


def _figure(words: tuple[str, str, str, str, str], lines: Sequence[Series], names: Sequence[str]) -> Figure:
    style: dict[str, Any] = {"threshold": 0.0, "threshold_name": "no difference"}
    return Figure(*words, lines=tuple(lines), x_names=tuple(names), **style)


# -- two nets ----------------------------------------------------------------------------------------------------------

REGIME = "mpv-regime --"
"""In the command of the run with noisy copies in Connect Four."""


LEVEL = "a pair of nets beats each alone at equal budget"
LEVEL_BUDGETS = (16, 64)
"""Of the lines of that claim, in their order."""

OVER_SMALL = "pair over the small net"
OVER_LARGE = "over the large net"
ALONE = ", small against large"
"""Ends the words of the difference of two nets alone; those before it name the cell."""

APART = "where one net alone is clearly better"


class Pair(NamedTuple):
    """A pair of nets in one tree."""

    name: str
    """Name in figures."""
    apart: float | None
    """Elo of the small net alone against the large one; None where they are level."""
    lead: Quantity
    """Elo of the pair over the better net or, of level nets, over the one that is nearer to it."""


def pairs_of(rows: Sequence[Row]) -> list[Pair]:
    """The pairs in the table of claims: those that are level, then the others, from the weakest small net on."""
    level = measured(rows, LEVEL, REGIME)
    found = []
    for budget, row in zip(LEVEL_BUDGETS, level, strict=True):
        found.append(Pair(f"level, {budget}", None, min(numbers(row).values())))
    apart = [pair for row in measured(rows, APART, REGIME) for pair in _pairs_apart(row)]
    return [*found, *sorted(apart, key=lambda one: one.apart or 0.0)]


def _pairs_apart(row: Row) -> list[Pair]:
    """The pairs of nets that are not level, in one line."""
    known = numbers(row)
    found = []
    for what, alone in known.items():
        if what.endswith(ALONE):
            better = "small" if alone.value > 0 else "large"
            over = known[f"{what.removesuffix(ALONE)}, pair over the {better} net"]
            found.append(Pair(f"{alone.value:+.0f}", alone.value, over))
    return found


def pair_table(rows: Sequence[Row]) -> str:
    """Pairs of level nets against both, then pairs of others against the better one."""
    lines = []
    for row in measured(rows, LEVEL, REGIME):
        known = numbers(row)
        small = known[OVER_SMALL]
        large = known[OVER_LARGE]
        lines.append(("level", f"{small} over the small, {large} over the large", row["games"], verdict_of(row)))
    others = [one for one in pairs_of(rows) if one.apart is not None]
    lines += [(f"{one.apart:+.0f}", f"{one.lead} over the better", NONE, NONE) for one in others]
    return table(("small net against large, Elo", "the pair, Elo", "games", "the pair beats both"), lines)


def pair_figure(rows: Sequence[Row]) -> Figure:
    """The lead of the pair over the better net."""
    found = sorted(pairs_of(rows), key=lambda one: one.apart or 0.0)
    lines = [_points("pair", range(1, len(found) + 1), [one.lead for one in found], "blue")]
    text = "Elo of a pair above the better of its nets alone (of level nets, the nearer); Connect Four, 95 % intervals."
    names = [one.name for one in found]
    x_name = "small net alone against the large one, Elo"
    return _figure(("finding-pairs", "Two nets in one tree", text, "Elo", x_name), lines, names)


# -- training ----------------------------------------------------------------------------------------------------------

THESIS = "training with search-contempt is better or cheaper"


def training(rows: Sequence[Row]) -> list[Quantity]:
    """The share that search-contempt keeps above the cool temperature and above the warm one."""
    known = numbers(measured(rows, THESIS, "contempt-training")[-1])
    return [known[f"share kept over the evaluations, above PUCT, {name}"] for name in ("tau_1", "tau_2")]


def training_figure(rows: Sequence[Row]) -> Figure:
    """The share that a net keeps that learned from search-contempt, above two temperatures."""
    found = training(rows)
    text = "Solved positions kept over a run by a net that learned with search-contempt, above PUCT; 95 % by seeds."
    names = ["PUCT, cool: tau_1", "PUCT, warm: tau_2"]
    lines = [_points("N_scl 10", (1, 2), found, "blue")]
    return _figure(("finding-temperature", "Learning from search-contempt", text, POINTS, "above"), lines, names)


# -- rules -------------------------------------------------------------------------------------------------------------


def rule_cells(rows: Sequence[Row]) -> list[tuple[str, str, Quantity, str]]:
    """The measured cells of the table of rules: rule, game, Elo, verdict."""
    cells = []
    for row in rows:
        if row["subject"] == RULES and row["measured"]:
            rule, _, game = row["claim"].partition(" in ")
            cells.append((rule, game, numbers(row)["Elo"], verdict_of(row)))
    return cells


def rules_table(rows: Sequence[Row]) -> str:
    """Elo of every rule by game, with its verdict."""
    found = rule_cells(rows)
    cells = {
        (rule, game): f"{v.value:+.0f} [{v.low:+.0f}, {v.high:+.0f}], {verdict}" for rule, game, v, verdict in found
    }
    games = list(dict.fromkeys(game for _, game in cells))
    rules = dict.fromkeys(rule for rule, _ in cells)
    lines = [(rule, *(cells.get((rule, game), NONE) for game in games)) for rule in rules]
    return table(("rule", *games), lines)


def rules_counts(rows: Sequence[Row]) -> str:
    """How many cells have each verdict."""
    counts = Counter(verdict for *_, verdict in rule_cells(rows))
    return f"{sum(counts.values())} cells: {', '.join(f'{count} {name}' for name, count in counts.most_common())}"


def rules_with(rows: Sequence[Row], verdict: str) -> str:
    """The cells of a verdict, in words."""
    cells = [cell for cell in rule_cells(rows) if cell[3] == verdict]
    found = [f"{rule} in {game} ({one.value:+.0f} [{one.low:+.0f}, {one.high:+.0f}])" for rule, game, one, _ in cells]
    return ", ".join(found) or "none"


def beyond_zero(rows: Sequence[Row], rule: str) -> str:
    """In how many games the interval of a rule lies above 0, and in how many its cell holds."""
    cells = [(found, verdict) for name, _, found, verdict in rule_cells(rows) if name == rule]
    above = sum(found.low > 0 for found, _ in cells)
    holds = sum(verdict == "holds" for _, verdict in cells)
    total = len(cells)
    return f"is above 0 with 95 % in {above} of {total} games, and as one cell of the table decided in {holds}"


def rules_figure(rows: Sequence[Row]) -> Figure:
    """Elo of every rule by game."""
    cells = rule_cells(rows)
    rules = list(dict.fromkeys(cell[0] for cell in cells))
    games = list(dict.fromkeys(cell[1] for cell in cells))
    lines = []
    for number, game in enumerate(games):
        mine = [cell for cell in cells if cell[1] == game]
        xs = [rules.index(cell[0]) + 1 + 0.15 * (number - (len(games) - 1) / 2) for cell in mine]
        lines.append(_points(game, xs, [cell[2] for cell in mine], ("blue", "orange", "green", "purple")[number]))
    text = "Elo of the base with a rule against the base, 100 visits a move; 95 % intervals."
    return _figure(("finding-rules", "Search rules by game", text, "Elo", "rule"), lines, rules)


# -- self-play ---------------------------------------------------------------------------------------------------------

SETS = {"contempt-wdl-1900": N_SCL_SETS, "temperature-wdl-1900": TAU_SETS}


def ratio_table() -> str:
    """White's results in self-play of chess by setting, and the source's."""
    lines = []
    for run, sets in SETS.items():
        for one in sets:
            here = record_of(kept_run(run).games[one.name])
            lines.append((one.title, _counts(here), _ratio(here), _counts(one.paper), _ratio(one.paper)))
    return table(("setting", "won, drawn, lost", "(w + l)/d", "the source", "its (w + l)/d"), lines)


def _counts(one: Record) -> str:
    return f"{one.wins}, {one.draws}, {one.losses}"


def _ratio(one: Record) -> Quantity:
    return Quantity((one.wins + one.losses) / one.draws, *ratio_of(one).interval(0.95))


def ratio_figure() -> Figure:
    """Decisive games a draw, here and in the source."""
    sets = [(run, one) for run, many in SETS.items() for one in many]
    here = [_ratio(record_of(kept_run(run).games[one.name])) for run, one in sets]
    there = [_ratio(one.paper) for _, one in sets]
    places = range(1, len(sets) + 1)
    lines = [_points("the source", [place - 0.08 for place in places], there, "orange")]
    lines.append(_points("here", [place + 0.08 for place in places], here, "blue"))
    text = "Self-play of chess with maia-1900 at 200 visits, and the source's; 95 % intervals."
    names = tuple(one.title for _, one in sets)
    title = "Decisive games a draw"
    return Figure("decisive", title, text, "(w + l)/d", "setting", lines=tuple(lines), log=True, x_names=names)


# -- claims ------------------------------------------------------------------------------------------------------------


def own(rows: Sequence[Row]) -> list[Row]:
    """The lines on statements of the sources."""
    games = [row for row in rows if row["subject"] in (*OWN_GAMES, "Learning")]
    return [row for row in games if not row["claim"].startswith(OWN_LABORATORY)]


def not_run(rows: Sequence[Row]) -> str:
    """The statements without a measurement, by what they need."""
    made = {row["claim"] for row in rows if row["measured"]}
    by_need: dict[tuple[str, str], dict[str, None]] = {}
    for row in own(rows):
        if row["claim"] not in made:
            source, _, statement = row["claim"].partition(": ")
            needs = row["verdict"].partition("needs ")[2] or NONE
            by_need.setdefault((source, needs), {})[statement] = None
    seen = set[tuple[str, str]]()
    lines = []
    for (source, needs), statements in by_need.items():
        new = [one for one in statements if (source, one) not in seen]
        seen |= {(source, one) for one in new}
        if new:
            lines.append((source, "; ".join(new), needs))
    return table(("source", "statements", "needs"), lines)


def verdicts(rows: Sequence[Row], *places: tuple[str, ...]) -> str:
    """The lines of claims with their verdicts. places: beginning of each claim, and words of its command."""
    lines = []
    for claim, *words in places:
        for row in measured(rows, claim, *words):
            source = row["claim"].partition(": ")[2]
            scope = "; ".join(differences_of(row)) or NONE
            verdict = verdict_of(row) + (f" in {row['test']}" if verdict_of(row) == "holds" else "")
            here = (number_of(row), row["times"] or NONE, row["games"])
            lines.append((source, row["figure"].partition(", ")[0], *here, verdict, scope))
    return table(("claim", "the source", "here", "times the source's", "size", "verdict", "differs in"), lines)


def verdict_words(rows: Sequence[Row], claim: str, *words: str) -> str:
    """The verdicts of the lines of a claim, in their order."""
    return ", ".join(f"*{verdict_of(row)}*" for row in measured(rows, claim, *words))


def comparisons(rows: Sequence[Row]) -> str:
    """How many measured lines have each verdict, of the sources' statements."""
    found = Counter(verdict_of(row) for row in own(rows) if row["measured"])
    texts = ", ".join(f"{count} {name}" for name, count in found.most_common())
    return f"{sum(found.values())} measured comparisons: {texts}"


def kept() -> str:
    """How many runs are kept as JSON, and how many games have a line in them."""
    runs = sorted(RESULTS.glob("*.json"))
    games = sum(len(one) for path in runs for one in read_run(path).games.values())
    return f"{len(runs)} runs with {games:,} games"


def parts(rows: Sequence[Row]) -> dict[str, str]:
    """Every part by its name."""
    tau_1, tau_2 = training(rows)
    exact = kept_run(exact_part.RUN)
    tree = kept_run(tree_part.RUN)
    return {
        "counts": counts(rows).text,
        "comparisons": comparisons(rows),
        "claims-table": summary_table(rows),
        "not-run": not_run(rows),
        "kept": kept(),
        "odds-table": odds_table(rows),
        "odds-minichess": odds_best(rows, "minichess"),
        "odds-chess": odds_best(rows, "chess"),
        "odds-ends": odds_ends(),
        "odds-shares": odds_shares(),
        "even-table": even_table(),
        "even-verdicts": verdict_words(rows, EVEN_LOSES, "odds-models-even --visits"),
        "pair-table": pair_table(rows),
        "pair-grows": verdict_words(rows, "where the nets are level", REGIME),
        "pair-apart": verdict_words(rows, APART, REGIME),
        "training-tau-1": str(tau_1),
        "training-tau-2": str(tau_2),
        "training-verdict": verdict_words(rows, THESIS, "contempt-training --scale"),
        "rules-table": rules_table(rows),
        "rules-counts": rules_counts(rows),
        "rules-hold": rules_with(rows, "holds"),
        "rules-fail": rules_with(rows, "does not hold"),
        "rules-none": rules_with(rows, "no such effect"),
        "lower-bound": beyond_zero(rows, "lower-bound"),
        "exact-table": exact_part.exact_table(exact),
        "exact-counts": exact_part.exact_counts(exact),
        "exact-base": exact_part.exact_base(exact),
        "exact-positions": exact_part.exact_positions(exact),
        "exact-twice": exact_part.exact_twice(exact),
        "tree-table": tree_part.tree_table(tree, tree_part.OF_CONTROL),
        "tree-verdicts": tree_part.tree_verdicts(tree, tree_part.OF_CONTROL),
        "tree-duels": tree_part.tree_duels(tree, tree_part.OF_CONTROL),
        "tree-costs": tree_part.tree_costs(tree),
        "ratio-table": ratio_table(),
        "published-verdicts": verdicts(rows, ("Videodr0me, MCTS experiments",)),
    }


def figures(rows: Sequence[Row]) -> dict[str, Figure]:
    """Every figure by its place in the checkout."""
    found = [odds_figure(rows), pair_figure(rows), training_figure(rows), rules_figure(rows)]
    found.append(exact_part.exact_figure(kept_run(exact_part.RUN)))
    found.append(tree_part.tree_figure(kept_run(tree_part.RUN)))
    made = {f"docs/experiments/{one.key}.png": one for one in found}
    return {**made, "docs/paper/decisive.png": ratio_figure()}
