"""The counts of document blocks that tests recorded, as lines at the end of a test run."""

from collections import Counter
from collections.abc import Iterable

from _pytest.reports import BaseReport


def count_lines(reports: Iterable[BaseReport]) -> list[str]:
    """Return one line for each thing that became of blocks and commands, with its reason, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for report in reports:
        for name, recorded in report.user_properties:
            if name == "doc_blocks":
                counts.update({(what, why): count for (what, why), count in recorded})
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], -item[1]))
    return [f"{count:5}  {what}{': ' if why else ''}{why}" for (what, why), count in ordered]
