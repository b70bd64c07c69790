"""hauteur train, compare, report, games export: learning a game from zero, the page about it, its games as files."""

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hauteur.cli.commands.options import NO_WORKERS, Workers

if TYPE_CHECKING:
    from hauteur.learning.recipe import Recipe

RecipesListed = Annotated[
    bool, Parameter(name="--list", negative="", help="List the recipes that ship: game, time, what they reach.")
]
"""Switch: list the recipes that ship, and do nothing else."""


MOST_FLOPS = 1e30
"""As of `run.budget_flops`."""


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

        if not workers.workers and workers.cluster is None:
            print_forecast(requested, run)
        with open_scheduler(workers) as scheduler:
            finished = learn(requested, folder=run, fresh=fresh, scheduler=scheduler)
    print(f"best net: {finished.folder.best()}\nreport: {finished.folder.report}")


def print_forecast(recipe: "Recipe", run: Path | None) -> None:
    """Print what a run that has not begun will take on this machine, where that can be said."""
    from hauteur.learning.forecast import forecast
    from hauteur.learning.run_folder import RunFolder

    if RunFolder(run or recipe.folder).config.exists():
        return
    found = forecast(recipe)
    if found is not None:
        print(found.line(recipe.run.cores), flush=True)


def compare(
    *recipes: str,
    seeds: int = 6,
    first_seed: int = 1,
    flops: float = 0.0,
    out: Path | None = None,
    workers: Workers = NO_WORKERS,
) -> None:
    """Learn two recipes or more with the same seeds, and say which is better; an interrupted comparison resumes.

    Parameters
    ----------
    recipes
        Each a recipe with its changes, in quotes: connect4 "connect4 selfplay.visits=32".
    seeds
        Runs of each recipe; six or more may decide.
    first_seed
        The first of the seeds.
    flops
        Floating-point operations after which every run ends; 0: as the recipe says.
    out
        Folder of the runs and of comparison.html; default: runs/compare/GAME.
    """
    from hauteur.learning.report.comparison import comparison, grouped, read_runs, verdict_lines

    if not 1 <= seeds <= 1000:
        raise ValueError(f"--seeds must be 1 to 1,000, got {seeds}")
    if not 0 <= first_seed < 2**63:
        raise ValueError(f"--first-seed must be 0 to {2**63 - 1:,}, got {first_seed:,}")
    if not 0 <= flops <= MOST_FLOPS:
        raise ValueError(f"--flops must be a number from 0 to {MOST_FLOPS:g}, got {flops:g}")
    arms = _arms(recipes, flops)
    game = next(iter(arms.values())).game
    folder = out or Path("runs") / "compare" / _file_name(game)
    from hauteur.cli.interrupts import answered_interrupts
    from hauteur.cluster.open import open_scheduler
    from hauteur.learning.loop import learn

    folders = []
    with answered_interrupts("the same command resumes the comparison"), open_scheduler(workers) as scheduler:
        # Seed by seed, so that all recipes have as many runs at any time.
        for seed in range(first_seed, first_seed + seeds):
            for name, recipe in arms.items():
                place = folder / name / f"seed-{seed}"
                run = recipe.run.model_copy(update={"seed": seed})
                learn(recipe.model_copy(update={"run": run}), folder=place, scheduler=scheduler)
                folders.append(place)
            groups = grouped(read_runs(folders))
            page = folder / "comparison.html"
            comparison(groups).write(page)
            print("\n".join(verdict_lines(groups)), flush=True)
    print(f"report: {page}")


def _arms(texts: tuple[str, ...], flops: float) -> dict[str, "Recipe"]:
    """Return the recipes of a comparison by the names of their folders; ValueError where they cannot be compared."""
    from hauteur.learning.recipe import load_recipe
    from hauteur.learning.shipped_recipes import recipe_file

    if len(texts) < 2:
        raise ValueError(f'name two recipes or more, such as connect4 "connect4 selfplay.visits=32"; got {len(texts)}')
    found = dict[str, "Recipe"]()
    for text in texts:
        given, *settings = shlex.split(text) or [""]
        budget = (f"run.budget_flops={flops:g}",) if flops else ()
        recipe = load_recipe(recipe_file(given), (*settings, *budget))
        _check_measured(text, recipe)
        name = _file_name(" ".join([Path(given).stem, *settings]))
        if name in found:
            raise ValueError(f"two of the recipes are called {name}: give their files different names")
        _check_differs(name, recipe, found)
        found[name] = recipe
    games = sorted({recipe.game for recipe in found.values()})
    if len(games) > 1:
        raise ValueError(f"only recipes of one game can be compared, got {' and '.join(games)}")
    return found


def _check_differs(name: str, recipe: "Recipe", others: dict[str, "Recipe"]) -> None:
    """Raise ValueError where a recipe is one of the others but for its seed or its place: there would be no verdict."""
    from hauteur.learning.report.compared_run import FREE_OF_MEANING, settings_of_line

    own = settings_of_line(recipe)
    for other, known in others.items():
        if settings_of_line(known) == own:
            free = ", ".join(FREE_OF_MEANING)
            raise ValueError(
                f"{other} and {name} are one recipe: {free} make no other one (the seeds are those of --seeds and "
                "--first-seed)"
            )


def _file_name(text: str) -> str:
    """Return the text without signs that a folder's name should not have."""
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", text).strip("-.")[:100]


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
    from hauteur.learning.run_folder import no_run
    from hauteur.matches.report.pages import has_page, write_page

    for one in (run, *others):
        if not one.is_dir():
            raise no_run(one)
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
        from hauteur.learning.report.comparison import comparison, grouped, read_runs, verdict_lines

        groups = grouped(read_runs([run, *others]))
        found = comparison(groups)
        for line in verdict_lines(groups):
            print(line, file=sys.stderr)
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


def _check_measured(text: str, recipe: "Recipe") -> None:
    """Raise ValueError where runs of a recipe, given by this text, cannot be compared at equal cost."""
    from hauteur.games.registry import load_game
    from hauteur.learning.exact_curve import why_not_measured

    yardstick = recipe.yardstick
    if yardstick is not None and yardstick.every < recipe.run.generations:
        return
    positions = recipe.run.solved_positions
    reason = why_not_measured(load_game(recipe.game)) if positions else "run.solved_positions is 0"
    if reason is None:
        return
    if yardstick is None:
        raise ValueError(f"{text}: nothing measures its runs ({reason}): give it a yardstick.opponent")
    # Runs never cost the same, so their strength at an equal cost lies between two measurements.
    raise ValueError(
        f"{text}: its runs are measured at their end alone, and so at no equal cost: yardstick.every must be less "
        f"than run.generations, which is {recipe.run.generations}; got {yardstick.every}"
    )
