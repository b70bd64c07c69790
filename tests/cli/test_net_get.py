"""`hauteur net get` as a user calls it, against a server on this machine."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lc0_toys import random_net
from net_server import NetServer, net_server

from hauteur.cli import main
from hauteur.networks import names
from hauteur.networks.names import known_net, known_nets, resolve_net

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small chess net."""
    return random_net(tmp_path_factory.mktemp("nets") / "small.pb.gz", seed=1).read_bytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of downloads, which is not there yet."""
    monkeypatch.setenv("HAUTEUR_NETS", str(tmp_path / "nets"))
    return tmp_path / "nets"


@pytest.fixture
def server(net: bytes, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NetServer]:
    """A mirror that has maia-1800, of which no hash is recorded, and maia-1900, which is pinned to what it has."""
    digests = {"maia-1800": None, "maia-1900": hashlib.sha256(net).hexdigest()}
    nets = tuple(replace(found, sha256=digests.get(found.name, found.sha256)) for found in known_nets())
    monkeypatch.setattr(names, "known_nets", lambda: nets)
    with net_server() as state:
        state.files = {f"/path/maia-{rating}.pb.gz": net for rating in (1800, 1900)}
        monkeypatch.setenv("HAUTEUR_MIRROR", f"{state.address}/path/")
        yield state


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_net_by_name(server: NetServer, folder: Path, net: bytes, capsys: Capture) -> None:
    assert main.main(["net", "get", "maia-1900"]) == 0
    said = capsys.readouterr().out
    assert "licence: GPL-3.0" in said
    assert f"sha256 {hashlib.sha256(net).hexdigest()}, as recorded" in said
    assert "use it as --net maia-1900" in said
    assert files(folder) == ["maia-1900.pb.gz"]
    assert resolve_net("maia-1900").path == str(folder / "maia-1900.pb.gz")
    assert main.main(["net", "info", "maia-1900", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file_bytes"] == len(net)
    assert main.main(["net", "get", "maia-1900"]) == 0
    assert "here already" in capsys.readouterr().out
    assert len(server.requests) == 1
    assert main.main(["net", "get", "maia-1900", "--force"]) == 0
    assert len(server.requests) == 2


def test_the_hash_of_a_first_download_is_recorded(server: NetServer, folder: Path, net: bytes, capsys: Capture) -> None:
    """Where the catalogue has none: later files are compared with it, when they are used and when they are got."""
    assert main.main(["net", "get", "maia-1800"]) == 0
    assert "none was on record: this one is now" in capsys.readouterr().out
    assert files(folder) == ["maia-1800.pb.gz", "maia-1800.pb.gz.sha256"]
    assert main.main(["net", "get", "maia-1800"]) == 0
    assert "as recorded" in capsys.readouterr().out
    server.files["/path/maia-1800.pb.gz"] = net + b"\0"
    assert main.main(["net", "get", "maia-1800", "--force"]) == main.EXIT_BAD_INPUT
    assert f"expected {hashlib.sha256(net).hexdigest()}" in capsys.readouterr().err
    (folder / "maia-1800.pb.gz").write_bytes(net + b"\0")
    with pytest.raises(ValueError, match="is not the net maia-1800"):
        resolve_net("maia-1800")
    (folder / "maia-1800.pb.gz.sha256").write_text("no hash")
    assert main.main(["net", "get", "maia-1800"]) == main.EXIT_BAD_INPUT
    assert "holds no sha256" in capsys.readouterr().err


def test_another_file_under_a_known_name(server: NetServer, folder: Path, capsys: Capture) -> None:
    server.files["/path/maia-1900.pb.gz"] = b"\x1f\x8b something else"
    assert main.main(["net", "get", "maia-1900"]) == main.EXIT_BAD_INPUT
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is not the expected file: its sha256 is" in error
    assert files(folder) == []


def test_a_damaged_download_is_replaced(server: NetServer, folder: Path, net: bytes) -> None:
    folder.mkdir()
    (folder / "maia-1900.pb.gz").write_bytes(net[:-1])
    assert main.main(["net", "get", "maia-1900"]) == 0
    assert (folder / "maia-1900.pb.gz").read_bytes() == net


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<html>Sign in</html>", "is a web page, not a net: download the file itself"),
        (b"\x1f\x8bnonsense", "is damaged: gzip fails"),
        (b"", "is not a whole safetensors file"),
    ],
)
def test_a_file_that_is_no_network(server: NetServer, folder: Path, capsys: Capture, data: bytes, reason: str) -> None:
    server.files["/page"] = data
    assert main.main(["net", "get", "mine", "--from", f"{server.address}/page"]) == main.EXIT_BAD_INPUT
    error = capsys.readouterr().err
    assert error.startswith(f"hauteur: {server.address}/page: the file that came is no network: {reason}")
    assert error.count("\n") == 1
    assert files(folder) == []


def test_a_net_that_is_here_outlasts_a_failed_download(server: NetServer, folder: Path, net: bytes) -> None:
    assert main.main(["net", "get", "maia-1800"]) == 0
    server.files["/path/maia-1800.pb.gz"] = b"no net"
    assert main.main(["net", "get", "maia-1800", "--force"]) == main.EXIT_BAD_INPUT
    assert files(folder) == ["maia-1800.pb.gz", "maia-1800.pb.gz.sha256"]
    assert (folder / "maia-1800.pb.gz").read_bytes() == net


def test_from_another_address(server: NetServer, folder: Path, net: bytes, root: Path, capsys: Capture) -> None:
    server.files["/x/My%20net.pb.gz?raw=true"] = net
    assert main.main(["net", "get", "--from", f"{server.address}/x/My%20net.pb.gz?raw=true"]) == main.EXIT_BAD_INPUT
    assert "'My net' is no name for a net" in capsys.readouterr().err
    assert main.main(["net", "get", "mine", "--from", f"{server.address}/x/My%20net.pb.gz?raw=true"]) == 0
    server.files["/y/own.safetensors"] = (root / "python/hauteur/networks/data/connect4.safetensors").read_bytes()
    assert main.main(["net", "get", "--from", f"{server.address}/y/own.safetensors"]) == 0
    assert files(folder) == ["mine.pb.gz", "own.safetensors"]
    assert "connect4, resnet 32x4" in capsys.readouterr().out
    assert main.main(["analyse", "connect4", "--net", "own", "--visits", "5"]) == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["maja-1900"], "there is no net 'maja-1900' in the list of public nets"),
        (["mine", "--from", "file:///etc/hostname"], "only addresses with http:// or https://"),
        (["uniform", "--from", "http://127.0.0.1:1/x"], "uniform names something else already"),
        (["connect4", "--from", "http://127.0.0.1:1/x"], "connect4 names something else already"),
        (["../up", "--from", "http://127.0.0.1:1/x"], "'../up' is no name for a net"),
        (["a", "b", "--from", "http://127.0.0.1:1/x"], "--from gets one net, got the names a, b"),
        (["mine", "--from", "http://127.0.0.1:1/x"], "no connection to 127.0.0.1"),
    ],
)
def test_bad_input_gets_one_line(folder: Path, words: list[str], complaint: str, capsys: Capture) -> None:
    assert main.main(["net", "get", *words]) == main.EXIT_BAD_INPUT
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert files(folder) == []


def test_the_list(server: NetServer, folder: Path, capsys: Capture) -> None:
    main.main(["net", "get", "maia-1800"])
    shutil.copy(folder / "maia-1800.pb.gz", folder / "mine.pb.gz")
    capsys.readouterr()
    assert main.main(["net", "get"]) == 0
    said = capsys.readouterr().out
    for found in known_nets():
        assert found.name in said
    assert "downloaded: maia-1800, mine" in said
    assert main.main(["net", "get", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in facts["public"] if row["path"]} == {"maia-1800"}
    assert facts["others"] == {"mine": str(folder / "mine.pb.gz")}
    assert "connect4" in facts["shipped"]


def test_the_catalogue_agrees_with_the_reference_nets(shared_data: Path) -> None:
    for rating in (*range(1100, 2000, 100), 2200):
        found = known_net(f"maia-{rating}")
        data = (shared_data / "nets" / f"maia-{rating}.pb.gz").read_bytes()
        assert found is not None
        assert found.sha256 == hashlib.sha256(data).hexdigest()
        assert abs(len(data) / 1e6 - found.megabytes) < 0.15


def test_every_entry_has_an_address_of_the_web_and_a_licence() -> None:
    assert len({found.name for found in known_nets()}) == len(known_nets()) >= 15
    for found in known_nets():
        assert found.address.startswith("https://")
        assert found.address.endswith(".pb.gz")
        assert found.licence
        assert found.sha256 is None or len(found.sha256) == 64
