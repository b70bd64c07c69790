"""A graph with the layers of an lc0 network, named by their paths in its file."""

from collections.abc import Mapping

from hauteur.networks.architecture import Lc0Architecture
from hauteur.networks.core_layers import Affine
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.lc0_layout import fold_norm
from hauteur.networks.onnx.graph import Graph, Value


class Lc0Graph(Graph):
    """A graph that knows the network's architecture and layers."""

    def __init__(self, architecture: Lc0Architecture, tensors: Mapping[str, Floats]) -> None:
        """`tensors`: all layers of the architecture by path, in their shapes (`lc0_layout.lc0_shapes`)."""
        super().__init__()
        self.architecture = architecture
        self.tensors = tensors

    def folded(self, path: str, outputs: int | None = None) -> Affine:
        """A ConvBlock as one convolution; outputs: only the first of its planes."""
        weights, bias = fold_norm(self.tensors, path)
        return Affine(weights[:outputs], bias[:outputs])

    def linear(self, x: Value, path: str) -> Value:
        """The dense layer `PATH_w`, with its biases `PATH_b` if there are any."""
        return self.dense(x, self.tensors[f"{path}_w"], self.tensors.get(f"{path}_b"))

    def norm(self, x: Value, path: str, epsilon: float) -> Value:
        """The layer normalisation below `path`."""
        gammas, betas = (self.constant(self.tensors[f"{path}_{name}"]) for name in ("gammas", "betas"))
        return self.add("LayerNormalization", x, gammas, betas, epsilon=epsilon)

    def default_activation(self, x: Value) -> Value:
        """The network's own activation."""
        return self.activation(x, self.architecture.activation)
