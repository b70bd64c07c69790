// The form of a new game: game, start, and for each side who plays it and how long it may take.

import { attempt } from "./live.js";

const OTHER = "other", ODDS = "odds";
const FIRST_HANDICAP = "queen d1";
const LIMITS = [["", "as in its text"], ["visits", "visits a move"], ["seconds", "seconds a move"], ["clock", "clock"]];
const AMOUNTS = { visits: "400", seconds: "1", clock: "5:00+3" };

export class Setup {
  // onPreview(position): the start that is chosen, null: none is looked at.
  constructor(form, live, { onPreview = () => {} } = {}) {
    this.form = form;
    this.live = live;
    this.onPreview = onPreview;
    this.sides = [...form.querySelectorAll("[data-side]")].map((box) => new SideForm(box));
    this.described = null;
    form.elements.game.onchange = () => attempt(() => this.describe());
    form.elements.spec.onchange = () => attempt(() => this.describe());
    form.elements.start.onchange = () => attempt(() => this.starts());
    for (const { who } of this.sides) who.addEventListener("change", () => { if (this.atOdds) attempt(() => this.handicap({})); });
    for (const name of ["odds", "gives", "start960"]) form.elements[name].onchange = () => attempt(() => this.handicap({ changed: name }));
  }

  get game() {
    return this.form.elements.game.value || this.form.elements.spec.value.trim();
  }

  // Who would play each side, in words.
  get names() {
    const persons = this.sides.filter(({ who }) => who.value === "person").length;
    return this.sides.map(({ who, player }, side) => (who.value === "person" ? (persons === 1 ? "You" : this.described.side_names[side])
      : who.value === OTHER ? player.value.trim() : who.selectedOptions[0].textContent));
  }

  // Fits the form to the game: its players, its starts.
  async describe(kept = null) {
    const { game, spec, start } = this.form.elements;
    spec.parentElement.hidden = Boolean(game.value);
    if (!this.game) { spec.focus(); return; }
    const described = await this.live.ask("describe", { game: this.game });
    const chosen = described.game === this.described?.game ? start.value : "";
    this.described = described;
    this.form.querySelector("datalist").replaceChildren(...this.described.nets.map((net) => new Option("", `net=${quoted(net)} visits=400`)),
      ...this.described.players.filter(({ text }) => text).map(({ text }) => new Option("", text)));
    const options = [["", "the usual start"]];
    if (described.odds.length) options.push([ODDS, "at odds"]);
    document.getElementById("handicaps").replaceChildren(...described.odds.map((name) => new Option("", name)));
    const humans = described.players.filter(({ text }) => text.startsWith("human-"));
    this.form.elements.against.replaceChildren(new Option("best play", ""), ...humans.map(({ text, label }) => new Option(label, text)));
    this.form.elements.against.parentElement.hidden = !humans.length; // there is nothing to choose
    if (this.described.has_fen) options.push([OTHER, "a position (FEN)"]);
    start.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    start.value = chosen;
    start.parentElement.hidden = options.length === 1;
    await this.starts();
    this.form.dataset.game = described.game;
    this.sides.forEach((side, number) => { side.legend.textContent = described.side_names[number]; });
    this.sides.forEach((side, number) => side.offer(this.described.players, kept?.sides?.[number] ?? (kept ? undefined : side.side())));
  }

  get atOdds() {
    return this.form.elements.start.value === ODDS;
  }

  async starts() {
    const { start, fen, odds } = this.form.elements;
    fen.parentElement.hidden = start.value !== OTHER;
    odds.closest("fieldset").hidden = !this.atOdds;
    if (!this.atOdds) { this.onPreview(null); return; }
    if (!odds.value) odds.value = FIRST_HANDICAP;
    await this.handicap({});
  }

  // Shows the start of the handicap. toggle: a square whose piece is given, or no longer; changed: a field.
  async handicap({ toggle = "", changed = "" }) {
    const { odds } = this.form.elements;
    if (changed && changed !== "odds") odds.value = odds.value.replace(/ [a-h][1-8]/g, ""); // squares of another start or side
    if (changed === "gives") this.giverIsEngine();
    const flip = this.sides[0].side().player !== null && this.sides[1].side().player === null;
    const reply = await this.live.ask("odds", { ...this.given(), toggle, flip });
    odds.value = reply.odds;
    this.onPreview(reply.position);
  }

  // The stronger side gives: of an engine and a person the engine, whichever colour that is.
  giverIsEngine() {
    const giver = this.form.elements.gives.value === "white" ? 0 : 1;
    const isPerson = this.sides.map((side) => side.side().player === null);
    if (isPerson[giver] && !isPerson[1 - giver]) this.swap();
  }

  given() {
    const { odds, gives, start960 } = this.form.elements;
    return { odds: odds.value.trim(), gives: gives.value, start: Number(start960.value) };
  }

  // Shows the settings of a game that goes on.
  async fill(order) {
    const { game, spec, start, fen, odds, gives, start960, against } = this.form.elements;
    const listed = [...game.options].some((option) => option.value === order.game);
    game.value = listed ? order.game : "";
    spec.value = listed ? "" : order.game;
    odds.value = order.odds?.odds ?? ""; // no handicap that was refused stays
    await this.describe({ sides: [{ player: null }, { player: "", visits: 400 }], ...order });
    start.value = order.odds ? ODDS : order.fen ? OTHER : "";
    fen.value = order.fen ?? "";
    if (order.odds) [gives.value, start960.value] = [order.odds.gives, order.odds.start];
    against.value = order.sides?.find((side) => side.against)?.against ?? "";
    this.form.elements.odds_mode.checked = order.odds_mode ?? true;
    await this.starts();
  }

  order() {
    const { start, fen, odds_mode: oddsMode, against } = this.form.elements;
    const sides = this.sides.map((side) => side.side());
    if (this.atOdds) for (const side of sides) if (side.player !== null && against.value) side.against = against.value;
    const flip = sides[0].player !== null && sides[1].player === null && Boolean(this.described?.has_fen);
    return { game: this.game, fen: start.value === OTHER ? fen.value.trim() : "", odds: this.atOdds ? this.given() : null, sides, flip, odds_mode: oddsMode.checked };
  }

  swap() {
    const [first, second] = this.sides.map((side) => side.side());
    this.sides[0].offer(this.described.players, second);
    this.sides[1].offer(this.described.players, first);
  }
}

const quoted = (word) => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`);

class SideForm {
  constructor(box) {
    const [who, player, limit, amount] = ["who", "player", "limit", "amount"].map((name) => box.querySelector(`[name=${name}]`));
    Object.assign(this, { who, player, limit, amount, legend: box.querySelector("legend") });
    who.onchange = () => { this.limits(); this.limit.value = this.usual; this.amounts(); };
    limit.onchange = () => this.amounts();
  }

  // The limit that suits who plays.
  get usual() {
    return this.who.value === "engine:" ? "visits" : "";
  }

  offer(players, side) {
    this.who.replaceChildren(new Option("person", "person"), ...players.map(({ text, label }) => new Option(label, `engine:${text}`)),
      new Option("another player…", OTHER));
    const { player, ...limits } = side;
    const listed = player === null ? "person" : `engine:${player}`;
    this.who.value = [...this.who.options].some((option) => option.value === listed) ? listed : OTHER;
    this.player.value = this.who.value === OTHER ? player : "";
    this.limits();
    this.limit.value = Object.keys(AMOUNTS).find((name) => limits[name]) ?? "";
    this.amounts(limits[this.limit.value]);
  }

  // Offers the limits that such a player can have.
  limits() {
    const person = this.who.value === "person", own = this.who.value === "engine:";
    this.player.parentElement.hidden = this.who.value !== OTHER;
    const searches = own || this.who.value === OTHER || this.who.value.startsWith("engine:net=");
    const fits = (name) => (name === "" ? !own : name === "clock" || (searches && !person));
    this.limit.replaceChildren(...LIMITS.filter(([name]) => fits(name)).map(([name, text]) => (
      new Option(name === "" && person ? "none" : text, name))));
  }

  amounts(value = AMOUNTS[this.limit.value]) {
    this.amount.parentElement.hidden = !this.limit.value;
    this.amount.previousElementSibling.textContent = { visits: "Visits", seconds: "Seconds", clock: "min:s+s" }[this.limit.value] ?? "";
    this.amount.value = value ?? "";
    this.amount.inputMode = this.limit.value === "clock" ? "text" : "decimal";
  }

  // As the session takes it.
  side() {
    const text = this.who.value === OTHER ? this.player.value.trim() : this.who.value.replace(/^engine:/, "");
    const side = { player: this.who.value === "person" ? null : text };
    if (this.limit.value === "clock") side.clock = this.amount.value.trim();
    else if (this.limit.value) side[this.limit.value] = Number(this.amount.value);
    return side;
  }
}
