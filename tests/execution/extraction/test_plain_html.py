"""A page as text, by the standard library: what is kept, and that nothing breaks it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.execution.extraction import markdown_writer
from holdfast.execution.extraction.markdown_writer import MOST_CHARACTERS
from holdfast.execution.extraction.plain_html import read_page, title_of

URL = "https://site.example/docs/page.html?q=1"


def whole(markup: str) -> str:
    return read_page(markup, URL).whole


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<h1>One</h1>two<h3>Three</h3>", "# One\n\ntwo\n\n### Three"),
        ("<p>a<p>b<br>c", "a\n\nb\nc"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>d", "- a\n  - b\n- c\n\nd"),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<ol start=x><li>a</ol>", "1. a"),
        ("<ul><li><p>a</p><p>b</p></ul>", "- a\n\nb"),
        ("<li>alone", "- alone"),
        ("<pre>  a\r\n\n    b &lt;</pre>", "```\n  a\n\n    b <\n```"),
        ("<pre>a <b>b</b> <a href=x>c</a></pre>", "```\na b c\n```"),
        ("</pre></ul></a></blockquote>a", "a"),
        ("a <b>b</b> <i>c</i> <code>d</code>", "a **b** *c* `d`"),
        ("<b></b><code></code>a", "a"),
        ("a<a href=x> </a>b", "a b"),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>c", "> a\n\n> > b\n\nc"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "a | b\n1 | 2"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<img alt='a\n cat'>", "a cat"),
        ("<script>a</script><style>b</style><svg><text>c</text></svg>d", "d"),
        ("<div hidden>a<div>b</div></div>c<span aria-hidden=true>d</span>", "c"),
        ("<p hidden>a<p>b", "a\n\nb"),
        ("<head><title>a</title><p>b", "b"),
        ("<title>a<body>b", "b"),
        ("<svg><body>b", "b"),
        ("&amp;&#65;&nbsp;&unknown;", "&A\xa0&unknown;"),
    ],
)
def test_what_is_kept_of_a_page(markup: str, text: str) -> None:
    assert whole(markup) == text


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("other.html", "https://site.example/docs/other.html"),
        ("/a(b)", "https://site.example/a%28b%29"),
        ("//other.example/x", "https://other.example/x"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        *((one, "") for one in ("#here", "javascript:x()", "data:text/html,x", "", "a" * 3000)),
        ("http://[broken", ""),
    ],
)
def test_links_are_made_whole_or_left_out(href: str, target: str) -> None:
    expected = f"a [b]({target}) c" if target else "a b c"
    assert whole(f'a <a href="{href}">b</a> c') == expected


def test_the_base_of_links_may_be_another() -> None:
    markup = '<base href="/v2/"><base href="javascript:x"><a href="a"> b </a>'
    assert whole(markup) == "[b](https://site.example/v2/a)"
    assert read_page("<a href=/x>y</a>").whole == "[y](/x)"


@pytest.mark.parametrize(
    ("markup", "main"),
    [
        ("<nav>a</nav><main>b b b</main>c", "b b b"),
        ("<nav>a</nav><div role=main>b<div>c</div>d</div>e", "b\n\nc\n\nd"),
        ("<p>x<article>a</article><article>b</article>", "a\n\nb"),
        ("<article>x</article><main>y y y y", "y y y y"),
        ("<main>b</main>" + "<p>long words around" * 9, None),
        ("<p>a", None),
    ],
)
def test_the_page_may_say_what_is_its_own(markup: str, main: str | None) -> None:
    assert read_page(markup).main == main


@pytest.mark.parametrize(
    ("markup", "title"),
    [("<title lang=x>A &amp;\n B</title>", "A & B"), ("<p>", ""), ("<title></title>", "")],
)
def test_the_title_of_a_page(markup: str, title: str) -> None:
    assert title_of(markup) == title


TAGS = st.sampled_from(
    [
        *("p", "a href=x", "ul", "ol", "li", "pre", "b", "main", "article", "table", "tr", "td"),
        *("blockquote", "script", "title", "svg", "div hidden", "base href=//x", "body", "br"),
        *("code", "h2"),
    ]
)
PIECES = st.one_of(
    TAGS.map(lambda tag: f"<{tag}>"),
    TAGS.map(lambda tag: f"</{tag.split()[0]}>"),
    st.text(max_size=20),
    st.sampled_from(["<!--", "-->", "<![CDATA[", "]]>", "<!", "<?", "<", "&#", "&#x110000;", "\0"]),
)


@given(st.lists(PIECES, max_size=60).map("".join))
@example("<a href=x>" * 500)
@example("<![" * 3)
def test_no_markup_breaks_it_and_nothing_is_made_up(markup: str) -> None:
    read = read_page(markup, URL)
    words = [word for word in read.whole.split() if word.isalpha() and word.isascii()]
    assert all(word in markup for word in words)
    assert read.main is None or len(read.main) <= len(read.whole) + 2
    assert title_of(markup) is not None


@given(st.integers(1, 400))
def test_depth_does_not_matter(depth: int) -> None:
    for tag in ("div", "ul", "blockquote", "b", "table", "a href=y", "ol"):
        assert "x" in whole(f"<{tag}>" * depth + "x" + f"</{tag.split()[0]}>" * depth)


def test_what_is_written_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(whole("<p>" + "x" * (MOST_CHARACTERS - 1) + "<p>ab<p>c<p>d")) <= MOST_CHARACTERS + 9
    monkeypatch.setattr(markdown_writer, "_MOST_PIECES", 100)
    assert len(whole("<hr>" * 200)) < len(whole("<hr>" * 20)) * 10


def test_ends_of_links_that_never_began_cost_nothing() -> None:
    """Joined each time, the line before them would be read a hundred thousand times."""
    count = 100_000
    for end in ("</a>", "<a></a>"):
        assert read_page(f"x{end}" * count).whole.count("x") == count
