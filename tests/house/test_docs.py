"""Documents say what is there: trees, links, commands, metadata; the paper is made of the results that are here."""

import json
import math
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

import make_paper
from hauteur.cli import main
from hauteur.learning.recipe import Recipe
from hauteur.system import extras
from paper_parts import Quantity, nearest, numbers

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = ("docs", "examples", "python", "experiments", "checks", "deploy")
TEMPLATES = ROOT / "experiments" / "paper"
"""Of pages that are in docs."""
FOUND = [*ROOT.glob("*.md"), *(path for part in PARTS for path in (ROOT / part).rglob("*.md"))]
PAGES = sorted(path for path in FOUND if path.parent != TEMPLATES)


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def fences(path: Path) -> Iterator[tuple[str, str]]:
    """Language and text of every fenced block of a page."""
    for match in re.finditer(r"^```(\w*)\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        yield match[1], match[2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    targets = [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", target)]
    broken = [t for t in targets if t.split("#")[0] and not (page.parent / t.split("#")[0]).exists()]
    assert not broken


def test_the_reading_of_alphazero_is_one_sitting() -> None:
    """The numbered files of docs/reading.md are there, every step of the loop among them, and not too many lines."""
    page = ROOT / "docs" / "reading.md"
    names = re.findall(r"^\d+\. \[`[^`]+`\]\(([^)]+)\)", page.read_text(encoding="utf-8"), re.MULTILINE)
    files = [(page.parent / name).resolve() for name in names]
    assert all(path.is_file() for path in files)
    steps = {path for path in (ROOT / "python/hauteur/learning/steps").glob("*.py") if path.name != "__init__.py"}
    assert steps <= set(files)
    assert 1_000 < sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) < 1_650


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every `hauteur` command in the shell blocks of a page."""
    for language, block in fences(page):
        if language in ("sh", "bash", "console"):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words[:1] == ["hauteur"]:
                    yield words[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_text_parse(page: Path) -> None:
    app = main.make_app()
    for words in commands(page):
        stop = next((i for i, word in enumerate(words) if word in ("|", ">", "<", "&&", ";")), len(words))
        if words[:stop] in ([], ["--help"], ["--version"]):
            continue
        app.parse_args(main.without_imports(words[:stop]), print_error=False, exit_on_error=False)


def test_make_help_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    described = re.findall(r"^([a-z-]+):.*?## \S", text, re.MULTILINE)
    assert sorted(described) == sorted(phony[1].split())


def test_extras_of_the_table_are_those_of_the_package(project: dict[str, Any]) -> None:
    offered = project["project"]["optional-dependencies"]
    for layer in extras.LAYERS:
        named = {re.split(r"[>;]", line)[0] for line in offered[layer.name]}
        assert named == {package.distribution for package in layer.packages}
    assert set(offered) == {layer.name for layer in extras.LAYERS} | {"all", "dev", "docs"}


def test_one_version() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = cargo["workspace"]["package"]["version"]
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_dependencies_have_lower_bounds(project: dict[str, Any]) -> None:
    groups = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    assert all(">=" in line for group in groups for line in group if not line.startswith("hauteur["))


def recipe_rows() -> list[tuple[str, str, str]]:
    """Section, setting and default of every row in the reference of recipes."""
    rows = []
    section = ""
    for line in (ROOT / "docs" / "reference" / "recipes.md").read_text(encoding="utf-8").splitlines():
        heading = re.match(r"## `\[(.+)\]`", line)
        row = re.match(r"\| `([\w.]+)` \| `(.*?)` \|", line)
        section = heading[1] if heading else section
        if row:
            rows.append((section, row[1], row[2]))
    return rows


@pytest.mark.parametrize(("section", "setting", "default"), recipe_rows())
def test_defaults_in_the_reference_of_recipes(section: str, setting: str, default: str) -> None:
    settings: Any = Recipe(game="connect4")
    for name in section.split("."):
        settings = part_of(settings, name)
    settings = type(settings)()
    for name in setting.split("."):
        settings = getattr(settings, name)
    written = f"{settings:g}" if isinstance(settings, float) else str(settings)
    assert default == (written.lower() if isinstance(settings, bool | None) else written)


TOLD_ELSEWHERE = ("large", "gate.temperature", "opponent.temperature", "opponent.search")
"""Sections with the settings of others, whose tables tell them."""


def settings_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Dotted names of all settings of a recipe."""
    for name, field in model.model_fields.items():
        kinds = get_args(field.annotation) or (field.annotation,)
        inner = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
        yield from [prefix + name] if inner is None else settings_of(inner, f"{prefix}{name}.")


def test_every_setting_is_in_the_reference_of_recipes() -> None:
    text = (ROOT / "docs/reference/recipes.md").read_text(encoding="utf-8")
    known = (
        *(f"{section}.{name}" for section, name, _ in recipe_rows()),
        *TOLD_ELSEWHERE,
        "game",
        "play_search",
        "opponent.name",
    )
    names = list(settings_of(Recipe))
    assert len(names) > 100
    assert [name for name in names if not any(f"{name}.".startswith(f"{row}.") for row in known)] == []
    assert all(f"`[{name}]`" in text or f"`{name}`" in text for name in TOLD_ELSEWHERE)


def part_of(settings: Any, name: str) -> Any:
    """A section of settings; one that is off by default, as when it is on."""
    part = getattr(settings, name)
    return part if part is not None else get_args(type(settings).model_fields[name].annotation)[0]()


MOST_WORDS_OF_A_GUIDE = 900
MOST_WORDS_OF_A_FINDING = 600
MOST_LINES_OF_THE_README = 120

LONG_GUIDES = {"add-a-search-rule.md": 1_350}
"""Guides that show a whole rule in two languages."""


def words_of(page: Path) -> int:
    """Number of words of a page, as `wc -w` counts them."""
    return len(page.read_text(encoding="utf-8").split())


def test_a_page_is_short() -> None:
    findings = {
        page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs/experiments").glob("finding-*.md")
    }
    counts = {name: len(text.replace("|", " ").split()) for name, text in findings.items()}
    assert {name: n for name, n in counts.items() if n > MOST_WORDS_OF_A_FINDING} == {}
    guides = {page.name: words_of(page) for page in (ROOT / "docs" / "how-to").glob("*.md")}
    assert {name: n for name, n in guides.items() if n > LONG_GUIDES.get(name, MOST_WORDS_OF_A_GUIDE)} == {}
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(readme) <= MOST_LINES_OF_THE_README


def test_the_short_paper_is_short_and_cites_what_there_is() -> None:
    """A paper of the Journal of Open Source Software has at most 1,000 words."""
    page = ROOT / "docs" / "paper" / "joss.md"
    text = page.read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{(\w+),", page.with_suffix(".bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\[@(\w+)\]", text)) == known
    assert words_of(page) <= 1_000


# -- the paper ---------------------------------------------------------------------------------------------------------


def test_paper_findings_and_figures_are_those_of_the_results() -> None:
    assert make_paper.differences() == [], "make paper"


def test_a_part_that_is_unknown_is_an_error() -> None:
    assert make_paper.filled("a {{b}} c", {"b": "1"}, "page") == "a 1 c"
    with pytest.raises(ValueError, match=r"page: there is no part 'x'; there are b"):
        make_paper.filled("{{x}}", {"b": "1"}, "page")


def test_numbers_of_a_line() -> None:
    stored = [
        {"what": "lead", "value": 16.3, "low": 7.33, "high": 25.3},
        {"what": "gap", "value": 8, "low": None, "high": 9},
    ]
    assert numbers({"numbers": json.dumps(stored)}) == {
        "lead": Quantity(16.3, 7.33, 25.3),
        "gap": Quantity(8, -math.inf, 9),
    }
    assert nearest({28: Quantity(0, 0, 0), 3: Quantity(0, 0, 0), 1: Quantity(0, 0, 0)}, 10) == 28
