// The page Analyse: position, net and settings are in the address, the search and its tree in the session.

import { Chart } from "./analyse_chart.js";
import { TreeView } from "./analyse_tree.js";
import { Board } from "./board.js";
import { textOf } from "./files.js";
import { GameTree, GameTreeView, movesTo, nextOf } from "./game_tree.js";
import { bindKeys } from "./keys.js";
import { Live, attempt, notice } from "./live.js";
import { percent, seconds, signed, wdlBar, whole } from "./numbers.js";
import { SettingsForm } from "./settings.js";

const byId = (name) => document.getElementById(name);
const form = byId("position").elements, table = document.querySelector("#moves tbody");
const COLUMNS = document.querySelectorAll("#moves thead th").length;
const FIELDS = ["game", "fen", "net", "large_net"];
const state = { game: "chess", fen: "", moves: [], net: "", large_net: "", search: {}, seed: 0, flip: false };
let limit = { kind: "visits", amount: 10000 };
let game = new GameTree(); // the moves from the start, with their variations
let startOfGame = ""; // what they begin at
let plyOfStart = null; // of that in numbers of moves, null: plies are numbered
let report = null; // the last one of the search
let shown = null; // that of the moment that is looked at
let look = null; // the node of the tree whose position is on the board: { row, moves }
let saved = null; // the saved tree that is looked into: its position and facts
let rows = []; // of the table of moves: {numbers, line}
let number = null; // of the search, which its reports carry
let shares = []; // what the parts of the bar are called
let target = {}; // its limit, and the seconds that were searched before it

const live = new Live("analyse");
const board = new Board(byId("board"), { onAction: ({ text }) => (editing() ? attempt(() => edit(text)) : play(text)) });
let here = []; // the moves that led to the position on the board, which `state` may be ahead of
const chart = new Chart(byId("chart"), byId("moment"), byId("moment-text"), { onMoment: (visits) => attempt(() => moment(visits)) });
const tree = new TreeView(byId("tree"), {
  read: async (lines) => live.ask("nodes", { lines }),
  onSelect: (row) => attempt(() => lookAt(row)),
});
const settings = new SettingsForm(byId("settings"), JSON.parse(byId("search-settings").textContent), { onChange: () => byId("position").requestSubmit() });

const list = new GameTreeView(byId("line"), (node) => go({ moves: movesTo(node) }));

// The address: whoever opens it elsewhere sees the same position, net and settings.

function read() {
  const query = new URLSearchParams(location.search);
  for (const name of FIELDS) state[name] = query.get(name) ?? (name === "game" ? "chess" : "");
  state.moves = (query.get("moves") ?? "").split(" ").filter(Boolean);
  state.seed = Number(query.get("seed") ?? 0);
  state.search = Object.fromEntries([...query].filter(([name]) => name.startsWith("search.")).map(([name, value]) => [name.slice(7), value]));
  for (const kind of ["visits", "seconds"]) if (query.get(kind)) limit = { kind, amount: Number(query.get(kind)) };
  fill();
}

function address() {
  const query = new URLSearchParams();
  for (const name of FIELDS) if (state[name]) query.set(name, state[name]);
  if (state.moves.length) query.set("moves", state.moves.join(" "));
  if (state.seed) query.set("seed", state.seed);
  if (limit.kind && !(limit.kind === "visits" && limit.amount === 10000)) query.set(limit.kind, limit.amount);
  for (const [name, value] of Object.entries(state.search)) query.set(`search.${name}`, value);
  return `${location.pathname}?${query}`;
}

function fill() {
  if (![...form.game.options].some(({ value }) => value === state.game)) form.game.add(new Option(state.game), 0);
  for (const name of [...FIELDS, "seed"]) form[name].value = state[name];
  form.spec.parentElement.hidden = true;
  form.limit.value = limit.kind;
  form.amount.value = limit.amount;
  form.amount.disabled = !limit.kind;
  if (JSON.stringify(settings.values) !== JSON.stringify(state.search)) settings.values = state.search;
  const count = Object.keys(state.search).length;
  byId("changed").textContent = count ? ` · ${count} changed` : "";
}

// The position.

// Opens a position, of which nothing is known yet. requested: the fields of `state` that name it.
async function open(requested = { ...state }) {
  const reply = await live.ask("open", requested);
  here = reply.moves;
  if (state.moves === requested.moves) state.moves = reply.moves; // else a later step has already changed them
  plyOfStart = reply.first_ply;
  shares = [`${reply.side_names[0]} wins`, "draw", `${reply.side_names[1]} wins`];
  [report, shown, saved, number] = [null, null, null, null];
  running(false);
  line(true);
  rows = [];
  table.replaceChildren();
  chart.clear();
  plant(null);
  wdlBar(byId("wdl"), null);
  byId("pace").textContent = `net ${reply.net}`;
  form.fen.parentElement.hidden = !reply.has_fen;
  byId("editor").hidden = !reply.editable;
  byId("trap-rows").hidden = true;
  place(reply.position);
}

// Puts a position on the board, with the node of the tree that it is of.
function place(position, node = null) {
  look = node;
  board.show(editing() ? forEditor(position) : position);
  byId("caption").textContent = node ? `after ${node.moves.join(" ")}` : "\u00a0";
  steps();
  marks();
}

// The editor: a click on the board puts there what is chosen, and the position begins a game of its own.

const SIGNS = "KQRBNPkqrbnp", GLYPHS = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
let chosen = "P";
const editing = () => byId("editor").open && !byId("editor").hidden;

byId("pieces").append(...[...SIGNS, ""].map((sign) => {
  const button = document.createElement("button"), white = sign === sign.toUpperCase();
  const name = sign ? `${white ? "white" : "black"} ${{ k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" }[sign.toLowerCase()]}` : "nothing";
  Object.assign(button, { type: "button", textContent: sign ? (white ? { K: "♔", Q: "♕", R: "♖", B: "♗", N: "♘", P: "♙" }[sign] : GLYPHS[sign]) : "×", ariaLabel: name, title: name, ariaPressed: String(sign === chosen) });
  button.onclick = () => {
    chosen = sign;
    for (const other of byId("pieces").children) other.ariaPressed = String(other === button);
  };
  return button;
}));

async function edit(square) {
  const reply = await live.ask("edit", { ...state, square, piece: chosen, mover: byId("mover").value, castling: byId("castling").value.trim() });
  await go({ fen: reply.fen, moves: [] });
}

// Every square is an action while the editor is open.
function forEditor(position) {
  return { ...position, actions: position.squares.map(({ name }, at) => ({ a: at, text: name, squares: [at], area: [at] })) };
}

function steps() {
  byId("first").disabled = byId("back").disabled = !look && !state.moves.length;
  byId("forward").disabled = byId("last").disabled = !nextOf(game.find(state.moves));
}

// What goes to another position or search happens one after the other.
let turn = Promise.resolve();

function inTurn(work) {
  turn = turn.then(() => attempt(work));
  return turn;
}

// The address, the form and the buttons change at once: a key that is pressed before the position is there counts from it.
function go(change) {
  Object.assign(state, change);
  history.pushState(null, "", address());
  fill();
  line(true);
  steps();
  const requested = { ...state };
  return inTurn(async () => {
    const on = searching;
    await open(requested);
    if (on && board.position.outcome === null) await search();
    return true;
  });
}

// A move that is not among those of the position begins a variation. The promise is false where it was refused.
async function play(text) {
  return (await go({ moves: [...here, ...(look?.moves ?? []), text] })) ?? false;
}

function back() {
  if (look) { tree.select(tree.items[0]); return; }
  if (state.moves.length) go({ moves: state.moves.slice(0, -1) });
}

function forward() {
  const next = nextOf(game.find(state.moves));
  if (next) go({ moves: movesTo(next) });
}

function toEnd() {
  let node = game.find(state.moves);
  while (nextOf(node)) node = nextOf(node);
  if (node) go({ moves: movesTo(node) });
}

// The moves of the game. enters: those of the position are among them from now on.
const KEPT = "hauteur-analysed-game";
let drawn = ""; // what the list shows

function line(enters = false) {
  const start = `${state.game} ${state.fen}`;
  if (start !== startOfGame) [game, startOfGame] = [keptGame(start) ?? new GameTree(), start];
  const node = enters ? game.enter(state.moves) : game.find(state.moves);
  const content = JSON.stringify(game.content), shows = `${plyOfStart} ${content}`;
  if (drawn !== shows) {
    list.show(game, plyOfStart);
    drawn = shows;
    sessionStorage.setItem(KEPT, JSON.stringify({ start, content }));
  }
  byId("line").hidden = !byId("line").childElementCount;
  list.mark(node);
}

function keptGame(start) {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  return kept?.start === start ? GameTree.of(JSON.parse(kept.content)) : null;
}

// Opens a game that was read, at its start.
function openGame({ game: spec, tree: read, notes }) {
  notice("notes", notes.join("; "));
  const [, name = spec, fen = ""] = /^(\w+)\(fen=([^()]*)\)$/.exec(spec) ?? [];
  [game, startOfGame] = [GameTree.of(read), `${name} ${fen}`];
  return go({ game: name, fen, moves: [] });
}

async function flip() {
  state.flip = !state.flip;
  const { position } = await live.ask("view", { flip: state.flip, line: look?.row.line ?? [] });
  place(position, look);
}

// The search.

let searching = false;

function running(on) {
  searching = on;
  byId("start").textContent = on ? "Stop" : report && !saved ? "Go on" : "Search";
  byId("start").classList.toggle("main", !on);
}

async function search() {
  if (!live.ready) { running(true); return; } // "connected" begins it
  if (saved) await open();
  const done = limit.kind === "visits" ? report?.visits ?? 0 : 0;
  const order = limit.kind ? { [limit.kind]: limit.kind === "visits" ? Math.round(done + limit.amount) : limit.amount } : {};
  target = { ...order, began: report?.seconds ?? 0 };
  running(true);
  try {
    ({ number } = await live.ask("start", order));
  } catch (error) {
    running(false);
    throw error;
  }
}

function stop() {
  running(false);
  return live.ready ? live.ask("stop") : undefined;
}

// How long the search will still take, as text; empty where nothing ends it.
function timeLeft({ visits, visits_per_second: pace, seconds: gone }) {
  const left = target.seconds ? target.seconds + target.began - gone : target.visits && pace ? (target.visits - visits) / pace : 0;
  return searching && left > 0 ? `  ${seconds(left)} left` : "";
}

function take(found) {
  if (found.number !== number) return false;
  report = found;
  const full = found.reason && found.reason !== "stopped" && found.reason !== "visits" && found.reason !== "time" ? `  ${found.reason}` : "";
  byId("pace").textContent = `${whole(found.visits)} visits  ${whole(found.visits_per_second)} / s  depth ${found.depth.toFixed(1)}`
    + ` (${found.seldepth})  ${whole(found.memory / 1e6)} MB  ${seconds(found.seconds)}${full || (found.reason ? "" : timeLeft(found))}`;
  if (chart.chosen === null) show(found);
  return true;
}

// A move has two rows: its numbers, and under them the line that follows it.
function newRow() {
  const numbers = table.insertRow(), line = table.insertRow();
  numbers.append(Object.assign(document.createElement("th"), { scope: "row" }));
  for (let cell = 0; cell < COLUMNS - 1; cell += 1) numbers.insertCell();
  line.className = "line";
  line.insertCell().colSpan = COLUMNS;
  return { numbers, line };
}

// The table and the marks, of the newest report or of an earlier moment.
function show(found) {
  shown = found;
  wdlBar(byId("wdl"), found.to_move === 0 ? found.wdl : [...found.wdl].reverse(), shares);
  while (rows.length < found.moves.length) rows.push(newRow());
  while (rows.length > found.moves.length) for (const row of Object.values(rows.pop())) row.remove();
  found.moves.forEach((move, number) => {
    const proven = move.proven === null ? "" : ` ${["−1", "=", "+1"][move.proven + 1]}`;
    const texts = [move.text + proven, whole(move.visits), percent(move.share), percent(move.prior), worth(move.q), worth(move.value),
      move.wdl ? move.wdl.map((share) => Math.round(100 * share)).join(" / ") : "–"];
    const { numbers, line: below } = rows[number], text = move.line.slice(1).join(" ");
    texts.forEach((one, column) => { if (numbers.cells[column].textContent !== one) numbers.cells[column].textContent = one; });
    numbers.classList.toggle("unvisited", !move.visits);
    below.hidden = !text;
    if (below.cells[0].textContent !== text) below.cells[0].textContent = text;
  });
  if (!look) marks();
}

// A value from -1 to 1 as the reader wants it; centipawns as lc0 has them.
const WORTH = {
  q: (value) => signed(value),
  score: (value) => percent((1 + value) / 2),
  cp: (value) => signed(90 * Math.tan(1.5637541897 * value), 0),
};
const worth = (value) => (value === null || value === undefined ? "–" : WORTH[byId("values").value](value));

async function moment(visits) {
  if (visits === null) { if (report) show(report); return; }
  show(await live.ask("moment", { visits }));
}

// Marks on the board: of the root's moves, or of the moves of the node that is looked at.
const MARKED = { visits: (move) => move.share, prior: (move) => move.prior, q: (move) => move.q, value: (move) => move.value };

function marks() {
  const kind = byId("marks").value;
  const node = look ? tree.known.get(look.row.line.join(" "))?.children?.map((row) => ({ ...row, a: row.line.at(-1) })) : null;
  const moves = (look ? node ?? [] : shown?.moves ?? []).filter((move) => MARKED[kind]?.(move) > -2 && MARKED[kind](move) !== null);
  const worth = moves.filter(({ share, visits }) => kind === "prior" || (kind === "value" ? visits : share >= 0.005));
  const best = [...worth].sort((one, other) => MARKED[kind](other) - MARKED[kind](one)).slice(0, 6);
  const values = best.map(MARKED[kind] ?? Number), [most, least] = [Math.max(...values), Math.min(...values)];
  const squares = new Map(board.position.actions.map((action) => [action.a, action.squares]));
  board.marks(best.map((move, number) => {
    const value = values[number], share = kind === "visits" || kind === "prior";
    const size = share ? value / (most || 1) : most > least ? (value - least) / (most - least) : 1;
    return { squares: squares.get(move.a) ?? [], size, kind: number ? "" : "best", text: share ? `${Math.round(100 * value)} %` : value.toFixed(2) };
  }));
}

// The tree.

function plant(root) {
  byId("tree-scroll").hidden = !root;
  byId("in-tree").hidden = !root && byId("shelf").hidden;
  byId("over-time").hidden = !root || Boolean(saved);
  byId("tree-facts").hidden = !saved;
  if (root) tree.show(root);
  else tree.clear();
}

async function readTree() {
  if (tree.root) await tree.refresh();
  else plant((await live.ask("tree")).root);
}

async function lookAt(row) {
  const { position, moves } = await live.ask("look", { line: row.line, flip: state.flip });
  if (row.replies && !row.children) await tree.learnAll([row.line]); // for the marks on the board
  place(position, row.line.length ? { row, moves } : null);
}

// Reads the tree and the curves again, while the page is seen; at most about once a second. What comes while it reads is read after that.
let reading = false, again = false;

async function follow() {
  again = reading;
  if (reading || document.hidden || !live.ready || saved) return;
  reading = true;
  try {
    chart.show(await live.ask("history"));
    if (!tree.root) await readTree();
    else if (byId("follow").checked) await tree.follow();
    if (look) marks();
  } catch (error) {
    if (!["nothing", "connection"].includes(error.code)) notice("tree", error.message, "error");
  } finally {
    reading = false;
  }
  if (again) await follow();
}

setInterval(() => { if (searching) follow(); }, 1000);

async function load() {
  const name = byId("saved").value, reply = await live.ask("load", { name });
  Object.assign(state, { game: reply.game, fen: "", moves: reply.moves });
  history.pushState(null, "", address());
  fill();
  here = reply.moves;
  [saved, report, number] = [reply, null, null];
  running(false);
  line(true);
  chart.clear();
  tree.clear();
  plant(reply.root);
  tree.put(reply.top);
  tree.draw();
  const { facts } = reply, changed = facts.nets.map(({ name: net, sha256 }) => `${net} ${sha256.slice(0, 12)}`).join(", ");
  byId("tree-facts").textContent = `From the file ${name}: ${whole(reply.root.visits)} visits, ${facts.complete ? "all nodes" : "its most visited nodes"}`
    + `${changed ? `, net ${changed}` : ""}, seed ${facts.seed ?? "unknown"}, tree ${facts.digest || "unknown"}. Search or a move leaves it.`;
  byId("in-tree").open = true;
  byId("pace").textContent = `saved tree, ${whole(reply.root.visits)} visits`;
  const wdl = reply.root.wdl ?? [0, 0, 0];
  show({ to_move: reply.position.to_move, wdl, moves: reply.top.children.map((row) => ({ ...row, a: row.line[0], text: row.move, line: [] })) });
  place(reply.position);
}

async function listSaved(chosen = "") {
  const { trees } = await live.ask("saved");
  byId("saved").replaceChildren(...trees.map((name) => new Option(name)));
  if (chosen) byId("saved").value = chosen;
  byId("shelf").hidden = !trees.length;
  byId("in-tree").hidden = !tree.root && !trees.length;
}

// What the page does when it is asked to.

live.on("connected", () => inTurn(async () => {
  const on = searching;
  running(false);
  await open();
  if (on) await search();
  const { nets } = await live.ask("nets");
  byId("nets").replaceChildren(...nets.map((name) => new Option(name)));
  await listSaved();
}));
live.on("report", take);
live.on("done", (found) => { if (take(found)) { running(false); follow(); } });
live.on("failed", ({ text }) => { running(false); byId("save").disabled = false; notice("page", text, "error"); });
live.on("saved", ({ name, nodes }) => attempt(async () => {
  byId("save").disabled = false;
  notice("saved", `Saved ${whole(nodes)} nodes as ${name}.`);
  await listSaved(name);
}));

byId("position").onsubmit = (event) => {
  event.preventDefault();
  const spec = form.game.value || form.spec.value.trim(), fen = form.fen.value.trim();
  const other = spec !== state.game || fen !== state.fen;
  const common = { net: form.net.value.trim(), large_net: form.large_net.value.trim(), seed: Number(form.seed.value), search: settings.values };
  go({ game: spec, fen, moves: other ? [] : state.moves, ...common });
};
form.game.onchange = () => {
  form.spec.parentElement.hidden = form.game.value !== "";
  if (!form.game.value) { form.spec.focus(); return; }
  form.fen.value = form.net.value = form.large_net.value = "";
  byId("position").requestSubmit();
};
form.limit.onchange = form.amount.onchange = () => {
  const amount = Number(form.amount.value);
  limit = { kind: form.limit.value, amount: form.limit.value === "visits" ? Math.max(1, Math.round(amount)) : amount || 1 };
  form.amount.disabled = !limit.kind;
  history.replaceState(null, "", address());
};
byId("start").onclick = () => inTurn(() => (searching ? stop() : search()));
byId("back").onclick = back;
byId("forward").onclick = forward;
byId("first").onclick = () => go({ moves: [] });
byId("last").onclick = toEnd;
byId("flip").onclick = () => attempt(flip);
byId("marks").onchange = marks;
byId("refresh").onclick = () => attempt(readTree);
byId("save").onclick = () => attempt(async () => {
  byId("save").disabled = true;
  try {
    await live.ask("save", { nodes: Number(byId("save-nodes").value) });
  } catch (error) {
    byId("save").disabled = false;
    throw error;
  }
});
byId("values").onchange = () => { if (shown) show(shown); };
byId("presets").onchange = ({ target }) => {
  if (!target.value) return;
  settings.values = JSON.parse(target.value);
  target.value = "";
  byId("position").requestSubmit();
};
byId("editor").ontoggle = byId("mover").onchange = byId("castling").onchange = ({ target }) => attempt(async () => {
  if (target.id === "editor") { const { position } = await live.ask("view", { flip: state.flip, line: [] }); place(position); } else await edit("");
});
byId("clear").onclick = () => { byId("castling").value = ""; go({ fen: "4k3/8/8/8/8/8/8/4K3 w - - 0 1", moves: [] }); };
byId("find-traps").onsubmit = (event) => {
  event.preventDefault();
  const { against, visits } = event.target.elements;
  attempt(async () => {
    await live.ask("traps", { against: against.value.trim(), visits: Number(visits.value) });
    byId("trap-rows").textContent = "searching …";
    byId("trap-rows").hidden = false;
  });
};
live.on("traps", ({ key, against, rows: found }) => {
  if (key !== board.position.notation) return;
  byId("trap-rows").replaceChildren(trapTable(found), trapLegend(against));
});

function trapTable(found) {
  const made = document.createElement("table");
  made.className = "moves";
  made.createTHead().innerHTML = "<tr><th>move</th><th>score</th><th>gain</th><th>finds</th><th>answer</th></tr>";
  for (const { move, plain, gain, finds, answer, trap } of found) {
    const row = made.insertRow();
    row.classList.toggle("trap", trap);
    for (const text of [`${move}${trap ? " ⚑" : ""}`, percent(plain), `${signed(100 * gain, 1)} %`, percent(finds, 0), answer]) row.insertCell().textContent = text;
  }
  return made;
}

function trapLegend(against) {
  const made = document.createElement("dl"), meanings = [
    ["⚑", `a trap: worth at least 5 % more against ${against}`],
    ["score", "expected score (win + draw/2) of the move if the replies are the best ones"],
    ["gain", `how much more is expected if ${against} replies`],
    ["finds", `how often ${against} finds an answer: a reply within 5 % of the best one`],
    ["answer", "the best reply"]];
  made.className = "keys";
  for (const [name, meaning] of meanings) for (const [tag, textContent] of [["dt", name], ["dd", meaning]]) made.append(Object.assign(document.createElement(tag), { textContent }));
  return made;
}
byId("load").onclick = () => inTurn(load);
const readText = (text) => attempt(async () => openGame(await live.ask("read", { text, game: state.game })));
byId("read").onclick = () => readText(byId("text").value);

// A text that is pasted anywhere but into a field is opened.
addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text/plain");
  if (event.target.closest?.("input, textarea, select") || !text.trim()) return;
  event.preventDefault();
  readText(text);
});
byId("file").onchange = () => attempt(async () => {
  const [file] = byId("file").files;
  if (!file) return;
  if (file.size > 2 ** 20 - 4096) throw new Error(`${file.name} has ${whole(file.size)} bytes, allowed are 1,044,480`);
  byId("text").value = await textOf(file);
  byId("file").value = "";
  byId("read").click();
});

bindKeys({
  tree: () => attempt(async () => {
    if (!tree.root) await readTree(); // pressed before the tree of a search was read
    byId("in-tree").open = true;
    byId("tree").querySelector('[tabindex="0"]')?.focus();
  }),
  board: () => byId("board").querySelector('[tabindex="0"]')?.focus(),
  marks: () => { const list = byId("marks"); list.selectedIndex = (list.selectedIndex + 1) % list.length; marks(); },
});
onpopstate = () => {
  read();
  line();
  steps();
  inTurn(open);
};
read();
