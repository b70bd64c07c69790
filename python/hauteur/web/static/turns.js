// Work of a page that must not overlap.

import { attempt } from "./live.js";

// Work that is done one piece after the other.
export class Queue {
  constructor() { this.last = Promise.resolve(); }

  // The promise has what the work returns; undefined where it failed, of which the reader is told.
  add(work) {
    this.last = this.last.then(() => attempt(work));
    return this.last;
  }
}

// Work that is repeated: a call while it runs makes it run once more afterwards.
export class Repeated {
  constructor(work) { Object.assign(this, { work, running: false, again: false }); }

  async run() {
    this.again = this.running;
    if (this.running) return;
    this.running = true;
    try {
      await this.work();
    } finally {
      this.running = false;
    }
    if (this.again) await this.run();
  }
}
