"""A web server on this machine that has files, and everything that servers do to downloads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class NetServer:
    """Behaviour of the server; tests change it while it runs.

    files: bytes by path; cuts: after how many bytes the next connections end; length: whether it
    is announced; redirects: where paths lead to; requests: what came, path and headers.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    length: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@contextmanager
def net_server() -> Iterator[NetServer]:
    """Run a server; it ends with the body."""
    state = NetServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Be silent."""

        def do_GET(self) -> None:
            state.requests.append((self.path, dict(self.headers)))
            if self.path in state.redirects:
                self._head(302, {"Location": state.redirects[self.path], "Content-Length": "0"})
            elif self.path not in state.files:
                self._head(404, {"Content-Length": "0"})
            else:
                self._send(state.files[self.path])

        def _send(self, data: bytes) -> None:
            self._head(200, {"Content-Length": str(len(data))} if state.length else {})
            self.wfile.write(data[: state.cuts.pop(0) if state.cuts else len(data)])

        def _head(self, status: int, facts: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in facts.items():
                self.send_header(name, value)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
