// The hand on a board: pieces are dragged by mouse or finger, arrows and circles are drawn with the right button.

import { arrow, svg } from "./board_svg.js";

const FAR = 3; // pixels of the window from which on a press is a drag
const COLOURS = ["green", "red", "blue", "yellow"]; // alone, with Shift or Ctrl, with Alt, with both

export class Hand {
  constructor(board) {
    this.board = board;
    this.held = null; // {number, at, group: the piece under the pointer, chosen: it was before, left: it has left its square}
    this.line = null; // the shape that is being drawn: {from, to, colour}
    this.shapes = [];
    const { ground } = board;
    ground.addEventListener("contextmenu", (event) => { if (board.position?.frame) event.preventDefault(); });
    // A finger that drags a piece does not move the page; touch-action does not hold within an SVG.
    ground.addEventListener("touchstart", (event) => { if (this.held) event.preventDefault(); }, { passive: false });
    ground.addEventListener("pointermove", (event) => this.move(event));
    ground.addEventListener("pointerup", (event) => this.release(event));
    ground.addEventListener("pointercancel", () => this.letGo());
  }

  press(event, number) {
    if (this.held || this.line) { this.letGo(); return; }
    if (event.button === 2 || (event.button === 0 && event.shiftKey)) this.beginLine(event, number);
    else if (event.button === 0) this.beginDrag(event, number);
    if (this.held || this.line) this.capture(event.pointerId);
  }

  // What follows comes to the board, wherever the pointer goes.
  capture(pointer) {
    try {
      this.board.ground.setPointerCapture(pointer);
    } catch {
      this.letGo(); // it was lifted already
    }
  }

  beginDrag(event, number) {
    const { board } = this, before = board.from;
    if (this.shapes.length) this.clear();
    board.press(number);
    if (board.from !== number || !board.pieces.standing.has(number)) return;
    this.held = { number, at: [event.clientX, event.clientY], group: null, chosen: before === number, left: false, kind: board.pieces.standing.get(number).kind };
  }

  move(event) {
    const { held, line } = this;
    if (line) {
      line.to = this.board.squareAt(event.clientX, event.clientY);
      this.draw();
    }
    if (!held) return;
    if (event.buttons > 1) { this.letGo(); return; } // another button puts it down
    const far = Math.hypot(event.clientX - held.at[0], event.clientY - held.at[1]) >= FAR;
    if (!held.group && far) this.lift();
    if (held.group) this.carry(event);
  }

  lift() {
    this.held.group = this.board.pieces.hold(this.held.number, this.board.overlay);
    this.board.ground.classList.add("dragging");
  }

  carry({ clientX, clientY }) {
    const { held, board } = this, side = board.position.frame[2], [x, y] = board.pointAt(clientX, clientY);
    held.group.setAttribute("transform", `translate(${x - side / 2} ${y - side / 2})`);
    held.last = { clientX, clientY };
    const over = board.squareAt(clientX, clientY);
    held.left ||= over !== held.number;
    board.squares.forEach((rect, number) => rect.classList.toggle("over", number === over && number !== held.number));
  }

  release(event) {
    const { held, line, board } = this;
    if (line) { this.endLine(); return; }
    if (!held) return;
    const to = board.squareAt(event.clientX, event.clientY), dragged = held.group !== null;
    this.letGo();
    if (dragged && to !== null && to !== held.number) board.drop(held.number, to);
    else if (held.chosen || (held.left && dragged)) board.unchoose();
  }

  // Puts down what is held, where it was.
  letGo() {
    this.held?.group?.remove();
    this.board.ground.classList.remove("dragging");
    this.board.overlay?.querySelectorAll(".away, .over").forEach((element) => element.classList.remove("away", "over"));
    this.held = null;
    this.line = null;
    this.draw();
  }

  // The board was drawn anew: a piece that still stands there stays in the hand.
  goOn(isSame) {
    if (!isSame) this.shapes = [];
    const { held, board } = this;
    if (held) {
      const stays = board.pieces.standing.get(held.number)?.kind === held.kind && board.from === held.number;
      if (!stays) this.letGo();
      else if (held.group) { this.lift(); this.carry(held.last); }
    }
    this.draw();
  }

  beginLine(event, number) {
    const extra = Number(event.button === 2 && (event.shiftKey || event.ctrlKey)) + 2 * Number(event.altKey || event.metaKey);
    this.board.unchoose();
    this.line = { from: number, to: number, colour: COLOURS[extra] };
    this.draw();
  }

  // The same shape again takes it away; another colour takes its place.
  endLine() {
    const { line } = this;
    this.line = null;
    if (line.to !== null) {
      const same = this.shapes.find(({ from, to }) => from === line.from && to === line.to);
      this.shapes = this.shapes.filter((shape) => shape !== same);
      if (same?.colour !== line.colour) this.shapes.push(line);
    }
    this.draw();
  }

  clear() {
    this.shapes = [];
    this.draw();
  }

  draw() {
    const { board } = this, { layer } = this;
    if (!layer) return;
    layer.replaceChildren();
    for (const { from, to, colour } of this.line ? [...this.shapes, this.line] : this.shapes) {
      if (to === null) continue;
      const side = board.position.frame[2], [x, y] = board.middle(from);
      if (from === to) svg("circle", { cx: x, cy: y, r: side * 0.46, class: `shape ring ${colour}`, "stroke-width": side * 0.07 }, layer);
      else svg("path", { d: arrow([x, y], board.middle(to), side * 0.08, side * 0.36), class: `shape ${colour}` }, layer);
    }
  }
}
