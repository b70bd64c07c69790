// The search of the page Analyse: whether it runs, its limit and its newest report, with its button and its line of figures.

import { seconds, whole } from "./numbers.js";

const USUAL_ENDS = ["stopped", "visits", "time"];

export class Search {
  // button: starts and stops it; pace: its line.
  constructor(live, { button, pace }) {
    Object.assign(this, { live, button, pace });
    this.limit = { kind: "visits", amount: 10000 }; // kind: "visits", "seconds", "": until it is stopped
    this.target = {}; // the limit of the running one, and the seconds that were searched before it
    this.clear();
  }

  // Another position, of which nothing is known yet.
  clear() {
    this.report = null; // the newest
    this.number = null; // which its reports carry
    this.run(false);
  }

  run(on) {
    this.running = on;
    this.button.textContent = on ? "Stop" : this.report ? "Go on" : "Search";
    this.button.classList.toggle("main", !on);
  }

  async start() {
    const { kind, amount } = this.limit, done = this.report?.visits ?? 0;
    const order = kind ? { [kind]: kind === "visits" ? Math.round(done + amount) : amount } : {};
    this.target = { ...order, began: this.report?.seconds ?? 0 };
    this.run(true);
    try {
      ({ number: this.number } = await this.live.ask("start", order));
    } catch (error) {
      this.run(false);
      throw error;
    }
  }

  stop() {
    this.run(false);
    return this.live.ready ? this.live.ask("stop") : undefined;
  }

  // Takes a report; false: it is of an earlier search.
  take(found) {
    if (found.number !== this.number) return false;
    this.report = found;
    const { visits, visits_per_second: speed, depth, seldepth, memory, reason } = found;
    const end = reason && !USUAL_ENDS.includes(reason) ? `  ${reason}` : "";
    this.pace.textContent = `${whole(visits)} visits  ${whole(speed)} / s  depth ${depth.toFixed(1)} (${seldepth})  ${whole(memory / 1e6)} MB`
      + `  ${seconds(found.seconds)}${end || (reason ? "" : this.timeLeft(found))}`;
    return true;
  }

  // How long it will still take, as text; empty where nothing ends it.
  timeLeft({ visits, visits_per_second: speed, seconds: passed }) {
    const { target } = this;
    const left = target.seconds ? target.seconds + target.began - passed : target.visits && speed ? (target.visits - visits) / speed : 0;
    return this.running && left > 0 ? `  ${seconds(left)} left` : "";
  }
}
