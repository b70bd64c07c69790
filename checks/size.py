"""Lines of code by package and crate, beside those of another commit, and the public names that came and went.

    python checks/size.py --base main

Code is what is left without docstrings (those under fields too), comments, blank lines and imports. Syntax nodes a line
of code are all nodes of Python's syntax tree by these lines: the more, the denser. Nothing here fails: the figures are
for the description of a change.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = ("*.py", "*.rs")
PACKAGE = "python/hauteur"
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
"""Kinds of Python's tokens that make no line of code."""

RUST_TEXT = re.compile(
    r"""
    (?P<comment> //[^\n]* )
    | (?P<block> /\* )
    | (?P<raw> b?r(?P<hashes>\#*)" .*? "(?P=hashes) )
    | (?P<string> b?"(?:\\.|[^"\\])*" )
    | (?P<char> b?'(?:\\(?:u\{[0-9a-fA-F]+\}|x..|.)|[^'\\\n])' )
    """,
    re.VERBOSE | re.DOTALL,
)
"""What may hold a sign that means something else outside: comments, strings, characters."""

RUST_IMPORT = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s[^;]*;", re.MULTILINE)
RUST_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub\s+)?mod\s+\w+\s*\{")


def python_code(text: str) -> int:
    """Return the lines of code of a Python file. Raise SyntaxError for a text that is none."""
    tree = ast.parse(text)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and (isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node)):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - left_out)


def density(files: Mapping[str, str]) -> float:
    """Return the syntax nodes a line of code of the Python package; 0 without code."""
    nodes = 0
    lines = 0
    for name, text in files.items():
        if name.startswith(f"{PACKAGE}/") and name.endswith(".py"):
            nodes += sum(1 for _ in ast.walk(ast.parse(text)))
            lines += python_code(text)
    return nodes / lines if lines else 0.0


def _is_docstring(node: ast.AST) -> bool:
    """Return whether a statement is a text alone: a docstring of a module, class, function, field or constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def rust_code(text: str) -> tuple[int, int]:
    """Return the lines of code of a Rust file, and those of its test modules."""
    plain = RUST_IMPORT.sub(_blank, _without_comments(text))
    own, tests = _without_tests(plain)
    return _filled_lines(own), _filled_lines(tests)


def _blank(match: re.Match[str]) -> str:
    """Keep the line breaks of what is left out, so that nothing moves to another line."""
    return "\n" * match[0].count("\n")


def _without_comments(text: str) -> str:
    """Return the text without comments; strings are filled with `_`, so that they hold no brackets."""
    parts = []
    at = 0
    while (match := RUST_TEXT.search(text, at)) is not None:
        parts.append(text[at : match.start()])
        at = match.end()
        if match["block"] is not None:
            at = _end_of_block(text, match.start())
            parts.append("\n" * text.count("\n", match.start(), at))
        elif match["comment"] is None:
            parts.append(re.sub(r"[^\n]", "_", match[0]))
    return "".join([*parts, text[at:]])


def _end_of_block(text: str, begin: int) -> int:
    """Return where a block comment ends; blocks nest."""
    depth = 0
    for match in re.finditer(r"/\*|\*/", text[begin:]):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return begin + match.end()
    return len(text)


def _without_tests(text: str) -> tuple[str, str]:
    """Return the text without its test modules, and these."""
    own = []
    tests = []
    at = 0
    while (match := RUST_TESTS.search(text, at)) is not None:
        end = _closing_brace(text, match.end() - 1)
        own.append(text[at : match.start()])
        tests.append(text[match.start() : end])
        at = end
    return "".join([*own, text[at:]]), "\n".join(tests)


def _closing_brace(text: str, opening: int) -> int:
    """Return the place after the brace that closes the one here."""
    depth = 0
    for match in re.finditer(r"[{}]", text[opening:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return opening + match.end()
    return len(text)


def _filled_lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def group_of(name: str) -> str:
    """Return the package, crate or folder that a file counts for."""
    parts = name.split("/")
    if name.startswith(f"{PACKAGE}/"):
        return "/".join(parts[:3]) if len(parts) > 3 else f"{PACKAGE} itself"
    if parts[0] == "crates":
        return "/".join(parts[:2])
    return parts[0]


def is_rust_test(name: str) -> bool:
    """Return whether a Rust file holds tests, examples or benchmarks alone."""
    parts = name.split("/")
    return (
        parts[-1] == "tests.rs" or parts[-1].endswith("_tests.rs") or bool({"tests", "examples", "benches"} & {*parts})
    )


def sizes(files: Mapping[str, str]) -> Counter[str]:
    """Return the lines of code by group; those of Rust's tests by `crates, tests`."""
    found: Counter[str] = Counter()
    for name, text in files.items():
        if name.endswith(".py"):
            found[group_of(name)] += python_code(text)
            continue
        own, tests = rust_code(text)
        found["crates, tests" if is_rust_test(name) else group_of(name)] += own
        found["crates, tests"] += tests
    return found


def public_names(files: Mapping[str, str]) -> set[str]:
    """Return the names that the package offers: the keys of `_MODULES` in its `__init__.py`."""
    for node in ast.walk(ast.parse(files.get(f"{PACKAGE}/__init__.py", ""))):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Dict):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == "_MODULES" for target in targets):
            return {str(key.value) for key in node.value.keys if isinstance(key, ast.Constant)}
    return set()


def tracked_files(listing: list[str], content: Callable[[str], str]) -> dict[str, str]:
    """Return the Python and Rust files of a listing with their texts."""
    return {name: content(name) for name in listing if name.endswith((".py", ".rs"))}


def git(*words: str) -> str:
    """Return what git prints here. Raise ValueError with its complaint."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def files_here() -> dict[str, str]:
    """Return the tracked files as they are in the folder."""
    names = [name for name in git("ls-files").splitlines() if (ROOT / name).is_file()]
    return tracked_files(names, lambda name: (ROOT / name).read_text(encoding="utf-8"))


def files_at(commit: str) -> dict[str, str]:
    """Return the files of a commit. Raise ValueError where there is none of this name."""
    names = git("ls-tree", "-r", "--name-only", commit).splitlines()
    return tracked_files(names, lambda name: git("show", f"{commit}:{name}"))


def table(here: Counter[str], base: Counter[str], name: str) -> Iterator[str]:
    """Yield the lines of the table: each group, then package and crates together."""
    together = "package and crates"
    for sizes_of in (here, base):
        sizes_of[together] = sum(count for group, count in sizes_of.items() if group.startswith((PACKAGE, "crates/")))
    groups = sorted({*here, *base} - {together})
    width = max(map(len, [*groups, together]))
    yield f"{'lines of code':{width}}  {'here':>7}  {name[:12]:>12}  change"
    for group in [*groups, together]:
        yield f"{group:{width}}  {here[group]:>7,}  {base[group]:>12,}  {here[group] - base[group]:>+6,}"


def main() -> int:
    """Print the table and the names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="main", help="commit to compare with, default main")
    commit = parser.parse_args().base
    try:
        here = files_here()
        base = files_at(commit)
    except ValueError as error:
        print(f"size: {error}", file=sys.stderr)
        return 2
    print("\n".join(table(sizes(here), sizes(base), commit)))
    print(f"syntax nodes a line of {PACKAGE}: {density(here):.2f}; {commit[:12]}: {density(base):.2f}")
    now = public_names(here)
    before = public_names(base)
    new = ", ".join(sorted(now - before)) or "none"
    gone = ", ".join(sorted(before - now)) or "none"
    print(f"public names: {len(now)}; new: {new}; gone: {gone}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
