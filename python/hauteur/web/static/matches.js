// The page Matches: the games of a match on a board, each fetched when it is asked for.

import { attempt } from "./live.js";
import "./jobs.js";

const board = document.getElementById("board");

// Shows a game by its number, which the address then has.
async function openGame(number) {
  history.replaceState(null, "", `#game=${number}`);
  const widget = board.querySelector(".walks");
  if (!widget) { location.reload(); return; }  // the page was made before the match had begun
  const answer = await fetch(`${board.dataset.game}?number=${number}`);
  if (!answer.ok) throw new Error("There is no such game.");
  const game = await answer.json();
  document.getElementById("title").textContent = game.title;
  widget.dispatchEvent(new CustomEvent("walk", { detail: { game, ply: 0 } }));
}

if (board) {
  document.getElementById("games").addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-game]");
    if (!button) return;
    attempt(() => openGame(button.dataset.game));
    board.scrollIntoView({ block: "nearest" });
  });
  const linked = /^#game=(\d+)$/.exec(location.hash);
  if (linked) addEventListener("load", () => attempt(() => openGame(linked[1])));
}
