"""hauteur experiment: tables and figures of the papers, each one command."""

from pathlib import Path


def experiment(
    name: str = "list",
    *,
    scale: float = 1.0,
    seeds: int | None = None,
    net: tuple[Path, ...] = (),
    visits: int | None = None,
    game: str | None = None,
    opponent: str | None = None,
    parallel: int = 64,
    only: tuple[str, ...] = (),
    out: Path | None = None,
    threads: int | None = None,
) -> None:
    """Make a table or figure of the papers from runs of this program; one that was interrupted goes on.

    Parameters
    ----------
    name
        Which one; `list` names them all.
    scale
        Factor of its sizes: games, trainings, positions; 1 is the paper's size.
    seeds
        How many runs with different random numbers; default: the experiment's.
    net
        Net file, for experiments that play with one; again for the second, where one uses two. Default: the net that
        comes with the game or, for chess, the one that was found.
    visits
        Visits a move in the place of the paper's, for a smaller machine.
    game
        The game in the place of the paper's, where an experiment can be made in several.
    opponent
        The fixed opponent, where an experiment has one, as a player of `hauteur match`.
    parallel
        Games at a time.
    only
        Play only this match of an experiment that has several; may be repeated. The others are told of where they have
        been played to the end.
    out
        Folder of the results, default runs/experiments/NAME.
    threads
        Processor cores that it may use; default two.
    """
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
        threads=cores() if threads is None else threads,
        show=lambda line: print(line, flush=True),
        nets=net,
        visits=visits,
        game=game,
        opponent=opponent,
        parallel=parallel,
        only=only,
    )
    make_experiment(chosen, setting)
