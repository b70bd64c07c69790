"""Settings of the browser lab: where it listens, what it may read, how much it may use."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from hauteur.system.settings import Section

DEFAULT_PORT = 8270


class WebSettings(Section):
    """Settings of one server.

    host, port: address to listen on; port 0: any free one. roots: folders under which runs, matches, puzzles and nets
    are found; nothing else is read. allow_programs: whether players may be programs (`uci:`, `gtp:`). sessions:
    searches, games and reviews at a time of all clients together. threads: of each of them on the processor; 0: all
    cores. memory_mb: for the trees of all of them together, in equal shares; 0: half of the machine's. A tree that has
    its share grows no more. jobs: runs and matches that pages have begun and that work at a time; the others wait.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = DEFAULT_PORT
    roots: tuple[Path, ...] = (Path("runs"),)
    allow_programs: bool = False
    sessions: Annotated[int, Field(ge=1, le=256)] = 8
    threads: Annotated[int, Field(ge=0, le=1024)] = 0
    memory_mb: Annotated[int, Field(ge=0, le=1_048_576)] = 0
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
