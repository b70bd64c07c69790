// The result of a comparison as the page Explain shows it: the figures of `hauteur explain --json`, nothing computed here.

import { attempt } from "./live.js";
import { percent, signed, whole } from "./numbers.js";
import { methodAt } from "./pages.js";

const at = (id) => document.getElementById(id);
const FIRST_MOVES = 12, LINE_MOVES = 4;

export function showResult(found, children) {
  at("result").hidden = false;
  at("headline").textContent = `${found.same_best ? "Both choose the same move" : "They choose different moves"}; `
    + `${whole(found.visits_moved)} of ${whole(found.visits)} visits went to other moves`;
  showSides(found.sides);
  showMoves(found.moves);
  showLines(found.lines);
  at("rules").replaceChildren(...found.rules.map(ruleCard));
  if (!found.rules.length) at("rules").textContent = "Both searches are as by default: there is no rule to measure.";
  showTrees(found.tree);
  at("tree").tBodies[0].replaceChildren();
  attempt(() => grow(at("tree").tBodies[0], [], null, children), "tree");
}

function showSides({ a, b }) {
  const wdl = ({ wdl: shares }) => shares.map((share) => Math.round(100 * share)).join(" / ");
  const rows = [
    ["settings", (side) => side.settings || "as by default"], ["net", (side) => side.net], ["second net", (side) => side.large_net],
    ["best move", (side) => side.best], ["Q", (side) => signed(side.q)], ["W / D / L in %", wdl],
    ["visits", (side) => whole(side.visits)], ["evaluations", (side) => whole(side.evaluations)],
    ["mean depth, deepest", (side) => `${side.depth.toFixed(1)}, ${side.seldepth}`], ["tree digest", (side) => side.digest],
    ["computed by", (side) => side.evaluator],
  ];
  const shown = rows.filter(([name]) => name !== "second net" || a.large_net || b.large_net);
  at("sides").tBodies[0].replaceChildren(...shown.map(([name, text]) => row(name, [text(a), text(b)])));
}

function showMoves(moves) {
  const share = (wdl) => (wdl ? wdl.map((part) => Math.round(100 * part)).join(" / ") : "–");
  const line = ({ visits, line: texts }) => (visits ? texts.slice(1, 1 + LINE_MOVES).join(" ") : "");
  const rows = moves.map(({ move, a, b, shift }) => {
    const made = row(move, [whole(a.visits), whole(b.visits), shift ? signedWhole(shift) : "", percent(a.share), percent(b.share),
      percent(a.prior), percent(b.prior), signed(a.q), signed(b.q), share(a.wdl), share(b.wdl), line(a), line(b)]);
    for (const cell of [...made.cells].slice(-2)) cell.className = "text";
    mark(made.cells[3], shift);
    return made;
  });
  const all = at("all");
  rows.slice(FIRST_MOVES).forEach((made) => { made.hidden = true; });
  at("moves").tBodies[0].replaceChildren(...rows);
  all.hidden = rows.length <= FIRST_MOVES;
  all.textContent = `All ${rows.length} moves`;
  all.onclick = () => { all.hidden = true; rows.forEach((made) => { made.hidden = false; }); };
}

function showLines({ a, b, parts_at: ply }) {
  const where = ply === null ? "The best lines are the same as far as both go." : `The best lines part at ply ${ply + 1}.`;
  at("lines").textContent = `${where}\nA: ${a.join(" ")}\nB: ${b.join(" ")}`;
}

// What a rule did: what its counters and the tree show, and what one search without it gave.
function ruleCard({ side, name, settings, page, facts, ablation, frozen = [] }) {
  const card = make("article", { className: "panel" });
  const title = make("h3", {}, card);
  if (page) make("a", { href: methodAt(page), textContent: name.replaceAll("_", " ") }, title);
  else title.textContent = name.replaceAll("_", " ");
  title.append(` in ${side.toUpperCase()}`);
  make("p", { className: "set", textContent: settings }, card);
  if (facts.length) {
    make("p", { className: "how", textContent: "Counted in its search and tree" }, card);
    list(card, facts.map((fact) => [fact.name, figure(fact.value)]));
  }
  for (const place of frozen) {
    const replies = place.replies.filter(({ weight }) => weight)
      .map(({ move, weight, visits }) => `${move} drawn ${Math.round(100 * weight)} %, N ${whole(visits)}`).join("; ");
    make("p", { className: "frozen", textContent: `frozen after ${place.moves.join(" ")}: ${replies}` }, card);
  }
  make("p", { className: "how", textContent: "Against the same search without it" }, card);
  list(card, [
    ["visits at other moves", `${whole(ablation.visits_moved)} of ${whole(ablation.visits)}`],
    ["best move without, with", `${ablation.best_without}, ${ablation.best}`],
    ["Q without, with", `${signed(ablation.q_without)}, ${signed(ablation.q)}`],
    ["evaluations without, with", `${whole(ablation.evaluations_without)}, ${whole(ablation.evaluations)}`],
    ["nodes in both trees", whole(ablation.nodes_in_both)],
    ["with another Q", whole(ablation.values_changed)],
    ["mean, greatest change of Q", `${figure(ablation.mean_change)}, ${figure(ablation.greatest_change)}`],
    ["tree", ablation.tree_changed ? "another one" : "the same"],
  ]);
  return card;
}

function showTrees({ equal, complete, nodes, same_visits: same, only, shifts, first }) {
  const read = complete ? "" : " most visited";
  at("counts").textContent = equal ? `The trees are equal: ${whole(nodes.a)} nodes.`
    : `${whole(nodes.a)}${read} nodes in A, ${whole(nodes.b)} in B; ${whole(nodes.both)} in both, ${whole(same)} of them with the same visits; `
      + `${whole(only.a)} in A alone, ${whole(only.b)} in B alone. First line that differs: ${first.moves.join(" ") || "the root"}.`;
  const line = ({ moves }) => moves.join(" ") || "the root";
  at("shifts").tBodies[0].replaceChildren(...shifts.map((place) => row(line(place),
    [whole(place.a.visits), whole(place.b.visits), signed(place.a.q), signed(place.b.q)])));
}

// Rows of the moves behind a line, below the row of the line itself.
async function grow(body, line, parent, children) {
  const { children: found } = await children(line);
  const rows = found.map((node) => {
    const made = row("", [count(node.a), count(node.b), shiftText(node), value(node.a), value(node.b)]);
    mark(made.cells[3], shiftOf(node));
    const box = make("span", { className: "tree-move" }, made.cells[0]);
    box.style.paddingInlineStart = `${0.9 * line.length}rem`;
    if (node.more) toggle(box, made, node, (own) => grow(body, node.line, own, children));
    else make("span", { className: "leaf" }, box);
    make("span", { textContent: node.move }, box);
    const words = ["a", "b"].flatMap((name) => tags(node[name]).map((tag) => `${tag} ${name.toUpperCase()}`));
    if (words.length) make("span", { className: "tag", textContent: words.join(", ") }, box);
    made.dataset.line = node.line.join(" ");
    return made;
  });
  if (parent) parent.after(...rows); else body.append(...rows);
}

function toggle(box, made, node, opened) {
  const button = make("button", { type: "button", className: "small", textContent: "+", ariaExpanded: "false" }, box);
  button.setAttribute("aria-label", `replies to ${node.move}`);
  button.onclick = async () => {
    const open = button.ariaExpanded === "true";
    button.ariaExpanded = String(!open);
    button.textContent = open ? "+" : "−";
    const below = `${made.dataset.line} `;
    if (open) for (const other of [...made.parentElement.rows]) if (other.dataset.line.startsWith(below)) other.remove();
    if (!open) await attempt(() => opened(made), "tree");
  };
}

function tags(figures) {
  if (!figures) return [];
  const { frozen, weight, proven } = figures;
  return [frozen ? "replies frozen" : "", weight === null ? "" : `drawn ${Math.round(100 * weight)} %`,
    proven === null ? "" : `proven ${{ 1: "win", 0: "draw", [-1]: "loss" }[proven]}`].filter(Boolean);
}

const count = (figures) => (figures ? whole(figures.visits) : "");
const value = (figures) => (figures ? signed(figures.q) : "");
const shiftOf = ({ a, b }) => (b?.visits ?? 0) - (a?.visits ?? 0);
const signedWhole = (number) => `${number < 0 ? "−" : "+"}${whole(Math.abs(number))}`;
const shiftText = (node) => (shiftOf(node) ? signedWhole(shiftOf(node)) : "");
const figure = (number) => (typeof number === "string" ? number : Number.isInteger(number) ? whole(number) : number.toFixed(3));

function mark(cell, shift) {
  cell.className = shift > 0 ? "more" : shift < 0 ? "less" : "";
}

function row(name, texts) {
  const made = document.createElement("tr");
  make("th", { scope: "row", textContent: name }, made);
  for (const text of texts) make("td", { textContent: text ?? "" }, made);
  return made;
}

function list(parent, pairs) {
  const made = make("dl", {}, parent);
  for (const [name, text] of pairs) {
    make("dt", { textContent: name }, made);
    make("dd", { textContent: text }, made);
  }
}

function make(name, properties, parent) {
  const element = Object.assign(document.createElement(name), properties);
  parent?.append(element);
  return element;
}
