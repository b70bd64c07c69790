"""The metrics of a run as TensorBoard events, where TensorBoard is installed (extra `tensorboard`).

The events are a pure function of the metrics: times are the run's start plus its seconds so far. So the file of a
longer history begins with the bytes of the shorter one, and missing events are appended: a reader following the file
misses nothing, and a run killed and resumed has every step once. Any other file is replaced.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hauteur.learning.run_folder import RunFolder
from hauteur.system.files import write_bytes

FILE = "events.out.tfevents.hauteur"
"""TensorBoard reads every file whose name has `tfevents` in it."""


def write_events(folder: RunFolder) -> Path | None:
    """Bring the events of a run up to its metrics; None where TensorBoard is not installed."""
    if find_spec("tensorboard") is None:
        return None
    path = folder.tensorboard / FILE
    began = datetime.fromisoformat(folder.read_meta()["created"])
    content = events(folder.read_metrics(), began.timestamp())
    present = path.read_bytes() if path.exists() else b""
    path.parent.mkdir(exist_ok=True)
    if present and content.startswith(present):
        with path.open("ab") as file:
            file.write(content[len(present) :])
    else:
        write_bytes(path, content)
    return path


def events(history: Iterable[Mapping[str, Any]], began: float) -> bytes:
    """The file's content: every number of a generation is a scalar. began: seconds since 1970."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.record_writer import RecordWriter

    buffer = io.BytesIO()
    records = RecordWriter(buffer)
    records.write(Event(wall_time=began, file_version="brain.Event:2").SerializeToString(deterministic=True))
    for number, line in enumerate(history, 1):
        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars(line)]
        time = began + float(line.get("seconds") or 0.0)
        event = Event(wall_time=time, step=int(line.get("generation") or number), summary=Summary(value=values))
        records.write(event.SerializeToString(deterministic=True))
    return buffer.getvalue()


def scalars(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Every finite number (or truth) of nested metrics with its path, such as train/policy_loss."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from scalars(value, f"{prefix}{key}/")
        elif isinstance(value, int | float) and math.isfinite(value) and prefix + key != "generation":
            yield prefix + key, float(value)
