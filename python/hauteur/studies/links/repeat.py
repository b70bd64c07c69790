"""A search repeated from its link, and what is another one here than where the link was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hauteur import _core
from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.games.registry import make, with_fen
from hauteur.networks.bundled import net_or_shipped
from hauteur.search.control import SearchControl
from hauteur.search.limits import Limits
from hauteur.search.report import RootReport
from hauteur.search.search_run import OnReport
from hauteur.studies.links.facts import linked
from hauteur.studies.links.link import SearchLink
from hauteur.system.errors import explain

UNEXPLAINED = (
    "all that the link names is the same here: the processor or a library of the system computes other last bits"
)

NAMES = {
    "version": "hauteur",
    "core": "the compiled core",
    "backend": "the backend",
    "runtime": "the version of the backend",
    "precision": "the precision",
    "threads": "the number of threads",
}
"""What a link says of the machine, in words."""


@dataclass(frozen=True)
class RepeatedSearch:
    """A search repeated from a link. link: the one opened; own: the one that this search has; differences: one line for
    everything that is another one here.
    """

    link: SearchLink
    own: SearchLink
    report: RootReport
    differences: tuple[str, ...]

    @property
    def equal(self) -> bool | None:
        """Whether the tree is that of the link; None where the link does not say which it was."""
        return self.link.digest == self.own.digest if self.link.digest else None

    @property
    def verdict(self) -> str:
        """The result in one line."""
        if self.equal is None:
            return f"tree {self.own.digest}; the link does not say which one it was"
        if self.equal:
            return f"equal: tree {self.own.digest}"
        why = "; ".join(self.differences) or UNEXPLAINED
        return f"another tree, {self.own.digest} instead of {self.link.digest}: {why}"


def start_of(link: SearchLink) -> tuple[_core.State, tuple[int, ...], tuple[int, ...]]:
    """Return where the game of a link begins, its actions since, and the only ones to search (empty: all)."""
    start = make(with_fen(link.game, link.fen or None)).initial_state()
    state, actions = start.copy(), list[int]()
    for number, text in enumerate(link.moves, 1):
        try:
            actions.append(state.action_from_text(text))
        except ValueError as error:
            raise ValueError(f"link: move {number}: {error}") from None
        state.play(actions[-1])
    if not len(state.legal_actions()):
        raise ValueError(f"link: the game is over ({state.end_reason()})")
    return start, tuple(actions), tuple(state.action_from_text(text) for text in link.only)


def repeat(
    link: SearchLink,
    nets: Mapping[str, str],
    *,
    net: str = "",
    large_net: str = "",
    lines: int = 1,
    on_report: OnReport | None = None,
    control: SearchControl | None = None,
) -> RepeatedSearch:
    """Search as a link says. nets: files by the names that a link may have; net, large_net: files in their place.

    The backend and the precision of the link are taken where they can be. Raise ValueError, one line, for a net that is
    not here, for one of another game, and for moves that are not legal.
    """
    start, actions, only = start_of(link)
    small = net or (_named(link.net, nets) if link.net else net_or_shipped(None, start.game))
    large = large_net or (_named(link.large_net, nets) if link.large_net else "")
    choice = NetChoice(small, large, link.backend, link.precision, link.threads)
    settings = PlaySettings(link.search, batch_size=link.batch_size)
    with PlayingSession(start.game, settings, seed=link.seed) as session:
        opened, refused = _open(session, choice)
        session.set_position(start, actions)
        limits = Limits(visits=link.visits)
        found = session.think(limits, actions=only, lines=lines, on_report=on_report, control=control)
        assert found.report is not None  # a player with nets always reports
        own = linked(link, choice, opened, settings, digest=session.tree_facts().digest)
    return RepeatedSearch(link, own, found.report, (*refused, *differences(link, own)))


def differences(link: SearchLink, own: SearchLink) -> list[str]:
    """Return a line for everything that a link says of net and machine and that is another one here."""
    found = []
    for name, key, word in (("net", "sha256", "the net"), ("large_net", "large_sha256", "the large net")):
        theirs, ours = getattr(link, key), getattr(own, key)
        if theirs != ours and theirs:
            found.append(f"{word} {getattr(own, name)} is another one: sha256 {ours[:12]} instead of {theirs[:12]}")
        elif getattr(link, name) not in ("", getattr(own, name)) and not theirs:
            found.append(f"{word} is {getattr(own, name)} instead of {getattr(link, name)}")
    for key, word in NAMES.items():
        theirs, ours = getattr(link, key), getattr(own, key)
        if theirs and theirs != ours:
            found.append(f"{word} is {ours or 'none'} instead of {theirs}")
    return found


def _named(name: str, nets: Mapping[str, str]) -> str:
    if name not in nets:
        raise ValueError(
            f"link: the net {name} is not here: `hauteur net get` downloads public nets, --net names a file"
        )
    return nets[name]


def _open(session: PlayingSession, choice: NetChoice) -> tuple[OpenNets, list[str]]:
    """Open the nets as the link wants them, else as they can be opened; return why they could not."""
    refused = []
    session.open(choice)
    try:
        player = session.wait()
    except (ValueError, ImportError) as error:
        refused.append(f"not as in the link: {explain(error)}")
        session.open(replace(choice, backend=None, precision=None))
        player = session.wait()
    assert isinstance(player, OpenNets)
    return player, refused
