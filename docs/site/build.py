"""Build the documentation site: stage the pages, generate those that come from the code, run Sphinx.

`make docs` runs it. Every warning is an error: a link that leads nowhere, a page that no index names, a name of the
public API without documentation, a type that cannot be resolved.

    python docs/site/build.py [--out build/docs] [--external]
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

import api_page
import code_pages
import staging

SITE = Path(__file__).resolve().parent


def main() -> int:
    """Build the site, return Sphinx's exit status."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("--out", type=Path, default=staging.ROOT / "build" / "docs", help="folder of the site")
    parser.add_argument("--external", action="store_true", help="check links to other sites too, by the network")
    options = parser.parse_args()
    begin = time.monotonic()
    source = options.out / "source"
    shutil.rmtree(source, ignore_errors=True)
    staging.stage(source)
    code_pages.write_all(source)
    api_page.write(source)
    status = sphinx("html", source, options.out)
    if status == 0 and options.external:
        status = sphinx("linkcheck", source, options.out)
    print(f"docs: {options.out / 'html' / 'index.html'} ({time.monotonic() - begin:.0f} s)")
    return status


def sphinx(builder: str, source: Path, out: Path) -> int:
    """Run one of Sphinx's builders on the staged pages; every warning is an error."""
    strict = ["-n", "-W", "--keep-going", "-q"]
    command = [sys.executable, "-m", "sphinx", "-b", builder, *strict, "-c", str(SITE), "-d", str(out / "doctrees")]
    return subprocess.run([*command, str(source), str(out / builder)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
