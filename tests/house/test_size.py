"""What `make size` counts: code alone, of Python and of Rust, and the public names."""

from collections import Counter
from pathlib import Path

import hauteur
import size

ROOT = Path(__file__).resolve().parents[2]

PYTHON = '''"""A docstring
of two lines."""

import os
from pathlib import (
    Path,
)

LIMIT = 3  # a comment beside code counts its line once
"""Docstring under a field."""


class Place:
    """Docstring."""

    name: str
    """Of the field."""

    def text(self) -> str:
        """Docstring."""
        # a comment
        return """a text
of two lines"""
'''

RUST = """//! Documentation.
use std::fmt;
pub use crate::{
    a, b,
};

/* a block /* nested */
over two lines */
const BRACE: char = '{'; // "
const TEXT: &str = "// no comment {";
const RAW: &str = r#"use x; " }"#;

fn life<'a>(x: &'a str) -> &'a str {
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces() {
        assert_eq!(BRACE, '{');
    }
}

fn after() {}
"""


def test_python_counts_no_docstrings_comments_or_imports() -> None:
    assert size.python_code(PYTHON) == 6


def test_rust_counts_no_comments_or_imports_and_its_tests_apart() -> None:
    assert size.rust_code(RUST) == (7, 7)


def test_files_count_for_their_packages() -> None:
    files = {
        "python/hauteur/mcts/driver.py": "a = 1\n",
        "python/hauteur/__init__.py": '_MODULES = {"name": "hauteur.module"}\n',
        "crates/core/src/lib.rs": RUST,
        "crates/core/tests/laws.rs": "fn law() {}\n",
    }
    found = size.sizes(files)
    assert found == {
        "python/hauteur/mcts": 1,
        "python/hauteur itself": 1,
        "crates/core": 7,
        "crates, tests": 8,
    }
    assert size.public_names(files) == {"name"}


def test_the_density_is_that_of_the_package_alone() -> None:
    files = {"python/hauteur/mcts/driver.py": '"""Docstring."""\na = 1\n', "tests/test_a.py": "b = c = d = 1\n"}
    # Module, the docstring with its constant, the assignment with its target, its context and its value.
    assert size.density(files) == 7
    assert size.density({}) == 0.0


def test_the_public_names_of_the_checkout_are_found() -> None:
    text = (ROOT / "python/hauteur/__init__.py").read_text(encoding="utf-8")
    assert size.public_names({"python/hauteur/__init__.py": text}) == set(hauteur.__all__)


def test_a_table_names_what_changed() -> None:
    lines = list(size.table(Counter({"crates/core": 10}), Counter({"crates/core": 7, "tests": 1}), "main"))
    assert lines[1].split() == ["crates/core", "10", "7", "+3"]
    assert lines[-1].split()[-3:] == ["10", "7", "+3"]
