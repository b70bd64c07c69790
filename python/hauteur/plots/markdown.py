"""Markdown as HTML, for the pages of the browser lab: CommonMark with tables; markup in the text is escaped."""

import re
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

Link = Callable[[str], str | None]
"""The address that a link's target stands for; None: the link is shown as its text."""


def markdown_html(text: str, link: Link = lambda target: target) -> str:
    """Return a page of Markdown as HTML. Headings have the ids that links to them use."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("code_block", _code)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table class="words stacked">\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    tokens = parser.parse(text)
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", heading_id(_plain(inside)))
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        token.children = _linked(token.children, link) if token.children else token.children
    _label_cells(tokens)
    rendered: str = parser.renderer.render(tokens, parser.options, {})
    return rendered


def _plain(line: Token) -> str:
    """Return the text of a line without its marks."""
    return "".join(one.content for one in line.children or ())


def _label_cells(tokens: Sequence[Token]) -> None:
    """Give the cells of tables, but the first of a row, the name of their column: phones show it before the cell."""
    names: list[str] = []
    column = 0
    for token, inside in pairwise(tokens):
        if token.type == "table_open":
            names = []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            names.append(_plain(inside))
        elif token.type == "td_open":
            if column and names[column]:
                token.attrSet("data-label", names[column])
            column += 1


def heading_id(text: str) -> str:
    """Return the name of a heading in links to it: `Re-use of evaluations` is re-use-of-evaluations."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _linked(tokens: Sequence[Token], link: Link) -> list[Token]:
    """Return the parts of a line with the addresses of its links, without those that have none."""
    found: list[Token] = []
    ends: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            address = link(str(token.attrGet("href")))
            token.attrSet("href", address or "")
            ends.append(address is not None)
        if token.type not in ("link_open", "link_close") or (ends[-1] if token.type == "link_open" else ends.pop()):
            found.append(token)
    return found


def _code(_renderer: object, tokens: Sequence[Token], place: int, *_: Any) -> str:
    """Return a block of code, which keys can reach, as it may be wider than the page."""
    return f'<pre tabindex="0"><code>{escape(tokens[place].content.rstrip())}</code></pre>\n'
