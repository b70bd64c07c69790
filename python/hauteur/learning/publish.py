"""What follows from a checkpoint and can be written again at any time: metrics, the best net's copy, the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur.system.files import write_bytes

if TYPE_CHECKING:
    from hauteur.learning.context import Run


def publish(run: Run) -> None:
    """Write metrics.jsonl, best.safetensors (and best-large.safetensors), what the best nets are measured by, and
    report.html.
    """
    from hauteur.learning import exact_curve  # loads numpy, pyarrow and figures, which a start does not need
    from hauteur.learning.report.page import run_report

    # In an order that may end anywhere and be taken again: measuring nets is the long part, and the report, which reads
    # what is written before it, comes last.
    run.folder.write_metrics(run.state.lines)
    sizes = (False,) if run.recipe.large is None else (False, True)
    for large in sizes:
        net = run.folder.net(run.state.best, large=large)
        write_bytes(run.folder.best(large=large), net.read_bytes())
    best = [line["best"] for line in run.state.history]
    exact_curve.measure_nets(run.folder, run.game, run.recipe.run.solved_positions, best, run.display.show)
    if run.recipe.yardstick is not None:
        from hauteur.learning import yardstick  # loads players and matches, which other runs do not need

        yardstick.measure_nets(run)
    run_report(run.folder).write(run.folder.report)
