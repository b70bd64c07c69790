// The messages of a session: requests with their replies, events, and coming back after a lost connection.

import { connectionTo } from "./connection.js";

const MOST_MESSAGE = 2 ** 20; // bytes, as the server allows
const FIRST_PAUSE = 250, SHORT_PAUSE = 500, LONG_PAUSE = 5000; // milliseconds
const SHORT_PAUSES = 60; // then the server is away for longer
const PATIENCE = 30000; // milliseconds that a click waits for a connection, on a busy machine too

export class Live {
  // session: its name. Events: those of the session, and "connected": a fresh session waits for the page's state.
  constructor(session) {
    this.session = session;
    this.handlers = new Map();
    this.waiting = new Map();
    this.number = 0;
    this.arrivals = []; // those who wait in settled()
    this.lost = 0; // times in a row that there was no connection
    this.on("busy", ({ text }) => { this.refusal = text; this.socket.close(); });
    this.on("ready", () => {
      if (this.lost) notice("live", "");
      this.ready = true; this.lost = 0;
      this.arrived = Promise.all(this.tell("connected", {}));
      for (const resolve of this.arrivals.splice(0)) resolve();
    });
    addEventListener("pagehide", () => { this.left = true; if (this.socket?.readyState === WebSocket.OPEN) this.socket.close(1000); });
    addEventListener("pageshow", (event) => { if (event.persisted) { this.left = false; this.connect(); } });
    queueMicrotask(() => this.connect());
  }

  connect() {
    this.refusal = "";
    this.socket = connectionTo(this.session);
    this.socket.onmessage = ({ data }) => this.take(JSON.parse(data));
    this.socket.onclose = ({ reason }) => {
      this.ready = false;
      this.fail("the connection was lost");
      if (this.left) return;
      notice("live", `${this.refusal || reason || "The connection to the server was lost"}; trying again.`, "error");
      this.lost += 1;
      const away = this.refusal || this.lost > SHORT_PAUSES;
      setTimeout(() => this.connect(), away ? LONG_PAUSE : this.lost > 1 ? SHORT_PAUSE : FIRST_PAUSE);
    };
    this.socket.onopen = () => { if (this.left) this.socket.close(1000); };
  }

  on(event, handler) {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]);
    return this;
  }

  // The reply to a request; an Error with the server's line where it was refused, and a code where the page acts on it.
  ask(request, fields = {}) {
    return new Promise((resolve, reject) => {
      if (!this.ready || this.socket.readyState !== WebSocket.OPEN) { reject(coded(this.absent, "connection")); return; }
      this.number += 1;
      const text = JSON.stringify({ id: this.number, do: request, fields }), { length } = new TextEncoder().encode(text);
      if (length > MOST_MESSAGE) { reject(new Error(`that is too long: ${length} bytes, allowed are ${MOST_MESSAGE}`)); return; }
      this.waiting.set(this.number, { resolve, reject });
      this.socket.send(text);
    });
  }

  // Why a session does not answer: that of a page without a server is still being loaded.
  get absent() {
    return this.socket?.absent ?? "there is no connection to the server";
  }

  // Waits until the session has the page's state: no click is lost while the connection or a fresh session is on its way.
  async settled() {
    if (!this.ready) {
      await new Promise((resolve, reject) => {
        this.arrivals.push(resolve);
        if (!this.socket?.absent) setTimeout(() => reject(new Error(this.absent)), PATIENCE); // files come as fast as they come
      });
    }
    await this.arrived;
  }

  take(message) {
    if (message.event !== undefined) { this.tell(message.event, message.fields); return; }
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error !== undefined) waiting?.reject(coded(message.error, message.code));
    else waiting?.resolve(message.reply);
  }

  tell(event, fields) {
    return (this.handlers.get(event) ?? []).map((handler) => handler(fields));
  }

  fail(text) {
    for (const { reject } of this.waiting.values()) reject(coded(text, "connection"));
    this.waiting.clear();
  }
}

const coded = (text, code) => Object.assign(new Error(text), { code });

// A line over the foot of the page, which a click, Escape or an empty text takes away. kind: "error" or "".
export function notice(name, text, kind = "") {
  const place = document.getElementById("notices");
  let line = document.getElementById(`notice-${name}`);
  if (!text) { line?.remove(); return; }
  if (!line) {
    line = document.createElement("p");
    line.id = `notice-${name}`;
    line.onclick = () => line.remove();
    place.append(line);
  }
  line.className = `notice ${kind}`;
  line.textContent = text;
}

addEventListener("keydown", ({ key, defaultPrevented }) => {
  if (key === "Escape" && !defaultPrevented) document.getElementById("notices").replaceChildren();
});

// Runs an action of the page; what goes wrong becomes a line above it.
export async function attempt(work, name = "page") {
  try {
    notice(name, "");
    return await work();
  } catch (error) {
    notice(name, error.message, "error");
    return undefined;
  }
}
