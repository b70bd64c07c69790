// Parts of a page that follow files (web/watch.py). A part is an element with
//   data-part: the address of its HTML; data-stamp: the ETag of what it shows.
// While the page is visible it is asked for again, and filled in after a change. What is folded or focused stays so.

import { notice } from "./live.js";

const PERIOD = 1000;  // milliseconds between two questions
const parts = [...document.querySelectorAll("[data-part]")];
let released;  // what is being clicked is not replaced between press and release
addEventListener("pointerdown", () => {
  released = new Promise((done) => {
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(done), { once: true });
    setTimeout(done, 2000);
  });
});

for (const element of parts) tabs(element);
setTimeout(look, PERIOD);

async function look() {
  try {
    if (!document.hidden) {
      await renewAll();
      notice("part", "");
    }
  } catch (error) {
    notice("part", error.message, "error");
  }
  setTimeout(look, PERIOD);
}

// Fills in what has changed, now.
export async function renewAll() {
  for (const element of parts) await renew(element);
}

async function renew(element) {
  const asked = { headers: { "If-None-Match": element.dataset.stamp }, cache: "no-store" };
  const answer = await fetch(element.dataset.part, asked).catch(() => { throw new Error("The server does not answer."); });
  if (answer.status === 304) return;
  if (!answer.ok) throw new Error(`The server answers ${answer.status}; reload the page`);
  const html = await answer.text();
  await released;
  fill(element, html);
  element.dataset.stamp = answer.headers.get("ETag");
}

function fill(element, html) {
  const all = (selector) => [...element.querySelectorAll(selector)];
  const open = all("details").map((one) => one.open), reached = "a, button, summary, input, [tabindex]";
  const focused = all(reached).indexOf(document.activeElement);
  element.innerHTML = html;
  all("details").forEach((one, index) => { one.open = open[index] ?? one.open; });
  tabs(element);
  if (focused >= 0) all(reached)[focused]?.focus({ preventScroll: true });
}

// What can be scrolled can be reached by keyboard.
function tabs(element) {
  for (const box of element.querySelectorAll(".scroll, pre")) box.tabIndex = 0;
}
