"""Objects that are closed at the end of a `with` block."""

from typing import Self


class Closing:
    """A context manager that closes itself."""

    def close(self) -> None:
        """End what runs and let go of what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
