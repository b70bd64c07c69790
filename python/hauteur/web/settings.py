"""Settings of the browser lab: where it listens, what it may read, how much it may use."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from hauteur.system.settings import Section

DEFAULT_PORT = 8270


class WebSettings(Section):
    """Settings of one server."""

    host: str = "127.0.0.1"
    """Address to listen on. One that other machines reach demands a token of every browser."""
    port: Annotated[int, Field(ge=0, le=65535)] = DEFAULT_PORT
    """Port to listen on; 0: any free one."""
    roots: tuple[Path, ...] = (Path("runs"),)
    """Folders under which runs, matches, puzzles and nets are found; nothing else is read."""
    allow_programs: bool = False
    """Whether players may be programs (`uci:`, `gtp:`, `gomocup:`), which a page then starts."""
    sessions: Annotated[int, Field(ge=1, le=256)] = 8
    """Searches, games and reviews at a time, of all clients together."""
    threads: Annotated[int, Field(ge=0, le=1024)] = 0
    """Threads of each of them on the processor; 0: all cores."""
    memory_mb: Annotated[int, Field(ge=0, le=1_048_576)] = 0
    """Megabytes for the trees of all of them, in equal shares; 0: half of the machine's memory. A tree that has its
    share grows no more.
    """
    jobs: Annotated[int, Field(ge=1, le=256)] = 1
    """Runs and matches that pages have begun and that work at a time; the others wait."""
