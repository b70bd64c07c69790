"""hauteur experiment: tables and figures of the papers, each one command."""

from dataclasses import replace
from pathlib import Path

from hauteur.cli.commands.options import NO_WORKERS, Workers
from hauteur.cluster.open import open_scheduler


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
    parallel: int = 64,
    only: tuple[str, ...] = (),
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
    parallel
        Concurrent games.
    only
        Play only this match of an experiment that has several; may be repeated. The others are reported if they are
        complete.
    out
        Results folder, default runs/experiments/NAME.
    threads
        Processor cores to use; default two.
    """
    from hauteur.cli.interrupts import answered_interrupts
    from hauteur.networks.names import resolve_net
    from hauteur.studies.papers.experiment import ExperimentSetting, cores, default_folder, make_experiment
    from hauteur.studies.papers.registry import EXPERIMENTS, find

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
        parallel=parallel,
        only=only,
    )
    with answered_interrupts("the same command resumes the experiment"), open_scheduler(workers) as scheduler:
        make_experiment(chosen, replace(setting, scheduler=scheduler, workers=workers.workers))
