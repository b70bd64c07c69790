"""The settings of the search, listed for the command line."""

from collections.abc import Iterator

from hauteur.mcts.params import SearchParams
from hauteur.system.setting_facts import SettingFacts, first_sentence, section_of, setting_facts


def print_settings() -> int:
    """Print every setting of the search with its default and what is allowed; return the exit status."""
    rows = list(setting_rows())
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for key, default, allowed in rows:
        print(f"{key:{widths[0]}}  {default:{widths[1]}}  {allowed}".rstrip())
    return 0


def setting_rows() -> Iterator[tuple[str, str, str]]:
    """Yield key, default and allowed values of every setting; a rule that is off has a row of its own before them."""
    for name, field in SearchParams.model_fields.items():
        key, section = f"--search.{name.replace('_', '-')}", section_of(field)
        if section is None:
            yield key, *_cells(setting_facts(SearchParams, name))
            continue
        if field.default is None:
            yield f"{key}:", "off", first_sentence(section.__doc__)
        for inner in section.model_fields:
            yield f"{key}.{inner.replace('_', '-')}", *_cells(setting_facts(section, inner))


def _cells(facts: SettingFacts) -> tuple[str, str]:
    return _text(facts.default), _allowed(facts)


def _text(value: object) -> str:
    """A default as the command line has it."""
    if value is None or value in ((), ""):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _allowed(facts: SettingFacts) -> str:
    """Return what a setting may be: its choices, or the ends of its range."""
    if facts.choices or facts.kind == "switch":
        return " | ".join(facts.choices) or "true | false"
    signs = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
    return ", ".join(f"{signs[name]} {end:g}" for name, end in facts.ends.items())
