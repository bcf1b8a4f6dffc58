"""Putting in a session from elsewhere: on every store, over nothing that is there."""

import pytest
from record.store_places import StorePlace

from holdfast.contract.archive import EventTaken, SessionQuery
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.contract.journal import JournalError

pytestmark = pytest.mark.anyio


async def test_events_that_another_session_has_are_refused_by_name(place: StorePlace) -> None:
    async with place.opened() as store:
        kept = await store.journal.create("ses_1", [SessionCreated(), UserMessage(message="hi")])
        with pytest.raises(EventTaken, match=f"the event {kept[1].id} is in session ses_1") as told:
            await store.archive.restore("ses_2", kept)
        assert told.value.event_id == kept[1].id
        (only,) = await store.archive.sessions(SessionQuery())
        assert (only.id, only.sequence) == ("ses_1", 2)
        await store.archive.restore("ses_3", ())


async def test_one_that_is_there_is_told_as_such(place: StorePlace) -> None:
    async with place.opened() as store:
        kept = await store.journal.create("ses_1", [SessionCreated(), UserMessage(message="hi")])
        with pytest.raises(JournalError, match="there is a session ses_1 already"):
            await store.archive.restore("ses_1", kept)
