// Numbers as the pages show them: always the same width, a dash where there is none.

export const whole = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US"));
export const percent = (value, digits = 1) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`);
export const signed = (value, digits = 3) => (value === null || value === undefined
  ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`);
export const seconds = (value) => (value < 60 ? `${value.toFixed(1)} s`
  : value < 3600 ? `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`
    : `${Math.floor(value / 3600)} h ${Math.round((value % 3600) / 60)} min`);

// A bar of win, draw, loss, shares from 0 to 1, with its text for screen readers.
export function wdlBar(element, wdl, names = ["win", "draw", "loss"]) {
  element.hidden = !wdl;
  if (!wdl) return;
  if (element.children.length !== 3) {
    element.classList.add("wdl");
    element.setAttribute("role", "img");
    element.replaceChildren(...["win", "draw", "loss"].map((kind) => Object.assign(document.createElement("i"), { className: kind })));
  }
  wdl.forEach((share, number) => {
    const part = element.children[number];
    part.style.flexGrow = share;
    const text = share >= 0.12 ? `${Math.round(100 * share)}%` : "";
    if (part.textContent !== text) part.textContent = text;
  });
  element.setAttribute("aria-label", wdl.map((share, number) => `${names[number]} ${Math.round(100 * share)} %`).join(", "));
}
