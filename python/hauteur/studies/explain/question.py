"""The question of a comparison, and its searches: one position, two sides with other settings or nets, one limit."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from hauteur import _core
from hauteur.engine.nets import NetChoice, Opener, OpenNets, open_evaluator, open_nets
from hauteur.games.played_game import position_after
from hauteur.mcts.analysis import ALL_LINES, Analysis
from hauteur.mcts.control import SearchControl
from hauteur.mcts.limits import Limits
from hauteur.mcts.net_search import search_of_net
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import RootReport
from hauteur.mcts.result import SearchResult, refuse_finished
from hauteur.mcts.tree_source import ForestTree
from hauteur.networks.names import resolve_net
from hauteur.players.settings import PlayerSettings, changed_player
from hauteur.system.closing import Closing

DEFAULT_VISITS = 800
MOST_VISITS = 1_000_000
BATCH_SIZE = 16
"""Maximum rows of a batch, the same on every machine: searches depend on it. 1: exactly sequential."""
MOST_BATCH = 4096

PRESETS = {"search-contempt": ("search_contempt.n_scl=5", "")}
"""Pairs of settings worth a look, by name."""

NOT_OF_A_SIDE = ("name", "visits", "temperature")
"""Settings of a player that mean nothing here: both sides have the same limit, and no move is chosen."""


@dataclass(frozen=True)
class Side:
    """Settings and nets of one of the two searches. text: how its settings were given."""

    text: str
    nets: NetChoice
    search: SearchParams

    def without(self, name: str) -> Side:
        """Return the side with a section or setting of the search at its default, and without the net that it needs."""
        changes = {name: SearchParams.model_fields[name].default}
        nets = replace(self.nets, large="") if name in ("second_net", "opponent_net") else self.nets
        contempt = self.search.search_contempt
        if name == "opponent_net" and contempt is not None and contempt.n_scl == 0:
            changes["search_contempt"] = None  # which has no meaning without a model
        return replace(self, nets=nets, search=self.search.model_copy(update=changes))


@dataclass(frozen=True)
class Question:
    """Two sides, and what both have in common."""

    start: _core.State
    """Position that `actions` are played from."""
    actions: tuple[int, ...]
    """Actions that lead to the position."""
    a: Side
    """First side: nets and settings."""
    b: Side
    """Second side."""
    visits: int = DEFAULT_VISITS
    """Visits of the root, its own evaluation included."""
    seed: int = 0
    """Seed of all random draws."""
    batch_size: int = BATCH_SIZE
    """Maximum rows of a batch."""

    def __post_init__(self) -> None:
        ranges = (("visits", self.visits, 2, MOST_VISITS), ("seed", self.seed, 0, 2**63 - 1))
        for name, value, least, most in (*ranges, ("batch_size", self.batch_size, 1, MOST_BATCH)):
            if not least <= value <= most:
                raise ValueError(f"{name} must be {least} to {most}, got {value}")
        refuse_finished(self.position)

    @property
    def position(self) -> _core.State:
        """Return the position that is searched."""
        return position_after(self.start, self.actions)

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.a, self.b


def side_of(text: str, game: _core.Game, label: str, common: PlayerSettings, threads: int = 0) -> Side:
    """Return the side that the words of `text` make of the settings that both have in common.

    text: key=value words as of a player of a match: net, large_net, opponent_net, precision, and any setting of the
    search. Raise ValueError, which begins with `label`, for what is not allowed.
    """
    settings = changed_player(common, text, label)
    stranger = next((name for name in NOT_OF_A_SIDE if name in settings.model_fields_set), None)
    if not settings.has_net or stranger:
        what = stranger or settings.baseline or "a program"
        raise ValueError(
            f"{label}: {what} is not part of a search; allowed: net, large_net, opponent_net, precision, the search"
        )
    try:
        small = resolve_net(settings.net, game).path
        large = resolve_net(settings.other_net).path if settings.other_net else ""
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    return checked_side(
        Side(text, NetChoice(small, large, precision=settings.precision, threads=threads), settings.search), label
    )


def checked_side(side: Side, label: str) -> Side:
    """Return the side with its net's own settings under those that it was given.

    ValueError, which begins with `label`, where they need a second net and it has none.
    """
    try:
        search = search_of_net(side.search, resolve_net(side.nets.net), side.nets.large)
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    side = replace(side, search=search)
    second = side.search.second_net
    if second is not None and not second.is_neutral and not side.nets.large:
        raise ValueError(f"{label}: second_net needs a large net: give large_net=")
    if side.search.opponent_net is not None and not side.nets.large:
        raise ValueError(f"{label}: opponent_net needs the net that models the opponent: give opponent_net=")
    return side


def side_json(side: Side) -> dict[str, Any]:
    """Return a side as the core's comparison takes it, without the folders of nets."""
    values = side.search.model_dump(exclude_defaults=True, mode="json")
    return {"text": side.text, "net": net_name(side.nets.net), "large": net_name(side.nets.large), "values": values}


def net_name(path: str) -> str:
    """Return the name of a net's file without its folder."""
    return path.replace("\\", "/").rpartition("/")[2]


MOST_NODES = 50_000
"""Nodes of a tree that are read, the most visited first."""


class ExplainStopped(Exception):  # noqa: N818  (no error: it was asked for)
    """The comparison was stopped before its end."""


@dataclass(eq=False)
class ExplainedSearch:
    """A finished search."""

    side: Side
    """Nets and settings."""
    report: RootReport
    """Its last report."""
    result: SearchResult
    """Its result."""
    tree: _core.Explained
    """The report and the most visited nodes, as comparisons read them."""


def explained(side: Side, report: RootReport, result: SearchResult, evaluator: str) -> ExplainedSearch:
    """Read a search that is over. evaluator: what computed it."""
    source = result.tree.source
    assert isinstance(source, ForestTree)  # not a file
    pace = report.pace
    facts = {
        "side": side_json(side),
        "evaluator": evaluator,
        "reason": report.reason,
        "seconds": pace.seconds,
        "new_visits": pace.new_visits,
        "depth": pace.depth,
        "rows": pace.rows,
    }
    tree = source.explained(report.state, json.dumps(facts), MOST_NODES)
    return ExplainedSearch(side, report, result, tree)


@dataclass
class Searches(Closing):
    """Searches of a question's position with any settings. A context manager: closes the nets."""

    question: Question
    """The question."""
    opener: Opener = open_evaluator
    """Opens nets."""
    on_progress: Callable[[float], None] | None = None
    """Gets the finished share of the running search, 0 to 1, several times a second."""
    _stack: ExitStack = field(default_factory=ExitStack)
    _nets: dict[NetChoice, OpenNets] = field(default_factory=dict)
    _made: dict[tuple[NetChoice, str], ExplainedSearch] = field(default_factory=dict)
    _control: SearchControl = field(default_factory=SearchControl)
    _stopped: bool = False

    def close(self) -> None:
        """Close the nets."""
        self._stack.close()

    def stop(self) -> None:
        """End the present search and all that follow; any thread may call it."""
        self._stopped = True
        self._control.stop()

    def of(self, side: Side, *, keep: bool = True) -> ExplainedSearch:
        """Return the search of a side; keep: its tree is kept for later calls. Raise ExplainStopped once
        `stop` was called.
        """
        key = side.nets, side.search.without_neutral_rules().model_dump_json()
        found = self._made.get(key) or self._search(side)
        if keep:
            self._made[key] = found
        return found

    def _search(self, side: Side) -> ExplainedSearch:
        """Search with the settings of a side."""
        question = self.question
        nets = self._open(side.nets)
        analysis = Analysis(
            nets.small,
            side.search,
            large=nets.large,
            seed=question.seed,
            batch_size=question.batch_size,
        )
        analysis.set_position(question.start, question.actions)
        self._control = SearchControl()
        if not self._stopped:
            limits = Limits(visits=question.visits)
            report = analysis.search(limits, lines=ALL_LINES, on_report=self._report, control=self._control)
        if self._stopped:
            raise ExplainStopped
        return explained(side, report, analysis.result(), nets.name)

    def _open(self, choice: NetChoice) -> OpenNets:
        """Open nets, each choice once."""
        if choice not in self._nets:
            nets = self._nets[choice] = open_nets(self.question.start.game, choice, self.opener)
            self._stack.callback(nets.close)
        return self._nets[choice]

    def _report(self, report: RootReport) -> None:
        if self.on_progress is not None:
            self.on_progress(min(report.visits / self.question.visits, 1.0))
