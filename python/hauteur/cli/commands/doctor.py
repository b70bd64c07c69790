"""`hauteur doctor`: report the installation, the machine, missing parts and how to get them."""

import json as json_format
import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.system import hardware
from hauteur.system.extras import LAYERS, Layer, installed_version

Facts = dict[str, Any]

PACKAGES = (
    *("numpy", "pydantic", "safetensors", "chess"),
    *("cyclopts", "rich", "filelock", "tomli_w"),
)
"""Distributions of the base layer, which every installation has."""

PROBES = {
    "onnxruntime": """
import onnxruntime
found = {"providers": onnxruntime.get_available_providers()}
""",
    "torch": """
import torch
cuda = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
found = {"cuda": [{"name": d.name, "memory": d.total_memory, "capability": f"{d.major}.{d.minor}"} for d in cuda],
         "built_for_cuda": torch.version.cuda, "threads": torch.get_num_threads(),
         "cpu": torch.backends.cpu.get_cpu_capability()}
""",
}
"""Backend -> code that leaves what it can do in `found`. Each runs in a process of its own: a broken installation may
crash on import, and the doctor has to survive that. torch takes seconds, so it is only opened with `--deep`."""

PROBE_SECONDS = 60


def doctor(run: Path | None = None, *, deep: bool = False, json: bool = False) -> int:
    """Show versions, devices, threads, backends, and what each layer has or would add; or examine a folder.

    Parameters
    ----------
    run
        Folder of a learning run, a match or a tournament: name every file in it that is damaged, missing or exchanged,
        instead of all else (status 1 where there is one).
    deep
        Open torch too, which takes some seconds, and list its CUDA devices.
    json
        Print the facts as JSON instead of tables.
    """
    if run is not None:
        return examine_folder(run, json=json)
    facts = examine(deep=deep)
    if json:
        print(json_format.dumps(facts, indent=2))
    else:
        show(facts)
    return 0


def examine_folder(path: Path, *, json: bool) -> int:
    """Print what is wrong in the folder of a run, a match or a tournament; return 1 where there is anything."""
    from hauteur.learning.run_check import run_problems
    from hauteur.learning.run_folder import RunFolder
    from hauteur.matches.folder import match_folders

    folder = RunFolder(path)
    if folder.config.exists():
        found = list(run_problems(folder, games=find_spec("pyarrow") is not None))
    else:
        found = [problem for match in match_folders(path) for problem in match.problems()]
    if json:
        print(json_format.dumps({"folder": str(path), "problems": found}, indent=2))
    else:
        print("\n".join(f"problem: {problem}" for problem in found) or "no problems found")
    return 1 if found else 0


def examine(*, deep: bool = False) -> Facts:
    """All facts, as JSON holds them."""
    names = [name for name in PROBES if find_spec(name) is not None and (deep or name != "torch")]
    with ThreadPoolExecutor() as pool:
        probed = dict(zip(names, pool.map(probe, names), strict=True))
    facts: Facts = {
        "hauteur": installed_version("hauteur"),
        "python": {"version": platform.python_version(), "path": sys.executable},
        "system": platform.platform(),
        "processor": examine_processor(),
        "memory": dict(zip(("total", "available"), hardware.memory_bytes(), strict=True)),
        "packages": {name: installed_version(name) for name in PACKAGES},
        "layers": {layer.name: {p.distribution: p.version for p in layer.packages} for layer in LAYERS},
        "backends": probed,
        "core": dict(_core.Network.available()),
        "nvidia_driver": hardware.has_nvidia_driver(),
        "cache": examine_cache(hardware.cache_directory()),
        "nets": [{"path": str(path), "bytes": path.stat().st_size} for path in find_nets()],
    }
    facts["problems"] = list(find_problems(facts))
    return facts


def examine_processor() -> Facts:
    """Name, vector features and cores."""
    return {
        "name": hardware.processor_name(),
        "architecture": platform.machine(),
        "features": hardware.processor_features(),
        "cores": hardware.usable_cores(),
        "quota": hardware.core_quota(),
    }


def examine_cache(folder: Path) -> Facts:
    """Return path, file count and size in bytes of the cache."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return {"path": str(folder), "files": len(sizes), "bytes": sum(sizes)}


def find_nets() -> list[Path]:
    """Nets that came with the package and nets in the current folder."""
    shipped = Path(str(files("hauteur.networks"))) / "data"
    here = Path.cwd()
    return sorted(shipped.glob("*.safetensors")) + sorted([*here.glob("*.safetensors"), *here.glob("*.pb.gz")])


def probe(name: str) -> Facts:
    """Return the facts reported by the backend, or `error` with the last line of its message."""
    code = f"import json\n{PROBES[name]}\nprint(json.dumps(found))"
    command = [sys.executable, "-W", "ignore", "-c", code]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {PROBE_SECONDS} seconds"}
    if done.returncode == 0:
        found: Facts = json_format.loads(done.stdout.splitlines()[-1])
        return found
    complaint = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
    return {"error": complaint[-1]}


def find_problems(facts: Facts) -> Iterator[str]:
    """Yield a line for each fault or cause of slowness, with its remedy."""
    for name in PACKAGES:
        if facts["packages"][name] is None:
            yield f"{name} is missing: pip install {name}"
    for name, found in facts["backends"].items():
        if "error" in found:
            yield f"{name} does not work: {found['error']}"
    features = facts["processor"]["features"]
    if features is not None and "avx2" not in features and facts["processor"]["architecture"] in ("x86_64", "AMD64"):
        yield "the processor has no AVX2: networks will run several times slower than on newer ones"
    threads = facts["backends"].get("torch", {}).get("threads", 0)
    if threads > facts["processor"]["cores"]:
        yield f"torch starts {threads} threads on {facts['processor']['cores']} usable cores: set OMP_NUM_THREADS"
    if not facts["nets"]:
        yield "no net found: the package's own (tictactoe, connect4) are missing, so reinstall hauteur"


def show(facts: Facts) -> None:
    """Print the facts as a table a section."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for title, rows in sections(facts).items():
        table = Table.grid(padding=(0, 2))
        table.add_column(min_width=14, style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for key, text in rows:
            table.add_row(f"  {key}", Text(text))
        console.print(f"[bold cyan]{title}")
        console.print(table)
    for problem in facts["problems"]:
        console.print(Text.assemble(("problem: ", "bold red"), problem))
    if not facts["problems"]:
        console.print("[bold green]no problems found")


def sections(facts: Facts) -> dict[str, list[tuple[str, str]]]:
    """Title -> rows of key and text."""
    return {
        "Versions": [
            ("hauteur", facts["hauteur"] or "not installed (running from source)"),
            ("python", f"{facts['python']['version']} ({facts['python']['path']})"),
            ("system", facts["system"]),
            *((name, text or "missing") for name, text in facts["packages"].items()),
        ],
        "Machine": machine_rows(facts),
        "Backends": backend_rows(facts),
        "Layers": [("base", "installed"), *((layer.name, layer_text(layer, facts)) for layer in LAYERS)],
        "Files": [
            ("cache", "{path} ({files} files, {size})".format(**facts["cache"], size=size(facts["cache"]["bytes"]))),
            *(("net", f"{net['path']} ({size(net['bytes'])})") for net in facts["nets"]),
        ],
    }


def machine_rows(facts: Facts) -> list[tuple[str, str]]:
    """Processor, cores and memory."""
    processor, memory = facts["processor"], facts["memory"]
    features = processor["features"]
    quota = "" if processor["quota"] is None else f" (the container allows {processor['quota']:g})"
    return [
        ("processor", f"{processor['name']} ({processor['architecture']})"),
        ("features", "unknown" if features is None else " ".join(features) or "none that matter"),
        ("cores", f"{processor['cores']} usable{quota}"),
        ("memory", f"{size(memory['total'])}, available {size(memory['available'])}"),
    ]


def backend_rows(facts: Facts) -> list[tuple[str, str]]:
    """One row for each kind of instructions of the core, each backend and device."""
    rows = [("core", f"{name}: {', '.join(precisions)}") for name, precisions in facts["core"].items()]
    for name, found in facts["backends"].items():
        if "error" in found:
            rows.append((name, f"not available: {found['error']}"))
        elif name == "torch":
            rows.append((name, f"CPU with {found['cpu']}, {found['threads']} threads by default"))
            rows += [
                (name, f"CUDA: {d['name']}, {size(d['memory'])}, capability {d['capability']}") for d in found["cuda"]
            ]
            if not found["cuda"]:
                rows.append((name, "no CUDA device" + ("" if found["built_for_cuda"] else " (this torch has no CUDA)")))
        else:
            rows.append((name, ", ".join(found["providers"])))
    driver = "NVIDIA driver found" if facts["nvidia_driver"] else "no NVIDIA driver"
    if "torch" not in facts["backends"] and facts["layers"]["train"]["torch"]:
        rows.append(("torch", f"not opened, {driver}; hauteur doctor --deep lists its devices"))
    return rows


def layer_text(layer: Layer, facts: Facts) -> str:
    """Versions of a layer's packages, or what it would add and how to install it."""
    versions = facts["layers"][layer.name]
    missing = [package for package in layer.packages if versions[package.distribution] is None]
    if not missing:
        return f"{', '.join(f'{name} {version}' for name, version in versions.items())}: {layer.purpose}"
    adds = ", ".join(f"{package.distribution} {package.megabytes} MB" for package in missing)
    return f"not installed ({layer.purpose}); would add {adds}: {layer.install}"


def size(count: int | None) -> str:
    """Bytes in a unit that reads well."""
    if count is None:
        return "unknown"
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"
