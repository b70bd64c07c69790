"""What this process is, as a worker."""

from __future__ import annotations

import os
import platform

from hauteur import __version__
from hauteur.cluster.fleet import WorkerFacts
from hauteur.system import hardware


def worker_facts(threads: int) -> WorkerFacts:
    """Return what this process is. Its device class is the processor's name: other processors may round otherwise."""
    return WorkerFacts(platform.node(), hardware.processor_name(), __version__, os.getpid(), threads)
