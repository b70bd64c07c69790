"""Links of the desk Analyse: made of its last search, and opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.mcts.limits import Limits
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import RootReport
from hauteur.networks.names import WITHOUT_FILE
from hauteur.studies.links.facts import linked, nets_by_name, repeatable_digest
from hauteur.studies.links.link import MOST_CHARACTERS, SearchLink, read_link, settings_pairs
from hauteur.studies.links.repeat import LinkedSearch, RepeatedSearch
from hauteur.system.settings import Section, validated
from hauteur.web.desks.desk import Fields
from hauteur.web.players import nets_under, page_nets

NO_DIGEST = (
    "The tree comes from more than one search, from a search by time, or from one that was stopped: the link repeats a "
    "search of as many visits, and has no digest of its tree."
)


class LinkText(Section):
    """A link, as it stands in the address."""

    link: Annotated[str, Field(max_length=MOST_CHARACTERS)]


@dataclass(frozen=True)
class LinkedPlace:
    """What is searched, as a link names it. place: position and seed; search: as it was chosen."""

    place: SearchLink
    nets: NetChoice
    search: SearchParams

    def reply(self, session: PlayingSession, report: RootReport, limits: Limits) -> Fields:
        """Return the link of a search that has ended, and a note where it has no digest."""
        opened = session.wait()
        assert isinstance(opened, OpenNets)
        digest = repeatable_digest(session, report) if limits.by_visits_alone else ""
        place = self.place.model_copy(update={"visits": limits.visits if digest else report.visits})
        settings = PlaySettings(self.search, batch_size=session.settings.batch_size)
        link = linked(place, self.nets, opened, settings, digest=digest)
        return {"link": link.address, "note": "" if digest else NO_DIGEST}


def opened_link(fields: Fields, roots: Sequence[str]) -> LinkedSearch:
    """Return the search of a link that a page opens, with nets that a page may name."""
    link = read_link(validated(LinkText, fields, "link").link)
    return LinkedSearch(link, nets_by_name(nets_under(roots).values()))


def link_fields(search: LinkedSearch, roots: Sequence[str]) -> dict[str, Any]:
    """Return position, nets and settings of a link as the page's own address has them."""
    link = search.link
    names = {str(path): name for name, path in page_nets(roots).items()} | {name: name for name in WITHOUT_FILE}
    return {
        "game": link.game,
        "fen": link.fen,
        "moves": list(link.moves),
        "net": names.get(search.nets.net, Path(search.nets.net).name),
        "large_net": names.get(search.nets.large, Path(search.nets.large).name),
        "search": {key.removeprefix("search."): value for key, value in settings_pairs(link.search)},
        "seed": link.seed,
        "visits": link.visits,
    }


def repeated_view(found: RepeatedSearch) -> Fields:
    """Return what a repeated search came to, for the page."""
    return {"equal": found.equal, "verdict": found.verdict, "differences": list(found.differences)}
