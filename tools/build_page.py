"""Write the lab as a page without a server: static files for any web host.

`make page` runs this after the core was compiled to WebAssembly. The pages, scripts and styles are those of
`hauteur web`; the two scripts of crates/page/web stand in for the server.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from hauteur import _core
from hauteur.engine.odds_table import SHIPPED, OddsTable
from hauteur.games.odds import USUAL, parse_odds
from hauteur.games.registry import names
from hauteur.mcts.lc0_options import setting_path
from hauteur.mcts.methods import index_html, methods, page_of
from hauteur.mcts.net_search import play_search_text, play_search_values
from hauteur.mcts.params import SearchParams
from hauteur.networks.names import ResolvedNet, colour_of, data_path, shipped_names
from hauteur.players.ladder import ladder
from hauteur.plots.page import STYLE
from hauteur.system.errors import explain
from hauteur.system.settings import read_toml
from hauteur.web import pages
from hauteur.web.pages import Page, boards
from hauteur.web.render import html
from page_nets import page_net

ROOT = Path(__file__).resolve().parent.parent
STATIC = ROOT / "python" / "hauteur" / "web" / "static"
SCRIPTS = ROOT / "crates" / "page" / "web"
CORE = ("core.js", "core_bg.wasm", "core_relaxed_bg.wasm")
"""What `tools/page_core.sh` makes: one script, and the core without and with relaxed SIMD."""
OWN = ("Play", "Odds", "Analyse", "Explain", "Methods")
"""Pages that need no machine."""
MOST_NET = 1_500_000
"""Bytes of a net on the wire."""
MOST_VISITS = 20_000
"""Visits of a search of the page Explain: several trees stay in the memory of the browser."""

SHOWN_OF_RUNGS = {"rating", "net", "visits", "temperature"}
SERVED = {"icon.svg", "matches.css", "matches.js", "puzzles.css", "puzzles.js", "review.css", "review.js", "watch.js"}
"""Static files of pages that need the server, and what stands in the pages themselves."""


def net_files(extra: Sequence[Path]) -> dict[str, Path]:
    """Return the nets of the page by name: those that ship, then others by the names of their files."""
    found = {name: data_path(f"{name}.safetensors") for name in shipped_names()}
    for path in extra:
        name = path.name.removesuffix(".pb.gz").removesuffix(".safetensors")
        if name in found:
            raise ValueError(f"{path}: there is a net {name} already")
        found[name] = path
    return found


def write_nets(files: dict[str, Path], folder: Path) -> list[dict[str, Any]]:
    """Write the nets into a folder; return their facts. Raise ValueError for one that is too large."""
    folder.mkdir()
    facts = []
    for name, path in files.items():
        about, data = page_net(path)
        packed = gzip.compress(data, 9, mtime=0)
        if len(packed) > MOST_NET:
            raise ValueError(f"{path}: has {len(packed):,} bytes for the page, allowed are {MOST_NET:,}")
        (folder / f"{name}.net.gz").write_bytes(packed)
        ships = path.parent == data_path("")
        net = ResolvedNet(str(path))
        carried = play_search_text(net)
        play_search_values(carried, net.path)  # ValueError for what is not allowed
        colour = colour_of(path.name)
        facts.append({"name": name, **about, "ships": ships, "trained_for": colour, "play_search": carried})
    return facts


def odds_settings() -> list[dict[str, Any]]:
    """Return the settings for odds, with the dotted key of each."""
    rows = []
    for row in OddsTable(**read_toml(SHIPPED)).odds:
        settings = [(name, ".".join(setting_path(name)), _plain(value)) for name, value in row.settings.items()]
        gives = None if row.gives is None else ("white", "black").index(row.gives)
        rows.append({"pieces": row.pieces, "gives": gives, "settings": settings, "nodes": row.nodes})
    return rows


def _plain(value: bool | float | str) -> bool | float | str:
    """Return whole numbers as such: counts are read as integers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def facts(nets: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the sessions of the page know of the package (crates/lab/src/facts.rs)."""
    names = {net["name"] for net in nets}
    rungs = [rung for rung in ladder() if rung.net in names]
    return {
        "nets": nets,
        "ladder": [{"name": rung.name, **rung.model_dump(include=SHOWN_OF_RUNGS)} for rung in rungs],
        "methods": {name: page for name in SearchParams.model_fields if (page := page_of(name)) is not None},
        "handicaps": sorted({parse_odds(text, "white").name for text in USUAL}),
        "odds_settings": odds_settings(),
    }


def page_files() -> dict[str, str]:
    """Return the pages as HTML by the names of their files."""
    every = pages.all_pages().navigation
    navigation = tuple(replace(page, path=f"{page.title.lower()}.html") for page in every if page.title in OWN)
    served = [page for page in every if page.title not in OWN]
    found = {page.path: _page(page, navigation) for page in navigation}
    common = {"navigation": navigation, "version": _core.__version__, "alone": True, "keys": []}
    found |= {"keys.html": html("keys.html", path="keys.html", **common), "index.html": found["play.html"]}
    found["lab.html"] = html("lab.html", path="lab.html", served=served, **common)
    for method in methods():
        words = [word.partition("=")[::2] for word in method.trial.split()]
        about = {"method": method, "text": Markup(method.html(_method_link)), "words": words, "games": names()}
        found[f"method-{method.name}.html"] = html("method.html", path="methods.html", **about, **common)
    return {name: _relative(text) for name, text in found.items()}


def _method_link(target: str) -> str | None:
    """Return where a link of a method's page leads, None for files that are not on the page."""
    if target.startswith(("https://", "#")):
        return target
    path, hash_sign, place = target.partition("#")
    if path == "README.md":
        return "methods.html"
    known = {f"{method.name}.md" for method in methods()}
    return f"method-{path.removesuffix('.md')}.html{hash_sign}{place}" if path in known else None


def _page(page: Page, navigation: tuple[Page, ...]) -> str:
    common = {
        "path": page.path,
        "navigation": navigation,
        "version": _core.__version__,
        "keys": [asdict(key) for key in page.keys],
        "alone": True,
    }
    match page.title:
        case "Play" | "Odds":
            return html("play.html", programs=False, **boards.play_facts(at_odds=page.title == "Odds"), **common)
        case "Analyse":
            return html("analyse.html", opponents=[], **boards.analyse_facts(), **common)
        case "Explain":
            return html("explain.html", most_visits=MOST_VISITS, **boards.explain_facts(), **common)
        case "Methods":
            places = Markup(index_html(_method_link))
            return html("methods.html", places=places, methods=methods(), experiments=(), **common)
        case _:
            raise ValueError(f"there is no page {page.title} without a server")


def _relative(text: str) -> str:
    """Return a page whose links hold in any folder of a host."""
    icon = f"data:image/svg+xml,{quote((STATIC / 'icon.svg').read_text(encoding='utf-8').strip())}"
    text = text.replace('href="/static/icon.svg"', f'href="{icon}"')  # browsers ask for a file again at a new address
    text = text.replace('href="/static/', 'href="static/').replace('src="/static/', 'src="static/')
    text = text.replace('action="/explain"', 'action="explain.html"')
    text = re.sub(r'href="/methods/([a-z-]+)"', r'href="method-\1.html"', text)
    return re.sub(r'href="/([a-z]*)"', lambda found: f'href="{found[1] or "index"}.html"', text)


def build(out: Path, core: Path, nets: Sequence[Path]) -> None:
    """Write the page into a new folder. core: that of wasm-bindgen's files. ValueError, OSError: in one line."""
    made = out.with_name(f".{out.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    shutil.copytree(STATIC, made / "static", ignore=lambda _, names: SERVED & set(names))
    for path in SCRIPTS.iterdir():
        shutil.copyfile(path, made / "static" / path.name)
    for name in CORE:
        shutil.copyfile(core / name, made / "static" / name)
    (made / "static" / "figures.css").write_text(STYLE, encoding="utf-8")
    found = facts(write_nets(net_files(nets), made / "nets"))
    (made / "facts.json").write_text(json.dumps(found, separators=(",", ":")), encoding="utf-8")
    for name, text in page_files().items():
        (made / name).write_text(text, encoding="utf-8")
    shutil.rmtree(out, ignore_errors=True)
    made.replace(out)


def wire_bytes(folder: Path) -> int:
    """Return the bytes that a visitor loads at most, each file as a host sends it with gzip; of two cores one."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "core_bg.wasm"]
    return sum(len(gzip.compress(path.read_bytes(), 6)) for path in files)


def main() -> int:
    """Build the page as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--core", type=Path, required=True, help=f"folder of {', '.join(CORE)}")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "page", help="folder that is written")
    parser.add_argument("nets", type=Path, nargs="*", help="more nets: .pb.gz or .safetensors")
    given = parser.parse_args()
    try:
        build(given.out, given.core, given.nets)
    except (ValueError, OSError) as error:
        print(f"make page: {explain(error)}", file=sys.stderr)
        return 1
    print(f"{given.out}: {wire_bytes(given.out) / 1e6:.2f} MB on the wire")
    return 0


if __name__ == "__main__":
    sys.exit(main())
