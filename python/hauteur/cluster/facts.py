"""What this process is, as a worker."""

from __future__ import annotations

import os
import platform

from hauteur import __version__
from hauteur.cluster.fleet import WorkerFacts
from hauteur.system import hardware
from hauteur.system.extras import installed_version

BACKENDS = ("onnxruntime", "torch")
"""Distributions that compute nets beside the core: each release may round in its own way."""


def worker_facts(threads: int) -> WorkerFacts:
    """Return what this process is. threads: of each net on the processor."""
    return WorkerFacts(platform.node(), device_class(), __version__, os.getpid(), threads)


def device_class() -> str:
    """Return what decides how this process rounds: processor, vector units that it may use, versions of backends."""
    versions = {name: installed_version(name) for name in BACKENDS}
    backends = [f"{name} {version}" for name, version in versions.items() if version]
    return ", ".join([hardware.processor_name(), *(hardware.processor_features() or []), *backends])
