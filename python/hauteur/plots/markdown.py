"""Markdown as HTML: what the project's own pages use of it, which is little.

Headings, paragraphs, lists of one level, tables, code that is indented or fenced; in a line code, emphasis and links.
Everything else stays text; markup in the text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from itertools import takewhile

Link = Callable[[str], str | None]
"""The address that a link's target stands for; None: the link is shown as its text."""

INLINE = re.compile(
    r"(?P<code>`[^`]+`)|\[(?P<text>(?:[^\[\]]|`[^`]*`)+)\]\((?P<target>[^()\s]+)\)"
    r"|\*\*(?P<bold>[^*]+)\*\*|(?<![\w*])\*(?P<italic>[^*\s][^*]*)\*(?![\w*])|\\(?P<sign>[|*_`\\])"
)
ITEM = re.compile(r"(?:[*-]|\d+\.) +(.*)")
CELL_END = re.compile(r"(?<!\\)\|")


def markdown_html(text: str, link: Link = lambda target: target) -> str:
    """Return a page of Markdown as HTML. Headings have the ids that links to them use."""
    lines, parts = text.splitlines(), list[str]()
    while lines:
        if not lines[0].strip():
            lines.pop(0)
        else:
            parts.append(_block(lines, link))
    return "\n".join(parts)


def heading_id(text: str) -> str:
    """Return the name of a heading in links to it: `Re-use of evaluations` is re-use-of-evaluations."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _block(lines: list[str], link: Link) -> str:
    """Take the first block of the lines and return it."""
    first = lines[0]
    if heading := re.match(r"(#{1,6}) (.*)", first):
        lines.pop(0)
        level, text = len(heading[1]), heading[2]
        return f'<h{level} id="{escape(heading_id(text))}">{_inline(text, link)}</h{level}>'
    if first.startswith("```"):
        lines.pop(0)
        code = _taken(lines, lambda line: not line.startswith("```"))
        del lines[:1]
        return _code(code)
    if first.startswith("    "):
        return _code([line[4:] for line in _taken(lines, lambda line: line.startswith("    ") or not line.strip())])
    if first.startswith("|"):
        return _table(_taken(lines, lambda line: line.startswith("|")), link)
    if ITEM.match(first):
        return _list(_taken(lines, lambda line: bool(ITEM.match(line)) or line.startswith("  ")), link)
    words = " ".join(_taken(lines, lambda line: bool(line.strip()) and not line.startswith(("#", "|", "```"))))
    return f"<p>{_inline(words, link)}</p>"


def _taken(lines: list[str], belongs: Callable[[str], bool]) -> list[str]:
    """Take the lines that belong together from the front."""
    found = list(takewhile(belongs, lines))
    del lines[: len(found)]
    return found


def _code(lines: list[str]) -> str:
    return f'<pre tabindex="0"><code>{escape(chr(10).join(lines).rstrip())}</code></pre>'


def _list(lines: list[str], link: Link) -> str:
    items = list[str]()
    for line in lines:
        if found := ITEM.match(line):
            items.append(found[1])
        else:
            items[-1] += f" {line.strip()}"
    kind = "ol" if lines[0][0].isdigit() else "ul"
    return f"<{kind}>{''.join(f'<li>{_inline(item, link)}</li>' for item in items)}</{kind}>"


def _table(lines: list[str], link: Link) -> str:
    rows = [[cell.strip() for cell in CELL_END.split(line.strip().strip("|"))] for line in lines]
    head = "".join(f'<th scope="col">{_inline(cell, link)}</th>' for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{_inline(cell, link)}</td>' for cell in row)}</tr>" for row in rows[2:])
    table = f'<table class="words"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _inline(text: str, link: Link) -> str:
    parts, end = list[str](), 0
    for found in INLINE.finditer(text):
        parts += [escape(text[end : found.start()]), _span(found, link)]
        end = found.end()
    return "".join([*parts, escape(text[end:])])


def _span(found: re.Match[str], link: Link) -> str:
    if found["code"]:
        return f"<code>{escape(found['code'][1:-1].replace(chr(92) + '|', '|'))}</code>"
    if found["target"]:
        address, shown = link(found["target"]), _inline(found["text"], link)
        return shown if address is None else f'<a href="{escape(address)}">{shown}</a>'
    if found["bold"]:
        return f"<strong>{_inline(found['bold'], link)}</strong>"
    return f"<em>{_inline(found['italic'], link)}</em>" if found["italic"] else escape(found["sign"])
