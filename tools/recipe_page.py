"""Write the tables of docs/reference/recipes.md from the docstrings under the settings of a recipe.

    python tools/recipe_page.py

`make schema` runs it. The text around the tables is written by hand, and so are the tables of sections that other parts
of the package define (networks, players, temperatures, the search).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pydantic import BaseModel

from hauteur.learning import sections

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "recipes.md"
METHODS = "../../python/hauteur/mcts/methods"

sys.path.append(str(ROOT / "docs" / "site"))
import settings_text  # type: ignore[import-not-found]  # noqa: E402  (of the site, which is no package)

SECTIONS: dict[str, type[BaseModel]] = {
    "selfplay": sections.SelfPlaySettings,
    "selfplay.archive": sections.ArchiveSettings,
    "train": sections.TrainSettings,
    "train.window": sections.WindowSettings,
    "train.reanalyse": sections.ReanalyseSettings,
    "train.extra": sections.ExtraTargets,
    "start": sections.StartSettings,
    "gate": sections.GateSettings,
    "gate.sprt": sections.SprtSettings,
    "run": sections.RunSettings,
    "yardstick": sections.YardstickSettings,
    "controller": sections.ControllerSettings,
}
"""Sections whose tables are written here. A setting that is a section itself has a table of its own."""

NET = "a net file or name"
ALLOWED = {
    "selfplay.opening_book": "a file",
    "selfplay.opponent_net": NET,
    "train.extra.horizons": "1 to 10 000, at most 8",
    "start.net": NET,
    "start.large_net": NET,
    "start.games": "files, folders, patterns",
    "start.distil_from": NET,
    "gate.sprt.elo1": "above `elo0`, to 1000",
    "run.directory": "any text",
    "run.tag": "letters, digits, `.` `_` `-`",
    "run.seed": "0 to below 2^63",
    "run.budget_flops": "0 to 1e30",
    "yardstick.opponent": "a player of `hauteur match`",
    "yardstick.games": "2 to 1 000 000, even",
    "controller.targets": "0.01 to 100 each",
}
"""Allowed values that a type does not tell."""

MORE = {
    "selfplay.opponent_net": f"[model of the opponent]({METHODS}/opponent-net.md)",
    "train.proven_targets": f"[solver]({METHODS}/solver.md)",
    "train.surprise_weight": f"[policy surprise]({METHODS}/policy-surprise.md)",
    "run.budget_flops": "[compute](reports.md#compute)",
    "run.solved_positions": "[exact play](reports.md#exact-play)",
}
"""Pages that say more about a setting."""


def page(text: str) -> str:
    """Return the page with every table of SECTIONS written anew. ValueError where a section has no table in it."""
    for section, model in SECTIONS.items():
        heading = re.escape(f"## `[{section}]`")
        table = re.compile(rf"(^{heading}\n(?:(?!^## ).*\n)*?^\| --- .*\n)(?:^\|.*\n)+", re.MULTILINE)
        match = table.search(text)
        if match is None:
            raise ValueError(f"{PAGE.name}: [{section}] has no table of settings")
        rows = "".join(f"{row}\n" for row in rows_of(section, model))
        text = text[: match.end(1)] + rows + text[match.end() :]
    return text


def rows_of(section: str, model: type[BaseModel]) -> list[str]:
    """Return the rows of a section's table: setting, default, allowed values, meaning. ValueError without a meaning."""
    rows = []
    for setting in settings_text.settings(model):
        if setting.section is not None:
            continue
        key = f"{section}.{setting.name}"
        if not setting.meaning:
            raise ValueError(f"{key} has no docstring")
        meaning = " ".join(setting.meaning.split()).removesuffix(".")
        if key in MORE:
            meaning = f"{meaning}; see {MORE[key]}"
        allowed = ALLOWED.get(key, setting.allowed)
        rows.append(f"| `{setting.name}` | `{setting.default}` | {allowed} | {meaning} |")
    return rows


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
