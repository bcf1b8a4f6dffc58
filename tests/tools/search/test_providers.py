"""What providers ask, and what is made of their answers, whatever those are."""

import json
import re
import sys
from collections import Counter
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.searching import LocalProvider, NotSearched, RemoteProvider
from holdfast.tools.search.brave import Brave
from holdfast.tools.search.searxng import SearXng
from holdfast.tools.search.static_index import PIECE, StaticIndex, pieces

SEARXNG = SearXng("https://search.example/")
BRAVE = Brave("https://api.example/search", "the-key")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside),
)
NAMES = st.sampled_from(["title", "url", "content", "description", "text"])
NEARLY = st.lists(st.dictionaries(NAMES, JSON | st.just("https://a.example/")), max_size=8)


def test_searxng_is_asked_in_its_own_words() -> None:
    for given_url in ("https://s.example", "https://s.example/", "https://s.example/search"):
        url = SearXng(given_url).request("a b&c", 5).url
        assert url == "https://s.example/search?q=a+b%26c&format=json"
    assert (
        SearXng("http://s.example:81/x/")
        .request("a", 5)
        .url.startswith("http://s.example:81/x/search?")
    )


def test_brave_is_asked_with_its_key_in_a_header() -> None:
    request = BRAVE.request("ä" * 500, 50)
    asked = parse_qs(urlsplit(request.url).query)
    assert (asked["q"], asked["count"]) == (["ä" * 400], ["20"])
    assert request.headers["X-Subscription-Token"] == "the-key"
    assert "the-key" not in request.url + repr(BRAVE)


def test_what_a_configured_address_asks_for_stays() -> None:
    searxng = SearXng("https://s.example/x?language=de&safe=&q=mine#part")
    assert searxng.request("cat", 5).url == (
        "https://s.example/x/search?language=de&safe=&q=cat&format=json"
    )
    brave = Brave("https://b.example/find?country=de&count=3", "key")
    assert brave.request("cat", 5).url == "https://b.example/find?country=de&q=cat&count=5"
    for same in ("https://b.example/find", "https://b.example/find?"):
        assert Brave(same, "key").request("a b", 1).url == "https://b.example/find?q=a+b&count=1"


def shown(provider: RemoteProvider, told: Any, count: int = 9) -> list[tuple[str, str, str]]:
    hits = provider.hits(json.dumps(told).encode(), count)
    return [(one.title, one.url, one.snippet) for one in hits]


def test_results_are_taken_as_they_come() -> None:
    one = {"title": "A <b>b</b>", "url": "https://a.example/", "content": "x &amp;\n y"}
    two = {"title": "", "url": "http://b.example", "content": None}
    hits = [("A b", "https://a.example/", "x & y"), ("http://b.example", "http://b.example", "")]
    assert shown(SEARXNG, {"results": [one, two, one]}) == hits
    assert shown(SEARXNG, {"results": [one, two]}, 1) == hits[:1]
    found = {"title": "T", "url": "https://a.example/", "description": "<strong>d</strong>"}
    assert shown(BRAVE, {"web": {"results": [found]}}) == [("T", "https://a.example/", "d")]
    assert shown(BRAVE, {"type": "search", "query": {}}) == []
    assert shown(SEARXNG, {"results": []}) == []


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "file:///etc/passwd", "//a.example", "https://", "a.example", 3),
        *("https://a.example/\nHost: x", "https://a b/", "http:\\\\a", "https://a/" + "x" * 3000),
    ],
)
def test_what_leads_nowhere_on_the_web_is_no_hit(url: object) -> None:
    assert shown(SEARXNG, {"results": [{"title": "t", "url": url, "content": "c"}]}) == []


def test_long_texts_are_cut() -> None:
    long = {"title": "t" * 9_000, "url": "https://a.example", "content": "\x1b[31mc \u202e" * 9_000}
    ((title, _, snippet),) = shown(SEARXNG, {"results": [long]})
    assert (len(title), title[-1], len(snippet)) == (300, "…", 1000)
    assert snippet.isprintable()


@pytest.mark.parametrize("provider", [SEARXNG, BRAVE])
@pytest.mark.parametrize(
    "told", [b"", b"<html>", b"[]", b'{"results": {}}', b'{"web": []}', b"\xff", b"[" * 100_000]
)
def test_an_answer_without_results_is_said_to_be_none(
    provider: RemoteProvider, told: bytes
) -> None:
    with pytest.raises(NotSearched):
        provider.hits(told, 5)


@given(st.sampled_from([SEARXNG, BRAVE]), JSON | NEARLY, st.integers(1, 9))
def test_no_answer_breaks_a_provider(provider: RemoteProvider, told: Any, count: int) -> None:
    for answer in (told, {"results": told}, {"web": {"results": told}}):
        try:
            hits = provider.hits(json.dumps(answer).encode(), count)
        except NotSearched:
            continue
        assert len(hits) <= count
        assert len({hit.url for hit in hits}) == len(hits)
        for hit in hits:
            assert hit.url.startswith(("http://", "https://"))
            assert hit.title
            assert (hit.title + hit.snippet).isprintable()


@given(st.sampled_from([SEARXNG, BRAVE]), st.binary())
def test_no_bytes_break_a_provider(provider: RemoteProvider, told: bytes) -> None:
    with pytest.raises(NotSearched):
        provider.hits(told, 3)


@given(st.text(max_size=300), st.integers(1, 50))
def test_any_query_is_asked_as_it_is(query: str, count: int) -> None:
    clean = query.encode("utf-8", "ignore").decode()
    asked = parse_qs(urlsplit(SEARXNG.request(clean, count).url).query, keep_blank_values=True)
    assert asked["q"] == [clean]


DOCUMENTS = [
    {"title": "Cats", "url": "https://a.example/cats", "text": "The cat sat. " * 30 + "A dog ran."},
    {"title": "Dogs", "url": "https://a.example/dogs", "text": "A dog barks.\n\nLoudly."},
    {"url": "https://a.example/none"},
]


def test_documents_are_found_by_their_words() -> None:
    index = StaticIndex(json.dumps(DOCUMENTS).encode())
    assert isinstance(index, LocalProvider)
    hits = index.find("DOG dog unheard", 5)
    assert [hit.url for hit in hits] == ["https://a.example/cats", "https://a.example/dogs"] or [
        hit.url for hit in hits
    ] == ["https://a.example/dogs", "https://a.example/cats"]
    by_url = {hit.url: hit for hit in hits}
    assert by_url["https://a.example/cats"].snippet.startswith("…")
    assert "A dog ran." in by_url["https://a.example/cats"].snippet
    assert by_url["https://a.example/dogs"].snippet == "A dog barks. Loudly."
    assert [hit.title for hit in index.find("dogs", 5)] == ["Dogs"]
    assert index.find("cats", 5)[0].snippet.startswith("The cat sat.")
    assert len(index.find("dog", 1)) == 1
    assert index.find("!?", 5) == index.find("elephant", 5) == ()


def test_a_document_is_shown_as_it_is() -> None:
    text = "cat dog List<String> a<b and c>d &amp; <b>more</b>"
    index = StaticIndex(
        json.dumps([{"url": "https://a.example/", "title": "Map<K, V>", "text": text}]).encode()
    )
    (hit,) = index.find("dog", 1)
    assert (hit.title, hit.snippet) == ("Map<K, V>", text)


WORDS = st.lists(st.sampled_from(["cat", "Straße", " ", ", ", "\n\n", "a_b", "İ", "x" * 9]))


@given(WORDS | st.lists(st.text(max_size=5)), st.integers(1, 30))
def test_pieces_are_the_text_parted_between_words(parts: list[str], size: int) -> None:
    text = "".join(parts)
    parted = [*pieces(text, size)]
    assert "".join(parted) == text
    assert all(0 < len(piece) <= 2 * size for piece in parted)
    if all(len(word) <= size for word in re.findall(r"\w+", text)):
        found = [word for piece in parted for word in re.findall(r"\w+", piece)]
        assert found == re.findall(r"\w+", text)


def test_a_long_document_is_read_in_pieces() -> None:
    """Other threads run between two of them; one call that reads it all lets nobody run."""
    count, called = 40 * PIECE // 4, Counter[str]()
    text = "cat " * count + "dog" + " cat" * 100
    told = [{"title": "Zebra", "url": "https://a.example/", "text": text}]

    def note(_frame: object, event: str, what: object) -> None:
        if event == "c_call":
            called[getattr(what, "__name__", "")] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        index = StaticIndex(json.dumps(told).encode())
        hits = index.find("dog", 1)[0], index.find("zebra", 1)[0]
    finally:
        sys.setprofile(before)
    assert hits[0].snippet.startswith("…")
    assert " cat dog cat " in hits[0].snippet
    assert hits[1].snippet.startswith("cat cat")
    assert called["findall"] >= 20
    assert called["casefold"] >= 3 * 20


def test_a_rare_word_weighs_more() -> None:
    many = [{"url": f"https://a.example/{n}", "text": "common " * 3} for n in range(9)]
    rare = {"url": "https://a.example/rare", "text": "rare"}
    index = StaticIndex(json.dumps({"documents": [*many, rare]}).encode())
    assert index.find("common rare", 1)[0].url == "https://a.example/rare"


@pytest.mark.parametrize(
    "told", [b"{}", b"3", b"no", b'[{"title": "x"}]', b'[{"url": "ftp://x"}]', b"[3]"]
)
def test_a_file_that_is_no_index_says_so(told: bytes) -> None:
    with pytest.raises(NotSearched):
        StaticIndex(told)


@given(NEARLY | JSON, st.text(max_size=30), st.integers(1, 5))
def test_no_index_breaks_the_search(told: Any, query: str, count: int) -> None:
    try:
        index = StaticIndex(json.dumps(told).encode())
    except NotSearched:
        return
    assert len(index.find(query, count)) <= count
