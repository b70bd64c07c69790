"""Markdown as HTML: the parts that the project's pages use, and nothing that could become markup."""

from pathlib import Path

import pytest

from hauteur.plots import markdown
from hauteur.plots.markdown import heading_id, markdown_html

pytestmark = pytest.mark.quick

METHODS = sorted(Path(markdown.__file__).parent.parent.joinpath("mcts", "methods").glob("*.md"))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A *b* `c`", '<h1 id="a-b-c">A <em>b</em> <code>c</code></h1>'),
        ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>"),
        ("    Q = W / N\n\n    U", '<pre tabindex="0"><code>Q = W / N\n\nU</code></pre>'),
        ("```sh\na < b\n```\nafter", '<pre tabindex="0"><code>a &lt; b</code></pre>\n<p>after</p>'),
        ("* a\n  b\n* c", "<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>"),
        ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
        ("**x** a_b_c [t](u.md)", '<p><strong>x</strong> a_b_c <a href="U">t</a></p>'),
        ("[t](none.md)", "<p>t</p>"),
        ("<b> `<i>` [<u>](u.md)", '<p>&lt;b&gt; <code>&lt;i&gt;</code> <a href="U">&lt;u&gt;</a></p>'),
    ],
)
def test_parts(text: str, html: str) -> None:
    assert markdown_html(text, {"u.md": "U"}.get) == f"{html}\n"


def test_a_table_has_cells_with_bars() -> None:
    html = markdown_html("| a | b |\n|---|---|\n| \\|z\\| | `x` |")
    assert '<th scope="col">a</th>\n<th scope="col">b</th>' in html
    assert '<tr>\n<td>|z|</td>\n<td data-label="b"><code>x</code></td>\n</tr>' in html


def test_ids_are_those_that_links_use() -> None:
    assert heading_id("Re-use of evaluations") == "re-use-of-evaluations"
    assert heading_id("The six places, where?") == "the-six-places-where"


@pytest.mark.parametrize("page", METHODS, ids=lambda page: page.stem)
def test_pages_of_the_methods_leave_no_marks(page: Path) -> None:
    """Outside code there is no sign of Markdown left, and every table has cells as many as its head."""
    import re

    html = markdown_html(page.read_text(encoding="utf-8"), lambda target: target)
    plain = re.sub(r"<pre.*?</pre>|<code>.*?</code>", "", html, flags=re.DOTALL)
    assert not re.findall(r"\*\*|\]\(|```|^#|^\||`", plain, flags=re.MULTILINE)
    for table in re.findall(r"<table.*?</table>", html, flags=re.DOTALL):
        columns = table.partition("</thead>")[0].count("<th ")
        assert {row.count("<td") for row in re.findall(r"<tr>\n<td>.*?</tr>", table, re.DOTALL)} <= {columns}
