// The page Play: the game is kept in this window (sessionStorage), its session plays it.

import { Board } from "./board.js";
import { save, textOf } from "./files.js";
import { bindKeys } from "./keys.js";
import { Live, attempt, notice } from "./live.js";
import { sound } from "./look.js";
import { MoveList } from "./move_list.js";
import { percent, seconds, wdlBar, whole } from "./numbers.js";
import { hasPage, pageAt } from "./pages.js";
import { challenge, invitation, linkOf, orderOf } from "./play_link.js";
import { Setup } from "./play_setup.js";

const REVIEWS = hasPage("review"); // whole games are searched by the lab on a machine alone
const KEPT = document.querySelector("[data-odds]") ? "hauteur-odds" : "hauteur-play", FOR_REVIEW = "hauteur-review-game";
const byId = (name) => document.getElementById(name);
const live = new Live("play");
const board = new Board(byId("board"), { onAction: (action) => chosen(action) });
const setup = new Setup(byId("new"), live, { onPreview: (position) => { preview = position; show(); clocks(); } });
const AT_ODDS = document.querySelector("[data-odds]") ? { odds: "queen d1", gives: "white", start: 518 } : null;
const list = new MoveList(byId("moves"), (plies) => look(plies));
let game = null; // as the session has shown it last
let shownAt = 0; // when that was, milliseconds
let hinted = null; // the last hint
let preview = null; // the start at odds that the form would begin with
let opening = 0; // games that are asked for
let viewed = null; // plies before the earlier position that is looked at; null: the newest one

// What a fresh session needs to go on with this game.
let kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
const linked = new URLSearchParams(location.search).get("game");
if (linked && linked !== kept?.game) kept = null;

function keep(order) {
  kept = order;
  sessionStorage.setItem(KEPT, JSON.stringify(order));
}

// Until the reply is there events are of the game before; those of this one come after it.
async function begin(order) {
  viewed = null;
  opening += 1;
  try {
    await live.ask("open", order);
    keep(order);
  } finally {
    opening -= 1;
  }
}

// A click on the board: a move, or in the form of a new game a piece that is given.
const chosen = ({ a, text }) => (looksAhead() ? attempt(() => setup.handicap({ toggle: text })) : play({ a }));
const looksAhead = () => preview !== null && byId("setup").open;
// The promise is false where the move was refused.
const play = async (move) => (await attempt(() => live.ask("play", { ply: game.position.ply, ...move }))) !== undefined;
const ask = (request, fields) => attempt(() => live.ask(request, fields));

function receive(shown) {
  if (opening) return;
  if (hinted && shown.actions.join() !== hinted.actions) hinted = null;
  if (viewed >= shown.actions.length) viewed = null;
  const plies = game?.spec === shown.spec ? game.actions.length : null;
  game = shown;
  if (plies !== null && game.actions.length > plies) {
    sound(game.ending !== null);
    if (!preview) byId("setup").open = false;
  }
  shownAt = performance.now();
  keep({ ...kept, actions: game.actions, left: game.left, paused: game.paused, flip: game.flip, ending: game.ending });
  byId("board").dataset.game = game.spec;
  for (const name of ["flip", "analyse", "download"]) byId(name).disabled = false;
  byId("search").textContent = "\u00a0";
  handicap();
  show();
  playAhead();
  wdlBar(byId("wdl"), game.wdl, shares());
  byId("after").hidden = !game.ending;
  byId("story").hidden = !REVIEWS || !game.ending || !game.handicap;
  if (!game.ending) byId("course").hidden = true;
  byId("review").hidden = !REVIEWS || !game.actions.length;
  clocks();
  forms();
}

// What the game began without; the settings themselves, by lc0's names, are for whoever points at the line.
function handicap() {
  const { handicap: given, odds, persons, side_names: names } = game, line = byId("odds");
  line.hidden = !given;
  if (!given) return;
  const giver = names[given.giver], own = persons.length === 1 && persons[0] === given.giver;
  const asked = persons.length === 1 && !own ? `${invitation(given.name)}. ` : "";
  line.textContent = `${asked}${own ? "You play" : `${giver} plays`} without ${given.name}.${odds ? ` ${short(given.giver)} searches with settings made for such games.` : ""}`;
  line.title = odds;
}

function show() {
  if (!game) return;
  const mine = !game.ending && viewed === null && game.persons.includes(game.position.to_move);
  if (looksAhead()) board.show(preview);
  else if (viewed === null) board.show(game.position);
  else attempt(() => showEarlier(viewed));
  board.enable(mine || looksAhead());
  board.planAhead(!looksAhead() && !game.ending && viewed === null && game.persons.length === 1 && !mine ? game.side_names[game.persons[0]] : null);
  if (hinted && viewed === null && !looksAhead()) pointOut(hinted);
  else byId("hints").replaceChildren();
  status();
  moves();
  buttons(mine);
}

// The move that was chosen while the other side was thinking, if it is one now.
function playAhead() {
  if (!game.ending && !game.persons.includes(game.position.to_move)) return;
  const planned = board.takePlanned();
  if (planned && !game.ending) board.act(planned);
}

async function showEarlier(plies) {
  const { position } = await live.ask("view", { plies });
  if (viewed === plies) board.show(position);
}

// Goes to the position after these many plies of the game.
function look(plies) {
  const there = Math.max(0, Math.min(plies, game.actions.length));
  viewed = there < game.actions.length ? there : null;
  show();
}

const here = () => viewed ?? game.actions.length;
const shares = () => [`${game.side_names[0]} wins`, "draw", `${game.side_names[1]} wins`];

const called = (side) => (game.persons.includes(side)
  ? (game.persons.length === 1 ? "You" : game.side_names[side]) : game.names[side]);

const short = (side) => called(side).split(/ visits=| \(|, /)[0]; // without its settings

function status() {
  const { ending, position, problem, paused, thinking, note } = game;
  const turn = position.to_move, name = called(turn);
  const played = game.last_mover === null || game.persons.includes(game.last_mover)
    ? "" : `${short(game.last_mover)} played ${game.moves.at(-1)}. `;
  let text = thinking ? `${short(turn)} thinks` : `${played}${name === "You" ? "Your turn" : `${name} to move`}`;
  if (paused) text = "Paused";
  if (problem) text = problem;
  if (ending) {
    const winner = ending.outcome === 0 ? null : ending.outcome > 0 ? 0 : 1;
    const who = winner === null ? "Draw" : `${short(winner)} ${called(winner) === "You" ? "win" : "wins"}`;
    text = `${who}: ${game.result}`;
  }
  if (looksAhead()) text = "Choose the handicap, then Start";
  if (viewed !== null) text = `${game.actions.length - viewed} ${game.actions.length - viewed === 1 ? "ply" : "plies"} back, ${viewed ? `after ${numbered(true)[viewed - 1]}` : "at the start"}`;
  byId("status").textContent = note && viewed === null ? `${text}. ${note}` : text;
  byId("status").classList.toggle("error", Boolean(problem));
}

const isPaired = () => game.forms.includes("pgn") || game.forms.includes("fen");

// The moves with their numbers; every: in chess those of the second player too.
function numbered(every = false) {
  const first = game.start_to_move;
  return game.moves.map((text, ply) => {
    if (!isPaired()) return `${ply + 1}. ${text}`;
    const number = Math.floor((ply + first) / 2) + 1;
    return (ply + first) % 2 === 0 ? `${number}. ${text}` : ply === 0 || every ? `${number}… ${text}` : text;
  });
}

function moves() {
  list.show(numbered(), here(), isPaired() ? game.start_to_move : null);
  byId("first").disabled = byId("previous").disabled = here() === 0;
  byId("next").disabled = byId("last").disabled = viewed === null;
}

function buttons(mine) {
  const { ending, persons, actions, paused, problem, thinking } = game;
  const person = persons.length === 2 ? game.position.to_move : persons[0];
  byId("back").disabled = !actions.length;
  byId("hint").disabled = !mine;
  byId("draw").disabled = byId("resign").disabled = Boolean(ending) || person === undefined;
  byId("draw").onclick = () => ask("draw", { side: person });
  byId("resign").onclick = () => resign(person);
  if (ending) byId("resign").textContent = "Resign";
  byId("pause").disabled = Boolean(ending);
  byId("pause").textContent = paused ? (problem ? "Try again" : "Go on") : "Pause";
  byId("now").disabled = !thinking;
  for (const input of byId("typed").elements) input.disabled = !mine;
}

// Asked again before it counts.
function resign(side) {
  const button = byId("resign");
  if (button.textContent === "Resign") {
    button.textContent = "Really resign";
    setTimeout(() => { button.textContent = "Resign"; }, 4000);
  } else ask("resign", { side });
}

const GLYPHS = { K: "♚", Q: "♛", R: "♜", B: "♝", N: "♞", P: "♟" };

function clocks() {
  if (!game) return;
  const sided = game.forms.includes("fen"); // pieces stand on their player's side
  const chosenSides = looksAhead() ? setup.names : null; // of the game that the form would begin
  const bottom = chosenSides ? Number(preview.flip) : sided ? Number(game.flip) : game.persons.length === 1 ? game.persons[0] : 0;
  for (const [place, side] of [["player-bottom", bottom], ["player-top", 1 - bottom]]) {
    const line = byId(place), turn = !game.ending && !chosenSides && game.position.to_move === side;
    line.classList.toggle("turn", turn);
    line.classList.toggle("takes", sided);
    line.dataset.side = side;
    line.querySelector(".name").textContent = [...new Set([chosenSides ? chosenSides[side] : called(side), game.side_names[side]])].join(" · ");
    line.querySelector(".taken").textContent = chosenSides ? "" : [...game.captured[1 - side]].map((sign) => GLYPHS[sign.toUpperCase()] ?? sign).join("");
    const left = game.left[side];
    const gone = game.running === side ? (performance.now() - shownAt) / 1000 : 0;
    line.querySelector(".clock").textContent = left === null ? "" : clockText(Math.max(0, left - gone));
  }
}

const clockText = (left) => (left < 10 ? left.toFixed(1)
  : `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`);

function forms() {
  const names = { pgn: "PGN", sgf: "SGF", fen: "FEN", moves: "Moves" };
  const place = byId("forms");
  if (place.dataset.forms === String(game.forms)) return;
  place.dataset.forms = String(game.forms);
  place.replaceChildren(...game.forms.map((form) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: names[form] });
    button.onclick = () => write(form);
    return button;
  }));
}

const write = (form) => attempt(async () => {
  const { text } = await live.ask("write", { form });
  byId("text").value = text;
  byId("text").dataset.form = form;
  return text;
});

function download() {
  const form = byId("text").dataset.form ?? game.forms[0];
  const text = byId("text").value;
  // A file of moves alone does not say of which game they are, and hauteur review asks for it.
  if (form === "moves") save({ name: "game.txt", text: `# ${game.spec}\n${text}` });
  else save({ name: `game.${form}`, text });
}

const load = () => attempt(async () => {
  const read = await live.ask("read", { text: byId("text").value, game: kept?.game ?? setup.game });
  notice("notes", read.notes.join("; "));
  await begin({ ...kept, game: read.game, fen: "", actions: read.actions, ending: read.ending, left: [null, null], paused: false });
  await setup.fill(kept);
});

async function start(change = {}) {
  await live.settled();
  const order = { ...setup.order(), ...change };
  byId("setup").open = false;
  preview = null;
  await begin(order);
  history.replaceState(null, "", location.pathname);
  scrollTo({ top: 0 });
  board.takeFocus();
}

function search(report) {
  if (!game?.thinking) return;
  wdlBar(byId("wdl"), report.wdl, shares());
  const visits = report.of ? `${whole(report.visits)} of ${whole(report.of)} visits` : `${whole(report.visits)} visits`;
  const time = report.left === null ? seconds(report.seconds) : `${seconds(report.left)} left`;
  byId("search").textContent = `${visits}  ${time}  ${report.line.join(" ")}`;
}

function hint({ ply, wdl, moves: found, error }) {
  if (error) { byId("hints").replaceChildren(); attempt(() => { throw new Error(error); }); return; }
  if (ply !== game.position.ply) return;
  hinted = { actions: game.actions.join(), moves: found };
  look(game.actions.length);
  if (wdl) wdlBar(byId("wdl"), wdl, shares());
}

function pointOut({ moves: found }) {
  board.marks(found.slice(0, 3).map(({ squares, share }, number) => ({ squares, size: share, kind: number ? "" : "best" })));
  byId("hints").replaceChildren(...found.map(({ text, share, score, line }) => Object.assign(document.createElement("li"), {
    textContent: `${text}: ${percent(share, 0)} of the visits, expected score ${percent(score, 0)}; then ${line.slice(1).join(" ") || "–"}`,
  })));
}

// The player whose mistakes are counted on, in words.
const expected = () => byId("new").elements.against.selectedOptions[0]?.textContent ?? "a human of 1500";

// How a game at odds went: where the handicap was won back, and by which mistakes of the other side.
function story({ won_back: back, giver, scores, traps, against }) {
  const at = (ply) => (ply === 0 ? "at the start" : `after ${numbered(true)[ply - 1]}`);
  const name = game.side_names[giver], place = byId("course");
  const list = document.createElement("ul");
  list.append(...traps.map(({ ply, reply, rise, trap }) => {
    const item = document.createElement("li"), show = document.createElement("button");
    Object.assign(show, { type: "button", className: "small", textContent: numbered(true)[ply] });
    show.onclick = () => look(ply + 1);
    const found = trap?.finds == null ? "" : ` ${trap.answer} was the answer; ${expected()} finds one ${percent(trap.finds, 0)} of the time.`;
    item.append(show, ` ${reply}? gave away ${percent(rise, 0)} of the expected score.${found}`);
    return item;
  }));
  const text = back === null ? `The handicap was not won back: ${name} ended at an expected score of ${percent(scores.at(-1), 0)}.`
    : `${name} won the handicap back ${at(back)}: from ${percent(scores[0], 0)} of expected score at the start to at least even from there on.`;
  place.replaceChildren(Object.assign(document.createElement("p"), { textContent: text }), list);
  if (traps.length && !against) {
    const textContent = "With the net of a human player (hauteur net get maia-1500) this also says how often people find the answer.";
    place.append(Object.assign(document.createElement("p"), { textContent }));
  }
  place.hidden = false;
}

// The game of the page's address, once: a reload goes on with it.
async function openLink() {
  let order;
  try {
    order = orderOf(location.search);
  } finally {
    if (order !== null) history.replaceState(null, "", location.pathname);
  }
  if (!order) return false;
  await setup.fill(order);
  await begin(order);
  byId("setup").open = false;
  document.title = challenge(order) || document.title;
  return true;
}

// The address of the game that the form would begin, to copy.
const makeLink = () => attempt(async () => {
  const order = setup.order(), text = linkOf(order), words = challenge(order);
  byId("link").value = words ? `${words}: ${text}` : text;
  byId("link").parentElement.hidden = false;
  byId("link").select();
  await navigator.clipboard?.writeText(byId("link").value).catch(() => {}); // not allowed: it is there to copy
});

byId("setup").open = !kept?.actions?.length;
live.on("connected", () => attempt(async () => {
  try {
    if (await openLink()) return;
    await setup.fill(kept ?? { game: linked ?? "chess", odds: AT_ODDS, ...(AT_ODDS ? { sides: [{ player: "", visits: 400 }, { player: null }] } : {}) });
    await begin(kept ?? { ...setup.order(), paused: Boolean(AT_ODDS) });
  } catch (error) {
    if (live.ready) { // the server knows this game or player no more
      sessionStorage.removeItem(KEPT);
      kept = null;
      await setup.fill({ game: "chess" });
      await begin(setup.order());
    }
    throw error;
  }
}));
live.on("game", receive);
live.on("search", search);
live.on("hint", hint);
live.on("story", story);
live.on("failed", ({ text }) => notice("page", text, "error"));

byId("first").onclick = () => look(0);
byId("previous").onclick = () => look(here() - 1);
byId("next").onclick = () => look(here() + 1);
byId("last").onclick = () => look(game.actions.length);
byId("back").onclick = () => ask("take_back");
byId("hint").onclick = async () => {
  byId("hints").replaceChildren(Object.assign(document.createElement("li"), { textContent: "Looking for a hint ..." }));
  if ((await ask("hint")) === undefined) byId("hints").replaceChildren();
};
byId("flip").onclick = () => ask("flip", { flip: !game.flip });
byId("pause").onclick = () => ask(game.paused ? "go_on" : "pause");
byId("now").onclick = () => ask("move_now");
byId("story").onclick = () => {
  byId("course").textContent = "Every position of the game is searched ...";
  byId("course").hidden = false;
  ask("story", { against: kept.sides.find((side) => side.against)?.against ?? "" });
};
byId("setup").ontoggle = () => { show(); clocks(); };
byId("again").onclick = () => attempt(() => start());
byId("swap").onclick = () => attempt(async () => { setup.swap(); await start(); });
byId("share").onclick = makeLink;
byId("new").onsubmit = (event) => { event.preventDefault(); attempt(() => start()); };
byId("load").onclick = load;
byId("download").onclick = download;
byId("file").onchange = () => attempt(async () => {
  const [file] = byId("file").files;
  if (!file) return;
  const most = byId("text").maxLength;
  if (file.size > most) throw new Error(`${file.name} has ${whole(file.size)} bytes, allowed are ${whole(most)}`);
  byId("text").value = await textOf(file);
  byId("file").value = "";
});
byId("review").onclick = async () => {
  const form = game.forms.find((name) => name === "pgn" || name === "sgf") ?? "moves";
  const text = await write(form);
  if (text === undefined) return;
  sessionStorage.setItem(FOR_REVIEW, JSON.stringify({ form, text, game: game.spec }));
  location.assign(pageAt("review"));
};
byId("analyse").onclick = () => attempt(async () => {
  const { text } = await live.ask("write", { form: "moves" });
  location.assign(`${pageAt("analyse")}?${new URLSearchParams({ game: game.spec, moves: text.trim() })}`);
});
byId("typed").onsubmit = (event) => {
  event.preventDefault();
  const { text } = event.target.elements;
  attempt(async () => {
    await live.ask("play", { ply: game.position.ply, text: text.value.trim() });
    text.value = "";
  });
};

bindKeys({
  type: () => { byId("setup").open = false; byId("typed").elements.text.focus(); },
  choose: () => { byId("setup").open = true; byId("new").elements.game.focus(); },
});

setInterval(() => { if (game && game.running !== null && !document.hidden) clocks(); }, 100);
