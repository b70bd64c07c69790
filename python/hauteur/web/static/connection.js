// The way to a session of this server: a websocket. A page without a server has its own file of this name (crates/page/web).

export const connectionTo = (session) => new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live/${session}`);
