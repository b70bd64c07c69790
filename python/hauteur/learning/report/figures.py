"""The figures of one learning run, made of its metrics. Whatever is not in the metrics is left out of the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hauteur.learning.report.series import History, Line, axis_of, column, generations, number, on_axis, section
from hauteur.plots.figure import Figure, Series, Values
from hauteur.plots.kinds import lines, shares


class FigureSetting(NamedTuple):
    """Inputs of figures beside the history.

    source: of the gate's verdict, in words; threshold: of the gate; target_ratio: target (w + l) / d.
    """

    source: str = "the gate's games"
    threshold: float | None = None
    target_ratio: float | None = None


class Kind(NamedTuple):
    """A figure of lines by generation: the metrics by the names of their lines; options of `lines`; scale: a factor."""

    key: str
    title: str
    text: str
    unit: str
    rows: Mapping[str, str]
    options: Mapping[str, Any] = {}
    scale: float = 1.0

    def of(self, history: History) -> Figure | None:
        """Return the figure; None where the metrics have nothing for it. On a log axis values of 0 are left out."""
        rows = {name: self._values(history, path) for name, path in self.rows.items()}
        xs = generations(history)
        return lines(self.key, self.title, self.text, self.unit, xs=xs, rows=rows, **self.options)

    def _values(self, history: History, path: str) -> Values:
        values = [None if value is None else value * self.scale for value in column(history, path)]
        return [_positive(value) for value in values] if self.options.get("log") else values


ZERO, LOG, PERCENT = {"from_zero": True}, {"log": True}, {"percent": True}

LADDER = Kind(
    "elo",
    "Elo",
    "Gate results added up, the first net at 0: a ladder of comparisons with itself, not a rating list.",
    "Elo",
    {"candidate": "elo", "best net": "best_elo"},
    ZERO,
)
GAMES = (
    Kind(
        "search-contempt",
        "Search-contempt",
        "The visits after which the opponent's nodes freeze (N_scl), and the visits a move (N).",
        "visits",
        {"N_scl": "search_contempt.n_scl", "N, visits a move": "search_contempt.visits"},
        LOG,
    ),
    Kind(
        "lengths",
        "Length of games",
        "Mean length of the games of self-play.",
        "plies",
        {"mean length": "games.mean_length"},
        ZERO,
    ),
)
SPEED = (
    Kind(
        "speed",
        "Speed of self-play",
        "Self-play: positions that the network evaluated and visits of the trees, a second.",
        "a second",
        {"evaluations": "selfplay.evaluations_per_second", "visits": "selfplay.visits_per_second"},
        ZERO,
    ),
    Kind(
        "fill",
        "Batches and cache",
        "Self-play: rows of the network's batches in use, evaluations found in the cache, time the device is busy.",
        "share",
        {
            "batch fill": "selfplay.mean_batch_fill",
            "cache hits": "selfplay.cache_hit_rate",
            "device busy": "selfplay.device_busy",
        },
        PERCENT,
    ),
    Kind(
        "memory",
        "Memory",
        "Memory after each generation; it should be flat once the window of games is full.",
        "MB",
        {"process": "resident_bytes", "trees of self-play": "selfplay.tree_bytes"},
        ZERO,
        1e-6,
    ),
)
WORKERS = (
    Kind(
        "workers",
        "Workers",
        "Workers, and the units of games that they had, on average while there was work.",
        "number",
        {"workers": "workers.present", "units in flight": "workers.in_flight"},
        ZERO,
    ),
)


def run_figures(history: History, setting: FigureSetting, axis: str = "generation") -> dict[str, list[Figure]]:
    """All figures of a run by section; a section without figures is left out.

    axis: key of what everything is drawn by. ValueError for an axis that the run does not have.
    """
    (by,) = axis_of([history], axis) if history else (None,)
    gated = any(number(line, "elo") is not None for line in history)
    contempt, lengths = (kind.of(history) for kind in GAMES)
    speed, fill, memory = (kind.of(history) for kind in SPEED)
    varied = [ratio(history, setting.target_ratio), contempt, repeats(history), lengths, resignation(history)]
    ladder = LADDER.of(history) if gated else None
    sections = {
        "Learning": [candidate(history, setting), learner(history), losses(history), ladder],
        "Games": [results(history), *varied],
        "Speed": [speed, fill, time_of_selfplay(history), memory],
        "Workers": [kind.of(history) for kind in WORKERS],
    }
    found = {name: [figure for figure in figures if figure is not None] for name, figures in sections.items()}
    if by is not None:
        found = {name: [on_axis(figure, by, history) for figure in figures] for name, figures in found.items()}
    return {name: figures for name, figures in found.items() if figures}


def candidate(history: History, setting: FigureSetting) -> Figure | None:
    """The implementation report's figure: the candidate's results, its winrate, the threshold."""
    gated = [line for line in history if number(line, "gate.games")]
    counts = [_counts(line, "gate.wins", "gate.draws", "gate.losses") for line in gated]
    if not any(map(sum, counts)):
        return None
    ends = [_interval(line) for line in gated]
    intervals = [end for end in ends if end is not None]
    known = len(intervals) == len(gated)
    text = (
        f"The candidate's wins, draws and losses in {setting.source}; the curve is its winrate (draws count half)"
        f"{', with its 95 % interval' if known else ''}."
    )
    return shares(
        "candidate",
        "Candidate against best net",
        text,
        xs=generations(gated),
        runs=[counts],
        threshold=setting.threshold,
        intervals=intervals if known else None,
    )


def learner(history: History) -> Figure | None:
    """Plot the learner's score against the fixed opponent of self-play."""
    counts = [_counts(line, "games.learner.wins", "games.learner.draws", "games.learner.losses") for line in history]
    if not any(map(sum, counts)):
        return None
    text = "The learner's wins, draws and losses against the fixed opponent of self-play; the curve is its score."
    xs = generations(history)
    return shares("learner", "Learner against the opponent", text, xs=xs, runs=[counts], curve="score")


def losses(history: History) -> Figure | None:
    """Policy and value loss of the net, or of both nets."""
    large = any("train_large" in line for line in history)
    rows = {}
    for name, net in (("train", ", small net" if large else ""), ("train_large", ", large net")):
        for head in ("policy", "value"):
            rows[f"{head}{net}"] = column(history, f"{name}.{head}_loss")
    text = "Means over each generation's batches, in nats: what is left is what cannot be known beforehand."
    return lines("losses", "Losses", text, "loss", xs=generations(history), rows=rows)


def results(history: History) -> Figure | None:
    """Plot the results of the self-play games."""
    counts = [_counts(line, "games.first_wins", "games.draws", "games.second_wins") for line in history]
    if not any(map(sum, counts)):
        return None
    text = "Games of self-play that the first player won, drew and lost; the curve is the first player's score."
    names = ("first player won", "drawn", "second player won")
    xs = generations(history)
    return shares("results", "Games of self-play", text, xs=xs, runs=[counts], curve="score", names=names)


def ratio(history: History, target: float | None = None) -> Figure | None:
    """Decisive games a drawn game."""
    counted = column(history, "games.ratio")
    steered = column(history, "search_contempt.ratio")
    rows = {"(w + l) / d": [_positive(value) for value in counted]}
    if any(s not in (c, None) for s, c in zip(steered, counted, strict=True)):
        rows["as the controller counts"] = [_positive(value) for value in steered]
    text = "Decisive games of self-play for every drawn one; generations without either are left out."
    return lines(
        "ratio",
        "Decisive games a draw",
        text,
        "(w + l) / d",
        xs=generations(history),
        rows=rows,
        log=True,
        threshold=target,
        threshold_name="target",
    )


def repeats(history: History) -> Figure | None:
    """Share of games that differ within the first plies, for three generations."""
    known = [line for line in history if isinstance(section(line, "games").get("unique_share"), Mapping)]
    picked = {id(line): line for line in (known[:1] + known[len(known) // 2 :][:1] + known[-1:])}.values()
    rows = {f"generation {generations([line])[0]:g}": _unique(line) for line in picked}
    plies = sorted({ply for row in rows.values() for ply in row})
    text = "Share of different games if only their first plies are looked at: how varied self-play is."
    named = {name: [row.get(ply) for ply in plies] for name, row in rows.items()}
    return lines("repeats", "Unique games by ply", text, "share", xs=plies, rows=named, x_name="ply", percent=True)


def resignation(history: History) -> Figure | None:
    """Plot the shares of resigned games and of wrong resignations."""
    rows = {
        "games resigned": [_share(line, "games.resigned.games", "games.games") for line in history],
        "played out, not lost": [_share(line, "games.resigned.wrong", "games.resigned.played_out") for line in history],
    }
    text = "Share of games that were resigned; and, of those played out to see, the share that was not lost."
    return lines("resignation", "Resignation", text, "share", xs=generations(history), rows=rows, percent=True)


def time_of_selfplay(history: History) -> Figure | None:
    """Shares of self-play's time piled up, in the generations that have all of them."""
    paths = {"network": "network_share", "search": "search_share", "Python": "python_share"}
    rows = {name: column(history, f"selfplay.{path}") for name, path in paths.items()}
    xs = generations(history)
    kept = [i for i in range(len(xs)) if all(row[i] is not None for row in rows.values())]
    if not kept:
        return None
    areas = tuple(
        Series(name, [xs[i] for i in kept], [row[i] for i in kept], colour)
        for (name, row), colour in zip(rows.items(), ("blue", "green", "gold"), strict=True)
    )
    text = "Self-play: waiting for the network, the search in Rust, and Python, as shares of time."
    return Figure("time-of-selfplay", "Time of self-play", text, "share of time", areas=areas, percent=True)


def _counts(line: Line, *paths: str) -> tuple[int, int, int]:
    wins, draws, losses = (max(int(number(line, path) or 0), 0) for path in paths)
    return wins, draws, losses


def _interval(line: Line) -> tuple[float, float] | None:
    ends = section(line, "gate").get("score_interval_95")
    if not isinstance(ends, Sequence) or len(ends) != 2:
        return None
    low, high = (number({"end": end}, "end") for end in ends)
    return None if low is None or high is None else (low, high)


def _unique(line: Line) -> dict[int, float]:
    """Unique share by ply."""
    shares = section(line, "games")["unique_share"]
    found = {int(ply): number(shares, ply) for ply in shares}
    return {ply: share for ply, share in found.items() if share is not None}


def _share(line: Line, part: str, whole: str) -> float | None:
    counted, total = number(line, part), number(line, whole)
    return None if counted is None or not total else counted / total


def _positive(value: float | None) -> float | None:
    return value if value is not None and value > 0 else None


def start_figures(line: Line) -> list[Figure]:
    """Build figures of losses and first moves by round, on training and held-out positions."""
    rounds = section(line, "start").get("rounds") or []
    xs = [float(number) for number in range(1, len(rounds) + 1)]
    large = any("train_large" in found for found in rounds)
    nets = {"": ", small net", "_large": ", large net"} if large else {"": ""}
    losses = {
        f"{head}, {words}{net}": column(rounds, f"{part}{suffix}.{head}_loss")
        for suffix, net in nets.items()
        for part, words in (("train", "learned"), ("held_out", "held out"))
        for head in ("policy", "value")
    }
    hits = {f"held out{net}": column(rounds, f"held_out{suffix}.policy_accuracy") for suffix, net in nets.items()}
    taught = section(line, "start").get("distil_from")
    target = "the teacher's first move" if taught else "the move of the game"
    figures = [
        lines(
            "start-losses",
            "Losses by round",
            "Means over the batches of a round of learning from recorded games, and on held-out games after it.",
            "loss, nats",
            xs=xs,
            rows=losses,
            x_name="round",
        ),
        lines(
            "start-moves",
            "First moves",
            f"Share of held-out positions in which the net's first move is {target}.",
            "share",
            xs=xs,
            rows=hits,
            x_name="round",
            percent=True,
        ),
    ]
    return [figure for figure in figures if figure is not None]
