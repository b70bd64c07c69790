// Parts of a page that follow files (web/watch.py). A part is an element with
//   data-part: the address of its HTML; data-watch: names of folders, a JSON list ("" is the list of all);
//   data-files: names of the files that it is made of; data-stamp: their state when it was made.
// After every change it is fetched again. Its folded parts stay as they were.

import { Live, notice } from "/static/live.js";

const parts = [...document.querySelectorAll("[data-part]")].map((element) => ({
  element, names: JSON.parse(element.dataset.watch), files: element.dataset.files.split(" "), busy: false,
}));
const names = [...new Set(parts.flatMap((part) => part.names))];
const versions = new Map();
const live = new Live("watch");

live.on("connected", listen);
live.on("changed", ({ name, version }) => {
  versions.set(name, version);
  for (const part of parts) if (part.names.includes(name)) renew(part);
});
document.addEventListener("visibilitychange", listen);

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
  try {
    const answer = await fetch(element.dataset.part);
    if (!answer.ok) throw new Error(`The server answers ${answer.status}; reload the page`);
    const folded = (place) => [...place.querySelectorAll("details")];
    const text = await answer.text(), open = folded(element).map((one) => one.open);
    element.innerHTML = text;
    folded(element).forEach((one, index) => { one.open = open[index] ?? one.open; });
    element.dataset.stamp = stamp;
    notice("part", "");
  } catch (error) {
    notice("part", error.message, "error");
    element.dataset.stamp = stamp;
  }
  part.busy = false;
  renew(part);
}
