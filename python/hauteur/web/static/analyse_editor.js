// The editor of positions: a click on the board puts there what is chosen, and the position begins a game of its own.

const SIGNS = "KQRBNPkqrbnp", NAMES = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };
const WHITE = { k: "♔", q: "♕", r: "♖", b: "♗", n: "♘", p: "♙" }, BLACK = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };

export class Editor {
  // panel: is open while positions are edited; pieces: gets the buttons; mover, castling: fields. onChange: mover, castling or the panel changed.
  constructor(panel, { pieces, mover, castling, onChange }) {
    Object.assign(this, { panel, mover, castling, chosen: "P" });
    pieces.append(...[...SIGNS, ""].map((sign) => this.button(sign, pieces)));
    panel.ontoggle = mover.onchange = castling.onchange = ({ target }) => onChange(target === panel);
  }

  button(sign, pieces) {
    const isWhite = sign === sign.toUpperCase(), kind = sign.toLowerCase();
    const name = sign ? `${isWhite ? "white" : "black"} ${NAMES[kind]}` : "nothing";
    const textContent = sign ? (isWhite ? WHITE : BLACK)[kind] : "×";
    const button = Object.assign(document.createElement("button"), { type: "button", textContent, ariaLabel: name, title: name, ariaPressed: String(sign === this.chosen) });
    button.onclick = () => {
      this.chosen = sign;
      for (const other of pieces.children) other.ariaPressed = String(other === button);
    };
    return button;
  }

  get isOpen() { return this.panel.open && !this.panel.hidden; }

  // What a click on a square asks for; "": no square, but the fields have changed.
  order(square) {
    return { square, piece: this.chosen, mover: this.mover.value, castling: this.castling.value.trim() };
  }

  // The position in which every square is an action.
  view(position) {
    return { ...position, actions: position.squares.map(({ name }, at) => ({ a: at, text: name, squares: [at], area: [at] })) };
  }
}
