// A board of any game: the server's drawing, and above it squares that can be clicked, dragged and reached by keys.
// It knows squares and legal actions alone (position_view of the server); actions without squares are buttons.

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

export class Board {
  // element: gets the board. onAction(action): a legal action was chosen, {a, text, squares}.
  constructor(element, { onAction = () => {}, label = "board" } = {}) {
    this.onAction = onAction;
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
    this.element.classList.toggle("off", !on);
    for (const button of this.choices.children) button.disabled = !on;
    if (this.position) this.focusAgain();
  }

  draw() {
    const [width, height, side] = this.position.frame;
    const group = { viewBox: `0 0 ${width} ${height}`, class: "board-overlay", role: "group", "aria-label": this.label };
    this.overlay = svg("svg", group, this.ground);
    this.below = svg("g", { class: "board-marks" }, this.overlay);
    this.squares = this.position.squares.map((square, number) => {
      const shape = { x: square.x, y: square.y, width: side, height: side, class: "square", role: "button" };
      const rect = svg("rect", { ...shape, tabindex: number === this.focused ? 0 : -1 }, this.overlay);
      rect.setAttribute("aria-label", `${square.name}, ${square.text}`);
      rect.onpointerdown = (event) => this.press(event, number);
      rect.onpointerup = (event) => this.release(event, number);
      rect.onkeydown = (event) => this.key(event, number);
      rect.onclick = (event) => { if (event.detail === 0) this.choose(number); }; // screen readers
      return rect;
    });
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

  key(event, number) {
    const columns = new Set(this.position.squares.map((square) => square.x)).size;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (step !== undefined) this.focus(this.neighbour(number, event.key));
    else if (event.key === "Enter" || event.key === " ") this.choose(number);
    else if (event.key === "Escape") { this.from = null; this.light(); this.offers([]); }
    else return;
    event.preventDefault();
  }

  // The nearest square in a direction, by where it is drawn: a flipped board moves as it looks.
  neighbour(number, key) {
    const side = this.position.frame[2], here = this.position.squares[number];
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const found = this.position.squares.findIndex(({ x, y }) => x === here.x + dx * side && y === here.y + dy * side);
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

  // Several actions have these squares, such as promotions: one button each.
  offers(actions) {
    this.choices.querySelectorAll(".offer").forEach((button) => button.remove());
    for (const action of actions) this.offer(action, "offer");
    this.choices.querySelector(".offer")?.focus();
  }

  offer(action, kind = "") {
    const button = add("button", kind, this.choices);
    button.type = "button";
    button.textContent = action.text;
    button.disabled = !this.enabled;
    button.onclick = () => this.onAction(action);
  }

  // Marks on the board: {squares, size 0 to 1, text, kind}: an arrow between two squares, a ring on one.
  marks(marks) {
    if (!this.below) return;
    this.below.replaceChildren();
    if (!this.position.frame) return;
    const side = this.position.frame[2];
    const middle = (square) => [this.position.squares[square].x + side / 2, this.position.squares[square].y + side / 2];
    for (const { squares, size, text = "", kind = "" } of [...marks].reverse()) {
      if (!squares.length) continue;
      const [x, y] = middle(squares[0]), [tipX, tipY] = middle(squares.at(-1));
      const group = svg("g", { class: `mark ${kind}` }, this.below), opacity = 0.35 + 0.6 * size;
      if (squares.length === 1) svg("circle", { cx: x, cy: y, r: side * (0.18 + 0.24 * size), opacity }, group);
      else {
        const length = Math.hypot(tipX - x, tipY - y), [ux, uy] = [(tipX - x) / length, (tipY - y) / length];
        const wide = side * (0.04 + 0.1 * size), head = side * (0.14 + 0.16 * size);
        const [neckX, neckY] = [tipX - ux * head, tipY - uy * head];
        const at = (px, py, out) => `${px - uy * out} ${py + ux * out}`;
        svg("path", { d: `M${at(x, y, wide)}L${at(neckX, neckY, wide)}L${at(neckX, neckY, head / 1.5)}L${tipX} ${tipY}`
          + `L${at(neckX, neckY, -head / 1.5)}L${at(neckX, neckY, -wide)}L${at(x, y, -wide)}z`, opacity }, group);
      }
      if (text) svg("text", { x: tipX, y: tipY + 4 }, group).textContent = text;
    }
  }
}

function add(name, kind, parent) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}
