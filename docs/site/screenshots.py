"""Photograph every page of the browser lab at work: light and dark, wide and narrow; `make screenshots` runs it.

A run of the demo's recipe and a match are made first (in build/screenshots/lab, kept for the next time), then a server
is started and its pages are used as a person would. Needs Chromium and the packages of the extra `dev`.

    python docs/site/screenshots.py [PAGE ...] [--out build/screenshots] [--pictures docs/pictures]
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from lab_browser import NARROW, WIDE, Windows, start_browser, start_lab, stop_lab, too_wide  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

LONG = 120_000
"""Milliseconds that a search or a review may take."""

GAME = """[White "Morphy"]
[Black "Duke Karl, Count Isouard"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5
11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0
"""

MATCH = ("match", "visits=100 name=hauteur", "mcts:200", "--game", "connect4", "--games", "60", "--seed", "1")
TRAINED, PLAYED = "tictactoe", "connect4"
"""Folders of the run and of the match."""

PICTURES = {"analyse": "lab.png", "review": "lab_review.png"}
"""Pages that the README shows, light and wide, and the files of their pictures."""


def play(page: Page) -> None:
    """A few moves of chess against the net that ships, with a hint."""
    page.goto("/play")
    for plies, (start, end) in ((2, ("e2", "e4")), (4, ("g1", "f3"))):
        expect(page.locator("#status")).to_contain_text("Your turn")
        page.locator(f'.square[aria-label^="{start},"]').click()
        page.locator(f'.square[aria-label^="{end},"]').click()
        expect(page.locator("#moves li")).to_have_count(plies, timeout=LONG)
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".board-marks .mark").first).to_be_visible(timeout=LONG)


def odds(page: Page) -> None:
    """A handicap that is chosen on the board, before the game."""
    page.goto("/odds")
    page.locator('.square[aria-label^="a1,"]').click()
    expect(page.locator("[name=odds]")).to_have_value("queen d1 + rook a1")


def analyse(page: Page) -> None:
    """A search of a position of chess, looked into, and its traps for a weak player."""
    page.goto("/analyse?game=chess&moves=e2e4+e7e5+d1h5+b8c6&visits=4000")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=LONG)
    page.locator("#traps summary").click()
    page.get_by_label("Against").fill("net=chess visits=1 temperature=1.5")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.locator("#trap-rows table")).to_be_visible(timeout=LONG)


def explain(page: Page) -> None:
    """The preset comparison."""
    page.goto("/explain?game=chess&moves=e2e4+e7e5+g1f3")
    page.get_by_label("Visits").fill("800")
    page.get_by_role("button", name="Explain", exact=True).click()
    expect(page.locator("#headline")).to_be_visible(timeout=LONG)


def review(page: Page) -> None:
    """A reviewed game, at its first marked move."""
    page.goto("/review")
    page.get_by_label("PGN, SGF").fill(GAME)
    page.get_by_label("Visits").fill("100")
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.locator("#stop")).to_be_hidden(timeout=LONG)
    expect(page.locator("#pace")).to_contain_text("33 of 33", timeout=LONG)
    page.get_by_role("button", name="Next mark").click()


def puzzles(page: Page) -> None:
    """A puzzle with its hint."""
    page.goto("/puzzles")
    expect(page.locator("#title")).to_contain_text("1 of")
    page.keyboard.press("h")


def run(page: Page) -> None:
    """The run, its figures."""
    page.goto(f"/runs/run/lab/{TRAINED}")
    expect(page.get_by_role("region", name="figures").locator("svg").first).to_be_visible()


def match(page: Page) -> None:
    """The match and one of its games."""
    page.goto("/matches/" + f"of/lab/{PLAYED}")
    page.locator("button[data-game]").first.click()
    expect(page.locator(".walk-moves button").first).to_be_visible()


def method(page: Page) -> None:
    """One method."""
    page.goto("/methods")
    page.get_by_role("link", name="Search-contempt", exact=True).click()


def listing(address: str) -> Callable[[Page], None]:
    """A page that is shown as it opens."""

    def show(page: Page) -> None:
        page.goto(address)
        page.wait_for_load_state("networkidle")

    return show


def form(address: str, summary: str) -> Callable[[Page], None]:
    """A list with the form that begins new work, open."""

    def show(page: Page) -> None:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        page.get_by_text(summary, exact=True).click()

    return show


SCENES: dict[str, Callable[[Page], None]] = {
    "play": play,
    "odds": odds,
    "analyse": analyse,
    "explain": explain,
    "review": review,
    "puzzles": puzzles,
    "runs": form("/runs", "New run"),
    "run": run,
    "matches": form("/matches", "New match"),
    "match": match,
    "methods": listing("/methods"),
    "method": method,
    "keys": listing("/keys"),
    "error": listing("/nothing"),
}


def make_work(folder: Path) -> None:
    """Make the run and the match, or go on with them."""
    commands = (
        ("train", str(ROOT / "runs" / "tictactoe.toml"), "--run", str(folder / TRAINED)),
        (*MATCH, "--out", str(folder / PLAYED)),
    )
    for command in commands:
        subprocess.run([sys.executable, "-m", "hauteur.cli", *command], check=True, stdout=subprocess.DEVNULL)


def photograph(windows: Windows, name: str, out: Path, pictures: Path | None) -> list[str]:
    """Photograph a page in four ways; return what sticks out of the window."""
    page = windows.open()
    SCENES[name](page)
    faults: list[str] = []
    for scheme in ("light", "dark"):
        for label, size in (("wide", WIDE), ("narrow", NARROW)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.mouse.move(0, 0)
            page.wait_for_timeout(300)
            page.screenshot(path=out / f"{name}-{scheme}-{label}.png", full_page=True)
            faults += [f"{name} {label}: {fault}" for fault in too_wide(page)]
    if pictures is not None and name in PICTURES:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": WIDE[0], "height": 1000})
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=pictures / PICTURES[name])
        shrink(pictures / PICTURES[name])
    page.context.close()
    return faults


def shrink(picture: Path) -> None:
    """Write a picture again with few colours, which a page needs, at a third of its bytes."""
    with Image.open(picture) as full:
        few = full.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def main() -> int:
    """Photograph the pages that are named, or all; return the exit status."""
    parser = argparse.ArgumentParser(description="Photograph the pages of the browser lab.")
    parser.add_argument("pages", nargs="*", choices=[*SCENES, []], help="names of pages; none: all")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures of the README")
    options = parser.parse_args()
    folder = options.out.resolve() / "lab"
    folder.mkdir(parents=True, exist_ok=True)
    make_work(folder)
    lab, faults = start_lab(folder), []
    try:
        for browser in start_browser():
            windows = Windows(browser, lab.url, expected="404 (Not Found)")
            for name in options.pages or SCENES:
                faults += photograph(windows, name, options.out.resolve(), options.pictures)
            windows.close()
    finally:
        stop_lab(lab)
    print(f"{options.out}: {len(options.pages or SCENES)} pages, four pictures of each", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
