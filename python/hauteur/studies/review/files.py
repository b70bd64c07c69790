"""The files of a review in its folder: annotated games, result.json, report.html; also when it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hauteur.studies.review.annotate import annotated_pgn, annotated_sgf
from hauteur.studies.review.page import review_page
from hauteur.studies.review.run import ReviewRun
from hauteur.studies.review.tables import review_json
from hauteur.system.files import write_bytes, write_json
from hauteur.system.provenance import provenance


@contextmanager
def kept(run: ReviewRun) -> Iterator[None]:
    """Keep a review in its folder, if it has one, while the body runs; write its files at the end.

    They are written too when the review is interrupted, of all that is done until then. Raise ValueError where the
    folder holds a review with other settings, or another process works in it.
    """
    if run.folder is None:
        yield
        return
    with run.folder.open(run.stored_settings()):
        try:
            yield
        except KeyboardInterrupt:
            write_review(run, run.folder.path)
            raise
        write_review(run, run.folder.path)


def write_review(run: ReviewRun, folder: Path) -> None:
    """Write annotated games where the game has a format for them, report.html and result.json."""
    form = run.games[0].start.game.record_form
    if form is not None:
        write_bytes(folder / f"review.{form}", annotated(run).encode())
    write_bytes(folder / "report.html", report_html(run).encode())
    write_json(folder / "result.json", {**run_json(run), "written": provenance()})


def annotated(run: ReviewRun) -> str:
    """Return the games that are reviewed until now in the form of their game, with comments, marks and better lines."""
    text = annotated_pgn if run.games[0].start.game.record_form == "pgn" else annotated_sgf
    return text([game for game in run.games if game.moves], annotator_of(run))


def report_html(run: ReviewRun) -> str:
    """Return the page of the review, of all that is reviewed until now."""
    return review_page(run.file, run.games, run.stored_settings(), provenance())


def run_json(run: ReviewRun) -> dict[str, Any]:
    """Return the review as one JSON object, with its settings."""
    return review_json((game for game in run.games if game.moves), settings=run.stored_settings())


def annotator_of(run: ReviewRun) -> str:
    """Return net and effort in a few words, for the annotated games."""
    budget = run.limits.budget
    effort = [] if run.limits.visits is None else [f"{run.limits.visits} visits"]
    effort += [] if budget is None else [f"{budget.target:g} s"]
    return f"hauteur, {Path(run.nets.net).name}, {' or '.join(effort)} a position"
