"""Links that repeat a search: game, position, net, settings, seed, visits, what computed it, and its tree's digest.

A link is an address of the page Analyse, `/analyse?game=...`. Opened on another machine with the same wheel, net,
backend and precision it gives the same tree, bit by bit; else `hauteur.studies.links.repeat` reports what differs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import Field

from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import Backend, Precision
from hauteur.players.settings import PlayerSettings, player_text
from hauteur.system.settings import Section, assigned, unknown_key, validated

PAGE = "/analyse"
MOST_CHARACTERS = 60_000
"""Of a link."""
SEARCH = "search."
"""Begins the keys of settings of the search."""
LISTS = ("moves", "only")
"""Keys with several words."""

Name = Annotated[str, Field(max_length=200)]
Move = Annotated[str, Field(min_length=1, max_length=40)]
Hash = Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]


class SearchLink(Section):
    """The facts of a link about a search.

    game: spec; fen: where it begins, empty: its start; moves: since then, as text. only: the only moves searched. net:
    name of a file or of an evaluator without one, sha256: of its bytes. batch_size: most rows of a batch; threads: of
    the processor, which batches are split over. backend, runtime, precision: what computed the net. version, core: of
    the package, and of its compiled part. digest: of the tree; empty: not known.
    """

    game: Annotated[str, Field(min_length=1, max_length=400)] = "chess"
    fen: Name = ""
    moves: Annotated[tuple[Move, ...], Field(max_length=5000)] = ()
    only: Annotated[tuple[Move, ...], Field(max_length=500)] = ()
    net: Name = ""
    sha256: Hash = ""
    large_net: Name = ""
    large_sha256: Hash = ""
    search: SearchParams = SearchParams()
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    visits: Annotated[int, Field(ge=1, le=2**32 - 1)] = 800
    batch_size: Annotated[int, Field(ge=1, le=8192)] = 1
    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    backend: Backend | None = None
    runtime: Name = ""
    precision: Precision | None = None
    version: Name = ""
    core: Name = ""
    digest: Annotated[str, Field(pattern="^([0-9a-f]{16})?$")] = ""

    @property
    def address(self) -> str:
        """The link without a server: path and query."""
        return f"{PAGE}?{urlencode(list(self._pairs()))}"

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for name in type(self).model_fields:
            value = getattr(self, name)
            if name == "search":
                yield from settings_pairs(value)
            elif value not in ("", (), None):
                yield name, " ".join(value) if name in LISTS else str(value)


def settings_pairs(search: SearchParams) -> list[tuple[str, str]]:
    """Return key and text of every setting that is not as by default; keys begin with `search.`."""
    words = shlex.split(player_text(PlayerSettings(search=search)))
    return [(key, value) for key, _, value in (word.partition("=") for word in words)]


def read_link(text: str) -> SearchLink:
    """Return the content of a link: an address, its path and query, or the query alone. Raise ValueError, one line,
    for keys and values that are not allowed.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a link has at most {MOST_CHARACTERS:,} characters, got {len(text):,}")
    query = urlsplit(text.strip()).query if "?" in text else text.strip()
    if "=" not in query:
        raise ValueError(f"{text.strip()[:80]!r} is no link: expected {PAGE}?game=...")
    return link_of(parse_qsl(query, keep_blank_values=True))


def link_of(pairs: Sequence[tuple[str, str]]) -> SearchLink:
    """Return the content of a link's query; ValueError as `read_link`."""
    values: dict[str, Any] = {}
    search: dict[str, str] = {}
    for key, value in pairs:
        kept, name = (search, key.removeprefix(SEARCH)) if key.startswith(SEARCH) else (values, key)
        if name in kept:
            raise ValueError(f"link: {key[:80]} is given twice")
        if kept is values and (key not in SearchLink.model_fields or key == "search"):
            raise ValueError(f"link: {unknown_key(key[:80], [*SearchLink.model_fields])}")
        kept[name] = value
    words = {key: tuple(values[key].split()) for key in LISTS if key in values}
    return validated(SearchLink, values | words | {"search": assigned(SearchParams, search.items(), "link")}, "link")
