"""The facts of a link about the machine and the nets that computed a search, found out here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from hauteur import _core
from hauteur.engine.nets import NetChoice, OpenNets
from hauteur.engine.playing import PlayingSession, PlaySettings
from hauteur.mcts.report import RootReport
from hauteur.networks.evaluators.base import Backend, Precision
from hauteur.networks.evaluators.factory import has_cuda, precisions_here
from hauteur.networks.names import KINDS, WITHOUT_FILE, data_path, downloaded_nets, shipped_names
from hauteur.studies.links.link import SearchLink
from hauteur.system.extras import installed_version
from hauteur.system.files import sha256_of
from hauteur.system.hardware import usable_cores
from hauteur.system.settings import validated

NetFiles = Mapping[str, Sequence[str]]
"""Files of nets by their names, without folders; several where several folders have one."""


def linked(
    link: SearchLink, nets: NetChoice, opened: OpenNets, settings: PlaySettings, *, digest: str = ""
) -> SearchLink:
    """Return a link with what these nets and settings add to its position, seed and visits. Raise ValueError where a
    search could not be repeated by it.
    """
    if settings.tablebase is not None:
        raise ValueError("a link holds no tablebases: search without them")
    if not all(is_word(word) for word in (*link.moves, *link.only)):
        raise ValueError(f"moves of {link.game} have no text without spaces, as a link needs")
    small, large = net_facts(nets.net), net_facts(nets.large)
    facts = {
        **here(opened, nets.threads),
        "net": small[0],
        "sha256": small[1],
        "large_net": large[0],
        "large_sha256": large[1],
        "search": settings.search,
        "batch_size": settings.batch_size or opened.small.batch_size,
        "digest": digest,
    }
    return validated(SearchLink, link.model_dump(exclude={"search"}) | facts, "link")


def repeatable_digest(session: PlayingSession, report: RootReport) -> str:
    """Return the digest of the tree of a search by visits that has ended; empty where a link makes another one.

    That is where it was stopped, or made of several searches, or where others before it left draws and evaluations.
    """
    facts = session.tree_facts()
    alone = facts.is_first and report.pace.new_visits == report.visits
    return facts.digest if alone and report.reason != "stopped" else ""


def is_word(text: str) -> bool:
    """Return whether a text is one word."""
    return text.split() == [text]


def net_facts(net: str) -> tuple[str, str]:
    """Return name and sha256 of a net; that of an evaluator without a file is empty."""
    if net in ("", *WITHOUT_FILE):
        return net, ""
    return Path(net).name, sha256_of(Path(net))


def here(opened: OpenNets, threads: int) -> dict[str, Any]:
    """Return what computes these nets here, by the keys of a link."""
    words = opened.small.name.split()[::-1]  # the name of the file comes first, whatever words are in it
    backend = next((word for word in words if word in get_args(Backend)), None)
    precision = next((word for word in words if word in get_args(Precision)), None)
    return {
        "threads": threads or usable_cores(),
        "backend": backend,
        "runtime": "" if backend in (None, "core") else installed_version(backend) or "unknown",
        "precision": precision,
        "version": _core.__version__,
        "core": core_hash(),
    }


@lru_cache(1)
def core_hash() -> str:
    """Return the first 12 digits of the sha256 of the compiled core: equal for equal wheels."""
    return sha256_of(Path(str(_core.__file__)))[:12]


def nets_by_name(more: Iterable[Path] = ()) -> NetFiles:
    """Return the nets that a link may name here: those that ship, those that were downloaded, and `more` files."""
    shipped = [data_path(f"{name}.safetensors") for name in shipped_names()]
    found: dict[str, list[str]] = {name: [name] for name in WITHOUT_FILE}
    for path in [*shipped, *downloaded_nets().values(), *more]:
        if path.name.endswith((*KINDS, ".onnx")):
            found.setdefault(path.name, []).append(str(path))
    return found


def named_net(name: str, sha256: str, nets: NetFiles) -> str:
    """Return the net of this name, of several the one with this sha256, else the last. ValueError without any."""
    files = nets.get(name, ())
    if not files:
        raise ValueError(
            f"link: the net {name} is not here: `hauteur net get` downloads public nets, --net names a file"
        )
    same = (file for file in files if file not in WITHOUT_FILE and sha256_of(Path(file)) == sha256)
    return files[-1] if len(files) == 1 else next(same, files[-1])


def has_backend(backend: Backend) -> bool:
    """Return whether nets can be computed by a backend here; torch: on a GPU, as nowhere else by default."""
    if backend == "torch":
        return has_cuda()
    return backend == "core" or installed_version(backend) is not None


def computes(backend: Backend, precision: Precision) -> bool:
    """Return whether a backend computes in this precision here."""
    return precision in precisions_here(backend)
