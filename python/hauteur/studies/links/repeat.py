"""A search repeated from its link, and what differs from where the link was made."""

from __future__ import annotations

from dataclasses import dataclass

from hauteur import _core
from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.games.registry import load_game, with_fen
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import RootReport
from hauteur.networks.bundled import net_or_shipped
from hauteur.studies.links.facts import NetFiles, computes, has_backend, linked, named_net
from hauteur.studies.links.link import SearchLink
from hauteur.system.hardware import usable_cores

UNEXPLAINED = (
    "all that the link names is the same here: the processor or a library of the system computes other last bits"
)

MOST_THREADS = 4
"""Threads a core that a link may have: more help nobody, and a link is somebody else's."""

NAMES = {
    "version": "hauteur",
    "core": "the compiled core",
    "backend": "the backend",
    "runtime": "the version of the backend",
    "precision": "the precision",
    "threads": "the number of threads",
}
"""The facts of a link about the machine, in words."""


@dataclass(frozen=True)
class RepeatedSearch:
    """A search repeated from a link. link: the one opened; own: the one that this search has; differences: one line for
    everything that differs here.
    """

    link: SearchLink
    own: SearchLink
    report: RootReport
    differences: tuple[str, ...]

    @property
    def equal(self) -> bool | None:
        """Whether the tree is that of the link; None where the link has no digest."""
        return self.link.digest == self.own.digest if self.link.digest else None

    @property
    def verdict(self) -> str:
        """The result in one line."""
        if self.equal is None:
            return f"tree {self.own.digest}; the link has no digest to compare it with"
        if self.equal:
            return f"equal: tree {self.own.digest}{''.join(f', although {line}' for line in self.differences)}"
        why = "; ".join(self.differences) or UNEXPLAINED
        return f"another tree, {self.own.digest} instead of {self.link.digest}: {why}"


def start_of(link: SearchLink) -> tuple[_core.State, tuple[int, ...], tuple[int, ...]]:
    """Return where the game of a link begins, its actions since, and the only ones to search (empty: all)."""
    start = load_game(with_fen(link.game, link.fen or None)).new_initial_state()
    state, actions = start.copy(), list[int]()
    for number, text in enumerate(link.moves, 1):
        try:
            actions.append(state.parse(text))
        except ValueError as error:
            raise ValueError(f"link: move {number}: {error}") from None
        state.apply(actions[-1])
    if not len(state.legal_actions()):
        raise ValueError(f"link: the game is over ({state.end_reason()})")
    return start, tuple(actions), tuple(state.parse(text) for text in link.only)


class LinkedSearch:
    """The search of a link, as it is made here. nets: the files that a link may name (`nets_by_name`); net, large_net:
    files in their place. Raise ValueError, one line, for a net that is not here and for moves that are not legal.

    The backend and the precision of the link are taken where they are here.
    """

    def __init__(self, link: SearchLink, nets: NetFiles, *, net: str = "", large_net: str = "") -> None:
        self.link = link
        self.start, self.actions, self.only = start_of(link)
        default = net_or_shipped(None, self.start.game) if not (net or link.net) else ""
        small = net or default or named_net(link.net, link.sha256, nets)
        large = large_net or (named_net(link.large_net, link.large_sha256, nets) if link.large_net else "")
        backend = link.backend if link.backend and has_backend(link.backend) else None
        precision = link.precision if backend and link.precision and computes(backend, link.precision) else None
        threads = min(link.threads, MOST_THREADS * usable_cores())
        self.nets = NetChoice(small, large, backend, precision, threads)
        self.settings = PlaySettings(link.search, batch_size=link.batch_size)

    @property
    def limits(self) -> Limits:
        """The limit of the search."""
        return Limits(visits=self.link.visits)

    def new_session(self) -> PlayingSession:
        """Return a session at the position of the link, its nets being opened."""
        session = PlayingSession(self.start.game, self.settings, seed=self.link.seed)
        session.open(self.nets)
        session.set_position(self.start, self.actions)
        return session

    def compared(self, session: PlayingSession, report: RootReport) -> RepeatedSearch:
        """Return what the search in this session came to, once it has ended."""
        opened = session.wait()
        assert isinstance(opened, OpenNets)
        digest = session.tree_facts().digest
        own = linked(self.link, self.nets, opened, self.settings, digest=digest)
        return RepeatedSearch(self.link, own, report, tuple(differences(self.link, own)))


def repeat(link: SearchLink, nets: NetFiles, *, net: str = "", large_net: str = "", lines: int = 1) -> RepeatedSearch:
    """Search as in a link. Raise ValueError as `LinkedSearch`, and for a net of another game."""
    search = LinkedSearch(link, nets, net=net, large_net=large_net)
    with search.new_session() as session:
        found = session.think(search.limits, actions=search.only, lines=lines)
        assert found.report is not None  # a player with nets always reports
        return search.compared(session, found.report)


def differences(link: SearchLink, own: SearchLink) -> list[str]:
    """Return a line for every fact of a link about net and machine that differs here."""
    found = []
    for name, key, word in (("net", "sha256", "the net"), ("large_net", "large_sha256", "the large net")):
        theirs, ours = getattr(link, key), getattr(own, key)
        if theirs != ours and theirs:
            found.append(f"{word} {getattr(own, name)} differs: sha256 {ours[:12]} instead of {theirs[:12]}")
        elif getattr(link, name) not in ("", getattr(own, name)) and not theirs:
            found.append(f"{word} is {getattr(own, name)} instead of {getattr(link, name)}")
    for key, word in NAMES.items():
        theirs, ours = getattr(link, key), getattr(own, key)
        if theirs and theirs != ours:
            found.append(f"{word} is {ours or 'none'} instead of {theirs}")
    return found
