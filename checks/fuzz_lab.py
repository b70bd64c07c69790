"""Random requests and messages for the browser lab at any seeds, with the checks of tests/web/test_hostile_*.py.

    python checks/fuzz_lab.py --messages 10000 --requests 10000 --seed 50

Every session of the lab gets the messages, and must answer each in one line, go on working and not grow; every request
must get an answer in words, none an internal error, none a file from outside. Prints what was sent; an AssertionError
says what went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "web")]

messages: Any = importlib.import_module("test_hostile_messages")
requests: Any = importlib.import_module("test_hostile_requests")

from hauteur.web.app import create_app  # noqa: E402
from hauteur.web.safety import AccessMiddleware, AccessPolicy  # noqa: E402
from hauteur.web.settings import WebSettings  # noqa: E402


def main(words: Sequence[str] | None = None) -> int:
    """Send everything; return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=10_000, help="to all sessions together")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=50)
    given = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        each = -(-given.messages // len(messages.SESSIONS))
        for session in messages.SESSIONS:
            began = time.process_time()
            asyncio.run(messages.bombard(Path(folder), session, each, given.seed))
            print(f"{session}: {each:,} messages, {time.process_time() - began:.0f} CPU s", flush=True)
        guarded = AccessMiddleware(create_app(WebSettings(roots=(Path(folder),))), AccessPolicy.at("127.0.0.1"))
        began = time.process_time()
        found = asyncio.run(requests.answers(guarded, given.requests, given.seed))
        shown = ", ".join(f"{status} {count:,}" for status, count in sorted(found.items()))
        print(f"{given.requests:,} requests, {time.process_time() - began:.0f} CPU s: {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
