"""Printed figures of the documents, each computed again from the kept games by arithmetic of its own.

    python checks/printed_figures.py                # every figure: document, printed, recomputed, agree or not
    python checks/printed_figures.py --differ       # only those that do not agree

Nothing of hauteur is imported, so that a fault of its statistics would show. The methods are those that
docs/reference/ratings.md and docs/reference/verdicts.md state: of matches Wilson's interval by pairs, of differences
game by game Student's by openings, of (w + l)/d Wilson's, of learning runs the exact permutation test. A value agrees
where it rounds to what is printed, an end of an interval where it is within one of the last digit. Status 1 where a
figure is not printed or does not agree.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "docs" / "experiments"
RESULTS = EXPERIMENTS / "results"
Z = 1.959963985
ELO = 400 / math.log(10)
NUMBER = re.compile(r"[−+-]?(?:\d[\d,]*\.?\d*|\.\d+)")


class Interval(NamedTuple):
    """A value and the ends of its interval of 95 %."""

    value: float
    low: float
    high: float


class Printed(NamedTuple):
    """A figure of a document."""

    document: str
    """Path in the checkout."""
    context: str
    """Words of the line that has it; empty: any line."""
    text: str
    """The figure as it is printed; # stands for a number that is read there."""
    value: Callable[[], Sequence[float]]
    """Its numbers, in the order in which they are printed."""


# -- kept games --------------------------------------------------------------------------------------------------------


@cache
def stored(name: str) -> dict[str, Any]:
    """Return the file of a kept run."""
    return dict(json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")))


def games(run: str, match: str) -> dict[str, Any]:
    """Return the games of a match as columns."""
    return dict(stored(run)["matches"][match]["games"])


def record(run: str, *matches: str) -> tuple[int, int, int]:
    """Return won, drawn and lost of player A in matches together."""
    found: Counter[float] = Counter()
    for match in matches:
        found.update(games(run, match)["score"])
    return found[1], found[0.5], found[0]


def percent(run: str, *matches: str) -> float:
    """Return the score of matches together in %."""
    wins, draws, losses = record(run, *matches)
    return 100 * (wins + draws / 2) / (wins + draws + losses)


# -- statistics --------------------------------------------------------------------------------------------------------


PRIOR = ((0.0, 1 / 9), (0.25, 2 / 9), (0.5, 3 / 9), (0.75, 2 / 9), (1.0, 1 / 9))
"""A pair of two independent games, won, drawn and lost alike often: shares of points, and how often each is."""


def wilson(run: str, *matches: str) -> tuple[float, float]:
    """Return the score of matches as its logit, and the half of Wilson's interval on that scale.

    By pairs, with one pair more that is `PRIOR`; where openings repeat no narrower than by openings.
    """
    points: list[float] = []
    openings: list[int] = []
    pairs: list[float] = []
    for match in matches:
        found = games(run, match)
        scores = found["score"]
        points += scores
        openings += found["opening"]
        pairs += [(a + b) / 2 for a, b in zip(scores[::2], scores[1::2], strict=True)]
    score = sum(points) / len(points)
    weights = [*((one, 1.0) for one in pairs), *PRIOR]
    total = len(pairs) + 1
    middle = sum(one * weight for one, weight in weights) / total
    spread = sum(weight * (one - middle) ** 2 for one, weight in weights) / total
    effective = len(points) * middle * (1 - middle) / (2 * spread)
    half = _half(score, Z / math.sqrt(effective))
    if 8 <= len(set(openings)) < len(pairs):
        _, error, count = by_opening(points, openings)
        half = max(half, _half(score, student(count - 1) * error / math.sqrt(score * (1 - score))))
    return math.log(score / (1 - score)), half


def _half(score: float, width: float) -> float:
    """Return the half of Wilson's interval as a logit. width: quantile over the root of the number of games."""
    return 2 * math.asinh(width / (2 * math.sqrt(score * (1 - score))))


def elo(run: str, *matches: str) -> Interval:
    """Return the Elo of player A in matches together."""
    logit, half = wilson(run, *matches)
    return Interval(*(ELO * one for one in (logit, logit - half, logit + half)))


def score(run: str, *matches: str) -> Interval:
    """Return the score in %, with Wilson's interval."""
    logit, half = wilson(run, *matches)
    return Interval(*(100 / (1 + math.exp(-one)) for one in (logit, logit - half, logit + half)))


@cache
def student(freedom: int) -> float:
    """Return the quantile 97.5 % of Student's t, by integration and bisection."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    total = 0.5
    place = 0.0
    step = 0.0005
    while total < 0.975:
        total += step * scale * (1 + (place + step / 2) ** 2 / freedom) ** (-(freedom + 1) / 2)
        place += step
    return place


def by_opening(values: Sequence[float], openings: Sequence[int]) -> tuple[float, float, int]:
    """Return the mean of games, its standard error by openings, and the number of openings."""
    mean = sum(values) / len(values)
    groups: dict[int, float] = defaultdict(float)
    for value, opening in zip(values, openings, strict=True):
        groups[opening] += value - mean
    count = len(groups)
    variance = sum(one**2 for one in groups.values()) * count / (count - 1)
    return mean, math.sqrt(variance) / len(values), count


def interval(mean: float, error: float, openings: int) -> Interval:
    """Return a mean with Student's interval."""
    half = student(openings - 1) * error
    return Interval(mean, mean - half, mean + half)


def gains(run: str, before: str, after: str, *, won: bool = False) -> tuple[list[float], list[int]]:
    """Return what the second cell scores more than the first game by game, in percentage points, and the openings."""
    first = games(run, before)
    second = games(run, after)
    found = []
    openings = []
    both = zip(first["score"], second["score"], first["opening"], second["opening"], strict=False)
    for a, b, opening, other in both:
        if opening == other:
            found.append(100 * (float(b == 1) - float(a == 1)) if won else 100 * (b - a))
            openings.append(opening)
    return found, openings


def lead(run: str, before: str, after: str, *, won: bool = False) -> Interval:
    """Return how much more the second cell scores, or wins, in percentage points."""
    return interval(*by_opening(*gains(run, before, after, won=won)))


def above_half(run: str, match: str) -> Interval:
    """Return how far a score is above one half, in percentage points, by openings."""
    found = games(run, match)
    return interval(*by_opening([100 * one - 50 for one in found["score"]], found["opening"]))


TAKERS = ("1100-qr", "1100-q2r", "1500-qr", "1500-q2r", "1900-qr", "1900-q2r")


def model(cell: str, nodes: int, *, won: bool = False) -> Interval:
    """Return the mean lead of a cell over PUCT against the six odds takers, in percentage points."""
    means = []
    halves = []
    for taker in TAKERS:
        run = f"odds-models-{taker}{'' if nodes == 100 else f'-{nodes}'}"
        plain = games(run, f"puct-{nodes}")
        place = run
        if taker == "1900-qr" and nodes == 100 and cell in ("right-share", "wrong"):
            place = f"{run}-last"
        other = games(place, f"{cell}-{nodes}")
        pairs = zip(plain["score"], other["score"], plain["opening"], strict=False)
        both = [(a, b, opening) for a, b, opening in pairs]
        values = [100 * (float(b == 1) - float(a == 1)) if won else 100 * (b - a) for a, b, _ in both]
        mean, error, count = by_opening(values, [opening for *_, opening in both])
        means.append(mean)
        halves.append(student(count - 1) * error)
    mean = sum(means) / len(means)
    half = math.hypot(*halves) / len(halves)
    return Interval(mean, mean - half, mean + half)


def ratio(wins: int, draws: int, losses: int) -> Interval:
    """Return (w + l)/d, with the interval that Wilson's of the drawn share gives."""
    value = (wins + losses) / draws
    played = wins + draws + losses
    half = _half(draws / played, Z / math.sqrt(played))
    return Interval(value, value / math.exp(half), value * math.exp(half))


def times(run: str, one: str, other: str) -> Interval:
    """Return how many times (w + l)/d of one set is that of another, by Woolf's interval with half a game added."""
    logs = []
    squares = []
    for match in (one, other):
        wins, draws, losses = record(run, match)
        logs.append(math.log((wins + losses + 0.5) / (draws + 0.5)))
        squares.append(1 / (wins + losses + 0.5) + 1 / (draws + 0.5))
    middle = logs[0] - logs[1]
    half = Z * math.sqrt(sum(squares))
    return Interval(*(math.exp(end) for end in (middle, middle - half, middle + half)))


# -- the small thesis --------------------------------------------------------------------------------------------------

ARMS = ("contempt", "puct", "temperature")
JUDGES = ("random", "material", "stockfish-0")


def thesis_means(arm: str) -> list[float]:
    """Return the mean score of each run of an arm against the three judges, in %."""
    names = stored("chess-thesis-small")["result"]["facts"]["ratios"]
    found = []
    for seed in (name.partition("-")[2] for name in names if name.startswith(arm)):
        found.append(sum(percent("chess-thesis-small", f"judged/{arm}-{seed}-6-{judge}") for judge in JUDGES) / 3)
    return found


def thesis(rival: str) -> tuple[float, float, float, float]:
    """Return what search-contempt's runs score more, the interval that the permutation test keeps, and its p."""
    own = thesis_means("contempt")
    other = thesis_means(rival)
    return (
        sum(own) / len(own) - sum(other) / len(other),
        _kept(own, other),
        -_kept(other, own),
        permutation(own, other),
    )


def permutation(own: Sequence[float], other: Sequence[float]) -> float:
    """Return the share of all divisions of the runs in which the first group's sum is as large as here."""
    values = [*own, *other]
    observed = sum(own)
    sums = [sum(values[place] for place in chosen) for chosen in itertools.combinations(range(len(values)), len(own))]
    return sum(one >= observed - 1e-9 for one in sums) / len(sums)


def _kept(own: Sequence[float], other: Sequence[float]) -> float:
    """Return the least difference that is not rejected at 2.5 %, by bisection to a thousandth of a point."""
    low = -200.0
    high = 200.0
    while high - low > 0.001:
        middle = (low + high) / 2
        if permutation([one - middle for one in own], other) <= 0.025:
            low = middle
        else:
            high = middle
    return low


def thesis_factor() -> float:
    """Return the factor between the (w + l)/d of search-contempt and that of PUCT with temperature."""
    ratios = stored("chess-thesis-small")["result"]["facts"]["ratios"]
    logs = []
    for name, values in ratios.items():
        arm, _, seed = name.partition("-")
        if arm == "contempt":
            logs += [math.log(a / b) for a, b in zip(values, ratios[f"temperature-{seed}"], strict=True)]
    return math.exp(abs(sum(logs) / len(logs)))


# -- the page of statements --------------------------------------------------------------------------------------------


def statements() -> list[dict[str, Any]]:
    """Return the statements of the four sources."""
    rows = json.loads((EXPERIMENTS / "statements.json").read_text(encoding="utf-8"))["statements"]
    return [row for row in rows if row["kind"] == "source"]


def signs() -> list[float]:
    """Return how many statements have a sign, then yes, no, none and open."""
    found = Counter(row["sign"] for row in statements() if not row["not_run"] and row["sign"] != "-")
    return [found.total(), found["yes"], found["no"], found["none"], found["open"]]


def sizes() -> list[float]:
    """Return how many statements have a size, then yes, no and open."""
    found = Counter(row["size"]["holds"] for row in statements() if not row["not_run"] and row["size"]["holds"] != "-")
    return [found.total(), found["yes"], found["no"], found["open"]]


def kept_games() -> list[float]:
    """Return how many runs and games are kept as JSON."""
    runs = sorted(RESULTS.glob("*.json"))
    count = 0
    for path in runs:
        matches = json.loads(path.read_text(encoding="utf-8"))["matches"].values()
        count += sum(len(match["games"]["score"]) for match in matches)
    return [len(runs), count]


def comparisons() -> list[float]:
    """Return how many lines of the log on statements of others are measured, and those open, held, denied, without."""
    with (EXPERIMENTS / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    subjects = {"Search-contempt", "Two nets in one tree", "The MCTS experiments", "Learning"}
    subjects.add("The AlphaZero implementation report")
    found: Counter[str] = Counter()
    for row in rows:
        if row["subject"] in subjects and row["measured"] and not row["claim"].startswith("this laboratory"):
            found[row["verdict"].split("**")[1]] += 1
    return [found.total(), found["open"], found["holds"], found["does not hold"], found["no such effect"]]


def prophet() -> Interval:
    """The Elo of prophet-bench: where the expected points are those made, and those less and more by their error."""
    levels = json.loads((EXPERIMENTS / "prophet-bench.json").read_text(encoding="utf-8"))["levels"]
    points = sum(level["wins"] + level["draws"] / 2 for level in levels)
    variance = 0.0
    for level in levels:
        # A game of each kind more, so that a level where all were lost has a variance too.
        wins, draws, losses = (level[key] + 1 for key in ("wins", "draws", "losses"))
        games = wins + draws + losses
        mean = (wins + draws / 2) / games
        variance += (games - 3) * ((wins + draws / 4) / games - mean**2)
    error = Z * math.sqrt(variance)

    def expected(elo: float) -> float:
        """Return the points that a player of this rating would make."""
        of_levels: list[float] = [60 / (1 + 10 ** ((level["played"] - elo) / 400)) for level in levels]
        return sum(of_levels)

    ends = []
    for wanted in (points, points - error, points + error):
        low = 0.0
        high = 4000.0
        while high - low > 1e-4:
            middle = (low + high) / 2
            low, high = (middle, high) if expected(middle) < wanted else (low, middle)
        ends.append(low)
    return Interval(*ends)


# -- what is printed ---------------------------------------------------------------------------------------------------

FRONT, PAGE = "README.md", "docs/experiments/README.md"
QUEEN, QUEEN_1, LONG = "contempt-odds-queen-10v", "contempt-odds-queen-1v", "contempt-odds-queen-10v-20k"
CONTEMPT, CONSTANTS = "docs/experiments/search-contempt.md", "docs/experiments/finding-constants.md"
ODDS, FROM_ZERO = "docs/experiments/odds.md", "docs/experiments/from-zero.md"
MODELS, RULES = "docs/experiments/opponent-models.md", "docs/experiments/search-rules.md"
NATURE, STRENGTH = "docs/experiments/finding-nature.md", "odds-model-strength-1900-q2r"
ENDINGS = "contempt-vs-temperature-endings"
MPV, TRAINING = "docs/experiments/mpv.md", "docs/experiments/contempt-training.md"
PAPER, BOARD = "docs/paper/README.md", "LEADERBOARD.md"
NETS = "docs/experiments/bundled-nets.md"
ALONE, WARM = "contempt-vs-temperature-alone-1900", "contempt-vs-temperature-1900"
OUTSIDE, ZERO = "outside-small-games", "chess-zero-matches"
LEVEL = "mpv-regime-nogo7-level"
LEVEL_160 = "mpv-regime-nogo7-level-160"
CELLS = ("puct", "n28", "n10")
EVEN = "odds-models-even-1500-400"
SIGNS = (
    "# with a sign # have the source's in the run nearest to it, # the other one, # no effect that matters, and # are"
)
SIZES = "# about a size, or about nothing to be found, # agree, # do not, # are open"
COMPARED = "# measured comparisons: # open, # holds, # does not hold, # no such effect"
SMALL = "less PUCT: # [#, #] percentage points"


def seeds(name: str) -> tuple[str, ...]:
    """Return the matches of a cell of the level nets: those of the seeds that did not choose it."""
    return tuple(f"{name}-seed-{seed}" for seed in (2, 3))


def whole(name: str) -> tuple[str, ...]:
    """Return the matches of a cell of the level nets by all seeds."""
    return (name, *seeds(name))


def drawn_by_puct() -> list[float]:
    """Return won and drawn games of PUCT at 20,000 nodes, and the draws by repetition and by stalemate."""
    found = games(LONG, "puct-20000")
    ends = [found["ends"][end] for end, one in zip(found["end"], found["score"], strict=True) if one == 0.5]
    kinds = Counter(ends)
    return [found["score"].count(1), len(ends), kinds["threefold repetition"], kinds["stalemate"]]


def more_of(kind: str) -> Interval:
    """Return how much more N_scl 5 has of a kind than PUCT: in 100 plies, or of 100 games."""
    sets = json.loads((EXPERIMENTS / "nature-counts.json").read_text(encoding="utf-8"))["sets"]
    means = []
    squares = []
    for name in ("n5", "puct"):
        one = sets[name]
        per = one["plies"] if kind in ("captures", "checks") else [1] * len(one["plies"])
        values = [100 * count / plies for count, plies in zip(one[kind], per, strict=True)]
        mean = sum(values) / len(values)
        means.append(mean)
        squares.append(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    half = Z * math.sqrt(sum(squares))
    value = means[0] - means[1]
    return Interval(value, value - half, value + half)


def cell(rule: str) -> Interval:
    """Return the Elo of a rule in chess."""
    return elo("rules-by-game-chess", f"chess-{rule}")


FIGURES = (
    # README.md
    Printed(FRONT, "two, is", "16.3 [7.3, 25.3]", lambda: lead(QUEEN, "puct-800", "n10-800")),
    Printed(FRONT, "the paper's", "8.0 [−0.8, 16.8]", lambda: lead(QUEEN, "puct-800", "n28-800")),
    Printed(FRONT, "Over six", "0.7 [−0.6, 1.9]", lambda: model("n28", 100)),
    Printed(FRONT, "prophet-bench", "Elo 1337 [1273, 1394]", prophet),
    Printed(FROM_ZERO, "Skill Level` 0, 100", "76.8", lambda: [percent(ZERO, "zero200-sf0", "zero200-sf0-1000")]),
    # the page of statements
    Printed(PAGE, "Of ", SIGNS, signs),
    Printed(PAGE, "Of ", SIZES, sizes),
    Printed(PAGE, "even game", "-12.0 [-21.2, -2.8]", lambda: above_half("odds-models-even-1500-100", "n3-100")),
    Printed(PAGE, "400 nodes, above", "+6.7 [+2.0, +11.4]", lambda: model("right-share", 400)),
    Printed(PAGE, "FPU 0", "-83.2 [-111, -55.4]", lambda: elo("fpu-1900", "zero")),
    Printed(PAGE, "FPU 1.1", "-583 [-662, -504]", lambda: elo("fpu-1900", "every-move-first")),
    Printed(PAGE, "tree 1.4/2.0/0.1", "98.1 [59.5, 137]", lambda: elo("tree-balance-1900", "balance-1.4")),
    Printed(PAGE, "tree 1.3/1.5/0.01", "83.2 [45.3, 121]", lambda: elo("tree-balance-1900", "balance-1.3")),
    Printed(PAGE, "auto-extend alone", "19.1 [6.96, 31.3]", lambda: elo("solver-fork", "auto-extend")),
    Printed(PAGE, "gamma 0.75, 100", "31.4 [15.2, 47.5]", lambda: elo("q-average-fork", "gamma-0.75")),
    Printed(PAGE, "policy-compression", "31.9 [5.57, 58.3]", lambda: elo("prior-mixing-fork", "compression-0.06")),
    Printed(PAGE, "two-fold draw", "16.5 [1.06, 32]", lambda: elo("two-fold-draws-1900", "certain")),
    Printed(PAGE, "a mini net", "-53 [-70.1, -35.8]", lambda: elo("mpv-options-nogo7-100", "mini")),
    Printed(PAGE, "a bonus for", "-57.4 [-74.1, -40.7]", lambda: elo("mpv-options-nogo7-100", "parent-bonus")),
    Printed(PAGE, "rises at every", "28.3 [11.5, 45.2]", lambda: lead(LONG, "n28-800", "n28-20000", won=True)),
    Printed(PAGE, "PUCT rises", "-25 [-42.7, -7.3]", lambda: lead(LONG, "puct-20000", "puct-800", won=True)),
    Printed(PAGE, "at the most nodes |", "13.3 [-1.26, 27.9]", lambda: lead(LONG, "puct-20000", "n28-20000", won=True)),
    Printed(
        PAGE, "a pair of nets", "-41.9 [-62.2, -21.6]", lambda: elo(LEVEL_160, *whole("b160-nogo7-f16-4-r50-a50-vs-l"))
    ),
    # constants of Maia nets
    Printed(CONSTANTS, "fresh games", "+89 [+36, +142]", lambda: elo("constants-maia-1900", ".")),
    Printed(CONSTANTS, "fresh games", "+219 [+163, +275]", lambda: elo("constants-maia-1100", ".")),
    Printed(CONSTANTS, "chose them", "+153 [+110, +197]", lambda: elo("rules-by-game-chess", "tune-chess-c0.75-f0.2")),
    Printed(CONSTANTS, "fresh games", "82, 23, 15", lambda: record("constants-maia-1100", ".")),
    # odds
    Printed(ODDS, "| 800 |", "47.0 % | 55.0 % | 63.3 %", lambda: [percent(QUEEN, f"{one}-800") for one in CELLS]),
    Printed(ODDS, "| 20,000 |", "79.2 %", lambda: [percent(LONG, "puct-20000")]),
    Printed(ODDS, "N_scl 3 is ahead", "11.3 [4.9, 17.8]", lambda: lead(QUEEN_1, "puct-800", "n3-800")),
    Printed(ODDS, "nodes N_scl 28 gains", "29.7 [20, 39.4]", lambda: lead(QUEEN, "n28-100", "n28-800")),
    # a model of the odds taker
    Printed(MODELS, "400 nodes, won", "+5.3 [+0.2, +10.4]", lambda: model("right-share", 400, won=True)),
    Printed(MODELS, "100 nodes, score", "+3.8 [+1.0, +6.6]", lambda: model("n1", 100)),
    Printed(MODELS, "| 400 |", "4 | 7 | 17 | 34", lambda: [percent(EVEN, f"n{one}-400") for one in (1, 3, 8, 28)]),
    Printed(MODELS, "(PUCT) the giver", "21.8 %", lambda: [percent(STRENGTH, "puct-100")]),
    Printed(ODDS, "At 20,000 nodes PUCT", "42 games and drew 11 (6 by repetition, 5 by stalemate)", drawn_by_puct),
    # search-contempt in self-play
    Printed(NATURE, "captures in 100", "2.1 [1.6, 2.7]", lambda: more_of("captures")),
    Printed(NATURE, "checks in 100", "-0.6 [-1.1, -0.0]", lambda: more_of("checks")),
    Printed(NATURE, "mates on ranks 3 to 6 of", "4.0 [-2.5, 10.5]", lambda: more_of("high_mate")),
    Printed(CONTEMPT, "N_scl 5 |", "10.11 [6.26, 16.33]", lambda: ratio(*record("contempt-wdl-2200", "n5"))),
    Printed(CONTEMPT, "PUCT |", "0.26 [0.18, 0.36]", lambda: ratio(*record("contempt-wdl-endings", "puct"))),
    Printed(CONTEMPT, "tau_2 |", "14.38 [8.26, 25.06]", lambda: ratio(*record("temperature-wdl-2200", "tau2"))),
    Printed(CONTEMPT, "at N_scl 32", "1.57 [1.15, 2.14]", lambda: times("contempt-nature-1900", "n32", "puct")),
    Printed(CONTEMPT, "at N_scl 32", "1.79 [1.15, 2.80]", lambda: times("contempt-wdl-2200", "n32", "puct")),
    Printed(CONTEMPT, "from endings it is", "1.45 [1.19, 1.77]", lambda: ratio(*record(ENDINGS, "n1"))),
    Printed(CONTEMPT, "from endings it is", "0.89 [0.67, 1.17]", lambda: ratio(*record(ENDINGS, "n2"))),
    Printed(CONTEMPT, "two players |", "326, 20, 54", lambda: record(WARM, "n3-tau2")),
    Printed(CONTEMPT, "two players |", "+288 [+244, +332]", lambda: elo(WARM, "n3-tau2")),
    Printed(CONTEMPT, "equal constants", "+161 [+126, +196]", lambda: elo(ALONE, "n3-tau2-alone")),
    Printed(CONTEMPT, "default constants", "+143 [+108, +178]", lambda: elo(ALONE, "tau2-alone-tau2")),
    # two nets in one tree
    Printed(MPV, "| 16 |", "−26 [−45, −8]", lambda: elo(LEVEL, *whole("b16-nogo7-f16-4-s-vs-l"))),
    Printed(MPV, "| 64 |", "−23 [−42, −4]", lambda: elo(LEVEL, *whole("b64-nogo7-f16-4-s-vs-l"))),
    Printed(MPV, "half of the large turns first |", "−3 [−18, +13]", lambda: elo("mpv-options-nogo7", "large-first")),
    Printed(MPV, "Three nets", "−5 [−64, +53]", lambda: elo("mpv-three-nogo7", ".")),
    # search rules
    Printed(RULES, "its control", "+116 [+87, +145]", lambda: elo("tree-balance-fork", "control-1.5")),
    Printed(RULES, "forced moves and gamma", "+33 [+14, +51]", lambda: elo("validation-1900", "together")),
    Printed("docs/experiments/claims.md", "lower-bound", "+104 [+74, +134]", lambda: cell("lower-bound")),
    Printed("docs/experiments/claims.md", "gumbel", "+53 [+25, +80]", lambda: cell("gumbel")),
    Printed("docs/experiments/claims.md", "fpu-zero", "-209 [-239, -178]", lambda: cell("fpu-zero")),
    # from zero, leaderboard, nets
    Printed(FROM_ZERO, "beats 157", "+100 [+32, +168]", lambda: elo(ZERO, "zero200-v157")),
    Printed(FROM_ZERO, "1350, its least", "70.5 % [61.4, 78.2]", lambda: score(ZERO, "zero200-elo1350")),
    Printed(FROM_ZERO, "prophet-bench", "Elo 1337", lambda: [prophet().value]),
    Printed(BOARD, "100 nodes, 100 games", "81.0 % [73.4, 86.8]", lambda: score(ZERO, "zero200-sf0")),
    Printed(BOARD, "1,000 nodes, 100", "72.5 % [63.1, 80.2]", lambda: score(ZERO, "zero200-sf0-1000")),
    Printed(BOARD, "Fairy-Stockfish", "526 won, 244 drawn, 230 lost", lambda: record("minichess-exact", ".")),
    Printed(NETS, "GRhino", "83.8 % [71.2, 91.5]", lambda: score(OUTSIDE, "othello8-grhino-4")),
    Printed(NETS, "all different", "+449 [+359, +540]", lambda: elo(OUTSIDE, "gomoku15-again-before")),
    Printed(NETS, "second run", "87.0 [79.6, 92.0]", lambda: score("second-runs", "hex7/match")),
    # the small thesis, and the paper
    Printed(TRAINING, "", SMALL, lambda: thesis("puct")[:3]),
    Printed(TRAINING, "less PUCT", "(p #", lambda: thesis("puct")[3:]),
    Printed(TRAINING, "(w + l)/d of search-contempt was", "# times", lambda: [thesis_factor()]),
    Printed(PAPER, "", "# runs with # games", kept_games),
    Printed(PAPER, "", COMPARED, comparisons),
)


def numbers_of(text: str) -> list[tuple[float, float]]:
    """Return the numbers of a text, each with one of its last digit."""
    found = []
    for one in NUMBER.findall(text):
        plain = one.replace("−", "-").replace(",", "")
        digits = len(plain.partition(".")[2])
        found.append((float(plain), 10.0**-digits))
    return found


@cache
def words_of(document: str) -> str:
    """Return a document with single blanks between its words."""
    return " ".join((ROOT / document).read_text(encoding="utf-8").split())


def printed_text(one: Printed) -> str | None:
    """Return the figure as the document has it, within 600 characters after its context; None where it has none."""
    figure = re.escape(one.text).replace(r"\#", f"(?:{NUMBER.pattern})")
    found = re.search(f"{re.escape(one.context)}.{{0,600}}?({figure})", words_of(one.document))
    return found[1] if found else None


def shown(values: Sequence[float], printed: Sequence[tuple[float, float]]) -> str:
    """Return recomputed numbers with a digit more than is printed."""
    texts = []
    for value, (_, digit) in zip(values, printed, strict=True):
        places = 0 if digit == 1 else round(-math.log10(digit)) + 1
        texts.append(f"{value:,.{places}f}")
    return " ".join(texts)


def agrees(values: Sequence[float], printed: Sequence[tuple[float, float]]) -> bool:
    """Return whether a value rounds to what is printed, and the others are within one of the last digit."""
    for place, (value, (number, digit)) in enumerate(zip(values, printed, strict=True)):
        if abs(value - number) > digit * (1.0 if place else 0.5) + 1e-9:
            return False
    return True


def main() -> int:
    """Print each figure beside what the games give."""
    if sys.argv[1:] not in ([], ["--differ"]):
        print("the only option is --differ", file=sys.stderr)
        return 2
    faults = 0
    for one in FIGURES:
        text = printed_text(one)
        values = list(one.value())
        printed = numbers_of(text or one.text)
        if text is None:
            word = "IS NOT PRINTED"
            recomputed = ", ".join(f"{value:g}" for value in values)
        else:
            word = "agrees" if agrees(values, printed) else "DIFFERS"
            recomputed = shown(values, printed)
        faults += word != "agrees"
        if word != "agrees" or not sys.argv[1:]:
            print(f"{one.document}: {text or one.text}: {recomputed}: {word}")
    print(f"{len(FIGURES)} figures, {faults} to look at")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
