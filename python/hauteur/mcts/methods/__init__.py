"""The methods of the search and their pages, which are the Markdown files of this folder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from hauteur.plots.markdown import Link, markdown_html

ITALIAN = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R b KQkq - 0 5"
QUEEN_ODDS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
MATE_SOON = "k7/1R1p4/7p/4K3/8/8/1R5p/8 w - - 0 1"

TRIALS: Mapping[str, tuple[str, str]] = {
    "puct": ("cpuct.init=3", ITALIAN),
    "first-play-urgency": ("fpu.kind=absolute fpu.value=0", ITALIAN),
    "solver": ("solver.lookahead=1", MATE_SOON),
    "repetition": ("repetition.mode=inline_value", MATE_SOON),
    "search-contempt": ("search_contempt.n_scl=5", QUEEN_ODDS),
    "wdl-contempt": ("wdl_contempt.contempt=200 wdl_contempt.calibration_elo=2000", QUEEN_ODDS),
    "gumbel": ("gumbel.considered=16", ITALIAN),
    "lower-confidence-bound": ("lower_bound.confidence=0.95", ITALIAN),
    "forced-playouts": ("forced_playouts.k=2", ITALIAN),
    "q-average": ("q_average.mode=linear", ITALIAN),
    "prior-mixing": ("prior_mixing.share=0.1", ITALIAN),
    "tree-balance": ("tree_balance.mode=normalised", ITALIAN),
    "variance": ("variance.mode=half_normal variance.scale=0.1", ITALIAN),
    "early-visits": ("early_visits.ease=1", ITALIAN),
    "graph-search": ("graph=true", ITALIAN),
    "initial-trust": ("initial_trust.weight=1", ITALIAN),
}
"""Settings with which a method can be seen at work, as words of a player, and a position of chess for it, as FEN."""

PAGES: Mapping[str, str] = {
    "cpuct": "puct",
    "root_cpuct": "puct",
    "fpu": "first-play-urgency",
    "root_fpu": "first-play-urgency",
    "policy_temperature": "puct",
    "root_policy_temperature": "puct",
    "dirichlet": "puct",
    "cache_key": "puct",
    "graph": "graph-search",
    "swap_colors": "search-contempt",
    "second_net": "mpv-mcts",
    "lower_bound": "lower-confidence-bound",
}
"""Pages by section or setting of SearchParams, where they have another name."""

ROW = re.compile(r"^\| (?P<text>[^|]+?) \| \[[^\]]+\]\((?P<name>[a-z-]+)\.md\) \| (?P<use>[^|]+?) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Method:
    """A method of the search."""

    name: str
    """Name of its page."""
    title: str
    """Title of its page."""
    text: str
    """What it is."""
    use: str
    """Whether it is on by default."""
    trial: str = ""
    """Settings to try it with; empty where it cannot be tried on one position."""
    fen: str = ""
    """Position to try it on; empty likewise."""

    def html(self, link: Link) -> str:
        """Return its page as HTML, without the title; link: what a link's target stands for."""
        return markdown_html(_page(self.name).partition("\n")[2], link)


@lru_cache(1)
def methods() -> tuple[Method, ...]:
    """Return all methods, in the order of their index."""
    return tuple(_method(row) for row in ROW.finditer(_page("README")))


def _method(row: re.Match[str]) -> Method:
    name = row["name"]
    title = _page(name).partition("\n")[0].removeprefix("# ")
    trial, fen = TRIALS.get(name, ("", ""))
    return Method(name, title, row["text"], row["use"], trial, fen)


def page_of(name: str) -> str | None:
    """Return the page about a section or setting of SearchParams, None where none is."""
    page = PAGES.get(name, name.replace("_", "-"))
    if files(__name__).joinpath(f"{page}.md").is_file():
        return page
    return None


def index_html(link: Link) -> str:
    """Return what the index says below its list of methods: the places where rules act."""
    text = _page("README")
    return markdown_html(text[text.index("## The six places") :], link)


@lru_cache(64)
def _page(name: str) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
