"""One Ray for all tests that need one: a head and a node, of one processor each, started by our own commands."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[str]:
    """The address of a head on localhost; the second node has the label place=second."""
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    from hauteur.cluster.ray_control import NodeSize, end, join, start_head
    from hauteur.cluster.ray_kept import kept_nodes

    folder = tempfile.mkdtemp(prefix="hr", dir="/tmp")  # short: names of sockets have a limit
    before = dict(os.environ)
    os.environ |= {"RAY_TMPDIR": folder, "RAY_AUTH_TOKEN_PATH": str(Path(folder, "token"))}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        head = start_head("127.0.0.1", port, NodeSize(1), dashboard=False)
        join(head.address, NodeSize(1, labels=("place=second",)))
        yield head.address
    finally:
        end(kept_nodes())
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)
