"""hauteur cluster simulate: self-play by 1 to 10,000 workers, simulated with measured constants."""

import json as json_format
from pathlib import Path

from hauteur.cli.commands.options import Seed
from hauteur.cluster.model.costs import read_costs
from hauteur.cluster.model.outcome import Outcome, first_bottlenecks, limits, outcome
from hauteur.system.files import check_folder
from hauteur.system.tables import text_table

MOST_WORKERS = 100_000
MOST_LAG = 2
COLUMNS = (
    *("workers", "lag", "positions/s", "from-to", "share", "idle", "driver", "disk", "MB/s out", "MB/s in"),
    *("net MB/gen", "in flight", "files/s", "held MB", "s/gen", "retried", "compared", "workers wait for"),
)


def simulate(
    costs: str = "connect4",
    *settings: str,
    workers: str = "1,2,10,100,1000,10000",
    lag: str = "0,1",
    loss: float | None = None,
    generations: int = 3,
    seeds: int = 3,
    seed: Seed = 1,
    json: bool = False,
    figure: Path | None = None,
) -> None:
    """Simulate self-play and learning by many workers: speed, idle time, load of the driver, and what breaks first.

    A row for each number of workers and lag: positions a second (mean over seeds, least and greatest) and their share
    of as many workers that never wait; idle: of the workers' time; driver, disk: time in which the driver's processor
    and disk are busy; MB a second from and to the driver; MB of nets that leave it in a generation; units in flight;
    files a second; MB of results held; seconds of a generation; units lost and compared. The last lines: what workers
    wait for, and from how many workers on each part is full.

    Parameters
    ----------
    costs
        A TOML file of constants, as `hauteur cluster measure` writes it, or constants that ship: connect4, chess.
    settings
        Changes to the constants, such as net.broadcast=driver unit.seconds=10.
    workers
        Numbers of workers, 1 to 100,000, separated by commas.
    lag
        Values of selfplay.max_policy_lag, 0 to 2, separated by commas.
    loss
        Machines lost an hour, for each machine; default: as the constants say.
    generations
        Generations to simulate, 2 to 100; the first is left out of the figures.
    seeds
        Simulations of each row, 1 to 100; the table has their mean, the least and the greatest.
    seed
        Seed of the first of them.
    json
        Print JSON: the constants, the limits and the rows, with the shares of time that workers wait by cause.
    figure
        Also draw the shares of the ideal sum as an SVG file of this name.
    """
    changes = (*settings, *(() if loss is None else (f"machine.lost_per_hour={loss}",)))
    constants = read_costs(costs, changes)
    numbers, lags = numbers_of("--workers", workers, 1, MOST_WORKERS), numbers_of("--lag", lag, 0, MOST_LAG)
    check_number("--generations", generations, 2, 100)
    check_number("--seeds", seeds, 1, 100)
    if figure is not None:
        check_folder(figure)
        if figure.suffix != ".svg":
            raise ValueError(f"--figure {figure}: must end in .svg")
    used = range(seed, seed + seeds)
    rows = [outcome(constants, n, lag=one, seeds=used, generations=generations) for one in lags for n in numbers]
    bounds = limits(constants)
    if figure is not None:
        write_figure(figure, rows, Path(costs).stem)
    if json:
        found = {"costs": constants.model_dump(), "limits": [limit._asdict() for limit in bounds]}
        print(json_format.dumps(found | {"rows": [row._asdict() for row in rows]}))
        return
    print(text_table(COLUMNS, [cells(row) for row in rows], len(rows)))
    for one in lags:
        found_at = first_bottlenecks([row for row in rows if row.lag == one])
        text = ", ".join(f"{cause} from {count:,} workers" for cause, count in found_at.items())
        print(
            f"lag {one}: workers wait for {text}" if text else f"lag {one}: workers work more than 95 % of their time"
        )
    print("full, by arithmetic:", ", ".join(f"{one.resource} at {one.workers:,.0f} workers" for one in bounds))


def cells(row: Outcome) -> list[object]:
    """Return a row of the table."""
    speeds = [f"{row.positions:,.0f}", f"{row.low:,.0f}-{row.high:,.0f}"]
    shares = [f"{value:.1%}" for value in (row.share, row.idle, row.driver, row.disk)]
    rates = [_short(one) for one in (row.out, row.in_, row.net, row.flying, row.files, row.held, row.generation)]
    counts = [f"{row.retried:,.0f}", f"{row.compared:,.0f}"]
    return [f"{row.workers:,}", row.lag, *speeds, *shares, *rates, *counts, row.bottleneck]


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def numbers_of(option: str, text: str, least: int, most: int) -> list[int]:
    """Return the numbers of a list in text; ValueError naming the option where it holds others."""
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be whole numbers separated by commas, got {text!r}") from None
    for number in found:
        check_number(option, number, least, most)
    return list(dict.fromkeys(found))


def check_number(option: str, number: int, least: int, most: int) -> None:
    """Raise ValueError unless a number is in its bounds."""
    if not least <= number <= most:
        raise ValueError(f"{option} must be {least:,} to {most:,}, got {number:,}")


def write_figure(path: Path, rows: list[Outcome], name: str) -> None:
    """Draw the shares of the ideal sum by workers, one line a lag, as SVG."""
    from hauteur.plots.colours import line_colour
    from hauteur.plots.figure import Figure, Series
    from hauteur.plots.files import write_svg

    lines = []
    for i, lag in enumerate(dict.fromkeys(row.lag for row in rows)):
        found = sorted((row for row in rows if row.lag == lag), key=lambda row: row.workers)
        places, values = [float(row.workers) for row in found], [row.share for row in found]
        scale = [row.share / row.positions if row.positions else 0.0 for row in found]
        low = [row.low * factor for row, factor in zip(found, scale, strict=True)]
        high = [row.high * factor for row, factor in zip(found, scale, strict=True)]
        lines.append(Series(f"lag {lag}", places, values, line_colour(i), low=low, high=high))
    text = "share of the positions a second of as many workers that never wait"
    values_are = "share of the ideal"
    write_svg(
        Figure(
            path.stem,
            f"Self-play by workers: {name}",
            text,
            values_are,
            "workers",
            lines=tuple(lines),
            percent=True,
            x_log=True,
        ),
        path,
    )
