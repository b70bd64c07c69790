"""A local worker that misbehaves as it is asked to: by its first argument at the start, by `own["act"]` of a unit.

It is started as a program, without the package: `python -I -S fake_local_worker.py START VERSION THREADS`.
"""

import contextlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

OUTPUT = sys.stdout.buffer


def write(fields: dict[str, Any], content: bytes = b"") -> None:
    """Write a message."""
    OUTPUT.write(json.dumps({**fields, "bytes": len(content)}).encode() + b"\n" + content)
    OUTPUT.flush()


def raw(text: bytes) -> None:
    """Write what may be no message."""
    OUTPUT.write(text)
    OUTPUT.flush()


def join(version: str) -> None:
    """Report that it is ready."""
    facts = {"host": "here", "device_class": "fake", "version": version, "process": os.getpid(), "threads": 1}
    write({"report": "joined", "facts": facts})


def done(key: str, content: bytes = b"games", **facts: Any) -> None:
    """Report a unit."""
    write({"report": "done", "key": key, "facts": facts}, content)


def end(status: int, text: str) -> None:
    """End with a line on stderr."""
    sys.stderr.write(f"something before\n{text}\n")
    sys.stderr.flush()
    os._exit(status)


def stay() -> None:
    """Do nothing any more."""
    time.sleep(3600)


def close_and_stay(*numbers: int) -> None:
    """Close pipes and go on."""
    for number in numbers:
        os.close(number)
    stay()


def half(text: bytes) -> None:
    """Write the beginning of a message and die."""
    raw(text)
    os.kill(os.getpid(), signal.SIGKILL)


def twice(key: str) -> None:
    """Report a unit two times."""
    done(key)
    done(key)


def noise(seed: int) -> None:
    """Write random bytes, some of them lines."""
    draws = random.Random(seed)
    raw(draws.randbytes(draws.randrange(5000)) + b"\n")


def flood(key: str) -> None:
    """Write a hundred thousand lines to stderr, and report the unit."""
    for number in range(100_000):
        sys.stderr.write(f"line {number} \x1b[31m of many\n")
    sys.stderr.flush()
    done(key)


def join_and_stop(version: str) -> None:
    """Stop as soon as it is ready: nobody reads its stdin."""
    join(version)
    os.kill(os.getpid(), signal.SIGSTOP)


ACTS: dict[str, Callable[[str, dict[str, Any]], None]] = {
    "play": lambda key, own: done(key, b"g" * own.get("size", 5), visits=12.0),
    "fail": lambda key, _own: write({"report": "failed", "key": key, "cause": "no such game"}),
    "kill": lambda _key, _own: os.kill(os.getpid(), signal.SIGKILL),
    "segfault": lambda _key, _own: os.kill(os.getpid(), signal.SIGSEGV),
    "exit": lambda _key, _own: end(3, "the reason"),
    "end": lambda _key, _own: os._exit(0),
    "garbage": lambda _key, _own: raw(b"Segmentation fault? no, only text\n"),
    "list": lambda _key, _own: raw(b"[1, 2, 3]\n"),
    "deep": lambda _key, _own: raw(b"[" * 60_000 + b"\n"),
    "long": lambda _key, _own: raw(b"x" * 100_000),
    "half line": lambda key, _own: half(b'{"report": "done", "key": "' + key.encode()),
    "half content": lambda key, _own: half(
        b'{"report": "done", "key": "%s", "facts": {}, "bytes": 100}\nhalf' % key.encode()
    ),
    "huge": lambda key, _own: raw(
        b'{"report": "done", "key": "%s", "facts": {}, "bytes": 1%s}\n' % (key.encode(), b"0" * 15)
    ),
    "negative": lambda key, _own: raw(b'{"report": "done", "key": "%s", "facts": {}, "bytes": -1}\n' % key.encode()),
    "unknown key": lambda _key, _own: done("0" * 64),
    "twice": lambda key, _own: twice(key),
    "join again": lambda _key, _own: join("0.1.0"),
    "no report": lambda key, _own: write({"key": key}),
    "more keys": lambda key, _own: write({"report": "done", "key": key, "facts": {}, "extra": 1}),
    "wrong facts": lambda key, _own: done(key, visits="many"),
    "infinite facts": lambda key, _own: done(key, visits=float("inf")),
    "many facts": lambda key, _own: done(key, b"", **{f"fact {number}": 1.0 for number in range(200)}),
    "close output": lambda _key, _own: close_and_stay(1),
    "close input": lambda _key, _own: close_and_stay(0),
    "hang": lambda _key, _own: stay(),
    "stop": lambda _key, _own: os.kill(os.getpid(), signal.SIGSTOP),
    "noise": lambda _key, own: noise(own["seed"]),
    "flood": lambda key, _own: flood(key),
}

STARTS: dict[str, Callable[[str], None]] = {
    "good": join,
    "exit": lambda _version: end(7, "no module named so"),
    "silent": lambda _version: stay(),
    "garbage": lambda _version: raw(b"Welcome!\n"),
    "other version": lambda _version: join("99.0"),
    "stop": join_and_stop,
}


def main() -> None:
    """Do as asked, unit by unit."""
    STARTS[sys.argv[1]](sys.argv[2])
    for line in sys.stdin.buffer:
        fields = json.loads(line)
        ACTS[fields["unit"]["own"]["act"]](fields["key"], fields["unit"]["own"])


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
