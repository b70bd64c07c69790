"""The set-up: torch for processors where there is no GPU, and what tests need not before they run."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def index(tmp_path: Path) -> str:
    """The address of an index that has a torch of no content."""
    name = "torch-99.0+cpu"
    folder = tmp_path / "index" / "torch"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("torch/__init__.py", "")
        wheel.writestr(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 99.0+cpu\n")
        wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}.dist-info/RECORD", "")
    (folder / "index.html").write_text(f'<a href="{name.replace("+", "%2B")}-py3-none-any.whl">{name}</a>')
    return (tmp_path / "index").as_uri()


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An empty environment."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    return tmp_path / "venv" / "bin" / "python"


def install(python: Path, **variables: str) -> str:
    """Run the script; return what it prints."""
    ran = subprocess.run(
        [ROOT / ".ci" / "install-torch", python],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def torch_of(python: Path) -> str:
    """The torch of an environment, empty without one."""
    code = "from importlib.metadata import distributions as d; print(*[x.version for x in d() if x.name == 'torch'])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere torch has no CUDA to leave out")
def test_torch_comes_from_the_index_for_processors_where_there_is_no_gpu(
    python: Path, index: str, tmp_path: Path
) -> None:
    absent = str(tmp_path / "none")
    driver = tmp_path / "driver"
    driver.write_text("NVRM version\n")
    assert "the ordinary one follows" in install(python, TORCH_INDEX=f"{index}/nowhere", NVIDIA_DRIVER=absent)
    for variables in ({"NVIDIA_DRIVER": str(driver)}, {"NVIDIA_DRIVER": absent, "TORCH_INDEX": ""}):
        assert install(python, **{"TORCH_INDEX": index, **variables}) == ""
    assert torch_of(python) == ""
    assert install(python, TORCH_INDEX=index, NVIDIA_DRIVER=absent) == ""
    assert torch_of(python) == "99.0+cpu"
    assert install(python, TORCH_INDEX=f"{index}/nowhere", NVIDIA_DRIVER=absent) == ""  # it is there already


def test_the_demo_installs_what_learning_needs_and_tests_add_the_rest(tmp_path: Path) -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "demo", f"VENV={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    assert "--editable '.[train]'" in planned
    assert "install-torch" in planned
    assert "[dev]" not in planned
    tests = subprocess.run(
        ["make", "--dry-run", "test", f"VENV={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    assert "--editable '.[dev]'" in tests


def test_many_files_of_tests_are_quick() -> None:
    files = (ROOT / "tests").rglob("test_*.py")
    quick = [file for file in files if "pytest.mark.quick" in file.read_text(encoding="utf-8")]
    assert len(quick) > 50


@pytest.mark.parametrize("script", ["docs/site/screenshots.py", "docs/site/pictures.py", "tools/measure_ladder.py"])
def test_scripts_begin(script: str) -> None:
    ran = subprocess.run([sys.executable, ROOT / script, "--help"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "usage" in ran.stdout.lower()


def test_a_wheel_and_the_page_need_no_torch(tmp_path: Path) -> None:
    """A wheel takes maturin alone, the page the base and the layer that writes HTML."""
    planned = {}
    for target in ("wheel", "page"):
        command = ["make", "--dry-run", target, f"WHEEL_BIN={tmp_path}/wheel", f"PAGE_BIN={tmp_path}/page"]
        planned[target] = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert planned["wheel"].count("pip install") == planned["page"].count("pip install") == 1
    assert "'maturin>=1.9,<2'\n" in planned["wheel"]
    assert "--editable '.[web]'\n" in planned["page"]
    assert not any("[train]" in plan or "install-torch" in plan for plan in planned.values())


def test_the_demo_says_what_it_downloads_before_it_does(tmp_path: Path) -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "demo", f"VENV={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert 0 < planned.index("3.1 GB (6 GB on disk)") < planned.index("install-torch")
