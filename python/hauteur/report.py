"""report.html of a learning run: figures and tables in one file that needs nothing else, in light and dark."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hauteur.charts import Series, lines, stacked_shares
from hauteur.metrics import duration
from hauteur.networks.files import write_bytes
from hauteur.recipe import Recipe, recipe_toml
from hauteur.run_folder import RunFolder

Line = dict[str, Any]

STYLE = """
:root { color-scheme: light dark; --page: #fbfaf8; --ink: #1d1d1b; --soft: #6b6964; --rule: #dddad3; --card: #ffffff;
  --win: #2f6fbf; --draw: #3f9b6c; --loss: #c8514f; --one: #2f6fbf; --two: #c2702a; --band: #1d1d1b; }
@media (prefers-color-scheme: dark) { :root { --page: #171716; --ink: #edebe6; --soft: #a3a09a; --rule: #3a3936;
  --card: #1f1f1d; --win: #5b9be6; --draw: #58b98a; --loss: #e27874; --one: #6ea8ee; --two: #e39a55; --band: #edebe6;
  } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 860px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 1.15rem; margin: 40px 0 4px; }
p { margin: 4px 0 12px; color: var(--soft); max-width: 68ch; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; margin: 20px 0; }
.facts div { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 10px 12px; }
.facts b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); font-size: .85rem; }
figure { margin: 8px 0; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; }
.legend { display: flex; gap: 16px; font-size: .8rem; color: var(--soft); padding: 0 0 8px 4px; }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .name { fill: var(--ink); } svg .mark { fill: var(--ink); font-size: 11px; }
svg .grid { stroke: var(--rule); stroke-width: 1; } svg .area { opacity: .85; }
svg .band { stroke: var(--band); stroke-width: 7; opacity: .25; }
svg .line polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: 8px; background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 8px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { color: var(--soft); font-weight: 500; } tr:last-child td { border-bottom: 0; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 12px; overflow-x: auto;
  font-size: .82rem; } summary { cursor: pointer; margin-top: 12px; }
"""


def write_report(folder: RunFolder) -> Path:
    """Writes report.html of the run in this folder; ValueError when there is no run, or nothing to tell yet."""
    recipe = folder.stored_recipe()
    history = folder.read_metrics()
    if not history:
        raise ValueError(f"{folder.path}: no generation is finished yet, so there is nothing to report")
    meta = json.loads((folder.path / "meta.json").read_text(encoding="utf-8"))
    write_bytes(folder.report, page(recipe, history, meta).encode())
    return folder.report


def page(recipe: Recipe, history: Sequence[Line], meta: Line) -> str:
    """The whole page."""
    title = f"{recipe.game}: {recipe.run.tag}"
    parts = [
        f"<h1>{escape(recipe.game)} learned from zero</h1>",
        f"<p>{escape(_summary(recipe, history))}</p>",
        _facts(history),
        *_results(recipe, history),
        *_losses(history),
        *_elo(history),
        *_throughput(history),
        *_reproduce(recipe, meta),
    ]
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{view}<title>{escape(title)}</title><style>{STYLE}</style>'
    body = f"<body><main>{''.join(parts)}</main></body>"
    return f'<!doctype html><html lang="en"><head>{head}</head>{body}</html>\n'


def _summary(recipe: Recipe, history: Sequence[Line]) -> str:
    net = recipe.network
    return (
        f"Run {recipe.run.tag}: a residual tower of {net.filters} filters and {net.blocks} blocks, "
        f"{recipe.selfplay.visits} visits a move, {len(history)} of {recipe.run.generations} generations."
    )


def _facts(history: Sequence[Line]) -> str:
    last = history[-1]
    facts = [
        (f"{sum(line['games']['games'] for line in history):,}", "games"),
        (f"{sum(line['games']['positions'] for line in history):,}", "positions"),
        (f"{last['train_steps']:,}", "training steps"),
        (f"gen {last['best']}", "best net"),
        (f"{last['best_elo']:+.0f}", "Elo over the first net"),
        (duration(last["seconds"]), "time"),
        (duration(last["cpu_seconds"]), "processor time"),
    ]
    boxes = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in facts)
    return f'<div class="facts">{boxes}</div>'


def _results(recipe: Recipe, history: Sequence[Line]) -> list[str]:
    """The implementation report's figure of the candidate's results, and the self-play games' results."""
    parts = []
    judged = [line for line in history if line["gate"]["games"]]
    if judged:
        counts = [(g["wins"], g["draws"], g["losses"]) for g in (line["gate"] for line in judged)]
        source = "its episodes" if recipe.gate.by == "episodes" else "the gate match"
        text = (
            f"Share of wins, draws and losses of the candidate in {source} of each generation; the curve is its "
            "winrate (draws count half). At the shaded threshold it becomes the best net."
        )
        chart = _shares(judged, counts, recipe.gate.threshold, "winrate")
        parts += ["<h2>Candidate against best net</h2>", f"<p>{text}</p>", chart]
    counts = [(g["first_wins"], g["draws"], g["second_wins"]) for g in (line["games"] for line in history)]
    parts += [
        "<h2>Games of the data set</h2>",
        "<p>Share of games that the first player won, drew and lost; the curve is the first player's score.</p>",
        _shares(history, counts, None, "score"),
    ]
    return parts


def _shares(history: Sequence[Line], counts: Sequence[tuple[int, int, int]], threshold: float | None, name: str) -> str:
    shares = [[count / sum(row) for count in row] for row in counts]
    wins, draws, losses = (list(column) for column in zip(*shares, strict=True))
    curve = Series(name, [win + draw / 2 for win, draw in zip(wins, draws, strict=True)], "ink")
    areas = [Series("win", wins, "win"), Series("draw", draws, "draw"), Series("loss", losses, "loss")]
    xs = [line["generation"] for line in history]
    chart = stacked_shares(areas, xs=xs, curve=curve, threshold=threshold, title="shares of wins, draws and losses")
    return f"<figure>{_legend([*areas, curve])}{chart}</figure>"


def _legend(series: Sequence[Series]) -> str:
    keys = (f'<span><i style="background: var(--{row.colour})"></i>{escape(row.name)}</span>' for row in series)
    return f'<div class="legend">{"".join(keys)}</div>'


def _losses(history: Sequence[Line]) -> list[str]:
    series = [
        Series("policy", [line["train"]["policy_loss"] for line in history], "one"),
        Series("value", [line["train"]["value_loss"] for line in history], "two"),
    ]
    chart = lines(series, xs=[line["generation"] for line in history], title="losses by generation")
    return ["<h2>Losses</h2>", "<p>Means over each generation's batches.</p>", f"<figure>{chart}</figure>"]


def _elo(history: Sequence[Line]) -> list[str]:
    judged = [line for line in history if line["elo"] is not None]
    if not judged:
        return []
    series = [
        Series("best", [line["best_elo"] for line in judged], "one"),
        Series("candidate", [line["elo"] for line in judged], "two"),
    ]
    chart = lines(series, xs=[line["generation"] for line in judged], title="Elo by generation", from_zero=True)
    text = "Gate matches added up, the first net at 0: a ladder of comparisons with itself, not a rating list."
    return ["<h2>Elo</h2>", f"<p>{text}</p>", f"<figure>{chart}</figure>"]


COLUMNS: tuple[tuple[str, Callable[[Line], str]], ...] = (
    ("games/s", lambda s: f"{s['games_per_second']:.1f}"),
    ("visits/s", lambda s: f"{s['visits_per_second']:,.0f}"),
    ("evaluations/s", lambda s: f"{s['evaluations_per_second']:,.0f}"),
    ("batch fill", lambda s: f"{s['mean_batch_fill']:.0%}"),
    ("cache hits", lambda s: f"{s['cache_hit_rate']:.0%}"),
    ("network", lambda s: f"{s['network_share']:.0%}"),
    ("search", lambda s: f"{s['search_share']:.0%}"),
    ("Python", lambda s: f"{s['python_share']:.0%}"),
)


def _throughput(history: Sequence[Line]) -> list[str]:
    names = ["generation", "games", "length", *(name for name, _ in COLUMNS), "memory"]
    rows = []
    for line in history:
        memory = f"{line['resident_bytes'] / 1e6:,.0f} MB" if line["resident_bytes"] else ""
        games = line["games"]
        cells = [str(line["generation"]), f"{games['games']:,}", f"{games['mean_length']:.1f}"]
        cells += [text(line["selfplay"]) for _, text in COLUMNS] + [memory]
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    head = f"<tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>"
    text = "Speed of self-play; network, search and Python are shares of its time, network is waiting for answers."
    table = f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'
    return ["<h2>Throughput</h2>", f"<p>{text}</p>", table]


def _reproduce(recipe: Recipe, meta: Line) -> list[str]:
    facts = json.dumps(meta, indent=2)
    return [
        "<h2>Reproduce</h2>",
        "<p>The same settings and seed on the same machine give the same games and the same weights.</p>",
        "<pre>hauteur train config.toml --run another-folder</pre>",
        f"<details open><summary>config.toml</summary><pre>{escape(recipe_toml(recipe))}</pre></details>",
        f"<details><summary>Versions and machine</summary><pre>{escape(facts)}</pre></details>",
    ]
