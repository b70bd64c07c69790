"""Every block of the documents runs, or says why not: Python, shell commands at a small size, settings as TOML."""

import contextlib
import io
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import doc_commands
import pytest
from doc_blocks import PARSED, ROOT, RUN, SHELL, Block, blocks, command_lines, pages

from hauteur.games import registry
from hauteur.learning.recipe import Recipe
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur_experiments import registry as experiments

FAKES = ROOT / "tests" / "support"
NO_PROGRAM = ("text", "rust", "yaml", "")
"""Languages of blocks that show something: output, parts of files of the core, settings of other programs."""


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with the recipes, and a fake program called stockfish in PATH."""
    shutil.copytree(ROOT / "runs", tmp_path / "runs", ignore=lambda folder, names: [n for n in names if "." not in n])
    for recipe in (tmp_path / "runs").rglob("*.toml"):
        recipe.write_text(files_for_names(recipe.read_text(encoding="utf-8")), encoding="utf-8")
    program = tmp_path / "bin" / "stockfish"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{FAKES / 'fake_engine.py'}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(experiments, "_registered", {})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.timeout(1200)  # a page has up to twenty commands, and the machine may be busy
@pytest.mark.parametrize("page", pages(RUN), ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page: Path, workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.reason:
            continue
        if block.language == "python":
            run_python(block, names)
        elif block.language in SHELL:
            run_shell(block, monkeypatch)
        elif block.language == "toml":
            check_toml(block)
        else:
            assert block.language in NO_PROGRAM, f"{block.place}: what is a block of {block.language}?"


@pytest.mark.parametrize("page", pages(PARSED), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_measurements_parse(page: Path) -> None:
    for block in blocks(page):
        for words in command_lines(block) if block.language in SHELL else []:
            if words[0] == "hauteur":
                doc_commands.parse(words[1:])


def run_python(block: Block, names: dict[str, Any]) -> None:
    """Execute a Python block in the namespace of its page; one that begins with a file's name is that file too."""
    save_named(block)
    code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)


def run_shell(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute the commands of a shell block, or parse those that cannot be small."""
    for words in command_lines(block):
        shown = " ".join(words)
        status = doc_commands.perform(words, monkeypatch)
        assert status == 0, f"{block.place}: {shown}: exit status {status}"


def check_toml(block: Block) -> None:
    """Read a TOML block as what it is: a recipe or a part of one, a player, or a part of pyproject.toml."""
    save_named(block)
    values = tomllib.loads(block.text)
    if "project" in values:
        return
    if values.keys() & PlayerSettings.model_fields.keys() and not values.keys() & {"game", "run"}:
        Path("player.toml").write_text(block.text, encoding="utf-8")
        parse_player("player.toml")
        return
    if "controller" in values:
        values.setdefault("selfplay", {"search": {"search_contempt": {}}})
    Recipe.model_validate({"game": "connect4"} | values)


def save_named(block: Block) -> None:
    """Write a block that begins with the name of a file, as a comment, to that file in the working directory."""
    name = re.match(r"# ([\w-]+\.(?:py|toml))\n", block.text)
    if name:
        text = files_for_names(re.sub(r"visits = \d+", "visits = 4", block.text))
        Path(name[1]).write_text(text, encoding="utf-8")


def files_for_names(settings: str) -> str:
    """Return settings in which public nets are files, which the commands of a page find beside them."""
    return re.sub(r'"(maia-\d+)"', r'"\1.pb.gz"', settings)
