// The page Matches: the list, and one match, tournament or tuning, drawn anew whenever its files have changed.

import { Live, attempt, post } from "/static/live.js";

const BASE = "/matches";

async function get(address) {
  const answer = await fetch(address, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.status === 404 ? "It is not there any more." : `The server answered ${answer.status}.`);
  return answer.json();
}

// Draws after every change of what these names stand for; one at a time, and only while the page is seen.
function follow(names, draw) {
  let busy = false, again = false;
  const run = async () => {
    again = true;
    if (busy) return;
    busy = true;
    while (again && !document.hidden) {
      again = false;
      await attempt(draw, "part");
    }
    busy = false;
  };
  const live = new Live("watch");
  live.on("connected", () => attempt(() => live.ask("watch", { names }), "part"));
  live.on("changed", run);
  document.addEventListener("visibilitychange", () => { if (again) run(); });
}

// Replaces a part of the page; what was open stays open, and the focus where it was.
function fill(element, html) {
  if (element.dataset.html === html) return;
  const reached = () => [...element.querySelectorAll("a, button, summary")];
  const focused = reached().indexOf(document.activeElement);
  const open = [...element.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
  element.innerHTML = html;
  element.dataset.html = html;
  for (const summary of element.querySelectorAll("details > summary")) summary.parentElement.open = open.includes(summary.textContent);
  for (const box of element.querySelectorAll(".scroll")) box.tabIndex = 0;
  if (focused >= 0) reached()[focused]?.focus({ preventScroll: true });
}

function showList(list) {
  const form = document.getElementById("order");
  follow([""], async () => fill(list, (await get(`${BASE}?part=list`)).html));
  if (!form) return;
  const kinds = () => form.querySelectorAll(".sprt").forEach((label) => { label.hidden = form.kind.value !== "sprt"; });
  form.kind.onchange = kinds;
  kinds();
  form.onsubmit = (event) => {
    event.preventDefault();
    attempt(async () => {
      const fields = Object.fromEntries(new FormData(form));
      for (const input of form.querySelectorAll("[type=number]")) fields[input.name] = Number(input.value);
      location.assign((await post(`${BASE}/start`, fields)).address);
    });
  };
}

function showMatch(main) {
  const find = (id) => document.getElementById(id);
  const { name } = main.dataset, path = location.pathname;
  const encoded = name.split("/").map(encodeURIComponent).join("/");
  let first = 0;

  const showLive = (live) => {
    document.title = document.title.replace(/^.* · /, `${live.title} · `);
    main.querySelector("h1").textContent = live.title;
    find("state").textContent = live.state;
    find("stop").hidden = !live.stoppable;
    find("stop").disabled = live.job?.state === "stopping";
    find("resume").hidden = !live.resumable;
    const failed = live.job?.state === "failed";
    find("job").hidden = !(live.job?.lines.length && failed);
    find("job").textContent = live.job?.lines.join("\n") ?? "";
    if (live.html !== undefined) fill(find("standing"), live.html);  // at first the page has it already
  };

  const showGames = async (games) => {
    first = games.first;
    find("games").hidden = games.games === 0;
    if (games.games && !main.querySelector(".walks")) await showBoard(games.board);
    fill(find("rows"), games.html);
    const last = Math.min(first + games.count, games.games);
    find("place").textContent = games.games ? `${first + 1} to ${last} of ${games.games.toLocaleString("en-US")}` : "";
    find("newer").disabled = first === 0;
    find("older").disabled = last === games.games;
    find("newer").onclick = () => attempt(() => turn(Math.max(0, first - games.count)), "part");
    find("older").onclick = () => attempt(() => turn(first + games.count), "part");
  };

  const turn = async (place) => showGames(await get(`${path}?part=games&first=${place}`));

  const showBoard = (html) => new Promise((resolve, reject) => {
    find("board").innerHTML = html;
    const script = Object.assign(document.createElement("script"), { src: "/static/walks.js", onload: resolve, onerror: reject });
    document.head.append(script);
  });

  const openGame = async (number, scroll) => {
    const game = await get(`${path}?game=${number}`);
    const box = main.querySelector(".walks");
    box.dispatchEvent(new CustomEvent("walk", { detail: { game, ply: 0 } }));
    find("title").textContent = game.title;
    history.replaceState(null, "", `#game=${number}`);
    if (scroll) box.scrollIntoView({ block: "nearest" });
  };

  find("rows").onclick = (event) => {
    const button = event.target.closest("[data-game]");
    if (button) attempt(() => openGame(button.dataset.game, true), "part");
  };
  find("stop").onclick = () => attempt(() => post(`${BASE}/stop/${encoded}`, {}));
  find("resume").onclick = () => attempt(() => post(`${BASE}/resume/${encoded}`, {}));

  const begin = JSON.parse(find("first").textContent);
  showLive(begin.live);
  attempt(async () => {
    await showGames(begin.games);
    const wanted = /^#game=(\d+)$/.exec(location.hash);
    if (wanted) await openGame(wanted[1], false);
  });
  follow([name], async () => {
    showLive(await get(`${path}?part=live`));
    await turn(first);
  });
}

const list = document.getElementById("list"), main = document.getElementById("match");
if (list) showList(list);
if (main) showMatch(main);
