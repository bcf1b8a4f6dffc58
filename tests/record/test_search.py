"""Searching a store: what is found, in every language and whatever is asked, on both stores."""

import subprocess
import sys
from collections.abc import Sequence

import anyio
import pytest
from anyio import create_task_group, to_thread
from hypothesis import given
from hypothesis import strategies as st
from record.store_places import StorePlace, at

from holdfast.contract.events import AgentMessage, CallAsked, SessionCreated, UserMessage
from holdfast.contract.journal import Journal
from holdfast.record.store import Store
from holdfast.record.words import MOST_LETTERS, excerpt, phrases_of, words_of

pytestmark = pytest.mark.anyio

ENTRIES = "search"
"""The table of what can be found, in either store."""


async def say(journal: Journal, session_id: str, *texts: str) -> None:
    await journal.create(session_id, [SessionCreated()])
    await journal.append(session_id, [UserMessage(message=text) for text in texts])


async def found(store: Store, words: str, session_id: str | None = None) -> list[tuple[str, int]]:
    hits = await store.archive.search(words, session_id=session_id)
    return [(hit.session_id, hit.sequence) for hit in hits]


async def test_all_words_must_occur_in_one_event(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "The quick fox", "A lazy dog", "quick dog, quick!")
        assert await found(store, "QUICK dog") == [("ses_1", 4)]
        assert sorted(await found(store, "quick")) == [("ses_1", 2), ("ses_1", 4)]
        assert await found(store, "quick cat") == []
        assert await found(store, "qui") == []
        assert await found(store, "") == []


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("see src/holdfast/app/store.py, line 3", "store"),
        ("see src/holdfast/app/store.py, line 3", "app/store.py"),
        ("call open_postgres(url)", "open_postgres"),
        ("call open_postgres(url)", "postgres"),
        ("mail ada@example.com now", "ada"),
        ("ÜBER die Straße", "über STRASSE"),
        ("le café", "cafe"),
        ("le cafe\u0301", "CAFÉ"),
        ("Москва слезам", "москва"),
        ("日本語のテスト", "日本"),
        ("ภาษาไทย", "ไทย"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("한국어 검색", "한국어"),
        ("ﬁle \U0001d401old ½ x²", "file bold x2"),
        ("x" * (MOST_LETTERS + 50), "x" * (MOST_LETTERS + 50)),
        ("it's -5 degrees, or 1e10", "it's -5 1e10"),
        ("İstanbul", "istanbul"),
    ],
)
async def test_words_of_every_kind_are_found(place: StorePlace, text: str, asked: str) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "something else", text)
        (hit,) = await store.archive.search(asked)
        assert hit.sequence == 3
        assert "[" in hit.excerpt


async def test_what_was_written_without_a_blank_stands_side_by_side(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "store the app", "app/store")
        assert await found(store, "app/store") == [("ses_1", 3)]
        assert len(await found(store, "app store")) == 2


@pytest.mark.parametrize(
    "asked",
    [
        *('"', "'", "a'b", '"unclosed', "NOT", "AND OR", "a & b | !c", "x:*", "(", "^a NEAR(b, 2)"),
        *("\0", "a\0b", "🎉", "%s %d ?", "\\", "\ud800", "-", "*", "words : x", "x" * 100_000),
        *(" ".join(f"w{number}" for number in range(5000)), "日" * 5000, "<->", "$$", "{a b} + c"),
    ],
)
async def test_whatever_is_asked_is_only_words(place: StorePlace, asked: str) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "nothing of the kind")
        assert await found(store, asked) == []
        assert await found(store, "kind") == [("ses_1", 2)]


async def test_signs_beside_a_word_do_not_matter(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "a party 🎉 with \0 NUL and 'quotes' AND \"more\"")
        for asked in ("party 🎉", "'party'", '"quotes"', "party & more", "!NUL", "AND"):
            assert await found(store, asked) == [("ses_1", 2)]


async def test_a_search_can_be_kept_to_a_session_and_to_a_number(place: StorePlace) -> None:
    async with place.opened() as store:
        for name in ("ses_1", "ses_2"):
            await say(store.journal, name, "same words", "same words again")
        assert {one for one, _ in await found(store, "same", session_id="ses_2")} == {"ses_2"}
        assert await found(store, "same", session_id="ses_3") == []
        assert len(await store.archive.search("same", limit=3)) == 3
        assert await store.archive.search("same", limit=0) == ()


async def test_a_hit_says_where_it_is_and_shows_the_words_around(place: StorePlace) -> None:
    async with place.opened() as store:
        await store.journal.create("ses_1", [SessionCreated()])
        asked = CallAsked(call_id="cal_1", tool="bash", arguments='{"command": "cargo build"}')
        (event,) = await store.journal.append("ses_1", [asked])
        (hit,) = await store.archive.search("Cargo bash")
    assert (hit.event_id, hit.type, hit.at) == (event.id, event.type, event.at)
    assert hit.excerpt == '[bash] {"command": "[cargo] build"}'


async def test_what_speaks_of_nothing_else_comes_first(place: StorePlace) -> None:
    async with place.opened() as store:
        long = "much about other things " * 30
        await say(store.journal, "ses_1", "needle needle", f"{long} needle {long}", "no such thing")
        assert await found(store, "needle") == [("ses_1", 2), ("ses_1", 3)]


async def test_an_append_leaves_the_index_alone_and_is_found_all_the_same(
    place: StorePlace,
) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "first")
        assert (place.how_many(ENTRIES), place.how_many("search_places")) == (0, 0)
        assert await found(store, "first") == [("ses_1", 2)]
        await store.journal.append("ses_1", [AgentMessage(message="second", summary="")])
        assert place.how_many(ENTRIES) == 1
        assert await found(store, "second") == [("ses_1", 3)]
        assert place.how_many(ENTRIES) == 2


async def test_a_search_with_nothing_new_writes_nothing(place: StorePlace) -> None:
    """So that it finds, too, while somebody else keeps the store locked."""
    async with place.opened() as store:
        await say(store.journal, "ses_1", "first")
        assert await found(store, "first")
        lock = "LOCK TABLE search IN EXCLUSIVE MODE" if place.is_postgres else "BEGIN IMMEDIATE"
        with place.holding(lock), anyio.fail_after(3):
            assert await found(store, "first")


async def test_a_deleted_session_is_gone_from_the_index_at_once(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "secret words")
        await say(store.journal, "ses_2", "other words")
        assert len(await found(store, "words")) == 2
        events = await store.journal.events("ses_1")
        await store.archive.delete("ses_1")
        assert (place.how_many(ENTRIES), place.how_many("search_places")) == (1, 1)
        assert await found(store, "words") == [("ses_2", 2)]
        await store.archive.restore("ses_1", events)
        assert sorted(await found(store, "words")) == [("ses_1", 2), ("ses_2", 2)]


async def test_many_events_are_taken_up_in_several_transactions(place: StorePlace) -> None:
    async with place.opened() as store:
        for number in range(3):
            await say(store.journal, f"ses_{number}", *[f"word{at}" for at in range(400)])
        assert await found(store, "word399") == [(f"ses_{number}", 401) for number in (2, 1, 0)]
        assert place.how_many(ENTRIES) == 1200


async def test_appends_go_on_while_it_is_indexed(place: StorePlace) -> None:
    async def talk(journal: Journal, name: str) -> None:
        for number in range(60):
            await journal.append(name, [UserMessage(message=f"said {number}")])

    async def look(store: Store) -> None:
        for _ in range(15):
            await store.archive.search("said")

    async with place.opened() as store, place.opened() as other:
        await say(store.journal, "ses_1", *["old"] * 2000)
        await say(store.journal, "ses_2", "old")
        with anyio.fail_after(30):
            async with create_task_group() as group:
                for name in ("ses_1", "ses_2"):
                    group.start_soon(talk, store.journal, name)
                group.start_soon(look, store)
                group.start_soon(look, other)
        assert len(await store.archive.search("said", limit=1000)) == 120
        assert place.how_many(ENTRIES) == 2121


SEARCHER = """
import sys
import anyio
from record.store_places import StorePlace, at

async def main(where):
    async with StorePlace(where).opened() as store:
        print("ready", flush=True)
        sys.stdin.readline()
        print(len(await store.archive.search("old", limit=10_000)))

anyio.run(main, sys.argv[1])
"""


def all_at_once(place: StorePlace) -> list[str]:
    searchers = [
        subprocess.Popen(
            [sys.executable, "-c", SEARCHER, place.where],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": ":".join(sys.path)},
            text=True,
        )
        for _ in range(3)
    ]
    for one in searchers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    return [one.communicate("go\n", timeout=40)[0] for one in searchers]


async def test_several_processes_that_index_at_once_index_nothing_twice(place: StorePlace) -> None:
    async with place.opened() as store:
        for number in range(30):
            await say(store.journal, f"ses_{number}", *["old"] * 100)
    assert await to_thread.run_sync(all_at_once, place) == ["3000\n"] * 3
    assert place.how_many(ENTRIES) == 3000


async def test_an_index_that_fails_half_way_keeps_nothing_and_locks_nothing(
    place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = (
        "holdfast.record.postgres.search" if place.is_postgres else "holdfast.record.sqlite.search"
    )
    async with place.opened() as store:
        await say(store.journal, "ses_1", "words")
        with monkeypatch.context() as broken:
            broken.setattr(f"{room}.sql.INDEXED_TO", "INSERT INTO search_places VALUES (1/0, ?, ?)")
            with pytest.raises(Exception, match="search_places"):
                await store.archive.search("words")
        assert place.how_many(ENTRIES) == 0
        await store.journal.append("ses_1", [UserMessage(message="goes on")])
        assert await found(store, "words") == [("ses_1", 2)]


BROKEN = {
    "of a version to come": "version = 99",
    "of a kind to come": "type = 'unheard.of'",
    "cut off": "body = {cut}",
    "no text": "body = {noise}",
    "of no moment there is": "micros = 9000000000000000000",
}
HEX = {"postgres": "'\\x{}'::bytea", "sqlite": "x'{}'"}


def broken(place: StorePlace, how: str) -> str:
    written = HEX["postgres" if place.is_postgres else "sqlite"]
    return how.format(cut=written.format("7b"), noise=written.format("7b22ff00fe223a317d"))


@pytest.mark.parametrize("how", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("is_known", [False, True], ids=["before", "after it was taken up"])
async def test_an_event_that_cannot_be_read_is_not_found_and_all_others_are(
    place: StorePlace, how: str, *, is_known: bool
) -> None:
    async with place.opened() as store:
        for name in ("ses_1", "ses_2"):
            await say(store.journal, name, "needle", "another needle")
        if is_known:
            assert len(await found(store, "needle")) == 4
        place.rows(f"UPDATE events SET {broken(place, how)} WHERE {at('ses_1', 2)}")
        with anyio.fail_after(10):
            assert sorted(await found(store, "needle")) == [
                ("ses_1", 3),
                ("ses_2", 2),
                ("ses_2", 3),
            ]
            assert await found(store, "needle", session_id="ses_1") == [("ses_1", 3)]
        await store.journal.append("ses_2", [UserMessage(message="a later needle")])
        assert await found(store, "later") == [("ses_2", 4)]


async def test_a_session_of_which_only_unreadable_events_are_new_is_looked_at_once(
    place: StorePlace,
) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "needle")
        place.rows(f"UPDATE events SET version = 99 WHERE {at('ses_1', 2)}")
        with anyio.fail_after(10):
            assert await found(store, "needle") == []
        assert place.rows("SELECT session_id, sequence FROM search_places") == [("ses_1", 2)]


TEXTS = st.text(st.sampled_from("aB ß日本é\u0301_-'\"\0.İ🎉½ﬁ\n") | st.characters(), max_size=60)


@given(TEXTS)
def test_words_are_the_same_however_often_they_are_folded(text: str) -> None:
    words = words_of(text)
    assert words_of(" ".join(words)) == words
    assert all(word.isalnum() and len(word) <= MOST_LETTERS for word in words)


@given(TEXTS, TEXTS)
def test_an_excerpt_is_of_the_text_with_what_is_wanted_in_brackets(text: str, asked: str) -> None:
    wanted = phrases_of(asked)
    shown = excerpt(text, wanted)
    assert len(shown) <= 402
    occurs = any(_stands(phrase, words_of(text)) for phrase in wanted)
    if "[" not in text and "]" not in text:
        assert ("[" in shown) is occurs
    assert set(words_of(shown)) <= set(words_of(text))


def _stands(phrase: Sequence[str], words: Sequence[str]) -> bool:
    places = range(len(words) - len(phrase) + 1)
    return any(tuple(words[at : at + len(phrase)]) == tuple(phrase) for at in places)


def test_an_excerpt_shows_the_place_with_the_most_of_it() -> None:
    text = "red " + "x " * 100 + "red and blue\n here " + "y " * 100 + "blue"
    shown = excerpt(text, phrases_of("blue red"))
    assert shown.startswith("…x x x x x [red] and [blue] here y")
    assert shown.endswith("…")
    assert excerpt("nothing of it", phrases_of("blue")) == "nothing of it"
    assert excerpt("z" * 1000, ()) == "z" * 400 + "…"
