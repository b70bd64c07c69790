"""Speaks to the sessions of the page without a server, in its browser, as its scripts do."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

CONNECT = """async (session) => {
    const { connectionTo } = await import(new URL("static/connection.js", location.href));
    window.leave?.();
    const connection = connectionTo(session), events = [], waiting = new Map();
    let number = 0;
    connection.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.event === undefined) waiting.get(message.id)(message);
        else events.push(message);
    };
    connection.onclose = ({ reason }) => events.push({ event: "lost", fields: { reason } });
    window.leave = () => connection.close();
    window.asks = (request, fields) => new Promise((resolve) => {
        number += 1;
        waiting.set(number, resolve);
        connection.send(JSON.stringify({ id: number, do: request, fields }));
    });
    window.comes = async (names) => {
        for (;;) {
            const found = events.findIndex(({ event }) => names.includes(event));
            if (found >= 0) return events.splice(0, found + 1).at(-1);
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await window.comes(["ready", "lost"]);
}"""


@dataclass
class PageClient:
    """A window of the page, and one session at a time."""

    page: Page

    def connect(self, session: str) -> None:
        """Begin a session, in a worker of its own."""
        self.page.evaluate(CONNECT, session)

    def leave(self) -> None:
        """End the session, if there is one."""
        self.page.evaluate("() => window.leave?.()")

    def ask(self, request: str, **fields: Any) -> dict[str, Any]:
        """Return the reply to a request; ValueError with the line of an error."""
        answer = self.page.evaluate("([request, fields]) => window.asks(request, fields)", [request, fields])
        if "error" in answer:
            raise ValueError(answer["error"])
        found: dict[str, Any] = answer["reply"]
        return found

    def event(self, *names: str) -> dict[str, Any]:
        """Wait for the next event of these names; return its fields. ValueError for `failed` and a lost connection."""
        found = self.page.evaluate("(names) => window.comes(names)", [*names, "failed", "lost"])
        if found["event"] not in names:
            raise ValueError(f"{found['event']}: {found['fields']}")
        fields: dict[str, Any] = found["fields"]
        return fields
