"""What is kept beside the events is what they add up to; whatever is not is named and mended."""

from pathlib import Path

import pytest
from record.store_places import StorePlace

from holdfast.contract.archive import Difference
from holdfast.contract.events import CallAsked, EventsProcessed, SessionCreated, UserMessage
from holdfast.contract.journal import UnknownSession

S = "ses_1"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    if request.param == "sqlite":
        return StorePlace(str(tmp_path / "h.db"))
    return StorePlace(request.getfixturevalue("postgres_url"))


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ("UPDATE chat_sessions SET updated_at = 1", "session updated_at"),
        ("UPDATE chat_sessions SET state_json = '{}'", "session state_json"),
        ("UPDATE chat_messages SET role = 'assistant'", "message "),
        ("UPDATE chat_parts SET data_json = '{}'", "part "),
        ("DELETE FROM chat_parts", "part "),
        ("UPDATE events SET processed_at = NULL WHERE type = 'user.message'", "event "),
    ],
)
async def test_every_kind_of_damage_is_named_and_mended(
    place: StorePlace, damage: str, what: str
) -> None:
    async with place.opened() as store:
        await store.journal.create(S, [SessionCreated()])
        (said,) = await store.journal.append(S, [UserMessage(message="hi")])
        asked = CallAsked(call_id="cal_1", tool="t", arguments="{}")
        await store.journal.append(S, [EventsProcessed(event_ids=(said.id,)), asked])
        assert await store.archive.rebuild(S, repair=False) == ()
        before = await store.archive.messages(S)
        place.rows(damage)
        found = await store.archive.rebuild(S, repair=False)
        assert found
        assert all(isinstance(one, Difference) and one.what.startswith(what) for one in found)
        assert await store.archive.rebuild(S, repair=True) == found
        assert await store.archive.rebuild(S, repair=False) == ()
        assert await store.archive.messages(S) == before
        with pytest.raises(UnknownSession):
            await store.archive.rebuild("ses_2", repair=False)


async def test_a_session_without_events_adds_up_to_nothing(place: StorePlace) -> None:
    async with place.opened() as store:
        await store.journal.create(S, [])
        assert await store.archive.rebuild(S, repair=False) == ()
