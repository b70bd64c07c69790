"""What follows from a checkpoint and can be written again at any time: metrics, the best net's copy, the report."""

from __future__ import annotations

from collections.abc import Callable

from hauteur import _core
from hauteur.learning.checkpoint import RunState
from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.system.files import write_bytes


def publish(folder: RunFolder, game: _core.Game, state: RunState, recipe: Recipe, show: Callable[[str], None]) -> None:
    """Write metrics.jsonl, best.safetensors (and best-large.safetensors), what measures the best net, report.html.

    show: takes a line about every match with the yardstick.
    """
    from hauteur.learning.exact_curve import measure_nets  # with numpy, pyarrow and figures, which a start needs not
    from hauteur.learning.report.page import run_report

    folder.write_metrics(state.lines)
    sizes = (False,) if recipe.large is None else (False, True)
    for large in sizes:
        net = folder.net(state.best, large=large)
        write_bytes(folder.best(large=large), net.read_bytes())
    best = [line["best"] for line in state.history]
    measure_nets(folder, game, recipe.run.solved_positions, best)
    if recipe.yardstick is not None:
        from hauteur.learning import yardstick  # with players and matches, which other runs need not

        last = recipe.run.generations
        yardstick.measure_nets(folder, game, recipe.yardstick, best, last=last, threads=recipe.run.threads, show=show)
    run_report(folder).write(folder.report)
