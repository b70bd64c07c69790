"""A web server on this machine that has files, and everything that servers do to downloads."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class NetServer:
    """Behaviour of the server; tests change it while it runs.

    files: bytes by path; cuts: after how many bytes the next connections end; ranges: whether parts are served;
    redirects: where paths lead to; requests: what came, path and headers.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    length: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def begins(self) -> list[str]:
        """The ranges that were requested, empty for whole files."""
        return [headers.get("Range", "") for _, headers in self.requests]


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
            span = self.headers.get("Range", "")
            begin = int(span[6:-1]) if span and state.ranges else 0
            facts = {}
            if begin >= len(data) and begin:
                self._head(416, {"Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
                return
            if begin:
                facts["Content-Range"] = f"bytes {begin}-{len(data) - 1}/{len(data)}"
            if state.length:
                facts["Content-Length"] = str(len(data) - begin)
            self._head(206 if begin else 200, facts)
            most = state.cuts.pop(0) if state.cuts else len(data)
            self.wfile.write(data[begin : begin + most])

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
