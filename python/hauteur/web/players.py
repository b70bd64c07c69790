"""Players that a page may name: of nets those that ship, were downloaded or lie in the roots; programs if allowed."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from hauteur import _core
from hauteur.networks.names import (
    KINDS,
    WITHOUT_FILE,
    data_path,
    default_net,
    downloaded_nets,
    known_net,
    resolve_net,
    shipped_names,
)
from hauteur.networks.registry import describe
from hauteur.players.baselines import MOST_RAVE_ACTIONS
from hauteur.players.ladder import ladder
from hauteur.players.settings import NETS, PlayerSettings, parse_player
from hauteur.system.folders import folders_below

MOST_TEXT = 2000
"""Characters of a player's text."""
MOST_NETS = 2000
"""Nets under the roots that are listed, and ..."""
LOOKED_INTO = 100
"""Nets whose descriptions are read, for a game."""
MOST_OFFERED = 50
"""Nets that are offered for a game."""
MOST_FOLDERS = 20_000
"""... folders that are looked into for them."""

USUAL_OPPONENT = "human-1500"
"""Player whose mistakes are measured where a page names nobody."""

NO_PROGRAMS = (
    "programs (uci:, gtp:, gomocup:) are not started from pages by this server; "
    "it starts them where it was started with hauteur web --allow-programs"
)


def page_player(text: str, roots: Sequence[str], *, allow_programs: bool, label: str = "player") -> PlayerSettings:
    """Return the player that a text from a page describes.

    Raise ValueError as `parse_player` does; for a program where none is allowed; for files of settings; and for nets
    that `page_net` refuses.
    """
    if len(text) > MOST_TEXT:
        raise ValueError(f"{label}: the text has {len(text):,} characters, allowed are {MOST_TEXT:,}")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    for word in words:
        is_file = word.endswith(".toml") and "=" not in word
        if is_file or word.startswith("@"):
            raise ValueError(f"{label}: a page reads no files of settings; write key=value")
    settings = parse_player(text, label)
    if settings.engine is not None and not allow_programs:
        raise ValueError(f"{label}: {NO_PROGRAMS}")
    files = {}
    for setting in NETS:
        net = getattr(settings, setting)
        files[setting] = net and page_net(net, roots, label)
    return settings.model_copy(update=files)


def usual_opponent(roots: Sequence[str]) -> str:
    """Return the player whose mistakes are measured where a page names nobody; empty where its net is not here."""
    return USUAL_OPPONENT if parse_player(USUAL_OPPONENT).net in net_names(roots) else ""


def page_net(name: str, roots: Sequence[str], label: str = "net") -> str:
    """Return what a net's name from a page is: an evaluator without a file, or a path. Raise ValueError for others."""
    if name in WITHOUT_FILE:
        return name
    if name in shipped_names():
        return str(data_path(f"{name}.safetensors"))
    found = downloaded_nets().get(name) or nets_under(roots).get(name)
    if found is None and known_net(name) is not None:
        raise ValueError(f"{label}: the net {name} is not downloaded yet: hauteur net get {name}")
    if found is None:
        raise ValueError(
            f"{label}: there is no net {name[:80]!r}; a page may name {', '.join([*WITHOUT_FILE, *shipped_names()])}, "
            "downloaded nets (hauteur net get) and those in the folders that the server was given"
        )
    return str(found)


def page_net_or_own(name: str, game: _core.Game, roots: Sequence[str]) -> str:
    """Return what `page_net` does for a name; without one the game's own net, and random games where it has none."""
    if name:
        return page_net(name, roots)
    return resolve_net(None if default_net(game) is not None else "rollout", game).path


def net_names(roots: Sequence[str]) -> list[str]:
    """Return the names of all nets that `page_net` takes, for a list to choose from."""
    return [*shipped_names(), *downloaded_nets(), *nets_under(roots), *WITHOUT_FILE]


def nets_under(roots: Sequence[str]) -> dict[str, Path]:
    """Return the net files in these folders; their names begin with the folder's own: `runs/a/nets/best.pb.gz`."""
    found: dict[str, Path] = {}
    folders = 0
    for root in map(Path, roots):
        for place, folder, files in folders_below(root):
            folders += 1
            if folders > MOST_FOLDERS or len(found) >= MOST_NETS:
                return found
            for name in files:
                if name.endswith(KINDS):
                    found[str(place / name)] = folder / name
    return found


def nets_for(game: _core.Game, roots: Sequence[str]) -> list[str]:
    """Return the names of the nets in these folders that are for a game, the newest first, at most MOST_OFFERED.

    Only the newest LOOKED_INTO are looked into.
    """
    nets = nets_under(roots)
    newest_first = sorted(nets, key=lambda name: -nets[name].stat().st_mtime)
    fitting = [name for name in newest_first[:LOOKED_INTO] if _is_for(nets[name], game)]
    return fitting[:MOST_OFFERED]


def _is_for(path: Path, game: _core.Game) -> bool:
    """Return whether a file is a net whose planes and actions are those of the game."""
    try:
        net = describe(path)
    except (ValueError, OSError):
        return False  # a page offers nets; what is wrong with a file is reported where it is named
    return (net.feature_shape, net.num_actions) == (game.feature_shape, game.num_actions)


def suggested_players(game: _core.Game) -> list[dict[str, str]]:
    """Return the players that a page offers for a game, the one that it has by default first: text and label."""
    own = "hauteur" if default_net(game) is not None else "hauteur, by random games"
    offers = [("", own)]
    if game.name == "chess":
        playable = [rung for rung in ladder() if rung.net in downloaded_nets()]
        offers += [(rung.name, f"human, {rung.rating}") for rung in playable]
    if game.num_actions <= MOST_RAVE_ACTIONS:
        offers.append(("rave:5000", "RAVE, 5,000 random games"))
    offers += [("mcts:1000", "MCTS, 1,000 random games"), ("random", "random moves")]
    return [{"text": text, "label": label} for text, label in offers]
