"""hauteur train, report, games export: learning a game from zero, the page about it, its games as files for people."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hauteur.cli.commands.options import NO_WORKERS, Workers

RecipesListed = Annotated[
    bool, Parameter(name="--list", negative="", help="List the recipes that ship: game, time, what they reach.")
]
"""Switch: list the recipes that ship, and do nothing else."""


def train(
    recipe: str = "",
    *settings: str,
    run: Path | None = None,
    fresh: bool = False,
    listed: RecipesListed = False,
    workers: Workers = NO_WORKERS,
) -> None:
    """Learn a game from zero by self-play, following a recipe; an interrupted run resumes.

    Parameters
    ----------
    recipe
        Name of a recipe that ships, such as tictactoe or connect4 (--list shows all), or a TOML file.
    settings
        Changes to the recipe, such as selfplay.games=200 run.seed=7.
    run
        Folder of the run; default: runs/GAME/TAG, TAG being the recipe's run.tag.
    fresh
        Refuse to resume a run already in the folder.
    """
    from hauteur.learning.shipped_recipes import expectation, recipe_file, recipe_lines

    if listed:
        print("\n".join(recipe_lines()))
        return
    if not recipe:
        raise ValueError(
            "name a recipe, such as `hauteur train tictactoe`; `hauteur train --list` shows those that ship"
        )
    from hauteur.cli.interrupts import answered_interrupts
    from hauteur.learning.recipe import load_recipe

    # Before what takes seconds to import: a wrong setting is named at once.
    requested = load_recipe(recipe_file(recipe), settings)
    if line := expectation(recipe, changed=bool(settings)):
        print(line, flush=True)
    with answered_interrupts("the same command resumes the run"):
        from hauteur.cluster.open import open_scheduler
        from hauteur.learning.loop import learn

        with open_scheduler(workers) as scheduler:
            finished = learn(requested, folder=run, fresh=fresh, scheduler=scheduler)
    print(f"best net: {finished.folder.best()}\nreport: {finished.folder.report}")


def report(
    run: Path,
    *others: Path,
    output: Path | None = None,
    png: Path | None = None,
    csv: Path | None = None,
) -> None:
    """Write the HTML report of a training run, a match, a tournament or a tuning; or compare runs.

    Parameters
    ----------
    run
        The folder: of a run, or that of --out of match, sprt, tournament, tune and rate.
    others
        Folders of further runs of the same game, to be compared with it.
    output
        The page; default: report.html in the run's folder, comparison.html here where runs are compared.
    png
        Folder for every figure as PNG (needs the extra `report`).
    csv
        Folder for the numbers of every figure as CSV.
    """
    from hauteur.matches.report.pages import has_page, write_page

    if has_page(run):
        if others or png or csv:
            raise ValueError(f"{run} is no training run: --png, --csv and comparisons are for those")
        print(write_page(run, output))
        return
    for made_by, page_name in (("review", "report.html"), ("experiment", "index.html")):
        if (run / f"{made_by}.json").is_file():
            raise ValueError(f"{run}: its page is {run / page_name}, which `hauteur {made_by}` makes again")
    from hauteur.learning.report.page import progress_lines, run_report
    from hauteur.learning.run_folder import RunFolder

    folder = RunFolder(run)
    if others:
        from hauteur.learning.report.comparison import comparison, grouped, read_runs

        runs = read_runs([run, *others])
        found = comparison(grouped(runs))
        page = output or Path("comparison.html")
    else:
        for line in progress_lines(folder):
            print(line, file=sys.stderr)
        for line in folder.damaged_files():
            print(f"hauteur: warning: {line}", file=sys.stderr)
        found = run_report(folder)
        page = output or folder.report
    found.write(page)
    found.write_files(png=png, csv=csv)
    for written in filter(None, (page, png, csv)):
        print(written)


def export(*sources: Path, to: Annotated[Path, Parameter(name="--to")], values: bool = False) -> None:
    """Write recorded games as PGN (chess) or SGF (Go, Gomoku, NoGo).

    Parameters
    ----------
    sources
        Folders of runs, folders of shards, or shards (.parquet); gen-GGGGG-UUUU.parquet has games of generation G.
    to
        Folder to write into: a .pgn or .sgf file a shard. Nothing is overwritten.
    values
        With the value and the visits of every search as a comment.
    """
    from hauteur.learning.recorded_files import export_games, shards_of

    if not sources:
        raise ValueError("name at least one run, folder or shard")
    games, skipped = export_games(shards_of(sources), to, values=values)
    for message in skipped:
        print(f"hauteur: warning: skipped {message}", file=sys.stderr)
    print(f"{to}: {games:,} games")
