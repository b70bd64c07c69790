"""Draw the moving picture of the README: a search tree that grows, as an SVG with an animation in its style sheet.

`python tools/tree_picture.py` searches one position of chess with the net that ships, at each number of VISITS, and
writes docs/pictures/tree.svg. The nodes are those of the last search; each appears in the frame in which it has its
first visit. Whoever prefers reduced motion sees the last frame.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import hauteur as ht
from hauteur.mcts.search_tree import TreeNode
from hauteur.plots.figure import DARK, LIGHT
from hauteur.plots.tree import TreeMark, tree_picture
from hauteur.system.files import write_bytes

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "tree.svg"
FEN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR b KQkq - 3 3"
VISITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
FRAME, LAST_FRAME = 0.6, 4.0
"""Seconds of a frame, and of the last one."""
NODES, MOVES = 30, 5
"""Nodes of the picture, and moves of the root with a bar."""
WIDTH, BOARD, GAP = 1000, 280, 16
BAR_TOP, BAR_ROW, BAR_LEFT, BAR_WIDTH = 352, 26, 60, 236

LENGTH = FRAME * (len(VISITS) - 1) + LAST_FRAME


@dataclass(frozen=True)
class Frame:
    """The tree at one number of visits."""

    visits: int
    nodes: dict[tuple[int, ...], TreeNode]

    def share(self, move: TreeNode) -> float:
        """The share of the root's visits that a move has."""
        found = self.nodes.get(move.line)
        return 0.0 if found is None else found.visits / max(self.visits - 1, 1)


def searched() -> list[Frame]:
    """Search the position at each number of visits."""
    state = ht.position("chess", FEN)
    frames = []
    with ht.evaluator("chess") as net:
        for visits in VISITS:
            tree = ht.search(state, net, visits=visits).tree
            frames.append(Frame(visits, {node.line: node for node in tree.most_visited(visits) if node.visits}))
    return frames


def begins(frame: int) -> float:
    """Per cent of the animation at which a frame begins."""
    return 100 * FRAME * frame / LENGTH


def appearance(name: str, frame: int) -> str:
    """The style of what appears with a frame and stays."""
    if frame == 0:
        return ""
    start = begins(frame)
    hidden = f"0%,{start - 0.01:.2f}%{{opacity:0}}{start:.2f}%,100%{{opacity:1}}"
    return f"@keyframes {name}{{{hidden}}}.{name}{{animation:{name} {LENGTH:g}s infinite}}"


def only(name: str, frame: int) -> str:
    """The style of what is seen in one frame alone."""
    start = begins(frame)
    end = begins(frame + 1) if frame + 1 < len(VISITS) else 100.0
    before = f"0%,{start - 0.01:.2f}%{{opacity:0}}" if frame else ""
    after = f"{end:.2f}%,100%{{opacity:0}}" if end < 100 else ""
    last = f"{start:.2f}%,{end - 0.01:.2f}%{{opacity:1}}"
    still = "" if end == 100 else f".{name}{{opacity:0}}"
    return f"{still}@keyframes {name}{{{before}{last}{after}}}.{name}{{animation:{name} {LENGTH:g}s infinite}}"


def growth(name: str, shares: list[float]) -> str:
    """The style of a bar whose length is a share in each frame."""
    steps = "".join(f"{begins(frame):.2f}%{{transform:scaleX({share:.3f})}}" for frame, share in enumerate(shares))
    end = f"100%{{transform:scaleX({shares[-1]:.3f})}}"
    still = f".{name}{{transform:scaleX({shares[-1]:.3f})}}"
    return f"{still}@keyframes {name}{{{steps}{end}}}.{name}{{animation:{name} {LENGTH:g}s infinite}}"


def barred(frames: list[Frame]) -> list[TreeNode]:
    """The moves of the root that have a bar: those with most visits at some time, once there are some."""
    moves = [node for node in frames[-1].nodes.values() if len(node.line) == 1]
    return sorted(moves, key=lambda node: -max(frame.share(node) for frame in frames[4:]))[:MOVES]


def san(node: TreeNode) -> str:
    """The move of a node as people write it."""
    return "" if node.parent is None else node.parent.state.san(node.line[-1])


def tree(frames: list[Frame]) -> str:
    """The last tree, every node of the class of the frame in which it appears."""
    nodes = frames[-1].nodes.values()
    by_visits = sorted(nodes, key=lambda node: (-node.visits, len(node.line)))
    answers = [next((reply for reply in by_visits if reply.line[:-1] == move.line), move) for move in barred(frames)]
    chosen = {node.line: node for node in (*by_visits[:NODES], *barred(frames), *answers)}
    shown = sorted(chosen.values(), key=lambda node: len(node.line))
    numbers = {node.line: number for number, node in enumerate(shown)}
    marks = []
    for node in shown:
        first = next(number for number, frame in enumerate(frames) if node.line in frame.nodes)
        mover_is_root = len(node.line) % 2 == 1
        value = 0.0 if math.isnan(node.q) else node.q if mover_is_root else -node.q
        parent = numbers[node.line[:-1]] if node.line else None
        marks.append(TreeMark(parent, san(node), f"{node.visits} visits", node.visits, value, f"n{first}"))
    return tree_picture(marks, "search tree").svg.strip()


def placed(svg: str, x: float, y: float, width: float, height: float) -> str:
    """A document inside another, fitted into a box."""
    size = r'(<svg[^>]*?) width="\d+" height="\d+"'
    return re.sub(
        size, rf'\1 x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="xMinYMin"', svg, count=1
    )


def bars(frames: list[Frame]) -> tuple[str, str]:
    """The moves of the root with their shares of the visits, and the style of the bars."""
    drawn = []
    styles = []
    for number, node in enumerate(barred(frames)):
        y = BAR_TOP + BAR_ROW * number
        drawn.append(
            f'<text x="{GAP}" y="{y + 13}">{san(node)}</text>'
            f'<rect class="bar b{number}" x="{BAR_LEFT}" y="{y}" width="{BAR_WIDTH}" height="16"/>'
        )
        styles.append(growth(f"b{number}", [frame.share(node) for frame in frames]))
    return "".join(drawn), "".join(styles)


def colours(theme: dict[str, str]) -> str:
    """The style of the picture's own parts in the colours of a theme."""
    return f".own{{fill:{theme['card']}}}.picture>text{{fill:{theme['ink']}}}.bar{{fill:{theme['blue']}}}"


def picture(frames: list[Frame]) -> str:
    """The whole picture."""
    drawn, styles = bars(frames)
    height = BAR_TOP + BAR_ROW * MOVES + GAP
    counts = "".join(
        f'<text class="v{number}" x="{GAP}" y="{BAR_TOP - 16}">{frame.visits:,} visits</text>'
        for number, frame in enumerate(frames)
    )
    styles += "".join(only(f"v{number}", number) for number in range(len(frames)))
    styles += "".join(appearance(f"n{number}", number) for number in range(len(frames)))
    left = BOARD + 2 * GAP
    board = placed(ht.position("chess", FEN)._repr_svg_(), GAP, GAP, BOARD, BOARD * 416 / 396)
    grown = placed(tree(frames), left, GAP, WIDTH - left - GAP, height - 2 * GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" class="picture" role="img">'
        "<title>A search tree that grows from 1 to 512 visits; moves that lose to mate are dropped</title>"
        f"<style>{colours(LIGHT)}@media (prefers-color-scheme: dark){{{colours(DARK)}}}"
        ".picture>text{font:14px system-ui,sans-serif}.bar{transform-box:fill-box;transform-origin:left}"
        f"{styles}@media (prefers-reduced-motion: reduce){{.picture *{{animation:none}}}}</style>"
        f'<rect class="own" width="{WIDTH}" height="{height}" rx="6"/>{board}{counts}{drawn}{grown}</svg>\n'
    )


def main() -> int:
    """Draw the picture as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=PICTURE, help="file that is written")
    out = parser.parse_args().out
    write_bytes(out, picture(searched()).encode())
    print(f"{out}: {out.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
