// The way to a session on a page without a server: a worker of this browser, with the face of a websocket.

import { notice } from "./live.js";

export function connectionTo(session) {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module", name: session });
  const connection = {
    readyState: WebSocket.OPEN,
    absent: "the engine is still being loaded",
    send: (text) => worker.postMessage(text),
    close: () => { connection.readyState = WebSocket.CLOSED; worker.terminate(); },
  };
  worker.onmessage = ({ data }) => {
    if (data.loaded === undefined) connection.onmessage({ data });
    else loading(data);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    connection.close();
    loading({ loaded: 0, of: 0 });
    connection.onclose({ reason: `The search in this browser has stopped (${event.message})` });
  };
  return connection;
}

// How far the files of the page are; nothing is shown of what is there at once.
let waits = null;

function loading({ loaded, of }) {
  clearTimeout(waits);
  if (loaded === of) notice("loading", "");
  else waits = setTimeout(() => notice("loading", `Loading the engine and its nets: ${loaded} of ${of} files. Nothing is loaded after that.`), 500);
}
