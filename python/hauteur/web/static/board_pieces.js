// What stands on a board: pieces that slide from square to square, that are dragged, and that move before the server has answered.

import { svg } from "./board_svg.js";

const SLIDE = 150; // milliseconds
const GLYPHS = { king: "♚", queen: "♛", rook: "♜", bishop: "♝", knight: "♞", pawn: "♟" };
const LETTERS = { king: "K", queen: "Q", rook: "R", bishop: "B", knight: "N", pawn: "P" };
const WALKS = /^#(pieces|letters)-/; // stones stay where they were put

const rests = matchMedia("(prefers-reduced-motion: reduce)");

export class Pieces {
  constructor() {
    this.layer = svg("g", { class: "pieces", "aria-hidden": "true" });
    this.standing = new Map(); // square: {kind, group}, kind: the address of its drawing
  }

  // Takes the pieces out of a fresh drawing of a position. Empty discs are part of the board.
  lift(drawing, { squares, frame }) {
    const corners = new Map(squares.map(({ x, y }, number) => [`${x} ${y}`, number]));
    this.squares = squares;
    this.side = frame[2];
    this.lifted = new Map();
    for (const use of drawing.querySelectorAll(":scope > use")) {
      const kind = use.getAttribute("href"), number = corners.get(`${use.getAttribute("x")} ${use.getAttribute("y")}`);
      if (number === undefined || kind === "#discs-e") continue;
      this.lifted.set(number, kind);
      use.remove();
    }
  }

  // Draws the pieces of the position. slides: those that stood elsewhere come from there.
  draw(slides) {
    const before = this.standing, missing = [];
    for (const [number, { kind }] of before) if (this.lifted.get(number) !== kind) missing.push(number);
    this.standing = new Map();
    this.layer.replaceChildren();
    for (const [number, kind] of this.lifted) {
      const group = this.put(number, kind);
      if (!slides || !WALKS.test(kind) || before.get(number)?.kind === kind) continue;
      const from = missing.filter((other) => before.get(other).kind === kind).sort((one, other) => this.apart(one, number) - this.apart(other, number))[0];
      if (from === undefined) continue;
      missing.splice(missing.indexOf(from), 1);
      this.slide(group, from, number);
    }
  }

  apart(one, other) {
    return Math.hypot(this.squares[one].x - this.squares[other].x, this.squares[one].y - this.squares[other].y);
  }

  // Puts a piece on a square. kind: the address of its drawing, or a drawing.
  put(number, kind, text = this.squares[number].text) {
    const { x, y } = this.squares[number];
    this.standing.get(number)?.group.remove();
    const group = svg("g", { class: "piece", transform: `translate(${x} ${y})` }, this.layer);
    if (kind.startsWith("#")) svg("use", { href: kind }, group);
    else group.innerHTML = kind;
    this.sign(group, text);
    this.standing.set(number, { kind, group });
    return group;
  }

  // A piece as a sign of a font, which style.css shows in place of the drawn one where the reader has chosen that.
  sign(group, text) {
    const [colour, piece] = text.split(" ");
    if (!GLYPHS[piece]) return;
    for (const [set, signs] of [["figures", GLYPHS], ["letters", LETTERS]]) {
      svg("text", { x: this.side / 2, y: this.side * 0.8, class: `sign ${set} ${colour}` }, group).textContent = signs[piece];
    }
  }

  slide(group, from, to) {
    if (rests.matches || !group.animate) return;
    const place = (number) => `translate(${this.squares[number].x}px, ${this.squares[number].y}px)`;
    group.animate([{ transform: place(from) }, { transform: place(to) }], { duration: SLIDE, easing: "ease-in-out" });
  }

  // Shows a move at once. slides: its piece does not stand there already, as a dropped one does.
  move(from, to, { slides, drawing = null, text }) {
    const moved = this.standing.get(from);
    if (!moved) return;
    this.standing.delete(from);
    moved.group.remove();
    const group = this.put(to, drawing ?? moved.kind, text ?? this.squares[from].text);
    if (slides) this.slide(group, from, to);
  }

  // The piece under the pointer: another drawing of the one on a square, which is pale meanwhile.
  hold(number, parent) {
    const { group } = this.standing.get(number), held = group.cloneNode(true);
    held.setAttribute("class", "piece held");
    parent.append(held);
    group.classList.add("away");
    return held;
  }
}
