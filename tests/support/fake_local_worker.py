"""A local worker with faults on request: by its first argument at the start, by `own["act"]` of a unit.

It is started as a program, without the package: `python -I -S fake_local_worker.py START THREADS`.
"""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

OUTPUT = sys.stdout.buffer


def write(fields: dict[str, Any], content: bytes = b"") -> None:
    """Write a message."""
    raw(json.dumps({**fields, "bytes": len(content)}).encode() + b"\n" + content)


def raw(text: bytes) -> None:
    """Write what may be no message."""
    OUTPUT.write(text)
    OUTPUT.flush()


def done(key: str, content: bytes = b"games") -> None:
    """Report a unit."""
    write({"report": "done", "key": key, "facts": {"visits": 12.0}}, content)


def join() -> None:
    """Report that it is ready."""
    write({"report": "joined"})


def close_and_stay() -> None:
    """Close its output and go on."""
    os.close(1)
    time.sleep(3600)


def half(key: str) -> None:
    """Write the beginning of a message and die."""
    raw(b'{"report": "done", "key": "%s", "facts": {}, "bytes": 100}\nhalf' % key.encode())
    os.kill(os.getpid(), signal.SIGKILL)


def join_and_stop() -> None:
    """Stop once it is ready: its stdin is not read."""
    join()
    os.kill(os.getpid(), signal.SIGSTOP)


ACTS: dict[str, Callable[[str, dict[str, Any]], object]] = {
    "play": lambda key, own: done(key, b"g" * own.get("size", 5)),
    "fail": lambda key, _own: write({"report": "failed", "key": key, "cause": "no such game"}),
    "kill": lambda _key, _own: os.kill(os.getpid(), signal.SIGKILL),
    "segfault": lambda _key, _own: os.kill(os.getpid(), signal.SIGSEGV),
    "exit": lambda _key, _own: os._exit(3),
    "garbage": lambda _key, _own: raw(b"Segmentation fault? no, only text\n"),
    "list": lambda _key, _own: raw(b"[1, 2, 3]\n"),
    "half": lambda key, _own: half(key),
    "no report": lambda key, _own: write({"key": key}),
    "close output": lambda _key, _own: close_and_stay(),
    "hang": lambda _key, _own: time.sleep(3600),
}

STARTS: dict[str, Callable[[], object]] = {
    "good": join,
    "exit": lambda: os._exit(7),
    "garbage": lambda: raw(b"Welcome!\n"),
    "stop": join_and_stop,
}


def main() -> None:
    """Do as asked, unit by unit."""
    STARTS[sys.argv[1]]()
    for line in sys.stdin.buffer:
        unit = json.loads(line)["unit"]
        ACTS[unit["own"]["act"]](unit["key"], unit["own"])


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
