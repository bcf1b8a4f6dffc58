"""What agents learned is found across their sessions, by an index and in the events alone."""

import pytest
from record.store_places import StorePlace, at

from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import Journal
from holdfast.contract.wake_events import LearningCaptured
from holdfast.record.codec import UnreadableEvent
from holdfast.record.learned import _LEARNED as STATEMENT  # pyright: ignore[reportPrivateUsage] - nobody else shows it

pytestmark = pytest.mark.anyio


def learning(title: str) -> LearningCaptured:
    return LearningCaptured(learning_kind="lesson", title=title, detail=f"About {title}.")


async def learn(journal: Journal, session_id: str, agent: str | None, *titles: str) -> None:
    await journal.create(session_id, [SessionCreated(agent_id=agent), UserMessage(message="Go.")])
    await journal.append(session_id, [learning(one) for one in titles], wake_id="wak_1")


async def test_what_an_agent_learned_is_found_in_all_its_sessions(place: StorePlace) -> None:
    async with place.opened() as store:
        assert await store.archive.learned(["looker"]) == ()
        await learn(store.journal, "ses_1", "looker", "one", "two")
        await learn(store.journal, "ses_2", "other", "not this")
        await learn(store.journal, "ses_3", None, "nobody's")
        await learn(store.journal, "ses_4", "looker", "three")
        found = await store.archive.learned(["looker"])
        assert [(one.session_id, one.said) for one in found] == [
            ("ses_1", learning("one")),
            ("ses_1", learning("two")),
            ("ses_4", learning("three")),
        ]
        events = [*(await store.journal.events("ses_1")), *(await store.journal.events("ses_4"))]
        kept = {one.id: one for one in events}
        assert all((kept[one.event_id].at, "wak_1") == (one.at, one.wake_id) for one in found)
        both = await store.archive.learned(["other", None])
        assert [one.said.title for one in both] == ["not this", "nobody's"]
        await store.archive.delete("ses_1")
        assert [one.said.title for one in await store.archive.learned(["looker"])] == ["three"]


async def test_a_damaged_session_is_nobodys_and_a_damaged_event_is_told(place: StorePlace) -> None:
    async with place.opened() as store:
        await learn(store.journal, "ses_1", "looker", "one")
        await learn(store.journal, "ses_2", "looker", "two")
        place.rows("UPDATE chat_sessions SET state_json = 'no' WHERE id = 'ses_1'")
        assert [one.session_id for one in await store.archive.learned(["looker"])] == ["ses_2"]
        place.rows(f"UPDATE events SET micros = micros, version = 99 WHERE {at('ses_2', 3)}")
        with pytest.raises(UnreadableEvent, match="newer"):
            await store.archive.learned(["looker"])


async def test_other_events_are_not_looked_at(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = StorePlace(str(tmp_path_factory.mktemp("home") / "holdfast.db"))
    async with place.opened() as store:
        await learn(store.journal, "ses_1", "looker", "one")
    plan = " ".join(str(row) for row in place.rows(f"EXPLAIN QUERY PLAN {STATEMENT}"))
    assert "events_learned" in plan
    assert "TEMP B-TREE" not in plan
