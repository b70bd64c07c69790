// The page Explain: position and two sides are in the address, the searches in its session.

import { Board } from "./board.js";
import { showResult } from "./explain_result.js";
import { bindKeys } from "./keys.js";
import { Live, attempt } from "./live.js";
import { seconds } from "./numbers.js";
import { SettingsForm } from "./settings.js";

const at = (id) => document.getElementById(id);
const form = JSON.parse(at("form").textContent);
const position = at("position"), question = at("question"), start = at("start"), stop = at("stop");
const state = { game: "chess", fen: "", moves: [], flip: false };
let course = []; // all moves, of which those of the position are the first ones
const live = new Live("explain");
const board = new Board(at("board"), { onAction: (action) => play(action.text) });
const sides = Object.fromEntries(["a", "b"].map((name) => {
  const box = at(`side-${name}`);
  const [net, large] = box.querySelectorAll("select");
  const label = `side ${name.toUpperCase()}`;
  const settings = new SettingsForm(box.querySelector(".side-settings"), form.groups, { label, onChange: changed });
  net.onchange = large.onchange = changed;
  return [name, { net, large, settings }];
}));
const FIRST_MOVES = "d4 Nf6 c4 e6 Nc3 Bb4"; // a position where the preset plays another move
const NETS = { net: "net", large_net: "large" };
const NUMBERS = ["visits", "seed", "batch_size"];

function read() {
  const query = new URLSearchParams(location.search);
  state.game = query.get("game") ?? "chess";
  state.fen = query.get("fen") ?? "";
  state.moves = (query.get("moves") ?? (location.search ? "" : FIRST_MOVES)).split(" ").filter(Boolean);
  if (course.slice(0, state.moves.length).join() !== state.moves.join()) course = state.moves;
  if ([...position.game.options].every((option) => option.value !== state.game)) position.game.append(new Option(state.game));
  position.game.value = state.game;
  position.fen.value = state.fen;
  for (const name of NUMBERS) if (query.has(name)) question[name].value = query.get(name);
  const given = { a: {}, b: {} };
  for (const [key, value] of query) if (/^[ab]\./.test(key)) given[key[0]][key.slice(2)] = value;
  const preset = !NUMBERS.some((name) => query.has(name)) && !Object.keys({ ...given.a, ...given.b }).length;
  if (preset) [given.a, given.b] = form.presets["search-contempt"];
  show(given);
}

function show(given) {
  for (const name of ["a", "b"]) {
    const { net, large_net: large, ...settings } = given[name];
    pick(sides[name].net, net);
    pick(sides[name].large, large);
    sides[name].settings.values = settings;
  }
  command();
}

function offer(select, nets) {
  const known = new Set([...select.options].map(({ value }) => value));
  select.append(...nets.filter((name) => !known.has(name)).map((name) => new Option(name)));
}

function pick(select, value = "") {
  if ([...select.options].every((option) => option.value !== value)) select.append(new Option(value));
  select.value = value;
}

const chosen = (name) => ({ net: sides[name].net.value, large_net: sides[name].large.value, settings: sides[name].settings.values });
const numbers = () => Object.fromEntries(NUMBERS.map((name) => [name, Number(question[name].value)]));

function address() {
  const query = new URLSearchParams();
  for (const key of ["game", "fen"]) if (state[key]) query.set(key, state[key]);
  if (state.moves.length) query.set("moves", state.moves.join(" "));
  for (const name of ["a", "b"]) {
    const { settings, ...nets } = chosen(name);
    for (const [key, value] of Object.entries({ ...nets, ...settings })) if (value) query.set(`${name}.${key}`, value);
  }
  for (const name of NUMBERS) query.set(name, question[name].value);
  return `${location.pathname}?${query}`;
}

// The command that prints the same figures.
function command() {
  const quoted = (text) => (/^[\w.,:=+-]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`);
  const words = ["hauteur explain", quoted(state.game)];
  if (state.fen) words.push("--fen", quoted(state.fen));
  if (state.moves.length) words.push("--moves", quoted(state.moves.join(" ")));
  for (const name of ["a", "b"]) {
    const nets = Object.entries(NETS).map(([key, field]) => [key, sides[name][field].value]).filter(([, value]) => value);
    words.push(`--${name}`, `"${[...nets.map((pair) => pair.join("=")), sides[name].settings.words].join(" ").trim()}"`);
  }
  for (const name of NUMBERS) words.push(`--${name.replace("_", "-")}`, question[name].value);
  at("command").textContent = words.join(" ");
}

function changed() {
  at("stale").hidden = false;
  command();
  history.replaceState(null, "", address());
}

async function open() {
  const reply = await live.ask("open", state);
  board.show(reply.position);
  start.disabled = reply.position.outcome !== null;
  steps();
}

function steps() {
  at("first").disabled = at("back").disabled = !state.moves.length;
  at("forward").disabled = at("last").disabled = state.moves.length === course.length;
}

// Another move than the one that was taken back takes the place of what came after it.
function play(text) {
  const moves = [...state.moves, text];
  if (course[state.moves.length] !== text) course = moves;
  return go({ moves });
}

const walk = (plies) => { if (plies >= 0 && plies <= course.length) go({ moves: course.slice(0, plies) }); };

async function go(change) {
  Object.assign(state, change);
  history.pushState(null, "", address());
  changed();
  steps(); // at once: the next key counts from here
  return (await attempt(async () => { await open(); return true; })) ?? false;
}

function running(on) {
  at("running").hidden = !on;
  stop.hidden = !on;
  start.hidden = on;
}

async function explain() {
  const { flip, ...place } = state;
  at("progress").value = 0;
  at("step").textContent = "";
  history.replaceState(null, "", address());
  running(true); // before the reply, so that a second click or key stops this comparison and does not begin another
  const sent = live.ask("start", { ...place, flip, ...numbers(), a: chosen("a"), b: chosen("b") });
  await sent.catch((error) => { running(false); throw error; });
}

// An address with a comparison is compared at once; so is what was interrupted.
let pending = new URLSearchParams(location.search).has("visits");

live.on("connected", () => attempt(async () => {
  const again = pending || !stop.hidden;
  pending = false;
  running(false);
  await open();
  if (again && !start.disabled) await explain();
  const { nets } = await live.ask("nets");
  for (const { net, large } of Object.values(sides)) for (const select of [net, large]) offer(select, nets);
}));
live.on("progress", ({ done, of, what, share, left }) => {
  at("progress").value = share;
  at("step").textContent = `${done + 1} of ${of}: ${what}${left === null ? "" : `, ${seconds(left)} left`}`;
});
live.on("done", (found) => {
  running(false);
  at("stale").hidden = true;
  showResult(found, (line) => live.ask("children", { line }));
  at("headline").focus({ preventScroll: true });
  at("result").scrollIntoView({ block: "nearest" });
});
live.on("stopped", () => running(false));
live.on("failed", ({ text }) => { running(false); attempt(() => { throw new Error(text); }); });
position.onsubmit = (event) => {
  event.preventDefault();
  course = [];
  go({ game: position.game.value, fen: position.fen.value.trim(), moves: [] });
};
position.game.onchange = () => { position.fen.value = ""; position.requestSubmit(); };
question.onsubmit = (event) => {
  event.preventDefault();
  attempt(async () => { await live.settled(); if (stop.hidden) await explain(); }); // the arrival may have begun it
};
for (const name of NUMBERS) question[name].onchange = changed;
at("preset").onclick = () => { const [a, b] = form.presets["search-contempt"]; show({ a, b }); changed(); };
stop.onclick = () => attempt(() => live.ask("stop"));
at("first").onclick = () => walk(0);
at("back").onclick = () => walk(state.moves.length - 1);
at("forward").onclick = () => walk(state.moves.length + 1);
at("last").onclick = () => walk(course.length);
at("flip").onclick = () => go({ flip: !state.flip });
bindKeys({ search: () => (stop.hidden ? start : stop).click() });
onpopstate = () => { read(); at("stale").hidden = false; attempt(open); };
read();
