"""`hauteur doctor`: report the installation, the machine, missing parts and how to get them."""

import json as json_format
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from hauteur import _core
from hauteur.networks.names import data_path, shipped_names
from hauteur.system import hardware
from hauteur.system.extras import LAYERS, Layer, installed_version

Facts = dict[str, dict[str, str]]
"""Section -> key -> text."""

PACKAGES = ("numpy", "pydantic", "safetensors", "chess", "cyclopts", "rich", "markdown-it-py", "filelock", "tomli_w")
"""Distributions of the base layer, which every installation has."""

PROBES = {
    "onnxruntime": "import onnxruntime as o; print(', '.join(o.get_available_providers()))",
    "torch": """
import torch
cuda = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
print("; ".join([f"{torch.backends.cpu.get_cpu_capability()}, {torch.get_num_threads()} threads",
      *([f"CUDA: {d.name}, {d.total_memory / 2**30:.1f} GiB, capability {d.major}.{d.minor}" for d in cuda]
        or ["no CUDA device"])]))
""",
}
"""Backend -> code that prints what it can do. Each runs in a process of its own: a broken installation may crash on
import, and the doctor has to survive that. torch takes seconds, so it is only opened with `--deep`."""

PROBE_SECONDS = 60
BROKEN = "does not work: "


def doctor(*, deep: bool = False, json: bool = False) -> int:
    """Show versions, devices, threads, backends, and what each layer has or would add.

    Parameters
    ----------
    deep
        Open torch too, which takes some seconds, and list its CUDA devices.
    json
        Print the facts as JSON instead of tables.
    """
    facts = examine(deep=deep)
    problems = find_problems(facts)
    if json:
        print(json_format.dumps({**facts, "problems": problems}, indent=2))
        return 0
    for title, rows in facts.items():
        print(title)
        for key, text in rows.items():
            print(f"  {key:14}  {text}")
    print("\n".join(f"problem: {problem}" for problem in problems) or "no problems found")
    return 0


def examine(*, deep: bool = False) -> Facts:
    """Return all facts."""
    quota = hardware.core_quota()
    memory = hardware.memory_bytes()
    allowed = "" if quota is None else f" (the container allows {quota:g})"
    backends = core_facts()
    for name in PROBES:
        if find_spec(name) is not None and (deep or name != "torch"):
            backends[name] = probe(name)
    here = Path.cwd()
    shipped = [data_path(f"{name}.safetensors") for name in shipped_names()]
    found = [*here.glob("*.safetensors"), *here.glob("*.pb.gz")]
    nets = [*shipped, *sorted(found)]
    return {
        "Versions": {
            "hauteur": installed_version("hauteur") or "not installed (running from source)",
            "python": f"{platform.python_version()} ({sys.executable})",
            "system": platform.platform(),
            **{name: installed_version(name) or "missing" for name in PACKAGES},
        },
        "Machine": {
            "processor": f"{hardware.processor_name()} ({platform.machine()})",
            "cores": f"{hardware.usable_cores()} usable{allowed}",
            "memory": "unknown" if memory is None else f"{memory / 2**30:.1f} GiB",
            "GPU": "NVIDIA driver found" if hardware.has_nvidia_driver() else "no NVIDIA driver",
        },
        "Backends": backends,
        "Layers": {layer.name: layer_text(layer) for layer in LAYERS},
        "Files": {path.name: str(path) for path in nets},
    }


def core_facts() -> dict[str, str]:
    """Return the core's instructions with their precisions, the best first, and why AMX is not used."""
    found = {f"core, {name}": ", ".join(precisions) for name, precisions in _core.Network.available()}
    missing = _core.Network.why_not_amx()
    if missing is None:
        return found
    return {**found, "core, amx": f"not used: {missing}"}


def probe(name: str) -> str:
    """Return what the backend can do, or that it does not work, with the last line of its message."""
    command = [sys.executable, "-W", "ignore", "-c", PROBES[name]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{BROKEN}no answer within {PROBE_SECONDS} seconds"
    if done.returncode == 0:
        return done.stdout.strip()
    complaint = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
    return f"{BROKEN}{complaint[-1]}"


def find_problems(facts: Facts) -> list[str]:
    """Return a line for each fault or cause of slowness, with its remedy."""
    missing = [name for name in PACKAGES if facts["Versions"].get(name) == "missing"]
    found = [f"{name} is missing: pip install {name}" for name in missing]
    for name, text in facts["Backends"].items():
        if text.startswith(BROKEN):
            found.append(f"{name} {text}")
    is_x86 = facts["Machine"]["processor"].endswith(("(x86_64)", "(AMD64)"))
    if is_x86 and not any("avx" in name for name in facts["Backends"]):
        found.append("the processor has no AVX2: networks will run several times slower than on newer ones")
    if not any(name.endswith(".safetensors") for name in facts["Files"]):
        found.append("no net found: the package's own (tictactoe, connect4) are missing, so reinstall hauteur")
    return found


def layer_text(layer: Layer) -> str:
    """Versions of a layer's packages, or what it would add and how to install it."""
    missing = [package for package in layer.packages if package.version is None]
    if not missing:
        versions = ", ".join(f"{package.distribution} {package.version}" for package in layer.packages)
        return f"{versions}: {layer.purpose}"
    adds = ", ".join(f"{package.distribution} {package.megabytes} MB" for package in missing)
    return f"not installed ({layer.purpose}); would add {adds}: {layer.install}"
