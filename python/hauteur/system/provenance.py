"""Provenance: time, command, host, package versions and commit of what is written."""

import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hauteur.system import hardware
from hauteur.system.extras import installed_version

PACKAGES = ("hauteur", "numpy", "torch", "onnxruntime", "pyarrow", "pydantic", "safetensors")

PACKAGE = Path(__file__).parents[1]
LAST_COMMIT = ("log", "-1", "--format=%H", "--", ".")
"""Words of git that name the last commit of a folder, and nothing where the folder is not under version control."""


def provenance() -> dict[str, Any]:
    """Return time, command, host, hardware, package versions and commit of the current process."""
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "host": platform.node(),
        "system": platform.platform(),
        "processor": hardware.processor_name(),
        "cores": hardware.usable_cores(),
        "python": platform.python_version(),
        "packages": {name: installed_version(name) for name in PACKAGES},
        "commit": hardware.command_output("git", "-C", os.fspath(PACKAGE), *LAST_COMMIT) or None,
    }
