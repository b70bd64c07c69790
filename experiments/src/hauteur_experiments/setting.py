"""The settings of an experiment, which are its options on the command line, and positions that it may begin with."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

Choice = Literal["nets", "visits", "game", "opponent", "cost", "side", "precision", "only", "positions", "constants"]
Show = Callable[[str], None]


@Parameter(name="*")
@dataclass(frozen=True)
class Setting:
    """Settings of an experiment, which are its options on the command line."""

    folder: Annotated[Path, Parameter(parse=False)] = Path()
    """Folder of its results and of the state to resume from."""
    scale: float = 1.0
    """Scale factor of games, trainings and positions; 1 is the paper's size."""
    seeds: int = 0
    """Number of runs with different random seeds; 0: the experiment's."""
    first_seed: int = 0
    """First of these seeds; 0: the experiment's, which its settings were not chosen with."""
    nets: Annotated[tuple[Path, ...], Parameter(name="--net", negative=())] = ()
    """Net file or name of a net, for experiments that play with one; repeat for the second where two are used.
    Default: the net that ships for the game; for chess the one that HAUTEUR_NET names goes before it."""
    visits: int | None = None
    """Visits per move instead of the paper's, for a smaller machine."""
    game: str | None = None
    """Game instead of the paper's, where an experiment supports several."""
    opponent: str | None = None
    """Fixed opponent, where an experiment has one, as a player of `hauteur match`."""
    cost: float | None = None
    """Declared work of an evaluation of the large net, in those of the small one, where an experiment has two nets;
    default: by their sizes."""
    side: Literal["first", "second"] | None = None
    """Giver of the odds in a game without pieces to take away: the first or the second player, from the start."""
    precision: Literal["float32", "bfloat16"] | None = None
    """Precision of the nets of players that do not name one; default: the backend's."""
    constants: Literal["source"] | None = None
    """Search with the source's c_puct, first-play urgency and policy temperature instead of this program's."""
    only: Annotated[tuple[str, ...], Parameter(negative=())] = ()
    """Play only this match of an experiment that has several; may be repeated. The others are reported if they are
    complete."""
    positions: str | None = None
    """File of positions (an EPD or FEN a line), or one of this distribution's: `endings`, even ones of chess, or
    `mates`. Games begin there; an experiment that solves positions needs their best moves."""
    looks: Annotated[bool, Parameter(negative="")] = False
    """Take verdicts at every eighth of the games and stop when no finding is open, where a size is of games."""
    parallel: int = 64
    """Concurrent games."""
    workers: int = 0
    """Processes that play the games of matches; 0: this process plays them. The games are the same."""
    threads: int = 0
    """Processor cores to use; 0: two, or one where there is no second core."""
    show: Annotated[Show, Parameter(parse=False)] = print
    """Receives lines of progress."""
    borrowed: Annotated[dict[str, str], Parameter(parse=False)] = field(default_factory=dict)
    """Matches whose games are those of an experiment in a neighbouring folder, with the path of each."""

    def __post_init__(self) -> None:
        if not self.threads:
            object.__setattr__(self, "threads", cores())
        ranges = {
            "scale": (self.scale, 1e-9, 100),
            "seeds": (self.seeds, 0, 1000),
            "threads": (self.threads, 1, 1024),
            "workers": (self.workers, 0, 1024),
            "first_seed": (self.first_seed, 0, 1_000_000),
            "visits": (self.visits, 1, 1_000_000_000),
            "cost": (self.cost, 1 + 1e-9, 10_000),
        }
        for name, (value, least, most) in ranges.items():
            if value is not None and not least <= value <= most:
                raise ValueError(f"{name} must be {least:,g} to {most:,g}, got {value}")

    @property
    def seed_numbers(self) -> range:
        """The seeds; without others the first one."""
        first = max(1, self.first_seed)
        return range(first, first + max(1, self.seeds))

    def visits_or(self, paper: int) -> int:
        """Return visits per move: as requested, else the paper's."""
        return paper if self.visits is None else self.visits

    def scaled(self, full: int, least: int = 1) -> int:
        """A size at this scale."""
        return max(least, round(full * self.scale))

    def pairs(self, full: int) -> int:
        """An even number of games at this scale."""
        return 2 * self.scaled(full // 2)

    @property
    def net(self) -> Path | None:
        """The one net that was given; None: players have that of their game. ValueError for several."""
        if len(self.nets) > 1:
            raise ValueError(f"this experiment uses one net, got {len(self.nets)}: {', '.join(map(str, self.nets))}")
        return self.nets[0] if self.nets else None

    def stored(self, experiment: str) -> dict[str, Any]:
        """Return what decides the results of an experiment, as experiment.json holds it."""
        nets = []
        for net in self.nets:
            if net.is_file():
                sha256 = hashlib.sha256(net.read_bytes()).hexdigest()
                nets.append(f"{net.name} sha256 {sha256}")
        settings = {
            "experiment": experiment,
            "scale": self.scale,
            "nets": nets or None,
            "visits": self.visits,
            "game": self.game,
            "opponent": self.opponent,
            "cost": self.cost,
            "side": self.side,
            "precision": self.precision,
            "constants": self.constants,
            "positions": positions_name(self.positions),
            "first_seed": self.first_seed if self.first_seed != 1 else None,
        }
        return {key: value for key, value in settings.items() if value is not None}


POSITION_SETS = ("endings", "mates")
"""The sets of positions of this distribution."""


def position_lines(name: str | None) -> list[str]:
    """Lines of a set of positions of this distribution, or of a file; none for None. ValueError where there is none."""
    if name is None:
        return []
    path = Path(__file__).with_name(f"{name}.epd") if name in POSITION_SETS else Path(name)
    if not path.is_file():
        raise ValueError(f"--positions {name}: no such file, and the sets are {', '.join(POSITION_SETS)}")
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]


def positions_name(name: str | None) -> str | None:
    """A set of positions by its name and content."""
    content = "".join(f"{line}\n" for line in position_lines(name))
    if name is None:
        return None
    return f"{Path(name).name} sha256 {hashlib.sha256(content.encode()).hexdigest()}"


def cores() -> int:
    """Threads by default: two, or one where there is no second core."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(2, usable)
