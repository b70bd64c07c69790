"""The layers of ARCHITECTURE.md hold in the real import graph: imports point down, heavy packages keep their place."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent.parent / "python" / "hauteur"

LAYERS = (
    ("_core",),
    (
        "baselines",
        "config",
        "engine_settings",
        "extras",
        "game",
        "game_laws",
        "games",
        "machine",
        "networks",
        "odds",
        "player_spec",
        "playout_cap",
        "recipe",
        "resignation",
        "rules",
        "section",
        "seeds",
        "shipped",
    ),
    (
        *(
            "chosen_move",
            "conversation",
            "controller",
            "engines",
            "exact",
            "evaluate",
            "evaluate_openvino",
            "evaluate_ort",
            "evaluate_rollout",
            "evaluate_torch",
            "chunk_buffer",
            "judging",
            "lc0_chunks",
            "lc0_options",
            "limits",
            "move_choice",
            "move_player",
            "openings",
            "player",
        ),
        *(
            "proof",
            "quantize",
            "rating",
            "rating_list",
            "record",
            "replay",
            "root_report",
            "scores",
            "solver_player",
            "surprise",
            "teaching",
            "temperature",
            "time_manager",
            "trial",
            "wdl_tuning",
        ),
    ),
    (
        "arena",
        "running_game",
        "batches",
        "checkpoint",
        "game_files",
        "held_out",
        "learners",
        "metrics",
        "prove",
        "run_folder",
        "selfplay",
        "start",
        "start_data",
        "train",
    ),
    (
        "analyse",
        "comparison",
        "figures",
        "gate",
        "match",
        "match_folder",
        "match_files",
        "match_results",
        "rated_games",
        "rating_table",
        "tournament",
        "page",
        "pipeline",
        "run_players",
        "puzzles",
        "report",
        "report_view",
        "tensorboard_events",
        "tuning",
        "verify",
    ),
    ("cli", "cluster", "commands", "experiments", "gtp", "terminal", "uci", "web"),
)
"""From below: a module imports from its own layer and from those below."""

APART = ("reference",)
"""The executable specification: imports what it likes from below, and nothing of the package imports it."""

ALLOWED = {
    "torch": ("networks", "evaluate_torch", "train", "held_out"),
    "ray": ("cluster",),
    "nicegui": ("web",),
    "onnxruntime": ("evaluate_ort",),
    "openvino": ("evaluate_openvino", "quantize"),
    "pyspiel": ("games",),
    "matplotlib": ("figures.files",),
    "tensorboard": ("tensorboard_events",),
}
"""Heavy or optional package -> the modules that may import it."""


def module_name(path: Path) -> str:
    """Dotted name below hauteur, empty for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_for_types_only(node: ast.AST) -> bool:
    """Whether the node is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def running_nodes(tree: ast.AST, *, functions: bool) -> Iterator[ast.AST]:
    """All nodes that can run; with `functions` those inside functions too, which run only when they are called."""
    for child in ast.iter_child_nodes(tree):
        if is_for_types_only(child) or (isinstance(child, ast.FunctionDef) and not functions):
            continue
        yield child
        yield from running_nodes(child, functions=functions)


def imported_names(path: Path, *, functions: bool = True) -> Iterator[str]:
    """Absolute dotted names that the file imports when it runs; `from a import b` gives a.b."""
    package = ["hauteur", *path.relative_to(PACKAGE).parts[:-1]]
    for node in running_nodes(ast.parse(path.read_text(encoding="utf-8")), functions=functions):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{prefix}.{alias.name}" for alias in node.names)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def internal_imports(name: str, *, functions: bool = True) -> set[str]:
    """Modules of the package that module `name` imports, as names below hauteur."""
    found = set()
    for full in imported_names(MODULES[name], functions=functions):
        below = full.removeprefix("hauteur").lstrip(".") if full.split(".")[0] == "hauteur" else None
        while below and below not in MODULES and below != "_core":
            below = below.rpartition(".")[0]
        if below and below != name:
            found.add(below)
    return found


def layer(name: str) -> int:
    """Number of the layer that the module stands in."""
    top = name.partition(".")[0]
    for number, members in enumerate(LAYERS):
        if top in members:
            return number
    pytest.fail(f"hauteur.{name} stands in no layer: add it to LAYERS of {Path(__file__).name} and to ARCHITECTURE.md")


def in_place(name: str, places: tuple[str, ...]) -> bool:
    """Whether the module is one of `places` or below one."""
    return any(name == place or name.startswith(f"{place}.") for place in places)


LAYERED = [name for name in MODULES if name and name.partition(".")[0] not in APART]


@pytest.mark.parametrize("name", LAYERED)
def test_imports_point_down(name: str) -> None:
    above = [other for other in internal_imports(name) if layer(other) > layer(name)]
    assert not above, f"hauteur.{name} imports from layers above it: {above}"


@pytest.mark.parametrize("name", LAYERED)
def test_specification_is_imported_by_tests_only(name: str) -> None:
    assert not internal_imports(name) & set(APART)


def test_no_import_cycles() -> None:
    graph = {name: internal_imports(name, functions=False) for name in MODULES}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"import cycle: {' -> '.join([*path, name])}"
        if name not in done and name in graph:
            for other in sorted(graph[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("package", ALLOWED)
def test_heavy_packages_stay_in_their_place(package: str) -> None:
    outside = [
        name
        for name, path in MODULES.items()
        if not in_place(name, ALLOWED[package]) and any(full.split(".")[0] == package for full in imported_names(path))
    ]
    assert not outside, f"{package} is imported by {outside}, allowed are {ALLOWED[package]}"


def loaded_after(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after the statement."""
    code = f"{statement}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import hauteur", {"torch", "openvino", "pyarrow", "pydantic", "scipy", "rich"}),
        ("from hauteur.cli.main import make_app; make_app()", {"torch", "openvino", "pyarrow", "pydantic", "scipy"}),
        ("import hauteur.cli.commands.engine, hauteur.engine.uci", {"torch", "onnx", "onnxscript", "pyarrow", "scipy"}),
        (
            "import hauteur.cli.commands.gtp, hauteur.engine.gtp.engine",
            {"torch", "onnx", "onnxscript", "pyarrow", "scipy"},
        ),
    ],
)
def test_a_start_loads_little(statement: str, unwanted: set[str]) -> None:
    assert not loaded_after(statement) & unwanted
