// A board of any game: the server's drawing, and above it squares that can be clicked, dragged and reached by keys.
// It knows squares and legal actions alone (position_view of the server); actions without squares are buttons.

import "./look.js";

const SVG = "http://www.w3.org/2000/svg";
const GLYPHS = { king: "♚", queen: "♛", rook: "♜", bishop: "♝", knight: "♞", pawn: "♟" };
const LETTERS = { king: "K", queen: "Q", rook: "R", bishop: "B", knight: "N", pawn: "P" };
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Who points goes on pointing until Tab, Enter or space is pressed: a square that a script focuses says nothing of that.
addEventListener("pointerdown", () => document.documentElement.classList.add("by-pointer"), true);
addEventListener("keydown", ({ key }) => {
  if (["Tab", "Enter", " "].includes(key)) document.documentElement.classList.remove("by-pointer");
}, true);

export function svg(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

export class Board {
  // element: gets the board. onAction(action): a legal action was chosen, {a, text, squares}.
  // onAhead(move): {from, to} was chosen before it was one's turn, null: it was taken back.
  constructor(element, { onAction = () => {}, onAhead = () => {}, label = "board" } = {}) {
    this.onAction = onAction;
    this.onAhead = onAhead;
    this.ahead = null; // the colour of the pieces that a move can be chosen for in advance
    this.element = element;
    element.classList.add("board-box");
    this.ground = add("div", "board-ground", element);
    this.choices = add("div", "board-choices buttons", element);
    this.label = label;
    this.focused = 0;
    this.from = null;
    this.enabled = true;
  }

  // position: of the server; where it is the same drawing only the overlay is renewed.
  show(position) {
    this.hadFocus ||= this.element.contains(document.activeElement);
    if (!this.position || this.position.svg !== position.svg) this.ground.innerHTML = position.svg;
    this.fit(position);
    if (this.focused >= position.squares.length) this.focused = 0;
    this.position = position;
    this.from = null;
    this.choices.replaceChildren();
    this.overlay?.remove();
    if (position.frame) this.draw();
    for (const action of position.actions) if (!action.squares.length) this.offer(action);
    this.marks([]);
    this.focusAgain();
  }

  // The page makes the board as large as the window allows (style.css): it needs the shape, and who sits below.
  fit({ frame, flip }) {
    if (frame) this.element.closest(".session")?.style.setProperty("--ratio", frame[0] / frame[1]);
    this.element.parentElement.classList.toggle("flipped", flip);
  }

  // The board gets the focus as soon as there is a choice on it.
  takeFocus() {
    document.activeElement?.blur();
    this.hadFocus = true;
    this.focusAgain();
  }

  // Whoever was on the board stays there: its squares and buttons are new ones.
  focusAgain() {
    const place = this.position.frame ? this.squares[this.focused] : this.choices.querySelector("button:enabled");
    if (!this.hadFocus || !place) return;
    if (document.activeElement === document.body) place.focus();
    this.hadFocus = false;
  }

  // No moves can be made while it is off.
  enable(on) {
    this.hadFocus ||= this.element.contains(document.activeElement); // a button that is off loses it
    this.enabled = on;
    if (!on) this.offers([]);
    this.element.classList.toggle("off", !on);
    for (const button of this.choices.children) button.disabled = !on;
    if (this.position) this.focusAgain();
  }

  draw() {
    const [width, height, side] = this.position.frame;
    const group = { viewBox: `0 0 ${width} ${height}`, class: "board-overlay", role: "group", "aria-label": this.label };
    this.overlay = svg("svg", group, this.ground);
    this.below = svg("g", { class: "board-marks" }, this.overlay);
    this.figures();
    this.squares = this.position.squares.map((square, number) => {
      const shape = { x: square.x, y: square.y, width: side, height: side, class: "square", role: "button" };
      const rect = svg("rect", { ...shape, tabindex: number === this.focused ? 0 : -1 }, this.overlay);
      rect.setAttribute("aria-label", `${square.name}, ${square.text}`);
      rect.onpointerdown = (event) => this.press(event, number);
      rect.onmousedown = (event) => { if (this.picker?.isConnected) event.preventDefault(); }; // the focus is on the picker
      rect.onpointerup = (event) => this.release(event, number);
      rect.onkeydown = (event) => this.key(event, number);
      rect.onclick = (event) => { if (event.detail === 0) this.choose(number); }; // screen readers
      return rect;
    });
    this.light();
  }

  // Pieces as signs of a font, which style.css shows in place of the drawn ones where the reader has chosen them.
  figures() {
    const side = this.position.frame[2];
    for (const { text, x, y } of this.position.squares) {
      const [colour, piece] = text.split(" ");
      if (GLYPHS[piece]) for (const [set, signs] of [["figures", GLYPHS], ["letters", LETTERS]]) {
        svg("text", { x: x + side / 2, y: y + side * 0.8, class: `sign ${set} ${colour}`, "aria-hidden": "true" }, this.overlay).textContent = signs[piece];
      }
    }
  }

  // While it is the other side's turn a move can be chosen: squares from and to. colour: of one's pieces, null: none can.
  planAhead(colour) {
    this.ahead = colour?.toLowerCase() ?? null;
    this.element.classList.toggle("ahead", this.ahead !== null);
  }

  chooseAhead(number) {
    const own = this.position.squares[number].text.startsWith(`${this.ahead} `);
    if (this.from === null || own) {
      this.from = own && number !== this.from ? number : null;
      this.onAhead(null);
      this.marks([]);
    } else {
      this.onAhead({ from: this.from, to: number });
      this.marks([{ squares: [this.from, number], size: 0.4, kind: "planned" }]);
      this.from = null;
    }
    this.light();
  }

  // Marks legal squares: those to move from, or those that the chosen one can move to.
  light() {
    const targets = new Set(this.position.actions.flatMap((action) => (this.from === null
      ? (action.squares.length === 1 ? action.area : [])
      : (action.squares[0] === this.from ? action.squares.slice(-1) : []))));
    const sources = new Set(this.position.actions.map((action) => (action.squares.length > 1 ? action.squares[0] : -1)));
    this.squares.forEach((rect, number) => {
      rect.classList.toggle("target", targets.has(number));
      rect.classList.toggle("source", sources.has(number));
      rect.classList.toggle("chosen", number === this.from);
    });
  }

  press(event, number) {
    if (event.button !== 0) return;
    this.pressed = number;
    event.target.releasePointerCapture?.(event.pointerId);
    this.choose(number);
  }

  release(event, number) {
    if (this.pressed !== undefined && this.pressed !== number && this.from === this.pressed) this.choose(number);
    this.pressed = undefined;
  }

  // Arrows walk over the board for whoever came to it by keys; after a click they are the page's (the moves of the game).
  key(event, number) {
    if (STEPS[event.key]) {
      if (document.documentElement.matches(".by-pointer")) return;
      this.focus(this.neighbour(number, event.key));
    } else if (event.key === "Enter" || event.key === " ") this.choose(number);
    else if (event.key === "Escape") { this.from = null; this.light(); this.offers([]); }
    else return;
    event.preventDefault();
  }

  // The nearest square in a direction, by where it is drawn: a flipped board moves as it looks, rows of hexagons lie half a cell apart.
  neighbour(number, key) {
    const side = this.position.frame[2], here = this.position.squares[number];
    const [dx, dy] = STEPS[key];
    const found = this.position.squares.findIndex(({ x, y }) => y === here.y + dy * side
      && Math.abs(x - here.x - dx * side) <= (dy ? side / 2 + 1 : 0));
    return found < 0 ? number : found;
  }

  focus(number) {
    this.squares[this.focused].setAttribute("tabindex", -1);
    this.focused = number;
    this.squares[number].setAttribute("tabindex", 0);
    this.squares[number].focus();
  }

  // A square was chosen: from, to, or the only one of an action.
  choose(number) {
    if (this.ahead && !this.enabled) { this.chooseAhead(number); return; }
    if (!this.enabled) return;
    const { actions } = this.position;
    const single = actions.filter(({ squares, area }) => squares.length === 1 && area.includes(number));
    const there = actions.filter(({ squares }) => this.from !== null && squares.length > 1
      && squares[0] === this.from && squares.at(-1) === number);
    const found = there.length ? there : single;
    this.offers([]);
    if (found.length === 1) { this.from = null; this.light(); this.onAction(found[0]); return; }
    if (found.length > 1) { this.offers(found); return; }
    const starts = actions.some(({ squares }) => squares.length > 1 && squares[0] === number);
    this.from = starts && number !== this.from ? number : null;
    this.light();
  }

  // Several actions have these squares, such as promotions: what would stand there to choose from, else a button each.
  offers(actions) {
    this.picker?.remove();
    this.choices.querySelectorAll(".offer").forEach((button) => button.remove());
    const pictures = new Set(actions.map(({ stands }) => stands?.svg));
    if (actions.length && pictures.size === actions.length) this.pick(actions);
    else for (const action of actions) this.offer(action, "offer");
    this.element.querySelector(".offer")?.focus();
  }

  // A column of squares over the board, which begins where the piece arrives; the first one is the usual choice.
  pick(actions) {
    const [width, height, side] = this.position.frame, { x, y } = this.position.squares[actions[0].squares.at(-1)];
    const below = y + side / 2 > height / 2;
    this.picker = add("div", "picker", this.ground);
    this.picker.setAttribute("role", "group");
    this.picker.setAttribute("aria-label", "what it becomes");
    this.picker.classList.toggle("upwards", below);
    Object.assign(this.picker.style, { left: `${100 * x / width}%`, width: `${100 * side / width}%`,
      [below ? "bottom" : "top"]: `${100 * (below ? height - y - side : y) / height}%` });
    this.picker.onkeydown = (event) => this.pickerKey(event);
    for (const action of [...actions].sort((one, other) => one.stands.rank - other.stands.rank)) {
      const button = this.offer(action, "offer", this.picker);
      button.setAttribute("aria-label", `${action.stands.text}, ${action.text}`);
      button.innerHTML = `<svg viewBox="0 0 ${side} ${side}" aria-hidden="true">${action.stands.svg}</svg>`;
    }
  }

  pickerKey(event) {
    const buttons = [...this.picker.children], at = buttons.indexOf(event.target), [, step] = STEPS[event.key] ?? [0, 0];
    if (event.key === "Escape") {
      this.offers([]);
      this.from = null;
      this.light();
      this.focus(this.focused);
    } else if (step) buttons[(at + step * (this.picker.matches(".upwards") ? -1 : 1) + buttons.length) % buttons.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  offer(action, kind = "", parent = this.choices) {
    const button = add("button", kind, parent);
    button.type = "button";
    button.textContent = action.text;
    button.disabled = !this.enabled;
    button.onclick = () => this.onAction(action);
    return button;
  }

  // Marks on the board, the best first: {squares, size 0 to 1, text, kind}: an arrow between two squares, a tile on one.
  marks(marks) {
    if (!this.below) return;
    this.below.replaceChildren();
    if (!this.position.frame) return;
    const drawn = marks.filter(({ squares }) => squares.length);
    for (const mark of [...drawn].reverse()) this.drawMark(mark);
    const taken = [];
    for (const mark of drawn) if (mark.text) this.write(mark, taken);
  }

  middle(square) {
    const { x, y } = this.position.squares[square], half = this.position.frame[2] / 2;
    return [x + half, y + half];
  }

  drawMark({ squares, size, kind = "" }) {
    const side = this.position.frame[2], [x, y] = this.middle(squares[0]), [tipX, tipY] = this.middle(squares.at(-1));
    const group = svg("g", { class: `mark ${kind}` }, this.below), opacity = 0.35 + 0.6 * size;
    if (squares.length === 1) {
      const half = side * (0.2 + 0.24 * size);
      svg("rect", { x: x - half, y: y - half, width: 2 * half, height: 2 * half, rx: side / 10, opacity }, group);
      return;
    }
    const length = Math.hypot(tipX - x, tipY - y), [ux, uy] = [(tipX - x) / length, (tipY - y) / length];
    const wide = side * (0.04 + 0.1 * size), head = side * (0.14 + 0.16 * size);
    const [neckX, neckY] = [tipX - ux * head, tipY - uy * head];
    const at = (px, py, out) => `${px - uy * out} ${py + ux * out}`;
    svg("path", { d: `M${at(x, y, wide)}L${at(neckX, neckY, wide)}L${at(neckX, neckY, head / 1.5)}L${tipX} ${tipY}`
      + `L${at(neckX, neckY, -head / 1.5)}L${at(neckX, neckY, -wide)}L${at(x, y, -wide)}z`, opacity }, group);
  }

  // A label at the tip of its arrow, or where that is taken as near to it on the arrow as there is space. taken: [x, y]s.
  write({ squares, text }, taken) {
    const side = this.position.frame[2], [x, y] = this.middle(squares[0]), [tipX, tipY] = this.middle(squares.at(-1));
    const steps = Math.ceil(4 * Math.hypot(tipX - x, tipY - y) / side);
    const places = Array.from({ length: steps + 1 }, (_, step) => [tipX + (x - tipX) * step / (steps || 1), tipY + (y - tipY) * step / (steps || 1)]);
    const free = ([px, py]) => taken.every(([otherX, otherY]) => Math.abs(px - otherX) > side * 0.7 || Math.abs(py - otherY) > side * 0.4);
    const place = places.find(free) ?? places[0];
    taken.push(place);
    svg("text", { x: place[0], y: place[1] + 4, class: "mark-text" }, this.below).textContent = text;
  }
}

function add(name, kind, parent) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}
