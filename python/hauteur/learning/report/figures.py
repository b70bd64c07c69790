"""The figures of one learning run or of several, made of their metrics: what the metrics lack is left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from hauteur.learning.recipe import Recipe
from hauteur.plots.figure import LINE_COLOURS, Figure, Series, Values, line_colour, lines, over_seeds, shares

Line = Mapping[str, Any]
"""The metrics of a generation, as metrics.jsonl has them."""

History = Sequence[Line]
"""The metrics of a run's generations."""


def number(line: Line, path: str) -> float | None:
    """A finite number of the metrics by its dotted path, in lists the place from 0; None where there is none."""
    value: Any = line
    for key in path.split("."):
        if isinstance(value, list):
            value = dict(enumerate(value)).get(int(key))
        else:
            value = value.get(key) if isinstance(value, Mapping) else None
    # Compared in this direction, since no comparison with NaN is true.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return None
    return value


def column(history: History, path: str) -> list[float | None]:
    """A number of every generation; of the path `a / b` the ratio of two, None where b is 0."""
    part, _, whole = path.partition(" / ")
    values = [number(line, part) for line in history]
    if not whole:
        return values
    totals = [number(line, whole) for line in history]
    ratios: list[float | None] = []
    for value, total in zip(values, totals, strict=True):
        if value is None or not total:
            ratios.append(None)
        else:
            ratios.append(value / total)
    return ratios


def total(history: History, path: str) -> float | None:
    """Sum over the generations; None when no generation has the number."""
    values = [value for value in column(history, path) if value is not None]
    return sum(values) if values else None


def running_total(values: Values) -> list[float | None]:
    """The sum up to every place; None from the first missing value on."""
    sums: list[float | None] = []
    before: float | None = 0
    for value in values:
        before = None if before is None or value is None else before + value
        sums.append(before)
    return sums


def is_gated(history: History) -> bool:
    """True if some generation was gated by games, so that the run has a ladder of Elo."""
    return any(number(line, "elo") is not None for line in history)


class Axis(NamedTuple):
    """Something that grows over runs: key, name with its unit, values after each generation of every run."""

    key: str
    name: str
    runs: Sequence[Values]


def axes(histories: Sequence[History]) -> dict[str, Axis]:
    """Return the axes that all these runs can be drawn by, by key; times share one unit."""
    longest = 0.0
    for history in histories:
        for seconds in column(history, "seconds"):
            longest = max(longest, seconds or 0.0)
    size = 60
    unit = "minutes"
    if longest >= 3 * 3600:
        size = 3600
        unit = "hours"

    def generations(one: History) -> Values:
        return [number(line, "generation") or count for count, line in enumerate(one, 1)]

    def games(one: History) -> Values:
        return running_total(column(one, "games.games"))

    def spent(one: History, path: str) -> Values:
        return [None if seconds is None else seconds / size for seconds in column(one, path)]

    kinds: dict[str, tuple[str, Callable[[History], Values]]] = {
        "generation": ("generation", generations),
        "games": ("games", games),
        "budget": ("normalised budget", partial(column, path="cost.normalised_total")),
        "flops": ("FLOPs", partial(column, path="compute.flops_total")),
        "time": (f"wall time, {unit}", partial(spent, path="seconds")),
        "cpu": (f"CPU time, {unit}", partial(spent, path="cpu_seconds")),
    }
    found = {}
    for key, (name, values_of) in kinds.items():
        runs = [values_of(history) for history in histories]
        if all(_has_values(values) for values in runs):
            found[key] = Axis(key, name, runs)
    return found


def _has_values(values: Values) -> bool:
    return any(value is not None for value in values)


class LineFigure(NamedTuple):
    """A figure of lines over the generations."""

    key: str
    """Name of the figure in the page."""
    title: str
    """Its title."""
    text: str
    """What it shows, below the title."""
    unit: str
    """Unit of the y axis."""
    rows: Mapping[str, str]
    """Places of the metrics, such as `train.policy_loss`, by the names of the lines."""
    options: Mapping[str, Any] = {}
    """Options of `plots.lines`."""

    def of(self, xs: Sequence[float], history: History) -> Figure | None:
        """Return the figure, None where the metrics have nothing for it; on a log axis values of 0 are left out."""
        rows = {name: column(history, path) for name, path in self.rows.items()}
        if self.options.get("log"):
            for name, row in rows.items():
                rows[name] = [value if value and value > 0 else None for value in row]
        return lines(self.key, self.title, self.text, self.unit, xs=xs, rows=rows, **self.options)


ZERO = {"from_zero": True}
LOG = {"log": True}
PERCENT = {"percent": True}
LOSSES = {
    "policy": "train.policy_loss",
    "value": "train.value_loss",
    "policy, large net": "train_large.policy_loss",
    "value, large net": "train_large.value_loss",
}
HELD_OUT = {f"{head}, held out": f"held_out.{head}_loss" for head in ("policy", "value")}
LADDER = {"candidate": "elo", "best net": "best_elo"}
CONTEMPT = {"N_scl": "search_contempt.n_scl", "N, visits a move": "search_contempt.visits"}
RESIGNED = {
    "games resigned": "games.resigned.games / games.games",
    "played out, not lost": "games.resigned.wrong / games.resigned.played_out",
}
SPEED = {"evaluations": "selfplay.evaluations_per_second", "visits": "selfplay.visits_per_second"}
LEARNING_FIGURES = (
    LineFigure("losses", "Losses", "Means over each generation's batches, in nats.", "loss", LOSSES),
    LineFigure("elo", "Elo", "Gate results added up, the first net at 0: no rating list.", "Elo", LADDER, ZERO),
)
GAME_FIGURES = (
    LineFigure(
        "ratio",
        "Decisive games a draw",
        "Decisive games of self-play for every drawn one; generations without either are left out.",
        "(w + l) / d",
        {"(w + l) / d": "games.ratio"},
        LOG,
    ),
    LineFigure(
        "search-contempt",
        "Search-contempt",
        "The visits after which the opponent's nodes freeze (N_scl), and the visits a move (N).",
        "visits",
        CONTEMPT,
        LOG,
    ),
    LineFigure("lengths", "Length of games", "Games of self-play.", "plies", {"mean": "games.mean_length"}, ZERO),
    LineFigure(
        "resignation",
        "Resignation",
        "Share of games that were resigned; and, of those played out to see, the share that was not lost.",
        "share",
        RESIGNED,
        PERCENT,
    ),
    LineFigure("speed", "Speed", "Evaluations and visits of self-play, a second.", "a second", SPEED, ZERO),
)


def exact_play_figure(xs: Sequence[float], history: History) -> Figure | None:
    """Return how often the best net keeps the value of solved positions; None where none was judged."""
    rows = (("all positions", "share", "interval_95"), ("the choice matters", "choices_share", "choices_interval_95"))
    drawn = []
    for place, (name, share, interval) in enumerate(rows):
        paths = (share, f"{interval}.0", f"{interval}.1")
        columns = [column(history, f"exact_play.{path}") for path in paths]
        found = zip(xs, *columns, strict=True)
        points = [point for point in found if None not in point]
        if points:
            places, values, low, high = zip(*points, strict=True)
            drawn.append(Series(name, places, values, line_colour(place), low=low, high=high))
    counts = [value for value in column(history, "exact_play.positions") if value]
    text = (
        f"Share of {max(counts, default=0):,.0f} solved positions in which the best net's move keeps the exact value, "
        "with 95 % intervals; one fixed search for all runs."
    )
    if not drawn:
        return None
    return Figure("exact-play", "Exact play", text, "value kept", lines=tuple(drawn))


def yardstick_figure(recipe: Recipe, xs: Sequence[float], history: History) -> Figure | None:
    """Return the score of the best nets against the fixed opponent; None where none was measured."""
    paths = ("score", "score_interval_95.0", "score_interval_95.1")
    columns = [column(history, f"yardstick.{path}") for path in paths]
    rows = zip(xs, *columns, strict=True)
    points = [row for row in rows if None not in row]
    if not points or recipe.yardstick is None:
        return None
    places, values, low, high = zip(*points, strict=True)
    settings = recipe.yardstick
    text = (
        f"Score of the best net with {settings.visits:,} visits a move against {settings.opponent}, in"
        f" {settings.games} games each (draws count half), with 95 % intervals."
    )
    line = Series("best net", places, values, line_colour(0), low=low, high=high)
    return Figure("yardstick", "Strength", text, "score", lines=(line,), percent=True)


ROUNDS = LineFigure(
    "start-losses",
    "Losses by round",
    "Means over the batches of a round of learning from recorded games, and on held-out games after it.",
    "loss",
    LOSSES | HELD_OUT,
    {"x_name": "round"},
)
"""The figure of learning from recorded games, of its rounds."""


def run_figures(recipe: Recipe, history: History, key: str = "generation") -> dict[str, list[Figure]]:
    """All figures of a run with this recipe by section; a section without figures is left out.

    key: of the axis that everything is drawn by. ValueError for an axis that the run does not have.
    """
    known = axes([history])
    if not known:
        return {}
    if key not in known:
        raise ValueError(f"there is no axis {key!r} of this run; there are {', '.join(known)}")
    axis = known[key]
    xs = [x for x in axis.runs[0] if x is not None]
    history = [line for x, line in zip(axis.runs[0], history, strict=True) if x is not None]
    ladder = LEARNING_FIGURES if is_gated(history) else LEARNING_FIGURES[:1]
    found = {
        "Strength": [yardstick_figure(recipe, xs, history)],
        "Exact play": [exact_play_figure(xs, history)],
        "Learning": [*_gate_figures(recipe, xs, history), *(kind.of(xs, history) for kind in ladder)],
        "Games": [_results(xs, history), *(kind.of(xs, history) for kind in GAME_FIGURES)],
    }
    target = None
    # A line of one height: targets of the generations, which the controller then follows instead, have none.
    if recipe.controller is not None and not recipe.controller.targets:
        target = recipe.controller.target
    drawn = {}
    for name, figures in found.items():
        placed = [_placed(figure, axis, target) for figure in figures if figure is not None]
        if placed:
            drawn[name] = placed
    return drawn


def _placed(figure: Figure, axis: Axis, target_ratio: float | None) -> Figure:
    """Return the figure with the name of its axis, the one of the ratio with its target."""
    found = replace(figure, x_name=axis.name, x_from_zero=axis.key != "generation")
    if figure.key != "ratio" or target_ratio is None:
        return found
    return replace(found, threshold=target_ratio, threshold_name="target")


def _gate_figures(recipe: Recipe, xs: Sequence[float], history: History) -> list[Figure | None]:
    """Return the candidate's results with its winrate and the threshold; the learner's against a fixed opponent."""
    gate = recipe.gate
    source = "the games that it played as episodes" if gate.by == "episodes" else "each generation's gate match"
    lows = column(history, "gate.score_interval_95.0")
    highs = column(history, "gate.score_interval_95.1")
    intervals = []
    for low, high in zip(lows, highs, strict=True):
        intervals.append((low or 0.0, 1.0 if high is None else high))
    candidate = _shares(
        "candidate",
        "Candidate against best net",
        f"The candidate's results in {source}; the curve is its winrate (draws count half) with its 95 % interval.",
        xs,
        [_counts(line, "gate.wins", "gate.draws", "gate.losses") for line in history],
        threshold=gate.threshold if gate.by in ("match", "episodes") else None,
        intervals=intervals,
    )
    learner = _shares(
        "learner",
        "Learner against the opponent",
        "The learner's wins, draws and losses against the fixed opponent of self-play; the curve is its score.",
        xs,
        [_counts(line, "games.learner.wins", "games.learner.draws", "games.learner.losses") for line in history],
        curve="score",
    )
    return [candidate, learner]


def _results(xs: Sequence[float], history: History) -> Figure | None:
    return _shares(
        "results",
        "Games of self-play",
        "Games of self-play that the first player won, drew and lost; the curve is the first player's score.",
        xs,
        [_counts(line, "games.first_wins", "games.draws", "games.second_wins") for line in history],
        curve="score",
        names=("first player won", "drawn", "second player won"),
    )


def _shares(
    key: str,
    title: str,
    text: str,
    xs: Sequence[float],
    counts: Sequence[tuple[int, int, int]],
    **options: Any,
) -> Figure | None:
    if not any(map(sum, counts)):
        return None
    return shares(key, title, text, xs=xs, results=counts, **options)


def _counts(line: Line, *paths: str) -> tuple[int, int, int]:
    found = [number(line, path) for path in paths]
    wins, draws, losses = (max(int(count or 0), 0) for count in found)
    return wins, draws, losses


QUANTITIES = {
    "yardstick": ("Score against the yardstick", "score", "yardstick.score"),
    "exact-play": ("Moves that keep the exact value", "share", "exact_play.share"),
    "elo": ("Elo of the best net", "Elo", "best_elo"),
    "policy-loss": ("Policy loss", "loss", "train.policy_loss"),
    "value-loss": ("Value loss", "loss", "train.value_loss"),
    "policy-loss-large": ("Policy loss, large net", "loss", "train_large.policy_loss"),
    "value-loss-large": ("Value loss, large net", "loss", "train_large.value_loss"),
    "lengths": ("Length of games", "plies", "games.mean_length"),
    "ratio": ("Decisive games a draw", "(w + l) / d", "games.ratio"),
}
"""Title, unit and metric of every quantity in which runs are compared, by key."""

OWN_LADDER = "Every run's own ladder and games: only a match compares two runs' nets."


def comparison_figures(groups: Mapping[str, Sequence[History]]) -> dict[str, list[Figure]]:
    """Build the figures by the title of their quantity, one for each axis that all runs have, a line for each group."""
    histories: list[History] = []
    for runs in groups.values():
        histories += runs
    known = axes(histories)
    found: dict[str, list[Figure]] = {}
    for key, (title, unit, path) in QUANTITIES.items():
        text = "One fixed search judges all runs." if key == "exact-play" else OWN_LADDER
        for axis in known.values():
            shown = _compared_lines(groups, axis, path)
            if not shown:
                continue
            quantity = axis.name.partition(",")[0]
            figure = Figure(
                f"{key}-by-{axis.key}",
                f"{title} by {quantity}",
                text,
                unit,
                axis.name,
                lines=shown,
                x_from_zero=axis.key != "generation",
            )
            found.setdefault(title, []).append(figure)
    return found


def _compared_lines(groups: Mapping[str, Sequence[History]], axis: Axis, path: str) -> tuple[Series, ...]:
    """Return the lines of the groups that have a quantity, by an axis."""
    places = iter(axis.runs)
    shown = []
    for count, (name, runs) in enumerate(groups.items()):
        own = [(next(places), _compared(history, path)) for history in runs]
        is_dashed = count >= len(LINE_COLOURS)
        line = over_seeds(name, own, colour=line_colour(count), dashed=is_dashed)
        if line.points():
            shown.append(line)
    return tuple(shown)


def _compared(history: History, path: str) -> Values:
    """Return a quantity by generation; of runs that no games have gated there is no Elo."""
    if path == "best_elo" and not is_gated(history):
        return [None] * len(history)
    return column(history, path)
