"""Makes every batch of a network take HAUTEUR_BATCH_MS milliseconds longer, in which the processor is free.

Workers that import this file wait as for a network on a device of its own, so that one machine can show more workers
than it has processors.
"""

import os
import time
from typing import Any

from hauteur.networks.evaluators.openvino import OpenVinoEvaluator

SECONDS = float(os.environ["HAUTEUR_BATCH_MS"]) / 1000
submit = OpenVinoEvaluator.submit


def slower(self: OpenVinoEvaluator, features: Any) -> Any:
    """Start the computation after the time of a device."""
    time.sleep(SECONDS)
    return submit(self, features)


OpenVinoEvaluator.submit = slower  # type: ignore[method-assign]
