"""hauteur experiment: tables and figures of the papers, each one command; the plan of all."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.completion import CompletionContext

from hauteur.cli.commands.options import NO_WORKERS, GameSpec, PlayerText, Workers
from hauteur.cluster.open import open_scheduler
from hauteur.studies.experiments import known_experiments


def _names(context: CompletionContext) -> list[str]:
    """Return the names of experiments, for completion."""
    del context
    return [known.name for known in known_experiments()]


ExperimentName = Annotated[str, Parameter(completer=_names)]

app = App(name="experiment", help="Make a table or figure of the papers; without a name, list them.")


@app.default
def experiment(
    name: ExperimentName = "list",
    *,
    scale: float = 1.0,
    seeds: int | None = None,
    first_seed: int | None = None,
    net: tuple[Path, ...] = (),
    visits: int | None = None,
    game: GameSpec | None = None,
    opponent: PlayerText | None = None,
    cost: float | None = None,
    seat: Literal["first", "second"] | None = None,
    parallel: int = 64,
    only: tuple[str, ...] = (),
    looks: Annotated[bool, Parameter(negative="")] = False,
    out: Path | None = None,
    threads: int | None = None,
    workers: Workers = NO_WORKERS,
) -> None:
    """Reproduce a table or figure of the papers with this program; an interrupted experiment resumes.

    Parameters
    ----------
    name
        Experiment; `list` lists all.
    scale
        Scale factor of games, trainings and positions; 1 is the paper's size.
    seeds
        Number of runs with different random seeds; default: the experiment's.
    first_seed
        First of these seeds; default: the experiment's, which its settings were not chosen with.
    net
        Net file or name of a net, for experiments that play with one; repeat for the second where two are used.
        Default: the net that ships for the game; for chess the one that HAUTEUR_NET names goes before it.
    visits
        Visits per move instead of the paper's, for a smaller machine.
    game
        Game instead of the paper's, where an experiment supports several.
    opponent
        Fixed opponent, where an experiment has one, as a player of `hauteur match`.
    cost
        Declared work of an evaluation of the large net, in those of the small one, where an experiment has two nets
        whose cost is not computed.
    seat
        Who gives the odds in a game without men to take away: the first or the second player, from the start.
    parallel
        Concurrent games.
    only
        Play only this match of an experiment that has several; may be repeated. The others are reported if they are
        complete.
    looks
        Judge at every eighth of the games and stop when no finding is open, where an experiment's size is its games.
    out
        Results folder, default runs/experiments/NAME.
    threads
        Processor cores to use; default two.
    """
    from hauteur.cli.interrupts import answered_interrupts
    from hauteur.networks.names import resolve_net
    from hauteur_experiments.experiment import ExperimentSetting, cores, default_folder, make_experiment
    from hauteur_experiments.registry import EXPERIMENTS, find

    if name == "list":
        width = max(len(known.name) for known in EXPERIMENTS)
        print("\n".join(f"{known.name:{width}}  {known.title} ({known.paper})" for known in EXPERIMENTS))
        return
    chosen = find(name)
    folder = out or default_folder(chosen, scale)
    setting = ExperimentSetting(
        folder,
        scale,
        seeds=chosen.seeds if seeds is None else seeds,
        first_seed=chosen.first_seed if first_seed is None else first_seed,
        threads=cores() if threads is None else threads,
        show=lambda line: print(line, flush=True),
        nets=tuple(path if path.exists() else Path(resolve_net(path)) for path in net),
        visits=visits,
        game=game,
        opponent=opponent,
        cost=cost,
        seat=seat,
        parallel=parallel,
        only=only,
        looks=looks,
    )
    with answered_interrupts("the same command resumes the experiment"), open_scheduler(workers) as scheduler:
        make_experiment(chosen, replace(setting, scheduler=scheduler, workers=workers.workers))


@app.command
def plan(
    *,
    hours: float,
    out: Path = Path("runs/experiments/plan"),
    run: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    net: Annotated[tuple[Path, ...], Parameter(negative=())] = (),
    table: Path | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    parallel: int = 64,
    threads: int | None = None,
    workers: Workers = NO_WORKERS,
) -> int:
    """Make the runs that decide the claims of the papers, most claims an hour first; an interrupted plan resumes.

    One run is made at a time. What does not fit into the hours that are left by its estimate is left out, and what is
    over is not made again. After each run the table of claims is written: the source's figure, what was measured here,
    the verdict, and what would close what is open.

    Parameters
    ----------
    hours
        Hours that the runs may take by their estimates; 0 writes the table alone.
    out
        Folder of the runs.
    run
        Make this run of the plan alone; may be given several times. Default: all.
    net
        Net for chess; repeat for the runs that need a second one. Default: the net that ships.
    table
        Page to write the table to, between its lines `<!-- claims -->` and `<!-- end claims -->`; default
        OUT/claims.md.
    dry_run
        Print the runs in their order with their estimates, and make none.
    parallel
        Concurrent games.
    threads
        Processor cores to use; default two.
    """
    from hauteur.cli.interrupts import answered_interrupts
    from hauteur.networks.names import resolve_net
    from hauteur_experiments.claims import claims_by_run
    from hauteur_experiments.experiment import ExperimentSetting, cores
    from hauteur_experiments.plan import make_plan, steps
    from hauteur_experiments.plan_table import write_table
    from hauteur_experiments.planned_runs import RUNS, run_named

    if not 0 <= hours <= 10_000:
        raise ValueError(f"--hours must be 0 to 10,000, got {hours:g}")
    base = ExperimentSetting(
        out,
        threads=cores() if threads is None else threads,
        show=lambda line: print(line, flush=True),
        nets=tuple(path if path.exists() else Path(resolve_net(path)) for path in net),
        parallel=parallel,
    )
    chosen = [run_named(name) for name in run] or RUNS
    page = table or out / "claims.md"
    if not dry_run:
        out.mkdir(parents=True, exist_ok=True)
        write_table(page, base)
    if dry_run or hours:
        print(f"estimating {len(chosen)} runs: each net that they need is measured for a moment", file=sys.stderr)
    planned = steps(chosen, claims_by_run(), base) if dry_run or hours else []
    print("\n".join(step.text for step in planned))
    if dry_run:
        return 0
    with answered_interrupts("the same command resumes the plan"), open_scheduler(workers) as scheduler:
        base = replace(base, scheduler=scheduler, workers=workers.workers)
        failed = make_plan(planned, base, hours, lambda: write_table(page, base))
    print(f"written: {page}")
    return 1 if failed else 0
