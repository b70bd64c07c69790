"""Options that several commands have."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from hauteur.cli.commands import words
from hauteur.cluster.options import WorkerOptions
from hauteur.mcts.params import SearchParams, rules_off_by_default

Seed = Annotated[int, Parameter(validator=Number(gte=0, lt=2**63))]
"""A seed of random draws, 0 to 2^63 - 1."""

GameSpec = Annotated[str, Parameter(completer=words.games)]
"""A game by its spec."""

NetName = Annotated[str, Parameter(completer=words.nets)]
"""A net: the name of one that ships or was downloaded, a file, or an evaluator without a file."""

PlayerText = Annotated[str, Parameter(completer=words.players)]
"""A player as text."""

SearchSettings = Annotated[SearchParams, Parameter(name="search", show=False)]
"""All settings of the search as --search.KEY; `--list-settings` shows them instead of --help."""

_LISTED = (
    "List all settings of the search with defaults and ranges, and stop. They are given as --search.KEY VALUE, such as "
    "--search.cpuct.init 1.5 or --search.search-contempt.n-scl 10. On by default is plain PUCT: cpuct, fpu, "
    "policy-temperature. Every other rule is off, and turned on by any of its settings: "
    f"{', '.join(name.replace('_', '-') for name in rules_off_by_default())}."
)
SettingsListed = Annotated[bool, Parameter(name="--list-settings", negative="", help=_LISTED)]
"""Whether the settings of the search are listed, and nothing else is done."""

_WORKER_NAMES = {
    "threads": "worker-threads",
    "gpus": "worker-gpus",
    "labels": "worker-label",
    "compare": "worker-compare",
    "seconds": "worker-seconds",
}

Workers = Annotated[
    WorkerOptions, Parameter(name="*", negative=(), name_transform=lambda name: _WORKER_NAMES.get(name, name))
]
"""Who plays the games: --workers, --cluster, --worker-threads and others."""

NO_WORKERS = WorkerOptions()
