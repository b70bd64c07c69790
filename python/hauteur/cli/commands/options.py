"""Options that several commands have."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cluster.options import WorkerOptions
from hauteur.mcts.params import OpponentNet, SearchParams
from hauteur.networks.evaluators.base import MOST_BATCH_ROWS, Precision

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.engine.nets import NetChoice
    from hauteur.engine.playing import PlaySettings

Seed = Annotated[int, Parameter(validator=Number(gte=0, lt=2**63))]
"""A seed of random draws, 0 to 2^63 - 1."""

BatchSize = Annotated[int, Parameter(validator=Number(gte=1, lte=MOST_BATCH_ROWS))]
"""Rows of a batch."""

GameSpec = str
"""A game by its spec."""

GameArgument = Annotated[GameSpec, Parameter(name=("--game", "--spec"))]
"""The same as the first word of a command, which may be given by name too, as in the commands that have players."""

NetName = str
"""A net: the name of one that ships or was downloaded, a file, or an evaluator without a file."""

PlayerText = str
"""A player as text."""

SearchSettings = Annotated[SearchParams, Parameter(name="search", show=False)]
"""All settings of the search as --search.KEY; `--list-settings` shows them instead of --help."""

Words = Annotated[tuple[str, ...], Parameter(consume_multiple=True)]
"""Words up to the next option."""


@Parameter(name="*")
@dataclass(frozen=True)
class NetSearcher:
    """Searcher of positions: nets and settings."""

    net: NetName | None = None
    """Net file, name of a net (`hauteur net get` lists them), `uniform` or `rollout`. Default: the net that comes with
    the game; for chess the one that HAUTEUR_NET names goes before it."""
    large_net: NetName | None = None
    """A second, large net that corrects the first one: two-net search, see --search.second-net."""
    opponent_net: NetName | None = None
    """A second net that models the opponent of the side to move, see --search.opponent-net; not with --large-net."""
    batch_size: BatchSize | None = None
    """Maximum positions evaluated together; 1: exactly sequential search. Default: what suits the backend."""
    threads: Annotated[int, Parameter(validator=Number(gte=0, lte=1024))] = 0
    """Threads of the net on the processor; 0: one a core."""
    precision: Precision = "auto"
    """Of the net: float32, bfloat16, float16; auto: float16 on a GPU, else the faster of bfloat16 and float32."""
    seed: Seed = 0
    """Of all random draws."""
    search: SearchSettings = SearchParams()  # noqa: RUF009  (immutable)
    """Settings of the search."""

    def nets(self, game: "_core.Game") -> "NetChoice":
        """The nets; ValueError for one that is not here."""
        from hauteur.engine.nets import NetChoice
        from hauteur.networks.names import resolve_net

        self.check_nets()
        other = self.large_net or self.opponent_net
        large = resolve_net(other).path if other else ""
        net = resolve_net(self.net, game).path
        return NetChoice(net, large, precision=self.precision, threads=self.threads)

    def check_nets(self) -> None:
        """Raise ValueError for nets that exclude each other, and for the name of one that is not here."""
        from hauteur.networks.names import resolve_net

        if self.large_net and self.opponent_net:
            raise ValueError("--large-net and --opponent-net exclude each other: both are a second net")
        for name in filter(None, (self.net, self.large_net, self.opponent_net)):
            resolve_net(name)

    def search_params(self) -> SearchParams:
        """The settings of the search; an opponent's net has its section."""
        if self.opponent_net and self.search.opponent_net is None:
            given = self.search.model_dump(exclude_unset=True)
            return SearchParams.model_validate({**given, "opponent_net": OpponentNet()})
        return self.search


@Parameter(name="*")
@dataclass(frozen=True)
class Searcher(NetSearcher):
    """Searcher of positions: nets, settings, tablebases."""

    syzygy: str | None = None
    """Chess: folders of Syzygy tablebases, separated as in PATH."""

    def settings(self) -> "PlaySettings":
        """The settings of a session; ValueError for tablebases that are not there."""
        from hauteur import _core
        from hauteur.engine.playing import PlaySettings

        tablebase = _core.Tablebase(self.syzygy) if self.syzygy else None
        return PlaySettings(self.search_params(), batch_size=self.batch_size, tablebase=tablebase)


_LISTED = (
    "List all settings of the search with defaults and ranges, and stop. They are given as --search.KEY VALUE, such as "
    "--search.cpuct.init 1.5 or --search.search-contempt.n-scl 10. On by default is plain PUCT: cpuct, fpu, "
    "policy-temperature. Every other rule is off, and turned on by any of its settings: "
    f"{', '.join(name.replace('_', '-') for name in SearchParams.off_by_default())}."
)
SettingsListed = Annotated[bool, Parameter(name="--list-settings", negative="", help=_LISTED)]
"""Switch: list the settings of the search, and do nothing else."""

_WORKER_NAMES = {
    "threads": "worker-threads",
    "gpus": "worker-gpus",
    "seconds": "worker-seconds",
}

Workers = Annotated[
    WorkerOptions, Parameter(name="*", negative=(), name_transform=lambda name: _WORKER_NAMES.get(name, name))
]
"""Workers that play the games: --workers, --cluster, --worker-threads and others."""

NO_WORKERS = WorkerOptions()
