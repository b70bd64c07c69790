"""Nodes of clusters on this machine: started, listed and ended. Each has a process that keeps it (`ray_node`)."""

from __future__ import annotations

import errno
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from hauteur import __version__
from hauteur.cluster.ray_kept import NODE_FILE, KeptNode, kept_nodes, nodes_folder
from hauteur.cluster.ray_session import LOCALHOST, cause_of, check_answers, connect, store_bytes
from hauteur.system.extras import require
from hauteur.system.hardware import read_text, usable_cores
from hauteur.system.lock import is_locked

START_SECONDS = 240.0
END_SECONDS = 60.0
VERSION_LABEL = "hauteur"
STARTED = "Ray runtime started"
"""What `ray start` prints at the end."""


@dataclass(frozen=True)
class NodeSize:
    """What a node offers. labels: KEY=VALUE."""

    cpus: int | None = None
    gpus: int | None = None
    labels: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Return it as arguments of `ray start`."""
        labels = [*self.labels, f"{VERSION_LABEL}={re.sub('[^A-Za-z0-9._-]', '-', __version__)}"]
        return [
            f"--num-cpus={usable_cores() if self.cpus is None else self.cpus}",
            *([] if self.gpus is None else [f"--num-gpus={self.gpus}"]),
            f"--labels={','.join(labels)}",
            f"--object-store-memory={store_bytes()}",
            "--dashboard-agent-listen-port=0",  # any: several nodes of one machine would want the same
            "--include-log-monitor=false",  # it would send what workers print to the driver's terminal
        ]


def start_head(host: str, port: int, size: NodeSize, *, dashboard: bool) -> KeptNode:
    """Start a head, and wait until it answers. ValueError where it cannot be started."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            hint = "choose another --port" if error.errno == errno.EADDRINUSE else "--host must be of this machine"
            raise ValueError(f"port {port} of {host} cannot be had ({error.strerror}); {hint}") from None
    arguments = ["--head", f"--node-ip-address={host}", f"--port={port}", "--no-monitor"]  # it starts no machines
    arguments += [f"--include-dashboard={str(dashboard).lower()}", f"--dashboard-host={LOCALHOST}"]
    return _start(f"{host}:{port}", "head", [*arguments, *size.arguments()])


def join(address: str, size: NodeSize) -> KeptNode:
    """Start a node that joins the cluster whose head is at an address, and wait until it has."""
    check_answers(address)
    host = address.rpartition(":")[0]
    place = [f"--node-ip-address={LOCALHOST}"] if host in (LOCALHOST, "localhost") else []
    return _start(address, "worker", [f"--address={address}", *place, *size.arguments()])


def end(nodes: Sequence[KeptNode]) -> None:
    """End nodes, workers before heads, and wait until they are gone."""
    for node in sorted(nodes, key=lambda one: one.role == "head"):
        os.kill(node.process, signal.SIGTERM)
        limit = time.monotonic() + END_SECONDS
        while node in kept_nodes():
            if time.monotonic() > limit:
                raise ValueError(f"the node of process {node.process} does not end within {END_SECONDS:.0f} seconds")
            time.sleep(0.1)


def status(cluster: str) -> dict[str, Any]:
    """Return versions, nodes and workers of a cluster, as JSON. cluster: `auto` or an address."""
    session = connect(cluster)
    try:
        state: Any = import_module("ray._private.state")
        actors = [one for one in state.actors().values() if one["State"] == "ALIVE"]
        workers = [one["Address"]["NodeID"] for one in actors if one["ActorClassName"] == "RayWorker"]
        free = state.available_resources_per_node()
        nodes = [
            {
                "host": node["NodeManagerHostname"],
                "address": node["NodeManagerAddress"],
                "cpus": node["Resources"].get("CPU", 0.0),
                "free": free.get(node["NodeID"], {}).get("CPU", 0.0),
                "gpus": node["Resources"].get("GPU", 0.0),
                "workers": workers.count(node["NodeID"]),
                "labels": {k: v for k, v in node["Labels"].items() if not k.startswith("ray.io/")},
            }
            for node in session.ray.nodes()
            if node["Alive"]
        ]
        versions = {"ray": session.ray.__version__, "python": sys.version.split()[0], "hauteur": __version__}
        return {"address": session.address, "versions": versions, "nodes": nodes}
    finally:
        session.close()


def _start(address: str, role: str, arguments: Sequence[str]) -> KeptNode:
    """Start a keeper, and wait until its node is there."""
    require("hauteur cluster", "ray")
    for old in [folder for folder in nodes_folder().glob("*") if not is_locked(folder)]:
        _forget(old)
    folder = nodes_folder() / f"{role}-{secrets.token_hex(4)}"
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "hauteur.cluster.ray_node", str(folder), address, role, *arguments]
    log = folder / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    limit = time.monotonic() + START_SECONDS
    while STARTED not in read_text(log):
        if process.poll() is not None or time.monotonic() > limit:
            process.terminate()
            raise ValueError(f"the node does not start: {_last_words(log)}")
        time.sleep(0.1)
    return KeptNode(process.pid, address, role)


def _last_words(log: Path) -> str:
    """Return the error that ended Ray, else what it printed last, in one line, without colours."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in read_text(log).splitlines()]
    lines = [line for line in lines if line]
    ends = [number for number, line in enumerate(lines) if re.match(r"[A-Za-z_.]+(Error|Exception): ", line)]
    words = lines[ends[-1] if ends else -1 :]
    text = " ".join(words) or "it printed nothing"
    return cause_of(ValueError(text.partition(": ")[2] if ends else text))


def _forget(folder: Path) -> None:
    """Delete what a node that has ended left behind; one that is just starting has no file yet."""
    if (folder / NODE_FILE).is_file() or time.time() - folder.stat().st_mtime > START_SECONDS:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
