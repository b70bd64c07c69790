"""Messages through a pipe: a line of JSON, and as many bytes behind it as it announces. Nothing is ever pickled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, TypeAdapter, ValidationError

from hauteur.cluster.fleet import WorkerFacts
from hauteur.cluster.unit import MOST_CONTENT, Hash
from hauteur.system.formatting import printable
from hauteur.system.settings import Section, problems

MOST_HEADER = 16 * 2**20
"""Bytes of a line that a driver sends: a unit."""
MOST_REPORT = 2**16
"""Bytes of a line that a worker sends."""
MOST_FACT = 400
"""Characters of a fact of a worker."""


def message_bytes(fields: Mapping[str, Any], content: bytes = b"") -> bytes:
    """Return a message. ValueError where it is too long."""
    return _header(fields, len(content)) + content


def write_message(stream: IO[bytes], fields: Mapping[str, Any], content: bytes = b"") -> None:
    """Write a message. ValueError, with nothing written, where it is too long."""
    stream.write(_header(fields, len(content)))
    stream.write(content)  # which may be long: never copied
    stream.flush()


def read_header(stream: IO[bytes], most: int = MOST_HEADER) -> tuple[dict[str, Any], int] | None:
    """Read a line; return its fields and the bytes behind it, None at the end. ValueError for what is none."""
    line = stream.readline(most)
    if not line.endswith(b"\n"):
        if len(line) >= most:
            raise ValueError(f"a line of more than {most} bytes: {_shown(line)}")
        return None
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"not a message: {_shown(line)}") from None
    size = fields.pop("bytes", None) if isinstance(fields, dict) else None
    if type(size) is not int or not 0 <= size <= MOST_CONTENT:
        raise ValueError(f"not a message of at most {MOST_CONTENT} bytes: {_shown(line)}")
    return fields, size


def read_content(stream: IO[bytes], size: int) -> bytes | None:
    """Read the bytes behind a line; None where the stream ends before."""
    content = stream.read(size)
    return content if len(content) == size else None


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read a message; None at the end. ValueError for what is none."""
    header = read_header(stream)
    content = None if header is None else read_content(stream, header[1])
    return None if header is None or content is None else (header[0], content)


def _header(fields: Mapping[str, Any], size: int) -> bytes:
    header = json.dumps({**fields, "bytes": size}).encode() + b"\n"
    if len(header) > MOST_HEADER or size > MOST_CONTENT:
        raise ValueError(f"a message of {len(header)} and {size} bytes: at most {MOST_HEADER}, {MOST_CONTENT}")
    return header


def _with_short_texts(facts: WorkerFacts) -> WorkerFacts:
    texts = (facts.host, facts.device_class, facts.version)
    if any(len(text) > MOST_FACT or not text.isprintable() for text in texts):
        raise ValueError(f"facts are printable texts of at most {MOST_FACT} characters")
    return facts


def _short_names(facts: dict[str, float]) -> dict[str, float]:
    if any(len(name) > 100 for name in facts):
        raise ValueError("names of facts have at most 100 characters")
    return facts


class JoinedReport(Section):
    """A worker is ready."""

    report: Literal["joined"]
    facts: Annotated[WorkerFacts, AfterValidator(_with_short_texts)]


class DoneReport(Section):
    """A worker has played a unit; its content follows."""

    report: Literal["done"]
    key: Hash
    facts: Annotated[dict[str, FiniteFloat], Field(max_length=100), AfterValidator(_short_names)]


class FailedReport(Section):
    """A worker could not play a unit."""

    report: Literal["failed"]
    key: Hash
    cause: Annotated[str, Field(max_length=4000), AfterValidator(printable)]


Report = JoinedReport | DoneReport | FailedReport
_REPORT: TypeAdapter[Report] = TypeAdapter(Annotated[Report, Field(discriminator="report")])


def report_of(fields: Mapping[str, Any]) -> Report:
    """Return what a worker reports. ValueError, in one line, for what is no report."""
    try:
        return _REPORT.validate_python(fields)
    except ValidationError as error:
        raise ValueError(problems(error)) from None


def _shown(line: bytes) -> str:
    return repr(line[:80])
