"""Lines that come in parts."""

import os
import time

import pytest

from hauteur.engine.streams import input_lines


def lines_of(parts: list[bytes], monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return what is read where the system gives these parts."""
    waiting = iter([*parts, b""])
    monkeypatch.setattr(os, "read", lambda descriptor, most: next(waiting))
    return list(input_lines(0))


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([b"uci\nis", b"rea", b"dy\n", b"go"], [b"uci", b"isready", b"go"]),
        ([b"a\nb\n", b"\n", b"c\n"], [b"a\nb", b"", b"c", b""]),
        ([b"quit"], [b"quit"]),
        ([], [b""]),
    ],
)
def test_lines_in_parts_are_whole(parts: list[bytes], lines: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines_of(parts, monkeypatch) == lines


def test_a_long_line_is_read_in_time_of_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    part = b"x" * (1 << 16)
    began = time.process_time()
    (line, last) = lines_of([part] * 1000 + [b"\n"], monkeypatch)
    assert (len(line), last) == (1000 << 16, b"")
    # Copied with every part it takes 10 s; once, some hundredths.
    assert time.process_time() - began < 2
