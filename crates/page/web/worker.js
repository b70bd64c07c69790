// The worker behind a page without a server: it loads the core and the nets once, then answers requests and searches between them.

import { coreFile } from "./builds.js";
import init, { WorkerPage } from "./core.js";
import { Shares } from "./shares.js";

const SLICE = 25; // milliseconds of work between two looks at requests
const file = (name) => new URL(`../${name}`, import.meta.url);
const channel = new MessageChannel(); // its messages come after those of the page, without the delay of timers

let page = null, working = false, alarm = null;
const shares = new Shares();
const early = []; // requests that came before the core

function send() {
  for (const event of page.events()) postMessage(event);
}

function answer(text) {
  postMessage(page.answer(text));
  send();
  work();
}

function work() {
  if (working) return;
  working = true;
  channel.port2.postMessage(null);
}

channel.port1.onmessage = () => {
  const end = performance.now() + SLICE;
  let waits = false;
  do {
    working = page.turn();
    waits = working && shares.send(() => channel.port2.postMessage(null));
  } while (working && !waits && performance.now() < end);
  send();
  clearTimeout(alarm);
  if (waits) return;
  if (working) channel.port2.postMessage(null);
  else if (page.alarm() !== undefined) alarm = setTimeout(work, page.alarm());
};

onmessage = ({ data }) => (page ? answer(data) : early.push(data));

async function loaded(name) {
  const reply = await fetch(file(name));
  if (!reply.ok) throw new Error(`${name} could not be loaded (${reply.status})`);
  return reply;
}

// What is waited for, and how much of it is there.
let files = 0, done = 0;

async function counted(loading) {
  files += 1;
  const found = await loading;
  done += 1;
  postMessage({ loaded: done, of: files });
  return found;
}

// The bytes of a file that is stored with gzip; hosts that say so in a header have it unpacked already.
async function unpacked(name) {
  const bytes = new Uint8Array(await (await loaded(name)).arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

async function compiled(name) {
  const reply = await loaded(name);
  const hasType = reply.headers.get("content-type") === "application/wasm"; // without it browsers compile no streams
  return hasType ? WebAssembly.compileStreaming(reply) : WebAssembly.compile(await reply.arrayBuffer());
}

async function load() {
  const facts = loaded("facts.json").then((reply) => reply.text());
  const core = counted(compiled(coreFile()));
  const net = async ({ name }) => [name, await counted(unpacked(`nets/${name}.net.gz`))];
  const nets = facts.then((text) => Promise.all(JSON.parse(text).nets.map(net)));
  const module = await core;
  await init({ module_or_path: module });
  const now = new Date(), [seed] = crypto.getRandomValues(new Uint32Array(1));
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  const made = new WorkerPage(self.name, await facts, seed, date);
  for (const [name, bytes] of await nets) made.add_net(name, bytes);
  shares.open(made, module, await facts, new Map(await nets));
  page = made;
  postMessage(JSON.stringify({ event: "ready", fields: {} }));
  early.splice(0).forEach(answer);
}

load().catch((error) => setTimeout(() => { throw error; })); // the page shows it
