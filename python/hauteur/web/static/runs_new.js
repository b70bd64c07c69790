// The form of a new run.

import { attempt, post } from "/static/live.js";
import { SettingsForm } from "/static/settings.js";

const form = document.getElementById("new"), begin = document.getElementById("begin");
if (form) {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const groups = read("groups"), defaults = new Map(groups.flatMap((group) => group.settings.map((one) => [one.key, one.default])));
  const settings = new SettingsForm(document.getElementById("settings"), groups, { label: "recipe" });
  settings.values = Object.fromEntries(read("shown").map((key) => [key, defaults.get(key)]));
  const use = () => { if (begin.recipe.value !== form.recipe.value) begin.submit(); };
  begin.recipe.onchange = use;
  use();  // chosen before this script was there, or by going back
  document.getElementById("use").hidden = true;
  form.onsubmit = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(Object.entries(settings.values).filter(([key, value]) => value !== defaults.get(key)));
    const fields = { recipe: form.recipe.value, game: form.game.value.trim(), name: form.name.value.trim(), settings: values };
    const button = form.querySelector("button.main");
    button.disabled = true;
    const reply = await attempt(() => post("/runs/start", fields));
    button.disabled = false;
    if (reply) location.href = reply.address;
  };
}
