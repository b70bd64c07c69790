"""hauteur net: look at, convert and check net files."""

import json as json_format
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hauteur.cli.commands.options import Seed

if TYPE_CHECKING:
    from hauteur.networks import NetDescription
    from hauteur.networks.evaluators.base import Answers, Backend, Precision
    from hauteur.networks.evaluators.compare import OutputDifferences

EXIT_DIFFERENT = 1


def info(file: Path, /, *, json: bool = False) -> None:
    """Show what a net file holds: format, architecture, heads, size, training facts, hash.

    Parameters
    ----------
    file
        Net file: .safetensors, .pb.gz (lc0) or .onnx (written by `hauteur net convert`).
    json
        Print one JSON object instead of a table.
    """
    from hauteur import networks

    net = networks.describe(file)
    if json:
        print(
            json_format.dumps({"file": str(file), **net.model_dump(mode="json"), "summary": net.architecture.summary()})
        )
        return
    rows = info_rows(file, net)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:  # a line each, however long, for `grep`
        print(f"{name:{width}}  {value}")


def info_rows(file: Path, net: "NetDescription") -> list[tuple[str, str]]:
    """Return the rows of the table of `info`."""
    architecture = net.architecture
    rows = [
        ("file", str(file)),
        ("format", net.format),
        ("game", net.game),
        ("architecture", architecture.summary()),
        ("features", " x ".join(map(str, net.feature_shape))),
        ("policy", f"{architecture.policy}, {net.num_actions} actions"),
        ("value", architecture.value),
        ("moves left", "yes" if net.moves_left else "no"),
        ("numbers", f"{net.parameters:,} ({', '.join(net.encodings)})"),
        ("file size", f"{net.file_bytes:,} bytes"),
        ("sha256", net.sha256),
    ]
    if architecture.kind == "lc0":
        rows.append(("written for", "lc0 " + ".".join(map(str, architecture.min_version))))
        rows.append(("licence", architecture.license or "not stated"))
    return rows + [(f"training: {name}", str(value)) for name, value in net.training.items()]


def convert(
    source: Path,
    target: Path,
    /,
    *,
    encoding: Literal["linear16", "float16", "bfloat16", "float32"] | None = None,
    force: bool = False,
) -> None:
    """Write a net in another format, chosen by the target's name: .safetensors, .pb.gz (lc0) or .onnx.

    Parameters
    ----------
    source
        Net file: .safetensors or .pb.gz.
    target
        Output file.
    encoding
        Encoding of the numbers. In a .pb.gz file linear16 (default), which every lc0 reads; the others need lc0 0.33.
        In a .safetensors file float32 (default), or float16, which halves it. An .onnx file has float32.
    force
        Overwrite an existing target.
    """
    from hauteur import networks

    if target.exists() and not force:
        raise ValueError(f"{target}: is there already; --force overwrites it")
    networks.convert(source, target, encoding=encoding)
    print(f"{target}: {networks.describe(target).architecture.summary()}, {target.stat().st_size:,} bytes")


def check(
    file: Path,
    /,
    *,
    positions: int = 64,
    seed: Seed = 0,
    tolerance: float = 1e-3,
    precision: Literal["float32", "bfloat16"] = "float32",
    threads: int = 1,
    json: bool = False,
) -> int:
    """Compare the outputs of a net in different evaluators, on the start position and along random games.

    Exit status 1 if they differ by more than the tolerance from torch, or from the first engine that is installed.

    Parameters
    ----------
    file
        Net file.
    positions
        How many positions are evaluated.
    seed
        Of the random games.
    tolerance
        Largest difference allowed, of a legal move's probability and of Q = win - loss.
    precision
        Of the core; the others compute in float32.
    threads
        Threads of each evaluator.
    json
        Print one JSON object.
    """
    from hauteur import networks

    check_range("positions", positions, 1, 100_000)
    check_range("threads", threads, 1, 1024)
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"--tolerance must be a number >= 0, got {tolerance}")
    net = networks.describe(file)
    if net.has_weights:
        networks.load(file).tensors  # noqa: B018  # every number is read and checked
    results = compare_backends(file, net, positions, seed, precision, threads)
    worst = max((result.difference.largest for result in results), default=0.0)
    show_check(file, results, tolerance, worst, as_json=json)
    return EXIT_DIFFERENT if worst > tolerance else 0


@dataclass(frozen=True)
class Comparison:
    """One evaluator against the first one."""

    name: str
    against: str
    difference: "OutputDifferences"


def compare_backends(
    file: Path, net: "NetDescription", count: int, seed: int, precision: "Precision", threads: int
) -> list[Comparison]:
    """Answers of all evaluators at hand for this file, compared with those of the first one."""
    from hauteur.games import registry as games
    from hauteur.networks.evaluators.compare import check_finite, differences, features_of, random_positions

    game = games.load_game(net.game)
    states = random_positions(game, count, seed=seed)
    features = features_of(game, states)
    first: tuple[str, Answers] | None = None
    results = []
    for backend, wanted in backends_for(net, precision):
        name, answers = answer(game, file, backend, wanted, threads, features)
        try:
            check_finite(answers)
        except ValueError as error:
            raise ValueError(f"{file}: {name}: {error}") from None
        if first is None:
            first = name, answers
        else:
            results.append(Comparison(name, first[0], differences(states, answers, first[1])))
    return results


def backends_for(net: "NetDescription", precision: "Precision") -> "list[tuple[Backend, Precision]]":
    """Evaluators at hand that can compute the file, the one to compare with first."""
    from hauteur.networks.evaluators.factory import backends_at_hand

    found: list[tuple[Backend, Precision]] = [(name, "float32") for name in backends_at_hand(net)]
    return found if precision == "float32" else [*found, ("core", precision)]


def answer(
    game: Any, file: Path, backend: "Backend", precision: "Precision", threads: int, features: Any
) -> "tuple[str, Answers]":
    """The evaluator's name and its answers."""
    from hauteur.networks.evaluators.factory import make_evaluator

    device = "cpu" if backend == "torch" else None
    evaluator = make_evaluator(game, file, backend=backend, precision=precision, threads=threads, device=device)
    try:
        return f"{backend} {precision}", evaluator(features)
    finally:
        evaluator.close()


def show_check(file: Path, results: list[Comparison], tolerance: float, worst: float, *, as_json: bool) -> None:
    """Print the comparisons, and the verdict."""
    if as_json:
        compared = [{"evaluator": r.name, "against": r.against, **r.difference.as_dict()} for r in results]
        line = {"file": str(file), "compared": compared, "tolerance": tolerance, "passed": worst <= tolerance}
        print(json_format.dumps(line))
        return
    print(f"{file}: all numbers and all outputs are finite")
    for result in results:
        print(f"{result.name} against {result.against}: {result.difference}")
    if not results:
        print("no second evaluator is installed to compare with: pip install 'hauteur[onnx]' adds ONNX Runtime")
        return
    verdict = "within" if worst <= tolerance else "BEYOND"
    print(f"largest difference {worst:.2g}, {verdict} the tolerance of {tolerance:g}")


def check_range(name: str, value: int, least: int, most: int) -> None:
    """Raise ValueError unless the number is in its range."""
    if not least <= value <= most:
        raise ValueError(f"--{name} must be {least} to {most}, got {value}")
