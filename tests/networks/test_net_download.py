"""Downloads against a server on this machine: whole, cut, changed, wrong, too large, elsewhere, not there."""

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from net_server import NetServer, net_server

from hauteur.networks.download import OnProgress, fetch, unobserved

pytestmark = pytest.mark.quick

DATA = random.Random(1).randbytes(300_000)
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def server() -> Iterator[NetServer]:
    """A server with one file."""
    with net_server() as state:
        state.files["/file"] = DATA
        yield state


def get(
    server: NetServer,
    folder: Path,
    sha256: str | None = DIGEST,
    path: str = "/file",
    on_progress: OnProgress = unobserved,
) -> str:
    """Fetch a file of the server to `.part` in a folder."""
    address = path if "://" in path else f"{server.address}{path}"
    return fetch(address, folder / ".part", sha256, on_progress, most_bytes=1_000_000)


def left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.iterdir())


def test_a_whole_file(server: NetServer, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    assert get(server, tmp_path, on_progress=lambda done, size: seen.append((done, size))) == DIGEST
    assert (tmp_path / ".part").read_bytes() == DATA
    assert seen[0] == (0, len(DATA))
    assert seen[-1] == (len(DATA), len(DATA))


@pytest.mark.parametrize("sha256", [DIGEST, None])
def test_a_cut_transfer_leaves_nothing(server: NetServer, tmp_path: Path, sha256: str | None) -> None:
    server.cuts = [200_000]
    with pytest.raises(ValueError, match=r"no connection to 127\.0\.0\.1: .* cut after 200,000 of 300,000 bytes"):
        get(server, tmp_path, sha256)
    assert left(tmp_path) == []
    assert get(server, tmp_path, sha256) == DIGEST


def test_a_wrong_hash_leaves_nothing(server: NetServer, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"sha256 is {DIGEST}, expected {'0' * 64}; nothing is kept"):
        get(server, tmp_path, "0" * 64)
    assert left(tmp_path) == []


@pytest.mark.parametrize("length", [True, False])
def test_a_file_that_is_too_large_leaves_nothing(server: NetServer, tmp_path: Path, length: bool) -> None:
    server.files["/file"], server.length = bytes(1_000_001), length
    with pytest.raises(ValueError, match="more than the 1,000,000 bytes"):
        get(server, tmp_path)
    assert left(tmp_path) == []


def test_redirects_stay_in_the_web(server: NetServer, tmp_path: Path) -> None:
    server.redirects = {"/moved": "/file", "/out": "file:///etc/hostname", "/ftp": f"ftp{server.address[4:]}/file"}
    assert get(server, tmp_path, path="/moved") == DIGEST
    for path in ("/out", "/ftp"):
        with pytest.raises(ValueError, match=r"(not allowed|not followed)"):
            get(server, tmp_path / "nowhere", path=path)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "address", ["file:///etc/hostname", "ftp://host/x", "data:,x", "/etc/hostname", "http:///x", ""]
)
def test_addresses_outside_the_web(tmp_path: Path, address: str) -> None:
    with pytest.raises(ValueError, match="only addresses with http:// or https://"):
        fetch(address, tmp_path / ".part")


def test_no_network_is_reported_at_once(tmp_path: Path) -> None:
    with net_server() as gone:
        address = gone.address
    with pytest.raises(
        ValueError, match=r"no connection to 127\.0\.0\.1: Connection refused; the variable https_proxy"
    ):
        fetch(f"{address}/file", tmp_path / ".part")


def test_an_interrupt_leaves_nothing(server: NetServer, tmp_path: Path) -> None:
    def interrupted(done: int, size: int | None) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(server, tmp_path, on_progress=interrupted)
    assert left(tmp_path) == []
