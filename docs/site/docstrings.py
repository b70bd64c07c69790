"""Docstrings, which are written to be read in an editor, as the reStructuredText that autodoc expects."""

import re
from typing import Any

from sphinx.application import Sphinx

EXAMPLE = re.compile(r"(^ *>>>.*(?:\n.*\S.*)*)", re.MULTILINE)
"""Examples: from a prompt to the next empty line."""

HEADING = re.compile(r"^( *)(\w+)\n\1-{3,}$", re.MULTILINE)
"""A heading such as Parameters, with its underline, which stands above a list of names."""

SPECIAL = re.compile(r"(``[^`]+``)|`([^`]+)`|([*|\\]|(?<=\w)_(?=\W|$))")
"""Code in double or single backticks; signs outside code with a meaning in reStructuredText alone."""


def as_rest(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with code marked as code, other signs escaped, and examples set apart.

    Paragraphs and their indentation stay as they are, but reStructuredText wants an empty line wherever the indentation
    changes, which plain docstrings do not have.
    """
    parts = EXAMPLE.split(HEADING.sub(r"\1\2:\n", "\n".join(lines)))
    text = "".join(part if i % 2 else SPECIAL.sub(escape, part) for i, part in enumerate(parts))
    result: list[str] = []
    depth, example = 0, False
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if line.strip() and not example:
            if result and result[-1].strip() and indent != depth:
                result.append("")
            depth = indent
        elif line.lstrip().startswith(">>>") and result and not in_example(result[-1]):
            result.append("")
        result.append(line)
    return result


def in_example(line: str) -> bool:
    """Return whether a line can be part of an example that goes on: it is a statement or one of the lines under it."""
    return not line.strip() or line.lstrip().startswith((">>>", "..."))


def escape(found: re.Match[str]) -> str:
    """Return the replacement of one match of SPECIAL."""
    if found[1]:
        return found[1]
    return f"``{found[2]}``" if found[2] else f"\\{found[3]}"


def process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Convert a docstring in place: the form in which autodoc calls."""
    lines[:] = as_rest(lines)


def process_signature(
    app: Sphinx,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,  # noqa: ARG001
    thing: Any,  # noqa: ARG001
    options: Any,  # noqa: ARG001
    signature: str | None,
    returns: str | None,
) -> tuple[str | None, str | None]:
    """Return a signature that is Python: the default of a dataclass's field with a factory is shown as `<factory>`."""
    return signature and signature.replace("<factory>", "..."), returns


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the conversion with autodoc."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", process_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
