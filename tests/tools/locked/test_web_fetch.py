"""`web_fetch` against a real site on the loopback: pages, redirects, refusals."""

import gzip
from functools import partial
from io import BytesIO
from pathlib import Path

import pypdf
import pytest
from pdf_texts import pdf_with
from tool_kit import answer, failure, opened, result
from web_site import Reply, Site, consenting, serving, stopped, wait_until_asked

from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.runtime import Progress
from holdfast.policy.scope import shared
from holdfast.sources.intake import built_in
from holdfast.tools.locked.web_fetch import web_fetch

pytestmark = pytest.mark.anyio

PAGE = b"""<!doctype html><html><head><title>The guide</title><style>p {}</style></head><body>
<nav><a href="/">Home</a></nav><main><h1>Guide</h1><p>Read <a href="next.html">on</a>.</p>
<ul><li>one<li>two</ul><pre>x = 1
y = 2</pre></main><script>alert(1)</script></body></html>"""

PAGE_TEXT = """\
# The guide

# Guide

Read [on]({next}).

- one
- two

```
x = 1
y = 2
```"""


@pytest.mark.req("SPEC-LOCK-15", "SPEC-WEB-09")
async def test_a_page_is_fetched_and_read(workspace: Path, site: Site) -> None:
    tool = built_in(web_fetch)
    assert tool.requires.net.hosts == ("*",)
    assert [(use.argument, use.capability) for use in tool.uses] == [("url", "net.fetch")]
    assert not shared(tool).net.hosts
    assert (tool.acp_kind, tool.read_only, tool.parallel_safe) == ("fetch", True, True)
    site.pages["/a/page"] = Reply(PAGE, "text/html; charset=utf-8")
    heard: list[Progress] = []
    async with opened(
        workspace,
        "locked",
        tools=[site.granting()],
        approver=consenting,
        progress=heard.append,
    ) as hf:
        got = await result(hf, "web_fetch", url=site.url("/a/page"))
    assert got == {
        "url": site.url("/a/page"),
        "content": PAGE_TEXT.format(next=site.url("/a/next.html")),
        "content_type": "text/html",
    }
    assert "text/html" in site.asked[0].headers["accept"]
    assert [one.message for one in heard] == [f"reading {len(PAGE)} bytes of {got['url']}"]


async def fetched(workspace: Path, site: Site, reply: Reply) -> dict[str, object]:
    site.pages["/it"] = reply
    async with opened(workspace, "locked", tools=[site.granting()], approver=consenting) as hf:
        return await result(hf, "web_fetch", url=site.url("/it"))


async def refused(workspace: Path, site: Site, reply: Reply) -> tuple[FailureKind, str]:
    site.pages["/it"] = reply
    async with opened(workspace, "locked", tools=[site.granting()], approver=consenting) as hf:
        told = await failure(hf, "web_fetch", url=site.url("/it"))
        return told.kind, told.message


@pytest.mark.parametrize(
    ("content_type", "body", "content"),
    [
        ("application/json", b'{"a": [1, 2]}', '{"a": [1, 2]}'),
        ("text/plain", b"<b>not markup</b>\n", "<b>not markup</b>\n"),
        ("application/atom+xml", b"<feed/>", "<feed/>"),
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "caf\xe9"),
        ("text/plain; charset=utf-8", b"caf\xe9 ole", "caf\xe9 ole"),
        ("text/plain; charset=utf-16", "\ufeffhi".encode("utf-16-le"), "hi"),
        ("text/html", b"<meta charset=koi8-r><p>\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"),
        ("text/html; charset=no-such", "<p>naïve".encode(), "naïve"),
        (None, b"<html><p>words", "words"),
        (None, b"plain words", "plain words"),
    ],
)
async def test_texts_are_decoded_as_they_are_meant(
    workspace: Path, site: Site, content_type: str | None, body: bytes, content: str
) -> None:
    assert (await fetched(workspace, site, Reply(body, content_type)))["content"] == content


async def test_a_pdf_is_read(workspace: Path, site: Site) -> None:
    content = pdf_with("The first page", "The second page")
    for content_type in ("application/pdf", "application/octet-stream", "text/html"):
        got = await fetched(workspace, site, Reply(content, content_type))
        assert got["content"] == "The first page\n\nThe second page"
        assert got["content_type"] == content_type


async def test_a_pdf_without_text_says_so(workspace: Path, site: Site) -> None:
    writer, made = pypdf.PdfWriter(), BytesIO()
    writer.add_blank_page(10, 10)
    writer.write(made)
    got = await fetched(workspace, site, Reply(made.getvalue(), "application/pdf"))
    assert (got["content"], got["note"]) == (
        "",
        "The PDF holds no text; its pages may be pictures.",
    )


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(b"\x89PNG\r\n\0\0", "image/png"), "execution_error", "image/png, 8 bytes"),
        (Reply(b"\0\1\2", "text/html"), "execution_error", "is no text: text/html, 3 bytes"),
        (Reply(b"\0\1", None), "execution_error", "of unknown type, 2 bytes"),
        (
            Reply(b"abc", "text/html", headers=(("Content-Encoding", "br"),)),
            "execution_error",
            "packed as 'br'",
        ),
        (
            Reply(b"abc", "text/html", headers=(("Content-Encoding", "gzip"),)),
            "unavailable",
            "gave no answer",
        ),
        (Reply(b"%PDF-1.7\nnothing", "application/pdf"), "execution_error", "PDF is damaged"),
        (Reply(b"", status=404), "not_found", "status 404"),
        (Reply(b"", status=503), "unavailable", "status 503"),
        (Reply(b"", status=403), "execution_error", "status 403"),
    ],
)
async def test_what_is_no_page_is_refused_with_what_it_is(
    workspace: Path, site: Site, reply: Reply, kind: str, words: str
) -> None:
    got = await refused(workspace, site, reply)
    assert got[0] == kind
    assert words in got[1]


@pytest.mark.req("SPEC-WEB-10")
@pytest.mark.parametrize(
    "url",
    [
        *("ftp://example.com/x", "file:///etc/passwd", "javascript:alert(1)", "example.com/x"),
        *("http://", "http:///x", "https://exa mple.com/", "http://[::1", "data:text/plain,x", ""),
        *("http://user:word@example.com/", "http://example.com:99999/", "HTTP//example.com"),
    ],
)
async def test_what_is_no_address_of_the_web_is_refused(workspace: Path, url: str) -> None:
    async with opened(workspace, "locked", approver=consenting) as hf:
        told = await failure(hf, "web_fetch", url=url)
    assert told.kind in (FailureKind.INVALID_ARGS, FailureKind.REJECTED)


@pytest.mark.req("SPEC-WEB-10")
@pytest.mark.parametrize("url", ["http://example.com/x", "https://example.com/x"])
async def test_http_and_https_are_asked_about_and_nothing_runs_unasked(
    workspace: Path, url: str
) -> None:
    asked: list[object] = []

    async def denying(ask: Ask) -> Answer:
        asked.append(ask.prepared.arguments["url"])
        return Answer(allowed=False, by="test")

    async with opened(workspace, "locked", approver=denying) as hf:
        told = await failure(hf, "web_fetch", url=url)
        assert told.kind is FailureKind.USER_DENIED
    assert asked == [url]
    async with opened(workspace, "locked") as hf:
        assert (await failure(hf, "web_fetch", url=url)).kind is FailureKind.REJECTED


async def test_redirects_are_followed_and_each_is_judged(workspace: Path, site: Site) -> None:
    with serving() as other:
        site.pages["/from"] = Reply(status=302, headers=(("Location", "/to"),))
        site.pages["/to"] = Reply(b"<p>arrived")
        site.pages["/out"] = Reply(status=302, headers=(("Location", other.url("/x")),))
        site.pages["/round"] = Reply(status=302, headers=(("Location", "/round"),))
        async with opened(workspace, "locked", tools=[site.granting()], approver=consenting) as hf:
            got = await result(hf, "web_fetch", url=site.url("/from"))
            told = await failure(hf, "web_fetch", url=site.url("/out"))
            endless = await failure(hf, "web_fetch", url=site.url("/round"))
        assert (got["url"], got["content"]) == (site.url("/to"), "arrived")
        assert told.kind is FailureKind.REJECTED
        assert other.place in told.message
        assert not other.asked
        assert "redirects" in endless.message


async def test_what_lies_inside_needs_to_be_named(workspace: Path, site: Site) -> None:
    site.pages["/"] = Reply(b"<p>secret")
    async with opened(workspace, "locked", approver=consenting) as hf:
        told = await failure(hf, "web_fetch", url=site.url())
    assert told.kind is FailureKind.REJECTED
    assert not site.asked


@pytest.mark.timeout(90)  # megabytes of a page are read
async def test_a_packed_bomb_is_read_only_so_far(workspace: Path, site: Site) -> None:
    line = b"<p>all work and no play</p>\n"
    packed = gzip.compress(line * (40 * 1024 * 1024 // len(line)))
    assert len(packed) < 200_000
    site.pages["/it"] = Reply(packed, headers=(("Content-Encoding", "gzip"),))
    async with opened(workspace, "locked", tools=[site.granting()], approver=consenting) as hf:
        envelope = await answer(hf, "web_fetch", url=site.url("/it"))
    assert envelope.failure is None
    assert envelope.metadata.truncated
    shown = envelope.result
    assert isinstance(shown, dict)
    assert "10,485,760 bytes were fetched" in str(shown["note"])


@pytest.mark.req("SPEC-TRUNC-12")
async def test_what_is_shown_is_200_kb_of_the_text_not_of_the_markup(
    workspace: Path, site: Site
) -> None:
    hidden = b"<script>" + b"x" * 500_000 + b"</script>"
    fits = b"<p>" + b"a" * (200 * 1024)
    site.pages["/fits"] = Reply(hidden + fits)
    site.pages["/more"] = Reply(hidden + fits + b"z")
    async with opened(workspace, "locked", tools=[site.granting()], approver=consenting) as hf:
        whole = await answer(hf, "web_fetch", url=site.url("/fits"))
        cut = await answer(hf, "web_fetch", url=site.url("/more"))
        assert (whole.metadata.truncated, cut.metadata.truncated) == (False, True)
        shown, kept = cut.result, cut.metadata.output_path
        assert isinstance(shown, dict)
        assert kept is not None
        assert shown["head"] == "a" * (200 * 1024)
        assert Path(kept).read_text("ascii") == "a" * (200 * 1024) + "z"


async def test_a_call_that_is_stopped_ends_at_once(workspace: Path, site: Site) -> None:
    site.pages["/slow"] = Reply(b"<p>late", wait=15)
    asked = partial(wait_until_asked, site)
    async with opened(workspace, "locked", tools=[site.granting()], approver=consenting) as hf:
        took = await stopped(hf, "web_fetch", {"url": site.url("/slow")}, asked)
    assert took < 2  # 250 ms, on a machine that does nothing else
