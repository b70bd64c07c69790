"""A report as data, and the forms that it takes: page, terminal, JSON, files of figures."""

import json
from pathlib import Path

import pytest

from hauteur.plots import Figure, Series
from hauteur.plots.page import Markup
from hauteur.plots.report import Report, ReportGames, ReportSection, ReportTable

pytestmark = pytest.mark.quick

FIGURE = Figure("losses", "Losses", "Means of <batches>.", "loss", lines=(Series("policy", [1, 2], [2.0, 1.5]),))
WALK = {"title": "game 1: 1-0", "start": "", "moves": [], "states": []}
REPORT = Report(
    "A <run>",
    "Seed 1.",
    facts=[("1,200", "games")],
    sections=[
        ReportSection("Learning", text=["It goes on."], figures=[FIGURE]),
        ReportSection("Games", games=ReportGames(None, [WALK])),
        ReportSection(
            "Numbers",
            facts=[("2", "generations")],
            tables=[
                ReportTable(["generation", "games"], [["1", "600 & more"], [Markup("<a href='x'>2</a>"), "600"]]),
                ReportTable(["setting", "value"], [["seed", "1"]], words=True, folded="All settings"),
            ],
            code={"config.toml": "[run]\nseed = 1 # <one>"},
        ),
    ],
)


def test_the_page_has_every_part_in_order_and_escapes_what_is_text() -> None:
    text = REPORT.html()
    order = (
        *("<h1>A &lt;run&gt;</h1>", "<p>Seed 1.</p>", "<b>1,200</b><span>games</span>", "<h2>Learning</h2>"),
        *("<p>It goes on.</p>", "Means of &lt;batches&gt;.", "<h2>Games</h2>", 'class="walks"', "<h2>Numbers</h2>"),
        *("600 &amp; more", "<a href='x'>2</a>", "<summary>All settings</summary>", "seed = 1 # &lt;one&gt;"),
    )
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert REPORT.body() in text


def test_the_terminal_has_facts_and_tables() -> None:
    lines = str(REPORT).splitlines()
    assert lines[:3] == ["A <run>", "Seed 1.", "games: 1,200"]
    assert "Games" not in lines
    assert "generations: 2" in lines
    assert any("600 & more" in line for line in lines)


def test_json_and_files_have_the_figures(tmp_path: Path) -> None:
    found = json.loads(json.dumps(REPORT.to_json()))
    assert found["facts"] == [{"value": "1,200", "name": "games"}]
    assert found["sections"][2]["tables"][0]["rows"][0] == ["1", "600 & more"]
    (figure,) = found["sections"][0]["figures"]
    assert figure["lines"][0]["values"] == [2.0, 1.5]
    REPORT.write_files(csv=tmp_path / "csv")
    assert (tmp_path / "csv" / "losses.csv").read_text().splitlines()[1] == "policy,1,2.0,,"
    assert REPORT.write(tmp_path / "page.html").read_text() == REPORT.html()
