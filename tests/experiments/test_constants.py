"""The page on the constants of Maia nets follows from the kept matches."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def test_the_page_has_the_table_of_the_kept_matches(root: Path) -> None:
    spec = spec_from_file_location("constants_figure", root / "benchmarks/constants_figure.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["constants_figure"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (root / "docs/experiments/finding-constants.md").read_text(encoding="utf-8")
    assert module.table() in page
    for row in module.rows()[1:]:
        assert row.wins + row.draws + row.losses == 120
        assert f"{row.elo:+.0f} [{row.low:+.0f}, {row.high:+.0f}]" in page.partition("**maia")[2]
