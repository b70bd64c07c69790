"""hauteur experiment: tables and figures of the papers, each one command; the plan of all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

import hauteur as ht
from hauteur_experiments.experiment import make_experiment
from hauteur_experiments.registry import every_experiment, find
from hauteur_experiments.setting import Setting

app = App(name="experiment", help="Make a table or figure of the papers; without a name, list them.")


@app.default
def experiment(name: str = "list", *, setting: Setting | None = None, out: Path | None = None) -> None:
    """Reproduce a table or figure of the papers with this program; an interrupted experiment resumes.

    Parameters
    ----------
    name
        Experiment; `list` lists all.
    out
        Results folder, default runs/experiments/NAME.
    """
    if name == "list":
        width = max(len(known.name) for known in every_experiment())
        for known in every_experiment():
            print(f"{known.name:{width}}  {known.title} ({known.paper})")
        return
    chosen = find(name)
    setting = setting or Setting()
    suffix = "" if setting.scale == 1 else f"-scale-{setting.scale:g}"
    folder = out or Path("runs") / "experiments" / f"{chosen.name}{suffix}"
    with _answered("experiment"):
        make_experiment(chosen, _shown(setting, folder))


def _shown(setting: Setting, folder: Path) -> Setting:
    """The setting with its folder, the files of its nets, and lines that are shown at once."""
    nets = tuple(map(_file_of, setting.nets))
    return replace(setting, folder=folder, nets=nets, show=lambda line: print(line, flush=True))


def _file_of(net: Path) -> Path:
    """Return the file of a net that is given by its name; a file, the folder of a run, or no net at all, unchanged."""
    if net.exists() or str(net) in ("uniform", "rollout"):
        return net
    return ht.load_network(str(net)).path


@contextmanager
def _answered(work: str) -> Iterator[None]:
    """Say what resumes interrupted work."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"\nstopping; the same command resumes the {work}", file=sys.stderr, flush=True)
        raise


@app.command
def keep(folder: Path, *, out: Path | None = None) -> None:
    """Write what is kept of a run: settings, results, and of each game all but its moves, which have a check sum.

    Parameters
    ----------
    folder
        Folder of a run, or of matches.
    out
        File to write, default FOLDER.json beside the folder.
    """
    from hauteur_experiments.kept import keep_run

    file = out or folder.with_name(f"{folder.resolve().name}.json")
    keep_run(folder, file)
    print(f"written: {file}")


@app.command
def compare(file: Path, folder: Path) -> int:
    """Compare the games of a folder with those of a kept run, by the check sums of their moves.

    Ends with status 1 where some are different or missing.

    Parameters
    ----------
    file
        A kept run, as `hauteur experiment keep` writes it.
    folder
        Folder with the games, played again by the run's command.
    """
    from hauteur_experiments.kept import compare

    found = compare(file, folder)
    for name, comparison in found.items():
        print(f"{comparison:9}  {name}")
    return 0 if set(found.values()) <= {"the same"} else 1


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
    threads: int = 0,
) -> int:
    """Make the runs that decide the claims of the papers, in their order; an interrupted plan resumes.

    One run is made at a time, and what is over is not made again. After each run the table of claims is written: the
    source's figure, what was measured here, the verdict, and what would close what is open.

    Parameters
    ----------
    hours
        Hours after which no other run is begun; 0 writes the table alone.
    out
        Folder of the runs.
    run
        Make this run of the plan alone; may be given several times. Default: all.
    net
        Net for chess; repeat for the runs that need a second one. Default: the net that ships.
    table
        Page to write the table to, between its lines `<!-- claims -->` and `<!-- end claims -->`; default
        OUT/claims.md. A README.md beside it with the lines `<!-- summary -->` and `<!-- end summary -->` gets one.
    dry_run
        Print the runs in their order, what they decide and which are over, and make none.
    parallel
        Concurrent games.
    threads
        Processor cores to use; 0: two, or one where there is no second core.
    """
    from hauteur_experiments.claims_table import write_table
    from hauteur_experiments.plan import RUNS, is_over, make_plan, run_named

    if not 0 <= hours <= 10_000:
        raise ValueError(f"--hours must be 0 to 10,000, got {hours:g}")
    base = _shown(Setting(nets=net, parallel=parallel, threads=threads), out)
    chosen = [run_named(name) for name in run] or RUNS
    if dry_run:
        for one in chosen:
            over = "over" if is_over(one, base) else one.size
            print(f"{one.name:32} {len(one.claims):3} claims  {over}")
        return 0
    page = table or out / "claims.md"
    out.mkdir(parents=True, exist_ok=True)
    write_table(page, base)
    with _answered("plan"):
        failed = make_plan(chosen, base, hours, lambda: write_table(page, base))
    print(f"written: {page}")
    return 1 if failed else 0
