"""Names of nets: what `--net`, `net=` and WeightsFile understand, and the net that a game gets by itself."""

import gzip
from pathlib import Path

import pytest
from lc0_toys import random_net, random_tensors

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.networks import names
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.layers import resnet_shapes
from hauteur.networks.names import (
    ResolvedNet,
    data_path,
    default_net,
    downloaded_nets,
    known_nets,
    resolve_net,
    shipped_net,
)
from hauteur.networks.resnet_architecture import ResNetArchitecture

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of downloads, and an empty working directory."""
    monkeypatch.setenv("HAUTEUR_NETS", str(tmp_path / "nets"))
    monkeypatch.delenv("HAUTEUR_NET", raising=False)
    (tmp_path / "nets").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "nets"


def test_downloaded_nets_by_name(folder: Path) -> None:
    mine = random_net(folder / "mine.pb.gz")
    other = folder / "other.safetensors"
    networks.convert(mine, other)
    (folder / ".hidden.part.pb.gz").write_bytes(b"")
    (folder / "notes.txt").write_bytes(b"")
    assert downloaded_nets() == {"mine": mine, "other": other}
    assert resolve_net("mine") == resolve_net(Path("mine")) == ResolvedNet(str(mine))
    assert networks.describe("mine").sha256 == networks.load("mine").description.sha256
    make_evaluator(load_game("chess"), "other", threads=1).close()


def test_a_public_net_that_is_not_here_names_the_command() -> None:
    for net in known_nets():
        with pytest.raises(ValueError, match=f"^the net {net.name} is not downloaded yet: hauteur net get {net.name}$"):
            resolve_net(net.name)
    with pytest.raises(ValueError, match=r"^maia-1900\.pb\.gz: no such file here; `hauteur net get maia-1900`"):
        networks.describe("maia-1900.pb.gz")


def test_an_unknown_name_lists_what_is_here(folder: Path) -> None:
    random_net(folder / "mine.pb.gz")
    with pytest.raises(
        ValueError,
        match=r"no net 'maja-1900' .did you mean maia-1900..: give a file .* connect4, .*mine; `hauteur net get`",
    ):
        resolve_net("maja-1900")


def test_a_downloaded_file_with_another_hash_is_refused(folder: Path) -> None:
    random_net(folder / "maia-1900.pb.gz")
    with pytest.raises(ValueError, match=r"is not the net maia-1900 .*hauteur net get maia-1900 --force"):
        resolve_net("maia-1900")


# The net of a game.


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of our own with nets that ship for NoGo 9x9, NoGo 7x7, Hex 5x5 and chess."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setattr(names, "data_path", lambda name: folder / name)
    for spec, name in (("nogo", "nogo9"), ("nogo(size=7)", "nogo7"), ("hex(size=5)", "hex5"), ("chess", "chess")):
        game = load_game(spec)
        tower = ResNetArchitecture(feature_shape=game.feature_shape, num_actions=game.num_actions, filters=2, blocks=1)
        networks.save(folder / f"{name}.safetensors", tower, random_tensors(resnet_shapes(tower), 1), game=spec)
    return folder


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("nogo", "nogo9"),
        ("nogo(size=9)", "nogo9"),
        ("nogo(size=7)", "nogo7"),
        ("nogo(size=5)", None),
        ("hex(size=5)", "hex5"),
        ("hex(size=5,swap=true)", None),
        ("chess", "chess"),
        ("chess(fen=4k3/8/8/8/8/8/8/4K2R w K - 0 1)", "chess"),
        ("tictactoe", None),
    ],
)
def test_the_net_that_ships_for_a_game(shipped: Path, spec: str, name: str | None) -> None:
    found = shipped_net(load_game(spec))
    assert found == (None if name is None else shipped / f"{name}.safetensors")
    if name is not None:
        assert resolve_net(name) == ResolvedNet(str(found))
        assert resolve_net(None, load_game(spec)) == ResolvedNet(str(found), "shipped with hauteur")


def test_the_variable_goes_before_the_shipped_net_for_chess_alone(
    shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAUTEUR_NET", "uniform")
    assert default_net(load_game("chess")) == ("uniform", "environment variable HAUTEUR_NET")
    assert default_net(load_game("nogo")) == (str(shipped / "nogo9.safetensors"), "shipped with hauteur")
    monkeypatch.setenv("HAUTEUR_NET", "maia-1700")
    with pytest.raises(ValueError, match="hauteur net get maia-1700"):
        resolve_net(None, load_game("chess"))


# The nets that ship.


GAMES = (
    *("tictactoe", "connect4", "minichess", "nogo(size=7)", "nogo(size=9)", "chess"),
    *("hex(size=7)", "othello(size=6)", "gomoku(size=9)", "go(size=5)", "othello", "gomoku", "hex", "go(size=7)", "go"),
)
MAX_BYTES = 1_000_000


def net_of(spec: str) -> Path:
    path = shipped_net(load_game(spec))
    assert path is not None
    return path


@pytest.mark.parametrize("spec", GAMES)
def test_a_net_ships_for_the_game(spec: str) -> None:
    path = net_of(spec)
    game = load_game(spec)
    net = networks.describe(path)
    assert path.stat().st_size <= MAX_BYTES
    assert load_game(net.game).spec == game.spec
    assert net.training, "the file records what it was trained on"


def test_no_other_nets_ship() -> None:
    named_alone = {data_path(f"{name}.safetensors") for name in ("chess-zero", "connect4-64x6")}
    assert {net_of(spec) for spec in GAMES} | named_alone == set(data_path("").glob("*.safetensors"))


def test_a_net_file_may_have_any_name_with_quotes_around_it(folder: Path) -> None:
    whole = random_net(folder / "mine.pb.gz").read_bytes()
    expected = networks.describe("mine").parameters
    for name in ("62438.gz", "net", "my net.bin"):
        Path(name).write_bytes(whole)
    Path("unpacked.pb").write_bytes(gzip.decompress(whole))
    networks.convert("net", "own.safetensors")
    Path("own.safetensors").rename("own")
    for name in ("62438.gz", "net", '"my net.bin"', "'unpacked.pb'", "own", '"mine"'):
        assert networks.describe(name).parameters == expected
        make_evaluator(load_game("chess"), name, threads=1).close()
    with pytest.raises(ValueError, match="not a known network file"):
        networks.convert("net", "copy.gz")
    Path("pointer").write_text("version https://git-lfs.github.com/spec/v1\n", encoding="ascii")
    with pytest.raises(
        ValueError, match=r"^pointer: is a Git LFS pointer, not the net itself: `git lfs pull` gets that$"
    ):
        networks.load("pointer")
    with pytest.raises(FileNotFoundError):
        networks.load("nothing.gz")
