// Runs and matches that the server works on: the form that begins one (data-begin: the request), and the buttons of those
// that there are (data-job: the request, data-name). What comes of it is in the parts that follow files.

import { Live, attempt } from "./live.js";
import { renewAll } from "./watch.js";

const live = new Live("jobs");
const form = document.querySelector("[data-begin]");

async function ask(button, request, fields) {
  button.disabled = true;
  try {
    await live.settled();
    await live.ask(request, fields);
  } finally {
    button.disabled = false;
  }
  await renewAll();
}

addEventListener("click", ({ target }) => {
  const button = target.closest?.("button[data-job]");
  if (button) attempt(() => ask(button, button.dataset.job, { name: button.dataset.name }));
});

if (form) {
  const { elements } = form, panel = form.closest("details");
  panel.open = !document.querySelector("#list tbody");  // nothing is there yet
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      await ask(form.querySelector("button"), form.dataset.begin, given(form));
      elements.name.value = "";
      panel.open = false;
    });
  });
  if (elements.recipe) follow(elements.recipe, showRecipe);
  if (elements.game) {
    follow(elements.game, () => live.ready && attempt(offerPlayers));
    live.on("connected", () => attempt(offerPlayers));
  }
}

// The fields that are filled in; numbers as such.
function given({ elements }) {
  const filled = [...elements].filter(({ name, value }) => name && value.trim() !== "");
  return Object.fromEntries(filled.map(({ name, type, value }) => [name, type === "number" ? Number(value) : value.trim()]));
}

function follow(select, show) {
  select.addEventListener("change", show);
  show();
}

function showRecipe() {
  const { generations, about } = form.elements.recipe.selectedOptions[0].dataset;
  form.elements.generations.placeholder = generations;
  document.getElementById("about").textContent = about;
}

// Offers the players of the chosen game, and puts the usual ones where none were written.
async function offerPlayers() {
  const { elements } = form, game = elements.game.value;
  const reply = await live.ask("players", { game });
  if (elements.game.value !== game) return;
  const options = reply.offered.map((text) => Object.assign(document.createElement("option"), { value: text }));
  document.getElementById("players").replaceChildren(...options);
  for (const side of ["a", "b"]) {
    const field = elements[side];
    if (field.value === (field.dataset.usual ?? "")) field.value = reply[side];
    field.dataset.usual = reply[side];
  }
}
