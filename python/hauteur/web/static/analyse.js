// The page Analyse: the position is in the address, the search in its desk.

import { Board } from "/static/board.js";
import { Live, attempt } from "/static/live.js";
import { percent, seconds, signed, wdlBar, whole } from "/static/numbers.js";

const form = document.getElementById("position"), table = document.querySelector("#moves tbody");
const start = document.getElementById("start"), stop = document.getElementById("stop");
const pace = document.getElementById("pace"), wdl = document.getElementById("wdl");
const state = { game: "chess", fen: "", moves: [], flip: false };
const live = new Live("analyse");
const board = new Board(document.getElementById("board"), { onAction: (action) => play(action.text) });

function read() {
  const query = new URLSearchParams(location.search);
  state.game = query.get("game") ?? "chess";
  state.fen = query.get("fen") ?? "";
  state.moves = (query.get("moves") ?? "").split(" ").filter(Boolean);
  if ([...form.game.options].every((option) => option.value !== state.game)) form.game.append(new Option(state.game));
  form.game.value = state.game;
  form.fen.value = state.fen;
}

function address() {
  const query = new URLSearchParams();
  for (const key of ["game", "fen"]) if (state[key]) query.set(key, state[key]);
  if (state.moves.length) query.set("moves", state.moves.join(" "));
  return `${location.pathname}?${query}`;
}

async function open() {
  const reply = await live.ask("open", state);
  board.show(reply.position);
  rows = [];
  table.replaceChildren();
  wdlBar(wdl, null);
  pace.textContent = reply.position.caption;
}

async function go(change) {
  const searching = !stop.hidden;
  Object.assign(state, change);
  history.pushState(null, "", address());
  await attempt(async () => { await open(); if (searching) await search(); });
}

const play = (text) => go({ moves: [...state.moves, text] });

async function search() {
  running(true);
  try {
    await live.ask("start", form.visits.value ? { visits: Number(form.visits.value) } : {});
  } catch (error) {
    running(false);
    throw error;
  }
}

function running(on) {
  stop.hidden = !on;
  start.hidden = on;
}

let rows = [];

function show(report) {
  pace.textContent = `${whole(report.visits)} visits  ${whole(report.visits_per_second)} / s  depth ${report.depth.toFixed(1)}`
    + ` (${report.seldepth})  ${whole(report.memory / 1e6)} MB  ${seconds(report.seconds)}`;
  wdlBar(wdl, report.to_move === 0 ? report.wdl : [...report.wdl].reverse(), ["first player wins", "draw", "second player wins"]);
  while (rows.length < report.moves.length) {
    const row = table.insertRow();
    row.append(Object.assign(document.createElement("th"), { scope: "row" }));
    for (let cell = 0; cell < 7; cell += 1) row.insertCell();
    rows.push(row);
  }
  report.moves.forEach((move, number) => {
    const { cells } = rows[number];
    const texts = [move.text, whole(move.visits), percent(move.share), percent(move.prior), signed(move.q), signed(move.value),
      move.wdl ? move.wdl.map((share) => Math.round(100 * share)).join(" / ") : "–", move.line.slice(1).join(" ")];
    texts.forEach((text, column) => { if (cells[column].textContent !== text) cells[column].textContent = text; });
  });
  const most = Math.max(1, ...report.moves.map((move) => move.visits));
  const squares = new Map(board.position.actions.map((action) => [action.a, action.squares]));
  board.marks(report.moves.filter((move) => move.visits).slice(0, 6).map((move, number) => (
    { squares: squares.get(move.a) ?? [], size: move.visits / most, kind: number ? "" : "best" })));
}

live.on("connected", () => attempt(open));
live.on("report", show);
live.on("done", (report) => { show(report); running(false); });
live.on("failed", ({ text }) => { running(false); attempt(() => { throw new Error(text); }); });
live.on("ended", () => running(false));
form.onsubmit = (event) => {
  event.preventDefault();
  go({ game: form.game.value, fen: form.fen.value.trim(), moves: [] });
};
form.game.onchange = () => { form.fen.value = ""; form.requestSubmit(); };
start.onclick = () => attempt(search);
stop.onclick = () => attempt(() => live.ask("stop"));
document.getElementById("back").onclick = () => state.moves.length && go({ moves: state.moves.slice(0, -1) });
document.getElementById("flip").onclick = () => go({ flip: !state.flip });
onpopstate = () => { read(); attempt(open); };
read();
