// The page Analyse: position, net and settings are in the address, the search and its tree in the session.

import { Chart } from "./analyse_chart.js";
import { Editor } from "./analyse_editor.js";
import { AnalysedGame } from "./analyse_game.js";
import { MoveTable } from "./analyse_moves.js";
import { Search } from "./analyse_search.js";
import { trapLegend, trapTable } from "./analyse_traps.js";
import { TreeView } from "./analyse_tree.js";
import { Board } from "./board.js";
import { textOf } from "./files.js";
import { bindKeys } from "./keys.js";
import { Live, attempt, notice } from "./live.js";
import { wdlBar, whole } from "./numbers.js";
import { SettingsForm } from "./settings.js";
import { Queue, Repeated } from "./turns.js";

const byId = (name) => document.getElementById(name);
const form = byId("position").elements;
const FIELDS = ["game", "fen", "net", "large_net"];

// What the address asks for, which may be ahead of what is shown.
const state = { game: "chess", fen: "", moves: [], net: "", large_net: "", search: {}, seed: 0, flip: false };

// What is shown: the moves to the position of the session and the ply of their start (null: plies are numbered), what the parts of the bar
// are called, the node of the tree whose position is on the board ({ row, moves }), the saved tree that is looked into.
const here = { moves: [], firstPly: null, shares: [], node: null, saved: null };

const live = new Live("analyse");
const search = new Search(live, { button: byId("start"), pace: byId("pace") });
const board = new Board(byId("board"), { onAction: ({ text }) => (editor.isOpen ? attempt(() => edit(text)) : play(text)) });
const editor = new Editor(byId("editor"), {
  pieces: byId("pieces"),
  mover: byId("mover"),
  castling: byId("castling"),
  onChange: (isPanel) => attempt(() => (isPanel ? showRoot() : edit(""))),
});
const game = new AnalysedGame(byId("line"), (moves) => go({ moves }));
const moveTable = new MoveTable(byId("moves"), () => byId("values").value);
const chart = new Chart(byId("chart"), byId("moment"), byId("moment-text"), { onMoment: (visits) => attempt(() => moment(visits)) });
const tree = new TreeView(byId("tree"), {
  read: async (lines) => live.ask("nodes", { lines }),
  onSelect: (row) => attempt(() => lookAt(row)),
});
const settings = new SettingsForm(byId("settings"), JSON.parse(byId("search-settings").textContent), { onChange: () => byId("position").requestSubmit() });
const steps = new Queue(); // whatever goes to another position or search
const follower = new Repeated(follow);

// The address: whoever opens it elsewhere sees the same position, net and settings.

function read() {
  const query = new URLSearchParams(location.search);
  for (const name of FIELDS) state[name] = query.get(name) ?? (name === "game" ? "chess" : "");
  state.moves = (query.get("moves") ?? "").split(" ").filter(Boolean);
  state.seed = Number(query.get("seed") ?? 0);
  state.search = Object.fromEntries([...query].filter(([name]) => name.startsWith("search.")).map(([name, value]) => [name.slice(7), value]));
  for (const kind of ["visits", "seconds"]) if (query.get(kind)) search.limit = { kind, amount: Number(query.get(kind)) };
  fill();
}

function address() {
  const query = new URLSearchParams(), { limit } = search;
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
  form.limit.value = search.limit.kind;
  form.amount.value = search.limit.amount;
  form.amount.disabled = !search.limit.kind;
  if (JSON.stringify(settings.values) !== JSON.stringify(state.search)) settings.values = state.search;
  const count = Object.keys(state.search).length;
  byId("changed").textContent = count ? ` · ${count} changed` : "";
}

// The position.

// Opens a position, of which nothing is known yet. requested: the fields of `state` that name it.
async function open(requested = { ...state }) {
  const reply = await live.ask("open", requested);
  if (state.moves === requested.moves) state.moves = reply.moves; // else a later step has already changed them
  const [first, second] = reply.side_names;
  Object.assign(here, { moves: reply.moves, firstPly: reply.first_ply, shares: [`${first} wins`, "draw", `${second} wins`], saved: null });
  search.clear();
  showGame(true);
  moveTable.clear();
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
  here.node = node;
  board.show(editor.isOpen ? editor.view(position) : position);
  byId("caption").textContent = node ? `after ${node.moves.join(" ")}` : "\u00a0";
  showSteps();
  marks();
}

async function showRoot() {
  const { position } = await live.ask("view", { flip: state.flip, line: [] });
  place(position);
}

async function edit(square) {
  const { fen } = await live.ask("edit", { ...state, ...editor.order(square) });
  await go({ fen, moves: [] });
}

function showSteps() {
  byId("first").disabled = byId("back").disabled = !here.node && !state.moves.length;
  byId("forward").disabled = byId("last").disabled = !game.next(state.moves);
}

// The address, the form and the buttons change at once: a key that is pressed before the position is there counts from it.
function go(change) {
  Object.assign(state, change);
  history.pushState(null, "", address());
  fill();
  showGame(true);
  showSteps();
  const requested = { ...state };
  return steps.add(async () => {
    const on = search.running;
    await open(requested);
    if (on && board.position.outcome === null) await start();
    return true;
  });
}

// A move that is not among those of the position begins a variation. The promise is false where it was refused.
async function play(text) {
  return (await go({ moves: [...here.moves, ...(here.node?.moves ?? []), text] })) ?? false;
}

function back() {
  if (here.node) { tree.select(tree.items[0]); return; }
  if (state.moves.length) go({ moves: state.moves.slice(0, -1) });
}

function forward() {
  const moves = game.next(state.moves);
  if (moves) go({ moves });
}

function toEnd() {
  const moves = game.end(state.moves);
  if (moves) go({ moves });
}

// Shows the moves of the game. enters: those of the position are among them from now on.
function showGame(enters = false) {
  game.show(`${state.game} ${state.fen}`, state.moves, { ply: here.firstPly, enters });
}

// Opens a game that was read, at its start.
function openGame({ game: spec, tree: read, notes }) {
  notice("notes", notes.join("; "));
  const [, name = spec, fen = ""] = /^(\w+)\(fen=([^()]*)\)$/.exec(spec) ?? [];
  game.open(read, `${name} ${fen}`);
  return go({ game: name, fen, moves: [] });
}

async function flip() {
  state.flip = !state.flip;
  const { position } = await live.ask("view", { flip: state.flip, line: here.node?.row.line ?? [] });
  place(position, here.node);
}

// The search.

async function start() {
  if (!live.ready) { search.run(true); return; } // "connected" begins it
  if (here.saved) await open();
  await search.start();
}

// Takes a report; false: it is of an earlier search.
function take(found) {
  if (!search.take(found)) return false;
  if (chart.chosen === null) show(found);
  return true;
}

// The table and the marks, of the newest report or of an earlier moment.
function show(found) {
  wdlBar(byId("wdl"), found.to_move === 0 ? found.wdl : [...found.wdl].reverse(), here.shares);
  moveTable.show(found);
  if (!here.node) marks();
}

async function moment(visits) {
  if (visits === null) { if (search.report) show(search.report); return; }
  show(await live.ask("moment", { visits }));
}

// Marks on the board: of the root's moves, or of the moves of the node that is looked at.
const MARKED = { visits: (move) => move.share, prior: (move) => move.prior, q: (move) => move.q, value: (move) => move.value };

function marks() {
  const kind = byId("marks").value;
  const { node } = here, children = node && tree.known.get(node.row.line.join(" "))?.children;
  const all = node ? children?.map((row) => ({ ...row, a: row.line.at(-1) })) : moveTable.found?.moves;
  const moves = (all ?? []).filter((move) => MARKED[kind]?.(move) > -2 && MARKED[kind](move) !== null);
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
  byId("over-time").hidden = !root || Boolean(here.saved);
  byId("tree-facts").hidden = !here.saved;
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

// Reads the tree and the curves again, while the page is seen.
async function follow() {
  if (document.hidden || !live.ready || here.saved) return;
  try {
    chart.show(await live.ask("history"));
    if (!tree.root) await readTree();
    else if (byId("follow").checked) await tree.follow();
    if (here.node) marks();
  } catch (error) {
    if (!["nothing", "connection"].includes(error.code)) notice("tree", error.message, "error");
  }
}

setInterval(() => { if (search.running) follower.run(); }, 1000);

async function load() {
  const name = byId("saved").value, reply = await live.ask("load", { name });
  Object.assign(state, { game: reply.game, fen: "", moves: reply.moves });
  history.pushState(null, "", address());
  fill();
  Object.assign(here, { moves: reply.moves, saved: reply });
  search.clear();
  showGame(true);
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

live.on("connected", () => steps.add(async () => {
  const on = search.running;
  search.run(false);
  await open();
  if (on) await start();
  const { nets } = await live.ask("nets");
  byId("nets").replaceChildren(...nets.map((name) => new Option(name)));
  await listSaved();
}));
live.on("report", take);
live.on("done", (found) => { if (take(found)) { search.run(false); follower.run(); } });
live.on("failed", ({ text }) => { search.run(false); byId("save").disabled = false; notice("page", text, "error"); });
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
  search.limit = { kind: form.limit.value, amount: form.limit.value === "visits" ? Math.max(1, Math.round(amount)) : amount || 1 };
  form.amount.disabled = !search.limit.kind;
  history.replaceState(null, "", address());
};
byId("start").onclick = () => steps.add(() => (search.running ? search.stop() : start()));
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
byId("values").onchange = () => { if (moveTable.found) show(moveTable.found); };
byId("presets").onchange = ({ target }) => {
  if (!target.value) return;
  settings.values = JSON.parse(target.value);
  target.value = "";
  byId("position").requestSubmit();
};
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

byId("load").onclick = () => steps.add(load);
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
  showGame();
  showSteps();
  steps.add(open);
};
read();
