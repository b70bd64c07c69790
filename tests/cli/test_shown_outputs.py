"""Outputs that README and docs show are what the commands print, with the nets that they name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from doc_blocks import Block
from shown_outputs import (
    ShownOutput,
    check_sum,
    difference,
    is_left_out,
    output_of,
    outputs_below_commands,
    shown_output,
)

from hauteur.networks.names import downloaded_nets, shipped_names

OUTPUTS = outputs_below_commands()
COMPARED = [shown for block in OUTPUTS if (shown := shown_output(block)) is not None]
CASES = [
    pytest.param(shown, id=shown.block.place, marks=[pytest.mark.slow] if shown.is_slow else []) for shown in COMPARED
]
PROGRAM = [sys.executable, "-m", "hauteur.cli"]


@pytest.fixture(autouse=True)
def nets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Public nets where the development machine has them; the width of the tables that are shown."""
    shared = Path(os.environ.get("HAUTEUR_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data" / "nets"
    if "HAUTEUR_NETS" not in os.environ and shared.is_dir():
        monkeypatch.setenv("HAUTEUR_NETS", str(shared))
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.parametrize("block", OUTPUTS, ids=lambda block: block.place)
def test_every_output_below_a_command_says_what_it_is_of(block: Block) -> None:
    said = "no comment `output of` or `output not compared` above it (tests/support/shown_outputs.py)"
    assert is_left_out(block) or shown_output(block) is not None, f"{block.place}: {said}"


@pytest.mark.parametrize("shown", COMPARED, ids=lambda shown: shown.block.place)
def test_the_nets_of_an_output_are_those_that_made_it(shown: ShownOutput) -> None:
    for net, then in shown.nets.items():
        now = check_sum(net)
        assert now in (then, None), f"{shown.block.place}: {net} was {then} and is {now}: run {shown.commands} again"


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("shown", CASES)
def test_an_output_is_what_the_command_prints(shown: ShownOutput, tmp_path: Path) -> None:
    missing = [net for net in shown.nets if net not in shipped_names() and net not in downloaded_nets()]
    if missing:
        pytest.skip(f"needs hauteur net get {missing[0]}")
    printed = output_of(shown.commands, tmp_path, PROGRAM)
    line = difference(shown.block.text, printed)
    assert not line, f"{shown.block.place}: {line!r} is not what `{shown.commands[-1]}` prints:\n{printed}"


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        ("a  1\nb 2", ""),
        ("a 1\n...\nc 3", ""),
        ("a 1\nc 3", "c 3"),
        ("a 2", "a 2"),
        ("...\nc 3\nb 2", "b 2"),
        ("c 3\n...\na 1", "a 1"),
    ],
)
def test_a_wrong_line_is_found(shown: str, wrong: str) -> None:
    assert difference(shown, "a 1\nb   2\nc 3\n") == wrong
