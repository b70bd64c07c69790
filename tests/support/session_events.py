"""The events of a session in a test, which can be waited for."""

import threading
from collections.abc import Mapping
from typing import Any


class Events:
    """The events of a session, in their order."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Mapping[str, Any]]] = []
        self._changed = threading.Condition()

    def __call__(self, event: str, fields: Mapping[str, Any], *, latest: bool = True) -> None:
        with self._changed:
            self.all.append((event, fields))
            self._changed.notify_all()

    def wait(self, name: str) -> Mapping[str, Any]:
        """Return the first event of this name."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.named(name), 60), f"no event {name}, only {self.all}"
            return self.named(name)[0]

    def named(self, name: str) -> list[Mapping[str, Any]]:
        """Return the events of this name."""
        return [fields for event, fields in self.all if event == name]
