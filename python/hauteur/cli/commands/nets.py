"""hauteur net: look at net files, convert them, list public nets and download them."""

import json as json_format
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from hauteur.mcts.net_search import FACT, play_search_text
from hauteur.networks.download import DownloadedNet, NetRequest, OnProgress, get_net, net_request, unobserved
from hauteur.networks.names import downloaded_nets, known_nets, nets_folder, resolve_net, shipped_names

if TYPE_CHECKING:
    from hauteur.networks import NetDescription


def info(file: Path, /, *, json: bool = False) -> None:
    """Show what a net file holds: format, architecture, heads, size, training facts, hash.

    Parameters
    ----------
    file
        Net file: .safetensors or .pb.gz (lc0).
    json
        Print one JSON object instead of a table.
    """
    from hauteur import networks

    net = networks.describe(file)
    carried = play_search_text(resolve_net(file))
    if json:
        facts = {"file": str(file), **info_values(net), "summary": net.architecture.summary()}
        print(json_format.dumps(facts | ({"play_search": carried} if carried else {})))
        return
    rows = info_rows(file, net)
    if carried:
        rows.append(("search in play", carried))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:  # a line each, however long, for `grep`
        print(f"{name:{width}}  {value}")


def info_values(net: "NetDescription") -> dict[str, Any]:
    """Return the facts of a net by name, as JSON has them."""
    values = {field.name: getattr(net, field.name) for field in fields(net)}
    return {**values, "architecture": net.architecture.values()}


def info_rows(file: Path, net: "NetDescription") -> list[tuple[str, str]]:
    """Return the rows of the table of `info`."""
    architecture = net.architecture
    rows = [
        ("file", str(file)),
        ("format", net.format),
        ("game", net.game),
        ("architecture", architecture.summary()),
        ("features", " x ".join(map(str, net.feature_shape))),
        ("policy", f"{architecture.policy}, {net.num_actions} actions"),
        ("value", architecture.value),
        ("numbers", f"{net.parameters:,} ({', '.join(net.encodings)})"),
        ("file size", f"{net.file_bytes:,} bytes"),
        ("sha256", net.sha256),
    ]
    if architecture.kind == "lc0":
        rows.append(("moves left", "in the file, not computed" if architecture.moves_left else "no"))
        rows.append(("written for", "lc0 " + ".".join(map(str, architecture.min_version))))
        rows.append(("licence", architecture.license or "not stated"))
    for name, value in net.training.items():
        if name != FACT:
            rows.append((f"training: {name}", str(value)))
    return rows


def convert(
    source: Path,
    target: Path,
    /,
    *,
    encoding: Literal["linear16", "float16", "float32"] | None = None,
    force: bool = False,
) -> None:
    """Write a net in another format, chosen by the target's name: .safetensors, .pb.gz (lc0), .onnx (for others).

    Parameters
    ----------
    source
        Net file: .safetensors or .pb.gz.
    target
        Output file.
    encoding
        Encoding of the numbers. In a .pb.gz file linear16 (default), which every lc0 reads; the others need lc0 0.33.
        In a .safetensors file float32 (default), or float16, which halves it. An .onnx file has float32.
    force
        Overwrite an existing target.
    """
    from hauteur import networks

    if target.exists() and not force:
        raise ValueError(f"{target}: is there already; --force overwrites it")
    networks.convert(source, target, encoding=encoding)
    carried = play_search_text(resolve_net(source))
    if carried and not play_search_text(resolve_net(target)):
        print(
            f"hauteur: note: {target} has no place for the search that {source} is played with; give it to players: "
            f"{carried}",
            file=sys.stderr,
        )
    summary = networks.describe(source).architecture.summary()
    print(f"{target}: {summary}, {target.stat().st_size:,} bytes")


def get(
    *names: str,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    force: bool = False,
    json: bool = False,
) -> None:
    """Download public nets, such as maia-1900, to use them by name; without a name list them.

    Parameters
    ----------
    names
        Names of the list. They go to the folder that HAUTEUR_NETS names, by default `hauteur/nets` in the user's data
        folder. The variable https_proxy names a proxy, HAUTEUR_MIRROR an address that has the same files.
    from_
        Address (http or https) of another net: .pb.gz of lc0 or .safetensors of hauteur. The name before it, or that of
        the file, is then the net's.
    force
        Download a net that is here again.
    json
        Print the list as JSON.
    """
    if from_ is not None and len(names) > 1:
        raise ValueError(f"--from gets one net, got the names {', '.join(names)}")
    if not names and from_ is None:
        show_list(as_json=json)
        return
    requests = [net_request(name, from_) for name in names]
    if not names:
        requests.append(net_request(None, from_))
    for request in requests:
        report(request, download(request, force=force))


def show_list(*, as_json: bool) -> None:
    """Print the public nets, what of them is here, and the other nets that are."""
    here = downloaded_nets()
    known = {net.name for net in known_nets()}
    others = {name: path for name, path in here.items() if name not in known}
    if as_json:
        rows = []
        for net in known_nets():
            path = str(here[net.name]) if net.name in here else None
            rows.append({**vars(net), "path": path})
        facts = {"public": rows, "others": {name: str(path) for name, path in others.items()}}
        print(json_format.dumps({**facts, "shipped": shipped_names(), "folder": str(nets_folder())}))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("net", "MB", "here", "sha256", "about"):
        table.add_column(heading, justify="right" if heading == "MB" else "left", no_wrap=heading != "about")
    for net in known_nets():
        state = "yes" if net.name in here else "-"
        sha256 = "recorded" if net.sha256 else "none"
        table.add_row(net.name, f"{net.megabytes:g}", state, sha256, net.about)
    console = Console(highlight=False, markup=False)
    console.print(table)
    downloaded = [*(name for name in known if name in here), *others]
    print(f"downloaded: {', '.join(downloaded) or 'none'} ({nets_folder()})")
    print(f"shipped with hauteur: {', '.join(shipped_names())}")
    print("licences: Maia GPL-3.0, lqo_v2 AGPL-3.0; of the others see lczero.org and github.com/CallOn84/LeelaNets")
    print("`hauteur net get NAME` downloads one, then `--net NAME` uses it; `hauteur net get --from URL` gets others")


def download(request: NetRequest, *, force: bool) -> DownloadedNet:
    """Download a net and show how far it is; tell where it comes from and under which licence."""
    licence = request.known.licence if request.known else "unknown; see where it comes from"
    print(f"{request.name}: {request.address}")
    print(f"licence: {licence}", flush=True)
    with progress(request) as on_progress:
        return get_net(request, on_progress, force=force)


@contextmanager
def progress(request: NetRequest) -> Iterator[OnProgress]:
    """Show a bar, where somebody sees it."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield unobserved
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    expected = request.known.megabytes * 1e6 if request.known else None
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress("{task.description}", *columns, console=console, transient=True) as bars:
        bar = bars.add_task(request.name, total=expected)
        yield lambda done, size: bars.update(bar, completed=done, total=size or expected)


def report(request: NetRequest, net: DownloadedNet) -> None:
    """Print what the net is, where it lies, and whether it is the file that was meant."""
    description = net.description
    verb = "downloaded" if net.is_new else "here already (--force downloads it again)"
    print(f"{verb}: {net.path}, {description.file_bytes:,} bytes")
    print(f"{description.game}, {description.architecture.summary()}")
    if net.is_verified:
        print(f"sha256 {description.sha256}, as recorded")
    else:
        now = "this one is now, and later files are compared with it" if request.known else "it is not verified"
        print(f"sha256 {description.sha256}; none was on record: {now}")
    print(f"use it as --net {request.name}")
