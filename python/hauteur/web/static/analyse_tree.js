// A search tree of any size: nodes are asked for when they are opened. An ARIA tree with all keys of one.

import { percent, signed, whole } from "./numbers.js";

const MOST_OPEN = 100, MOST_FOLLOWED = 20;
const key = (line) => line.join(" ");

export class TreeView {
  // element: the tree. read(lines): promise of these nodes with their moves. onSelect(row): a node was chosen.
  constructor(element, { read, onSelect = () => {} }) {
    Object.assign(this, { element, read, onSelect });
    element.onclick = (event) => this.click(event);
    element.onkeydown = (event) => this.key(event);
    this.clear();
  }

  clear() {
    this.root = null;
    this.known = new Map();
    this.open = new Set([""]);
    this.all = new Set();
    this.selected = "";
    this.element.replaceChildren();
    this.items = [];
  }

  // root: the first nodes, nested.
  show(root) {
    this.learn(root);
    this.root = root;
    this.draw();
  }

  // Keeps a node; what it has learnt of its moves before stays where the new data has nothing about them.
  learn(row) {
    const before = this.known.get(key(row.line));
    if (!row.children && before?.children) Object.assign(row, { children: before.children, left_out: before.left_out });
    this.known.set(key(row.line), row);
    for (const child of row.children ?? []) this.learn(child);
  }

  // Reads the open nodes again, those on top first.
  async refresh(most = MOST_OPEN) {
    const lines = this.items.filter(({ row, rest }) => !rest && row.children && this.open.has(key(row.line))).map(({ row }) => row.line);
    if (!this.root) return;
    await this.learnAll(lines.length ? lines.slice(0, most) : [[]]);
  }

  async learnAll(lines) {
    const { nodes } = await this.read(lines);
    for (const node of nodes) this.put(node);
    this.draw();
  }

  follow() { return this.refresh(MOST_FOLLOWED); }

  put(node) {
    const old = this.known.get(key(node.line));
    this.learn(node);
    if (!node.line.length) { this.root = node; return; }
    const parent = this.known.get(key(node.line.slice(0, -1)));
    const place = parent?.children?.indexOf(old) ?? -1;
    if (place >= 0) parent.children[place] = node;
  }

  async toggle(row, open) {
    const name = key(row.line);
    if (!open) { this.open.delete(name); this.draw(); return; }
    if (!row.replies) return;
    this.open.add(name);
    if (row.children) this.draw();
    await this.learnAll([row.line]);
  }

  // Shows the moves of a node that were left out: those without a visit, and those that the first view did not have.
  async rest(row) {
    this.all.add(key(row.line));
    await this.learnAll([row.line]);
  }

  // Rows as they are shown, from the top.
  rows() {
    const found = [];
    const walk = (row, level, position, size) => {
      found.push({ row, level, position, size });
      if (!this.open.has(key(row.line)) || !row.children) return;
      const all = this.all.has(key(row.line));
      const shown = row.children.filter(({ visits }) => visits || all);
      const left = row.children.length - shown.length + (row.left_out ?? 0);
      shown.forEach((child, number) => walk(child, level + 1, number + 1, shown.length + (left ? 1 : 0)));
      if (left) found.push({ row, rest: left, level: level + 1, position: shown.length + 1, size: shown.length + 1 });
    };
    if (this.root) walk(this.root, 1, 1, 1);
    return found;
  }

  draw() {
    const focused = this.element.contains(document.activeElement);
    this.items = this.rows();
    while (this.element.children.length > this.items.length) this.element.lastChild.remove();
    this.items.forEach((item, number) => this.fill(this.element.children[number] ?? newRow(this.element), item));
    const current = this.items.findIndex((item) => this.name(item) === this.selected);
    const at = Math.max(0, current);
    [...this.element.children].forEach((element, number) => {
      element.tabIndex = number === at ? 0 : -1;
      element.setAttribute("aria-selected", number === current);
    });
    if (focused) this.element.children[at]?.focus({ preventScroll: true });
  }

  name({ row, rest }) { return rest ? `${key(row.line)}…` : key(row.line); }

  fill(element, item) {
    const { row, rest, level, position, size } = item;
    const state = { "aria-level": level, "aria-posinset": position, "aria-setsize": size };
    for (const [name, value] of Object.entries(state)) element.setAttribute(name, value);
    const opens = !rest && row.replies > 0, open = opens && this.open.has(key(row.line));
    if (opens) element.setAttribute("aria-expanded", open);
    else element.removeAttribute("aria-expanded");
    element.className = `tree-row${rest ? " rest" : row.visits ? "" : " unvisited"}`;
    const [name, visits, bar, prior, q, value, wdl, badges] = element.children;
    name.style.paddingLeft = `${(level - 1) * 16}px`;
    write(name.firstChild, opens ? (open ? "▾" : "▸") : "");
    write(name.lastChild, rest ? `… ${whole(rest)} more moves` : row.move || "root");
    write(visits, rest ? "" : whole(row.visits));
    bar.firstChild.style.width = rest || row.share === null ? "0" : `${100 * row.share}%`;
    write(bar.lastChild, rest || row.share === null ? "" : percent(row.share));
    write(prior, rest || !row.move ? "" : percent(row.prior));
    write(q, rest ? "" : signed(row.q));
    write(value, rest ? "" : signed(row.value));
    write(wdl, rest || !row.wdl ? "" : row.wdl.map((share) => Math.round(100 * share)).join(" / "));
    const marks = rest ? [] : marksOf(row);
    if (badges.textContent !== marks.map(([, text]) => text).join("")) {
      badges.replaceChildren(...marks.map(([kind, text]) => Object.assign(document.createElement("span"), { className: `badge ${kind}`, textContent: text })));
    }
    element.setAttribute("aria-label", rest ? `${rest} more moves`
      : [row.move || "root", `${whole(row.visits)} visits`, row.q === null ? "" : `Q ${signed(row.q)}`, ...marks.map(([, text]) => text)].filter(Boolean).join(", "));
  }

  async act(item, open) {
    if (item.rest) await this.rest(item.row);
    else await this.toggle(item.row, open);
  }

  select(item, tell = true) {
    this.selected = this.name(item);
    this.draw();
    const element = this.element.children[this.items.findIndex((other) => this.name(other) === this.selected)];
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
    if (tell && !item.rest) this.onSelect(item.row);
  }

  click(event) {
    const number = [...this.element.children].indexOf(event.target.closest(".tree-row"));
    const item = this.items[number];
    if (!item) return;
    const twist = event.target.classList.contains("twist");
    this.select(item, !twist);
    if (twist || item.rest) this.act(item, !this.open.has(key(item.row.line)));
  }

  key(event) {
    const at = this.items.findIndex((item) => this.name(item) === this.selected), item = this.items[Math.max(0, at)];
    if (!item || event.ctrlKey || event.altKey || event.metaKey) return;
    const opens = !item.rest && item.row.replies > 0, open = opens && this.open.has(key(item.row.line));
    const to = (number) => this.select(this.items[Math.min(Math.max(number, 0), this.items.length - 1)], false);
    const parent = () => this.items.findIndex(({ row, rest }) => !rest && key(row.line) === key(item.rest ? item.row.line : item.row.line.slice(0, -1)));
    const acts = {
      ArrowDown: () => to(at + 1), ArrowUp: () => to(at - 1), Home: () => to(0), End: () => to(this.items.length - 1),
      PageDown: () => to(at + 15), PageUp: () => to(at - 15),
      ArrowRight: () => (item.rest || (opens && !open) ? this.act(item, true) : opens && to(at + 1)),
      ArrowLeft: () => (open ? this.act(item, false) : to(parent())),
      Enter: () => (item.rest ? this.act(item) : this.select(item)), " ": () => (item.rest ? this.act(item) : this.select(item)),
      Escape: () => this.select(this.items[0]),
    };
    if (!acts[event.key]) return;
    acts[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }
}

// What is special about a node: [kind, text].
export function marksOf(row) {
  const marks = [];
  if (row.terminal) marks.push(["", "end of the game"]);
  if (row.proven !== null) {
    const plies = row.plies ? ` in ${row.plies}` : "";
    marks.push(["proven", `proven ${["loss", "draw", "win"][row.proven + 1]}${plies}`]);
  }
  if (row.frozen) marks.push(["frozen", "frozen"]);
  if (row.drawn !== null) marks.push(["frozen", row.drawn ? `sampled ${percent(row.drawn, 0)}` : "never sampled"]);
  if (row.large_visits) marks.push(["net", `second net ${whole(row.large_visits)}`]);
  if (row.node_visits > row.visits) marks.push(["shared", `by all moves ${whole(row.node_visits)}`]);
  return marks;
}

function newRow(parent) {
  const row = document.createElement("div");
  row.setAttribute("role", "treeitem");
  for (const name of ["name", "", "bar", "", "", "", "", "badges"]) row.append(Object.assign(document.createElement("span"), { className: name }));
  row.children[0].append(Object.assign(document.createElement("span"), { className: "twist" }), document.createElement("span"));
  row.children[2].append(document.createElement("i"), document.createElement("b"));
  for (const cell of row.children) cell.setAttribute("aria-hidden", "true");
  parent.append(row);
  return row;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
