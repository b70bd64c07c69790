"""Coverage-guided fuzzing of the readers of checks/fuzz_readers.py (Atheris: `pip install atheris`).

    python fuzz/python.py READER SECONDS [OPTION OF LIBFUZZER ...]

The valid examples are the start, new inputs go to target/fuzz/READER. A find is any exception but ValueError and
OSError, and an error of more than one line; its input is written to target/fuzz.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "checks"))

with atheris.instrument_imports(include=["hauteur"], enable_loader_override=False):
    from reader_calls import one_line
    from reader_examples import make_examples
    from readers import readers


def main(name: str, seconds: str, *options: str) -> None:
    """Fuzz one reader."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    make_examples(folder)
    reader = readers(folder)[name]
    corpus, path = ROOT / "target/fuzz" / name, folder / f"case{reader.suffix}"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, example in enumerate(reader.examples):
        (corpus / f"start-{number}").write_bytes(example)

    def attempt(data: bytes) -> None:
        path.write_bytes(data)
        one_line(lambda: reader.read(path))

    limits = [
        f"-max_total_time={seconds}",
        "-rss_limit_mb=3000",
        "-timeout=20",
        f"-artifact_prefix={ROOT}/target/fuzz/",
    ]
    atheris.Setup([sys.argv[0], *limits, *options, str(corpus)], attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
