// The way to a session on a page without a server: a worker of this browser, with the face of a websocket.

export function connectionTo(session) {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module", name: session });
  const connection = {
    readyState: WebSocket.OPEN,
    send: (text) => worker.postMessage(text),
    close: () => { connection.readyState = WebSocket.CLOSED; worker.terminate(); },
  };
  worker.onmessage = ({ data }) => connection.onmessage({ data });
  worker.onerror = ({ message }) => { connection.close(); connection.onclose({ reason: `The search in this browser has stopped: ${message}` }); };
  return connection;
}
