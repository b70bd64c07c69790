"""The layers of an installation: what each extra of the package adds to the base, and what to say when it is missing.

This table is the only place that knows which extra installs which module. A command names the modules that it cannot do
without (`cli/main.py`); elsewhere the import itself fails, and the error is explained with this table.
"""

from collections.abc import Iterable
from importlib.util import find_spec
from typing import NamedTuple


class Package(NamedTuple):
    """A distribution, the module that it installs, and the size of its wheel in MB (Linux x86-64, November 2026)."""

    distribution: str
    module: str
    megabytes: int

    @property
    def version(self) -> str | None:
        return installed_version(self.distribution)


class Layer(NamedTuple):
    """One extra: its name in `pip install 'hauteur[name]'`, its packages, the purpose."""

    name: str
    packages: tuple[Package, ...]
    purpose: str

    @property
    def install(self) -> str:
        return f"pip install 'hauteur[{self.name}]'"


_PYARROW = Package("pyarrow", "pyarrow", 55)
_TORCH = Package("torch", "torch", 3000)
_WEB = (
    Package("starlette", "starlette", 0),
    Package("uvicorn", "uvicorn", 0),
    Package("websockets", "websockets", 0),
    Package("jinja2", "jinja2", 0),
    Package("markupsafe", "markupsafe", 0),
    Package("h11", "h11", 0),
)

LAYERS = (
    Layer("onnx", (Package("onnxruntime", "onnxruntime", 22),), "nets with attention on processors"),
    Layer("parquet", (_PYARROW,), "recorded games in Parquet files"),
    Layer("train", (_TORCH, _PYARROW), "learning, and nets on NVIDIA GPUs"),
    Layer("web", _WEB, "the browser lab"),
    Layer("ray", (Package("ray", "ray", 79),), "workers on many machines (--cluster)"),
    Layer("report", (Package("matplotlib", "matplotlib", 9),), "figures of reports as PNG"),
)
"""Where several layers have what is missing, the first one is named."""


class MissingLayerError(ImportError):
    """A part of the package that is not installed; the message has the command that installs it."""


def installed_version(distribution: str) -> str | None:
    """Version of an installed distribution, None if it is missing."""
    from importlib.metadata import PackageNotFoundError, version  # here: slow to import

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def missing_line(user: str, modules: Iterable[str]) -> str | None:
    """One line: the user, the packages of these top-level modules, the command that installs them all.

    None where no layer has them: then they are not optional.
    """
    needed = list(modules)
    for layer in LAYERS:
        names = {package.module: package.distribution for package in layer.packages}
        if set(needed) <= set(names):
            return (
                f"{user} needs {' and '.join(names[module] for module in needed)}, not installed here: {layer.install}"
            )
    return None


def require(user: str, *modules: str) -> None:
    """Raise MissingLayerError unless these modules are installed, without importing any. user: what needs them."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise MissingLayerError(missing_line(user, missing))
