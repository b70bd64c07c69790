// A board of any game: the server's drawing, and above it squares that can be clicked, dragged and reached by keys.
// It knows squares and legal actions alone (position_view of the server); actions without squares are buttons.

import { Hand } from "./board_hand.js";
import { Pieces } from "./board_pieces.js";
import { arrow, svg } from "./board_svg.js";
import "./look.js";

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Who points goes on pointing until Tab, Enter or space is pressed: a square that a script focuses says nothing of that.
addEventListener("pointerdown", () => document.documentElement.classList.add("by-pointer"), true);
addEventListener("keydown", ({ key }) => {
  if (["Tab", "Enter", " "].includes(key)) document.documentElement.classList.remove("by-pointer");
}, true);

export class Board {
  // element: gets the board. onAction(action): a legal action was chosen, {a, text, squares}; where its promise gives false
  // it was refused, and the board is as before.
  constructor(element, { onAction = () => {}, label = "board" } = {}) {
    this.onAction = onAction;
    this.ahead = null; // the colour of the pieces that a move can be chosen for in advance
    this.planned = null; // that move: {from, to}
    this.awaited = null; // the action that is shown and not yet answered
    this.element = element;
    element.classList.add("board-box");
    this.ground = add("div", "board-ground", element);
    this.choices = add("div", "board-choices buttons", element.closest(".session")?.querySelector("[data-choices]") ?? element);
    this.label = label;
    this.focused = 0;
    this.from = null;
    this.enabled = true;
    this.pieces = new Pieces();
    this.hand = new Hand(this);
  }

  // position: of the server; where it is the same drawing only the overlay is renewed.
  show(position) {
    if (this.awaited && position === this.position) return; // the answer is on its way
    const known = this.position, isSame = known?.svg === position.svg;
    const goesOn = Boolean(known?.frame && position.frame) && known.game === position.game && known.flip === position.flip
      && known.squares.length === position.squares.length;
    this.hadFocus ||= this.hasFocus;
    if (!isSame) this.ground.innerHTML = position.svg;
    this.fit(position);
    if (this.focused >= position.squares.length) this.focused = 0;
    this.position = position;
    this.awaited = null;
    this.ground.classList.remove("moving");
    this.choices.replaceChildren();
    this.overlay?.remove();
    if (position.frame) {
      if (!isSame) this.pieces.lift(this.ground.querySelector(".board"), position);
      if (!goesOn || !this.keepsChoice()) this.from = null;
      if (!goesOn) this.planned = null;
      this.draw(goesOn);
    } else this.from = null;
    for (const action of position.actions) if (!action.squares.length) this.offer(action);
    this.marks([]);
    this.hand.goOn(isSame);
    this.focusAgain();
  }

  // A chosen piece stays chosen while the other side moves, unless it is no longer there.
  keepsChoice() {
    return this.from !== null && this.pieces.lifted.get(this.from) === this.pieces.standing.get(this.from)?.kind;
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

  // The buttons of actions without squares may stand apart from the board.
  get hasFocus() {
    return [this.element, this.choices].some((place) => place.contains(document.activeElement));
  }

  // Whoever was on the board stays there: its squares and buttons are new ones.
  focusAgain() {
    const place = this.position?.frame ? this.squares[this.focused] : this.choices.querySelector("button:enabled");
    if (!this.hadFocus || !place) return;
    if (document.activeElement === document.body) place.focus();
    this.hadFocus = false;
  }

  // No moves can be made while it is off.
  enable(on) {
    this.hadFocus ||= this.hasFocus; // a button that is off loses it
    this.enabled = on;
    if (!on) this.offers([]);
    this.element.classList.toggle("off", !on);
    for (const button of this.choices.children) button.disabled = !on;
    if (this.position) this.focusAgain();
  }

  // slides: pieces that stood elsewhere come from there.
  draw(slides) {
    const [width, height, side] = this.position.frame;
    const group = { viewBox: `0 0 ${width} ${height}`, class: "board-overlay", role: "group", "aria-label": this.label };
    this.overlay = svg("svg", group, this.ground);
    this.moved = svg("g", { class: "moved" }, this.overlay);
    this.overlay.append(this.pieces.layer);
    this.pieces.draw(slides);
    this.below = svg("g", { class: "board-marks" }, this.overlay);
    this.targets();
    this.hand.layer = svg("g", { class: "board-shapes", "aria-hidden": "true" }, this.overlay);
    this.squares = this.position.squares.map((square, number) => {
      const shape = { x: square.x, y: square.y, width: side, height: side, class: "square", role: "button" };
      const rect = svg("rect", { ...shape, tabindex: number === this.focused ? 0 : -1 }, this.overlay);
      rect.setAttribute("aria-label", `${square.name}, ${square.text}`);
      rect.onpointerdown = (event) => this.hand.press(event, number);
      rect.onmousedown = (event) => { if (this.picker?.isConnected) event.preventDefault(); }; // the focus is on the picker
      rect.onkeydown = (event) => this.key(event, number);
      rect.onclick = (event) => { if (event.detail === 0) this.choose(number); }; // screen readers
      return rect;
    });
    this.light();
  }

  // How squares to move to are marked: a dot on an empty one, corners around a piece.
  targets() {
    const places = svg("defs", {}, this.overlay);
    for (const [id, edge, inner, outer] of [["dot", 28, 0.55, 0], ["corners", 112, 0, 0.45]]) {
      const gradient = svg("radialGradient", { id: `board-${id}` }, places);
      for (const opacity of [inner, outer]) svg("stop", { offset: `${edge}%`, "stop-color": "#1f6cb4", "stop-opacity": opacity }, gradient);
    }
  }

  // While it is the other side's turn a move can be chosen. side: the colour of one's pieces, null: none can.
  planAhead(side) {
    this.ahead = side?.toLowerCase() ?? null;
    this.element.classList.toggle("ahead", this.ahead !== null);
    if (this.position?.frame) this.light();
  }

  // The move that was chosen in advance, as one of the actions that there are now; null: none is.
  takePlanned() {
    const { planned } = this;
    this.planned = null;
    if (!planned) return null;
    const fits = this.position.actions.filter(({ squares, area }) => (planned.from === null
      ? squares.length === 1 && area.includes(planned.to)
      : squares.length > 1 && squares[0] === planned.from && squares.at(-1) === planned.to));
    return fits.sort((one, other) => (one.stands?.rank ?? 0) - (other.stands?.rank ?? 0))[0] ?? null;
  }

  // A drop on a piece of one's own counts too: it may be taken by then.
  chooseAhead(number, dropped) {
    const isOwn = this.isOwn(number) && !dropped, places = this.position.stone && !this.pieces.standing.has(number);
    const goes = this.from !== null && number !== this.from;
    this.planned = isOwn ? null : goes || places ? { from: this.from, to: number } : null;
    this.from = isOwn ? number : null;
    this.light();
  }

  isOwn(number) {
    return this.ahead !== null && this.position.squares[number].text.startsWith(`${this.ahead} `);
  }

  // Marks legal squares: those to move from, or those that the chosen one can move to.
  light() {
    const targets = new Set(this.position.actions.flatMap((action) => (this.from === null
      ? (action.squares.length === 1 ? action.area : [])
      : (action.squares[0] === this.from ? action.squares.slice(-1) : []))));
    const sources = new Set(this.position.actions.map((action) => (action.squares.length > 1 ? action.squares[0] : -1)));
    this.squares.forEach((rect, number) => {
      rect.classList.toggle("target", targets.has(number));
      rect.classList.toggle("taken", this.pieces.standing.has(number));
      rect.classList.toggle("source", sources.has(number) || (!this.enabled && this.isOwn(number)));
      rect.classList.toggle("chosen", number === this.from);
      rect.classList.toggle("planned", number === this.planned?.from || number === this.planned?.to);
    });
  }

  // A pointer was pressed on a square; what is chosen already stays so, it may be dragged.
  press(number) {
    if (number !== this.from) this.choose(number);
    else this.offers([]);
  }

  // The chosen piece was dropped on a square.
  drop(from, to) {
    if (this.from === from) this.choose(to, true);
  }

  unchoose() {
    if (!this.squares) return;
    this.from = null;
    this.planned = null;
    this.offers([]);
    this.light();
  }

  // Arrows walk over the board for whoever came to it by keys; after a click they are the page's (the moves of the game).
  key(event, number) {
    if (STEPS[event.key]) {
      if (document.documentElement.matches(".by-pointer")) return;
      this.focus(this.neighbour(number, event.key));
    } else if (event.key === "Enter" || event.key === " ") this.choose(number);
    else if (event.key === "Escape") this.unchoose();
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

  // The square under a point of the window, null: none is; and that point in units of the drawing.
  squareAt(clientX, clientY) {
    const [x, y] = this.pointAt(clientX, clientY), side = this.position.frame[2];
    const at = this.position.squares.findIndex((square) => x >= square.x && x < square.x + side && y >= square.y && y < square.y + side);
    return at < 0 ? null : at;
  }

  pointAt(clientX, clientY) {
    const box = this.overlay.getBoundingClientRect(), [width, height] = this.position.frame;
    return [(clientX - box.left) / box.width * width, (clientY - box.top) / box.height * height];
  }

  // A square was chosen: from, to, or the only one of an action. dropped: a piece lies there already.
  choose(number, dropped = false) {
    if (this.awaited) return;
    if (this.ahead && !this.enabled) { this.chooseAhead(number, dropped); return; }
    if (!this.enabled) return;
    const { actions } = this.position;
    const single = actions.filter(({ squares, area }) => squares.length === 1 && area.includes(number));
    const there = actions.filter(({ squares }) => this.from !== null && squares.length > 1
      && squares[0] === this.from && squares.at(-1) === number);
    const found = there.length || dropped ? there : single;
    this.offers([]);
    if (found.length === 1) { this.from = null; this.light(); this.act(found[0], dropped); return; }
    if (found.length > 1) { this.offers(found); return; }
    if (dropped) return; // no move: the piece stays chosen
    const starts = actions.some(({ squares }) => squares.length > 1 && squares[0] === number);
    this.from = starts && number !== this.from ? number : null;
    this.light();
  }

  // Shows an action at once, and takes it back where it is refused.
  async act(action, dropped = false) {
    const { position } = this;
    this.from = null;
    this.anticipate(action, dropped);
    const taken = await this.onAction(action);
    if (taken !== false || this.position !== position || this.awaited !== action) return;
    this.awaited = null;
    this.ground.classList.remove("moving");
    this.moved.replaceChildren();
    this.pieces.draw(true);
    this.light();
  }

  // The board as it will be, as far as that is seen from here: what else a move changes comes with the answer.
  anticipate(action, dropped) {
    const { squares, stands } = action, [from, to] = [squares[0], squares.at(-1)];
    const isMove = squares.length > 1 && this.pieces.standing.has(from), isStone = squares.length === 1 && this.position.stone;
    if (!isMove && !isStone) return;
    this.awaited = action;
    if (isMove) this.pieces.move(from, to, { slides: !dropped, drawing: stands?.svg, text: stands?.text });
    else this.pieces.put(to, this.position.stone.svg, this.position.stone.text);
    this.ground.classList.add("moving");
    const side = this.position.frame[2];
    for (const number of new Set([from, to])) {
      const { x, y } = this.position.squares[number];
      svg("rect", { x, y, width: side, height: side }, this.moved);
    }
    for (const rect of this.squares) rect.classList.remove("target", "source");
    this.below.replaceChildren();
  }

  // Several actions have these squares, such as promotions: what would stand there to choose from, else a button each.
  offers(actions) {
    this.picker?.remove();
    this.choices.querySelectorAll(".offer").forEach((button) => button.remove());
    const pictures = new Set(actions.map(({ stands }) => stands?.svg));
    if (actions.length && pictures.size === actions.length) this.pick(actions);
    else for (const action of actions) this.offer(action, "offer");
    (this.picker?.isConnected ? this.picker : this.choices).querySelector(".offer")?.focus();
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
    this.takeOwnClicks(this.picker);
    for (const action of [...actions].sort((one, other) => one.stands.rank - other.stands.rank)) {
      const button = this.offer(action, "offer", this.picker);
      button.setAttribute("aria-label", `${action.stands.text}, ${action.text}`);
      button.innerHTML = `<svg viewBox="0 0 ${side} ${side}" aria-hidden="true">${action.stands.svg}</svg>`;
    }
  }

  // The tap that opens the picker ends with a click where the picker is now; only a click that was pressed there chooses.
  takeOwnClicks(picker) {
    let pressed = false;
    picker.addEventListener("pointerdown", () => { pressed = true; });
    picker.addEventListener("click", (event) => { if (event.detail > 0 && !pressed) event.stopPropagation(); }, true);
  }

  pickerKey(event) {
    const buttons = [...this.picker.children], at = buttons.indexOf(event.target), [, step] = STEPS[event.key] ?? [0, 0];
    if (event.key === "Escape") {
      this.unchoose();
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
    button.onclick = () => { this.offers([]); this.act(action); };
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
    const wide = side * (0.04 + 0.1 * size), head = side * (0.14 + 0.16 * size);
    svg("path", { d: arrow([x, y], [tipX, tipY], wide, head), opacity }, group);
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
