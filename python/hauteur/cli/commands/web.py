"""`hauteur web`: the browser lab."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def web(
    *roots: Path,
    host: str = "127.0.0.1",
    port: int = 8270,
    allow_programs: Annotated[bool, Parameter(negative="")] = False,
    sessions: int = 8,
    threads: int = 0,
    memory_mb: int = 0,
    jobs: int = 1,
    open: Annotated[bool, Parameter(negative="")] = False,  # noqa: A002  (name of the option)
) -> int:
    """Open the browser lab: play, analyse, compare settings, review games, begin and watch runs and matches.

    Parameters
    ----------
    roots
        Folders under which runs, matches, puzzles and nets are found, new ones in the first. Default: runs.
    host
        Address to listen on.
    port
        Port to listen on; 0: any free one.
    allow_programs
        Let players be programs that speak UCI or GTP: who can open the page can start programs then.
    sessions
        Searches, games and reviews at a time, of all pages together.
    threads
        Threads of each of them; 0: as many as the processor has.
    memory_mb
        Megabytes for their search trees, in equal shares; a full tree grows no more; 0: half of the machine's.
    jobs
        Runs and matches at a time that pages have begun; the others wait.
    open
        Open the page in the browser of this machine.
    """
    from hauteur.system.settings import validated
    from hauteur.web.app import serve
    from hauteur.web.settings import WebSettings

    for root in roots:
        if not root.is_dir():
            raise ValueError(f"{root}: not a folder")
    given: dict[str, object] = {
        "host": host,
        "port": port,
        "allow_programs": allow_programs,
        "sessions": sessions,
        "threads": threads,
    }
    given |= {"memory_mb": memory_mb, "jobs": jobs, "roots": roots or (Path("runs"),)}
    serve(validated(WebSettings, given, "hauteur web"), open_browser=open)
    return 0
