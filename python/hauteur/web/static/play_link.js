// The address that opens a game of one person against an engine: made from an order of the form, and read as one.
//
// odds.html?odds=queen&gives=white&visits=400: all is optional. Without `you` the person has the side that gives nothing.

import { pageAt } from "./pages.js";

const SIDES = ["first", "second"];
const GIVERS = ["white", "black"];
const STARTS = 960, USUAL_START = 518;
const KNOWN = ["game", "fen", "odds", "gives", "start", "settings", "you", "player", "visits", "seconds", "clock"];
const LIMITS = ["visits", "seconds", "clock"];

// The order of an address, null where it names none. An Error in one line for what is not allowed.
export function orderOf(search) {
  const given = new URLSearchParams(search);
  const names = [...given.keys()];
  if (!names.some((name) => name !== "game")) return null;
  const unknown = names.find((name) => !KNOWN.includes(name));
  if (unknown) throw new Error(`this link has ${unknown}=; a link has ${KNOWN.join(", ")}`);
  const twice = names.find((name, number) => names.indexOf(name) !== number);
  if (twice) throw new Error(`this link has ${twice}= twice`);
  const game = given.get("game") ?? "chess", odds = given.has("odds") ? handicapOf(given) : null;
  if (odds && game !== "chess") throw new Error(`this link has odds=, which are for chess alone, and game=${game}`);
  if (odds && given.has("fen")) throw new Error("this link has odds= and fen=; a game begins at one of them");
  const giver = odds ? GIVERS.indexOf(odds.gives) : 1;
  const person = given.has("you") ? SIDES.indexOf(one(given, "you", SIDES)) : 1 - giver;
  const sides = [{ player: null }, { player: given.get("player") ?? "", ...limitOf(given) }];
  if (given.has("clock")) sides[0].clock = given.get("clock");
  if (person === 1) sides.reverse();
  const settings = one(given, "settings", ["odds", "usual"], "odds");
  return { game, fen: given.get("fen") ?? "", odds, sides, flip: person === 1, odds_mode: settings === "odds" };
}

// The value of a name that is one of these.
function one(given, name, allowed, usual) {
  const value = given.get(name) ?? usual;
  if (!allowed.includes(value)) throw new Error(`this link has ${name}=${value}, allowed are ${allowed.join(" and ")}`);
  return value;
}

function handicapOf(given) {
  const start = given.get("start") ?? String(USUAL_START);
  if (!/^\d{1,3}$/.test(start) || Number(start) >= STARTS) throw new Error(`this link has start=${start}, allowed are 0 to ${STARTS - 1}`);
  return { odds: given.get("odds"), gives: one(given, "gives", GIVERS, "white"), start: Number(start) };
}

// What a move of the engine may take: 400 visits, unless the player's own text says how many.
function limitOf(given) {
  const names = LIMITS.filter((name) => given.has(name));
  if (names.length > 1) throw new Error(`this link has ${names.join("= and ")}=; a link has one limit`);
  if (!names.length) return given.get("player") ? {} : { visits: 400 };
  const [name] = names, value = given.get(name);
  if (name === "clock") return { clock: value };
  if (!(Number(value) > 0)) throw new Error(`this link has ${name}=${value}, allowed are numbers above 0`);
  return { [name]: Number(value) };
}

// The address of a game, from its order. An Error for one that is not a person's against an engine.
export function linkOf(order) {
  const person = order.sides.findIndex(({ player }) => player === null);
  const engine = order.sides[1 - person];
  if (person < 0 || engine.player === null) throw new Error("a link is for one person against an engine: choose who plays");
  const fields = { game: order.game, you: SIDES[person] };
  if (order.fen) fields.fen = order.fen;
  if (order.odds) Object.assign(fields, order.odds);
  if (order.odds && !order.odds_mode) fields.settings = "usual";
  if (engine.player) fields.player = engine.player;
  for (const name of LIMITS) if (engine[name]) fields[name] = engine[name];
  if (order.sides[person].clock !== engine.clock) throw new Error("a link gives both sides the same clock, or none");
  const page = new URL(pageAt(order.odds ? "odds" : "play"), location.href);
  page.search = new URLSearchParams(fields);
  return page.href;
}

// What a link at odds asks for, as people write it.
export function challenge(order) {
  if (!order.odds) return "";
  const engineGives = order.sides[GIVERS.indexOf(order.odds.gives)].player !== null;
  return engineGives ? invitation(order.odds.odds) : `Win without your ${namesOf(order.odds.odds)}`;
}

// What a game asks of a person to whom the engine gives these pieces.
export const invitation = (pieces) => `Beat the engine that gave you its ${namesOf(pieces)}`;

const namesOf = (pieces) => pieces.replace(/ [a-h][1-8]/g, "").replaceAll(" + ", " and ");
