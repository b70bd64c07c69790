// Parts of a page that follow files (web/watch.py). A part is an element with
//   data-part: the address of its HTML; data-watch: names of folders, a JSON list ("" is the list of all);
//   data-files: names of the files that it is made of; data-stamp: their state when it was made.
// After every change it is fetched again. What is folded, ticked or focused in it stays so.

import { Live, notice } from "/static/live.js";

const parts = [...document.querySelectorAll("[data-part]")].map((element) => ({
  element, names: JSON.parse(element.dataset.watch), files: element.dataset.files.split(" "), busy: false,
}));
const names = [...new Set(parts.flatMap((part) => part.names))];
const versions = new Map();
const live = new Live("watch");
let released;  // what is being clicked is not replaced between press and release
addEventListener("pointerdown", () => {
  released = new Promise((done) => {
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(done), { once: true });
    setTimeout(done, 2000);
  });
});

live.on("connected", listen);
live.on("changed", ({ name, version }) => {
  versions.set(name, version);
  for (const part of parts) if (part.names.includes(name)) renew(part);
});
document.addEventListener("visibilitychange", listen);
for (const part of parts) tabs(part.element);

function listen() {
  live.ask("watch", { names: document.hidden ? [] : names }).catch(() => {});
}

function stampOf({ names, files }) {
  if (names.some((name) => !versions.has(name))) return undefined;
  return names.flatMap((name) => files.map((file) => versions.get(name)[file] ?? "-")).join(" ");
}

async function renew(part) {
  const { element } = part, stamp = stampOf(part);
  if (part.busy || stamp === undefined || stamp === element.dataset.stamp) return;
  part.busy = true;
  element.dataset.stamp = stamp;
  try {
    const answer = await fetch(element.dataset.part);
    if (!answer.ok) throw new Error(`The server answers ${answer.status}; reload the page`);
    const html = await answer.text();
    await released;
    fill(element, html);
    notice("part", "");
  } catch (error) {
    notice("part", error.message, "error");
  }
  part.busy = false;
  renew(part);
}

function fill(element, html) {
  const all = (selector) => [...element.querySelectorAll(selector)];
  const open = all("details").map((one) => one.open), reached = "a, button, summary, input, [tabindex]";
  const ticked = all("input:checked").map((one) => one.value), focused = all(reached).indexOf(document.activeElement);
  element.innerHTML = html;
  all("details").forEach((one, index) => { one.open = open[index] ?? one.open; });
  for (const one of all("input[type=checkbox]")) one.checked = ticked.includes(one.value);
  tabs(element);
  if (focused >= 0) all(reached)[focused]?.focus({ preventScroll: true });
}

// What can be scrolled can be reached by keyboard.
function tabs(element) {
  for (const box of element.querySelectorAll(".scroll, pre")) box.tabIndex = 0;
}
