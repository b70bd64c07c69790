"""Lines in and out, for engines of every protocol: a thread that reads, whole lines that are written, a log of both."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Generic, NoReturn, TextIO, TypeVar

Item = TypeVar("Item")


class Output:
    """Writes lines to the program and, if requested, the whole conversation to a log file. Any thread may call it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._log: BinaryIO | None = None

    def lines(self, *lines: str) -> None:
        """Write lines that stay together."""
        with self._lock:
            self._write_log("<", lines)
            self._stream.write("".join(f"{line}\n" for line in lines))
            self._stream.flush()

    def info(self, text: str) -> None:
        """Write an `info string` (UCI) of one line."""
        self.lines(f"info string {' '.join(text.split())}")

    def heard(self, line: str) -> None:
        """Note a line of the program in the log."""
        with self._lock:
            self._write_log(">", (line,))

    def log_to(self, path: str) -> None:
        """Append the conversation to a file from now on; empty: no longer. OSError where it cannot be opened."""
        log = Path(path).open("ab", buffering=0) if path else None  # noqa: SIM115  (open until the next log_to)
        with self._lock:
            if self._log is not None:
                self._log.close()
            self._log = log

    def _write_log(self, mark: str, lines: tuple[str, ...]) -> None:
        """Write lines to the log; a log that cannot be written (a full disk) is given up, the engine goes on."""
        if self._log is None:
            return
        from datetime import UTC, datetime  # here: most starts write no log

        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        text = "".join(f"{now} {mark} {line}\n" for line in lines)
        try:
            self._log.write(text.encode(errors="backslashreplace"))
        except OSError as error:
            log = self._log
            self._log = None
            log.close()
            message = f"hauteur: error: {log.name}: {error.strerror}; nothing is logged any more"
            print(message, file=sys.stderr, flush=True)


class LineReader(Generic[Item]):
    """The lines of a source, read by a thread of their own, so that others see that the next one is there.

    source: pieces of one or more whole lines, as they came. accept: turns a line into the item that waits in the queue;
    None: the line was dealt with at once, by the reading thread. It is called with None at the end of the source. All
    lines of a piece are accepted before the first of their items can be taken. most: items that wait; reading goes on
    once there are fewer. None: any number.
    """

    def __init__(
        self,
        source: Iterable[bytes],
        accept: Callable[[bytes | None], Item | None],
        *,
        most: int | None = None,
    ) -> None:
        self._accept = accept
        self._most = most
        self._waiting: deque[Item] = deque()
        self._changed = threading.Condition()
        self._at_end = False
        threading.Thread(target=self._read, args=(source,), name="reader", daemon=True).start()

    def next(self) -> Item | None:
        """Return the next item, as soon as there is one; None at the end."""
        self.wait(None)
        with self._changed:
            if not self._waiting:
                return None
            self._changed.notify_all()
            return self._waiting.popleft()

    def wait(self, seconds: float | None) -> bool:
        """Wait for an item or the end, at most so long; return whether there is one of the two."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._waiting) or self._at_end, seconds)

    def _read(self, source: Iterable[bytes]) -> None:
        """Read to the end in a thread of its own; the end is noted whatever happens, so that nobody waits for ever."""
        try:
            for piece in source:
                self._take(piece.split(b"\n"))
            self._take([None])
        except BrokenPipeError:  # no client reads the answers any more: the same as the end
            return
        finally:
            with self._changed:
                self._at_end = True
                self._changed.notify_all()

    def _take(self, lines: Sequence[bytes | None]) -> None:
        """Accept lines, and queue what is left of them together, once there is room."""
        accepted = [self._accept(line) for line in lines]
        items = [item for item in accepted if item is not None]
        if items:
            with self._changed:
                self._changed.wait_for(self._has_room)
                self._waiting.extend(items)
                self._changed.notify_all()

    def _has_room(self) -> bool:
        return self._most is None or len(self._waiting) < self._most


def leave_process() -> NoReturn:
    """End the process with status 0, without waiting for anything.

    Threads that open a net or compute with one cannot be interrupted, and the end of the interpreter would tear them
    out of foreign code, which aborts the process.
    """
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(0)


def input_lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a file as they come: those that came together in one piece, without the last line end.

    Not by sys.stdin: a thread that waits in it would break the end of the program.
    """
    # Parts of a line that has not ended: joined at its end alone, or a long one would be copied with every part.
    begun: list[bytes] = []
    while chunk := os.read(descriptor, 1 << 16):
        lines, end, rest = chunk.rpartition(b"\n")
        if end:
            yield b"".join([*begun, lines])
            begun = []
        begun.append(rest)
    yield b"".join(begun)


def bounded_lines(descriptor: int, longest: int) -> Iterator[bytes]:
    """Yield the lines of a file, one at a time, without their ends.

    Of a line with more than `longest` bytes the first `longest` + 1 alone are kept, by which it is known.
    """
    line = bytearray()
    while chunk := os.read(descriptor, 1 << 16):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line += part[: longest + 1 - len(line)]
            yield bytes(line)
            line.clear()
        line += rest[: longest + 1 - len(line)]
    if line:
        yield bytes(line)
