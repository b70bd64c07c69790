"""The words that a shell completes beside commands and options: games, nets, players with their settings, experiments.

Each function gets what stands before the cursor; the shell keeps of the words those that go on with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext


def games(context: CompletionContext) -> list[str]:
    """Return the names of games."""
    from hauteur.games.registry import names

    del context
    return names()


def nets(context: CompletionContext) -> list[str]:
    """Return the names of nets that ship or were downloaded, and the evaluators without a file."""
    from hauteur.networks.names import WITHOUT_FILE, downloaded_nets, shipped_names

    del context
    return [*shipped_names(), *downloaded_nets(), *WITHOUT_FILE]


def players(context: CompletionContext) -> list[str]:
    """Return how the text of a player goes on: kinds without a network at its beginning, nets and all settings."""
    from hauteur.mcts.params import SearchParams
    from hauteur.players.baselines import FORMS
    from hauteur.players.settings import PlayerSettings
    from hauteur.system.setting_facts import setting_keys

    before, space, _ = context.incomplete.rpartition(" ")
    alone = [] if space else [form.removesuffix("N") for form in FORMS.values()]
    own = [f"{name}=" for name in PlayerSettings.model_fields if name not in ("baseline", "engine", "net", "search")]
    words = [
        *alone,
        *(f"net={name}" for name in nets(context)),
        *own,
        *(f"{key}=" for key in setting_keys(SearchParams)),
    ]
    return [f"{before}{space}{word}" for word in words]
