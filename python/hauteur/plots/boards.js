// Games on a board: the data stands as JSON in each widget; everything is drawn from it, as text or as SVG.
"use strict";
document.querySelectorAll(".walks").forEach((box) => {
  const { board, games } = JSON.parse(box.querySelector("script").textContent);
  const find = (name) => box.querySelector(name);
  const [select, walk, bar, caption, chances, note, moves] = [
    "select", ".walk", ".walk-bar", "output", ".walk-chances", ".walk-note", ".walk-moves"].map(find);
  const svg = find(".board"), text = find("pre");
  if (svg) svg.style.maxWidth = `${Math.min(430, Math.round(1.3 * board.size[0]))}px`;
  let game = games[0], ply = 0, flip = false;

  const add = (parent, name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    parent.append(made);
    return made;
  };

  const corner = (square, count) => {
    const seen = flip ? count - 1 - square : square;
    const row = Math.floor(seen / board.columns);
    return [board.corner[0] + (seen % board.columns) * board.cell + board.slant[row], board.corner[1] + row * board.cell];
  };

  const drawBoard = () => {
    if (text) { text.textContent = game.cells[ply]; return; }
    const cells = game.cells[ply].replace(/\d+/g, (empty) => ".".repeat(Number(empty)));
    const [marks, pieces, arrow] = [".marks", ".pieces", ".arrow"].map((name) => svg.querySelector(name));
    [marks, pieces, arrow].forEach((group) => group.replaceChildren());
    svg.querySelectorAll(".seen").forEach((ground, side) => ground.toggleAttribute("hidden", (side === 1) !== flip));
    svg.querySelectorAll(".seen").forEach((ground) => { ground.style.display = ground.hasAttribute("hidden") ? "none" : ""; });
    const size = { width: board.cell, height: board.cell, rx: board.slant.at(-1) ? board.cell / 2 : 0 };
    game.last[ply].forEach((square) => {
      const [x, y] = corner(square, cells.length);
      add(marks, "rect", { x, y, ...size, fill: "#e8c63c", opacity: 0.75 });
    });
    [...cells].forEach((sign, square) => {
      if (!board.ids[sign]) return;
      const [x, y] = corner(square, cells.length);
      add(pieces, "use", { href: "#" + board.ids[sign], x, y });
    });
    const middles = game.best[ply].map((square) => corner(square, cells.length).map((at) => at + board.cell / 2));
    const style = { fill: "none", stroke: "#2f7d4f", "stroke-width": 5, opacity: 0.8, "stroke-linecap": "round" };
    if (middles.length === 1) { // the corners of the square: a ring would be taken for a stone, or for a nought
      const [[x, y]] = middles, side = board.cell - 10;
      const corners = { x: x - side / 2, y: y - side / 2, width: side, height: side, "stroke-dasharray": `9 ${side - 18} 9 0` };
      add(arrow, "rect", { ...corners, ...style, "stroke-linecap": "butt" });
    }
    if (middles.length > 1) {
      const [from, to] = [middles[0], middles[middles.length - 1]];
      add(arrow, "path", { d: `M${from}L${to}`, ...style });
      add(arrow, "circle", { cx: to[0], cy: to[1], r: 7, fill: "#2f7d4f" });
    }
  };

  const drawChances = () => {
    const known = game.wdl.map((wdl, at) => ({ wdl, at })).filter(({ wdl }) => wdl);
    chances.replaceChildren();
    chances.style.display = known.length > 1 ? "" : "none";
    if (known.length < 2) return;
    const x = (at) => (300 * at / (game.cells.length - 1)).toFixed(1);
    [["win", 0, (w) => w[0]], ["draw", (w) => w[0], (w) => w[0] + w[1]], ["loss", (w) => w[0] + w[1], () => 1]]
      .forEach(([name, low, high]) => {
        const at = (edge, wdl) => (90 - 90 * (edge ? edge(wdl) : 0)).toFixed(1);
        const above = known.map((one) => `${x(one.at)},${at(high, one.wdl)}`);
        const below = known.map((one) => `${x(one.at)},${at(low, one.wdl)}`).reverse();
        add(chances, "polygon", { points: [...above, ...below].join(" "), fill: `var(--${name})` });
      });
    add(chances, "line", { x1: x(ply), x2: x(ply), y1: 0, y2: 90, stroke: "var(--ink)", "stroke-width": 2 });
  };

  const show = () => {
    drawBoard();
    drawChances();
    const wdl = game.wdl[ply];
    bar.style.visibility = wdl ? "" : "hidden";
    if (wdl) [...bar.children].forEach((part, index) => { part.style.width = `${100 * wdl[index]}%`; });
    const per = (share) => Math.round(100 * share);
    const known = !wdl ? "" : game.expected ? `expected score of the first player ${per(wdl[0])} %`
      : `first player W ${per(wdl[0])} D ${per(wdl[1])} L ${per(wdl[2])} %`;
    caption.textContent = [game.captions[ply], known].filter((part) => part).join("; ");
    note.textContent = ply ? game.notes[ply - 1] : "";
    [...moves.children].forEach((button, index) => {
      button.toggleAttribute("aria-current", index === ply - 1);
      if (index === ply - 1) moves.scrollTop = button.offsetTop - moves.offsetTop - 90;
    });
    if (!ply) moves.scrollTop = 0;
  };

  const go = (to) => { ply = Math.max(0, Math.min(game.cells.length - 1, to)); show(); };

  const open = (which) => {  // a number of the games here, or a game itself
    game = typeof which === "number" ? games[which] : which;
    select.selectedIndex = games.indexOf(game);
    box.hidden = false;
    moves.replaceChildren(...game.moves.map((move, index) => {
      const button = document.createElement("button");
      button.textContent = move;
      if (game.marks[index]) button.className = game.marks[index];
      button.onclick = () => go(index + 1);
      return button;
    }));
    go(0);
  };

  const steps = {
    first: () => go(0), back: () => go(ply - 1), on: () => go(ply + 1), last: () => go(Infinity),
    flip: () => { flip = !flip; show(); },
  };
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", f: "flip" };
  box.querySelectorAll("[data-go]").forEach((button) => { button.onclick = steps[button.dataset.go]; });
  walk.onkeydown = (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    steps[keys[event.key]]();
    event.preventDefault();
  };
  box.step = (name) => steps[name]();
  chances.onclick = (event) => {
    const place = chances.getBoundingClientRect();
    go(Math.round((event.clientX - place.left) / place.width * (game.cells.length - 1)));
  };
  select.onchange = () => open(select.selectedIndex);
  select.style.display = games.length > 1 ? "" : "none";
  bar.hidden = false;
  if (games.length) open(0);
  box.addEventListener("walk", (event) => { open(event.detail.game); go(event.detail.ply); });
});
document.querySelectorAll("[data-walk]").forEach((link) => {
  const [game, ply] = link.dataset.walk.split(" ").map(Number);
  link.onclick = () => {
    const box = document.querySelector(".walks");
    box.dispatchEvent(new CustomEvent("walk", { detail: { game, ply } }));
    box.scrollIntoView({ block: "start" });
  };
});
// Arrow keys also step where nothing that knows them has the focus: on the first board that is seen.
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: "back", ArrowRight: "on" }[event.key];
  if (!step || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [tabindex]")) return;
  const isSeen = (box) => { const { top, bottom, height } = box.getBoundingClientRect(); return height && bottom > 0 && top < innerHeight; };
  const box = [...document.querySelectorAll(".walks")].find(isSeen);
  if (!box) return;
  box.step(step);
  event.preventDefault();
});
