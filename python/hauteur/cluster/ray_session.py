"""Starts a Ray or joins one: without noise, without statistics sent, and with its ports on localhost."""

from __future__ import annotations

import atexit
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from hauteur.cluster.options import is_address
from hauteur.cluster.ray_kept import kept_nodes, mark_local
from hauteur.system.extras import require
from hauteur.system.hardware import memory_bytes, read_text, usable_cores

LOCALHOST = "127.0.0.1"
DEFAULT_PORT = 6379
ANSWER_SECONDS = 10.0
"""Seconds that a head has to answer."""
LOST_CLOSE_SECONDS = 10.0
"""Seconds that the end of a connection may take where the other side is gone."""
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is sent to anybody
    "RAY_raylet_start_wait_time_s": "240",  # a busy machine starts slowly
    "RAY_worker_register_timeout_seconds": "240",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "600",  # Ray ends a process without its head; `lost` is earlier
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""What Ray reads when it is imported, unless it is set already."""


def import_ray(*, starts: bool) -> Any:
    """Import Ray with our settings. starts: a head is going to be started. MissingLayerError where Ray is missing."""
    require("--cluster", "ray")
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = token_mode(make=starts)
    import ray
    from ray._private import services, worker

    # Ray replaces 127.0.0.1 by the address that other machines see, and then listens on all addresses.
    services.resolve_ip_for_localhost = lambda host: LOCALHOST if host in ("localhost", "::1") else host
    worker.print_to_stdstream = lambda *_, **__: None  # events of nodes; the fleet reports them in its own words
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    return ray


@dataclass(frozen=True)
class Session:
    """A connection with a cluster. address: of its head; node: this machine's, in Ray's numbering; folder: of a cluster
    that ends with the connection.
    """

    ray: Any
    address: str
    node: str
    folder: Path | None = None

    def close(self, *, lost: bool = False) -> None:
        """End the connection, and the cluster where it was started for it. lost: it is gone, or frozen."""
        ending = threading.Thread(target=self._shut_down, name="end of Ray", daemon=True)
        ending.start()
        ending.join(LOST_CLOSE_SECONDS if lost else None)
        if ending.is_alive():
            atexit.register(_exit_at_once)
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _shut_down(self) -> None:
        with suppress(Exception):
            self.ray.shutdown()


def connect(cluster: str, *, cpus: int = 0) -> Session:
    """Join the cluster that --cluster names. cpus: of a local one at least. ValueError, in one line, where it fails."""
    require("--cluster", "ray")
    address = ""
    if cluster != "local":
        address = running_address() if cluster == "auto" else cluster
        check_answers(address)
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "8")  # seconds until a head that refuses is given up
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # its core prints about lost nodes; the fleet reports them
    ray = import_ray(starts=cluster == "local")
    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL, "configure_logging": False}
    if cluster == "local":
        place = {
            "address": "local",
            "num_cpus": max(usable_cores(), cpus),
            "_node_ip_address": LOCALHOST,
            "include_dashboard": False,
            "object_store_memory": store_bytes(),
        }
    else:
        place = {"address": address}
    with _no_stderr(), _usual_sigterm():
        worded(f"--cluster {cluster}", lambda: ray.init(**quiet, **place))
    folder = None
    if cluster == "local":
        folder = Path(import_module("ray._private.worker")._global_node.get_session_dir_path())
        mark_local(folder)
    context = ray.get_runtime_context()
    return Session(ray, context.gcs_address, context.get_node_id(), folder)


def _exit_at_once() -> None:
    """End a process that Ray would else let wait for ever, for what is frozen. The work has failed before: status 2."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(2)


@contextmanager
def _usual_sigterm() -> Iterator[None]:
    """Restore what SIGTERM does: with Ray's handlers it would print a trace of the stack, and end with status 15."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _no_stderr() -> Iterator[None]:
    """Keep what Ray's core prints while it connects, a line for each attempt, from the terminal."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def worded(source: str, action: Callable[[], Any]) -> Any:
    """Return what an action of Ray returns. ValueError, in one line that begins with `source`, where it fails."""
    try:
        return action()
    except Exception as error:  # Ray raises all kinds of them
        raise ValueError(f"{source}: {cause_of(error)}") from error


def cause_of(error: BaseException) -> str:
    """Return what became of a worker, or why Ray refuses something, in words."""
    text = " ".join(str(error).split())
    if (versions := _VERSIONS.search(text)) is not None:
        theirs, own = versions.groups()[:2], versions.groups()[2:]
        return "the cluster has Ray {} and Python {}, this machine {} and {}: they must be the same".format(
            *theirs, *own
        )
    for sign, cause in _CAUSES:
        if sign in text or sign == type(error).__name__:
            return cause
    return text[:500] or type(error).__name__


NO_TOKEN = "the head does not accept the token of this machine: copy the head's ~/.ray/auth_token here"
NODE_LEFT = "left with its node"
_VERSIONS = re.compile(r"Version mismatch.* Ray: (\S+) Python: (\S+) .* Ray: (\S+) Python: (\S+)")
_CAUSES = (
    ("node has died", NODE_LEFT),
    ("owner has died", "ended because the node of this machine left the cluster"),
    ("OutOfMemory", "was ended because its node ran out of memory"),
    ("low on memory", "was ended because its node ran out of memory"),
    ("ActorUnavailableError", "could not be reached"),
    ("No module named 'hauteur", "finds no hauteur on its node, where the same version is needed"),
    ("worker process has died", "was killed, or its process ended"),
    ("Can't find a", "this machine is no node of the cluster: join it first with `hauteur cluster join`"),
    ("uthenticat", NO_TOKEN),
    ("Failed to connect to Ray cluster", NO_TOKEN),
)


def running_address() -> str:
    """Return the address of the Ray of this machine. ValueError where none runs."""
    noted = os.environ.get("RAY_ADDRESS") or read_text(ray_folder() / "ray_current_cluster").strip()
    kept = {node.address for node in kept_nodes()}  # Ray notes heads alone, those that were killed too
    if ":" in noted and (noted in kept or not kept or "RAY_ADDRESS" in os.environ):
        return noted
    if len(kept) == 1:
        return kept.pop()
    if kept:
        raise ValueError(f"nodes of several clusters run here: give one of {', '.join(sorted(kept))}")
    raise ValueError("no node of a cluster runs here: `hauteur cluster start` or `join` one, or give HOST:PORT")


def ray_folder() -> Path:
    """Return the folder of Ray's sessions on this machine, where `ray start` leaves the address too."""
    named = os.environ.get("RAY_TMPDIR") or (os.environ.get("TMPDIR") if sys.platform.startswith("linux") else None)
    return Path(named or "/tmp", "ray")


def check_answers(address: str) -> None:
    """Raise ValueError unless a head listens at HOST:PORT."""
    if not is_address(address):
        raise ValueError(f"the address of a head is HOST:PORT, got {address!r}")
    end, cause = time.monotonic() + ANSWER_SECONDS, ""
    while time.monotonic() < end:
        cause = answers(address, ANSWER_SECONDS / 2, greet=True)
        if not cause:
            return
        time.sleep(min(0.5, ANSWER_SECONDS))
    raise ValueError(f"no head of a cluster answers at {address} ({cause}): start one with `hauteur cluster start`")


GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The beginning of HTTP/2, which gRPC speaks: a server answers with a frame of settings."""


def answers(address: str, seconds: float, *, greet: bool = False) -> str:
    """Return why nobody listens at HOST:PORT, empty where somebody does. greet: and speaks HTTP/2, unless with TLS."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), seconds) as connection:
            if not greet or "RAY_USE_TLS" in os.environ:
                return ""
            connection.sendall(GREETING)
            reply = connection.recv(9)
    except OSError as error:
        return error.strerror or str(error)
    return "" if len(reply) == 9 and reply[3] == 4 else "what listens there is no head of Ray"


def token_mode(*, make: bool) -> str:
    """Return Ray's mode of authentication: with a token where this user has one. make: one where there is none.

    Every process of a cluster shows the token, a file of 0600 that has to be copied to other machines.
    """
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    if not os.environ.get("RAY_AUTH_TOKEN") and not path.is_file():
        if not make:
            return "disabled"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(file, secrets.token_hex(32).encode())
            os.close(file)
    return "token"


def store_bytes() -> int:
    """Return the size of a node's object store: nets and results pass through it, and it is not reserved."""
    total = memory_bytes()[0] or 2**32
    return max(100_000_000, min(2**30, total // 10))
