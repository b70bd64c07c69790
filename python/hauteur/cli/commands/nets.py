"""hauteur net: look at and convert net files."""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
    if json:
        print(
            json_format.dumps({"file": str(file), **net.model_dump(mode="json"), "summary": net.architecture.summary()})
        )
        return
    rows = info_rows(file, net)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:  # a line each, however long, for `grep`
        print(f"{name:{width}}  {value}")


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
    return rows + [(f"training: {name}", str(value)) for name, value in net.training.items()]


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
    print(f"{target}: {networks.describe(source).architecture.summary()}, {target.stat().st_size:,} bytes")
