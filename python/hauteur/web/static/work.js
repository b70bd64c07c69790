// Pages about work in folders: parts that follow files, and buttons that start and stop work.

import { attempt, post } from "/static/live.js";
import "/static/watch.js";

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-post]");
  if (!button) return;
  button.disabled = true;
  await attempt(() => post(button.dataset.post, {}));
  setTimeout(() => { button.disabled = false; }, 1000);
});
