"""Messages through pipes: whole ones come out as they went in, and nothing else is taken for one."""

import io
import json
import math
import random
from typing import IO, Any

import pytest

from hauteur import __version__
from hauteur.cluster.framing import (
    MOST_HEADER,
    MOST_REPORT,
    DoneReport,
    FailedReport,
    read_content,
    read_header,
    read_message,
    report_of,
    write_message,
)

KEY = "0123456789abcdef" * 4
FACTS = {"host": "here", "device_class": "fake", "version": __version__, "process": 12, "threads": 1}
MESSAGES: list[tuple[dict[str, Any], bytes]] = [
    ({"report": "joined", "facts": FACTS}, b""),
    ({"report": "done", "key": KEY, "facts": {"games": 3.0, "network": 0.125}}, bytes(range(256))),
    ({"report": "failed", "key": KEY, "cause": "no game \u00e4\n"}, b""),
]


def written(*messages: tuple[dict[str, Any], bytes]) -> bytes:
    """The bytes of messages."""
    stream = io.BytesIO()
    for fields, content in messages:
        write_message(stream, fields, content)
    return stream.getvalue()


def is_one_line(error: ValueError) -> bool:
    """Whether a message can be shown."""
    return "\n" not in str(error)


def outcomes(stream: IO[bytes]) -> list[str]:
    """Read reports as the driver does, until the end or the first that is none; return what came of each."""
    found = []
    try:
        while (header := read_header(stream, MOST_REPORT)) is not None:
            report = report_of(header[0])
            content = read_content(stream, header[1])
            if content is None:
                break
            found.append(f"{type(report).__name__} {len(content)}")
    except ValueError as error:
        return [*found, "refused" if is_one_line(error) else f"too long a refusal: {error}"]
    return [*found, "end"]


def test_messages_come_out_as_they_went_in() -> None:
    stream = io.BytesIO(written(*MESSAGES))
    assert [read_message(stream) for _ in MESSAGES] == MESSAGES
    assert read_message(stream) is None
    assert outcomes(io.BytesIO(written(*MESSAGES))) == ["JoinedReport 0", "DoneReport 256", "FailedReport 0", "end"]


def test_a_message_that_is_cut_is_none() -> None:
    whole = written(MESSAGES[1])
    for length in range(len(whole)):
        assert outcomes(io.BytesIO(whole[:length])) == ["end"]
        assert read_message(io.BytesIO(whole[:length])) is None


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_are_no_messages(seed: int) -> None:
    draws = random.Random(seed)
    for _ in range(1000):
        found = outcomes(io.BytesIO(draws.randbytes(draws.randrange(400)) + b"\n"))
        assert found in (["refused"], ["end"])


@pytest.mark.parametrize("seed", range(4))
def test_messages_with_other_bytes_are_messages_refused_or_cut(seed: int) -> None:
    draws, whole = random.Random(seed), written(*MESSAGES)
    refused = 0
    for _ in range(1000):
        changed = bytearray(whole)
        for _ in range(draws.randrange(1, 4)):
            place = draws.randrange(len(changed))
            match draws.randrange(3):
                case 0:
                    changed[place] = draws.randrange(256)
                case 1:
                    del changed[place : place + draws.randrange(1, 30)]
                case _:
                    changed[place:place] = draws.choice([b'"', b"\n", b"0", b"[", b"\x00", b"NaN", b"1e999"])
        found = outcomes(io.BytesIO(bytes(changed)))
        assert found[-1] in ("refused", "end")
        refused += found[-1] == "refused"
    assert refused > 200


VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x" * 5000,
    [],
    [[]],
    {},
    {"": 1},
    KEY,
    [KEY] * 9,
)


@pytest.mark.parametrize("seed", range(2))
def test_fields_with_other_values_are_reports_or_refused(seed: int) -> None:
    draws = random.Random(seed)
    for _ in range(1000):
        fields = json.loads(json.dumps(draws.choice(MESSAGES)[0]))
        at = fields["facts"] if draws.random() < 0.3 and "facts" in fields else fields
        if draws.random() < 0.8:
            at[draws.choice([*at, "extra"])] = draws.choice(VALUES)
        else:
            at.pop(draws.choice([*at]))
        try:
            report = report_of(fields)
        except ValueError as error:
            right = is_one_line(error)
        else:
            facts = report.facts.values() if isinstance(report, DoneReport) else []
            right = all(math.isfinite(fact) for fact in facts)
        assert right, fields


def test_texts_of_workers_can_be_shown() -> None:
    failed = report_of({"report": "failed", "key": KEY, "cause": "no\x1b[2J game\n"})
    assert isinstance(failed, FailedReport)
    assert failed.cause == "no [2J game "
    for name in ("host", "device_class", "version"):
        for text in ("\x1b[2J", "x" * 401):
            with pytest.raises(ValueError, match="printable texts of at most 400"):
                report_of({"report": "joined", "facts": {**FACTS, name: text}})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\n", "not a message: b'"),
        (b"{}\n", "not a message of at most"),
        (b"null\n", "not a message of at most"),
        (b'{"bytes": true}\n', "not a message of at most"),
        (b'{"bytes": 1.0}\n', "not a message of at most"),
        (b'{"bytes": "1"}\n', "not a message of at most"),
        (b'{"bytes": 268435457}\n', "not a message of at most"),
        (b'{"bytes": ' + b"1" * 5000 + b"}\n", "not a message"),
        (b"[" * 100_000 + b"\n", "a line of more than 65536 bytes"),
        (b"[" * 60_000 + b"\n", "not a message"),
        (b"\xff\xfe\n", "not a message"),
    ],
)
def test_lines_that_are_no_messages(line: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as error:
        read_header(io.BytesIO(line), MOST_REPORT)
    assert len(str(error.value)) < 500


def test_a_unit_has_a_greatest_length() -> None:
    with pytest.raises(ValueError, match=f"at most {MOST_HEADER}"):
        written(({"text": "x" * MOST_HEADER}, b""))
    assert read_message(io.BytesIO(written(({"text": "x" * (MOST_HEADER - 100)}, b"")))) is not None
