// Visits and Q of the best moves over the time of a search, drawn anew about once a second, and the moment looked at.

import { svg } from "./board_svg.js";
import { percent, seconds, signed, whole } from "./numbers.js";

const WIDTH = 600, HEIGHT = 200, GAP = 24, TOP = 6, MOST = 6;

export class Chart {
  // element: gets the chart; slider, output: choose the moment. onMoment(visits): null is now.
  constructor(element, slider, output, { onMoment = () => {} } = {}) {
    Object.assign(this, { slider, output, onMoment });
    const titles = make("div", "chart-titles", element);
    this.titles = [make("span", "", titles), make("span", "", titles)];
    this.svg = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": "no search yet" }, element);
    for (const left of [0, WIDTH / 2 + GAP / 2]) for (const part of [0, 0.5, 1]) {
      const y = TOP + part * (HEIGHT - 2 * TOP);
      svg("path", { class: "axis", d: `M${left} ${y}h${WIDTH / 2 - GAP / 2}` }, this.svg);
    }
    this.lines = svg("g", {}, this.svg);
    this.now = svg("path", { class: "now" }, this.svg);
    this.names = make("p", "names", element);
    slider.oninput = () => this.choose(Number(slider.value));
    this.clear();
  }

  clear() {
    this.history = { seconds: [], visits: [], moves: [] };
    this.chosen = null;
    this.draw();
  }

  // history: of the session: seconds, visits, moves with visits and q of every sample.
  show(history) {
    this.history = history;
    this.draw();
  }

  choose(number) {
    const last = this.history.visits.length - 1;
    this.chosen = number >= last ? null : this.history.visits[number];
    this.draw();
    this.onMoment(this.chosen);
  }

  // The sample that is looked at, by its visits: samples are thinned while the search goes on.
  get place() {
    const { visits } = this.history;
    if (this.chosen === null) return visits.length - 1;
    const after = visits.findIndex((count) => count >= this.chosen);
    return after < 0 ? visits.length - 1 : after;
  }

  draw() {
    const { history, slider, place } = this;
    const count = history.visits.length, end = history.seconds.at(-1) || 1, half = WIDTH / 2 - GAP / 2;
    const x = (number, left) => left + (half * history.seconds[number]) / end;
    const y = (part) => TOP + (1 - part) * (HEIGHT - 2 * TOP);
    const moves = history.moves.slice(0, MOST);
    const shares = moves.map(({ visits }) => visits.map((own, number) => own / Math.max(1, history.visits[number] - 1)));
    const top = bound(shares.flat()), reach = bound(moves.flatMap(({ q }) => q.map(Math.abs)));
    this.titles[0].textContent = `share of the visits, 0 to ${percent(top, 0)}`;
    this.titles[1].textContent = `Q for the player to move, ${signed(-reach, 2)} to ${signed(reach, 2)}`;
    const path = (values, left) => values.map((value, number) => (value === null ? "" : `${x(number, left).toFixed(1)} ${y(value).toFixed(1)}`))
      .filter(Boolean).join("L");
    while (this.lines.children.length > 2 * moves.length) this.lines.lastChild.remove();
    moves.forEach(({ q }, number) => {
      const levels = q.map((value) => (value === null ? null : (value / reach + 1) / 2));
      [path(shares[number].map((share) => share / top), 0), path(levels, half + GAP)].forEach((points, side) => {
        const line = this.lines.children[2 * number + side] ?? svg("path", {}, this.lines);
        line.setAttribute("class", `c${number}`);
        line.setAttribute("d", points ? `M${points}` : "");
      });
    });
    this.legend(moves, place);
    const cursor = (left) => `M${x(place, left).toFixed(1)} ${TOP}V${HEIGHT - TOP}`;
    this.now.setAttribute("d", this.chosen === null || count < 2 ? "" : cursor(0) + cursor(half + GAP));
    slider.max = Math.max(0, count - 1);
    slider.disabled = count < 2;
    slider.value = Math.max(0, place);
    const text = count === 0 ? "no search yet" : this.chosen === null ? `now, ${whole(history.visits[place])} visits`
      : `${seconds(history.seconds[place])}, ${whole(history.visits[place])} visits`;
    this.output.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    this.svg.setAttribute("aria-label", count === 0 ? "no search yet"
      : `shares of visits and Q over ${seconds(end)}: ${moves.map(({ text: move }) => move).join(", ")}`);
  }

  legend(moves, place) {
    while (this.names.children.length > moves.length) this.names.lastChild.remove();
    moves.forEach(({ text, visits, q }, number) => {
      let name = this.names.children[number];
      if (!name) {
        name = make("span", "", this.names);
        make("i", `c${number}`, name);
        name.append("");
      }
      name.lastChild.data = `${text}  ${whole(visits[place])}  ${signed(q[place])}`;
    });
  }
}

// The end of an axis that has all these values.
function bound(values) {
  const most = Math.max(0, ...values);
  return [0.1, 0.25, 0.5].find((end) => most <= end) ?? Math.max(1, most);
}

function make(name, kind, parent) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}
