"""Equations as MathML, converted while the site is built: no script, no font and no network is needed to read them."""

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def write_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write an equation within a line."""
    translator.body.append(latex2mathml.tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation on lines of its own."""
    translator.body.append(f"<div class='math'>{latex2mathml.tex2mathml(node.astext(), as_block=True)}</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
