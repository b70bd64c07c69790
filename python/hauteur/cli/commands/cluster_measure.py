"""hauteur cluster measure: the constants of `hauteur cluster simulate`, measured on this machine."""

from pathlib import Path


def measure(
    recipe: Path,
    *settings: str,
    net: Path | None = None,
    units: int = 6,
    threads: int = 1,
    folder: Path | None = None,
    train: bool = True,
    processor_time: bool = False,
    out: Path | None = None,
) -> None:
    """Measure what units of a recipe cost workers and driver: the constants of `hauteur cluster simulate`.

    Parameters
    ----------
    recipe
        TOML file, such as runs/connect4.toml.
    settings
        Changes to the recipe, such as selfplay.shard_games=50.
    net
        The net that plays; default: the one that ships for the game.
    units
        Units to play, an even number, 4 to 1,000.
    threads
        Threads of the net on the processor.
    folder
        A folder on the disk that the driver would write to; default: the present one.
    train
        Also measure training, for some seconds.
    processor_time
        Count the processor's seconds of the worker, not those of the clock: with one thread and a net on the processor
        they are the same, unless the machine does other things too.
    out
        File to write; default: print it.
    """
    import time

    import tomli_w

    from hauteur.cli.commands.cluster_simulate import check_number
    from hauteur.games.registry import load_game
    from hauteur.learning.cluster_costs import measured_costs, rounded_values
    from hauteur.learning.recipe import load_recipe
    from hauteur.networks.bundled import net_or_shipped
    from hauteur.system.files import check_folder, write_bytes

    check_number("--units", units, 4, 1000)
    if units % 2:
        raise ValueError(f"--units must be even, since two end together, got {units}")
    check_number("--threads", threads, 1, 1024)
    wanted = load_recipe(recipe, settings)
    if out is not None:
        check_folder(out)
    place = folder or Path()
    if not place.is_dir():
        raise ValueError(f"--folder {place}: is not a folder")
    path = Path(net_or_shipped(None if net is None else str(net), load_game(wanted.game)))
    clock = time.process_time if processor_time else time.perf_counter
    costs = measured_costs(wanted, path, units=units, threads=threads, folder=place, train=train, clock=clock)
    text = tomli_w.dumps(rounded_values(costs))
    if out is None:
        print(text, end="")
    else:
        write_bytes(out, text.encode())
