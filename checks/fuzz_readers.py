"""Damaged files and messages for every reader: each is accepted, or refused in one line; nothing else ever happens.

    python checks/fuzz_readers.py --cases 200                     a little of every reader
    python checks/fuzz_readers.py --readers net pgn --seconds 60 --seed 5
    python checks/fuzz_readers.py --readers pgn --case 123        one case again, in this process

Valid examples are changed: bits, numbers at the edges of their ranges, parts removed, doubled or exchanged, words and
numbers of texts, values of JSON, and in files with check sums also what they cover (the sums are then written anew).
A find is any exception but ValueError and OSError, an error of more than one line, a panic, the end of the process,
more than SECONDS for one case, or more than MOST_BYTES of new memory. Every reader works in a process of its own.
Prints a line a reader and the finds, writes their files into `finds` of --folder, exits with status 1 where there are
any.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from mutations import changed
from reader_calls import one_line
from reader_examples import make_examples
from readers import Reader, readers

SECONDS, MOST_SECONDS = 5, 120
"""Of one case: of the processor, and by the clock."""
MOST_BYTES = 2**31
MOST_FINDS = 10
"""Finds of a reader after which it is left."""


def case_of(name: str, reader: Reader, seed: int) -> bytes:
    """Return the content of a case."""
    draws = random.Random(f"{name} {seed}")
    data = draws.choice(reader.examples)
    if reader.inside is not None and draws.random() < 0.5:
        return reader.inside(draws, data)
    return changed(draws, data, reader.examples)


def run_case(name: str, reader: Reader, seed: int, folder: Path) -> bool:
    """Read one case; return whether it was accepted. Any exception is a find."""
    path = folder / f"case{reader.suffix}"
    path.write_bytes(case_of(name, reader, seed))
    return one_line(lambda: reader.read(path))


def work(name: str, folder: Path, first: int, end: float, cases: int) -> None:
    """Run the cases of a reader from a number on, for the parent: what happens is on stdout, a line of JSON each."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    with Path(os.devnull).open("w") as nothing:
        os.dup2(nothing.fileno(), 1)
    reader = readers(folder)[name]
    for example in range(len(reader.examples)):
        path = folder / f"case{reader.suffix}"
        path.write_bytes(reader.examples[example])
        try:
            reader.read(path)
        except Exception as error:
            out.write(json.dumps({"invalid": f"{example} is refused: {error!r:.300} at {place_of(error)}"}) + "\n")
            return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    faulthandler.register(signal.SIGPROF, chain=True)  # says where it is, then ends the process
    for seed in range(first, first + cases):
        if time.time() > end:
            break
        out.write(json.dumps({"case": seed}) + "\n")
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            accepted = run_case(name, reader, seed, folder)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the core is none of Exception
            text = f"{type(error).__name__}: {error}"
            out.write(json.dumps({"find": f"{text[:300]!r} at {place_of(error)}"}) + "\n")
        else:
            out.write(json.dumps({"accepted": accepted}) + "\n")
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()


def place_of(error: BaseException) -> str:
    """Return file and line of the last frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


def fuzz(name: str, examples: Path, given: argparse.Namespace) -> list[str]:
    """Run the cases of one reader in processes of its own, print a line, return the finds."""
    began = time.time()
    at = given.seed
    done = 0
    accepted = 0
    finds = list[str]()
    end = time.time() + given.seconds
    last = given.seed + given.cases
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    while at < last and time.time() < end and len(finds) < MOST_FINDS:
        folder = given.folder / "work" / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(examples, folder)
        words = [sys.executable, __file__, "--work", name, "--folder", str(folder), "--seed", str(at)]
        words += ["--cases", str(last - at), "--end", str(end)]
        child = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, errors="replace")
        rows = [json.loads(line) for line in child.stdout.splitlines() if line.endswith("}")]
        for row in rows:
            done += "case" in row
            at = row.get("case", at)
            accepted += row.get("accepted", False)
            if "find" in row:
                finds.append(keep(given.folder, name, at, row["find"]))
            if "invalid" in row:
                finds.append(f"{name}: example {row['invalid']}")
        if child.returncode:
            said = " | ".join(line.strip() for line in child.stderr.strip().splitlines()[-4:])
            finds.append(keep(given.folder, name, at, f"the process ended with {child.returncode}: {said[:400]}"))
        at += 1
        if not child.returncode:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    share = f"{accepted / max(1, done):.0%} accepted"
    print(f"{name:12} {done:>9,} cases {share:>13} {cpu:>7.0f} CPU s {time.time() - began:>6.0f} s  {len(finds)} finds")
    print("".join(f"  {line}\n" for line in finds), end="", flush=True)
    return finds


def keep(folder: Path, name: str, case: int, what: str) -> str:
    """Keep the file of a find; return its line."""
    (folder / "finds").mkdir(exist_ok=True)
    with contextlib.suppress(OSError, StopIteration):
        reader = readers(folder / "examples")[name]
        (folder / "finds" / f"{name}-{case}{reader.suffix or '.bin'}").write_bytes(case_of(name, reader, case))
    return f"{name} --case {case}: {what}"


def repeat(known: Mapping[str, Reader], name: str, case: int, folder: Path) -> int:
    """Run one case here, so that its traceback is seen."""
    shutil.rmtree(folder.parent / "repeat", ignore_errors=True)
    folder = shutil.copytree(folder, folder.parent / "repeat")
    data = case_of(name, known[name], case)
    print(f"{len(data):,} bytes: {data[:600]!r}")
    print("accepted" if run_case(name, known[name], case, folder) else "refused")
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """Run the readers, or a part of it for the parent; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10**9, help="of each reader, at most")
    parser.add_argument("--seconds", type=float, default=3600, help="for each reader, at most")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="run this one here")
    parser.add_argument("--readers", nargs="+", default=[])
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="for examples and finds")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--end", type=float, default=0.0, help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    given.folder = given.folder.resolve()
    if given.work:
        work(given.work, given.folder, given.seed, given.end, given.cases)
        return 0
    examples = given.folder / "examples"
    make_examples(examples)
    known = readers(examples)
    names = given.readers or list(known)
    if unknown := set(names) - set(known):
        parser.error(f"unknown readers {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if given.case is not None:
        return repeat(known, names[0], given.case, examples)
    finds = [find for name in names for find in fuzz(name, examples, given)]
    return int(bool(finds))


if __name__ == "__main__":
    sys.exit(main())
