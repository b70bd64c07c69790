"""Write what follows from the settings of the core: Python's models of them, and the table of UCI options.

`make schema` runs this after a change of settings in crates/core; tests/mcts/test_schema.py compares the files.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hauteur import _core

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "python" / "hauteur" / "mcts" / "params.py"
UCI_PAGE = ROOT / "docs" / "reference" / "uci.md"
WIDTH = 120

HEAD = '''"""Settings of a search, one section a rule: an absent section, or one that `is_neutral`, is plain PUCT.

Written from crates/core by `make schema`: change them there. Every rule has a page in mcts/methods.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from hauteur.mcts.core_settings import RuledSection, RuleSection
from hauteur.system.settings import Section
'''

SEARCH_PARAMS = '''
    Sections may be given as models, as dicts, or as a number, which is their first setting that is one. Settings cannot
    be changed afterwards, `model_copy(update=...)` makes others. Raise ValueError for an unknown key, a value out of
    range, and rules that exclude each other.

    >>> import hauteur as ht
    >>> params = ht.SearchParams(cpuct={"init": 2.0}, solver={})
    >>> params.cpuct.init, params.solver is not None, params.gumbel
    (2.0, True, None)
    >>> ht.SearchParams(cpuct=2.5, search_contempt=5).search_contempt.n_scl
    5
    """

    if TYPE_CHECKING:

        def __init__(self, **settings: Any) -> None: ...
'''
"""The part of the class SearchParams beside its settings."""

EXAMPLES = {
    "SearchContempt": """
    >>> import hauteur as ht
    >>> ht.SearchParams(search_contempt=ht.SearchContempt(n_scl=10)).search_contempt.temperature
    1.0
    """
}
"""Examples in the docstrings of sections that are public names."""


def models() -> str:
    """Return the module with a model of every section, formatted."""
    sections = json.loads(_core.settings_schema())
    text = "\n\n".join([HEAD, *("\n".join(model(section)) + "\n" for section in sections)])
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(MODELS), "-"]
    return subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout


def model(section: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the model of a section."""
    name = section["name"]
    text = " ".join(section["text"].split())
    is_whole = name == "SearchParams"
    base = "RuledSection" if is_whole else "RuleSection" if section["rule"] else "Section"
    yield f"class {name}({base}):"
    more = SEARCH_PARAMS if is_whole else f'{EXAMPLES[name]}"""\n' if name in EXAMPLES else ""
    yield docstring(text).removesuffix('"""') + "\n" + more if more else docstring(text) + "\n"
    for setting in section["settings"]:
        yield f"    {setting['name']}: {annotation(setting)} = {default(setting)}"
        yield docstring(" ".join(setting["text"].split()))


def docstring(text: str) -> str:
    """Return a text as the docstring of a section or a setting, at most 120 characters a line."""
    if len(text) <= WIDTH - 10:
        return f'    """{text}"""'
    first, _, rest = text.partition(". ")
    lines = textwrap.wrap(rest or text, WIDTH - 4)
    head = [f'"""{first}.', ""] if rest else []
    body = [*head, *lines] if head else ['"""' + lines[0], *lines[1:]]
    return "\n".join(f"    {line}".rstrip() for line in body) + ('\n    """' if head else '"""')


def annotation(setting: dict[str, Any]) -> str:
    """Return the type of a setting, with its range."""
    kind = setting["type"]
    ends = setting["range"]
    choices = ", ".join(map(json.dumps, kind.get("choices", ())))
    found = f"Literal[{choices}]" if kind["kind"] == "choice" else kind.get("section", kind["kind"])
    if ends:
        low, high = (int(end) if float(end).is_integer() else end for end in ends)
        found = f"Annotated[{found}, Field(ge={low:_}, le={high:_})]" if ends else found
    return f"{found} | None" if kind.get("optional") else found


def default(setting: dict[str, Any]) -> str:
    """Return the default of a setting as Python writes it."""
    value = setting["default"]
    kind = setting["type"]
    if kind["kind"] == "section":
        return "None" if value is None else f"{kind['section']}()"
    return f"{value:_}" if type(value) is int else json.dumps(value) if isinstance(value, str) else repr(value)


def uci_page(page: str) -> str:
    """Return the reference page of the UCI engine with a row for every option."""
    from hauteur.engine.uci.options import OPTIONS

    def row(option: Any) -> str:
        shown = option.text(option.default)
        return f"| `{option.name}` | {f'`{shown}`' if shown else 'empty'} | {option.allowed} | {option.help} |"

    rows = "\n".join(row(option) for option in OPTIONS)
    before, options, after = re.split(r"(?<=\n)(## Options\n)", page)
    table, _, rest = after.partition("\n## ")
    new = re.sub(r"(?:^\| `.*\n)+", lambda _: rows + "\n", table, flags=re.MULTILINE)
    return f"{before}{options}{new}\n## {rest}"


def written() -> dict[Path, str]:
    """Return every file that follows from the settings, with its text."""
    return {MODELS: models(), UCI_PAGE: uci_page(UCI_PAGE.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    # The models first: the UCI options are made from them.
    MODELS.write_text(models(), encoding="utf-8")
    UCI_PAGE.write_text(uci_page(UCI_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
