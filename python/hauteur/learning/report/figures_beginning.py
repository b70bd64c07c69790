"""The figures of a run's beginning with recorded games, made of the metrics of generation 0."""

from __future__ import annotations

from hauteur.learning.report.columns import Line, column, section
from hauteur.plots.figure import Figure
from hauteur.plots.kinds import lines


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
