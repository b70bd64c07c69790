// The moves of a game with their variations, comments and glyphs: kept in this window, as text with buttons.

const GLYPHS = { 1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 7: "□", 10: "=", 13: "∞", 14: "⩲", 15: "⩱", 16: "±", 17: "∓", 18: "+−",
  19: "−+", 22: "⨀", 23: "⨀", 32: "⟳", 33: "⟳", 36: "→", 37: "→", 40: "↑", 41: "↑", 44: "=∞", 45: "=∞", 132: "⇆", 133: "⇆", 138: "⊕",
  139: "⊕", 140: "∆", 146: "N" };
const SHOWN = ["White", "WhiteElo", "Black", "BlackElo", "Event", "Site", "Date", "Result"];

const newNode = (parent, text) => ({ parent, text, children: [], comment: "", before: "", glyphs: [], chosen: null });

export class GameTree {
  constructor() {
    this.root = newNode(null, "");
    this.headers = {};
  }

  // tree: {headers, comment, nodes: [{parent, move, before, comment, glyphs}]}; parent: a number before the node's own, -1: the start.
  static of({ headers, comment, nodes }) {
    const tree = new GameTree(), made = [];
    tree.headers = headers;
    tree.root.comment = comment;
    for (const { parent, move, ...notes } of nodes) {
      const above = parent < 0 ? tree.root : made[parent];
      made.push(Object.assign(newNode(above, move), notes));
      above.children.push(made.at(-1));
    }
    return tree;
  }

  // What `of` takes.
  get content() {
    const nodes = [], waiting = this.root.children.map((node) => [node, -1]).reverse();
    while (waiting.length) {
      const [{ children, text: move, before, comment, glyphs }, parent] = waiting.pop(), number = nodes.length;
      nodes.push({ parent, move, before, comment, glyphs });
      for (const child of [...children].reverse()) waiting.push([child, number]);
    }
    return { headers: this.headers, comment: this.root.comment, nodes };
  }

  // The node behind these moves, null: there is none.
  find(moves) {
    let node = this.root;
    for (const move of moves) node = node?.children.find(({ text }) => text === move) ?? null;
    return node;
  }

  // The same; moves that are not there yet begin a variation. Whoever goes on from there takes these moves.
  enter(moves) {
    let node = this.root;
    for (const move of moves) {
      let next = node.children.find(({ text }) => text === move);
      if (!next) {
        next = newNode(node, move);
        node.children.push(next);
      }
      node.chosen = next;
      node = next;
    }
    return node;
  }
}

export function movesTo(node) {
  const moves = [];
  for (let at = node; at.parent; at = at.parent) moves.unshift(at.text);
  return moves;
}

export const nextOf = (node) => node?.chosen ?? node?.children[0] ?? null;

export class GameTreeView {
  // element: gets the moves. onChoose(node): the position behind it was chosen.
  constructor(element, onChoose) {
    this.element = element;
    this.buttons = new Map();
    element.onclick = ({ target }) => {
      const node = this.nodes?.get(target.closest("button"));
      if (node) onChoose(node);
    };
  }

  // first: ply of the first move, counted from White's first one; null: plies are numbered.
  show(tree, first) {
    this.buttons = new Map();
    this.nodes = new Map();
    this.first = first;
    this.element.replaceChildren();
    this.heading(tree.headers);
    this.comment(this.element, tree.root.comment);
    if (tree.root.children.length) this.line(tree.root.children[0], this.element, 0);
  }

  heading(headers) {
    const told = SHOWN.map((name) => headers[name]).filter((value) => value && !/^[?.]+$/.test(value));
    if (!told.length) return;
    const { White, WhiteElo, Black, BlackElo, Event, Site, Date: day, Result } = headers;
    const player = (name, elo) => [name || "?", elo && elo !== "?" ? `(${elo})` : ""].filter(Boolean).join(" ");
    const known = [Event, Site, day, Result].filter((value) => value && !/^[?.]+$/.test(value));
    this.write(this.element, "heading", [White || Black ? `${player(White, WhiteElo)} – ${player(Black, BlackElo)}` : "", ...known].filter(Boolean).join(" · "));
  }

  // A line of moves to its end; what its moves might have been instead stands behind them, a level deeper.
  line(start, box, ply) {
    let numbered = true;
    for (let node = start, at = ply; node; node = node.children[0], at += 1) {
      const interrupted = this.comment(box, node.before);
      this.move(node, box, at, numbered || interrupted);
      const commented = this.comment(box, node.comment);
      const others = node.parent.children[0] === node ? node.parent.children.slice(1) : [];
      for (const other of others) this.line(other, box.appendChild(Object.assign(document.createElement("div"), { className: "variation" })), at);
      numbered = commented || others.length > 0;
    }
  }

  // A comment as people read it, and whether anything is left without commands for programs, as [%clk 0:03:00].
  comment(box, text) {
    const read = text.replace(/\[%[^\]]*\]/g, " ").replace(/\s+/g, " ").trim();
    if (read) this.write(box, "comment", read);
    return read !== "";
  }

  move(node, box, at, numbered) {
    const button = document.createElement("button");
    const number = this.number(at, numbered);
    if (number) this.write(box, "number", number);
    button.type = "button";
    button.textContent = node.text + node.glyphs.map((glyph) => GLYPHS[glyph] ?? `$${glyph}`).join("");
    box.append(button);
    this.buttons.set(node, button);
    this.nodes.set(button, node);
  }

  number(at, numbered) {
    if (this.first === null) return `${at + 1}.`;
    const ply = this.first + at, number = Math.floor(ply / 2) + 1;
    return ply % 2 === 0 ? `${number}.` : numbered ? `${number}…` : "";
  }

  write(box, kind, text) {
    box.append(Object.assign(document.createElement("span"), { className: kind, textContent: text }));
  }

  // Marks the move whose position is on the board.
  mark(node) {
    const button = this.buttons.get(node), box = this.element;
    box.querySelector("[aria-current]")?.removeAttribute("aria-current");
    button?.setAttribute("aria-current", "true");
    box.scrollTop = button ? button.offsetTop - box.clientHeight / 2 : 0;
  }
}
