"""Facts about this machine: processor, cores and memory that this process may use, folders. Imports nothing heavy."""

import os
import platform
import re
import sys
from pathlib import Path

VECTOR_FEATURES = ("sse4_2", "avx", "fma", "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
"""Names as in Linux's /proc/cpuinfo; those that decide how fast a network runs."""

ARM_FEATURES = ("asimd", "asimddp", "bf16", "i8mm", "sve")


def usable_cores() -> int:
    """Cores that this process may keep busy: its affinity, at most the quota of its control group."""
    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else (os.cpu_count() or 1)
    quota = core_quota()
    return allowed if quota is None else max(1, min(allowed, int(quota)))


def core_quota() -> float | None:
    """Cores' worth of time that the control group (a container's limit) allows; None without a limit."""
    words = read_words(Path("/sys/fs/cgroup/cpu.max"))
    if len(words) == 2 and words[0] != "max":
        return int(words[0]) / int(words[1])
    quota = read_words(Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
    period = read_words(Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us"))
    if quota and period and int(quota[0]) > 0:
        return int(quota[0]) / int(period[0])
    return None


def memory_bytes() -> tuple[int | None, int | None]:
    """Memory of the machine or of the container, whichever is less: total and available bytes; None where unknown."""
    if sys.platform != "linux":
        return physical_memory(), None
    fields = dict(re.findall(r"^(\w+):\s+(\d+) kB", read_text(Path("/proc/meminfo")), re.MULTILINE))
    total, available = (int(fields[name]) * 1024 if name in fields else None for name in ("MemTotal", "MemAvailable"))
    limit = read_words(Path("/sys/fs/cgroup/memory.max"))
    used = read_words(Path("/sys/fs/cgroup/memory.current"))
    if total and limit and limit[0].isdigit() and int(limit[0]) < total:
        total = int(limit[0])
        available = min(available or total, total - int(used[0] if used else 0))
    return total, available


def physical_memory() -> int | None:
    """Bytes of memory on systems other than Linux."""
    if sys.platform == "win32":
        output = command_output(
            "powershell", "-NoProfile", "(Get-CimInstance Win32_ComputerSystem).TotalPhysicalMemory"
        )
        return int(output) if output.isdigit() else None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def resident_bytes(pid: int | None = None) -> int | None:
    """Resident memory of a process, by default this one, in bytes; None where the system does not report it."""
    words = read_words(Path(f"/proc/{pid or 'self'}/statm"))
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") if len(words) > 1 else None


def processor_name() -> str:
    """The processor's name as its maker writes it."""
    if sys.platform == "darwin":
        return command_output("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    match = re.search(r"^model name\s*:\s*(.+)$", read_text(Path("/proc/cpuinfo")), re.MULTILINE)
    return match[1].strip() if match else platform.processor() or platform.machine()


def processor_features() -> list[str] | None:
    """Return the processor's VECTOR_FEATURES or ARM_FEATURES; None where the system does not report them."""
    if sys.platform == "darwin":
        words = command_output("sysctl", "-n", "machdep.cpu.features", "machdep.cpu.leaf7_features")
        present = set(words.lower().replace(".", "_").split())
    else:
        match = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", read_text(Path("/proc/cpuinfo")), re.MULTILINE)
        present = set(match[1].split()) if match else set()
    known = ARM_FEATURES if platform.machine().lower() in ("aarch64", "arm64") else VECTOR_FEATURES
    return [name for name in known if name in present] if present else None


def has_nvidia_driver() -> bool:
    """Return whether an NVIDIA driver is installed, without loading it."""
    if sys.platform == "win32":
        return (Path(os.environ.get("SYSTEMROOT", "C:\\Windows")) / "System32" / "nvcuda.dll").is_file()
    return any(Path("/dev", name).exists() for name in ("nvidiactl", "nvhost-ctrl", "dxg"))


def cache_directory() -> Path:
    """Folder for what can be computed again (workers' copies of nets): HAUTEUR_CACHE, or the system's place."""
    chosen = os.environ.get("HAUTEUR_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hauteur"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "hauteur" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hauteur"


def data_directory() -> Path:
    """Folder for what the user keeps (downloaded nets): the system's place for an application's data."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "hauteur"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "hauteur"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "hauteur"


def read_text(path: Path) -> str:
    """The file's text, empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def read_words(path: Path) -> list[str]:
    """The file's words, none if it cannot be read."""
    return read_text(path).split()


def command_output(*command: str) -> str:
    """Return the output of a system command, empty if it is missing or fails."""
    import subprocess  # here: most starts run no command

    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
