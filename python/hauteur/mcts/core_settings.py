"""Base classes of the models of `params.py`: sections of settings that the core checks."""

from functools import cache
from typing import Any, Self

from pydantic import model_validator

from hauteur import _core
from hauteur.system.settings import Section, section_of


@cache
def section_names(model: type[Section]) -> frozenset[str]:
    """Return the names of the settings of a model that are sections."""
    return frozenset(name for name, field in model.model_fields.items() if section_of(field) is not None)


class CheckedSection(Section):
    """Settings that the core checks as a whole, in addition to the ranges of each."""

    def asked_core(self) -> bool:
        """Return whether the core takes the settings as neutral; ValueError where it refuses them."""
        # A class derived by a user is checked as the section that it comes from: the core knows no other names.
        models = (one.__name__ for one in type(self).__mro__ if one.__module__ == "hauteur.mcts.params")
        return _core.check_settings(next(models), self.model_dump_json(exclude_none=True))

    @model_validator(mode="after")
    def _ask_core(self) -> Self:
        self.asked_core()
        return self


class RuleSection(CheckedSection):
    """Settings of a search rule: absent, or neutral, they leave plain PUCT."""

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave plain PUCT unchanged."""
        return self.asked_core()


class RuledSection(CheckedSection):
    """Settings with optional sections of rules; True or "on" is a section with its defaults, False or "off" none."""

    @model_validator(mode="before")
    @classmethod
    def _read_switches(cls, given: Any) -> Any:
        """Replace switches by the sections that they mean."""
        if not isinstance(given, dict):
            return given
        return {name: cls._switched(name, value) for name, value in given.items()}

    @classmethod
    def _switched(cls, name: str, value: Any) -> Any:
        """Return what a switch instead of a section means; another value unchanged."""
        if name not in section_names(cls):
            return value
        # `is`, since 1 == True and a number in the place of a section is its first setting: `cpuct=1`.
        if value is True or value == "on":
            return {}
        is_optional = cls.model_fields[name].default is None
        if is_optional and (value is False or value == "off"):
            return None
        return value

    def without_neutral_rules(self) -> Self:
        """The same settings with the rules that change nothing left out."""
        # The core has a faster loop for plain PUCT, which a section that changes nothing would keep it from.
        neutral = [name for name, rule in self if isinstance(rule, RuleSection) and rule.is_neutral]
        return self.model_copy(update=dict.fromkeys(neutral))

    @classmethod
    def off_by_default(cls) -> tuple[str, ...]:
        """Return the sections and settings that are off by default, in order: any value turns one on."""
        fields = cls.model_fields.items()
        return tuple(name for name, field in fields if field.default is None or field.default is False)
