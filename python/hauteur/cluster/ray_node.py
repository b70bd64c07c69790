"""The process that keeps a node of a cluster: it starts Ray's processes, and ends them when it ends."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from hauteur.cluster.ray_kept import NODE_FILE
from hauteur.cluster.ray_session import LOCALHOST, import_ray
from hauteur.system.files import write_json
from hauteur.system.lock import locked


def main(folder: Path, address: str, role: str, arguments: list[str]) -> None:
    """Run `ray start` with these arguments until it is ended. folder: of this node, locked meanwhile."""
    os.environ.setdefault("RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S", "0")  # what it works on is done elsewhere at once
    import_ray(starts=role == "head")
    if address.startswith(f"{LOCALHOST}:"):  # the processes that Ray starts take 127.0.0.1 for what it is, too
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    scripts: Any = import_module("ray.scripts.scripts")
    scripts.get_ray_client_dependency_error = lambda: "not wanted"  # else a head opens one port more, for Ray Client
    with locked(folder, "a node of a cluster"):
        write_json(folder / NODE_FILE, {"process": os.getpid(), "address": address, "role": role})
        scripts.cli(["start", *arguments, "--block", "--disable-usage-stats"], prog_name="ray")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
