"""The Markdown pages of the checkout, copied as the site needs them: README.md is the start page, indexes have a tree.

The pages themselves know nothing of Sphinx. The tree of the site follows from their links: the pages below an index (a
README.md) are those that it links to in its own folder, in that order.
"""

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("checks", "deploy", "docs", "examples", "python")
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "LEADERBOARD.md",
    "CHANGELOG.md",
    *(f"{top}/**/*.md" for top in FOLDERS),
)
LINK = re.compile(r"(\]\()([^)\s#]+)([^)\s]*\))")
CODE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)

CHAPTERS = {
    "Start": ("docs/README", "docs/install", "docs/tutorial"),
    "Guides": ("docs/how-to/README", "docs/examples", "examples/README"),
    "Background": (
        "python/hauteur/mcts/methods/README",
        "docs/experiments/README",
        "docs/paper/README",
        "docs/paper/joss",
        "docs/measurements",
        "docs/reliability",
        "docs/reading",
        "docs/decisions/README",
    ),
    "Reference": ("docs/reference/README",),
    "Project": ("ARCHITECTURE", "CONTRIBUTING", "LEADERBOARD", "checks/README", "deploy/README", "CHANGELOG"),
}
"""The chapters of the site and their first pages."""

GENERATED = {"docs/reference": ("api", "commands", "games")}
"""Pages below an index that exist on the site alone, so the index itself cannot link to them."""


def stage(target: Path) -> None:
    """Copy all pages, and every file of the checkout that they link to, below `target`."""
    for page in sorted({page for pattern in PAGES for page in ROOT.glob(pattern)}):
        name = page.relative_to(ROOT)
        text = page.read_text(encoding="utf-8")
        for linked in local_links(text):
            copy_linked(Path(os.path.normpath(page.parent / linked)), target)  # a link to a file stays at its place
        text = LINK.sub(lambda link, folder=page.parent: to_start_page(link, folder), text)
        if name == Path("README.md"):
            name, text = Path("index.md"), f"{text}\n{chapters()}"
        elif name.name == "README.md" and name.parent != Path("docs"):
            text += tree([*children(text), *GENERATED.get(name.parent.as_posix(), ())])
        write(target / name, text)


def write(path: Path, text: str) -> None:
    """Write one page of the site."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def to_start_page(link: re.Match[str], folder: Path) -> str:
    """Return a link of a page in `folder`; one to the checkout's README leads to the start page."""
    if (folder / link[2]).resolve() != ROOT / "README.md":
        return link[0]
    return f"{link[1]}{link[2].removesuffix('README.md')}index.md{link[3]}"


def local_links(text: str) -> list[str]:
    """Return the paths that a page links to, relative to it, outside code."""
    links = [match[2] for match in LINK.finditer(CODE.sub("", text))]
    return [link for link in links if not re.match(r"\w+:", link)]


def copy_linked(source: Path, target: Path) -> None:
    """Copy a linked file that is no page to its place below `target`; folders and missing files are left out."""
    if source.is_file() and source.suffix != ".md" and source.is_relative_to(ROOT):
        place = target / source.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)


def children(text: str) -> list[str]:
    """Return the pages in its own folder that an index links to, in order and without repeats."""
    links = [link.removesuffix(".md") for link in local_links(text) if link.endswith(".md")]
    return list(dict.fromkeys(link for link in links if not link.startswith("..")))


def chapters() -> str:
    """Return the trees of the start page, one a chapter."""
    return "".join(tree(pages, caption) for caption, pages in CHAPTERS.items())


def tree(pages: list[str] | tuple[str, ...], caption: str = "") -> str:
    """Return a hidden tree of pages in MyST's notation; nothing for no pages."""
    head = f":caption: {caption}\n" if caption else ""
    return "\n```{toctree}\n:hidden:\n" + head + "\n" + "\n".join(pages) + "\n```\n" if pages else ""
