// The game that is analysed: its moves with their variations, as a list, kept for this window.

import { GameTree, GameTreeView, movesTo, nextOf } from "./game_tree.js";

const KEPT = "hauteur-analysed-game";

export class AnalysedGame {
  // element: gets the moves. onChoose(moves): the position after these was chosen.
  constructor(element, onChoose) {
    this.element = element;
    this.list = new GameTreeView(element, (node) => onChoose(movesTo(node)));
    this.tree = new GameTree();
    this.start = ""; // what it begins at, as text
    this.drawn = ""; // what the list shows
  }

  // Takes a game that was read. start: what it begins at, as `show` is given it.
  open(tree, start) { Object.assign(this, { tree: GameTree.of(tree), start }); }

  // Shows the game that begins there and marks a position. ply: of the start in numbers of moves, null: plies are numbered;
  // enters: the moves are part of the game from now on.
  show(start, moves, { ply, enters }) {
    if (start !== this.start) Object.assign(this, { tree: this.kept(start) ?? new GameTree(), start });
    const node = enters ? this.tree.enter(moves) : this.tree.find(moves);
    const content = JSON.stringify(this.tree.content), shows = `${ply} ${content}`;
    if (this.drawn !== shows) {
      this.list.show(this.tree, ply);
      this.drawn = shows;
      sessionStorage.setItem(KEPT, JSON.stringify({ start, content }));
    }
    this.element.hidden = !this.element.childElementCount;
    this.list.mark(node);
  }

  kept(start) {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    return kept?.start === start ? GameTree.of(JSON.parse(kept.content)) : null;
  }

  // The moves to the position after this one, and to the end of the line; null: there is none.
  next(moves) {
    const next = nextOf(this.tree.find(moves));
    return next && movesTo(next);
  }

  end(moves) {
    let node = this.tree.find(moves);
    while (nextOf(node)) node = nextOf(node);
    return node && movesTo(node);
  }
}
