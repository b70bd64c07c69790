// Other workers that compute parts of the batches of this one. Nothing is shared but messages, so no host needs headers for it.

const MOST_WORKERS = 4; // the worker of the page is one of them

export class Shares {
  // Begins the workers, so that their scripts are asked for with the other files of the page.
  constructor() {
    Object.assign(this, { page: null, nets: null, workers: [], resume: null, sent: null });
    const wanted = Math.min(navigator.hardwareConcurrency ?? 1, MOST_WORKERS) - 1;
    const canBegin = typeof Worker !== "undefined"; // in some browsers workers begin no workers
    this.begun = Array.from({ length: canBegin ? wanted : 0 }, () => new Worker(new URL("rows.js", import.meta.url), { type: "module" }));
  }

  // facts: JSON of the page; nets: bytes by name.
  open(page, module, facts, nets) {
    Object.assign(this, { page, nets });
    for (const worker of this.begun) {
      const one = { worker, known: new Set() };
      worker.onmessage = ({ data }) => this.hear(one, data);
      worker.onerror = (event) => { event.preventDefault(); this.end(event.message); };
      worker.postMessage({ module, facts });
    }
  }

  hear(one, { ready, error, number, part, answers }) {
    if (error) return this.end(error);
    if (ready) {
      this.workers.push(one);
      this.page.share_among(1 + this.workers.length);
    } else if (!this.page.take_answers(number, part, answers)) return;
    this.go();
  }

  // All is computed here from now on.
  end(reason) {
    console.warn(`rows are computed by one worker: ${reason}`);
    for (const worker of this.begun) worker.terminate();
    this.workers = [];
    this.page.share_among(1);
    this.go();
  }

  go() {
    const resume = this.resume;
    this.resume = null;
    resume?.();
  }

  // Sends what a search waits for to the others and computes this worker's part; whether there was such a batch. `resume` is called
  // once, when the search can go on.
  send(resume) {
    const asked = this.page.asked();
    if (!asked) return false;
    const { number, net, parts } = asked;
    asked.free();
    this.resume = resume;
    if (number === this.sent) return true; // a request came in between
    this.sent = number;
    for (let part = 1; part < parts; part++) {
      const one = this.workers[part - 1], features = this.page.features_of(part);
      if (!one.known.has(net)) one.worker.postMessage({ net, bytes: this.nets.get(net) });
      one.known.add(net);
      one.worker.postMessage({ number, part, net, features }, [features.buffer]);
    }
    try {
      this.page.compute_own();
    } catch (error) {
      this.end(error); // the search meets it again, and says so
    }
    return true;
  }
}
