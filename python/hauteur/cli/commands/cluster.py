"""hauteur cluster: machines brought together by Ray, whose workers play the games of a run or match."""

from __future__ import annotations

import json as json_format
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

if TYPE_CHECKING:
    from hauteur.cluster.ray_control import NodeSize
    from hauteur.cluster.ray_kept import KeptNode

PORT = 6379
Count = Annotated[int | None, Parameter(validator=Number(gte=0, lte=4096))]
Labels = Annotated[tuple[str, ...], Parameter(negative=())]


def start(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=1024, lte=65535))] = PORT,
    cpus: Count = None,
    gpus: Count = None,
    label: Labels = (),
    dashboard: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Start the head of a cluster on this machine. It runs until `hauteur cluster stop`.

    Parameters
    ----------
    host
        Address under which other machines reach this one. Whoever reaches it and has the token of the cluster may run
        any program here. With 127.0.0.1 nobody but this machine reaches it.
    port
        Port of the head, 1024 to 65535.
    cpus
        Processors that it offers to workers; 0: none. Default: all that this process may use.
    gpus
        GPUs that it offers to workers. Default: all.
    label
        KEY=VALUE, for --worker-label. May be given several times.
    dashboard
        Start Ray's dashboard and job server too, on port 8265 of localhost (`ray job submit` needs it).
    """
    from hauteur.cluster.ray_control import start_head

    node = start_head(host, port, _size(cpus, gpus, label), dashboard=dashboard)
    print(f"the head of a cluster runs at {node.address} (process {node.process})")
    print(f"join it: hauteur cluster join {node.address}\nuse it:  hauteur train RECIPE --cluster {node.address}")
    if host not in ("127.0.0.1", "localhost"):
        print("token:   copy ~/.ray/auth_token to the same place on machines that join")


def join(address: str, *, cpus: Count = None, gpus: Count = None, label: Labels = ()) -> None:
    """Let this machine, or a part of it, join a cluster. It stays until `hauteur cluster leave`.

    Parameters
    ----------
    address
        HOST:PORT of the head, as `hauteur cluster start` printed it.
    cpus
        Processors that it offers to workers; 0: none. Default: all that this process may use.
    gpus
        GPUs that it offers to workers. Default: all.
    label
        KEY=VALUE, for --worker-label. May be given several times.
    """
    from hauteur.cluster.ray_control import join

    node = join(address, _size(cpus, gpus, label))
    print(f"joined {node.address} (process {node.process})\nleave it: hauteur cluster leave {node.process}")


def leave(process: int | None = None) -> None:
    """Let a node that this machine has joined with leave its cluster; what its workers had is played elsewhere.

    Parameters
    ----------
    process
        Number that `hauteur cluster join` printed; may be left out where there is one node.
    """
    from hauteur.cluster.ray_control import end
    from hauteur.cluster.ray_kept import kept_nodes

    nodes = [node for node in kept_nodes() if node.role == "worker"]
    chosen = [node for node in nodes if process in (None, node.process)]
    if not nodes:
        raise ValueError("no node runs here that has joined a cluster")
    if len(chosen) != 1:
        raise ValueError(f"which node is to leave? {_listed(nodes)}")
    end(chosen)
    print(f"left {chosen[0].address}")


def stop() -> None:
    """End all heads and nodes that you have started on this machine."""
    from hauteur.cluster.ray_control import end
    from hauteur.cluster.ray_kept import kept_nodes

    nodes = kept_nodes()
    end(nodes)
    print(f"ended {_listed(nodes)}" if nodes else "there is nothing to end: no head or node runs here")


def status(address: str = "auto", *, json: bool = False) -> None:
    """Show the nodes of a cluster, what they offer, their workers, and versions.

    Parameters
    ----------
    address
        HOST:PORT of the head; default: that of this machine.
    json
        Print one JSON object instead of the table.
    """
    from hauteur.cluster.ray_control import status
    from hauteur.system.tables import text_table

    facts = status(address)
    if json:
        print(json_format.dumps(facts, indent=2))
        return
    print(f"{facts['address']}  {'  '.join(f'{name} {version}' for name, version in facts['versions'].items())}")
    rows = [
        (
            f"{node['host']} ({node['address']})",
            f"{node['cpus']:g}",
            f"{node['free']:g}",
            f"{node['gpus']:g}",
            node["workers"],
            " ".join(f"{name}={value}" for name, value in node["labels"].items()),
        )
        for node in facts["nodes"]
    ]
    print(text_table(["node", "CPUs", "free", "GPUs", "workers", "labels"], rows, shown=1000))


def _size(cpus: int | None, gpus: int | None, labels: tuple[str, ...]) -> NodeSize:
    from hauteur.cluster.options import check_labels
    from hauteur.cluster.ray_control import NodeSize

    check_labels("--label", labels)
    return NodeSize(cpus, gpus, labels)


def _listed(nodes: list[KeptNode]) -> str:
    return ", ".join(f"{node.role} {node.address} (process {node.process})" for node in nodes) or "none runs here"
