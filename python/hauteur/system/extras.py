"""The optional dependencies: which extra of the package installs which module, and what it is good for."""

from typing import NamedTuple


class Extra(NamedTuple):
    """One extra: its name in `pip install 'hauteur[name]'`, the distribution, the module to import, the purpose."""

    name: str
    distribution: str
    module: str
    purpose: str

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'hauteur[{self.name}]'"


EXTRAS = (
    Extra("ort", "onnxruntime", "onnxruntime", "a second engine for exported nets"),
    Extra("openspiel", "open_spiel", "pyspiel", "about a hundred more games"),
    Extra("quantize", "nncf", "nncf", "int8 nets"),
    Extra("report", "matplotlib", "matplotlib", "figures of reports as PNG"),
    Extra("tensorboard", "tensorboard", "tensorboard", "training curves in TensorBoard"),
)


def extra_of(module: str) -> Extra | None:
    """The extra that installs a top-level module, None if it is not optional."""
    return next((extra for extra in EXTRAS if extra.module == module), None)
