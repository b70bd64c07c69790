"""The base of all sessions: one client's work, driven by messages."""

import inspect
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs

from hauteur.mcts.control import in_background
from hauteur.system.errors import explain
from hauteur.system.settings import Section, problems

NetName = Annotated[str, Field(max_length=400)]
PlayerText = Annotated[str, Field(max_length=2000)]
SeedNumber = Annotated[int, Field(ge=0, lt=2**63)]

Fields = dict[str, Any]
"""Content of a message: a JSON object."""


def json_fields(text: str) -> Fields:
    """Return a JSON object that the core has written."""
    found: Fields = json.loads(text)
    return found


class Emit(Protocol):
    """Sends an event to the client; any thread may call it."""

    def __call__(self, event: str, fields: Mapping[str, Any], *, latest: bool = True) -> None:
        """latest: an event of this name that was not sent yet is replaced by this one."""


class SessionSettings(Section):
    """Limits of a session: see WebSettings. threads: of the processor; tree_bytes: of the tree of a search."""

    threads: int = 1
    allow_programs: bool = False
    tree_bytes: int = 2**32
    roots: tuple[str, ...] = ()


class NothingYetError(ValueError):
    """What a page asks for is not there yet. The reply has `code`, so that the page does not depend on the line."""

    code = "nothing"


class PageSession:
    """One client's work. A request `{"do": "open", "fields": {...}}` is answered by the method `do_open(**fields)`.

    The types of its parameters say what is allowed. Methods return the content of the reply, a JSON object, within some
    50 ms; what takes longer runs in a thread and emits events. ValueError and OSError become the one line that the
    client shows. Requests come one at a time.
    """

    name: ClassVar[str]
    """As in the address of the websocket, /live/NAME."""

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        self.settings = settings
        self._send = emit
        self._order_of_events = threading.Lock()
        self._replying = False
        self._held: list[tuple[str, Mapping[str, Any], bool]] | None = None

    def emit(self, event: str, fields: Mapping[str, Any], *, latest: bool = True) -> None:
        """Send an event, after the reply where `hold` was called. latest: see Emit."""
        with self._order_of_events:
            if self._held is None:
                self._send(event, fields, latest=latest)
            else:
                self._held.append((event, fields, latest))

    def hold(self) -> None:
        """Keep events back until the reply is sent: a request calls it before it begins work that emits some.

        The page then knows of the work from the reply before it gets the end of it, however short it is.
        """
        with self._order_of_events:
            if self._replying and self._held is None:
                self._held = []

    @contextmanager
    def replying(self) -> Iterator[None]:
        """Enclose a request and the sending of its reply."""
        self._replying = True
        try:
            yield
        finally:
            with self._order_of_events:
                self._replying = False
                for event, fields, latest in self._held or ():
                    self._send(event, fields, latest=latest)
                self._held = None

    def handle(self, do: str, fields: Fields) -> Fields:
        """Answer a request. Raise ValueError for one that there is not, and for fields that it does not take."""
        method: Callable[..., Fields] | None = getattr(type(self), f"do_{do}", None)
        if method is None:
            known = sorted(name[3:] for name in dir(self) if name.startswith("do_"))
            raise ValueError(f"{self.name}: there is no request {do!r}; there are {', '.join(known)}")
        try:
            return _checked(method).validate_python(ArgsKwargs((self,), fields))
        except ValidationError as error:
            allowed = ", ".join([*inspect.signature(method).parameters][1:]) or "nothing"
            raise ValueError(f"{do}: {problems(error)}; allowed: {allowed}") from None

    def close(self) -> None:
        """End all work: the client is gone."""

    def in_thread(self, work: Callable[[], None], name: str) -> Future[None]:
        """Begin work in a thread of its own; an error of it is the event `failed`."""

        def guarded() -> None:
            try:
                work()
            except Exception as error:
                self.failed(error)

        return in_background(guarded, name)

    def failed(self, error: BaseException) -> None:
        """Send the event `failed` with an error in one line; where it is a fault of the program, the log says where."""
        text = explain(error) if isinstance(error, Exception) else None
        if not isinstance(error, ValueError | OSError | ImportError):
            sys.excepthook(type(error), error, error.__traceback__)
        if not text:
            text = f"internal error: {type(error).__name__}: {error}"
        self.emit("failed", {"text": text}, latest=False)


@lru_cache(256)
def _checked(method: Callable[..., Fields]) -> TypeAdapter[Fields]:
    """Return what checks arguments and calls the method with them."""
    return TypeAdapter(method)  # type: ignore[arg-type]  # of what it returns


class WorkSession(PageSession):
    """A session with one piece of work at a time, in a thread of its own; an error of it is the event `failed`."""

    def __init__(self, emit: Emit, settings: SessionSettings) -> None:
        super().__init__(emit, settings)
        self._work: Future[None] | None = None

    def begin(self, work: Callable[[], None], name: str) -> None:
        """Begin the work; its events come after the reply to the request that begins it."""
        self.hold()
        self._work = self.in_thread(work, name)

    def ask_to_stop(self) -> None:
        """Ask the work to end soon; is called until it has."""

    def stop(self) -> None:
        """End the work and wait for its end."""
        work = self._work
        self._work = None
        while work is not None and not work.done():
            self.ask_to_stop()
            wait([work], 0.02)  # then again: a search may just be about to begin

    def do_stop(self) -> Fields:
        """Stop the work; the reply comes once it has ended."""
        self.stop()
        return {}

    def close(self) -> None:
        """Stop the work: the client is gone, and nobody reads its events."""
        self.stop()
