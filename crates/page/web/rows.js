// A worker that computes rows of nets for the worker of a page.
//
// It gets {module, facts} once, {net, bytes} before the first rows of a net, and {number, part, net, features}, which it answers.

import init, { RowsWorker } from "./core.js";

let worker = null;
let done = Promise.resolve(); // messages are handled one after the other

async function handle({ module, facts, net, bytes, features, number, part }) {
  if (module) {
    await init({ module_or_path: module });
    worker = new RowsWorker(facts);
    postMessage({ ready: true });
  } else if (bytes) {
    worker.add_net(net, bytes);
  } else {
    const answers = worker.answers(net, features);
    postMessage({ number, part, answers }, [answers.buffer]);
  }
}

onmessage = ({ data }) => { done = done.then(() => handle(data)).catch((error) => postMessage({ error: String(error) })); };
