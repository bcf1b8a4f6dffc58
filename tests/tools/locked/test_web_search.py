"""`web_search` with providers on the loopback: one query, its results, and two limits that stay."""

import hashlib
import json
import logging
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from tool_kit import failure, opened, result
from web_site import Reply, Site, serving, stopped, wait_until_asked

from holdfast.app.settings import (
    SearchSettings,
    Settings,
    StoreSettings,
    Surroundings,
    WebSettings,
)
from holdfast.app.web import chosen_provider
from holdfast.contract.failure import FailureKind
from holdfast.sources.intake import built_in
from holdfast.tools.locked.web_search import web_search

pytestmark = pytest.mark.anyio

KEY = "brv-2f9a77c1d0"
FOUND = {"results": [{"title": "T", "url": "https://a.example/", "content": "about it"}] * 2}
HITS = {"results": [{"title": "T", "url": "https://a.example/", "snippet": "about it"}]}


def searching(*providers: SearchSettings, **limits: Any) -> Settings:
    web = WebSettings(search=providers, **limits)
    return Settings(store=StoreSettings(kind="none"), web=web)


def searxng(site: Site) -> SearchSettings:
    return SearchSettings(kind="searxng", url=site.url())


def told(content: object) -> Reply:
    return Reply(json.dumps(content).encode(), "application/json")


@pytest.mark.req("SPEC-WEB-01", "SPEC-WEB-02", "SPEC-LOCK-14")
async def test_one_query_goes_to_the_provider_that_is_configured(
    workspace: Path, site: Site
) -> None:
    site.pages["/search"] = told(FOUND)
    async with opened(workspace, "locked", settings=searching(searxng(site))) as hf:
        tool = next(one for one in hf.tools if one.name == "web_search")
        assert tool.requires.net.hosts == (site.place,)
        assert tool.input_schema["required"] == ["query"]
        assert set(cast("dict[str, object]", tool.input_schema["properties"])) == {
            "query",
            "max_results",
        }
        assert (tool.acp_kind, tool.read_only, tool.parallel_safe) == ("fetch", True, True)
        assert await result(hf, "web_search", query="cats & dogs") == HITS
        assert await result(hf, "web_search", query="x", max_results=1) == HITS
        wrong = await failure(hf, "web_search", query="x", max_results="many")
        nothing = await failure(hf, "web_search")
        explained = await hf.explain("web_search", {"query": "x"})
    assert (wrong.kind, wrong.field) == (FailureKind.INVALID_ARGS, "max_results")
    assert (nothing.kind, nothing.field) == (FailureKind.INVALID_ARGS, "query")
    assert site.asked[0].path == "/search?q=cats+%26+dogs&format=json"
    assert site.place in str(explained)


@pytest.mark.req("SPEC-WEB-08")
async def test_a_ceiling_without_the_provider_keeps_it_from_being_asked(
    workspace: Path, site: Site
) -> None:
    settings = msgspec.convert(
        {
            "store": {"kind": "none"},
            "web": {"search": [{"kind": "searxng", "url": site.url()}]},
            "policy": {"ceiling": {"hosts": ["other.example"]}},
        },
        Settings,
    )
    async with opened(workspace, "locked", settings=settings) as hf:
        refused = await failure(hf, "web_search", query="x")
    assert refused.kind is FailureKind.REJECTED
    assert not site.asked


@pytest.mark.req("SPEC-WEB-03")
async def test_without_a_provider_it_is_unavailable(workspace: Path) -> None:
    assert not Settings().web.search
    async with opened(workspace, "locked") as hf:
        assert next(one for one in hf.tools if one.name == "web_search").requires.empty
        for _ in range(30):
            refused = await failure(hf, "web_search", query="x")
            assert refused.kind is FailureKind.UNAVAILABLE
            assert "[[web.search]]" in refused.message


@pytest.mark.req("SPEC-LOCK-19")
async def test_no_link_is_followed(workspace: Path, site: Site) -> None:
    page = {"title": "T", "url": site.url("/page"), "content": "x"}
    site.pages["/search"] = told({"results": [page], "next": site.url("/more")})
    async with opened(workspace, "locked", settings=searching(searxng(site))) as hf:
        await result(hf, "web_search", query="x")
        assert [one.path.partition("?")[0] for one in site.asked] == ["/search"]
        site.pages["/search"] = Reply(status=302, headers=(("Location", "/elsewhere"),))
        refused = await failure(hf, "web_search", query="x")
    assert refused.kind is FailureKind.UNAVAILABLE
    assert "status 302" in refused.message
    assert {one.path.partition("?")[0] for one in site.asked} == {"/search"}


@pytest.mark.req("SPEC-WEB-04")
def test_the_provider_depends_on_the_session_alone() -> None:
    three = tuple(SearchSettings(kind="searxng", url=f"https://{n}.example") for n in "abc")
    web = WebSettings(search=three)
    chosen = {f"ses_{n}": chosen_provider(web, f"ses_{n}") for n in range(300)}
    for name, provider in chosen.items():
        number = int(hashlib.sha256(name.encode()).hexdigest(), 16)
        assert provider is three[number % 3]
    assert min(Counter(one.url for one in chosen.values() if one).values()) > 60


async def test_a_session_has_one_provider_and_requires_its_host_alone(workspace: Path) -> None:
    with serving() as one, serving() as other:
        for site in (one, other):
            site.pages["/search"] = told(FOUND)
        settings = searching(searxng(one), searxng(other))
        async with opened(workspace, "locked", settings=settings) as hf:
            tool = next(tool for tool in hf.tools if tool.name == "web_search")
            for _ in range(3):
                await result(hf, "web_search", query="x")
        chosen = one if one.asked else other
        assert len(one.asked) + len(other.asked) == len(chosen.asked) == 3
        assert tool.requires.net.hosts == (chosen.place,)


@pytest.mark.req("SPEC-WEB-05")
async def test_the_calls_of_a_session_are_counted_whatever_comes_of_them(
    workspace: Path, site: Site
) -> None:
    assert WebSettings().search_calls == 25
    async with opened(workspace, "locked", settings=searching(searxng(site))) as hf:
        for number in range(25):
            if number == 20:
                site.pages["/search"] = told(FOUND)
            envelope = await hf.settle("web_search", {"query": "x"})
            assert envelope.ok == (number >= 20)
        for _ in range(5):
            assert (await failure(hf, "web_search", query="")).kind is FailureKind.INVALID_ARGS
        over = await failure(hf, "web_search", query="x")
    assert over.kind is FailureKind.REJECTED
    assert "all of its 25 web searches" in over.message
    assert len(site.asked) == 25


async def test_the_count_is_the_hosts_to_set_and_each_sessions_own(
    workspace: Path, site: Site
) -> None:
    site.pages["/search"] = told(FOUND)
    settings = searching(searxng(site), search_calls=2)
    for _ in range(2):
        async with opened(workspace, "locked", settings=settings) as hf:
            for _ in range(2):
                await result(hf, "web_search", query="x")
            assert (await failure(hf, "web_search", query="x")).kind is FailureKind.REJECTED


async def test_a_session_that_is_taken_up_has_used_what_it_used(
    workspace: Path, site: Site
) -> None:
    site.pages["/search"] = told(FOUND)
    web = WebSettings(search=(searxng(site),), search_calls=3)
    settings = Settings(web=web)
    async with opened(workspace, "locked", settings=settings) as hf:
        session = hf.session_id
        await result(hf, "web_search", query="x")
        await failure(hf, "web_search", query="")
        await result(hf, "todo", todos=[])
        await result(hf, "web_search", query="x")
    async with opened(workspace, "locked", settings=settings, session=session) as hf:
        await result(hf, "web_search", query="x")
        over = await failure(hf, "web_search", query="x")
    assert over.kind is FailureKind.REJECTED
    assert len(site.asked) == 3


@pytest.mark.req("SPEC-WEB-06")
async def test_a_slow_provider_is_given_up(workspace: Path, site: Site) -> None:
    assert WebSettings().search_seconds == 15
    site.pages["/search"] = Reply(b"{}", wait=15)
    settings = searching(searxng(site), search_seconds=0.2)
    async with opened(workspace, "locked", settings=settings) as hf:
        told = await failure(hf, "web_search", query="x")
    assert told.kind is FailureKind.TIMEOUT
    assert "0.2 s" in told.message


@pytest.mark.req("SPEC-WEB-07")
@pytest.mark.parametrize(
    "limits",
    [
        *({"search_calls": value} for value in (0, -1, None, "inf", 1_000_000)),
        *({"search_seconds": value} for value in (0, -1, None, float("inf"), float("nan"), 1e9)),
    ],
)
def test_no_limit_can_be_taken_away(limits: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"web": limits}, Settings)


async def test_the_wall_clock_of_the_tool_does_not_take_it_away_either(
    workspace: Path, site: Site
) -> None:
    site.pages["/search"] = Reply(b"{}", wait=15)
    settings = msgspec.convert(
        {
            "store": {"kind": "none"},
            "limits": {"tool": {"web_search": {"wall_seconds": float("inf")}}},
            "web": {
                "search": [{"kind": "searxng", "url": site.url()}],
                "search_seconds": 0.2,
            },
        },
        Settings,
    )
    async with opened(workspace, "locked", settings=settings) as hf:
        assert (await failure(hf, "web_search", query="x")).kind is FailureKind.TIMEOUT


async def test_a_key_goes_to_the_provider_and_nowhere_else(
    workspace: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echoed = {"title": KEY, "url": "https://a.example/", "description": f"your key {KEY}"}
    site.pages["/"] = told({"web": {"results": [echoed]}})
    brave = SearchSettings(kind="brave", url=site.url(), key_variable="MY_SEARCH")
    around = Surroundings(
        data_home=workspace.parent / "data", secrets=(KEY,), search_keys={"MY_SEARCH": KEY}
    )
    async with opened(workspace, "locked", settings=searching(brave), surroundings=around) as hf:
        got = await result(hf, "web_search", query="x", max_results=3)
        site.pages["/"] = Reply(KEY.encode(), status=401)
        refused = await failure(hf, "web_search", query="x")
    assert site.asked[0].headers["x-subscription-token"] == KEY
    assert "count=3" in site.asked[0].path
    assert KEY not in json.dumps(got) + str(refused) + caplog.text
    assert refused.kind is FailureKind.UNAVAILABLE
    assert "refuses this host's key" in refused.message


async def test_without_its_key_a_provider_is_not_asked(workspace: Path, site: Site) -> None:
    brave = SearchSettings(kind="brave", url=site.url(), key_variable="MY_SEARCH")
    async with opened(workspace, "locked", settings=searching(brave)) as hf:
        told = await failure(hf, "web_search", query="x")
    assert (told.kind, told.retryable) == (FailureKind.UNAVAILABLE, False)
    assert "MY_SEARCH" in told.message
    assert not site.asked


async def test_documents_of_the_operator_are_searched_without_a_network(
    workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "index.json"
    document = {"title": "Manual", "url": "https://a.example/m", "text": "how to turn it on"}
    file.write_text(json.dumps([document]), "utf-8")
    static = SearchSettings(kind="static", file=str(file))
    async with opened(workspace, "locked", settings=searching(static)) as hf:
        assert next(one for one in hf.tools if one.name == "web_search").requires.empty
        got = await result(hf, "web_search", query="turn on")
        assert await result(hf, "web_search", query="nothing of that") == {"results": []}
    hit = {"title": "Manual", "url": "https://a.example/m", "snippet": "how to turn it on"}
    assert got == {"results": [hit]}


@pytest.mark.parametrize("content", [None, "{}", "no json", "x" * 100])
async def test_documents_that_cannot_be_read_are_told(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "index.json"
    if content is not None:
        file.write_text(content, "utf-8")
    monkeypatch.setattr("holdfast.app.web._MOST_INDEX_BYTES", 50)
    static = SearchSettings(kind="static", file=str(file))
    async with opened(workspace, "locked", settings=searching(static)) as hf:
        assert (await failure(hf, "web_search", query="x")).kind is FailureKind.UNAVAILABLE


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"<html>you are a robot</html>"),
        Reply(b"[1, 2", "application/json"),
        Reply(b'{"results": 3}', "application/json"),
        Reply(b"{}", status=500),
        Reply(b" " * (3 << 20), "application/json"),
    ],
)
async def test_a_provider_that_lies_is_unavailable(
    workspace: Path, site: Site, reply: Reply
) -> None:
    site.pages["/search"] = reply
    async with opened(workspace, "locked", settings=searching(searxng(site))) as hf:
        assert (await failure(hf, "web_search", query="x")).kind is FailureKind.UNAVAILABLE


async def test_a_search_that_is_stopped_ends_at_once(workspace: Path, site: Site) -> None:
    site.pages["/search"] = Reply(b"{}", wait=15)
    asked = partial(wait_until_asked, site)
    async with opened(workspace, "locked", settings=searching(searxng(site))) as hf:
        took = await stopped(hf, "web_search", {"query": "x"}, asked)
    assert took < 2  # 250 ms, on a machine that does nothing else


def test_it_is_written_down_what_it_does() -> None:
    tool = built_in(web_search)
    assert tool.description is not None
    assert "web_fetch" in tool.description
    assert tool.output_schema is not None
