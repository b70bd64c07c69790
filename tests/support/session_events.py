"""The events of a session in a test, which can be waited for."""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

Fields = Mapping[str, Any]


class Events:
    """The events of a session, in their order; all are JSON."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Fields]] = []
        self._changed = threading.Condition()

    def __call__(self, event: str, fields: Fields, *, latest: bool = True) -> None:
        json.dumps(fields, allow_nan=False)
        with self._changed:
            self.all.append((event, fields))
            self._changed.notify_all()

    def wait(self, name: str) -> Fields:
        """Return the first event of this name."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.named(name), 60), f"no event {name}, only {self.all}"
            return self.named(name)[0]

    def last(self, name: str) -> Fields:
        """Return the last event of this name, nothing where there is none."""
        return [{}, *self.named(name)][-1]

    def wait_for_last(self, name: str, condition: Callable[[Fields], bool]) -> Fields:
        """Wait until the last event of this name is so; return it."""
        with self._changed:
            is_so = self._changed.wait_for(lambda: bool(self.last(name)) and condition(self.last(name)), 60)
            assert is_so, f"it does not come about: {self.last(name)}"
            return self.last(name)

    def named(self, name: str) -> list[Fields]:
        """Return the events of this name."""
        return [fields for event, fields in self.all if event == name]
