"""Facts about this machine: processor, cores and memory that this process may use, folders. Imports nothing heavy."""

import os
import platform
import re
import sys
from pathlib import Path


def usable_cores() -> int:
    """Cores that this process may keep busy: its affinity, at most the quota of its control group."""
    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else (os.cpu_count() or 1)
    quota = core_quota()
    if quota is None:
        return allowed
    return max(1, min(allowed, int(quota)))


def core_quota() -> float | None:
    """Cores' worth of time that the control group (a container's limit) allows; None without a limit."""
    words = read_words(Path("/sys/fs/cgroup/cpu.max"))
    if len(words) != 2 or words[0] == "max":
        return None
    quota, period = map(int, words)
    return quota / period


def memory_bytes() -> int | None:
    """Memory of the machine or of the container, whichever is less, in bytes; None where unknown."""
    found = physical_memory()
    limit = read_words(Path("/sys/fs/cgroup/memory.max"))
    if found and limit and limit[0].isdigit():
        return min(found, int(limit[0]))
    return found


def physical_memory() -> int | None:
    """Bytes of memory of the machine; None where the system does not report it."""
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
    if len(words) > 1:
        return int(words[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def processor_name() -> str:
    """The processor's name as its maker writes it."""
    if sys.platform == "darwin":
        return command_output("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()
    match = re.search(r"^model name\s*:\s*(.+)$", read_text(Path("/proc/cpuinfo")), re.MULTILINE)
    if match:
        return match[1].strip()
    return platform.processor() or platform.machine()


def has_nvidia_driver() -> bool:
    """Return whether an NVIDIA driver is installed, without loading it."""
    if sys.platform == "win32":
        return (Path(os.environ.get("SYSTEMROOT", "C:\\Windows")) / "System32" / "nvcuda.dll").is_file()
    return any(Path("/dev", name).exists() for name in ("nvidiactl", "nvhost-ctrl", "dxg"))


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
