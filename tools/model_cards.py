"""Write the model cards of the nets that ship, and a table of bundled-nets.md, from one table and the files themselves.

    python tools/model_cards.py

`make schema` runs it. What people must say is in python/hauteur/networks/data/shipped_nets.toml; what a file says is
read from it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from hauteur.networks import NetDescription, describe
from hauteur.networks.names import data_path
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.networks.strength import ShippedNet, shipped_nets

ROOT = Path(__file__).resolve().parent.parent
CARDS = ROOT / "docs" / "reference" / "model-cards.md"
BUNDLED = ROOT / "docs" / "experiments" / "bundled-nets.md"

HEAD = """# Model cards

The nets that ship with hauteur, one card each: what it is, what it learned from, how strong it is and by whose
judgement, what it is for and what not. Written by `make schema` from
[one table](../../python/hauteur/networks/data/shipped_nets.toml) and the files; games and commands are on
[the page about them](../experiments/bundled-nets.md). All values are one seed each, and intervals 95 %.

Nets that `hauteur net get` downloads are their publishers'; without a name it lists them with their licences.
"""


def link(page: str, beside: Path) -> str:
    """Return the link from one page to another, which is given from the top of the repository, with a heading."""
    path, hash_sign, heading = page.partition("#")
    return f"{Path(os.path.relpath(ROOT / path, beside.parent)).as_posix()}{hash_sign}{heading}"


def body(net: NetDescription) -> str:
    """Return the size of a net's tower in words."""
    architecture = net.architecture
    assert isinstance(architecture, ResNetArchitecture), "nets that ship are residual"
    words = [f"{architecture.filters} filters", f"{architecture.blocks} blocks"]
    if architecture.se_channels:
        words.append("squeeze-and-excitation")
    if architecture.pooling:
        words.append("global pooling")
    return ", ".join(words)


def recipe_of(name: str) -> str:
    """Return the recipe of a net, from the top of the repository."""
    paths = (shipped_nets()[name].recipe, f"runs/bundled/{name}.toml", f"runs/{name}.toml")
    return next(path for path in paths if (ROOT / path).is_file())


def card(name: str, shipped: ShippedNet) -> str:
    """Return the card of a net."""
    net = describe(data_path(f"{name}.safetensors"))
    planes, rows, columns = net.architecture.feature_shape
    recipe = recipe_of(name)
    actions = net.architecture.num_actions
    search = {"search in play": f"`{shipped.play_search}`, where a user gives no other"} if shipped.play_search else {}
    facts = {
        "game": f"`{net.game}`",
        "network": f"residual, {body(net)}; {net.parameters:,} numbers",
        "input, output": f"{planes} planes of {rows} x {columns}; {actions:,} actions; win, draw, loss",
        "file": f"{net.file_bytes:,} bytes, sha256 `{net.sha256[:16]}`...",
        **search,
        "made": f"{shipped.made} ([recipe]({link(recipe, CARDS)}), [more]({link(shipped.more, CARDS)}))",
        "learned from": shipped.data,
        "CPU minutes": f"{shipped.minutes}; {shipped.measured}",
        "licence": shipped.licence,
        "for": shipped.use,
        "not for": shipped.not_for,
    }
    lines = [f"## {name}", "", "| | |", "|---|---|", *(f"| {key} | {text} |" for key, text in facts.items()), ""]
    lines += ["| judge | terms | result |", "|---|---|---|"]
    lines += [f"| {one.judge} | {one.terms} | {one.result} |" for one in shipped.strength]
    return "\n".join(lines)


def cards() -> str:
    """Return the page of all cards."""
    return HEAD + "".join(f"\n{card(name, shipped)}\n" for name, shipped in shipped_nets().items())


def bundled(page: str) -> str:
    """Return the page about the nets with its first table written anew. ValueError where it has none."""
    rows = ["| net | body | bytes | how it was made | CPU minutes |", "|---|---|---|---|---|"]
    for name, shipped in shipped_nets().items():
        net = describe(data_path(f"{name}.safetensors"))
        where = link(shipped.more, BUNDLED)
        made = shipped.made if where.startswith(BUNDLED.name) else f"[{shipped.made}]({where})"
        rows.append(f"| `{name}` | {body(net)} | {net.file_bytes:,} | {made} | {shipped.minutes} |")
    table = re.compile(r"^\| net \| body \|.*\n(?:\|.*\n)+", re.MULTILINE)
    if not table.search(page):
        raise ValueError(f"{BUNDLED.name}: has no table of nets and bodies")
    return table.sub("".join(f"{row}\n" for row in rows), page, count=1)


def written() -> dict[Path, str]:
    """Return every file that follows from the table, with its text."""
    return {CARDS: cards(), BUNDLED: bundled(BUNDLED.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    for file, text in written().items():
        file.write_text(text, encoding="utf-8")
