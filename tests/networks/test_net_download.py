"""Downloads against a server on this machine: whole, cut, changed, wrong, too large, elsewhere, not there."""

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from net_server import NetServer, net_server

from hauteur.networks.download import OnProgress, fetch, unobserved

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
    return fetch(address, folder / ".part", sha256, on_progress, most_bytes=1_000_000, pause=0.0)


def left(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.iterdir())


def test_a_whole_file(server: NetServer, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    assert get(server, tmp_path, on_progress=lambda done, size: seen.append((done, size))) == DIGEST
    assert (tmp_path / ".part").read_bytes() == DATA
    assert seen[0] == (0, len(DATA))
    assert seen[-1] == (len(DATA), len(DATA))


def test_a_later_call_goes_on_where_the_earlier_one_gave_up(server: NetServer, tmp_path: Path) -> None:
    server.cuts = [200_000, 0, 0, 0, 0, 0]
    with pytest.raises(
        ValueError, match=r"no connection to 127\.0\.0\.1: the connection was cut; 200,000 bytes are kept"
    ):
        get(server, tmp_path)
    server.requests.clear()
    assert get(server, tmp_path) == DIGEST
    assert server.begins == ["bytes=200000-"]


@settings(max_examples=25)
@given(
    cuts=st.lists(st.integers(1, 120_000), max_size=4),
    ranges=st.booleans(),
    length=st.booleans(),
)
def test_cut_anywhere_the_file_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], ranges: bool, length: bool
) -> None:
    place = tmp_path_factory.mktemp("download")
    with net_server() as server:
        server.files["/file"] = DATA
        server.cuts, server.ranges = list(cuts), ranges
        server.length = length or bool(cuts)  # without a length a cut is not seen
        assert get(server, place) == DIGEST
    assert (place / ".part").read_bytes() == DATA


def test_a_part_of_an_earlier_call_needs_a_hash(server: NetServer, tmp_path: Path) -> None:
    server.cuts = [100_000, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="no connection"):
        get(server, tmp_path, None)
    server.files["/file"] = DATA[::-1]
    assert get(server, tmp_path, None) == hashlib.sha256(DATA[::-1]).hexdigest()


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
        fetch(f"{address}/file", tmp_path / ".part", pause=60.0)


def test_an_interrupt_keeps_what_has_come(server: NetServer, tmp_path: Path) -> None:
    def interrupted(done: int, size: int | None) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(server, tmp_path, on_progress=interrupted)
    kept = (tmp_path / ".part").stat().st_size
    assert 100_000 < kept < len(DATA)
    assert get(server, tmp_path) == DIGEST
    assert server.begins == ["", f"bytes={kept}-"]
