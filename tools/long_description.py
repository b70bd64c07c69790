"""The README as a package index shows it: links and pictures that do not depend on the checkout.

`python tools/long_description.py [FOLDER]` writes README.md of a checkout anew, which is done before it is published:
relative links lead to the tag of the version in the repository that `[project.urls]` names in pyproject.toml.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")
"""Picture or not, text, relative address."""


def repository(checkout: Path) -> str:
    """Return the address of the repository; ValueError where none is named."""
    urls = tomllib.loads((checkout / "pyproject.toml").read_text())["project"].get("urls", {})
    address = str(urls.get("Repository", "")).rstrip("/")
    if not address.startswith("https://"):
        raise ValueError('pyproject.toml names no repository yet: [project.urls] Repository = "https://..."')
    return address


def absolute(text: str, address: str, version: str) -> str:
    """Return Markdown with its relative links made those of a tag of the repository."""
    kinds = {"!": "raw", "": "blob"}
    return LINK.sub(lambda link: f"{link[1]}[{link[2]}]({address}/{kinds[link[1]]}/v{version}/{link[3]})", text)


def main() -> None:
    """Write README.md of the folder."""
    checkout = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    version = tomllib.loads((checkout / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    readme = checkout / "README.md"
    readme.write_text(absolute(readme.read_text(), repository(checkout), version))


if __name__ == "__main__":
    main()
