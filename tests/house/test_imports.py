"""Imports beyond import-linter's contracts in pyproject.toml: no circles of files, heavy packages load late."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from lc0_toys import random_net

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "hauteur"
PACKAGES = {
    *("system", "games", "networks", "plots", "mcts", "players"),
    *("cluster", "matches", "engine", "learning", "studies", "web", "cli"),
}

TORCH = (*("modules", "torch_networks", "evaluators.torch"),)
"""Modules of networks that compute with torch; all others, the way of an engine among them, do without."""

ALLOWED = {
    "torch": ("learning", *(f"networks.{name}" for name in TORCH)),
    "onnx": ("networks.modules",),
    "onnxruntime": ("networks.evaluators.onnxruntime",),
    "pyarrow": ("learning", "system.packed"),
    "scipy": (),
    "matplotlib": ("plots.files",),
    "ray": ("cluster",),
    **dict.fromkeys(("starlette", "uvicorn", "websockets", "jinja2", "markupsafe"), ("web",)),
}
"""Heavy or optional package -> the modules that may import it, inside functions too."""


def module_name(path: Path) -> str:
    """Dotted name below hauteur, empty for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def is_for_types_only(node: ast.AST) -> bool:
    """Return whether the node is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


@cache
def syntax_tree(path: Path) -> ast.Module:
    """The parsed file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def running_nodes(tree: ast.AST, *, functions: bool) -> Iterator[ast.AST]:
    """All nodes that can run; with `functions` those inside functions too, which run only when they are called."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.expr):
            continue  # no import is inside an expression
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_for_types_only(child) or (is_function and not functions):
            continue
        yield child
        yield from running_nodes(child, functions=functions)


@cache
def imported_names(path: Path, *, functions: bool = True) -> tuple[str, ...]:
    """Absolute dotted names that the file imports when it runs; `from a import b` gives a.b."""
    found: list[str] = []
    for node in running_nodes(syntax_tree(path), functions=functions):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(found)


def internal_imports(name: str, *, functions: bool) -> set[str]:
    """Modules of the package that module `name` imports, as names below hauteur."""
    found = set()
    for full in imported_names(MODULES[name], functions=functions):
        below = full.removeprefix("hauteur").lstrip(".") if full.split(".")[0] == "hauteur" else None
        while below and below not in MODULES:
            below = below.rpartition(".")[0]
        if below and below != name:
            found.add(below)
    return found


CLOSURES = {
    "learning.loop": 61,
    "matches.match": 61,
    "engine.uci.engine": 50,
    "engine.gtp.engine": 65,
    "mcts.analysis": 31,
    "web.app": 83,
}
"""Entry point -> most modules of the package that importing it loads: what a reader must know of to understand it."""


@pytest.mark.parametrize("entry", CLOSURES)
def test_an_entry_point_rests_on_few_modules(entry: str) -> None:
    reached = {entry}
    waiting = [entry]
    while waiting:
        new = internal_imports(waiting.pop(), functions=False) - reached
        reached |= new
        waiting.extend(new)
    assert len(reached) <= CLOSURES[entry], sorted(reached)


def test_the_rooms_are_the_package() -> None:
    children = {
        path.name for path in PACKAGE.iterdir() if path.name != "__pycache__" and not path.name.startswith("_core.abi3")
    }
    assert children == PACKAGES | {"__init__.py", "_core.pyi", "py.typed"}


def test_tests_lie_in_folders_of_the_rooms() -> None:
    folders = {path.name for path in (PACKAGE.parents[1] / "tests").iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= PACKAGES | {"support", "house", "experiments", "page"}


@pytest.mark.parametrize("functions", [False, True], ids=["at import", "inside functions"])
def test_no_circles_of_files(functions: bool) -> None:
    graph = {name: internal_imports(name, functions=functions) for name in MODULES}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"import cycle: {' -> '.join([*path, name])}"
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def in_place(name: str, places: tuple[str, ...]) -> bool:
    """Return whether the module is one of `places` or below one."""
    return any(name == place or name.startswith(f"{place}.") for place in places)


def test_the_specification_is_imported_by_tests_alone() -> None:
    roots = {name: {full.split(".")[0] for full in imported_names(path)} for name, path in MODULES.items()}
    assert not [name for name, found in roots.items() if "reference" in found]


@pytest.mark.parametrize("package", ALLOWED)
def test_heavy_packages_stay_in_their_place(package: str) -> None:
    outside = [
        name
        for name, path in MODULES.items()
        if not in_place(name, ALLOWED[package]) and any(full.split(".")[0] == package for full in imported_names(path))
    ]
    assert not outside, f"{package} is imported by {outside}, allowed are {ALLOWED[package]}"


def test_class_names_are_unique() -> None:
    classes = Counter(
        node.name for path in MODULES.values() for node in syntax_tree(path).body if isinstance(node, ast.ClassDef)
    )
    assert {name: count for name, count in classes.items() if count > 1} == {}


def loaded_after(statement: str) -> set[str]:
    """Modules that a fresh interpreter has loaded after the statement."""
    code = f"{statement}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def engine_answers(answer: str, *lines: str) -> str:
    """Statements that load what `hauteur uci` loads until it has answered these lines."""
    return f"""
import io, hauteur.cli.start, hauteur.cli.commands.uci as command
written = io.StringIO()
command.UciEngine(command.Output(written)).run({[line.encode() + bytes([10]) for line in lines]})
assert {answer!r} in written.getvalue()
"""


def first_move(net: object) -> str:
    """The statements for the first `bestmove` with a net."""
    return engine_answers("bestmove", f"setoption name WeightsFile value {net}", "go nodes 1", "wait", "quit")


RECIPES = {"pydantic", "hauteur.mcts.params", "hauteur.networks.architecture", "hauteur.system.settings"}
"""Models of settings, and what they are made with: an engine starts without."""

LATER = {
    *("torch", "onnx", "onnxruntime", "pyarrow", "scipy", "safetensors", "chess", "rich"),
    *("cyclopts", "attr", "asyncio", "ssl", "tomllib", "difflib", "xml", "hauteur.plots", "numpy.random"),
    *(f"hauteur.{package}" for package in ("cluster", "matches", "learning", "studies", "web")),
    *("hauteur.engine.odds_table", "hauteur.players.ladder", "hauteur.mcts.result", "hauteur.mcts.own_rules"),
}
"""What the first move does without, if not all moves."""


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import hauteur", {"torch", "onnxruntime", "pyarrow", "pydantic", "scipy", "rich"}),
        ("from hauteur.cli.main import make_app; make_app()", {"torch", "onnxruntime", "pyarrow", "pydantic", "scipy"}),
        (
            engine_answers("uciok", "uci", "quit"),
            RECIPES
            | LATER
            | {"hauteur.networks.layers", "hauteur.networks.registry", "hauteur.networks.evaluators.core"},
        ),
        (first_move("uniform"), RECIPES | LATER),
        (first_move("chess"), RECIPES | LATER - {"safetensors", "tomllib"}),
        (
            "from hauteur.cli.main import run; run(['--version'])",
            RECIPES | {"cyclopts", "rich", "numpy", "importlib.metadata"},
        ),
        (
            "import hauteur.cli.commands.gtp, hauteur.engine.gtp.engine",
            {"torch", "onnx", "pyarrow", "scipy", "asyncio", "ssl", "safetensors"},
        ),
        (
            "import hauteur.cli.commands.play, hauteur.cli.commands.engine, hauteur.engine.sides",
            {"torch", "onnx", "pyarrow", "scipy", "asyncio", "ssl", "safetensors"},
        ),
        (
            "from hauteur.web.pages import all_pages; import hauteur.web.app; all_pages()",
            {"torch", "onnx", "onnxruntime", "pyarrow", "scipy", "matplotlib"},
        ),
        (
            "from hauteur.web.sessions import pool; [pool.session_class(name) for name in pool.SESSIONS]",
            {"torch", "onnx", "onnxruntime", "pyarrow", "scipy", "matplotlib", "starlette", "uvicorn"},
        ),
    ],
)
def test_a_start_loads_little(statement: str, unwanted: set[str]) -> None:
    assert not loaded_after(statement) & unwanted


def test_the_first_move_with_a_net_of_lc0_needs_no_models(tmp_path: Path) -> None:
    assert not loaded_after(first_move(random_net(tmp_path / "net.pb.gz"))) & (RECIPES | LATER)
