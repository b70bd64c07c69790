"""A file of JSON lines that is only ever added to, so that work which was interrupted goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from hauteur.system.files import write_bytes

Entry = TypeVar("Entry", bound=BaseModel)


@dataclass(frozen=True)
class Journal(Generic[Entry]):
    """The entries of a file, each a line."""

    path: Path
    model: type[Entry]

    def entries(self) -> Iterator[Entry]:
        """All entries. A last line that was cut off is removed; ValueError names any other that is damaged."""
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        if data and not data.endswith(b"\n"):
            write_bytes(self.path, data[: data.rfind(b"\n") + 1])
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield self.model.model_validate_json(line)
                except ValidationError:
                    raise ValueError(f"{self.path}, line {number}: not an entry of this file: {line[:60]!r}") from None

    def append(self, entry: Entry) -> None:
        """Adds an entry; the system has it when this returns, so that it outlasts the process."""
        line = json.dumps(entry.model_dump(exclude_defaults=True)) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode())
