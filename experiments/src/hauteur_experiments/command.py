"""hauteur experiment: tables and figures of the papers, each one command; the plan of all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

import hauteur as ht
from hauteur_experiments.experiment import Setting, cores, make_experiment
from hauteur_experiments.registry import every_experiment, find

app = App(name="experiment", help="Make a table or figure of the papers; without a name, list them.")


@app.default
def experiment(
    name: str = "list",
    *,
    scale: float = 1.0,
    seeds: int | None = None,
    first_seed: int | None = None,
    net: tuple[Path, ...] = (),
    visits: int | None = None,
    game: str | None = None,
    opponent: str | None = None,
    cost: float | None = None,
    side: Literal["first", "second"] | None = None,
    parallel: int = 64,
    only: tuple[str, ...] = (),
    looks: Annotated[bool, Parameter(negative="")] = False,
    out: Path | None = None,
    threads: int | None = None,
    workers: int = 0,
    cluster: str | None = None,
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
    side
        Who gives the odds in a game without pieces to take away: the first or the second player, from the start.
    parallel
        Concurrent games.
    only
        Play only this match of an experiment that has several; may be repeated. The others are reported if they are
        complete.
    looks
        Take verdicts at every eighth of the games and stop when no finding is open, where a size is of games.
    out
        Results folder, default runs/experiments/NAME.
    threads
        Processor cores to use; default two.
    workers
        Processes that play the games of learning runs; 0: this process plays them. The games are the same.
    cluster
        Where workers run, as of `hauteur train`: `auto` or HOST:PORT, Ray; default: this machine alone.
    """
    if name == "list":
        width = max(len(known.name) for known in every_experiment())
        print("\n".join(f"{known.name:{width}}  {known.title} ({known.paper})" for known in every_experiment()))
        return
    chosen = find(name)
    suffix = "" if scale == 1 else f"-scale-{scale:g}"
    setting = Setting(
        out or Path("runs") / "experiments" / f"{chosen.name}{suffix}",
        scale,
        seeds=chosen.seeds if seeds is None else seeds,
        first_seed=chosen.first_seed if first_seed is None else first_seed,
        threads=cores() if threads is None else threads,
        show=lambda line: print(line, flush=True),
        nets=tuple(map(_file_of, net)),
        visits=visits,
        game=game,
        opponent=opponent,
        cost=cost,
        side=side,
        parallel=parallel,
        only=only,
        workers=workers,
        cluster=cluster,
        looks=looks,
    )
    with _answered("experiment"):
        make_experiment(chosen, setting)


def _file_of(net: Path) -> Path:
    """Return the file of a net that is given by its name; a file, the folder of a run, or no net at all, unchanged."""
    return net if net.exists() or str(net) in ("uniform", "rollout") else ht.load_network(str(net)).path


@contextmanager
def _answered(work: str) -> Iterator[None]:
    """Say what goes on with interrupted work."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"\nstopping; the same command resumes the {work}", file=sys.stderr, flush=True)
        raise


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
    workers: int = 0,
    cluster: str | None = None,
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
    workers
        Processes that play the games of learning runs; 0: this process plays them. The games are the same.
    cluster
        Where workers run, as of `hauteur train`: `auto` or HOST:PORT, Ray; default: this machine alone.
    """
    from hauteur_experiments.claims_table import write_table
    from hauteur_experiments.plan import make_plan, steps
    from hauteur_experiments.planned_runs import RUNS, run_named

    if not 0 <= hours <= 10_000:
        raise ValueError(f"--hours must be 0 to 10,000, got {hours:g}")
    base = Setting(
        out,
        threads=cores() if threads is None else threads,
        show=lambda line: print(line, flush=True),
        nets=tuple(map(_file_of, net)),
        parallel=parallel,
        workers=workers,
        cluster=cluster,
    )
    chosen = [run_named(name) for name in run] or RUNS
    page = table or out / "claims.md"
    if not dry_run:
        out.mkdir(parents=True, exist_ok=True)
        write_table(page, base)
    if dry_run or hours:
        print(f"estimating {len(chosen)} runs: each net that they need is measured for a moment", file=sys.stderr)
    planned = steps(chosen, base) if dry_run or hours else []
    print("\n".join(step.text for step in planned))
    if dry_run:
        return 0
    with _answered("plan"):
        failed = make_plan(planned, base, hours, lambda: write_table(page, base))
    print(f"written: {page}")
    return 1 if failed else 0
