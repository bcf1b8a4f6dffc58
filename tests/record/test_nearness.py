"""Which events may be meant: found by any of some words, on every store, with bounded work."""

import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record.store_places import StorePlace

from holdfast.contract.archive import WordQuery
from holdfast.contract.events import AgentMessage, CallAsked, SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalUnavailable
from holdfast.record import indexing, nearness, sql
from holdfast.record.postgres.search_tables import LOCK
from holdfast.record.sqlite.search import SqliteIndex
from holdfast.record.store import Store
from holdfast.record.words import Phrase
from holdfast.testing.fake_journal import FakeJournal

pytestmark = pytest.mark.anyio

OURS: tuple[str | None, ...] = ("coder",)


async def say(journal: Journal, session_id: str, *texts: str, agent: str | None = "coder") -> None:
    await journal.create(session_id, [SessionCreated(agent_id=agent)])
    if texts:
        await journal.append(session_id, [UserMessage(message=text) for text in texts])


async def near(store: Store | FakeJournal, words: str, **more: object) -> list[tuple[str, int]]:
    wanted = WordQuery(words=words, **{"agents": OURS, **more})  # type: ignore[arg-type] - of a test
    found = await store.archive.near(wanted)
    return [(one.event.session_id, one.event.sequence) for one in found.events]


async def test_any_word_is_enough_and_more_and_rarer_ones_come_first(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "red", "blue red", "red", "green", "nothing")
        assert await near(store, "red blue zinc") == [("ses_1", 3), ("ses_1", 4), ("ses_1", 2)]
        assert (await near(store, "green red"))[0] == ("ses_1", 5)
        assert await near(store, "zinc") == []
        assert await near(store, "  ") == []


async def test_the_newest_session_comes_first_among_equals(place: StorePlace) -> None:
    async with place.opened() as store:
        for name in ("ses_1", "ses_2"):
            await say(store.journal, name, "red", "red")
        await store.journal.append("ses_1", [UserMessage(message="red")])
        order = [("ses_2", 3), ("ses_2", 2), ("ses_1", 4), ("ses_1", 3), ("ses_1", 2)]
        assert await near(store, "red") == order
        assert await near(store, "red", limit=2) == order[:2]
        assert await near(store, "red", limit=0) == []


async def test_only_sessions_that_are_asked_about_are_looked_through(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "red")
        await say(store.journal, "ses_2", "red")
        await say(store.journal, "ses_3", "red", agent="other")
        await say(store.journal, "ses_4", "red", agent=None)
        assert await near(store, "red") == [("ses_2", 2), ("ses_1", 2)]
        assert await near(store, "red", agents=("other",)) == [("ses_3", 2)]
        assert await near(store, "red", agents=(None,)) == [("ses_4", 2)]
        assert len(await near(store, "red", agents=("coder", None))) == 3
        assert await near(store, "red", agents=()) == []
        assert await near(store, "red", sessions=("ses_1", "ses_3")) == [("ses_1", 2)]
        assert await near(store, "red", sessions=()) == []
        assert await near(store, "red", without="ses_2") == [("ses_1", 2)]


async def test_events_of_some_types_and_of_some_tools_alone(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "red")
        await store.journal.append(
            "ses_1",
            [
                AgentMessage(message="red", summary=""),
                CallAsked(call_id="cal_1", tool="bash", arguments='{"a": "red"}'),
                CallAsked(call_id="cal_2", tool="note", arguments='{"a": "red"}'),
            ],
        )
        assert len(await near(store, "red")) == 4
        assert await near(store, "red", types=("agent.message",)) == [("ses_1", 3)]
        assert len(await near(store, "red", types=("call.asked",))) == 2
        assert await near(store, "red", types=("call.asked/note",)) == [("ses_1", 5)]
        assert await near(store, "red", types=("call.asked/no",)) == []
        assert len(await near(store, "red", but_types=("call.asked/note",))) == 3
        assert len(await near(store, "red", but_types=("call.asked",))) == 2


async def test_a_journal_in_memory_finds_the_same() -> None:
    journal = FakeJournal()
    await say(journal, "ses_1", "red blue", "red")
    await say(journal, "ses_2", "red", agent="other")
    await journal.append("ses_1", [CallAsked(call_id="cal_1", tool="bash", arguments="blue")])
    assert await near(journal, "blue red") == [("ses_1", 2), ("ses_1", 4), ("ses_1", 3)]
    assert await near(journal, "red", types=("call.asked/bash",)) == []
    assert await near(journal, "blue", types=("call.asked/bash",)) == [("ses_1", 4)]
    assert await near(journal, "blue", but_types=("call.asked",)) == [("ses_1", 2)]
    assert await near(journal, "red", without="ses_1", agents=("coder", "other")) == [("ses_2", 2)]
    assert await near(journal, "red", sessions=("ses_2",)) == []
    await journal.close()


async def test_words_that_very_many_hold_bring_the_newest_and_those_with_both(
    place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MOST_KNOWN", "MOST_LISTED"):
        monkeypatch.setattr(nearness, name, 5)
    async with place.opened() as store:
        await say(store.journal, "ses_1", "red blue", *["red"] * 20, *["blue"] * 20)
        found = await near(store, "red blue")
        assert found[0] == ("ses_1", 2)
        assert len(found) == 11
        assert await near(store, "red") == [("ses_1", at) for at in (22, 21, 20, 19, 18)]


async def test_what_is_new_is_found_at_once_and_what_is_too_much_is_told(
    place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "AT_A_QUESTION", 10)
    async with place.opened() as store:
        await say(store.journal, "ses_1", *["old"] * 30)
        await say(store.journal, "ses_2", "new")
        found = await store.archive.near(WordQuery(words="new", agents=OURS))
        assert [one.event.session_id for one in found.events] == ["ses_2"]
        assert found.unindexed == 23
        await until_indexed(store)
        assert len(await near(store, "old")) == 30
        await store.journal.append("ses_1", [UserMessage(message="newer")])
        again = await store.archive.near(WordQuery(words="newer", agents=OURS))
        assert (len(again.events), again.unindexed) == (1, 0)


async def test_what_is_new_does_not_wait_for_a_thread_that_has_seen_all_it_looks_for(
    place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "AT_A_QUESTION", 10)
    async with place.opened() as store:
        await say(store.journal, "ses_1", *["old"] * 30)
        await until_indexed(store)
        with monkeypatch.context() as ending:
            ending.setattr(threading.Thread, "is_alive", is_still_alive)
            await store.journal.append("ses_1", [UserMessage(message="newer")])
            found = await store.archive.near(WordQuery(words="newer", agents=OURS))
            assert (len(found.events), found.unindexed) == (1, 0)
            await store.journal.append("ses_1", [UserMessage(message="new")] * 11)
            found = await store.archive.near(WordQuery(words="new", agents=OURS))
            assert (len(found.events), found.unindexed) == (0, 11)


def is_still_alive(_: threading.Thread) -> bool:
    return True


async def until_indexed(store: Store) -> None:
    with anyio.fail_after(15):
        # A thread that is at it tells nobody when it is done.
        while (await store.archive.near(WordQuery(words="x", agents=OURS))).unindexed:  # noqa: ASYNC110 - it tells nobody
            await anyio.sleep(0.01)


async def test_closing_a_store_ends_what_is_taken_up(
    place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "AT_A_QUESTION", 10)
    async with place.opened() as store:
        await say(store.journal, "ses_1", *["old"] * 2000)
        assert (await store.archive.near(WordQuery(words="old", agents=OURS))).unindexed
    assert "holdfast indexing" not in {one.name for one in threading.enumerate()}
    with pytest.raises(JournalUnavailable):
        await near(store, "old")


async def test_while_somebody_else_writes_questions_are_answered_without_the_newest(
    place: StorePlace,
) -> None:
    lock = f"SELECT pg_advisory_xact_lock({LOCK})" if place.is_postgres else "BEGIN IMMEDIATE"
    async with place.opened() as store:
        await say(store.journal, "ses_1", "red")
        assert len(await near(store, "red")) == 1
        await store.journal.append("ses_1", [UserMessage(message="red")])
        with place.holding(lock), anyio.fail_after(4):
            for _ in range(2):  # the second one finds a thread that waits for the same
                found = await store.archive.near(WordQuery(words="red", agents=OURS))
                assert (len(found.events), found.unindexed) == (1, 1)
        await until_indexed(store)
        assert len(await near(store, "red")) == 2


async def test_events_that_are_missing_keep_nobody_waiting(place: StorePlace) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "red")
        place.rows("DELETE FROM events")
        with anyio.fail_after(4):
            found = await store.archive.near(WordQuery(words="red", agents=OURS))
        assert (found.events, found.unindexed) == ((), 2)


async def test_a_question_that_fails_leaves_nothing_locked(
    place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.opened() as store:
        await say(store.journal, "ses_1", "red")
        with monkeypatch.context() as broken:
            broken.setattr(sql, "INDEXED_TO", "INSERT INTO search_places VALUES (1/0, ?, ?)")
            with pytest.raises(JournalUnavailable, match="search_places"):
                await near(store, "red")
        await store.journal.append("ses_1", [UserMessage(message="red")])
        assert len(await near(store, "red")) == 2


def test_a_child_that_was_forked_leaves_its_parents_index_alone(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = SqliteIndex(Path(f"{tmp_path}/holdfast.db"))
    monkeypatch.setattr("holdfast.record.owner.os.getpid", lambda: -1)
    with pytest.raises(JournalUnavailable, match="forked"):
        index.near(WordQuery(words="red", agents=OURS))
    index.close()


async def test_a_session_that_is_gone_is_found_no_more(place: StorePlace) -> None:
    async with place.opened() as store:
        for name in ("ses_1", "ses_2"):
            await say(store.journal, name, "red")
        assert len(await near(store, "red")) == 2
        await store.archive.delete("ses_2")
        assert await near(store, "red") == [("ses_1", 2)]
        await say(store.journal, "ses_3", "blue")
        assert await near(store, "red blue") == [("ses_3", 2), ("ses_1", 2)]


async def test_a_damaged_session_is_nobodys_and_hides_no_other(place: StorePlace) -> None:
    async with place.opened() as store:
        for name in ("ses_1", "ses_2"):
            await say(store.journal, name, "red")
        place.rows("UPDATE chat_sessions SET state_json = '{' WHERE id = 'ses_2'")
        assert await near(store, "red", agents=("coder", None)) == [("ses_1", 2)]


class Texts:
    """Words in memory: what `nearest` decides, without a store."""

    def __init__(self, texts: Sequence[set[str]]) -> None:
        self.texts = texts

    def count(self, phrase: Phrase, most: int, /) -> int:
        return min(most, len(self.every(phrase)))

    def every(self, phrase: Phrase, /) -> Sequence[int]:
        return self.places([phrase], len(self.texts))

    def places(self, phrases: Sequence[Phrase], most: int, /) -> Sequence[int]:
        wanted = {phrase[0] for phrase in phrases}
        newest = range(len(self.texts) - 1, -1, -1)
        return [at for at in newest if wanted <= self.texts[at]][:most]


WORDS = "abcdefgh"


@given(
    st.lists(st.sets(st.sampled_from(WORDS)), max_size=30),
    st.lists(st.sampled_from(WORDS), max_size=6, unique=True),
)
def test_all_that_hold_any_word_are_found_where_there_is_room(
    texts: list[set[str]], asked: list[str]
) -> None:
    found = nearness.nearest(Texts(texts), [(word,) for word in asked], 100)
    assert sorted(found) == [at for at, text in enumerate(texts) if text & set(asked)]
    for one, other in pairwise(found):
        have, has = texts[one] & set(asked), texts[other] & set(asked)
        assert not have < has, "one with more of it stands behind one with less"
        assert have != has or one > other, "an older one stands before a newer one"


@given(
    st.lists(st.sets(st.sampled_from(WORDS)), max_size=30),
    st.lists(st.sampled_from(WORDS), max_size=6, unique=True),
    st.integers(0, 5),
)
def test_less_room_keeps_the_first(texts: list[set[str]], asked: list[str], limit: int) -> None:
    phrases = [(word,) for word in asked]
    everything = nearness.nearest(Texts(texts), phrases, 100)
    assert nearness.nearest(Texts(texts), phrases, limit) == everything[:limit]


async def test_exactly_as_much_as_is_taken_up_at_once_is_taken_up_whole(
    place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more sessions than are seen at once, whose events fill what is taken up to the last."""
    monkeypatch.setattr(indexing, "AT_ONCE", 4)
    async with place.opened() as store:
        for number in range(10):
            await say(store.journal, f"ses_{number}", "red")
        monkeypatch.setattr(indexing.Backlog.next, "__defaults__", (4,))
        assert len(await store.archive.search("red")) == 10
