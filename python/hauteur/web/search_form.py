"""The settings of a search as forms of pages have them: which there are, and what was chosen."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, Field

from hauteur.mcts.params import SearchParams
from hauteur.system.formatting import setting_text
from hauteur.system.setting_facts import first_sentence, setting_facts
from hauteur.system.settings import assigned, section_of

SettingTexts = Annotated[
    dict[Annotated[str, Field(max_length=80)], Annotated[str, Field(max_length=500)]], Field(max_length=200)
]
"""Values of a form: settings by dotted key, such as {"search_contempt.n_scl": "5", "solver": "on"}."""


PRESETS: Mapping[str, Mapping[str, str]] = {
    "plain PUCT": {},
    "search-contempt, 8 visits": {"search_contempt.n_scl": "8"},
    "giving odds": {"search_contempt.n_scl": "40", "cpuct.init": "1.5", "draw_score": "-0.4"},
    "solver": {"solver": "on"},
    "lower bound chooses": {"lower_bound": "on"},
    "tree balance": {"tree_balance": "on"},
    "two-fold repetitions are draws": {"repetition": "on"},
}
"""Settings of a search by name, for the page Analyse."""


def chosen_search(settings: Mapping[str, str], label: str = "settings") -> SearchParams:
    """Return the settings of a search that a form gives. Raise ValueError, one line that begins with the label."""
    return assigned(SearchParams, settings.items(), label)


@lru_cache(1)
def search_form() -> list[dict[str, Any]]:
    """Return the groups of settings, as static/settings.js takes them.

    A group: name (empty: settings that stand alone), title and label for people, text, optional (off by default, on by
    its name alone), settings; of each key, the last part of it in words, kind, default, choices, least, most, text.
    """
    alone = []
    groups = []
    for name, field in SearchParams.model_fields.items():
        section = section_of(field)
        if section is None:
            alone.append(setting_entry(SearchParams, name, ""))
        else:
            groups.append(_group(name, section))
    return [group_entry("", "The search as a whole", alone), *groups]


def _group(name: str, section: type[BaseModel]) -> dict[str, Any]:
    """Return the group of a section: optional where it is off without any setting."""
    settings = [setting_entry(section, inner, f"{name}.") for inner in section.model_fields]
    optional = SearchParams.model_fields[name].default is None
    return group_entry(name, first_sentence(section.__doc__), settings, optional=optional)


def group_entry(name: str, text: str, settings: list[dict[str, Any]], *, optional: bool = False) -> dict[str, Any]:
    """Return a group of settings as static/settings.js takes it. name: what their keys begin with."""
    title = re.sub(r"[._]", " ", name)
    words = re.sub(r"\W", " ", text.lower())
    label = text if words.startswith(title) else f"{title}: {text}"
    return {"name": name, "title": title, "label": label, "text": text, "optional": optional, "settings": settings}


def setting_entry(model: type[BaseModel], name: str, prefix: str) -> dict[str, Any]:
    """Return a plain setting as static/settings.js takes it. prefix: of its key, with the dot."""
    facts = setting_facts(model, name)
    return {
        "key": prefix + name,
        "words": name.replace("_", " "),
        "kind": facts.kind,
        "default": setting_text(facts.default, absent="none"),
        "choices": ["true", "false"] if facts.kind == "switch" else list(facts.choices),
        "least": facts.ends.get("ge", facts.ends.get("gt")),
        "most": facts.ends.get("le", facts.ends.get("lt")),
        "text": facts.text,
    }
