// The page Review: the text stays in the page, so that a fresh session can begin with it.

import { Board } from "./board.js";
import { Live, attempt, notice } from "./live.js";
import { percent, seconds, wdlBar, whole } from "./numbers.js";
import { save, textOf } from "./files.js";
import { pageAt } from "./pages.js";

const find = (name) => document.getElementById(name);
const form = find("order"), HANDED_OVER = "hauteur-review-game", MOST_BYTES = form.text.maxLength;
const live = new Live("review");
const board = new Board(find("board"), { label: "position of the game" });
const state = { sideNames: [], text: "", number: 1, game: "chess", ply: 0, flip: false, plies: 0, order: null, running: false };
const NOTHING = { moves: [], sides: [], chances: {}, axis: [0, 1] };
let view = NOTHING, next = [];
let traps = new Map(); // by ply: {kind: "set" or "missed", ...}

board.enable(false);

async function open(number = 1) {
  const reply = await live.ask("open", { text: state.text, game: state.game, number, flip: state.flip });
  Object.assign(state, { number: reply.number, plies: reply.plies, spec: reply.spec, sideNames: reply.side_names, ply: 0 });
  find("first-player").textContent = reply.side_names[0];
  find("review").hidden = false;
  find("title").textContent = reply.title;
  find("choice").hidden = reply.games.length < 2;
  find("number").replaceChildren(...reply.games.map((game) => new Option(game.title, game.number, false, game.number === reply.number)));
  find("save").hidden = !reply.form;
  notice("left-out", reply.left_out.length ? `Left out: ${reply.left_out.join("; ")}` : "");
  place(reply);
}

async function begin(number = 1) {
  view = NOTHING;
  find("moves").replaceChildren();
  traps = new Map();
  await open(number);
  find("setup").open = false;
  state.order = { net: form.net.value.trim(), visits: Number(form.visits.value) };
  await start();
}

async function start() {
  const reply = await live.ask("start", state.order);
  running(true);
  const { net, visits } = reply.settings;
  find("settings").textContent = `${net.replace(/([0-9a-f]{8})[0-9a-f]{56}$/, "$1")}; ${whole(visits)} visits a position, ${whole(visits * reply.confirmation)} where a move is marked. Strength of the net: ${reply.strength}.`;
}

function running(on) {
  state.running = on;
  find("stop").hidden = !on;
  find("on").hidden = on || !state.order || view.moves.length === state.plies;
}

// The review as it stands.

function show(fresh) {
  view = fresh;
  const { done, positions, seconds: gone, left } = view.progress;
  find("progress").value = done / Math.max(1, positions);
  find("pace").textContent = `${whole(done)} of ${whole(positions)} positions, ${seconds(gone)}`
    + (left === null || done === positions ? "" : `, ${seconds(left)} left`);
  find("sides").replaceChildren(...view.sides.map((side) => row(side.name, [whole(side.moves),
    side.mean_loss === null ? "–" : percent(side.mean_loss), side.blunder, side.mistake, side.inaccuracy])));
  find("figure").innerHTML = view.figure;
  view.moves.forEach(showMove);
  cursor();
  note();
}

function row(name, cells) {
  const made = document.createElement("tr"), head = Object.assign(document.createElement("th"), { scope: "row" });
  head.append(name);
  made.append(head);
  for (const text of cells) made.insertCell().textContent = text;
  return made;
}

const chances = (wdl) => wdl.map((share) => Math.round(100 * share)).join(" / ");

function showMove(move, number) {
  const rows = find("moves").rows;
  let line = rows[number];
  if (line?.dataset.move === JSON.stringify(move)) return;
  if (!line) {
    const button = document.createElement("button");
    button.type = "button";
    button.onclick = () => go(move.ply + 1);
    line = row(button, ["", "", "", "", ""]);
    find("moves").append(line);
  }
  line.dataset.move = JSON.stringify(move);
  line.className = move.mark ?? "";
  const button = line.querySelector("button"), dot = document.createElement("i");
  button.className = `link ${move.mark ?? ""}`;
  const trap = traps.get(move.ply);
  button.textContent = `${move.number} ${move.move}${move.sign}${trap ? ` ${trap.kind === "set" ? "⚑" : "⚐"}` : ""}`;
  if (move.mark) {
    dot.className = `dot ${move.mark}`;
    const size = 5 + 9 * (move.punished ?? 0);
    dot.style.width = dot.style.height = `${size}px`;
    button.append(dot);
  }
  [...move.chances.map(chances), move.loss ? percent(move.loss) : "", move.punished === null ? "" : percent(move.punished, 0),
    move.is_best ? "" : move.line.slice(0, 6).join(" ")].forEach((text, cell) => { line.cells[cell + 1].textContent = text; });
}

// Where the reader is.

async function go(ply) {
  const there = Math.max(0, Math.min(state.plies, ply));
  await attempt(async () => place(await live.ask("position", { ply: there, flip: state.flip })));
}

function place(reply) {
  state.ply = reply.ply;
  next = reply.next;
  board.show(reply.position);
  find("caption").textContent = reply.position.caption;
  find("analyse").href = `${pageAt("analyse")}?${new URLSearchParams({ game: state.spec, moves: reply.moves })}`;
  cursor();
  note();
}

function note() {
  const made = view.moves[state.ply - 1], coming = view.moves[state.ply];
  wdlBar(find("wdl"), view.chances[state.ply] ?? null, [`${state.sideNames[0]} wins`, "draw", `${state.sideNames[1]} wins`]);
  const trap = traps.get(state.ply - 1);
  const trapped = !trap ? "" : trap.kind === "set"
    ? ` A trap: ${trap.answer} was the answer; ${state.against} finds one ${percent(trap.finds, 0)} of the time.`
    : ` A missed trap: ${trap.move} is worth ${percent(trap.gain, 0)} more against ${state.against}, who finds the answer ${trap.answer} ${percent(trap.finds, 0)} of the time.`;
  find("note").textContent = (!made ? "" : made.mark ? `${made.verdict}: ${made.line.join(" ")}`
    : made.is_best ? `${made.number} ${made.move}: the best move.`
      : `${made.number} ${made.move}; the search would have played ${made.best}: ${made.line.join(" ")}`) + trapped;
  [...find("moves").rows].forEach((line, number) => {
    const here = number === state.ply - 1;
    if (here === line.hasAttribute("aria-current")) return;
    line.toggleAttribute("aria-current", here);
    const box = find("moves").closest(".scroll");
    if (here) box.scrollTop = line.offsetTop - box.clientHeight / 2;
  });
  const best = coming && board.position.actions.find(({ a }) => a === coming.best_action);
  board.marks([...(best ? [{ squares: best.squares, size: 0.7, kind: "best" }] : []),
    ...(next.length && coming && !coming.is_best ? [{ squares: next, size: 0.35, kind: coming.mark ? "bad" : "" }] : [])]);
}

function cursor() {
  const drawing = find("figure").querySelector("figure > svg");
  if (!drawing) return;
  drawing.querySelector(".cursor")?.remove();
  const [low, high] = view.axis, x = low + (high - low) * state.ply / state.plies;
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [key, value] of Object.entries({ class: "cursor", x1: x, x2: x, y1: 26, y2: 242 })) line.setAttribute(key, value);
  drawing.append(line);
  drawing.onclick = (event) => {
    const box = drawing.getBoundingClientRect(), [, , width] = drawing.getAttribute("viewBox").split(" ").map(Number);
    const at = (event.clientX - box.left) / box.width * width;
    go(Math.round((at - low) / (high - low) * state.plies));
  };
}

const steps = {
  first: () => go(0), back: () => go(state.ply - 1), on: () => go(state.ply + 1), last: () => go(state.plies),
  flip: () => { state.flip = !state.flip; go(state.ply); },
  mark: () => {
    const marked = view.moves.filter((move) => move.mark);
    const found = marked.find((move) => move.ply + 1 > state.ply) ?? marked[0];
    if (found) go(found.ply + 1);
  },
};

document.querySelectorAll("[data-go]").forEach((button) => { button.onclick = steps[button.dataset.go]; });

live.on("trap", ({ ply, of, kind, ...found }) => {
  find("trap-pace").textContent = `${whole(ply + 1)} of ${whole(of)} moves, ${traps.size + Number(Boolean(kind))} traps`;
  if (!kind) return;
  traps.set(ply, { kind, ...found });
  const line = find("moves").rows[ply];
  if (line) { delete line.dataset.move; showMove(view.moves[ply], ply); }
  note();
});
find("find-traps").onsubmit = (event) => {
  event.preventDefault();
  attempt(async () => {
    traps = new Map();
    const against = event.target.elements.against.value.trim();
    await live.ask("traps", { against });
    state.against = against;
    running(true);
  });
};
live.on("review", show);
live.on("done", () => running(false));
live.on("stopped", () => running(false));
live.on("failed", ({ text }) => { running(false); notice("page", text, "error"); });
live.on("connected", () => attempt(async () => {
  if (!state.text) return handedOver();
  const { ply } = state;
  await open(state.number);
  await go(ply);
  if (state.running) await start();
  return undefined;
}));

// A game that the page Play has handed over.
async function handedOver() {
  const game = JSON.parse(sessionStorage.getItem(HANDED_OVER) ?? "null");
  if (!game) return;
  sessionStorage.removeItem(HANDED_OVER);
  form.text.value = game.text;
  if (game.game) form.game.value = game.game;
  form.requestSubmit();
}

form.file.onchange = () => attempt(async () => {
  const [file] = form.file.files;
  if (!file) return;
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has ${whole(file.size)} bytes, allowed are ${whole(MOST_BYTES)}`);
  form.text.value = await textOf(file);
});
form.onsubmit = (event) => {
  event.preventDefault();
  Object.assign(state, { text: form.text.value, game: form.game.value.trim() || "chess" });
  attempt(async () => { await live.settled(); await begin(); });
};
find("number").onchange = () => attempt(() => begin(Number(find("number").value)));
find("stop").onclick = () => attempt(() => live.ask("stop"));
find("on").onclick = () => attempt(start);
find("save").onclick = () => attempt(async () => save(await live.ask("save", { form: "game" })));
find("save-page").onclick = () => attempt(async () => save(await live.ask("save", { form: "page" })));
