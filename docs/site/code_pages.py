"""Pages that are a rendering of the code, without a sentence of their own: commands, games, examples."""

import ast
import re
from pathlib import Path

import staging

from hauteur import _core
from hauteur.cli.main import make_app
from hauteur.games import registry

NOTE = "*Generated from {source} when the site was built.*\n\n"


def write_all(target: Path) -> None:
    """Write all pages of this module below `target`, the staged checkout."""
    staging.write(target / "docs/reference/commands.md", commands())
    for name in registry.names():
        staging.write(target / f"docs/reference/games/{name}.md", game(name, target / "docs/reference/games"))
    staging.write(target / "docs/reference/games.md", games())
    staging.write(target / "docs/examples.md", examples(target))


def commands() -> str:
    """Return the reference of the command line, as cyclopts documents it."""
    text = make_app().generate_docs(output_format="markdown", recursive=True)
    text = re.sub(r"\n## Table of Contents\n.*?\n(?=\*\*)", "\n", text, count=1, flags=re.DOTALL)
    head, _, rest = text.partition("\n")
    return f"{head}\n\n{NOTE.format(source='the command line')}{rest}"


def games() -> str:
    """Return the index of the games' pages."""
    rows = ["| game | actions | features | longest game |", "|---|---|---|---|"]
    for name in registry.names():
        facts = registry.load_game(name)
        shape = " × ".join(str(n) for n in facts.feature_shape)
        rows.append(f"| [{name}](games/{name}.md) | {facts.num_actions} | {shape} | {facts.max_plies} plies |")
    text = "# Games\n\n" + NOTE.format(source="the games") + "\n".join(rows) + "\n"
    return text + staging.tree([f"games/{name}" for name in registry.names()])


def game(name: str, folder: Path) -> str:
    """Return the page of a game: facts, picture of the start (written beside it), rules, features, actions."""
    built = registry.load_game(name)
    state = built.new_initial_state()
    staging.write(folder / f"{name}.svg", state.svg())
    planes, rows, columns = built.feature_shape
    facts = [
        f"# {name}\n",
        NOTE.format(source="the game's code"),
        f"![The start of {name}]({name}.svg)\n",
        "| | |\n|---|---|",
        f"| spec | `{built.spec}` |",
        f"| features | float32 [{planes}, {rows}, {columns}]: planes, rows, columns |",
        f"| actions | {built.num_actions} |",
        f"| longest game | {built.max_plies} plies |",
        f"| symmetries | {len(built.symmetries()[0])}, the identity included |",
        f"| legal at the start | {len(state.legal_actions())}: {first_moves(state)} |",
    ]
    by_hand = staging.ROOT / f"docs/reference/{name}.md"
    more = f"\n[More about {name}](../{name}.md).\n" if by_hand.exists() else ""
    return "\n".join(facts) + f"\n{more}\n{description(name)}"


def first_moves(state: _core.State) -> str:
    """Return the first legal moves of a position as text."""
    legal = state.legal_actions()
    names = [f"`{state.action_to_text(int(action))}`" for action in legal[:8]]
    return " ".join([*names, "..."] if len(legal) > len(names) else names)


HEADINGS = {"planes.rs": "Features", "policy.rs": "Actions"}


def description(name: str) -> str:
    """Return rules, features and actions: the documentation at the head of the files that implement the game."""
    folder = staging.ROOT / "crates/core/src/games"
    if (folder / f"{name}.rs").exists():
        return f"## Rules, actions, features\n\n{rust_documentation(folder / f'{name}.rs')}"
    if (folder / name).is_dir():
        parts = [f"## Rules\n\n{rust_documentation(folder / name / 'mod.rs')}"]
        parts += [f"## {title}\n\n{rust_documentation(folder / name / file)}" for file, title in HEADINGS.items()]
        return "\n".join(parts)
    module = ast.parse((staging.ROOT / f"python/hauteur/games/{name}.py").read_text(encoding="utf-8"))
    position = next(node for node in module.body if isinstance(node, ast.ClassDef))
    return f"## Rules, actions, features\n\n{ast.get_docstring(module)}\n\n{ast.get_docstring(position)}\n"


def rust_documentation(file: Path) -> str:
    """Return the documentation at the head of a Rust file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line[3:].removeprefix(" ") for line in lines if line.startswith("//!")) + "\n"


def examples(target: Path) -> str:
    """Return the page with all examples, whole."""
    text = "# Examples\n\nEach is one file in [examples](../examples/README.md), and is run by the tests.\n"
    for file in sorted((staging.ROOT / "examples").glob("*.py")):
        code = file.read_text(encoding="utf-8")
        title = (ast.get_docstring(ast.parse(code)) or file.stem).splitlines()[0].rstrip(".")
        text += f"\n## {title}\n\n[{file.name}](../examples/{file.name})\n\n```python\n{code}```\n"
        staging.copy_linked(file, target)
    return text
