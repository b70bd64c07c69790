"""Shared by all tests: one thread a process, a private cache, reproducible hypothesis, the reference data."""

import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

# Before any test imports numpy or torch: with several processes on few cores more threads only cost time.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Tests must neither read nor fill the user's folder of downloaded nets.
NETS = tempfile.mkdtemp(prefix="hauteur-test-nets-")
atexit.register(shutil.rmtree, NETS, ignore_errors=True)
os.environ["HAUTEUR_NETS"] = str(Path(NETS) / "nets")

# In the background of a shell Python is deaf to SIGINT, and so would be the engines that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent

# Times mean nothing on a busy machine, so no deadline. HYPOTHESIS_PROFILE=thorough is that of `make test-slow`, explore
# looks for new examples.
repeatable = settings(derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", repeatable, max_examples=30)
settings.register_profile("thorough", repeatable, max_examples=1000)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of reference data (`data` in HAUTEUR_SHARED, or in `shared` beside the checkout); skips where absent."""
    folder = Path(os.environ.get("HAUTEUR_SHARED", ROOT.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} is absent (set HAUTEUR_SHARED to the folder that holds data/)")
    return folder


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The browser, one a process; while it runs, asyncio.run is for other threads (see async_runs.py)."""
    from lab_browser import start_browser

    yield from start_browser()


TOGETHER = (
    "cli/test_doctor.py",
    "cluster/test_local_worker.py",
    "cluster/test_ray.py",
    "cluster/test_runs.py",
    "house/test_imports.py",
    "learning/test_exact_resume.py",
    "learning/test_start_faults.py",
    "matches/test_damaged_results.py",
)
"""Files whose tests share what takes seconds to make: a cluster, a run, the package's syntax trees."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadScopeScheduling":
    """Give each test to the next free process, but those of a file in TOGETHER all to one."""
    from xdist.scheduler import LoadScopeScheduling

    class SomeTogether(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if file.endswith(TOGETHER) else nodeid

    return SomeTogether(config, log)
