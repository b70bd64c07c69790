"""The readers of files and messages, each with valid examples, for fuzz_readers.py.

A reader takes the path of a file; it returns, or raises ValueError or OSError with one line.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import reader_calls as calls
import reader_examples as examples
from mutations import changed, changed_json, changed_safetensors, changed_value

Inside = Callable[[random.Random, bytes], bytes]


@dataclass(frozen=True)
class Reader:
    """A reader of a kind of file. suffix: of its names; examples: valid contents; inside: changes behind check sums."""

    suffix: str
    examples: tuple[bytes, ...]
    read: calls.Read
    inside: Inside | None = None


def of_text(read: Callable[[str], object]) -> calls.Read:
    """Return a reader of files for one of texts; what is no UTF-8 is replaced, as of bytes from outside."""
    return lambda path: read(path.read_bytes().decode("utf-8", "replace"))


def of_lines(read: Callable[[str], object]) -> calls.Read:
    """Return a reader that reads every line by itself."""
    return of_text(lambda text: [calls.one_line(lambda line=line: read(line)) for line in text.split("\n")[:60]])  # type: ignore[misc]


def texts(found: tuple[str, ...]) -> tuple[bytes, ...]:
    """Return texts as bytes."""
    return tuple(text.encode() for text in found)


# -- changes behind the packing and the check sums of files


def inside_gzip(draws: random.Random, data: bytes) -> bytes:
    """Change what is packed."""
    return gzip.compress(changed(draws, gzip.decompress(data), [data]), 1)


def inside_text(draws: random.Random, data: bytes) -> bytes:
    """Change a value of a JSON text."""
    return changed_json(draws, data.decode()).encode()


def inside_journal(draws: random.Random, data: bytes) -> bytes:
    """Change a line of a journal and write its check sums anew."""
    from hauteur.system.jsonl import _digest, _split

    lines = [json.loads(_split(line + b"\n")[0]) for line in data.splitlines()]
    out = b""
    place = draws.randrange(len(lines))
    lines[place] = changed_value(draws, lines[place])
    for line in lines:
        body = json.dumps(line)
        sums = _digest(len(out), f"{body}\n".encode()).decode()
        out += f'{body[:-1]}{", " if len(body) > 2 else ""}"check": "{sums}"}}\n'.encode()
    return out


def inside_checkpoint(draws: random.Random, data: bytes) -> bytes:
    """Change the state in a checkpoint and write its hash anew."""
    from safetensors.numpy import load, save

    from hauteur.learning.checkpoint import FORMAT, _digest

    length = int.from_bytes(data[:8], "little")
    state = changed_json(draws, json.loads(data[8 : 8 + length])["__metadata__"]["state"])
    tensors = load(data)
    return save(tensors, metadata={"format": FORMAT, "state": state, "sha256": _digest(state, tensors)})


def inside_shard(draws: random.Random, data: bytes) -> bytes:
    """Change a value of a shard and write its hash anew; values of another type leave it unchanged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hauteur.learning.shards import FORMAT, SCHEMA, table_digest

    rows = pq.read_table(pa.BufferReader(data)).to_pylist()
    row = draws.randrange(len(rows))
    name = draws.choice(list(rows[row]))
    rows[row][name] = changed_value(draws, rows[row][name])
    try:
        table = pa.Table.from_pylist(rows, schema=SCHEMA)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return data
    file = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({"format": FORMAT, "sha256": table_digest(table)}), file)
    content: bytes = file.getvalue().to_pybytes()
    return content


def readers(folder: Path) -> Mapping[str, Reader]:
    """Return every reader, by name. folder: with the examples."""
    from hauteur.engine.uci.commands import parse_go, parse_position, parse_setoption
    from hauteur.engine.uci.options import Options
    from hauteur.games.odds import parse_odds
    from hauteur.learning.checkpoint import load_checkpoint
    from hauteur.learning.recipe import load_recipe
    from hauteur.players.settings import parse_player
    from hauteur.studies.puzzles.problems import shipped_sets

    def files(*names: str) -> tuple[bytes, ...]:
        return tuple(path.read_bytes() for name in names for path in sorted(folder.glob(name)))

    def run_file(read: calls.Read, name: str, inside: Inside | None = None) -> Reader:
        return Reader("", files(f"{read.__name__}/{name}"), calls.in_folder(read, name), inside)

    def set_option(line: str) -> object:
        return Options().set(*parse_setoption(line))

    sets = tuple(json.dumps(json.loads(path.read_text())[:6]).encode() for path in shipped_sets().values())
    return {
        "net": Reader(".safetensors", files("*.safetensors"), calls.read_net, changed_safetensors),
        "net-lc0": Reader(".pb.gz", files("*.pb.gz"), calls.read_net, inside_gzip),
        "checkpoint": Reader(".safetensors", files("read_run/checkpoint/*"), load_checkpoint, inside_checkpoint),
        "shard": Reader(".parquet", files("read_run/games/*.parquet"), calls.read_shard, inside_shard),
        "recipe": Reader(".toml", files("read_run/config.toml"), load_recipe),
        "metrics": run_file(calls.read_run, "metrics.jsonl"),
        "meta": run_file(calls.read_run, "meta.json", inside_text),
        "run-recipe": run_file(calls.read_run, "config.toml"),
        "games": run_file(calls.read_match, "games.jsonl", inside_journal),
        "match": run_file(calls.read_match, "match.json", inside_text),
        "result": run_file(calls.read_match, "result.json", inside_text),
        "tree": Reader(".json", files("tree.json"), calls.read_tree, inside_text),
        "pgn": Reader(".pgn", texts(examples.PGN), calls.read_games),
        "sgf": Reader(".sgf", texts(examples.SGF), calls.read_games),
        "moves-file": Reader(".txt", (b"connect4\n4 4 3 # note\n1. 2 3\n", b"nogo(size=5)\nA1 B2\n"), calls.read_games),
        "epd": Reader(".epd", texts(examples.EPD), calls.read_games),
        "puzzles-epd": Reader(".epd", texts(examples.EPD[1:]), calls.read_puzzles),
        "puzzles": Reader(".json", sets, calls.read_puzzles, inside_text),
        "puzzles-csv": Reader(".csv", texts(examples.CSV), calls.read_puzzles),
        "spec": Reader(".txt", texts(examples.SPECS), of_text(calls.read_game_spec)),
        "moves": Reader(".txt", texts(examples.MOVES), of_text(calls.read_moves)),
        "player": Reader(".txt", texts(examples.PLAYERS), of_text(parse_player)),
        "odds": Reader(".txt", texts(examples.ODDS), of_text(parse_odds)),
        "uci-words": Reader(".txt", texts(examples.UCI_WORDS), of_lines(lambda line: parse_position(line, Options()))),
        "uci-go": Reader(".txt", texts(examples.UCI_GO), of_lines(parse_go)),
        "uci-option": Reader(".txt", texts(examples.UCI_OPTIONS), of_lines(set_option)),
        "uci": Reader(".txt", texts(examples.UCI), of_text(calls.run_uci)),
        "gtp": Reader(".txt", texts(examples.GTP), of_text(calls.run_gtp)),
        "gomocup": Reader(".txt", texts(examples.GOMOCUP), of_text(calls.run_gomocup)),
        "analysis": Reader(".txt", texts(examples.QUERIES), of_lines(calls.read_query)),
        "engine": Reader(".txt", texts(examples.ENGINE), of_text(calls.hear_engine)),
        "worker": Reader(".bin", examples.MESSAGES, calls.read_messages),
    }
