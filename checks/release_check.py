"""What must be true before a version is published (`make release-check`): a line a check, status 1 where one fails.

Versions agree and the changelog has a part for it; the address of the repository is named, and links of the README lead
there; the sdist and the wheel, of what is committed, have what they must and no more; their descriptions show on an
index; the sdist builds with what the registry of crates left on this machine, without network; crates can be
published, in their order; a wheel for 64-bit ARM, used under qemu, finds the same trees. What this machine has no tools
for is "not checked", which is no failure.
"""

from __future__ import annotations

import re
import shutil
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / "tools"
sys.path.insert(0, str(TOOLS))

import aarch64_wheel  # noqa: E402
import long_description  # noqa: E402
from aarch64_wheel import ROOT, NotCheckedError, run  # noqa: E402

CRATES = ("hauteur-machine", "hauteur-core", "hauteur-evaluate")
"""Those that others can use, in the order of their dependencies."""

MOST_WHEEL = 12_000_000
"""Bytes."""

NEVER = re.compile(r"(^|/)(tests|runs|docs|\.venv|target|\.git)/|\.pem$|\.key$")
"""Files that a wheel must not have."""


def check_versions() -> str:
    """The workspace, the crates that name each other, the experiments, the citation and the changelog agree."""
    version = str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])
    found = {"experiments": tomllib.loads((ROOT / "experiments/pyproject.toml").read_text())["project"]["version"]}
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        for name, needs in tomllib.loads(manifest.read_text()).get("dependencies", {}).items():
            if isinstance(needs, dict) and "path" in needs:
                found[f"{manifest.parent.name} on {name}"] = needs.get("version")
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    found["CITATION.cff"] = cited.group(1) if cited else None
    wrong = {name: other for name, other in found.items() if other != version}
    if wrong:
        raise ValueError(f"the workspace has {version}, others {wrong}")
    if f"\n## [{version}]" not in (ROOT / "CHANGELOG.md").read_text():
        raise ValueError(f"CHANGELOG.md has no part [{version}]")
    return version


def check_tree() -> str:
    """Nothing is uncommitted."""
    changed = run(["git", "status", "--porcelain"])
    if changed:
        raise ValueError(f"{len(changed.splitlines())} files are not committed, such as {changed.splitlines()[0]}")
    return run(["git", "describe", "--always"]).strip()


def check_links(source: Path) -> str:
    """Unpack what is committed into `source`; links of its README lead to files, those of the repository's tag."""
    source.mkdir()
    archive = source.with_suffix(".tar")
    run(["git", "archive", "--output", archive, "HEAD"])
    with tarfile.open(archive) as committed:
        committed.extractall(source, filter="data")
    targets = {link[3].partition("#")[0] for link in long_description.LINK.finditer((source / "README.md").read_text())}
    if gone := sorted(target for target in targets if not (source / target).exists()):
        raise ValueError(f"README.md links to {gone[0]}, which is not committed")
    try:
        address = long_description.repository(source)
    except ValueError as error:  # a release stops there; until one is made it is no fault of the checkout
        raise NotCheckedError(str(error)) from None
    run([sys.executable, TOOLS / "long_description.py", source])
    if left := long_description.LINK.search((source / "README.md").read_text()):
        raise ValueError(f"README.md keeps the link {left[0]}")
    return f"{len(targets)} of the README lead to {address}"


def check_wheel(source: Path, dist: Path) -> str:
    """The wheel is one for every Python from 3.11 on, with one compiled module, the licence, and no other files."""
    run([sys.executable, "-m", "maturin", "build", "--release", "--locked", "--quiet", "--out", dist], folder=source)
    (wheel,) = dist.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    compiled = [name for name in names if name.endswith((".so", ".pyd"))]
    problems = [name for name in names if NEVER.search(name)]
    if "-cp311-abi3-" not in wheel.name or "manylinux" not in wheel.name:
        raise ValueError(f"{wheel.name}: must be one for cp311-abi3 and manylinux")
    if len(compiled) != 1 or problems or not any(name.endswith("licenses/LICENSE") for name in names):
        raise ValueError(f"{wheel.name}: compiled {compiled}, unexpected {problems[:3]}, licence missing or not")
    if wheel.stat().st_size > MOST_WHEEL:
        raise ValueError(f"{wheel.name}: {wheel.stat().st_size:,} bytes, at most {MOST_WHEEL:,}")
    return f"{wheel.name}, {wheel.stat().st_size:,} bytes, {len(names)} files"


def check_sdist(source: Path, dist: Path) -> str:
    """The sdist has the sources and builds a wheel without network."""
    run([sys.executable, "-m", "maturin", "sdist", "--out", dist], folder=source)
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
        ends = ("/PKG-INFO", "/Cargo.lock", "/README.md", "/LICENSE")
        if missing := [end for end in ends if not any(name.endswith(end) for name in names)]:
            raise ValueError(f"{sdist.name}: lacks {missing}")
        archive.extractall(dist / "unpacked", filter="data")
    (unpacked,) = (dist / "unpacked").iterdir()
    words = ["cargo", "check", "--offline", "--release", "--quiet", "--package", "hauteur-py"]
    run([*words, "--manifest-path", unpacked / "Cargo.toml", "--target-dir", dist / "target"])
    return f"{sdist.name}, {sdist.stat().st_size:,} bytes"


def check_descriptions(dist: Path) -> str:
    """An index shows the long description."""
    run([sys.executable, "-m", "twine", "check", "--strict", *dist.glob("*.whl"), *dist.glob("*.tar.gz")])
    return "shown as Markdown"


def check_crates(dist: Path) -> str:
    """Each crate is packed, and built from its package."""
    words = ["cargo", "publish", "--dry-run", "--locked", "--target-dir", str(dist / "crates")]
    run([*words, *(word for name in CRATES for word in ("--package", name))])
    return ", ".join(CRATES)


def main() -> int:
    """Make all checks, one after another, whatever the others found."""
    dist = Path(tempfile.mkdtemp(prefix="hauteur-release-"))
    source = dist / "source"
    checks: dict[str, Callable[[], str]] = {
        "versions": check_versions,
        "committed": check_tree,
        "links": lambda: check_links(source),
        "wheel": lambda: check_wheel(source, dist),
        "sdist": lambda: check_sdist(source, dist),
        "descriptions": lambda: check_descriptions(dist),
        "crates": lambda: check_crates(dist),
        "aarch64": lambda: aarch64_wheel.check(dist / "aarch64"),
    }
    failed = 0
    for name, check in checks.items():
        try:
            print(f"{name:14} ok: {check()}", flush=True)
        except NotCheckedError as error:
            print(f"{name:14} not checked: {error}", flush=True)
        except (ValueError, OSError, KeyError) as error:
            failed += 1
            print(f"{name:14} FAILED: {error}", flush=True)
    shutil.rmtree(dist, ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
