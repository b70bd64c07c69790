"""A learning run for programs in Python: begun or resumed in one call, watched by a callback, read afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from hauteur.cluster.open import WorkerOptions, open_scheduler
from hauteur.learning import pipeline
from hauteur.learning.display import Display, GenerationRow, row_of
from hauteur.learning.recipe import Recipe, changed_recipe, load_recipe
from hauteur.learning.report.page import run_report
from hauteur.learning.run_folder import RunFolder
from hauteur.system.extras import require
from hauteur.system.tables import Rows


@dataclass(frozen=True, repr=False)
class LearningRun:
    """A run in its folder, as `ht.learn` leaves it; `LearningRun(folder)` opens one that is there.

    folder: with config.toml, the games, the nets and report.html.
    """

    folder: Path

    @property
    def recipe(self) -> Recipe:
        """All settings of the run."""
        return RunFolder(self.folder).stored_recipe()

    @property
    def best(self) -> Path:
        """File of the best net."""
        return RunFolder(self.folder).best()

    @property
    def report(self) -> Path:
        """The page with all figures."""
        return RunFolder(self.folder).report

    @property
    def metrics(self) -> Rows[GenerationRow]:
        """A row a finished generation; `.to_pandas()` gives a DataFrame. All numbers are in `metrics.jsonl`."""
        history = RunFolder(self.folder).read_metrics()
        total = max(self.recipe.run.generations, len(history))
        return Rows(row_of(line, total) for line in history)

    def __repr__(self) -> str:
        rows = self.metrics
        last = f", {rows[-1].games} games in the last, Elo {rows[-1].elo:+.0f}" if rows else ""
        return f"LearningRun({str(self.folder)!r}: {len(rows)} of {self.recipe.run.generations} generations{last})"

    def _repr_html_(self) -> str:
        """The run in a notebook: its rows and the figures of learning."""
        head = f"<p>{escape(repr(self))}, <a href='{escape(str(self.report))}'>report</a></p>"
        if not self.metrics:
            return head
        report = run_report(RunFolder(self.folder))
        inner = replace(report, sections=report.sections[:1]).html()  # a frame: its style is not the notebook's
        frame = f'<iframe srcdoc="{escape(inner)}" style="width: 100%; height: 480px; border: 0"></iframe>'
        return f"{head}{self.metrics._repr_html_()}{frame}"


def learn(
    recipe: Recipe | str | Path,
    *overrides: str,
    out: str | Path | None = None,
    fresh: bool = False,
    on_generation: Callable[[GenerationRow], object] | None = None,
    workers: int = 0,
    cluster: str | None = None,
) -> LearningRun:
    """Learn a game by self-play, as a recipe says: begin its run or resume that of the folder, and take it to its end.

    Parameters
    ----------
    recipe
        An `ht.Recipe`, a TOML file of one, such as `runs/connect4.toml`, or the folder of a run, which goes on.
    overrides
        Changes to it as on the command line: `"run.generations=20"`, `"selfplay.visits=100"`.
    out
        Folder of the run; default: runs/GAME/TAG, TAG being the recipe's run.tag.
    fresh
        Refuse to resume a run that is already in the folder.
    on_generation
        Called after every generation with its `GenerationRow`, in the place of the lines on the terminal; with `print`
        a shorter line. What it raises ends the run, which can be resumed.
    workers
        Processes that play the games; 0: this process plays them, or with `cluster` as many as fit. The
        games and nets are the same.
    cluster
        Where workers run: `auto` or HOST:PORT, a cluster of Ray; None: this machine, without Ray.

    Ctrl-C (KeyboardInterrupt) ends the run at once and is raised again; the same call resumes it, to the same games and
    nets as without the interruption. Return the run: `.folder`, `.best` (file of the best net), `.metrics` (a row a
    generation, `.to_pandas()`), `.report`. Raise ValueError, in one line, for settings that are wrong, that do not fit
    each other or the game, or that differ from those the folder's run was begun with.

    >>> import hauteur as ht
    >>> recipe = ht.Recipe(
    ...     game="tictactoe", network=ht.ResNet(filters=8, blocks=1),
    ...     selfplay={"games": 20, "visits": 10}, gate={"games": 4}, run={"generations": 1},
    ... )
    >>> run = ht.learn(recipe, out="first-run", on_generation=print)  # doctest: +ELLIPSIS
    gen 1/1  games 20  positions ...
    >>> run.best.name, len(run.metrics)
    ('best.safetensors', 1)
    """
    require("hauteur.learn", "torch", "pyarrow")
    changed, out = _recipe(recipe, overrides, out)
    folder = changed.folder if out is None else Path(out)
    try:
        options = WorkerOptions(workers, cluster)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("--")) from None  # an argument here, no option
    with open_scheduler(options) as scheduler:
        pipeline.learn(changed, folder=folder, fresh=fresh, display=Display(on_generation), scheduler=scheduler)
    return LearningRun(folder)


def _recipe(
    recipe: Recipe | str | Path, overrides: tuple[str, ...], out: str | Path | None
) -> tuple[Recipe, str | Path | None]:
    """Return the recipe that is meant, and the folder of its run where that is given."""
    if isinstance(recipe, Recipe):
        return changed_recipe(recipe, overrides), out
    path = Path(recipe)
    if not path.is_dir():
        return load_recipe(path, overrides), out
    if out is not None and Path(out).resolve() != path.resolve():
        raise ValueError(f"{path} is the folder of a run, which goes on there: leave out={str(out)!r} out")
    return changed_recipe(RunFolder(path).stored_recipe(), overrides), path
