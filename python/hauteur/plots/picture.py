"""A picture that a notebook shows and that can be written to a file."""

from __future__ import annotations

from pathlib import Path

from hauteur.system.files import write_bytes


class Picture:
    """An SVG document: displayed by notebooks, written by `save`."""

    def __init__(self, svg: str) -> None:
        """`svg`: a complete document."""
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} characters of SVG)"

    def save(self, path: str | Path) -> Path:
        """Write the picture; return its path. Raise ValueError unless the name ends in .svg."""
        if Path(path).suffix.lower() != ".svg":
            raise ValueError(f"pictures are saved as .svg, got {str(path)!r}")
        write_bytes(Path(path), self.svg.encode())
        return Path(path)
