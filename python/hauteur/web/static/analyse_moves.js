// The table of the moves of a search: of the newest report or of an earlier moment.

import { percent, signed, whole } from "./numbers.js";

// A value from -1 to 1 as the reader wants it; centipawns as lc0 has them.
const WORTH = {
  q: (value) => signed(value),
  score: (value) => percent((1 + value) / 2),
  cp: (value) => signed(90 * Math.tan(1.5637541897 * value), 0),
};

export class MoveTable {
  // table: with its heads. kind(): of WORTH.
  constructor(table, kind) {
    Object.assign(this, { body: table.tBodies[0], columns: table.tHead.rows[0].cells.length, kind });
    this.clear();
  }

  clear() {
    this.found = null; // the report that is shown
    this.rows = []; // of each move {numbers, line}: its numbers, and under them the line that follows it
    this.body.replaceChildren();
  }

  show(found) {
    this.found = found;
    while (this.rows.length < found.moves.length) this.rows.push(this.newRow());
    while (this.rows.length > found.moves.length) for (const row of Object.values(this.rows.pop())) row.remove();
    found.moves.forEach((move, at) => this.fill(this.rows[at], move));
  }

  newRow() {
    const numbers = this.body.insertRow(), line = this.body.insertRow();
    numbers.append(Object.assign(document.createElement("th"), { scope: "row" }));
    for (let cell = 0; cell < this.columns - 1; cell += 1) numbers.insertCell();
    line.className = "line";
    line.insertCell().colSpan = this.columns;
    return { numbers, line };
  }

  fill({ numbers, line }, move) {
    const proven = move.proven === null ? "" : ` ${["−1", "=", "+1"][move.proven + 1]}`;
    const texts = [move.text + proven, whole(move.visits), percent(move.share), percent(move.prior), this.worth(move.q), this.worth(move.value),
      move.wdl ? move.wdl.map((share) => Math.round(100 * share)).join(" / ") : "–"];
    texts.forEach((one, column) => write(numbers.cells[column], one));
    numbers.classList.toggle("unvisited", !move.visits);
    const text = move.line.slice(1).join(" ");
    line.hidden = !text;
    write(line.cells[0], text);
  }

  worth(value) { return value === null || value === undefined ? "–" : WORTH[this.kind()](value); }
}

function write(cell, text) {
  if (cell.textContent !== text) cell.textContent = text;
}
