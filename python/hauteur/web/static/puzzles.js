// The page Puzzles: set and number are in the address, what was solved in this browser; the session decides on moves.

import { Board } from "./board.js";
import { Live, attempt, notice } from "./live.js";
import { whole } from "./numbers.js";
import { pageAt } from "./pages.js";

const find = (name) => document.getElementById(name);
const source = find("source"), KEPT = "hauteur-solved-puzzles", NONE = {}, REPLY_AFTER = 450;
const live = new Live("puzzles");
const board = new Board(find("board"), { label: "puzzle", onAction: async (action) => (await attempt(() => move(action))) ?? false });
const state = { set: "", file: null, number: 0, count: 0, flip: false, id: "" };
let solved = kept();

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? NONE;
  } catch {
    return NONE; // it was edited
  }
}

async function open() {
  const reply = await live.ask("open", state.file ?? { set: state.set });
  state.count = reply.count;
  state.number = Math.max(0, Math.min(state.number, state.count - 1));
  notice("most", reply.count === reply.most ? `The first ${whole(reply.most)} puzzles of the file are taken.` : "");
  await puzzle(state.number);
}

async function puzzle(number) {
  const reply = await live.ask("puzzle", { number });
  const known = solved[reply.name] !== undefined;
  if (known) await live.ask("puzzle", { number, counted: false });
  Object.assign(state, { number, id: reply.name, flip: reply.flip });
  if (!state.file) history.replaceState(null, "", `?${new URLSearchParams({ set: state.set, n: number + 1 })}`);
  course = [reply.position];
  [turn, solvable] = [0, true];
  walk(0);
  find("title").textContent = `${number + 1} of ${whole(state.count)}`;
  find("rating").textContent = reply.rating === null ? "–" : whole(reply.rating);
  find("facts").textContent = known ? "You have tried this one before: it does not count again." : "";
  status(reply.avoid ? "Find a move that is not the mistake." : "Find the best move.");
  find("back").disabled = number === 0;
  find("next").disabled = number + 1 >= state.count;
  score();
}

// The positions of the puzzle so far, and that on the board; moves are made at the one whose turn it is alone.
let course = [], at = 0, turn = 0, solvable = false;

function walk(to) {
  at = Math.max(0, Math.min(course.length - 1, to));
  board.show(course[at]);
  board.enable(solvable && at === turn);
  find("earliest").disabled = find("earlier").disabled = at === 0;
  find("later").disabled = find("latest").disabled = at === course.length - 1;
}

function status(text, kind = "") {
  find("status").textContent = text;
  find("status").className = `puzzle-status ${kind}`;
}

// The promise is false where the move was wrong: the board goes back.
async function move(action) {
  const { id } = state, number = turn;
  solvable = false;
  const reply = await live.ask("move", { a: action.a }).catch((error) => { solvable = true; throw error; });
  take(reply);
  if (reply.answer === "wrong") {
    solvable = true;
    status(`${reply.text} is not it: try again.`, "wrong");
    setTimeout(() => { if (state.id === id && at === number) board.marks([{ squares: reply.squares, size: 0.7, kind: "bad" }]); });
    return false;
  }
  course = [...course.slice(0, number + 1), ...reply.positions];
  walk(number + 1);
  if (reply.answer === "solved") {
    status(`${reply.text} is right: solved.`, "right");
    describe(reply);
    return true;
  }
  status(`${reply.text} is right: go on.`, "right");
  await new Promise((resolve) => { setTimeout(resolve, REPLY_AFTER); });
  if (state.id !== id) return true;
  [turn, solvable] = [number + 2, true];
  walk(turn);
  return true;
}

// Keeps whether the puzzle was solved, where the attempt is decided.
function take(reply) {
  if (reply.clean === undefined) return;
  solved = { ...solved, [state.id]: Number(reply.clean) };
  localStorage.setItem(KEPT, JSON.stringify(solved));
  score();
}

function score() {
  const tried = Object.values(solved);
  find("score").textContent = `${whole(tried.filter(Boolean).length)} of ${whole(tried.length)}`;
}

function describe({ themes, source: from, visits }) {
  const needed = visits === null ? "" : `the net that it was mined by needs ${whole(visits)} visits`;
  find("facts").textContent = [themes.join(", "), needed, from].filter(Boolean).join(" · ");
}

async function hint() {
  const reply = await live.ask("hint");
  take(reply);
  walk(turn);
  board.marks(reply.squares.map((squares) => ({ squares, size: 0.7, kind: "best" })));
  status("It begins here.");
}

async function solution() {
  const reply = await live.ask("solution");
  take(reply);
  describe(reply);
  course = reply.positions;
  walk(solvable ? turn : at);
  board.marks(reply.squares.map((squares) => ({ squares, size: 0.7, kind: "best" })));
  status(`The solution: ${reply.line.join(" ")}`);
}

// The page Analyse at this position.
async function analyse() {
  const reply = await live.ask("place");
  take(reply);
  location.assign(`${pageAt("analyse")}?${new URLSearchParams({ game: reply.game, moves: reply.moves.join(" ") })}`);
}

async function go(number) {
  if (number >= 0 && number < state.count) await puzzle(number);
}

live.on("connected", () => attempt(open));

find("earliest").onclick = () => walk(0);
find("earlier").onclick = () => walk(at - 1);
find("later").onclick = () => walk(at + 1);
find("latest").onclick = () => walk(course.length - 1);
find("next").onclick = () => attempt(() => go(state.number + 1));
find("back").onclick = () => attempt(() => go(state.number - 1));
find("again").onclick = () => attempt(() => go(state.number));
find("hint").onclick = () => attempt(hint);
find("solution").onclick = () => attempt(solution);
find("analyse").onclick = () => attempt(analyse);
find("flip").onclick = () => attempt(async () => {
  state.flip = !state.flip;
  course = (await live.ask("view", { flip: state.flip })).positions;
  walk(at);
});
find("forget").onclick = () => { solved = NONE; localStorage.removeItem(KEPT); score(); };
source.set.onchange = () => {
  Object.assign(state, { set: source.set.value, file: null, number: 0 });
  source.file.value = "";
  attempt(open);
};
source.file.onchange = () => attempt(async () => {
  const [file] = source.file.files, most = Number(source.file.dataset.most);
  if (!file) return;
  if (file.size > most) throw new Error(`${file.name} has ${whole(file.size)} bytes, allowed are ${whole(most)}`);
  const suffix = [".csv", ".json"].find((end) => file.name.toLowerCase().endsWith(end)) ?? ".epd";
  Object.assign(state, { file: { text: await file.text(), suffix }, number: 0 });
  await open();
});

const query = new URLSearchParams(location.search);
if ([...source.set.options].some(({ value }) => value === query.get("set"))) source.set.value = query.get("set");
state.set = source.set.value;
state.number = Math.max(0, (Number.parseInt(query.get("n"), 10) || 1) - 1);
