"""`hauteur uci`: the chess engine for UCI programs. Without other words it starts past the reader of options."""

import sys
from contextlib import suppress
from pathlib import Path

from hauteur.engine.streams import Output, input_lines, leave_process
from hauteur.engine.uci.engine import UciEngine


def uci(*, weights: str | None = None, log: Path | None = None, seed: int | None = None) -> None:
    """Chess engine for UCI programs; lc0's option names.

    Parameters
    ----------
    weights
        The same as the option WeightsFile: a .pb.gz net of Leela Chess Zero, the name of a net that `hauteur net get`
        has downloaded, or `uniform`. Default: the net that HAUTEUR_NET names, or the one that ships.
    log
        The same as the option LogFile: the conversation is appended to this file.
    seed
        Of moves drawn by temperature and of noise. Default: different every time.
    """
    if seed is not None and not 0 <= seed < 2**63:
        raise ValueError(f"--seed must be 0 to 2^63 - 1, got {seed}")
    output = Output(sys.stdout)
    engine = UciEngine(output, seed=seed)
    if weights is not None:
        engine.options.set("WeightsFile", weights)
    if log is not None:
        output.log_to(str(log))
    with suppress(BrokenPipeError):  # the program that listened is gone
        engine.run(input_lines(sys.stdin.fileno()))
    leave_process()
