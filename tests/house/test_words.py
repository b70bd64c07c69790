"""Words of the field in all text of the project: none of those that only its authors would understand."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (".py", ".pyi", ".rs", ".md", ".toml", ".js", ".css", ".html", ".yml", ".ipynb")
WORDS = re.compile(
    r"\b(?:desks?|seats?|so many|wanted|nobody|as it is|told|rooms?|judges?|receivers?|men|crews?|ledgers?|yardsticks?"
    r"|shut out|points of per cent)\b",
    re.IGNORECASE,
)
IN_RUST = re.compile(r"\bReceiver\b")
"""Of the standard library."""
MOST_LINES = 10
FIRST_WORDS = re.compile(r'^\s*"""(?:What|Whether|Who|Which)\b')
MOST_DOCSTRINGS = 5


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """All lines of the tracked text files but the two tests that name the words, with their places."""
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not found:
        pytest.skip("no checkout of git")
    files = [
        name
        for name in found
        if name.endswith(TEXT) and name not in ("tests/house/test_words.py", "tests/house/test_docs.py")
    ]
    texts = ((name, (ROOT / name).read_text(encoding="utf-8")) for name in files if (ROOT / name).is_file())
    return [f"{name}:{n}: {line}" for name, text in texts for n, line in enumerate(text.splitlines(), 1)]


def test_words_are_those_of_the_field(lines: list[str]) -> None:
    bad = [line for line in lines if WORDS.search(IN_RUST.sub("", line.split(": ", 1)[1]))]
    assert len(bad) <= MOST_LINES, "\n".join(bad)


def test_docstrings_begin_with_a_verb_or_a_noun(lines: list[str]) -> None:
    bad = [line for line in lines if FIRST_WORDS.search(line.split(": ", 1)[1])]
    assert len(bad) <= MOST_DOCSTRINGS, "\n".join(bad)
