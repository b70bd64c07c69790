"""The output that documents show is what their commands print, numbers within what processors differ by."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_blocks import ROOT, RUN, blocks, pages
from doc_outputs import Output, alike, differences, outputs, unmarked, words_of

from hauteur.cli import main

SHARED = Path(os.environ.get("HAUTEUR_SHARED", ROOT.parent / "shared")) / "data" / "nets"


def shown(*kinds: str) -> Iterator[object]:
    """Every output of these kinds, as a parameter of a test."""
    for page in pages(RUN):
        for output in outputs(blocks(page), page.read_text(encoding="utf-8")):
            if output.kind in kinds:
                yield pytest.param(output, id=output.block.place)


def check(output: Output, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the commands of an output, which `&&` separates, and compare what the last one prints."""
    if "maia" in output.what:
        if not SHARED.is_dir():
            pytest.skip(f"no nets of Maia: {SHARED} is absent (set HAUTEUR_SHARED to the folder that holds data/)")
        monkeypatch.setenv("HAUTEUR_NETS", str(SHARED))
    shutil.copytree(ROOT / "runs", folder / "runs", ignore=lambda _, names: [n for n in names if "." not in n])
    monkeypatch.chdir(folder)
    printed = ""
    for command in output.what.split(" && "):
        words = shlex.split(command)
        assert words[0] == "hauteur", f"{output.block.place}: {command}"
        status = main.main(words[1:])
        printed = "\n".join(reversed(capsys.readouterr()))  # progress goes before
        assert status == 0, f"{output.block.place}: {command}: exit status {status}"
    missing = differences(output.block.text, printed, form=output.kind.startswith("form"))
    listed = "\n".join(missing)
    assert not missing, f"{output.block.place} shows lines that are not printed:\n{listed}\nprinted:\n{printed}"


@pytest.mark.parametrize("output", list(shown("output", "form")))
def test_shown_output_is_what_is_printed(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check(output, tmp_path, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("output", list(shown("output, slow", "form, slow")))
def test_shown_output_of_long_commands_is_what_is_printed(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check(output, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("page", pages(RUN), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_behind_commands_says_what_it_shows(page: Path) -> None:
    assert not [block.place for block in unmarked(blocks(page), page.read_text(encoding="utf-8"))]


def test_a_changed_table_is_a_difference() -> None:
    real = "move  N  Q\nNf6  513  +0.002\nd5  35  +0.043\n3.1 s, 20 evaluations/s\n"
    assert differences("move  N  Q\nNf6  520  +0.003\n...\n9.9 s, 55 evaluations/s\n", real) == []
    assert differences("move  N  Q\nNf6  320  +0.003\n", real) == ["Nf6  320  +0.003"]
    assert differences("d5  35  +0.043\nNf6  513  +0.002\n", real) == ["Nf6  513  +0.002"]
    assert differences("move  N  Q\nNf6  7  -0.5\n", real, form=True) == []
    assert differences("Nf6  7  was lost\n", real, form=True) == ["Nf0  0  was lost"]
    assert differences("move  N  W\n", real) == ["move  N  W"]
    assert not alike(words_of("0 losses"), words_of("1 losses"))
