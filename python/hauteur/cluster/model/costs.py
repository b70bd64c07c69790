"""What everything costs in learning by many workers: the constants of the model, with their units, read from TOML.

Times are seconds, sizes bytes, rates bytes or positions a second, unless a name says otherwise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hauteur.system.settings import Section, assign, read_toml, validated

Seconds = Annotated[float, Field(ge=0, le=1e7)]
Bytes = Annotated[int, Field(ge=0, le=10**12)]
Rate = Annotated[float, Field(gt=0, le=1e15)]
Share = Annotated[float, Field(ge=0, le=1)]
Spread = Annotated[float, Field(ge=0, le=3)]
Number = Annotated[int, Field(ge=1, le=10**9)]

MOST_LIVES = 3.0
"""Mean lives of a machine that a unit may take: one unit in twenty ends then."""


class UnitCosts(Section):
    """A unit of work, as one worker plays it.

    games: of a unit; positions: that its games give to learn from; seconds: of a worker that has further units, on
    average; spread: of these seconds among units, the standard deviation of their logarithm; speed_spread: the same
    among workers; tail: how much longer a unit takes that is alone at its worker, as a share of `seconds`; task_bytes:
    of the unit on its way to the worker; result_bytes: of its games on their way back.
    """

    games: Number
    positions: Annotated[float, Field(gt=0, le=1e9)]
    seconds: Annotated[float, Field(gt=0, le=1e6)]
    spread: Spread = 0.1
    speed_spread: Spread = 0.0
    tail: Annotated[float, Field(ge=0, le=10)] = 0.0
    task_bytes: Bytes
    result_bytes: Bytes


class GenerationCosts(Section):
    """A generation. games: at least so many; units_per_worker: and at least so many units of each worker;
    compared: share of the units that another worker plays again; gate_units, gate_seconds: units of the gate, at most
    two for each worker, and what each takes; train_seconds: of everything else that happens once a generation;
    train_positions_per_second: new positions that training takes in a second.
    """

    games: Number
    units_per_worker: Annotated[float, Field(ge=0, le=10_000)] = 4.0
    compared: Share = 0.01
    gate_units: Annotated[int, Field(ge=0, le=100_000)] = 0
    gate_seconds: Seconds = 0.0
    train_seconds: Seconds = 0.0
    train_positions_per_second: Rate = 1e15


class DriverCosts(Section):
    """What the driver does for a unit.

    plan_seconds: to make it, before the generation begins; give_seconds: to send it; take_seconds: to check its
    result, which holds up the giving of units; round_seconds: of a round of the scheduler, for each worker present;
    write_seconds: to bring its file to the disk, in another thread; write_cpu_seconds: of these, of the processor;
    read_seconds: to add its games to the replay buffer, after the last one is there.
    """

    plan_seconds: Seconds
    give_seconds: Seconds
    take_seconds: Seconds
    round_seconds: Seconds
    write_seconds: Seconds
    write_cpu_seconds: Seconds
    read_seconds: Seconds

    @property
    def cpu_seconds(self) -> float:
        """Seconds of the processor that a unit costs, besides rounds of the scheduler."""
        return self.plan_seconds + self.give_seconds + self.take_seconds + self.write_cpu_seconds + self.read_seconds


class NetCosts(Section):
    """A net. bytes: of its file; load_seconds: until a worker has opened it; broadcast: `driver` sends it to each
    machine, `tree`: machines that have it send it on.
    """

    bytes: Bytes
    load_seconds: Seconds
    broadcast: Literal["driver", "tree"] = "tree"


class LinkCosts(Section):
    """The network. out_rate, in_rate: bytes a second from and to the driver; machine_rate: between other machines;
    latency: seconds of a message on its way.
    """

    out_rate: Rate = 125e6
    in_rate: Rate = 125e6
    machine_rate: Rate = 125e6
    latency: Seconds = 0.001


class MachineCosts(Section):
    """Machines of workers. workers: on each; lost_per_hour: rate at which a machine is lost, with its units in flight;
    noticed_seconds: until the driver knows; replaced_seconds: until another machine is there; start_seconds: until its
    workers have begun.
    """

    workers: Annotated[int, Field(ge=1, le=1024)] = 1
    lost_per_hour: Annotated[float, Field(ge=0, le=1000)] = 0.0
    noticed_seconds: Seconds = 5.0
    replaced_seconds: Seconds = 180.0
    start_seconds: Seconds = 5.0


class ClusterCosts(Section):
    """All constants of the model. measured: where and when those of the work and of the driver were measured."""

    measured: str = ""
    unit: UnitCosts
    generation: GenerationCosts
    driver: DriverCosts
    net: NetCosts
    link: LinkCosts = LinkCosts()
    machine: MachineCosts = MachineCosts()

    @model_validator(mode="after")
    def _units_can_end(self) -> Self:
        needed = (self.unit.seconds + self.net.load_seconds) * self.machine.lost_per_hour / 3600
        if needed > MOST_LIVES:
            raise ValueError(
                f"a unit takes {needed:,.0f} times as long as a machine lives at machine.lost_per_hour "
                f"{self.machine.lost_per_hour:g}: hardly any would end"
            )
        return self

    def ideal(self, workers: int) -> float:
        """Return the positions a second of so many workers that never wait."""
        return workers * self.unit.positions / self.unit.seconds

    def units(self, workers: int) -> int:
        """Return the units of a generation."""
        least = -(-self.generation.games // self.unit.games)
        return max(least, round(self.generation.units_per_worker * workers))

    def train_seconds(self, units: int) -> float:
        """Return the seconds of training on so many units."""
        new = units * self.unit.positions
        return self.generation.train_seconds + new / self.generation.train_positions_per_second


FOLDER = Path(__file__).parent
SHIPPED = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
"""Names of the constants that are part of the package."""


def read_costs(source: str, changes: tuple[str, ...] = ()) -> ClusterCosts:
    """Return the constants of a TOML file, or of one of SHIPPED, with `section.key=value` changes.

    ValueError, in one line, for what is neither and for constants that cannot be.
    """
    path = FOLDER / f"{source}.toml" if source in SHIPPED else Path(source)
    if not path.is_file():
        raise ValueError(f"{source}: is neither a TOML file of constants nor one of {', '.join(SHIPPED)}")
    values = read_toml(path)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise ValueError(f"{change!r} is not of the form section.key=value, such as unit.seconds=10")
        try:
            assign(ClusterCosts, values, tuple(key.replace("-", "_").split(".")), value)
        except ValueError as error:
            raise ValueError(f"{change}: {error}") from None
    return validated(ClusterCosts, values, source)
