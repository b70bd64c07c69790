"""Sphinx's settings for the site that `make docs` builds. The sources are staged by build.py, which runs Sphinx."""

import sys
from pathlib import Path

from hauteur import __version__

sys.path.insert(0, str(Path(__file__).parent))
from public_names import public_names

public_names()

project = "hauteur"
author = "The hauteur authors"
project_copyright = "The hauteur authors, GPL-3.0-or-later"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "docstrings", "mathml"]
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []

# Markdown: what GitHub also reads (equations between dollars, anchors of headings), and nothing that only Sphinx knows.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = True
suppress_warnings = ["myst.header"]  # a page may begin its sections at any level, as on GitHub

autodoc_typehints = "signature"
autodoc_typehints_format = "fully-qualified"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True

# The site needs no network: equations are MathML, which every current browser draws.
html_theme = "furo"
html_title = f"hauteur {version}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
highlight_language = "text"

nitpicky = True
nitpick_ignore_regex = [
    # Packages whose reference is on other sites; the site is built without a network.
    (
        "py:.*",
        r"(numpy|np|torch|nn|pandas|chess|pydantic|annotated_types|collections(\.abc)?|pathlib|types|typing)\..*",
    ),
    ("py:class", r"NDArray|Path|NoneType|FieldInfo|Losses|Targets|Architecture|concurrent\.futures\._base\.Future"),
    # Type variables, which Sphinx refers to as if they were classes.
    ("py:.*", r"hauteur\.networks\.registered\.Builder|hauteur\.mcts\.analysis\.Answer"),
]
