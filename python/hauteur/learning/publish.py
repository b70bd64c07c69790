"""What follows from a checkpoint and can be written again at any time: metrics, the best net's copy, the report."""

from __future__ import annotations

from hauteur import _core
from hauteur.learning.checkpoint import RunState
from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.system.files import write_bytes


def publish(folder: RunFolder, game: _core.Game, state: RunState, recipe: Recipe) -> None:
    """Write metrics.jsonl, best.safetensors (and best-large.safetensors), exact_play.json and report.html."""
    from hauteur.learning.exact_curve import measure_nets  # with numpy, pyarrow and figures, which a start needs not
    from hauteur.learning.report.page import run_report

    folder.write_metrics(state.lines)
    sizes = (False,) if recipe.large is None else (False, True)
    for large in sizes:
        net = folder.net(state.best, large=large)
        write_bytes(folder.best(large=large), net.read_bytes())
    best = [line["best"] for line in state.history]
    measure_nets(folder, game, recipe.run.solved_positions, best)
    run_report(folder).write(folder.report)
