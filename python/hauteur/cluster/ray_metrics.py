"""The scheduler's numbers as metrics of Ray, for its dashboard and for Prometheus; our own reports do without them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from hauteur.cluster.counts import Counts

SECONDS = 2.0
NOW = {
    "present": "Workers that are there",
    "in_flight": "Units at workers",
    "idle_share": "Share of the workers' time without a unit",
}
TOTAL = {
    "finished": "Units with a result",
    "retried": "Units that went back",
    "failed": "Units that a worker could not play",
    "replayed": "Units with a result that were played once more",
    "compared": "Units that were played again and compared",
    "differing": "Comparisons that differed",
    "replaced": "Results of wrong workers that were replaced",
}


class RayMetrics:
    """Shows a scheduler's counts as `hauteur_...`, in a thread of its own. counts: returns them."""

    def __init__(self, counts: Callable[[], Counts]) -> None:
        from ray.util import metrics

        self._counts = counts
        self._now = {name: metrics.Gauge(f"hauteur_{name}", text) for name, text in NOW.items()}
        self._total = {name: metrics.Counter(f"hauteur_{name}", text) for name, text in TOTAL.items()}
        self._shown = dict.fromkeys(TOTAL, 0)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    def show(self) -> None:
        """Set the metrics to the present numbers."""
        counts = self._counts()
        for name, gauge in self._now.items():
            gauge.set(getattr(counts, name))
        for name, counter in self._total.items():
            if (more := getattr(counts, name) - self._shown[name]) > 0:
                counter.inc(more)
                self._shown[name] += more

    def close(self) -> None:
        """Show the last numbers, and end."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        with suppress(Exception):  # a cluster that is gone has no metrics
            while not self._closed.wait(SECONDS):
                self.show()
            self.show()
