// The keys of a page, as its module declares them (web/pages): each presses a button, or does what the script has for it.

const declared = JSON.parse(document.getElementById("declared-keys").textContent);
const dialog = document.getElementById("keys");
const acts = { list: () => dialog.showModal() };
const byName = new Map([["?", { act: "list" }]]);

for (const { names, act, text } of declared) {
  for (const name of act ? names.split(" ") : []) byName.set(name, { act });
  const control = act ? controlOf(act) : null;
  if (!control?.matches("button, select")) continue;
  control.title ||= `${text} (${names.split(" ").map((name) => (name.length === 1 ? name.toUpperCase() : name)).join(", ")})`;
  control.setAttribute("aria-keyshortcuts", names);
}

function controlOf(act) {
  return document.querySelector(`[data-go="${act}"]`) ?? document.getElementById(act);
}

// What keys do that press no button: {act: function}.
export function bindKeys(more) {
  Object.assign(acts, more);
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.target.closest?.("input:not([type=checkbox], [type=radio]), select, textarea")) return;
  const found = byName.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  if (!found) return;
  const control = controlOf(found.act);
  if (acts[found.act]) acts[found.act]();
  else if (control?.checkVisibility() && !control.disabled) control.click();
  else return;
  event.preventDefault();
});
document.getElementById("keys-close").onclick = () => dialog.close();
