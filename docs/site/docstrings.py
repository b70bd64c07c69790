"""Docstrings, which are written to be read in an editor, as the reStructuredText that autodoc expects."""

import re
from typing import Any

from sphinx.application import Sphinx

SPECIAL = re.compile(r"(``[^`]+``)|`([^`]+)`|([*|\\]|(?<=\w)_(?=\W|$))")
"""Code in double or single backticks; signs outside code with a meaning in reStructuredText alone."""


def as_rest(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with code marked as code, other signs escaped, and examples set apart.

    Paragraphs and their indentation stay as they are, but a definition list needs an empty line around it that plain
    docstrings do not have; one is added wherever the indentation changes.
    """
    result: list[str] = []
    depth, example = 0, False
    for line in lines:
        text = line.strip()
        example = text.startswith(">>>") or (example and bool(text))
        if not text or example:
            opens = text.startswith(">>>") and bool(result) and bool(result[-1].strip()) and depth >= 0
            result += ["", line] if opens else [line]
            depth = -1 if example else depth
            continue
        indent = len(line) - len(line.lstrip())
        if result and result[-1].strip() and (indent != depth or depth < 0):
            result.append("")
        depth = indent
        result.append(SPECIAL.sub(escape, line))
    return result


def escape(found: re.Match[str]) -> str:
    """Return the replacement of one match of SPECIAL."""
    if found[1]:
        return found[1]
    return f"``{found[2]}``" if found[2] else f"\\{found[3]}"


def process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Convert a docstring in place: the form in which autodoc calls."""
    lines[:] = as_rest(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the conversion with autodoc."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
