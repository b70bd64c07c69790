"""Files of JSON and TOML for programs and people: what is torn is mended, what is damaged is one line with the name."""

import random
import re
import sys
from pathlib import Path

import pytest

from hauteur.system import host
from hauteur.system.jsonl import Journal
from hauteur.system.settings import Section

pytestmark = pytest.mark.quick


class Entry(Section):
    """A line."""

    number: int
    text: str = ""


def test_entries_come_back_and_a_torn_line_makes_room_for_the_next(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "x.jsonl", Entry)
    assert list(journal.entries()) == []
    for number in range(3):
        journal.append(Entry(number=number, text="é\n"))
    whole = journal.path.read_bytes()
    for torn in (b'{"number": 7', b"\xff", b'{"number": 7}'):
        journal.path.write_bytes(whole + torn)
        assert [entry.number for entry in journal.entries()] == [0, 1, 2]
        assert journal.path.read_bytes() == whole + torn
        journal.append(Entry(number=3))
        assert journal.path.read_bytes().startswith(whole + b'{"number": 3, "check": "')
        assert [entry.number for entry in journal.entries()] == [0, 1, 2, 3]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes are for systems that have them")
def test_a_disk_that_takes_a_part_of_an_entry_is_named(tmp_path: Path) -> None:
    """The system takes what fits, and reports it without an error: the entry must not be lost silently."""
    import resource

    journal = Journal(tmp_path / "x.jsonl", Entry)
    journal.append(Entry(number=0))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.path.stat().st_size + 5, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as error:
            journal.append(Entry(number=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.value.filename == str(journal.path)
    assert [entry.number for entry in journal.entries()] == [0]
    journal.append(Entry(number=1))
    assert [entry.number for entry in journal.entries()] == [0, 1]


def written(path: Path, count: int = 6) -> tuple[Journal[Entry], list[bytes]]:
    """A journal with this number of entries, and its lines."""
    journal = Journal(path, Entry, "a game")
    for number in range(0, count, 2):
        journal.append(Entry(number=number, text="x" * 30 * number), Entry(number=number + 1))
    return journal, path.read_bytes().splitlines(keepends=True)


def problem_of(journal: Journal[Entry]) -> str:
    """The line that says what is wrong; empty where all entries are read."""
    try:
        return "" if list(journal.entries()) else "nothing"
    except ValueError as error:
        return re.fullmatch(r".*x\.jsonl, line \d: .*", str(error))[0]  # type: ignore[index]


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    """Or cuts the end off the last line, which is then as if it had not been written."""
    journal, lines = written(tmp_path / "x.jsonl")
    whole = b"".join(lines)
    draw = random.Random(1)
    unseen = 0
    for at in [*draw.sample(range(len(whole)), 300), *range(len(whole) - 40, len(whole))]:
        changed = bytearray(whole)
        changed[at] ^= 1 << draw.randrange(8)
        journal.path.write_bytes(changed)
        said = problem_of(journal)
        unseen += not said
        assert said or [entry.number for entry in journal.entries()] == [0, 1, 2, 3, 4]
    assert unseen == 1


def test_lines_that_are_missing_doubled_or_exchanged_are_found(tmp_path: Path) -> None:
    journal, lines = written(tmp_path / "x.jsonl")
    for wrong in (lines[1:], lines[:2] + lines[3:], [*lines[:3], *lines[2:]], [lines[1], lines[0], *lines[2:]]):
        journal.path.write_bytes(b"".join(wrong))
        assert "its check sum is not that of this line in this place" in problem_of(journal)
    journal.path.write_bytes(b"".join(lines) + b'{"number": 6}\n')
    assert "line 7: it has no whole check sum" in problem_of(journal)


@pytest.mark.parametrize("line", [b"nonsense", b'{"number": "\xff"}', b"[" * 5000, b'{"number":' * 5000, b"[1]", b""])
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    journal = Journal(tmp_path / "x.jsonl", Entry, "a game")
    journal.append(Entry(number=1))
    journal.path.write_bytes(journal.path.read_bytes() + line + b'\n{"number": 2}\n')
    with pytest.raises(ValueError, match=r"x\.jsonl, line 2: not a game: '") as error:
        list(journal.entries())
    assert len(str(error.value).splitlines()) == 1


def test_the_name_of_a_file_is_on_disk_before_its_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a writer that is killed between the two leaves lines whose file the power takes, and nobody would notice."""
    journal = Journal(tmp_path / "x.jsonl", Entry)
    sizes: list[int] = []
    monkeypatch.setattr(host.disk, "sync_folder", lambda folder: sizes.append(journal.path.stat().st_size))
    journal.append(Entry(number=0))
    journal.append(Entry(number=1))
    journal.path.write_bytes(b"")
    journal.append(Entry(number=2))
    assert sizes == [0, 0]
