"""The widget for games on a board: step through them with buttons, keys or the list of moves. No server, no requests.

It takes plain data (`hauteur.games.walks` makes it): `drawing_of` a state, and a `walk_of` each game. What a game says
of itself is put into the page as JSON, and by the script as text, never as markup.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

MOST_BYTES = 1_500_000
"""Games beyond this number of bytes of a page are left out of it."""

STYLE = """
.walks { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px 14px;
  margin: 8px 0; }
.walks select { font: inherit; font-size: .9rem; max-width: 100%; margin-bottom: 10px; }
.walk { display: flex; flex-wrap: wrap; gap: 14px 20px; align-items: flex-start; }
.walk-board { flex: 1 1 300px; max-width: 430px; min-width: 0; }
.walk-board pre { border: 0; padding: 4px; font-size: 1rem; }
.walk-side { flex: 1 1 280px; min-width: 0; }
.board { overflow: hidden; } .board text { font: 12px sans-serif; fill: #4a4038; }
.walk-bar { max-width: 430px; display: flex; height: 9px; margin: 8px 0 4px; border-radius: 3px; overflow: hidden; }
.walk-bar i:nth-child(1) { background: var(--win); } .walk-bar i:nth-child(2) { background: var(--draw); }
.walk-bar i:nth-child(3) { background: var(--loss); }
.walk-keys { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-top: 6px; }
.walk-keys output { color: var(--soft); font-size: .85rem; }
.walk button { font: inherit; font-size: .85rem; color: inherit; background: none; border: 1px solid var(--rule);
  border-radius: 5px; padding: 2px 9px; cursor: pointer; min-height: 30px; }
.walk-moves { max-height: 250px; overflow-y: auto; line-height: 1.9; font-size: .85rem; }
.walk-moves button { border: 0; padding: 1px 5px; min-height: 0; }
@media (pointer: coarse) { .walk button, .walks select { min-height: 40px; min-width: 40px; } }
.walk-moves [aria-current] { outline: 2px solid var(--blue); }
.link { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; text-align: left; }
.link:hover { text-decoration: underline; }
button.inaccuracy { color: var(--gold); } button.mistake { color: var(--orange); }
button.blunder { color: var(--loss-ink); font-weight: 600; }
.walk-chances { cursor: pointer; height: 90px; margin-bottom: 8px; border-radius: 4px; }
.walk-note { min-height: 2.6em; font-size: .88rem; }
@media (prefers-color-scheme: dark) {
  .board rect[fill="#f6f3ee"] { fill: var(--card); } .board text { fill: var(--soft); }
}
"""


def walks_html(drawing: Mapping[str, Any] | None, walks: Sequence[Mapping[str, Any]]) -> str:
    """Return the widget for games on the same kind of board; a line of text where there are none.

    drawing: of the empty board, None: the positions are shown as text. Games that do not fit into MOST_BYTES are left
    out, and the page says how many.
    """
    if not walks:
        return "<p>No games yet.</p>"
    shown: list[str] = []
    size = 0
    for walk in walks:
        text = json.dumps(walk, separators=(",", ":"))
        size += len(text)
        if shown and size > MOST_BYTES:
            break
        shown.append(text)
    left = len(walks) - len(shown)
    return _widget(
        drawing,
        walks[: len(shown)],
        shown,
        f"<p>{left:,} more games are not on this page.</p>" * (left > 0),
    )


def empty_walks_html(drawing: Mapping[str, Any] | None) -> str:
    """Return the widget without games, hidden until it is given one.

    A script gives it a game by `new CustomEvent("walk", {detail: {game: walk, ply: 0}})`, dispatched to the widget.
    """
    return _widget(drawing, (), ())


def _widget(
    drawing: Mapping[str, Any] | None,
    walks: Sequence[Mapping[str, Any]],
    texts: Sequence[str],
    more: str = "",
) -> str:
    """Return the widget. texts: the walks as JSON; more: what is said below."""
    board = {key: value for key, value in (drawing or {}).items() if key not in ("ground", "flipped", "symbols")}
    data = f'{{"board":{json.dumps(board)},"games":[{",".join(texts)}]}}'.replace("<", "\\u003c")
    hidden = "" if walks else " hidden"
    options = "".join(map(_option, walks))
    return (
        f'<div class="walks"{hidden}><select aria-label="game">{options}</select>'
        f'<div class="walk" tabindex="0"><div class="walk-board">{_ground(drawing)}<div class="walk-bar" hidden><i></i>'
        '<i></i><i></i></div><div class="walk-keys"><button data-go="first" aria-label="first">|&lt;</button>'
        '<button data-go="back" aria-label="back">&lt;</button><button data-go="on" aria-label="on">&gt;</button>'
        '<button data-go="last" aria-label="last">&gt;|</button><button data-go="flip">flip</button>'
        '<output></output></div></div><div class="walk-side"><svg class="walk-chances" viewBox="0 0 300 90"'
        ' preserveAspectRatio="none" hidden></svg><p class="walk-note"></p><div class="walk-moves"></div></div></div>'
        f"<noscript>Stepping through the games needs JavaScript.</noscript>{more}"
        f'<script type="application/json">{data}</script></div>'
    )


def script() -> str:
    """Return the script that brings the widgets of a page to life."""
    return files("hauteur.plots").joinpath("boards.js").read_text(encoding="utf-8")


def _option(walk: Mapping[str, Any]) -> str:
    """Return a game of the list as HTML."""
    return f"<option>{escape(str(walk['title']))}</option>"


def _ground(drawing: Mapping[str, Any] | None) -> str:
    """Return the empty board, seen from both sides, with the symbols of its pieces; or an area for text."""
    if drawing is None:
        return "<pre></pre>"
    width, height = drawing["size"]
    return (
        f'<svg class="board" viewBox="0 0 {width} {height - 22}" role="img"'
        ' aria-label="board">'
        f'<defs>{drawing["symbols"]}</defs><g class="seen">{drawing["ground"]}</g>'
        f'<g class="seen" hidden>{drawing["flipped"]}</g>'
        '<g class="marks"></g><g class="pieces"></g><g class="arrow"></g></svg>'
    )
