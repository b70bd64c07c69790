// Pages about work in folders: parts that follow files, and buttons that start and stop work.

import { attempt, notice, post } from "/static/live.js";
import "/static/watch.js";

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-post]");
  if (button) send(button, button.dataset.post, {});
});

document.addEventListener("submit", (event) => {
  const listing = event.target.closest("form.listing");
  if (listing && listing.querySelectorAll("input:checked").length < 2) {
    event.preventDefault();
    notice("page", "Choose two or more of the list.", "error");
  }
  const form = event.target.closest("form[data-post]");
  if (!form) return;
  event.preventDefault();
  const numbers = [...form.querySelectorAll("input[type=number]")].map((input) => [input.name, Number(input.value)]);
  send(form.querySelector("button"), form.dataset.post, Object.fromEntries(numbers));
});

async function send(button, address, fields) {
  button.disabled = true;
  await attempt(() => post(address, fields));
  setTimeout(() => { button.disabled = false; }, 1000);
}
