"""The page on the constants of Maia nets follows from the kept matches."""

from pathlib import Path

import constants_figure


def test_the_page_has_the_table_of_the_kept_matches(root: Path) -> None:
    page = (root / "docs/experiments/finding-constants.md").read_text(encoding="utf-8")
    assert constants_figure.table() in page
    for row in constants_figure.rows()[1:]:
        assert row.wins + row.draws + row.losses == 120
        assert f"{row.elo:+.0f} [{row.low:+.0f}, {row.high:+.0f}]" in page.partition("**maia")[2]
